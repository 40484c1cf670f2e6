#!/usr/bin/env python3
# Ranks of one node that share the gradients, or the weights.
# SPDX-License-Identifier: MIT
"""For tests/cli/phantom_ranks.py, below torchrun: ranks.py ddp|fsdp [--batch-size
N]. Each rank says what PyTorch reserved for it, and what the others told it."""
import argparse
import os

import torch
import torch.distributed as dist
from torch import nn

WIDTH, LAYERS = 2048, 8


def wrap(how, model, rank):
    if how == "ddp":
        return nn.parallel.DistributedDataParallel(model, device_ids=[rank])
    from torch.distributed.fsdp import fully_shard

    for layer in model:
        fully_shard(layer)
    return fully_shard(model)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("how", choices=("ddp", "fsdp"))
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--grad-accum", type=int, default=1)
    parser.add_argument("--steps", type=int, default=3)
    args = parser.parse_args()
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    model = wrap(args.how, nn.Sequential(
        *(nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS))).cuda(), rank)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(args.steps):
        for _ in range(args.grad_accum):
            x = torch.empty(args.batch_size, WIDTH, device="cuda")
            (model(x).pow(2).mean() / args.grad_accum).backward()
        optimizer.step()
        optimizer.zero_grad()
        print("rank %d reserved %d\n" % (
            rank, torch.cuda.max_memory_reserved()), end="", flush=True)
    told = [None] * dist.get_world_size()
    dist.all_gather_object(told, "I am %d" % rank)
    name = ["of rank 0"] if rank == 0 else [None]
    dist.broadcast_object_list(name, src=0)
    half = dist.new_group([rank])
    dist.barrier(half)
    print("rank %d was told %s %s\n" % (rank, told, name), end="", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
