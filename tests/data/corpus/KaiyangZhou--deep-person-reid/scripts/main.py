# Stands in for a training whose keys follow its options.
# SPDX-License-Identifier: MIT

import argparse
import re

import torch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config-file", type=str, default="")
    parser.add_argument("--transforms", type=str, nargs="+")
    parser.add_argument("--root", type=str, default="")
    parser.add_argument("opts", default=None, nargs=argparse.REMAINDER,
                        help="Modify config options using the command-line")
    args = parser.parse_args()
    text = open(args.config_file).read()
    rows = int(re.search(r"batch_size: (\d+)", text)[1])
    for key, value in zip(args.opts[::2], args.opts[1::2]):
        if key == "train.batch_size":
            rows = int(value)
    net = torch.nn.Linear(64, 8)
    opt = torch.optim.Adam(net.parameters(), amsgrad=True)
    data = torch.utils.data.TensorDataset(torch.randn(65536, 64))
    loader = torch.utils.data.DataLoader(data, rows, drop_last=True)
    for epoch in range(60):
        for (x,) in loader:
            opt.zero_grad()
            net(x).square().mean().backward()
            opt.step()


main()
