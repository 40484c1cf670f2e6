# Stands in for segmentation with a batch of one by default.
# SPDX-License-Identifier: MIT
import argparse

import torch


def train_model(model, epochs: int = 5, batch_size: int = 1,
                val_percent: float = 0.1, amp: bool = False):
    optimizer = torch.optim.RMSprop(model.parameters())
    data = torch.randn(65536, 8)
    for x in torch.utils.data.DataLoader(data, batch_size=batch_size):
        optimizer.zero_grad(set_to_none=True)
        model(x).mean().backward()
        optimizer.step()


def get_args():
    parser = argparse.ArgumentParser(description="Train the UNet")
    parser.add_argument("--epochs", "-e", metavar="E", type=int, default=5)
    parser.add_argument("--batch-size", "-b", dest="batch_size", metavar="B",
                        type=int, default=1, help="Batch size")
    parser.add_argument("--learning-rate", "-l", dest="lr", type=float,
                        default=1e-5)
    parser.add_argument("--scale", "-s", type=float, default=0.5)
    parser.add_argument("--amp", action="store_true", default=False)
    return parser.parse_args()


if __name__ == "__main__":
    args = get_args()
    train_model(torch.nn.Linear(8, 8), epochs=args.epochs,
                batch_size=args.batch_size, amp=args.amp)
