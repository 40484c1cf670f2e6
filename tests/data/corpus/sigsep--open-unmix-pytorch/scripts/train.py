# Stands in for separation of sources.
# SPDX-License-Identifier: MIT
import argparse

import torch


def main():
    parser = argparse.ArgumentParser(description="Open Unmix Trainer")
    parser.add_argument("--target", type=str, default="vocals")
    parser.add_argument("--root", type=str, help="root path of dataset")
    parser.add_argument("--output", type=str, default="open-unmix")
    parser.add_argument("--epochs", type=int, default=1000)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--lr", type=float, default=0.001)
    parser.add_argument("--patience", type=int, default=140)
    parser.add_argument("--seq-dur", type=float, default=6.0)
    parser.add_argument("--nb-workers", type=int, default=0)
    args, _ = parser.parse_known_args()
    parser.add_argument("--is-wav", action="store_true", default=False)
    args = parser.parse_args()
    valid = torch.utils.data.DataLoader(torch.randn(8, 8), batch_size=1)
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.Adam(model.parameters())
    loader = torch.utils.data.DataLoader(torch.randn(65536, 8), batch_size=args.batch_size)
    for x in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
