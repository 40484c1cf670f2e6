# Stands in for a training with a batch of all ranks, or one of a rank.
# SPDX-License-Identifier: MIT

import argparse
import os

import torch


def options():
    defaults = dict(
        data_dir="", lr=1e-4, global_batch_size=2048, batch_size=-1,
        microbatch=-1, training_mode="edm",
    )
    parser = argparse.ArgumentParser()
    for name, value in defaults.items():
        parser.add_argument("--" + name, default=value, type=type(value))
    return parser.parse_args()


def main():
    args = options()
    world = int(os.environ.get("WORLD_SIZE", "1"))
    net = torch.nn.Linear(64, 64)
    if world > 1:
        torch.distributed.init_process_group("gloo")
        net = torch.nn.parallel.DistributedDataParallel(net)
    if args.batch_size == -1:
        batch_size = args.global_batch_size // world
    else:
        batch_size = args.batch_size
    opt = torch.optim.RAdam(net.parameters(), lr=args.lr)
    for step in range(100000):
        x = torch.randn(batch_size, 64)
        opt.zero_grad()
        (net(x) - x).square().mean().backward()
        opt.step()


if __name__ == "__main__":
    main()
