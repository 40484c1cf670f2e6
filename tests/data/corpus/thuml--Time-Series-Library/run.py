# Stands in for time series of several tasks.
# SPDX-License-Identifier: MIT
import argparse

import torch


class Exp:
    def __init__(self, args):
        self.args = args

    def train(self, setting):
        rows = self.args.batch_size
        model = torch.nn.Linear(8, 8)
        optimizer = torch.optim.Adam(model.parameters())
        for x in torch.utils.data.DataLoader(torch.randn(65536, 8), rows):
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()

    def test(self, setting):
        pass


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="TimesNet")
    parser.add_argument("--task_name", type=str, required=True)
    parser.add_argument("--is_training", type=int, required=True, default=1,
                        help="status")
    parser.add_argument("--model_id", type=str, required=True)
    parser.add_argument("--model", type=str, required=True)
    parser.add_argument("--data", type=str, required=True)
    parser.add_argument("--root_path", type=str, default="./data/ETT/")
    parser.add_argument("--seq_len", type=int, default=96)
    parser.add_argument("--d_model", type=int, default=512)
    parser.add_argument("--top_k", type=int, default=5)
    parser.add_argument("--num_workers", type=int, default=10)
    parser.add_argument("--itr", type=int, default=1)
    parser.add_argument("--train_epochs", type=int, default=10)
    parser.add_argument("--batch_size", type=int, default=32,
                        help="batch size of train input data")
    parser.add_argument("--use_multi_gpu", action="store_true")
    parser.add_argument("--devices", type=str, default="0,1,2,3")
    args = parser.parse_args()
    if args.is_training:
        Exp(args).train("long")
    else:
        Exp(args).test("long")
