# Stands in for speech synthesis whose sizes are in another module.
# SPDX-License-Identifier: MIT
import argparse

import torch

from hparams import create_hparams

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("-o", "--output_directory", type=str)
    parser.add_argument("-l", "--log_directory", type=str)
    parser.add_argument("-c", "--checkpoint_path", type=str, default=None)
    parser.add_argument("--warm_start", action="store_true")
    parser.add_argument("--n_gpus", type=int, default=1, required=False,
                        help="number of gpus")
    parser.add_argument("--rank", type=int, default=0)
    parser.add_argument("--hparams", type=str, required=False,
                        help="comma separated name=value pairs")
    args = parser.parse_args()
    hparams = create_hparams(args.hparams)
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.Adam(model.parameters())
    data = torch.randn(65536, 8)
    for x in torch.utils.data.DataLoader(data, hparams.batch_size):
        model.zero_grad()
        model(x).mean().backward()
        optimizer.step()
