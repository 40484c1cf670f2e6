# Stands in for a classifier whose batch is a number in it.
# SPDX-License-Identifier: MIT
import argparse

import torch

parser = argparse.ArgumentParser(description="PyTorch CIFAR10 Training")
parser.add_argument("--lr", default=0.1, type=float, help="learning rate")
parser.add_argument("--resume", "-r", action="store_true")
args = parser.parse_args()

trainset = torch.randn(65536, 8)
trainloader = torch.utils.data.DataLoader(
    trainset, batch_size=128, shuffle=True, num_workers=2)
testloader = torch.utils.data.DataLoader(
    trainset, batch_size=100, shuffle=False, num_workers=2)
net = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(net.parameters(), lr=args.lr)
for inputs in trainloader:
    optimizer.zero_grad()
    net(inputs).mean().backward()
    optimizer.step()
