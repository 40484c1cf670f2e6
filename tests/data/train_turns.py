# A training with a number under a name that nobody can know.
# SPDX-License-Identifier: MIT
#
# train_turns.py --batch-size B --turns N [KIND]: "counted", N micro-steps make a
# step; "width", 4 do, and N is a width of the model; "fixed", 4 do, and the
# program takes no other N than 4.
import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=8)
parser.add_argument("--turns", type=int, default=4)
parser.add_argument("kind", nargs="?", default="counted")
args = parser.parse_args()

torch.set_num_threads(1)
if args.kind == "fixed" and args.turns != 4:
    raise SystemExit("turns is 4")
count = args.turns if args.kind == "counted" else 4
width = 64 * (args.turns if args.kind == "width" else 4)
model = torch.nn.Sequential(
    torch.nn.Linear(64, width), torch.nn.ReLU(), torch.nn.Linear(width, 8)
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(1000):
    for _ in range(count):
        loss = model(torch.randn(args.batch_size, 64)).square().mean()
        (loss / count).backward()
    optimizer.step()
    optimizer.zero_grad()
