# Stands in for speech synthesis that spawns a rank on each GPU.
# SPDX-License-Identifier: MIT
import argparse
import json

import torch
import torch.multiprocessing as mp


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-c", "--config", type=str, default="./base.json",
                        help="JSON file for configuration")
    parser.add_argument("-m", "--model", type=str, required=True)
    args = parser.parse_args()
    with open(args.config) as f:
        hps = json.load(f)
    n_gpus = torch.cuda.device_count()
    mp.spawn(run, nprocs=n_gpus, args=(n_gpus, hps))


def run(rank, n_gpus, hps):
    torch.distributed.init_process_group("nccl", world_size=n_gpus, rank=rank)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))
    optimizer = torch.optim.AdamW(model.parameters())
    data = torch.randn(65536, 8)
    rows = hps["train"]["batch_size"]
    for x in torch.utils.data.DataLoader(data, rows):
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
