# Stands in for a detector that starts its ranks by itself.
# SPDX-License-Identifier: MIT
import argparse

import torch

from yolox.core import launch
from yolox.exp import get_exp


def make_parser():
    parser = argparse.ArgumentParser("YOLOX train parser")
    parser.add_argument("-n", "--name", type=str, default=None)
    parser.add_argument("--dist-backend", default="nccl", type=str)
    parser.add_argument("-b", "--batch-size", type=int, default=64,
                        help="batch size")
    parser.add_argument("-d", "--devices", default=None, type=int,
                        help="device for training")
    parser.add_argument("-f", "--exp_file", default=None, type=str)
    parser.add_argument("-c", "--ckpt", default=None, type=str)
    parser.add_argument("--num_machines", default=1, type=int)
    parser.add_argument("--fp16", default=False, action="store_true")
    parser.add_argument("-o", "--occupy", default=False, action="store_true")
    parser.add_argument("opts", default=None, nargs=argparse.REMAINDER)
    return parser


def main(exp, args):
    exp.get_trainer(args).train()


if __name__ == "__main__":
    args = make_parser().parse_args()
    exp = get_exp(args.exp_file, args.name)
    num_gpu = torch.cuda.device_count() if not args.devices else args.devices
    launch(main, num_gpu, args.num_machines, args=(exp, args))
