# Five small trainings for a comparison with other tools, on a CPU.
# SPDX-License-Identifier: MIT
#
# programs.py NAME --batch-size B --grad-accum A --steps N: trains, printing
# each step. Other tools take the parts: make(NAME) gives a module whose call is
# the loss of a batch, and batch(NAME, rows) one such batch.
import argparse
import random

import torch
from torch import nn


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(1000, 192)
        layer = nn.TransformerEncoderLayer(192, 6, 768, 0.0, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 4)
        self.head = nn.Linear(192, 1000)

    def forward(self, words):
        out = self.head(self.body(self.embed(words)))
        return nn.functional.cross_entropy(out.flatten(0, 1), words.flatten())


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        sizes = [1024, 3072, 3072, 3072]
        layers = [
            part
            for a, b in zip(sizes, sizes[1:])
            for part in (nn.Linear(a, b), nn.GELU())
        ]
        self.body = nn.Sequential(*layers, nn.Linear(3072, 10))

    def forward(self, x):
        return self.body(x).square().mean()


class Conv(nn.Module):
    def __init__(self):
        super().__init__()
        sizes = [3, 48, 96, 96, 192]
        layers = [
            part
            for i, (a, b) in enumerate(zip(sizes, sizes[1:]))
            for part in (
                nn.Conv2d(a, b, 3, padding=1, stride=1 + i % 2),
                nn.BatchNorm2d(b),
                nn.ReLU(),
            )
        ]
        self.body = nn.Sequential(*layers)
        self.head = nn.Linear(192, 10)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3))).square().mean()


# Module, and the shape of one sample: "words" of a length, or floats.
PROGRAMS = {
    "transformer": (Transformer, ("words", (96, 96))),
    "mlp": (Mlp, ("floats", (1024,))),
    "conv": (Conv, ("floats", (3, 32, 32))),
    "lengths": (Transformer, ("words", (24, 128))),
    "by_hand": (Mlp, ("floats", (1024,))),
}
def make(name):
    torch.manual_seed(1)
    return PROGRAMS[name][0]()


def batch(name, rows):
    kind, shape = PROGRAMS[name][1]
    if kind == "words":
        return torch.randint(0, 1000, (rows, random.randint(*shape)))
    return torch.randn(rows, *shape)


def train(name, rows, accum, steps, on_step=None):
    module = make(name)
    optimizer = None
    if name != "by_hand":
        optimizer = torch.optim.AdamW(module.parameters(), lr=1e-4)
    for step in range(1, steps + 1):
        for _ in range(accum):
            loss = module(batch(name, rows)) / accum
            loss.backward()
        if optimizer:
            optimizer.step()
            optimizer.zero_grad()
        else:
            with torch.no_grad():
                for parameter in module.parameters():
                    parameter -= 1e-4 * parameter.grad
                    parameter.grad = None
        if on_step:
            on_step(step, float(loss))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=sorted(PROGRAMS))
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--grad-accum", type=int, default=1)
    parser.add_argument("--steps", type=int, default=100)
    args = parser.parse_args()
    random.seed(1)
    train(
        args.name,
        args.batch_size,
        args.grad_accum,
        args.steps,
        lambda step, loss: print("step %d/%d loss %.4f" % (
            step, args.steps, loss), flush=True),
    )


if __name__ == "__main__":
    main()
