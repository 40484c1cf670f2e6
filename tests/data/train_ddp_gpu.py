#!/usr/bin/env python3
# A small data-parallel training that takes memory of a GPU as ranks do.
# SPDX-License-Identifier: MIT
"""The gradients, with --shard the weights too, are shared on the CPU, by gloo; the
memory is the driver's.

A sample takes 100 MiB of the device of its rank for as long as its pass lasts,
through the driver's own functions, so that no torch with CUDA is needed.
"""
import argparse
import ctypes
import os
import signal
import sys
import time

import torch
import torch.distributed
from torch.nn.parallel import DistributedDataParallel

MIB = 1 << 20
FEATURES = 64


def parser_of_ranks(text):
    """What all trainings below torchrun take, these and those of frameworks."""
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--heavy-rank", type=int, default=-1)
    parser.add_argument("--heavy-mib", type=int, default=0)
    parser.add_argument("--die-rank", type=int, default=-1)
    # As in a collective that nobody else enters any more.
    parser.add_argument("--hang", action="store_true")
    return parser


def parse_arguments():
    parser = parser_of_ranks(__doc__)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--grad-accum", type=int, default=1)
    parser.add_argument("--shard", action="store_true")
    return parser.parse_args()


class Device:
    def __init__(self, ordinal):
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.require(self.driver.cuInit(0))
        context = ctypes.c_void_p()
        self.require(
            self.driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), ordinal)
        )
        self.require(self.driver.cuCtxSetCurrent(context))

    @staticmethod
    def require(result):
        if result == 2:
            raise RuntimeError(
                "CUDA out of memory. Tried to allocate 100.00 MiB. GPU 0 has a "
                "total capacity of 8.00 GiB of which 10.00 MiB is free."
            )
        if result:
            raise RuntimeError("CUDA driver error %d" % result)

    def take(self, mib):
        pointer = ctypes.c_uint64()
        self.require(
            self.driver.cuMemAlloc_v2(
                ctypes.byref(pointer), ctypes.c_size_t(mib * MIB)
            )
        )
        return pointer

    def give(self, pointer):
        self.require(self.driver.cuMemFree_v2(pointer))


def own_device(args):
    """With what a rank holds all the time."""
    device = Device(int(os.environ["LOCAL_RANK"]))
    is_heavy = torch.distributed.get_rank() == args.heavy_rank
    device.take(200 + (args.heavy_mib if is_heavy else 0))
    return device


def die_if_asked(args, step):
    rank = torch.distributed.get_rank()
    if rank == args.die_rank and step == 1:
        raise ValueError("rank %d has no data" % rank)


def distributed(args, model):
    if not args.shard:
        return DistributedDataParallel(model)
    from torch.distributed.fsdp import fully_shard

    # Else PyTorch takes the GPU that it was built for.
    mesh = torch.distributed.init_device_mesh(
        "cpu", (torch.distributed.get_world_size(),))
    for layer in model:
        fully_shard(layer, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def train(args):
    model = distributed(args, torch.nn.Sequential(
        torch.nn.Linear(FEATURES, FEATURES), torch.nn.Linear(FEATURES, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    device = own_device(args)
    for step in range(args.steps):
        die_if_asked(args, step)
        optimizer.zero_grad()
        for _ in range(args.grad_accum):
            taken = [device.take(100) for _ in range(args.batch_size)]
            x = torch.rand(args.batch_size, FEATURES)
            (model(x).square().mean() / args.grad_accum).backward()
            for pointer in taken:
                device.give(pointer)
        optimizer.step()
    if torch.distributed.get_rank() == 0:
        print("done: micro %d accum %d world %d" % (
            args.batch_size, args.grad_accum,
            torch.distributed.get_world_size()))  # fmt: skip


def take_part(args, work):
    """work(args), which joins the other ranks if nothing has before."""
    torch.set_num_threads(1)
    if args.hang:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        work(args)
    except RuntimeError as error:
        # What gloo says when another rank is gone.
        if not args.hang or "out of memory" in str(error):
            raise
        print("rank %s waits" % os.environ["RANK"], file=sys.stderr, flush=True)
        time.sleep(100000)


def main(args):
    torch.distributed.init_process_group("gloo")
    train(args)


if __name__ == "__main__":
    take_part(parse_arguments(), main)
