# Stands in for super-resolution whose sizes are in a YAML.
# SPDX-License-Identifier: MIT
import os.path as osp

from basicsr.train import train_pipeline

if __name__ == "__main__":
    root_path = osp.abspath(osp.join(__file__, osp.pardir, osp.pardir))
    train_pipeline(root_path)
