# Stands in for a Trainer of Lightning by YAML and options.
# SPDX-License-Identifier: MIT
import argparse
import sys

import pytorch_lightning as pl
import torch
from omegaconf import OmegaConf
from pytorch_lightning.trainer import Trainer


def get_parser(**parser_kwargs):
    parser = argparse.ArgumentParser(**parser_kwargs)
    parser.add_argument("-n", "--name", type=str, const=True, default="",
                        nargs="?", help="postfix for logdir")
    parser.add_argument("-b", "--base", nargs="*", metavar="base_config.yaml",
                        help="paths to base configs", default=list())
    parser.add_argument("-t", "--train", type=str, const=True, default=False,
                        nargs="?", help="train")
    parser.add_argument("--no-test", type=str, const=True, default=False,
                        nargs="?", help="disable test")
    parser.add_argument("-s", "--seed", type=int, default=23)
    return parser


class DataModuleFromConfig(pl.LightningDataModule):
    def __init__(self, batch_size, train=None, num_workers=None):
        super().__init__()
        self.batch_size = batch_size

    def train_dataloader(self):
        return torch.utils.data.DataLoader(torch.randn(65536, 8),
                                           batch_size=self.batch_size)


if __name__ == "__main__":
    parser = Trainer.add_argparse_args(get_parser())
    opt, unknown = parser.parse_known_args()
    configs = [OmegaConf.load(cfg) for cfg in opt.base]
    config = OmegaConf.merge(*configs, OmegaConf.from_dotlist(unknown))
    data = DataModuleFromConfig(**config.data.params)
    Trainer.from_argparse_args(opt).fit(None, data)
