# A training whose sizes mean what MEANING says; its options always look alike.
# SPDX-License-Identifier: MIT
#
# --meaning stands for what a script may do with its sizes: see main(). Nothing
# here says so in words that a reader could find: what counts is what is run.
import argparse
import os

import torch

WIDTH = 64
ROWS = 4096


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--accum-steps", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--meaning", default="plain")
    parser.add_argument("--steps", type=int, default=200)
    return parser.parse_args()


def model():
    return torch.nn.Sequential(
        torch.nn.Linear(WIDTH, 4 * WIDTH),
        torch.nn.ReLU(),
        torch.nn.Linear(4 * WIDTH, 8),
    )


def batches(size):
    rows = torch.utils.data.TensorDataset(torch.randn(ROWS, WIDTH))
    while True:
        loader = torch.utils.data.DataLoader(
            rows, batch_size=size, shuffle=True, drop_last=True
        )
        for (batch,) in loader:
            yield batch


def loss_of(net, batch):
    return (net(batch) ** 2).mean()


def plain(net, size, accum, steps):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    source = batches(size)
    for _ in range(steps):
        for _ in range(accum):
            loss_of(net, next(source)).backward()
        optimizer.step()
        optimizer.zero_grad()


def in_pieces(net, size, accum, steps):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    source = batches(size)
    for _ in range(steps):
        for piece in next(source).chunk(accum):
            loss_of(net, piece).backward()
        optimizer.step()
        optimizer.zero_grad()


def without_loader(net, size, accum, steps):
    optimizer = torch.optim.Adam(net.parameters(), lr=0.001)
    for _ in range(steps):
        for _ in range(accum):
            loss_of(net, torch.randn(size, WIDTH)).backward()
        optimizer.step()
        optimizer.zero_grad()


def two_losses(net, size, accum, steps):
    """As an adversarial pair: each of the two has a step of its own."""
    other = model()
    first = torch.optim.SGD(net.parameters(), lr=0.01)
    second = torch.optim.SGD(other.parameters(), lr=0.01)
    source = batches(size)
    for _ in range(steps):
        batch = next(source)
        first.zero_grad()
        loss_of(net, batch).backward()
        loss_of(net, -batch).backward()
        first.step()
        second.zero_grad()
        loss_of(other, batch).backward()
        second.step()


def closures(net, size, accum, steps):
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=4)
    source = batches(size)
    for _ in range(steps):
        batch = next(source)

        def closure():
            optimizer.zero_grad()
            loss = loss_of(net, batch)
            loss.backward()
            return loss

        optimizer.step(closure)


def main():
    args = options()
    net = model()
    size, accum = args.batch_size, args.accum_steps
    world = int(os.environ.get("WORLD_SIZE", "1"))
    train = plain
    if world > 1:
        torch.distributed.init_process_group("gloo")
        net = torch.nn.parallel.DistributedDataParallel(net)
    if args.meaning == "over_ranks":
        size = size // world
    elif args.meaning == "total_accum":
        accum = accum // world
    elif args.meaning == "whole":
        size = size // accum
    elif args.meaning == "pieces":
        train = in_pieces
    elif args.meaning == "repeats":
        accum = accum * args.repeats
    elif args.meaning == "no_loader":
        train = without_loader
    elif args.meaning == "two_losses":
        train = two_losses
    elif args.meaning == "closures":
        train = closures
    elif args.meaning == "data_parallel":
        net = torch.nn.DataParallel(net)
    elif args.meaning == "ignored":
        accum = 3
    train(net, size, accum, args.steps)


main()
