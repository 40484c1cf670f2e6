# Stands in for video transformers under DeepSpeed's or PyTorch's DDP.
# SPDX-License-Identifier: MIT
import argparse

import torch


def get_args():
    parser = argparse.ArgumentParser("VideoMAE fine-tuning", add_help=False)
    parser.add_argument("--batch_size", default=64, type=int)
    parser.add_argument("--epochs", default=30, type=int)
    parser.add_argument("--update_freq", default=1, type=int)
    parser.add_argument("--save_ckpt_freq", default=100, type=int)
    parser.add_argument("--model", default="vit_base_patch16_224", type=str)
    parser.add_argument("--data_path", default="/path/to/list", type=str)
    parser.add_argument("--num_sample", type=int, default=2)
    parser.add_argument("--eval", action="store_true",
                        help="Perform evaluation only")
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--local_rank", default=-1, type=int)
    parser.add_argument("--dist_eval", action="store_true", default=False)
    return parser.parse_args()


def main(args):
    torch.distributed.init_process_group("gloo")
    num_tasks = torch.distributed.get_world_size()
    total_batch_size = args.batch_size * args.update_freq * num_tasks
    args.lr = args.lr * total_batch_size / 256
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    loader = torch.utils.data.DataLoader(torch.randn(65536, 8),
                                         batch_size=args.batch_size)
    val = torch.utils.data.DataLoader(torch.randn(65536, 8),
                                      batch_size=int(1.5 * args.batch_size))
    for i, x in enumerate(loader):
        (model(x).mean() / args.update_freq).backward()
        if (i + 1) % args.update_freq == 0:
            optimizer.step()
            optimizer.zero_grad()


if __name__ == "__main__":
    main(get_args())
