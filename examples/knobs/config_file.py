#!/usr/bin/env python3
# Sizes in a file only, YAML, TOML or JSON: no option changes them.
# SPDX-License-Identifier: MIT
"""python3 config_file.py --config settings.yaml"""
import argparse
import json
import os
import tomllib

import tinylm
import yaml

READ = {".yaml": yaml.safe_load, ".toml": tomllib.load, ".json": json.load}


def read(path):
    """The settings; those of the file that base names are defaults."""
    with open(path, "rb") as file:
        settings = READ[os.path.splitext(path)[1]](file)
    if "base" not in settings:
        return settings
    base = os.path.join(os.path.dirname(path), settings["base"])
    return {**read(base), **settings}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--config", required=True)
    settings = read(parser.parse_args().config)
    sizes = settings["training"]
    print("note: %s" % settings["note"])
    tinylm.train(
        sizes["batch_size"],
        sizes["gradient_accumulation_steps"],
        sizes["max_steps"],
        settings["lr"],
    )


if __name__ == "__main__":
    main()
