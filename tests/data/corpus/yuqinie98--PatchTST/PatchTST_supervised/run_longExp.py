# Stands in for time series in patches.
# SPDX-License-Identifier: MIT
import argparse

import torch

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Autoformer & Transformers")
    parser.add_argument("--random_seed", type=int, default=2021)
    parser.add_argument("--is_training", type=int, required=True, default=1)
    parser.add_argument("--model_id", type=str, required=True)
    parser.add_argument("--model", type=str, required=True)
    parser.add_argument("--seq_len", type=int, default=96)
    parser.add_argument("--patch_len", type=int, default=16)
    parser.add_argument("--itr", type=int, default=2)
    parser.add_argument("--train_epochs", type=int, default=100)
    parser.add_argument("--batch_size", type=int, default=128,
                        help="batch size of train input data")
    parser.add_argument("--use_multi_gpu", action="store_true", default=False)
    parser.add_argument("--devices", type=str, default="0,1,2,3",
                        help="device ids of multile gpus")
    args = parser.parse_args()
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.Adam(model.parameters())
    loader = torch.utils.data.DataLoader(torch.randn(65536, 8), args.batch_size)
    for x in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
