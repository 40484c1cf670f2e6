# Stands in for a training whose rows are per rank, with an averaged copy.
# SPDX-License-Identifier: MIT

import argparse
import copy
import os

import torch


def options():
    parser = argparse.ArgumentParser("training", add_help=False)
    parser.add_argument("--batch_size", default=64, type=int,
                        help="Per GPU batch size")
    parser.add_argument("--epochs", default=300, type=int)
    parser.add_argument("--update_freq", default=1, type=int,
                        help="gradient accumulation steps")
    parser.add_argument("--model", default="convnext_tiny")
    parser.add_argument("--drop_path", type=float, default=0)
    parser.add_argument("--model_ema", default="false")
    parser.add_argument("--model_ema_eval", default="false")
    parser.add_argument("--lr", type=float, default=4e-3)
    parser.add_argument("--data_path", default="")
    parser.add_argument("--output_dir", default="")
    parser.add_argument("--local_rank", default=-1, type=int)
    return parser.parse_args()


def main(args):
    net = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.Linear(128, 8))
    ema = copy.deepcopy(net)
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        torch.distributed.init_process_group("gloo")
        net = torch.nn.parallel.DistributedDataParallel(net)
    opt = torch.optim.AdamW(net.parameters(), lr=1e-4)
    data = torch.utils.data.TensorDataset(torch.randn(8192, 64))
    loader = torch.utils.data.DataLoader(
        data, batch_size=args.batch_size, drop_last=True
    )
    for epoch in range(args.epochs):
        net.train()
        for step, (x,) in enumerate(loader):
            loss = net(x).square().mean() / args.update_freq
            loss.backward()
            if (step + 1) % args.update_freq:
                continue
            opt.step()
            opt.zero_grad()
            for kept, new in zip(ema.parameters(), net.parameters()):
                kept.data.lerp_(new.data, 0.001)
        net.eval()
        with torch.no_grad():
            net(torch.randn(96, 64))


main(options())
