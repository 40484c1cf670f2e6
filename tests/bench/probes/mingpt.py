#!/usr/bin/env python3
# A trainer in the manner of minGPT: options of a config tree, loader workers.
# SPDX-License-Identifier: MIT
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, RandomSampler, TensorDataset

WORDS, LENGTH, WIDTH = 1000, 64, 96


class Trainer:
    """Goes over random samples of a dataset without an end."""

    def __init__(self, config, model, dataset):
        self.config, self.model, self.dataset = config, model, dataset

    def run(self):
        optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-4)
        loader = DataLoader(
            self.dataset,
            sampler=RandomSampler(
                self.dataset, replacement=True, num_samples=10**10
            ),
            batch_size=getattr(self.config, "trainer.batch_size"),
            num_workers=getattr(self.config, "trainer.num_workers"),
        )
        done = 0
        for (words,) in loader:
            if done == getattr(self.config, "trainer.max_iters"):
                break
            loss = self.model(words)
            self.model.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            done += 1
            print("iter_num %d: train loss %.5f" % (done, loss), flush=True)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.block = nn.TransformerEncoderLayer(WIDTH, 4, batch_first=True)
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, words):
        logits = self.head(self.block(self.embed(words)))
        return nn.functional.cross_entropy(
            logits[:, :-1].reshape(-1, WORDS), words[:, 1:].reshape(-1)
        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trainer.batch_size", type=int, default=64)
    parser.add_argument("--trainer.num_workers", type=int, default=4)
    parser.add_argument("--trainer.max_iters", type=int, default=1000)
    config = parser.parse_args()
    torch.manual_seed(3)
    torch.set_num_threads(1)
    dataset = TensorDataset(torch.randint(0, WORDS, (4096, LENGTH)))
    Trainer(config, Model(), dataset).run()


if __name__ == "__main__":
    main()
