#!/usr/bin/env python3
# A character-level transformer that learns to write like the text beside it.
# SPDX-License-Identifier: MIT
"""Train a small language model on coriolanus.txt.

Runs on a CPU or a GPU with PyTorch 1.13 and later. The text is in memory, so
the batch is what decides how much more the program needs.
"""
import argparse
import math
import os

import torch
from torch import nn
from torch.nn import functional

FOLDER = os.path.dirname(os.path.abspath(__file__))
TEXT = os.path.join(FOLDER, "coriolanus.txt")
HEAD_WIDTH = 32
NGRAM = 3
BUCKETS = 65536


class Attention(nn.Module):
    """Each character looks at those before it."""

    def __init__(self, width, context):
        super().__init__()
        self.heads = width // HEAD_WIDTH
        self.project = nn.Linear(width, 3 * width)
        self.merge = nn.Linear(width, width)
        future = torch.ones(context, context, dtype=torch.bool).triu(1)
        self.register_buffer("future", future, persistent=False)

    def forward(self, x):
        batch, length, width = x.shape
        shape = (batch, length, 3, self.heads, HEAD_WIDTH)
        query, key, value = self.project(x).view(shape).permute(2, 0, 3, 1, 4)
        scores = query @ key.transpose(-2, -1) / math.sqrt(HEAD_WIDTH)
        future = self.future[:length, :length]
        weights = scores.masked_fill(future, float("-inf")).softmax(-1)
        return self.merge((weights @ value).transpose(1, 2).reshape(x.shape))


class Block(nn.Module):
    def __init__(self, width, context):
        super().__init__()
        self.before_attention = nn.LayerNorm(width)
        self.attention = Attention(width, context)
        self.before_expand = nn.LayerNorm(width)
        self.expand = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        x = x + self.attention(self.before_attention(x))
        return x + self.expand(self.before_expand(x))


class Model(nn.Module):
    """Characters and the last three of them, hashed, go in; the next comes out.

    The table of hashed triples holds most of the parameters and costs no time:
    it is memory that the batch does not change.
    """

    def __init__(self, characters, layers, width, context):
        super().__init__()
        self.character = nn.Embedding(characters, width)
        self.triple = nn.Embedding(BUCKETS, width)
        self.position = nn.Embedding(context, width)
        self.blocks = nn.ModuleList(
            Block(width, context) for _ in range(layers)
        )
        self.norm = nn.LayerNorm(width)
        self.output = nn.Linear(width, characters)
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(module.weight, std=0.02)

    def hashed(self, x):
        code = x
        for back in range(1, NGRAM):
            earlier = functional.pad(x, (back, 0))[:, : x.shape[1]]
            code = code * 257 + earlier
        return code % BUCKETS

    def forward(self, x):
        place = torch.arange(x.shape[1], device=x.device)
        y = self.character(x) + self.triple(self.hashed(x))
        y = y + self.position(place)
        for block in self.blocks:
            y = block(y)
        return self.output(self.norm(y))


def read_text(path):
    """The text as numbers, and how many characters it knows."""
    with open(path, encoding="ascii") as file:
        text = file.read()
    known = {c: i for i, c in enumerate(sorted(set(text)))}
    return torch.tensor([known[c] for c in text]), len(known)


def take_batch(text, size, context, generator, device):
    starts = torch.randint(len(text) - context, (size,), generator=generator)
    rows = torch.stack([text[s : s + context + 1] for s in starts.tolist()])
    rows = rows.to(device)
    return rows[:, :-1], rows[:, 1:]


def train(args, device):
    torch.manual_seed(args.seed)
    generator = torch.Generator().manual_seed(args.seed)
    text, characters = read_text(TEXT)
    model = Model(characters, args.layers, args.width, args.context).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    for step in range(1, args.steps + 1):
        total = 0.0
        optimizer.zero_grad()
        for _ in range(args.grad_accum):
            x, y = take_batch(
                text, args.batch_size, args.context, generator, device
            )
            logits = model(x)
            loss = functional.cross_entropy(
                logits.reshape(-1, characters), y.reshape(-1)
            )
            # The mean over the whole step, however it is split.
            (loss / args.grad_accum).backward()
            total += loss.item() / args.grad_accum
        optimizer.step()
        print("step %d/%d loss %.4f" % (step, args.steps, total), flush=True)
    return model


def count(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-b", "--batch-size", type=count, default=8)
    parser.add_argument("--grad-accum", type=count, default=1)
    parser.add_argument("--steps", type=count, default=200)
    parser.add_argument(
        "--device", choices=("auto", "cpu", "cuda"), default="auto"
    )
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--layers", type=count, default=6)
    parser.add_argument("--width", type=count, default=160)
    parser.add_argument("--context", type=count, default=128)
    parser.add_argument("--out", help="folder for the trained model")
    args = parser.parse_args()
    if args.width % HEAD_WIDTH:
        parser.error("--width must be a multiple of %d" % HEAD_WIDTH)
    return args


def main():
    args = parse_arguments()
    device = args.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    model = train(args, torch.device(device))
    if args.out:
        os.makedirs(args.out, exist_ok=True)
        path = os.path.join(args.out, "charlm.pt")
        torch.save(model.state_dict(), path)
        print("saved %s" % path)


if __name__ == "__main__":
    main()
