# Steps with the stand-in for torch 2: hook_fake_training.py STEPS [compile].
# SPDX-License-Identifier: MIT
import sys

import torch

steps = int(sys.argv[1])
if "compile" in sys.argv:
    import torch._dynamo.utils

    torch._dynamo.utils.counters["frames"] = {"total": 1}
weights = [object()]
torch.optim.SGD(weights)
optimizer = torch.optim.Nested(weights)
other = torch.optim.Adam(weights)
for _ in range(steps):
    optimizer.step()
    other.step()
print("expect %d" % steps)
