# Stands in for clustering of several crops.
# SPDX-License-Identifier: MIT
import argparse

import torch

parser = argparse.ArgumentParser(description="Implementation of SwAV")
parser.add_argument("--data_path", type=str)
parser.add_argument("--nmb_crops", type=int, default=[2], nargs="+")
parser.add_argument("--size_crops", type=int, default=[224], nargs="+")
parser.add_argument("--queue_length", type=int, default=0)
parser.add_argument("--epochs", default=100, type=int)
parser.add_argument("--batch_size", default=64, type=int,
                    help="batch size per gpu, i.e. how many unique instances")
parser.add_argument("--base_lr", default=4.8, type=float)
parser.add_argument("--final_lr", default=0, type=float)
parser.add_argument("--warmup_epochs", default=10, type=int)
parser.add_argument("--world_size", default=-1, type=int)
parser.add_argument("--local_rank", default=0, type=int)


def main():
    args = parser.parse_args()
    torch.distributed.init_process_group("gloo")
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.base_lr)
    args.queue_length -= args.queue_length % (
        args.batch_size * args.world_size
    )
    loader = torch.utils.data.DataLoader(
        torch.randn(65536, 8), batch_size=args.batch_size, drop_last=True
    )

    for x in loader:
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
