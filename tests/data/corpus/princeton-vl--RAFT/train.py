# Stands in for optical flow by DataParallel.
# SPDX-License-Identifier: MIT
import argparse

import torch


def train(args):
    model = torch.nn.DataParallel(torch.nn.Linear(8, 8), args.gpus)
    optimizer = torch.optim.Adam(model.parameters())
    loader = torch.utils.data.DataLoader(torch.randn(65536, 8), batch_size=args.batch_size)
    for x in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", default="raft", help="name your experiment")
    parser.add_argument("--stage", help="determines which dataset to use")
    parser.add_argument("--restore_ckpt", help="restore checkpoint")
    parser.add_argument("--validation", type=str, nargs="+")
    parser.add_argument("--lr", type=float, default=0.00002)
    parser.add_argument("--num_steps", type=int, default=100000)
    parser.add_argument("--batch_size", type=int, default=6)
    parser.add_argument("--image_size", type=int, nargs="+",
                        default=[384, 512])
    parser.add_argument("--gpus", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--mixed_precision", action="store_true")
    parser.add_argument("--wdecay", type=float, default=0.00005)
    parser.add_argument("--iters", type=int, default=12)
    train(parser.parse_args())
