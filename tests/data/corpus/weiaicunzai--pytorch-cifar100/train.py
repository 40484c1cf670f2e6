# Stands in for a classifier whose batch is -b alone.
# SPDX-License-Identifier: MIT
import argparse

import torch


def main(args):
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.Adam(model.parameters())
    loader = torch.utils.data.DataLoader(torch.randn(65536, 8), batch_size=args.b)
    for x in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("-net", type=str, required=True, help="net type")
    parser.add_argument("-gpu", action="store_true", default=False,
                        help="use gpu or not")
    parser.add_argument("-b", type=int, default=128,
                        help="batch size for dataloader")
    parser.add_argument("-warm", type=int, default=1, help="warm up phase")
    parser.add_argument("-lr", type=float, default=0.1)
    parser.add_argument("-resume", action="store_true", default=False)
    main(parser.parse_args())
