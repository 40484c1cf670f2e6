#!/usr/bin/env python3
# Data-parallel ranks on CPUs, started by torchrun.
# SPDX-License-Identifier: MIT
"""torchrun --standalone --nproc_per_node 2 ddp.py --batch-size 2"""
import argparse

import tinylm
import torch
from torch import distributed


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--grad-accum", type=int, default=1)
    parser.add_argument("--steps", type=int, default=20)
    args = parser.parse_args()
    torch.set_num_threads(1)
    distributed.init_process_group("gloo")
    tinylm.train(args.batch_size, args.grad_accum, args.steps)
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
