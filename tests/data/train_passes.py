# A training with long micro-steps, which differs in what its steps hold.
# SPDX-License-Identifier: MIT
#
# --kind: "alike"; "kept", each micro-step keeps something until the step is
# over; "third", the third step takes more; "lengths", samples of any length;
# "first", the first step has half of the micro-steps; "two", another optimizer;
# "leak", every step keeps something for good.
import argparse
import random
import time

import torch

MIB = 1 << 18  # floats
WIDTH = 64  # what a micro-step takes is memory, and little work

parser = argparse.ArgumentParser()
parser.add_argument("--kind", default="alike")
parser.add_argument("--batch-size", type=int, default=4)
parser.add_argument("--accum-steps", type=int, default=16)
parser.add_argument("--steps", type=int, default=1000)
parser.add_argument("--pass-seconds", type=float, default=0.07)
args = parser.parse_args()

torch.set_num_threads(1)
random.seed(1)
model = torch.nn.Linear(WIDTH, WIDTH)
optimizers = [torch.optim.AdamW(model.parameters(), lr=1e-3)]
if args.kind == "two":
    model.other = torch.nn.Linear(WIDTH, WIDTH)
    optimizers.append(torch.optim.SGD(model.other.parameters(), lr=1e-3))
held = []


def micro_step():
    rows = 1024 * args.batch_size
    if args.kind == "lengths":
        rows = args.batch_size * random.randint(256, 1024)
    batch = torch.randn(args.batch_size, rows // args.batch_size, WIDTH)
    out = model(batch)
    if args.kind == "two":
        out = out + model.other(batch)
    (out.square().mean() / args.accum_steps).backward()
    if args.kind == "kept":
        held.append(torch.ones(4 * MIB))
    time.sleep(args.pass_seconds)


for step in range(1, args.steps + 1):
    count = args.accum_steps
    if args.kind == "first" and step == 1:
        count = max(count // 2, 1)
    for _ in range(count):
        micro_step()
    if args.kind == "third" and step == 3:
        held.append(torch.ones(96 * MIB))
    if args.kind == "leak":
        held.append(torch.ones(MIB))
    for optimizer in optimizers:
        optimizer.step()
        optimizer.zero_grad()
    if args.kind == "kept":
        held.clear()
    print("step %d" % step, flush=True)
