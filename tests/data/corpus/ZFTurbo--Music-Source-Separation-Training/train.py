# Stands in for separation of sources, sizes in a YAML.
# SPDX-License-Identifier: MIT
import argparse

import torch
import yaml


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model_type", type=str, default="mdx23c")
    parser.add_argument("--config_path", type=str, help="path to config file")
    parser.add_argument("--start_check_point", type=str, default="")
    parser.add_argument("--results_path", type=str)
    parser.add_argument("--data_path", nargs="+", type=str)
    parser.add_argument("--valid_path", nargs="+", type=str)
    parser.add_argument("--num_workers", type=int, default=0)
    parser.add_argument("--device_ids", nargs="+", type=int, default=[0])
    return parser.parse_args()


def main():
    args = parse_args()
    config = yaml.safe_load(open(args.config_path))["training"]
    batch_size = config["batch_size"] * len(args.device_ids)
    steps = config.get("gradient_accumulation_steps", 1)
    model = torch.nn.DataParallel(torch.nn.Linear(8, 8), args.device_ids)
    optimizer = torch.optim.Adam(model.parameters())
    loader = torch.utils.data.DataLoader(torch.randn(65536, 8), batch_size)
    for i, x in enumerate(loader):
        (model(x).mean() / steps).backward()
        if (i + 1) % steps == 0:
            optimizer.step()
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
