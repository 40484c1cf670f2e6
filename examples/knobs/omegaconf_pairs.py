#!/usr/bin/env python3
# Sizes as key=value words, read by OmegaConf.
# SPDX-License-Identifier: MIT
"""python3 omegaconf_pairs.py train.batch_size=2 train.accum_steps=4

A key that is not known, a misspelt one too, is taken without a word.
"""
import tinylm
from omegaconf import OmegaConf

DEFAULTS = {
    "lr": 0.1,
    "train": {"batch_size": 4, "accum_steps": 4, "steps": 20},
}


def main():
    conf = OmegaConf.merge(OmegaConf.create(DEFAULTS), OmegaConf.from_cli())
    train = conf.train
    tinylm.train(train.batch_size, train.accum_steps, train.steps, conf.lr)


if __name__ == "__main__":
    main()
