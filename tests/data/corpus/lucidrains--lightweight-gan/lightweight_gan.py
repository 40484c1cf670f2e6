# Stands in for a pair of networks that accumulate by one option.
# SPDX-License-Identifier: MIT

import argparse

import torch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="./data")
    parser.add_argument("--image-size", type=int, default=256)
    parser.add_argument("--batch-size", type=int, default=10)
    parser.add_argument("--gradient-accumulate-every", type=int, default=4)
    parser.add_argument("--num-train-steps", type=int, default=150000)
    args = parser.parse_args()
    maker, judge = torch.nn.Linear(16, 64), torch.nn.Linear(64, 1)
    first = torch.optim.Adam(judge.parameters(), lr=2e-4)
    second = torch.optim.Adam(maker.parameters(), lr=2e-4)
    every = args.gradient_accumulate_every
    for step in range(args.num_train_steps):
        first.zero_grad()
        for _ in range(every):
            made = maker(torch.randn(args.batch_size, 16)).detach()
            true = torch.randn(args.batch_size, 64)
            loss = (1 + judge(made)).relu() + (1 - judge(true)).relu()
            (loss.mean() / every).backward()
        first.step()
        second.zero_grad()
        for _ in range(every):
            made = maker(torch.randn(args.batch_size, 16))
            (-judge(made).mean() / every).backward()
        second.step()


main()
