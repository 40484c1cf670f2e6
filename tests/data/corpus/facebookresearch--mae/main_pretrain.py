# Stands in for masked autoencoders.
# SPDX-License-Identifier: MIT
import argparse

import torch


def get_args_parser():
    parser = argparse.ArgumentParser("MAE pre-training", add_help=False)
    parser.add_argument("--batch_size", default=64, type=int,
                        help="Batch size per GPU (effective batch size is "
                        "batch_size * accum_iter * # gpus")
    parser.add_argument("--epochs", default=400, type=int)
    parser.add_argument("--accum_iter", default=1, type=int,
                        help="Accumulate gradient iterations")
    parser.add_argument("--model", default="mae_vit_large", type=str)
    parser.add_argument("--blr", type=float, default=1e-3, metavar="LR",
                        help="absolute_lr = base_lr * total_batch_size / 256")
    parser.add_argument("--data_path", default="/datasets", type=str)
    parser.add_argument("--finetune", default="")
    parser.add_argument("--eval", action="store_true")
    parser.add_argument("--resume", default="")
    parser.add_argument("--world_size", default=1, type=int)
    parser.add_argument("--local_rank", default=-1, type=int)
    return parser


def main(args):
    torch.distributed.init_process_group("gloo")
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))
    world = torch.distributed.get_world_size()
    eff_batch_size = args.batch_size * args.accum_iter * world
    lr = args.blr * eff_batch_size / 256
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    data = torch.randn(65536, 8)
    if args.eval:
        return
    loader = torch.utils.data.DataLoader(data, batch_size=args.batch_size)

    for i, x in enumerate(loader):
        loss = model(x).square().mean() / args.accum_iter
        loss.backward()
        if (i + 1) % args.accum_iter == 0:
            optimizer.step()
            optimizer.zero_grad()


if __name__ == "__main__":
    main(get_args_parser().parse_args())
