# Stands in for speech synthesis by Lightning with the Trainer's own options.
# SPDX-License-Identifier: MIT
import argparse

import torch
from pytorch_lightning import Trainer

from .vits import VitsModel


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dataset-dir", required=True)
    parser.add_argument("--checkpoint-epochs", type=int)
    parser.add_argument("--quality", default="medium")
    Trainer.add_argparse_args(parser)
    VitsModel.add_model_specific_args(parser)
    parser.add_argument("--seed", type=int, default=1234)
    args = parser.parse_args()
    trainer = Trainer.from_argparse_args(args)
    trainer.fit(VitsModel(**vars(args)))


if __name__ == "__main__":
    main()
