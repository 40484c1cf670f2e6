#!/usr/bin/env python3
# What a layer keeps: the estimator's table against real PyTorch runs.
# SPDX-License-Identifier: MIT
# CTEST COST 40
"""Small models on the CPU in fp32, whose saved tensors are counted.

Attention is eager there. What the table leaves out is small beside widths of
hundreds: statistics of norms, numbers of tokens.
"""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import check  # noqa: E402

PYTHON = "/usr/bin/python3"
TORCH = os.path.join(lib.SOURCE, "tests", "cli", "helpers", "kept_torch.py")
TOLERANCE = 0.05

GPT2 = "layers=3 hidden=256 heads=8 ffn=1024 vocab=500 positions=128"
LLAMA = "layers=3 hidden=256 heads=8 kv_heads=2 head_dim=32 ffn=704 vocab=500"
WIDE = "layers=2 hidden=256 heads=4 kv_heads=4 head_dim=96 ffn=512 vocab=90"
VIT = (
    "layers=3 hidden=192 heads=6 ffn=768 image=64 patch=8 channels=3 classes=10"
)
OPT = GPT2 + " embedding=256"
T5 = (
    "layers=3 decoder_layers=2 hidden=256 heads=8 head_dim=32 ffn=1024 vocab=90"
)
CASES = [
    ("gpt2", 2, 96, 0, GPT2),
    ("gpt2", 4, 32, 0, GPT2),
    ("llama", 2, 96, 0, LLAMA),
    ("llama", 3, 64, 0, WIDE),
    ("llama", 2, 96, 8, LLAMA),
    ("opt", 2, 96, 0, OPT),
    ("t5", 2, 96, 0, T5),
    ("t5", 3, 64, 0, T5 + " gated=1"),
    ("vit", 2, 0, 0, VIT),
    ("vit", 5, 0, 0, VIT),
]


def estimated(place, family, batch, sequence, rank, fields):
    """Bytes that the estimator says are kept."""
    words = ["--family", family, "--batch", str(batch), "--json", "-"]
    for field in fields:
        words += ["--field", field]
    words += ["--precision", "fp32", "--attention", "eager"]
    if sequence:
        words += ["--sequence", str(sequence)]
    if rank:
        words += ["--lora", str(rank)]
    done = subprocess.run(
        [lib.AUTOFIT, "estimate", *words],
        env=place.env,
        stdout=subprocess.PIPE,
        check=True,
    )
    lines = json.loads(done.stdout)["lines"]
    return sum(
        line["phases"]["forward"]
        for line in lines
        if line["part"] == "activations"
    )


def number(*command):
    done = subprocess.run(
        [str(word) for word in command], stdout=subprocess.PIPE, check=True
    )
    return int(done.stdout)


def compare(place):
    for family, batch, sequence, rank, text in CASES:
        words = [family, batch, sequence, rank, *text.split()]
        said = estimated(
            place, family, batch, sequence, rank, text.split()
        )
        found = number(PYTHON, TORCH, *words)
        error = said / found - 1
        check(
            "%s b%d s%d r%d: %d bytes, %d kept, %+.2f%%"
            % (family, batch, sequence, rank, said, found, error * 100),
            abs(error) <= TOLERANCE,
        )


def main():
    if not lib.has_modules(PYTHON, "torch"):
        lib.skip("no PyTorch at %s" % PYTHON)
    with lib.Place("activations") as place:
        compare(place)
    lib.finish()


if __name__ == "__main__":
    main()
