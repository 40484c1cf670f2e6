#!/usr/bin/env python3
# A small transformer that says what PyTorch reserved for it after each step.
# SPDX-License-Identifier: MIT
"""For tests/cli/phantom.py. --with adds an operation whose result has a size
that depends on values, or asks the device for an answer."""
import argparse

import torch
from torch import nn
from torch.nn import functional

WIDTH, HEADS, LAYERS, CONTEXT, WORDS = 256, 8, 4, 256, 1000


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.project = nn.Linear(WIDTH, 3 * WIDTH)
        self.merge = nn.Linear(WIDTH, WIDTH)
        self.expand = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(),
                                    nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        rows, length, _ = x.shape
        parts = self.project(self.first(x)).view(
            rows, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(*parts, is_causal=True)
        x = x + self.merge(seen.transpose(1, 2).reshape(x.shape))
        return x + self.expand(self.second(x))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, words):
        return self.head(self.blocks(self.embed(words)))


def doubtful(what, x):
    """One of those that a phantom card must notice."""
    rows = x.flatten(0, 1)
    if what == "mask":
        rows[rows[:, 0] > 0].sum().backward(retain_graph=True)
    elif what == "nonzero":
        (rows > 0).nonzero()
    elif what == "unique":
        torch.unique(rows.argmax(-1))
    elif what == "repeat":
        rows.repeat_interleave(rows.argmax(-1).clamp(max=2), dim=0)
    elif what == "experts":
        for expert in range(4):
            rows[torch.where(rows.argmax(-1) % 4 == expert)[0]].sum()
    elif what == "while":
        left = 5
        while left and rows.mean() > 0:
            left -= 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--grad-accum", type=int, default=1)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--with", dest="what")
    args = parser.parse_args()
    model = Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(args.steps):
        for _ in range(args.grad_accum):
            words = torch.randint(WORDS, (args.batch_size, CONTEXT)).cuda()
            scores = model(words)
            doubtful(args.what, scores)
            loss = functional.cross_entropy(scores.flatten(0, 1),
                                            words.flatten())
            (loss / args.grad_accum).backward()
        optimizer.step()
        optimizer.zero_grad()
        print("reserved", torch.cuda.max_memory_reserved(), flush=True)


if __name__ == "__main__":
    main()
