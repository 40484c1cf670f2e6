#!/usr/bin/env python3
# A tiny language model trained by accelerate, which accumulates by itself.
# SPDX-License-Identifier: MIT
"""Says what each optimizer step has really seen, counted in the loop."""
import argparse

import torch
from accelerate import Accelerator

WORDS, LENGTH, ROWS, WIDTH = 8192, 256, 4096, 8


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--per_device_train_batch_size", type=int, default=8)
    parser.add_argument("--gradient_accumulation_steps", type=int, default=1)
    parser.add_argument("--max_train_steps", type=int, default=6)
    parser.add_argument("--output_dir", default="out")
    return parser.parse_args()


def batches(loader):
    while True:
        yield from loader


def main():
    args = options()
    accelerator = Accelerator(
        cpu=True,
        gradient_accumulation_steps=args.gradient_accumulation_steps,
    )
    net = torch.nn.Sequential(
        torch.nn.Embedding(WORDS, WIDTH), torch.nn.Linear(WIDTH, WORDS)
    )
    words = torch.randint(WORDS, (ROWS, LENGTH))
    loader = torch.utils.data.DataLoader(
        words, batch_size=args.per_device_train_batch_size
    )
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net, optimizer, loader = accelerator.prepare(net, optimizer, loader)
    steps, sizes, seen = 0, [], set()
    for rows in batches(loader):
        with accelerator.accumulate(net):
            logits = net(rows)
            loss = torch.nn.functional.cross_entropy(
                logits.flatten(0, 1), rows.flatten()
            )
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
        sizes.append(len(rows))
        if accelerator.sync_gradients:
            seen.add((sum(sizes), max(sizes), len(sizes)))
            steps, sizes = steps + 1, []
        if steps == args.max_train_steps:
            break
    for each in sorted(seen):
        print("effective batch %d = %d x %d x 1" % each, flush=True)


if __name__ == "__main__":
    main()
