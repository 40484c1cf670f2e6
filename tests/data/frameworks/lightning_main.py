#!/usr/bin/env python3
# A random tiny language model on LightningCLI.
# SPDX-License-Identifier: MIT
"""Says what each optimizer step has really seen, counted in the model."""
import torch

# Debian's 1.13.1 calls itself 1.13.0a0, which would be less than 1.13.
torch.__version__ = "1.13.1"

from lightning.pytorch import LightningDataModule, LightningModule
from lightning.pytorch.cli import LightningCLI
from torch import nn

WORDS, LENGTH, ROWS = 8192, 128, 4096


class Model(LightningModule):
    def __init__(self, width: int = 8, learning_rate: float = 0.1):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(
            nn.Embedding(WORDS, width), nn.Linear(width, WORDS)
        )
        self.passes = []
        self.seen = set()

    def _register_sharded_tensor_state_dict_hooks_if_available(self):
        """Torch 1.13 cannot import sharded tensors under Python 3.11."""

    def training_step(self, batch, _index):
        self.passes.append(len(batch))
        scores = self.net(batch[:, :-1])
        return nn.functional.cross_entropy(
            scores.flatten(0, 1), batch[:, 1:].flatten()
        )

    def on_before_optimizer_step(self, _optimizer):
        sizes, self.passes = self.passes, []
        self.seen.add((sum(sizes), max(sizes), len(sizes)))

    def on_train_end(self):
        for sizes in sorted(self.seen):
            print("effective batch %d = %d x %d x 1" % sizes, flush=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), self.hparams.learning_rate)


class Data(LightningDataModule):
    def __init__(self, batch_size: int = 8):
        super().__init__()
        self.batch_size = batch_size

    def train_dataloader(self):
        rows = torch.randint(WORDS, (ROWS, LENGTH + 1))
        return torch.utils.data.DataLoader(rows, batch_size=self.batch_size)


if __name__ == "__main__":
    LightningCLI(Model, Data)
