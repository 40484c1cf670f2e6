# Stands in for a detector that accumulates up to 64 images.
# SPDX-License-Identifier: MIT
import argparse
import os

import torch


def get_args_parser():
    parser = argparse.ArgumentParser(description="YOLOv6", add_help=True)
    parser.add_argument("--data-path", default="./data/coco.yaml", type=str)
    parser.add_argument("--conf-file", default="./configs/yolov6n.py")
    parser.add_argument("--img-size", default=640, type=int)
    parser.add_argument("--batch-size", default=32, type=int,
                        help="total batch size for all GPUs")
    parser.add_argument("--epochs", default=400, type=int)
    parser.add_argument("--workers", default=8, type=int)
    parser.add_argument("--device", default="0", type=str)
    parser.add_argument("--fuse_ab", default=False, action="store_true")
    parser.add_argument("--resume", nargs="?", const=True, default=False)
    parser.add_argument("--write_trainbatch_tb", action="store_true")
    parser.add_argument("--bs_per_gpu", default=32, type=int,
                        help="batch size per GPU for auto-rescale learning "
                        "rate, set to 16 for P6 models")
    return parser


def main(args):
    args.world_size = int(os.getenv("WORLD_SIZE", 1))
    if args.world_size > 1:
        torch.distributed.init_process_group("gloo")
    accumulate = max(1, round(64 / args.batch_size))
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader(
        torch.randn(65536, 8), args.batch_size // args.world_size
    )
    last = -1
    for i, x in enumerate(loader):
        model(x).mean().backward()
        if i - last >= accumulate:
            optimizer.step()
            optimizer.zero_grad()
            last = i


if __name__ == "__main__":
    main(get_args_parser().parse_args())
