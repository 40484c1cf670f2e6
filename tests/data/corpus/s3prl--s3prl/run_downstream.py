# Stands in for speech tasks whose YAML is found by a name.
# SPDX-License-Identifier: MIT
import argparse

import torch
import yaml


def get_downstream_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("-m", "--mode", choices=["train", "evaluate"],
                        required=True)
    parser.add_argument("-o", "--override",
                        help="Used to override args and config")
    parser.add_argument("-n", "--expname")
    parser.add_argument("-u", "--upstream")
    parser.add_argument("-d", "--downstream")
    parser.add_argument("-c", "--config")
    parser.add_argument("--seed", default=1337, type=int)
    args = parser.parse_args()
    if args.config is None:
        args.config = f"./downstream/{args.downstream}/config.yaml"
    return args, yaml.safe_load(open(args.config))


def main():
    args, config = get_downstream_args()
    steps = config["runner"].get("gradient_accumulate_steps")
    rows = config["downstream_expert"]["datarc"]["train_batch_size"]
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.Adam(model.parameters())
    for i, x in enumerate(
        torch.utils.data.DataLoader(torch.randn(65536, 8), rows)
    ):
        (model(x).mean() / steps).backward()
        if (i + 1) % steps == 0:
            optimizer.step()
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
