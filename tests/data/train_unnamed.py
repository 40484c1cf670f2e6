# A training whose batch size has a name that nobody can know.
# SPDX-License-Identifier: MIT
#
# train_unnamed.py [--chunk B] [--turns N] [KIND]: "rows", B rows a pass, N
# passes a step; "width", B is a width of the model, and a pass takes 24 rows;
# "fixed", the program takes no other B than 24; "two", a second option has the
# number, too; "literal", the script says it; "dies", by a mistake of its own.
import argparse

import torch

ROWS_OF_A_PASS = 36

parser = argparse.ArgumentParser()
parser.add_argument("--chunk", type=int, default=24)
parser.add_argument("--turns", type=int, default=1)
parser.add_argument("--knots", type=int, default=1)
parser.add_argument("kind", nargs="?", default="rows")
args = parser.parse_args()

torch.set_num_threads(1)
if args.kind == "dies":
    raise SystemExit("a mistake of its own")
if args.kind == "fixed" and args.chunk != 24:
    raise SystemExit("chunk is 24")
rows = args.chunk if args.kind != "width" else 24
if args.kind == "literal":
    rows = ROWS_OF_A_PASS
width = 64 * (args.chunk if args.kind == "width" else 4)
model = torch.nn.Sequential(
    torch.nn.Linear(64, width), torch.nn.ReLU(), torch.nn.Linear(width, 8)
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(1000):
    for _ in range(args.turns):
        loss = model(torch.randn(rows, 64)).square().mean()
        (loss / args.turns).backward()
    optimizer.step()
    optimizer.zero_grad()
