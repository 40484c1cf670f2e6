# Stands in for detection whose JSON fills in what is not given.
# SPDX-License-Identifier: MIT
import argparse
import json

import torch


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data_root_dir", required=True)
    parser.add_argument("--config_file", required=True,
                        help="Filepath to the config containing the args")
    parser.add_argument("--data_type", choices=["detection", "structure"])
    parser.add_argument("--mode", choices=["train", "eval"], default="train",
                        help="Modes: training (train) and evaluation (eval)")
    parser.add_argument("--lr", type=float)
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--batch_size", type=int)
    parser.add_argument("--num_workers", type=int)
    return parser.parse_args()


def main():
    cmd_args = get_args().__dict__
    config_args = json.load(open(cmd_args["config_file"]))
    for key, value in cmd_args.items():
        if key not in config_args or value is not None:
            config_args[key] = value
    args = argparse.Namespace(**config_args)
    if args.mode == "eval":
        return
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.Adam(model.parameters())
    loader = torch.utils.data.DataLoader(torch.randn(65536, 8), args.batch_size)
    for x in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
