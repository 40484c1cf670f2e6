# Stands in for a fine-tuning that splits its batch.
# SPDX-License-Identifier: MIT

import argparse

import torch


def options():
    parser = argparse.ArgumentParser(description="Fine-tune BiT-M model.")
    parser.add_argument("--name", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--logdir", required=True)
    parser.add_argument("--dataset", default="cifar10")
    parser.add_argument("--datadir")
    parser.add_argument("--batch", type=int, default=512,
                        help="Batch size.")
    parser.add_argument("--batch_split", type=int, default=1,
                        help="Number of batches to compute gradient on"
                             " before updating weights.")
    parser.add_argument("--base_lr", type=float, default=0.003)
    return parser.parse_args()


def forever(loader):
    while True:
        for batch in loader:
            yield batch


def main(args):
    micro_batch_size = args.batch // args.batch_split
    data = torch.utils.data.TensorDataset(torch.randn(65536, 64))
    loader = torch.utils.data.DataLoader(
        data, batch_size=micro_batch_size, shuffle=True
    )
    model = torch.nn.DataParallel(torch.nn.Linear(64, 8))
    opt = torch.optim.SGD(model.parameters(), lr=0.003, momentum=0.9)
    opt.zero_grad()
    model.train()
    passes = step = 0
    for (x,) in forever(loader):
        if step >= 500:
            break
        loss = model(x).square().mean()
        (loss / args.batch_split).backward()
        passes += 1
        if passes == args.batch_split:
            opt.step()
            opt.zero_grad()
            step += 1
            passes = 0


main(options())
