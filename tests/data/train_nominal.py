# Programs of detection accumulate up to so many samples, whatever the batch size is.
# SPDX-License-Identifier: MIT
import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=16)
parser.add_argument("--steps", type=int, default=1000)
opt = parser.parse_args()
batch_size = opt.batch_size
nbs = 64  # nominal batch size
accumulate = max(round(nbs / batch_size), 1)

torch.set_num_threads(1)
model = torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
data = torch.utils.data.TensorDataset(torch.randn(1024, 64))
loader = torch.utils.data.DataLoader(data, batch_size=batch_size)
steps = passes = 0
while steps < opt.steps:
    for (batch,) in loader:
        model(batch).square().mean().backward()
        passes += 1
        if passes % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
            steps += 1
