#!/usr/bin/env python3
# A small data-parallel training on CPUs, to be started by torchrun.
# SPDX-License-Identifier: MIT
"""Each sample is a MiB of features; the model learns their weighted sum."""
import argparse
import os
import time

import torch
import torch.distributed
from torch.nn.parallel import DistributedDataParallel

FEATURES = 1 << 18


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--grad-accum", type=int, default=1)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--wait", type=float, default=0)
    return parser.parse_args()


def main():
    args = parse_arguments()
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo")
    rank = torch.distributed.get_rank()
    torch.manual_seed(rank)
    model = DistributedDataParallel(torch.nn.Linear(FEATURES, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    print("rank %d is process %d" % (rank, os.getpid()), flush=True)
    time.sleep(args.wait)
    for _ in range(args.steps):
        optimizer.zero_grad()
        for _ in range(args.grad_accum):
            x = torch.rand(args.batch_size, FEATURES)
            loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
            (loss / args.grad_accum).backward()
        optimizer.step()
    if rank == 0:
        world = torch.distributed.get_world_size()
        print(
            "done: micro %d accum %d world %d"
            % (args.batch_size, args.grad_accum, world)
        )
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
