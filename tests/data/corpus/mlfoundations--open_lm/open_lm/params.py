# Stands in for pretraining whose total is divided twice.
# SPDX-License-Identifier: MIT
import argparse


def parse_args(args):
    parser = argparse.ArgumentParser()
    parser.add_argument("--train-data", type=str, nargs="+", default=None)
    parser.add_argument("--model", type=str, default="m1b_neox")
    parser.add_argument("--global-batch-size", type=int, default=64,
                        help="Global batch size.")
    parser.add_argument("--accum-freq", type=int, default=1,
                        help="Update the model every --acum-freq steps.")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--lr", type=float, default=5.0e-4)
    return parser.parse_args(args)
