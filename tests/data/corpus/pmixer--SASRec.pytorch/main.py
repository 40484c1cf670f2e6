# Stands in for recommendation of a next item.
# SPDX-License-Identifier: MIT
import argparse

import torch


def str2bool(s):
    return s == "true"


parser = argparse.ArgumentParser()
parser.add_argument("--dataset", required=True)
parser.add_argument("--train_dir", required=True)
parser.add_argument("--batch_size", default=128, type=int)
parser.add_argument("--lr", default=0.001, type=float)
parser.add_argument("--maxlen", default=200, type=int)
parser.add_argument("--dropout_rate", default=0.2, type=float)
parser.add_argument("--device", default="cuda", type=str)
parser.add_argument("--inference_only", default=False, type=str2bool)
parser.add_argument("--state_dict_path", default=None, type=str)
args = parser.parse_args()

if __name__ == "__main__":
    users = 6040
    num_batch = (users - 1) // args.batch_size + 1
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for step in range(0 if args.inference_only else num_batch):
        optimizer.zero_grad()
        model(torch.randn(args.batch_size, 8)).mean().backward()
        optimizer.step()
