# Stands in for pretraining whose total is divided twice.
# SPDX-License-Identifier: MIT
import sys

import torch

from open_lm.params import parse_args
from open_lm.train import train_one_epoch


def main(args):
    args = parse_args(args)
    torch.distributed.init_process_group("gloo")
    args.world_size = torch.distributed.get_world_size()
    assert args.global_batch_size % args.world_size == 0
    args.per_gpu_batch_size = max(args.global_batch_size // args.world_size, 1)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))
    optimizer = torch.optim.AdamW(model.parameters())
    data = torch.utils.data.DataLoader(torch.randn(1 << 20, 8),
                                       args.per_gpu_batch_size)
    train_one_epoch(model, data, optimizer, args)


if __name__ == "__main__":
    main(sys.argv[1:])
