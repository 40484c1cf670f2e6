# Stands in for an image classifier with settings in yacs.
# SPDX-License-Identifier: MIT
import argparse

import torch

from config import get_config


def parse_option():
    parser = argparse.ArgumentParser("Swin Transformer training script")
    parser.add_argument("--cfg", type=str, required=True, metavar="FILE")
    parser.add_argument("--opts", help="KEY VALUE pairs", default=None,
                        nargs="+")
    parser.add_argument("--batch-size", type=int,
                        help="batch size for single GPU")
    parser.add_argument("--data-path", type=str)
    parser.add_argument("--pretrained")
    parser.add_argument("--resume")
    parser.add_argument("--accumulation-steps", type=int,
                        help="gradient accumulation steps")
    parser.add_argument("--use-checkpoint", action="store_true")
    parser.add_argument("--eval", action="store_true")
    parser.add_argument("--local_rank", type=int)
    args = parser.parse_args()
    return args, get_config(args)


def main(config):
    torch.distributed.init_process_group("gloo")
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))
    optimizer = torch.optim.AdamW(model.parameters())
    loader = torch.utils.data.DataLoader(
        torch.randn(65536, 8), config.DATA.BATCH_SIZE
    )
    for i, x in enumerate(loader):
        loss = model(x).mean() / config.TRAIN.ACCUMULATION_STEPS
        loss.backward()
        if (i + 1) % config.TRAIN.ACCUMULATION_STEPS == 0:
            optimizer.step()
            optimizer.zero_grad()


if __name__ == "__main__":
    args, config = parse_option()
    main(config)
