# Stands in for contrastive training, ranks are spawned.
# SPDX-License-Identifier: MIT
import argparse

import torch
import torch.multiprocessing as mp

parser = argparse.ArgumentParser(description="MoCo ImageNet Pre-Training")
parser.add_argument("data", metavar="DIR")
parser.add_argument("-a", "--arch", metavar="ARCH", default="resnet50")
parser.add_argument("-b", "--batch-size", default=4096, type=int, metavar="N",
                    help="mini-batch size (default: 4096), this is the total "
                    "batch size of all GPUs on all nodes when "
                    "using Data Parallel or Distributed Data Parallel")
parser.add_argument("--world-size", default=-1, type=int,
                    help="number of nodes for distributed training")
parser.add_argument("--rank", default=-1, type=int)
parser.add_argument("--dist-url", default="tcp://224.66.41.62:23456")
parser.add_argument("--multiprocessing-distributed", action="store_true")
parser.add_argument("--epochs", default=100, type=int)
parser.add_argument("--lr", default=0.6, type=float)


def main():
    args = parser.parse_args()
    ngpus_per_node = torch.cuda.device_count()
    if args.multiprocessing_distributed:
        args.world_size = ngpus_per_node * args.world_size
        mp.spawn(main_worker, nprocs=ngpus_per_node, args=(args,))


def main_worker(gpu, args):
    args.lr = args.lr * args.batch_size / 256
    args.batch_size = int(args.batch_size / args.world_size)
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.Adam(model.parameters())
    loader = torch.utils.data.DataLoader(torch.randn(65536, 8), batch_size=args.batch_size)
    for x in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
