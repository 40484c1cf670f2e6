# Stands in for examples/knobs/tinylm.py, for tests of how sizes are said.
# SPDX-License-Identifier: MIT
"""The same calls and words, and as much memory, without the import of PyTorch.

Steps and rows are seen by the hook through the stand-in for torch beside the
tests (hook_fake_torch). There are no ranks, and nothing is learned.
"""
import time
import types

import torch

FIXED_MIB, SAMPLE_MIB = 100, 16
CONTEXT = 128
STEP_SECONDS = 0.01
# For those that import its name.
torch.distributed = types.ModuleType("torch.distributed")


def touched(mib):
    return bytearray(b"x") * (mib << 20)


def train(micro, accum, steps, lr=0.1):
    fixed = touched(FIXED_MIB)
    weights = [torch.Tensor(CONTEXT)]
    net = torch.nn.Module(weights)
    optimizer = torch.optim.SGD(weights)
    seen = set()
    for step in range(1, steps + 1):
        sizes = []
        # Once for all micro-steps: to touch it is most of what they cost.
        passing = touched(micro * SAMPLE_MIB)
        for _ in range(accum):
            batch = torch.Tensor(micro, CONTEXT)
            net(batch)
            sizes.append(batch.shape[0])
        del passing
        time.sleep(STEP_SECONDS)
        optimizer.step()
        seen.add((sum(sizes), max(sizes), len(sizes), 1))
        print("step %d/%d loss %.4f" % (step, steps, lr), flush=True)
    for sizes in sorted(seen):
        print("effective batch %d = %d x %d x %d" % sizes, flush=True)
    return net, fixed
