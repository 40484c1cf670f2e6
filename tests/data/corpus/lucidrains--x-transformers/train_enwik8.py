# Stands in for a language model whose sizes are constants.
# SPDX-License-Identifier: MIT
import torch

# constants

NUM_BATCHES = int(1e5)
BATCH_SIZE = 4
GRADIENT_ACCUMULATE_EVERY = 4
LEARNING_RATE = 1e-4
VALIDATE_EVERY = 100
SEQ_LEN = 1024

model = torch.nn.Linear(8, 8)
optim = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
loader = iter(torch.utils.data.DataLoader(torch.randn(1 << 20, 8), BATCH_SIZE))
for i in range(NUM_BATCHES):
    for _ in range(GRADIENT_ACCUMULATE_EVERY):
        (model(next(loader)).mean() / GRADIENT_ACCUMULATE_EVERY).backward()
    optim.step()
    optim.zero_grad()
