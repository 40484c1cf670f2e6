# Stands in for benchmarks on graphs.
# SPDX-License-Identifier: MIT
import argparse

import torch


def main():
    parser = argparse.ArgumentParser(description="GNN baselines on ogbgmol*")
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--gnn", type=str, default="gin-virtual")
    parser.add_argument("--num_layer", type=int, default=5)
    parser.add_argument("--emb_dim", type=int, default=300)
    parser.add_argument("--batch_size", type=int, default=32,
                        help="input batch size for training (default: 32)")
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--dataset", type=str, default="ogbg-molhiv")
    parser.add_argument("--filename", type=str, default="")
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
