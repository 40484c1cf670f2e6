# Stands in for a training of mixed pairs with one evaluation per epoch.
# SPDX-License-Identifier: MIT

import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--net_type", default="pyramidnet", type=str)
parser.add_argument("--epochs", default=90, type=int)
parser.add_argument("-b", "--batch_size", default=128, type=int,
                    metavar="N", help="mini-batch size (default: 256)")
parser.add_argument("--lr", "--learning-rate", default=0.1, type=float)
parser.add_argument("--depth", default=32, type=int)
parser.add_argument("--dataset", dest="dataset", default="imagenet")
parser.add_argument("--no-verbose", dest="verbose", action="store_false")
parser.add_argument("--alpha", default=300, type=float)
parser.add_argument("--expname", default="TEST", type=str)
parser.add_argument("--beta", default=0, type=float)
parser.add_argument("--cutmix_prob", default=0, type=float)


def main():
    args = parser.parse_args()
    model = torch.nn.DataParallel(torch.nn.Linear(64, 8))
    opt = torch.optim.SGD(model.parameters(), 0.01, nesterov=True, momentum=0.9)
    data = torch.utils.data.TensorDataset(torch.randn(4100, 64))
    train = torch.utils.data.DataLoader(data, batch_size=args.batch_size)
    test = torch.utils.data.DataLoader(data, batch_size=args.batch_size)
    for epoch in range(args.epochs):
        model.train()
        for (x,) in train:
            if torch.rand(1) < args.cutmix_prob:
                other = x[torch.randperm(x.shape[0])]
                x[:, :32] = other[:, :32]
            opt.zero_grad()
            model(x).square().mean().backward()
            opt.step()
        model.eval()
        for (x,) in test:
            model(x)


if __name__ == "__main__":
    main()
