# Stands in for speech recognition whose sizes are in a YAML.
# SPDX-License-Identifier: MIT
import argparse

import torch
import yaml

from wenet.utils.train_utils import add_model_args, batch_backward


def get_args():
    parser = argparse.ArgumentParser(description="training your network")
    parser.add_argument("--train_engine", default="torch_ddp",
                        choices=["torch_ddp", "torch_fsdp", "deepspeed"])
    add_model_args(parser)
    return parser.parse_args()


def main():
    args = get_args()
    with open(args.config) as fin:
        configs = yaml.safe_load(fin)
    torch.distributed.init_process_group("gloo")
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))
    optimizer = torch.optim.Adam(model.parameters())
    rows = configs["dataset_conf"]["batch_conf"]["batch_size"]
    for i, x in enumerate(
        torch.utils.data.DataLoader(torch.randn(65536, 8), rows)
    ):
        batch_backward(model(x).mean(), optimizer, i, configs["accum_grad"])


if __name__ == "__main__":
    main()
