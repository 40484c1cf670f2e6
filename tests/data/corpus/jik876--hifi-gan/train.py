# Stands in for a vocoder: a pair of networks, each with its own step.
# SPDX-License-Identifier: MIT

import argparse
import itertools
import json

import torch


class AttrDict(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__ = self


def train(rank, a, h):
    generator = torch.nn.Linear(64, 64)
    first, second = torch.nn.Linear(64, 1), torch.nn.Linear(64, 1)
    optim_g = torch.optim.AdamW(generator.parameters(), h.learning_rate)
    optim_d = torch.optim.AdamW(
        itertools.chain(first.parameters(), second.parameters()),
        h.learning_rate,
    )
    trainset = torch.utils.data.TensorDataset(torch.randn(65536, 64))
    train_loader = torch.utils.data.DataLoader(
        trainset, batch_size=h.batch_size, drop_last=True
    )
    for epoch in range(a.training_epochs):
        for (x,) in train_loader:
            made = generator(x)
            optim_d.zero_grad()
            loss = 0
            for judge in (first, second):
                loss += (1 - judge(x)).square().mean()
                loss += judge(made.detach()).square().mean()
            loss.backward()
            optim_d.step()
            optim_g.zero_grad()
            loss = (made - x).abs().mean()
            for judge in (first, second):
                loss += (1 - judge(made)).square().mean()
            loss.backward()
            optim_g.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="")
    parser.add_argument("--checkpoint_path", default="cp_hifigan")
    parser.add_argument("--training_epochs", default=3100, type=int)
    parser.add_argument("--checkpoint_interval", default=5000, type=int)
    a = parser.parse_args()
    with open(a.config) as f:
        h = AttrDict(json.load(f))
    if torch.cuda.is_available():
        h.num_gpus = torch.cuda.device_count()
        h.batch_size = int(h.batch_size / h.num_gpus)
    train(0, a, h)


if __name__ == "__main__":
    main()
