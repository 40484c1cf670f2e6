# Stands in for reinforcement learning by the parameters of a function.
# SPDX-License-Identifier: MIT
from typing import Literal

import torch
from jsonargparse import CLI


def main(
    task: str = "Ant-v4",
    seed: int = 0,
    buffer_size: int = 1000000,
    hidden_sizes: list | None = None,
    actor_lr: float = 1e-3,
    start_timesteps: int = 10000,
    epoch: int = 200,
    update_per_step: int = 1,
    n_step: int = 1,
    batch_size: int = 256,
    training_num: int = 1,
    device: str | None = None,
    logger: Literal["tensorboard", "wandb"] = "tensorboard",
) -> None:
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.Adam(model.parameters(), lr=actor_lr)
    for _ in range(epoch):
        optimizer.zero_grad()
        model(torch.randn(batch_size, 8)).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    result = CLI(main, as_positional=False)
