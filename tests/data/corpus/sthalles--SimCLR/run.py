# Stands in for contrastive training, the batch of all GPUs of a node.
# SPDX-License-Identifier: MIT
import argparse

import torch

parser = argparse.ArgumentParser(description="PyTorch SimCLR")
parser.add_argument("-data", metavar="DIR", default="./datasets")
parser.add_argument("-dataset-name", default="stl10")
parser.add_argument("-j", "--workers", default=12, type=int)
parser.add_argument("--epochs", default=200, type=int)
parser.add_argument("-b", "--batch-size", default=256, type=int,
                    help="mini-batch size (default: 256), this is the total "
                    "batch size of all GPUs on the current node when "
                    "using Data Parallel or Distributed Data Parallel")
parser.add_argument("--lr", default=0.0003, type=float, dest="lr")
parser.add_argument("--log-every-n-steps", default=100, type=int)
parser.add_argument("--n-views", default=2, type=int)
parser.add_argument("--gpu-index", default=0, type=int)


def main():
    args = parser.parse_args()
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.Adam(model.parameters())
    loader = torch.utils.data.DataLoader(torch.randn(65536, 8), batch_size=args.batch_size)
    for x in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
