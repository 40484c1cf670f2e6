#!/usr/bin/env python3
# The training of train_ddp_gpu.py under accelerate.
# SPDX-License-Identifier: MIT
"""The ranks share gradients on the CPU, by gloo, as there; what they take of a
GPU is the driver's."""
import os
import sys

sys.path.insert(1, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

import torch  # noqa: E402
import train_ddp_gpu as ddp  # noqa: E402
from accelerate import Accelerator  # noqa: E402


def train(args):
    accelerator = Accelerator(
        cpu=True, gradient_accumulation_steps=args.grad_accum)
    model = torch.nn.Linear(ddp.FEATURES, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    model, optimizer = accelerator.prepare(model, optimizer)
    device = ddp.own_device(args)
    for step in range(args.steps):
        ddp.die_if_asked(args, step)
        for _ in range(args.grad_accum):
            taken = [device.take(100) for _ in range(args.batch_size)]
            with accelerator.accumulate(model):
                x = torch.rand(args.batch_size, ddp.FEATURES)
                accelerator.backward(model(x).square().mean())
                optimizer.step()
                optimizer.zero_grad()
            for pointer in taken:
                device.give(pointer)


if __name__ == "__main__":
    ddp.take_part(ddp.parse_arguments(), train)
