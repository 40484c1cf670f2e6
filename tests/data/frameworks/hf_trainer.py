#!/usr/bin/env python3
# A random tiny GPT-2 on the Trainer of transformers, with its own parser.
# SPDX-License-Identifier: MIT
"""Says what each optimizer step has really seen, counted in the model."""
import sys

import torch
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    HfArgumentParser,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

WORDS, LENGTH, ROWS = 8192, 128, 4096


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return ROWS

    def __getitem__(self, index):
        words = (torch.arange(LENGTH) + index) % WORDS
        return {"input_ids": words, "labels": words}


class Count(TrainerCallback):
    def __init__(self, model):
        self.passes = []
        self.seen = set()
        # In 1.13 a hook of the model itself sees no arguments by name.
        model.transformer.wte.register_forward_pre_hook(self.note)

    def note(self, _module, args):
        self.passes.append(len(args[0]))

    def on_step_end(self, args, state, control, **_):
        sizes, self.passes = self.passes, []
        self.seen.add((sum(sizes), max(sizes), len(sizes)))

    def on_train_end(self, args, state, control, **_):
        for sizes in sorted(self.seen):
            print("effective batch %d = %d x %d x 1" % sizes, flush=True)


def main():
    parser = HfArgumentParser(TrainingArguments)
    if len(sys.argv) == 2 and sys.argv[1].endswith(".json"):
        (args,) = parser.parse_json_file(sys.argv[1])
    else:
        (args,) = parser.parse_args_into_dataclasses()
    model = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=WORDS, n_positions=LENGTH, n_embd=8, n_layer=1, n_head=1
        )
    )
    trainer = Trainer(
        model, args, train_dataset=Rows(), callbacks=[Count(model)]
    )
    trainer.train()


if __name__ == "__main__":
    main()
