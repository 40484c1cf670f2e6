# Stands in for a training that starts its ranks and divides by them.
# SPDX-License-Identifier: MIT

import argparse

import torch

parser = argparse.ArgumentParser(description="Barlow Twins Training")
parser.add_argument("data")
parser.add_argument("--epochs", default=1000, type=int)
parser.add_argument("--batch-size", default=2048, type=int,
                    help="mini-batch size")
parser.add_argument("--learning-rate-weights", default=0.2, type=float)
parser.add_argument("--lambd", default=0.0051, type=float)
# The device count of the machine it was written for.
parser.add_argument("--gpus", default=1, type=int)


class Twins(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(64, 16)

    def forward(self, one, two):
        return (self.net(one) - self.net(two)).square().mean()


def worker(rank, args):
    torch.distributed.init_process_group(
        "gloo", init_method=args.url, world_size=args.world_size, rank=rank
    )
    model = torch.nn.parallel.DistributedDataParallel(Twins())
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    assert args.batch_size % args.world_size == 0
    rows = args.batch_size // args.world_size
    data = torch.utils.data.TensorDataset(torch.randn(8192, 64))
    sampler = torch.utils.data.distributed.DistributedSampler(data)
    loader = torch.utils.data.DataLoader(data, rows, sampler=sampler)
    for epoch in range(args.epochs):
        for (x,) in loader:
            opt.zero_grad()
            model(x, x + 0.1).backward()
            opt.step()


def main():
    args = parser.parse_args()
    args.world_size = args.gpus
    store = torch.distributed.TCPStore("localhost", 0, is_master=True)
    port, store = store.port, None
    args.url = "tcp://localhost:%d" % port
    torch.multiprocessing.spawn(worker, (args,), args.world_size)


if __name__ == "__main__":
    main()
