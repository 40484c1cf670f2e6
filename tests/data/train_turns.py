# A training with a number under a name that nobody can know.
# SPDX-License-Identifier: MIT
#
# train_turns.py --batch-size B --turns N [KIND]: "counted", N micro-steps make a
# step; "width", 4 do, and N is a width of the model; "fixed", 4 do, and the
# program takes no other N than 4. Of a batch that is the whole of a step: "cut",
# into N pieces; "cut-width", into 4, and N is a width; "parts", into pieces of
# --part rows. "until", passes are made until a step has N rows.
import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=8)
parser.add_argument("--turns", type=int, default=4)
parser.add_argument("--part", type=int, default=0)
parser.add_argument("kind", nargs="?", default="counted")
args = parser.parse_args()

torch.set_num_threads(1)
if args.kind == "fixed" and args.turns != 4:
    raise SystemExit("turns is 4")
count = args.turns if args.kind in ("counted", "cut") else 4
if args.kind == "until":
    count = args.turns // args.batch_size
width = 64 * (args.turns if args.kind.endswith("width") else 4)
model = torch.nn.Sequential(
    torch.nn.Linear(64, width), torch.nn.ReLU(), torch.nn.Linear(width, 8)
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def pieces():
    whole = torch.randn(args.batch_size, 64)
    if args.kind == "parts":
        return whole.split(args.part)
    if args.kind.startswith("cut"):
        return whole.chunk(count)
    return [torch.randn(args.batch_size, 64) for _ in range(count)]


for step in range(1000):
    for piece in pieces():
        loss = model(piece).square().mean()
        (loss / count).backward()
    optimizer.step()
    optimizer.zero_grad()
