# Stands in for contrastive training of two crops a picture.
# SPDX-License-Identifier: MIT
import argparse

import torch


def parse_option():
    parser = argparse.ArgumentParser("argument for training")
    parser.add_argument("--print_freq", type=int, default=10)
    parser.add_argument("--batch_size", type=int, default=256,
                        help="batch_size")
    parser.add_argument("--num_workers", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=1000)
    parser.add_argument("--learning_rate", type=float, default=0.05)
    parser.add_argument("--temp", type=float, default=0.07)
    parser.add_argument("--cosine", action="store_true")
    parser.add_argument("--warm", action="store_true")
    opt = parser.parse_args()
    if opt.batch_size > 256:
        opt.warm = True
    return opt


def main():
    opt = parse_option()
    model = torch.nn.DataParallel(torch.nn.Linear(8, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=opt.learning_rate)
    data = torch.randn(65536, 2, 8)
    for images in torch.utils.data.DataLoader(data, opt.batch_size):
        images = torch.cat([images[:, 0], images[:, 1]], dim=0)
        optimizer.zero_grad()
        model(images).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
