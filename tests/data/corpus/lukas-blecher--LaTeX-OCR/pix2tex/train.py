# Stands in for a training that cuts its batches by a config.
# SPDX-License-Identifier: MIT

import argparse
import re

import torch


def settings(path):
    found = {}
    for line in open(path):
        pair = re.match(r"(\w+):\s*([-\d.e]+)", line)
        if pair:
            found[pair[1]] = float(pair[2])
    return argparse.Namespace(**found)


def train(args):
    model = torch.nn.Linear(64, 8)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    microbatch = int(args.micro_batchsize)
    if microbatch == -1:
        microbatch = int(args.batchsize)
    for epoch in range(int(args.epochs)):
        for i in range(100):
            im = torch.randn(int(args.batchsize), 64)
            opt.zero_grad()
            for j in range(0, len(im), microbatch):
                loss = model(im[j : j + microbatch]).square().mean()
                (loss * microbatch / args.batchsize).backward()
            opt.step()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Train model")
    parser.add_argument("--config", default=None, help="path to yaml config")
    parser.add_argument("--no_cuda", action="store_true")
    parser.add_argument("--debug", action="store_true")
    train(settings(parser.parse_args().config))
