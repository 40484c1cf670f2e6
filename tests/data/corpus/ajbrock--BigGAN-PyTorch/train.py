# Stands in for a pair of networks, each with its own accumulation.
# SPDX-License-Identifier: MIT

import argparse

import torch


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dataset", default="I128_hdf5")
    parser.add_argument("--parallel", action="store_true")
    parser.add_argument("--shuffle", action="store_true")
    parser.add_argument("--load_in_mem", action="store_true")
    parser.add_argument("--num_workers", type=int, default=8)
    parser.add_argument("--batch_size", type=int, default=64,
                        help="Default overall batchsize")
    parser.add_argument("--G_batch_size", type=int, default=0)
    parser.add_argument("--num_G_accumulations", type=int, default=1,
                        help="Number of passes to accumulate G's gradients")
    parser.add_argument("--num_D_accumulations", type=int, default=1,
                        help="Number of passes to accumulate D's gradients")
    parser.add_argument("--num_D_steps", type=int, default=2)
    parser.add_argument("--G_lr", type=float, default=5e-5)
    parser.add_argument("--D_lr", type=float, default=2e-4)
    return parser.parse_args()


def main():
    args = options()
    G, D = torch.nn.Linear(16, 64), torch.nn.Linear(64, 1)
    g_optim = torch.optim.Adam(G.parameters(), lr=args.G_lr)
    d_optim = torch.optim.Adam(D.parameters(), lr=args.D_lr)
    rows = args.batch_size * args.num_D_steps * args.num_D_accumulations
    data = torch.utils.data.TensorDataset(torch.randn(8192, 64))
    loader = torch.utils.data.DataLoader(
        data, rows, shuffle=args.shuffle, drop_last=True
    )
    for epoch in range(1000):
        for (x,) in loader:
            parts = iter(torch.split(x, args.batch_size))
            for _ in range(args.num_D_steps):
                d_optim.zero_grad()
                for _ in range(args.num_D_accumulations):
                    made = G(torch.randn(args.batch_size, 16)).detach()
                    loss = (1 + D(made)).relu().mean()
                    loss += (1 - D(next(parts))).relu().mean()
                    (loss / args.num_D_accumulations).backward()
                d_optim.step()
            g_optim.zero_grad()
            for _ in range(args.num_G_accumulations):
                loss = -D(G(torch.randn(args.batch_size, 16))).mean()
                (loss / args.num_G_accumulations).backward()
            g_optim.step()


if __name__ == "__main__":
    main()
