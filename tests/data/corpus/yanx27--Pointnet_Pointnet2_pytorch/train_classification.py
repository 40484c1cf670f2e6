# Stands in for classification of point clouds.
# SPDX-License-Identifier: MIT
import argparse

import torch


def parse_args():
    parser = argparse.ArgumentParser("training")
    parser.add_argument("--use_cpu", action="store_true", default=False)
    parser.add_argument("--gpu", type=str, default="0")
    parser.add_argument("--batch_size", type=int, default=24,
                        help="batch size in training")
    parser.add_argument("--model", default="pointnet_cls")
    parser.add_argument("--num_category", default=40, type=int)
    parser.add_argument("--epoch", default=200, type=int)
    parser.add_argument("--num_point", type=int, default=1024)
    parser.add_argument("--log_dir", type=str, default=None)
    parser.add_argument("--use_normals", action="store_true", default=False)
    return parser.parse_args()


def main(args):
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.Adam(model.parameters())
    loader = torch.utils.data.DataLoader(torch.randn(65536, 8), batch_size=args.batch_size)
    for x in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main(parse_args())
