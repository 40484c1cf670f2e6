#!/usr/bin/env python3
# Sizes by dotted names and files, read as LightningCLI's jsonargparse does.
# SPDX-License-Identifier: MIT
"""python3 jsonargparse_style.py fit --config fit.yaml --data.batch_size 2

From left to right the last one wins: an option after --config over the file,
a file after an option over that.
"""
import argparse

import tinylm
import yaml

DEFAULTS = {
    "seed_everything": True,
    "data.batch_size": 8,
    "data.num_workers": 0,
    "model.learning_rate": 0.1,
    "trainer.accumulate_grad_batches": 1,
    "trainer.max_steps": 20,
    "trainer.default_root_dir": None,
    "trainer.enable_checkpointing": True,
    "trainer.enable_progress_bar": True,
    "trainer.limit_val_batches": 1.0,
    "trainer.log_every_n_steps": 50,
    "trainer.logger": True,
    "trainer.num_sanity_val_steps": 2,
}


def flatten(tree, prefix=""):
    """{"data": {"batch_size": 2}} as {"data.batch_size": 2}"""
    flat = {}
    for name, value in tree.items():
        if isinstance(value, dict):
            flat.update(flatten(value, prefix + name + "."))
        else:
            flat[prefix + name] = value
    return flat


class ReadConfig(argparse.Action):
    def __call__(self, parser, namespace, path, option_string=None):
        with open(path, encoding="utf-8") as file:
            given = flatten(yaml.safe_load(file))
        unknown = given.keys() - DEFAULTS.keys()
        if unknown:
            parser.error("%s: what is %s?" % (path, ", ".join(unknown)))
        vars(namespace).update(given)


def parse_arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    fit = commands.add_parser("fit")
    fit.add_argument("--config", action=ReadConfig)
    for name, default in DEFAULTS.items():
        fit.add_argument("--" + name, default=default, type=yaml.safe_load)
    return vars(parser.parse_args())


def main():
    args = parse_arguments()
    tinylm.train(
        args["data.batch_size"],
        args["trainer.accumulate_grad_batches"],
        args["trainer.max_steps"],
        args["model.learning_rate"],
    )


if __name__ == "__main__":
    main()
