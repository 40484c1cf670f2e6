# Stands in for a training whose --global-batch-size is shared by the ranks.
# SPDX-License-Identifier: MIT
import argparse

import torch
import torch.distributed as dist


def main(args):
    dist.init_process_group("gloo")
    assert args.global_batch_size % dist.get_world_size() == 0
    rows = int(args.global_batch_size // dist.get_world_size())
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 8))
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
    data = torch.utils.data.TensorDataset(torch.randn(65536, 64))
    for epoch in range(args.epochs):
        for (x,) in torch.utils.data.DataLoader(data, rows, drop_last=True):
            loss = model(x).square().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--data-path", type=str)
    parser.add_argument("--model", type=str, default="DiT-XL/2")
    parser.add_argument("--epochs", type=int, default=1400)
    parser.add_argument("--global-batch-size", type=int, default=256)
    main(parser.parse_args())
