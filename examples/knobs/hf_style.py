#!/usr/bin/env python3
# Sizes as fields of a dataclass, read as transformers' HfArgumentParser does.
# SPDX-License-Identifier: MIT
"""python3 hf_style.py --do_train --per_device_train_batch_size 2
or python3 hf_style.py arguments.json, which then says all.

Every field is an option in two spellings, --max_steps and --max-steps; one
that is true or false takes a value or none.
"""
import argparse
import dataclasses
import json
import os
import sys

import tinylm
import torch
import yaml


@dataclasses.dataclass
class TrainingArguments:
    output_dir: str = "trainer_output"
    do_train: bool = False
    per_device_train_batch_size: int = 8
    per_device_eval_batch_size: int = 8
    gradient_accumulation_steps: int = 1
    max_steps: int = 20
    learning_rate: float = 0.1
    eval_strategy: str = "no"
    save_strategy: str = "steps"
    logging_steps: int = 1
    report_to: str = "none"


def true_or_false(text):
    words = {"true": True, "1": True, "false": False, "0": False}
    if text.lower() not in words:
        raise argparse.ArgumentTypeError("true or false, not %s" % text)
    return words[text.lower()]


def parse_options(words):
    parser = argparse.ArgumentParser(usage=__doc__)
    for field in dataclasses.fields(TrainingArguments):
        names = {"--" + field.name, "--" + field.name.replace("_", "-")}
        more = {"dest": field.name, "type": field.type}
        if field.type is bool:
            more.update(type=true_or_false, nargs="?", const=True)
        parser.add_argument(*sorted(names), default=field.default, **more)
    return TrainingArguments(**vars(parser.parse_args(words)))


def parse(words):
    """One file says all, with the names of the fields; or options do."""
    if len(words) == 1 and words[0].endswith((".json", ".yaml")):
        read = json.load if words[0].endswith(".json") else yaml.safe_load
        with open(words[0], encoding="utf-8") as file:
            return TrainingArguments(**read(file))
    return parse_options(words)


def main():
    args = parse(sys.argv[1:])
    micro = args.per_device_train_batch_size
    accum = args.gradient_accumulation_steps
    print("  Instantaneous batch size per device = %d" % micro)
    print("  Gradient Accumulation steps = %d" % accum)
    if not args.do_train:
        return
    model = tinylm.train(micro, accum, args.max_steps, args.learning_rate)
    if args.save_strategy != "no":
        os.makedirs(args.output_dir, exist_ok=True)
        path = os.path.join(args.output_dir, "tinylm.pt")
        torch.save(model.state_dict(), path)


if __name__ == "__main__":
    main()
