# Stands in for pretraining whose sizes are fields that no option sets.
# SPDX-License-Identifier: MIT
import os
from dataclasses import dataclass

import torch


@dataclass
class Hyperparameters:
    train_files: str = "data/fineweb10B/fineweb_train_*.bin"
    val_tokens: int = 10485760
    train_seq_len: int = 48 * 1024
    num_iterations: int = 1750


args = Hyperparameters()
world_size = int(os.environ["WORLD_SIZE"])
assert 8 % world_size == 0
grad_accum_steps = 8 // world_size
model = torch.nn.Linear(8, 8)
optimizer = torch.optim.Adam(model.parameters())
for step in range(args.num_iterations):
    for _ in range(grad_accum_steps):
        model(torch.randn(args.train_seq_len, 8)).mean().backward()
    optimizer.step()
