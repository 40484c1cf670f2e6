# Stands in for a training that accumulates by hand.
# SPDX-License-Identifier: MIT

import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--vae_path", type=str)
parser.add_argument("--image_text_folder", type=str)
group = parser.add_argument_group("Training settings")
group.add_argument("--epochs", default=2000, type=int)
group.add_argument("--batch_size", default=4, type=int, help="Batch size")
group.add_argument("--ga_steps", default=1, type=int,
                   help="Number of steps to accumulate gradients across per"
                        " each iteration. DeepSpeed only.")
group.add_argument("--learning_rate", default=3e-4, type=float)
args = parser.parse_args()

net = torch.nn.Linear(64, 8)
opt = torch.optim.Adam(net.parameters(), lr=args.learning_rate)
data = torch.utils.data.TensorDataset(torch.randn(65536, 64))
loader = torch.utils.data.DataLoader(data, args.batch_size, drop_last=True)
for epoch in range(args.epochs):
    for i, (x,) in enumerate(loader):
        (net(x).square().mean() / args.ga_steps).backward()
        if (i + 1) % args.ga_steps == 0:
            torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            opt.step()
            opt.zero_grad()
