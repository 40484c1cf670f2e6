#!/usr/bin/env python3
# The training of train_ddp_gpu.py under accelerate.
# SPDX-License-Identifier: MIT
"""The ranks share gradients on the CPU, by gloo, as there; what they take of a
GPU is the driver's."""
import argparse
import os
import sys

sys.path.insert(1, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

import torch  # noqa: E402
from accelerate import Accelerator  # noqa: E402
from train_ddp_gpu import FEATURES, Device  # noqa: E402


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--grad-accum", type=int, default=1)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--heavy-rank", type=int, default=-1)
    parser.add_argument("--heavy-mib", type=int, default=0)
    return parser.parse_args()


def main():
    args = parse_arguments()
    torch.set_num_threads(1)
    accelerator = Accelerator(
        cpu=True, gradient_accumulation_steps=args.grad_accum)
    model = torch.nn.Linear(FEATURES, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    model, optimizer = accelerator.prepare(model, optimizer)
    rank = torch.distributed.get_rank()
    device = Device(int(os.environ["LOCAL_RANK"]))
    device.take(200 + (args.heavy_mib if rank == args.heavy_rank else 0))
    for _ in range(args.steps * args.grad_accum):
        taken = [device.take(100) for _ in range(args.batch_size)]
        with accelerator.accumulate(model):
            x = torch.rand(args.batch_size, FEATURES)
            accelerator.backward(model(x).square().mean())
            optimizer.step()
            optimizer.zero_grad()
        for pointer in taken:
            device.give(pointer)


if __name__ == "__main__":
    main()
