# Stands in for a detector in point clouds.
# SPDX-License-Identifier: MIT
import argparse

import torch
import yaml


def parse_config():
    parser = argparse.ArgumentParser(description="arg parser")
    parser.add_argument("--cfg_file", type=str, default=None)
    parser.add_argument("--batch_size", type=int, default=None,
                        required=False, help="batch size for training")
    parser.add_argument("--epochs", type=int, default=None)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--launcher", choices=["none", "pytorch", "slurm"],
                        default="none")
    parser.add_argument("--set", dest="set_cfgs", default=None,
                        nargs=argparse.REMAINDER)
    args = parser.parse_args()
    with open(args.cfg_file) as stream:
        cfg = yaml.safe_load(stream)
    return args, cfg


def main():
    args, cfg = parse_config()
    total_gpus = 1
    if args.launcher != "none":
        torch.distributed.init_process_group("gloo")
        total_gpus = torch.distributed.get_world_size()
    if args.batch_size is None:
        args.batch_size = cfg["OPTIMIZATION"]["BATCH_SIZE_PER_GPU"]
    else:
        assert args.batch_size % total_gpus == 0
        args.batch_size = args.batch_size // total_gpus
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.Adam(model.parameters())
    loader = torch.utils.data.DataLoader(torch.randn(65536, 8),
                                         batch_size=args.batch_size)

    for x in loader:
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
