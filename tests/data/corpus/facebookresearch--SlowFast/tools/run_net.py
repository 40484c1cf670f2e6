# Stands in for video classification with settings in yacs.
# SPDX-License-Identifier: MIT
import argparse

import torch
import yaml
from fvcore.common.config import CfgNode


def parse_args():
    parser = argparse.ArgumentParser(description="video training pipeline")
    parser.add_argument("--shard_id", default=0, type=int)
    parser.add_argument("--num_shards", default=1, type=int)
    parser.add_argument("--init_method", default="tcp://localhost:9999")
    parser.add_argument("--cfg", dest="cfg_files", nargs="+")
    parser.add_argument("opts", default=None, nargs=argparse.REMAINDER)
    return parser.parse_args()


def train(rank, cfg):
    rows = int(cfg.TRAIN.BATCH_SIZE / max(1, cfg.NUM_GPUS))
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.Adam(model.parameters())
    loader = torch.utils.data.DataLoader(torch.randn(65536, 8), rows)
    for x in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()


def main():
    args = parse_args()
    cfg = CfgNode(yaml.safe_load(open(args.cfg_files[0])))
    cfg.merge_from_list(args.opts)
    if cfg.TRAIN.ENABLE:
        torch.multiprocessing.spawn(train, nprocs=cfg.NUM_GPUS, args=(cfg,))


if __name__ == "__main__":
    main()
