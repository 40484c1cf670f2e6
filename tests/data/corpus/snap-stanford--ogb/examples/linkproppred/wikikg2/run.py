# Stands in for benchmarks on graphs.
# SPDX-License-Identifier: MIT
import argparse

import torch


def parse_args(args=None):
    parser = argparse.ArgumentParser(description="Knowledge Graph Embedding")
    parser.add_argument("--cuda", action="store_true")
    parser.add_argument("--do_train", action="store_true")
    parser.add_argument("--do_valid", action="store_true")
    parser.add_argument("--do_test", action="store_true")
    parser.add_argument("--evaluate_train", action="store_true")
    parser.add_argument("--model", default="TransE", type=str)
    parser.add_argument("-n", "--negative_sample_size", default=128, type=int)
    parser.add_argument("-d", "--hidden_dim", default=500, type=int)
    parser.add_argument("-g", "--gamma", default=12.0, type=float)
    parser.add_argument("-adv", "--negative_adversarial_sampling",
                        action="store_true")
    parser.add_argument("-a", "--adversarial_temperature", default=1.0,
                        type=float)
    parser.add_argument("-b", "--batch_size", default=1024, type=int)
    parser.add_argument("--test_batch_size", default=4, type=int,
                        help="valid/test batch size")
    parser.add_argument("-lr", "--learning_rate", default=1e-4, type=float)
    parser.add_argument("-cpu", "--cpu_num", default=10, type=int)
    parser.add_argument("--max_steps", default=100000, type=int)
    return parser.parse_args(args)


def main(args):
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.Adam(model.parameters())
    loader = torch.utils.data.DataLoader(torch.randn(65536, 8), args.batch_size)
    for x in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main(parse_args())
