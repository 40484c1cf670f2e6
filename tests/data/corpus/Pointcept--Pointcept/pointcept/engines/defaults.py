# Stands in for point clouds by a config in Python.
# SPDX-License-Identifier: MIT
import argparse

import torch.distributed as dist


def default_argument_parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config-file", default="", metavar="FILE")
    parser.add_argument("--num-gpus", type=int, default=1,
                        help="number of gpus *per machine*")
    parser.add_argument("--num-machines", type=int, default=1)
    parser.add_argument("--options", nargs="+", help="custom options")
    return parser


def default_setup(cfg):
    world_size = dist.get_world_size()
    assert cfg.batch_size % world_size == 0
    cfg.batch_size_per_gpu = cfg.batch_size // world_size
    return cfg
