# Steps with the stand-in for torch 2: STEPS, then compile, error, rows or save.
# SPDX-License-Identifier: MIT
import sys

import torch

steps = int(sys.argv[1])
if "compile" in sys.argv:
    import torch._dynamo.utils

    torch._dynamo.utils.counters["frames"] = {"total": 1}


class Weight(object):
    grad = None


weights = [Weight()]
torch.optim.SGD(weights)
optimizer = torch.optim.Nested(weights)
other = torch.optim.Adam(weights)
model = torch.nn.Module([torch.Tensor(1)])
for _ in range(steps):
    if "rows" in sys.argv:
        model(torch.Tensor(7, 3))
    optimizer.step()
    other.step()
if "error" in sys.argv:
    for _ in range(2):
        torch.cuda.OutOfMemoryError("CUDA out of memory.")
print("expect %d" % steps)
if "save" in sys.argv:
    sys.stdout.flush()
    torch.save(lambda: sys.exit(0))
