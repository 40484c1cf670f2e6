# Stands in for a vocoder whose sizes are in a JSON.
# SPDX-License-Identifier: MIT
import argparse
import json

import torch


def train(num_gpus, output_directory, epochs, learning_rate, batch_size):
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    data = torch.randn(65536, 8)
    for x in torch.utils.data.DataLoader(data, batch_size=batch_size):
        model.zero_grad()
        model(x).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("-c", "--config", type=str,
                        help="JSON file for configuration")
    parser.add_argument("-r", "--rank", type=int, default=0)
    parser.add_argument("-g", "--group_name", type=str, default="")
    args = parser.parse_args()
    with open(args.config) as f:
        config = json.load(f)
    train(1, **config["train_config"])
