# Stands in for a diffusion whose ranks cut their batch by hand.
# SPDX-License-Identifier: MIT

import argparse

import torch


def options():
    defaults = dict(
        data_dir="", lr=1e-4, lr_anneal_steps=0, batch_size=1, microbatch=-1,
        ema_rate="0.9999", image_size=64, use_fp16=False,
    )
    parser = argparse.ArgumentParser()
    for name, value in defaults.items():
        parser.add_argument("--" + name, default=value, type=type(value))
    return parser.parse_args()


def forever(loader):
    while True:
        yield from loader


def main():
    args = options()
    rows = args.microbatch if args.microbatch > 0 else args.batch_size
    net = torch.nn.Linear(64, 64)
    averaged = [p.detach().clone() for p in net.parameters()]
    opt = torch.optim.AdamW(net.parameters(), lr=args.lr)
    data = torch.utils.data.TensorDataset(torch.randn(65536, 64))
    loader = torch.utils.data.DataLoader(
        data, batch_size=args.batch_size, drop_last=True
    )
    for (batch,) in forever(loader):
        opt.zero_grad()
        for i in range(0, batch.shape[0], rows):
            micro = batch[i : i + rows]
            (net(micro) - micro).square().mean().backward()
        opt.step()
        for kept, new in zip(averaged, net.parameters()):
            kept.mul_(0.9999).add_(new.detach(), alpha=0.0001)


if __name__ == "__main__":
    main()
