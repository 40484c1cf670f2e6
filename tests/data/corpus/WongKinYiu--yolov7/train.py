# Stands in for a detector that accumulates up to 64 images.
# SPDX-License-Identifier: MIT
import argparse
import os

import numpy as np
import torch


def train(opt):
    batch_size, total_batch_size = opt.batch_size, opt.total_batch_size
    nbs = 64  # nominal batch size
    accumulate = max(round(nbs / total_batch_size), 1)
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = torch.utils.data.DataLoader(torch.randn(65536, 8), batch_size)
    for ni, x in enumerate(loader):
        if ni < 1000:
            accumulate = max(
                1, np.interp(ni, [0, 1000], [1, nbs / total_batch_size]).round()
            )
        model(x).square().mean().backward()
        if ni % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--weights", type=str, default="yolo.pt")
    parser.add_argument("--cfg", type=str, default="")
    parser.add_argument("--data", type=str, default="data/coco.yaml")
    parser.add_argument("--hyp", type=str, default="data/hyp.yaml")
    parser.add_argument("--epochs", type=int, default=300)
    parser.add_argument("--batch-size", type=int, default=16,
                        help="total batch size for all GPUs")
    parser.add_argument("--img-size", nargs="+", type=int, default=[640, 640])
    parser.add_argument("--device", default="")
    parser.add_argument("--sync-bn", action="store_true")
    parser.add_argument("--local_rank", type=int, default=-1)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--name", default="exp")
    opt = parser.parse_args()
    opt.world_size = int(os.environ.get("WORLD_SIZE", 1))
    opt.total_batch_size = opt.batch_size
    if opt.local_rank != -1:
        assert opt.batch_size % opt.world_size == 0
        opt.batch_size = opt.total_batch_size // opt.world_size
    train(opt)
