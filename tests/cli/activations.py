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
HELPERS = os.path.join(lib.SOURCE, "tests", "cli", "helpers")
TORCH = os.path.join(HELPERS, "kept_torch.py")
CONV = os.path.join(HELPERS, "kept_conv.py")
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
# Every kind of step: batch, image, the words of models.csv.
NETS = [
    (2, 64, "conv64k7s2 max3s2 basic64x2 basic128s2x2 head"),
    (3, 64, "conv32k7s2 max3s2 bottle64i16x2 bottle128i32g8s2x2 head"),
    (2, 64, "plain16x2 max2s2 biased32x2 max2s2p0 pool7 full64 head"),
    (2, 64, "conv64k7s2 max3s2 dense32x4 transition dense32x4 end head"),
    (2, 64, "conv32s2 inverted16 inverted24s2e6x2 conv64k1 head"),
    (2, 64, "swish32s2 fused24x2 fused48s2e4x2 mobile64k5s2e6x2 head"),
    (2, 64, "patches48 next48x2 down96 next96x2 normedhead"),
]
NETS_CLASSES = 10


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
    return activations(asked(place, words))


def asked(place, words):
    done = subprocess.run(
        [lib.AUTOFIT, "estimate", *words],
        env=place.env,
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(done.stdout)


def activations(answer):
    return sum(
        line["phases"]["forward"]
        for line in answer["lines"]
        if line["part"] == "activations"
    )


def numbers(*command):
    done = subprocess.run(
        [str(word) for word in command], stdout=subprocess.PIPE, check=True
    )
    return [int(word) for word in done.stdout.split()]


def compare(place):
    for family, batch, sequence, rank, text in CASES:
        words = [family, batch, sequence, rank, *text.split()]
        said = estimated(
            place, family, batch, sequence, rank, text.split()
        )
        (found,) = numbers(PYTHON, TORCH, *words)
        error = said / found - 1
        check(
            "%s b%d s%d r%d: %d bytes, %d kept, %+.2f%%"
            % (family, batch, sequence, rank, said, found, error * 100),
            abs(error) <= TOLERANCE,
        )


def compare_nets(place):
    """Parameters are exact; of what is kept, sizes of statistics are left
    out."""
    rows = ["name,family,image,classes,steps"]
    for i, (_, image, steps) in enumerate(NETS):
        rows.append(
            "net-%d,conv,%d,%d,%s" % (i, image, NETS_CLASSES, steps)
        )
    place.write("home/config/models.csv", "\n".join(rows) + "\n")
    for i, (batch, image, steps) in enumerate(NETS):
        answer = asked(
            place,
            ["net-%d" % i, "--batch", str(batch), "--precision", "fp32",
             "--device", "host", "--json", "-"],
        )
        parameters, found = numbers(
            PYTHON, CONV, batch, image, 3, NETS_CLASSES, steps
        )
        lib.equal(steps, answer["parameters"], parameters)
        said = activations(answer)
        error = said / found - 1
        check(
            "%s: %d bytes, %d kept, %+.2f%%"
            % (steps, said, found, error * 100),
            abs(error) <= TOLERANCE,
        )


def main():
    if not lib.has_modules(PYTHON, "torch"):
        lib.skip("no PyTorch at %s" % PYTHON)
    with lib.Place("activations") as place:
        compare(place)
        compare_nets(place)
    lib.finish()


if __name__ == "__main__":
    main()
