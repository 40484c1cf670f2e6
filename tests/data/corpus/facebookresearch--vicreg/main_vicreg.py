# Stands in for self-supervised training whose batch is shared by the ranks.
# SPDX-License-Identifier: MIT
import argparse

import torch


def get_arguments():
    parser = argparse.ArgumentParser(description="Pretrain", add_help=False)
    parser.add_argument("--data-dir", type=str, required=True)
    parser.add_argument("--exp-dir", type=str, default="./exp")
    parser.add_argument("--arch", type=str, default="resnet50")
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=2048,
                        help="Effective batch size (per worker batch size "
                        "is [batch-size] / world-size)")
    parser.add_argument("--base-lr", type=float, default=0.2,
                        help="effective learning after warmup is "
                        "[base-lr] * [batch-size] / 256")
    parser.add_argument("--world-size", default=1, type=int)
    return parser


def main(args):
    torch.distributed.init_process_group("gloo")
    args.world_size = torch.distributed.get_world_size()
    assert args.batch_size % args.world_size == 0
    per_device_batch_size = args.batch_size // args.world_size
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.base_lr)
    loader = torch.utils.data.DataLoader(
        torch.randn(65536, 8), batch_size=per_device_batch_size
    )

    for x in loader:
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    parser = argparse.ArgumentParser("VICReg", parents=[get_arguments()])
    main(parser.parse_args())
