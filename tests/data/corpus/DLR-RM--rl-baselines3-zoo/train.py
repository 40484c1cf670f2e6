# Stands in for reinforcement learning, sizes by name in a table.
# SPDX-License-Identifier: MIT
import argparse

import yaml


def train():
    parser = argparse.ArgumentParser()
    parser.add_argument("--algo", default="ppo", type=str)
    parser.add_argument("--env", default="CartPole-v1", type=str)
    parser.add_argument("-n", "--n-timesteps", default=-1, type=int)
    parser.add_argument("--eval-freq", default=25000, type=int)
    parser.add_argument("--n-eval-envs", default=1, type=int)
    parser.add_argument("-params", "--hyperparams", type=str, nargs="+",
                        help="Overwrite hyperparameter")
    args = parser.parse_args()
    table = yaml.safe_load(open(f"hyperparams/{args.algo}.yml"))
    print(table[args.env]["batch_size"])


if __name__ == "__main__":
    train()
