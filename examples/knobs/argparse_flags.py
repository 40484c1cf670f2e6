#!/usr/bin/env python3
# Sizes as options of argparse: -b, --batch-size, and what it abbreviates.
# SPDX-License-Identifier: MIT
"""python3 argparse_flags.py -b 2 --grad-accum 4 --steps 20"""
import argparse

import tinylm


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("-b", "--batch-size", type=int, default=4)
    parser.add_argument("--grad-accum", type=int, default=1)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--lr", type=float, default=0.1)
    args = parser.parse_args()
    tinylm.train(args.batch_size, args.grad_accum, args.steps, args.lr)


if __name__ == "__main__":
    main()
