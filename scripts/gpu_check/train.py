#!/usr/bin/env python3
# A small GPT trained on random tokens: what gpu-check has autofit tune.
# SPDX-License-Identifier: MIT
"""Most of its memory is logits, so that a large card is full after little work.

A micro-batch takes about context x vocabulary x 12 bytes per sample. Works with
PyTorch 1.13 and later, on a GPU or (--device cpu) without one.
"""
import argparse
import contextlib
import sys

import torch
from torch import nn


class Gpt(nn.Module):
    def __init__(self, vocabulary, context, width, layers, heads=8):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.places = nn.Parameter(torch.zeros(context, width))
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(
                width, heads, 4 * width, dropout=0.0, activation="gelu",
                batch_first=True, norm_first=True)
            for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        mask = torch.ones(context, context, dtype=torch.bool).triu(1)
        self.register_buffer("mask", mask)

    def forward(self, tokens):
        size = tokens.shape[1]
        x = self.tokens(tokens) + self.places[:size]
        for block in self.blocks:
            x = block(x, src_mask=self.mask[:size, :size])
        return self.head(self.norm(x))


class Training:
    """A model with its optimizer, and one optimizer step at a time."""

    def __init__(self, args):
        torch.manual_seed(1)
        self.args = args
        self.model = Gpt(args.vocabulary, args.context, args.width,
                         args.layers).to(args.device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4)

    def autocast(self):
        if not self.args.amp:
            return contextlib.nullcontext()
        return torch.autocast(self.args.device, dtype=torch.bfloat16)

    def micro_step(self, scale):
        args = self.args
        tokens = torch.randint(args.vocabulary,
                               (args.batch_size, args.context + 1),
                               device=args.device)
        with self.autocast():
            logits = self.model(tokens[:, :-1])
            loss = nn.functional.cross_entropy(
                logits.reshape(-1, args.vocabulary), tokens[:, 1:].reshape(-1))
        (loss * scale).backward()
        return loss.detach()

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        loss = 0.0
        for _ in range(self.args.grad_accum):
            loss = self.micro_step(1.0 / self.args.grad_accum)
        self.optimizer.step()
        return float(loss)


def parse(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--grad-accum", type=int, default=1)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--amp", action="store_true",
                        help="bfloat16 where autocast takes it")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--vocabulary", type=int, default=50304)
    parser.add_argument("--context", type=int, default=1024)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--layers", type=int, default=2)
    return parser.parse_args(argv)


def main():
    args = parse()
    torch.backends.cuda.matmul.allow_tf32 = True
    training = Training(args)
    for step in range(1, args.steps + 1):
        loss = training.step()
        print("step %d/%d loss %.4f" % (step, args.steps, loss), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
