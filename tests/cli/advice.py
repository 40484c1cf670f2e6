#!/usr/bin/env python3
# What a refusal advises works when it is followed to the letter.
# SPDX-License-Identifier: MIT
"""Every refusal of tests/data/golden that names words to add or to write is
followed, each of its alternatives by itself: explain must then say what it
would do. So are those of BY_HAND, where something is to be filled in.
"""
import copy
import glob
import os
import re
import shlex
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import check  # noqa: E402

FOLLOWED_MIN = 60
# Words for autofit, one after the other: "--micro-flag --bs --micro-scope
# global"; and a value that becomes a placeholder: "--bs {micro:8}". A plain
# word after an option is no value but the sentence going on.
HINT = (
    r"--(?:(?:micro|accum|global)-flag -[\w-]+|(?:micro|accum|global)-scope \w+|"
    r"effective-batch \d+)"
)
HINTS = re.compile(HINT + "(?: " + HINT + ")*")
PLACE = re.compile(r"(-[\w-]+|[\w.]+)[ =](\{(?:micro|accum):\d+\})")


# Of a script that a refusal names and the goldens do not show, by launcher.
STUBS = {"deepspeed": "import deepspeed\ndeepspeed.initialize()\n"}
# Advice with a blank to fill in, or words to change, as a user would: the
# refusal's title, then old and new of the command or a file, and options.
BY_HAND = (
    ("torchtitan by its launch script, no accumulation given",
     "--training.steps=20", "--training.global_batch_size 64 "
     "--training.steps=20"),
    ("several data sets, each with a batch size", "batch_size = ",
     "batch_size = {micro:4}#", "--template", "two.toml"),
    ("a slip in an option of the script, which would go by its default",
     "--batch-sise", "--batch-size"),
    ("a slip in the accumulation", "--grad-acum", "--grad-accum"),
    ("arithmetic of a shell is not known", "'$((4 * 2))'", "8"),
    ("an accumulation that a script computes",
     "ACCUM=$(($TOTAL/$NUM_GPUS/$MICRO))", "ACCUM=${ACCUM:-8}"),
    ("an interpolation of OmegaConf", "'batch_size=${oc.env:BS}'",
     "batch_size=8"),
    ("auto, in an option", "size=auto", "size=4"),
    ("YOLO's own search for a batch", "batch=-1", "batch=16"),
    ("a share of the memory instead of a batch", "batch=0.70", "batch=16"),
    ("the batch size may stand in a config file that is not there",
     "1B_full_single_device", "1B_full_single_device "
     "gradient_accumulation_steps=8 batch_size=2"),
    ("a YAML file that is broken", "[1, 2", "2"),
    ("a JSON file with a comma too much", '"/tmp/x",',
     '"/tmp/x", "gradient_accumulation_steps": 1'),
    ("a JSON file that pushes, beside which no option is read", "true",
     'false, "gradient_accumulation_steps": 1'),
    ("a YAML file whose batches shrink by themselves", "True", "False"),
    ("a config that is built on others", "coco.py", "coco.py --cfg-options "
     "optim_wrapper.accumulative_counts=2 train_dataloader.batch_size=2"),
    ("Hydra's list of defaults", "lr=0.2",
     "train.batch_size=8"),
    ("a sweep of Hydra, by its option", "--multirun batch_size=8 lr=0.1,0.2",
     "batch_size=8 lr=0.1"),
    ("a sweep of Hydra, by a list", "4,8", "4"),
    ("a sweep of axolotl", " --sweep sweep.yml", ""),
    ("ranks that are not a number", "node=gpu", "node=2"),
    ("make hides the command", "make train BS=8", "python train.py --bs 8"),
    ("a pipe in shell text", "bash -c 'python train.py --batch-size 8 | "
     "tee log'", "python train.py --batch-size 8"),
    ("several commands in shell text", "bash -c 'python prepare.py && python "
     "train.py --batch-size 8'", "python train.py --batch-size 8"),
    ("a script that takes no arguments for it", "--lr 0.1", '--lr 0.1 "$@"'),
    ("a script that takes no arguments for it", '--batch-size 1"6"',
     "--batch-size ${BS:-16}"),
    ("a script with two trainings", "bash both.sh",
     "python train.py --batch-size 8"),
    ("optimizer in the backward pass has no accumulation",
     "accumulation_steps: 4", "accumulation_steps: 1"),
    ("ranks that cannot share the batch", "BATCH 12", "BATCH 16"),
    ("LitGPT would silently cut the batch", "size 64", "size 48"),
    ("Megatron-LM with sizes that do not divide", "size 64", "size 48"),
    ("GRPO's groups do not fit the batch", "size 4", "size 8"),
    ("an option that is misspelt", "--batch-size 8",
     "--batch-size 8 --batchsize 1"),
    ("the Trainer's own search for a batch, in LLaMA-Factory", "true",
     "false"),
    ("an option behind a bare --", "-- --batch-size 8",
     "-- --batch-size {micro:8}"),
    ("an option that has no value", "--batch-size", "--batch-size 8"),
    ("nanoGPT with its option in two words", "--batch_size 8",
     "--batch_size=8"),
    ("a file that may set the option again", "gone.yaml",
     "gone.yaml --trainer.accumulate_grad_batches 2 --data.batch_size 8"),
    ("DeepSpeed chooses by itself", '"enabled": true', '"enabled": false'),
    ("DeepSpeed's numbers contradict each other", "32", "16"),
    ("fairseq with a schedule of accumulation", "4,2,1", "4"),
    ("Megatron-LM whose batch grows",
     "--rampup-batch-size 16 16 5859375 ", ""),
    ("a profiler around it", "nsys profile -o out ", ""),
    ("evaluation alone trains nothing", " --test-only", ""),
    ("the framework's YAML names such a file", '"gradient_accumulation_steps"'
     ': 2', '"gradient_accumulation_steps": "auto"'),
    ("a variable that the command sets in front of the option",
     "env ACCELERATE_GRADIENT_ACCUMULATION_STEPS=4 ", ""),
    ("a script that is not understood may not hand options on", "./run.sh",
     "python run_glue.py --per_device_train_batch_size 8"),
    ("a script that joins something to its last argument", '"$@".0', '"$@"'),
)


class Refusal:
    def __init__(self, title):
        self.title = title
        self.files, self.options, self.env = {}, [], {}
        self.words, self.message = [], None


def refusals():
    found = []
    for path in sorted(glob.glob(os.path.join(lib.DATA, "golden", "*.txt"))):
        name = None
        for line in open(path, encoding="utf-8"):
            kind, _, rest = line.rstrip("\n").partition(" ")
            if kind == "==":
                found.append(Refusal(rest))
            elif kind == "file":
                name = rest
                found[-1].files[name] = ""
            elif kind == "|":
                found[-1].files[name] += rest + "\n"
            elif kind == "option":
                found[-1].options += shlex.split(rest)
            elif kind == "env":
                found[-1].env.update([rest.split("=", 1)])
            elif kind == "$":
                found[-1].words = shlex.split(rest)
            elif kind == "refuses" and rest.startswith("not_recognised"):
                found[-1].message = rest
    return [refusal for refusal in found if refusal.message]


def with_place(words, option, place):
    """The words with a placeholder for the option's value, if it is there."""
    for i, word in enumerate(words):
        if option == word and i + 1 < len(words):
            return [*words[: i + 1], place, *words[i + 2:]]
        if word.startswith(option + "="):
            return [*words[:i], option + "=" + place, *words[i + 1:]]
    return None


def ways(refusal):
    """(options of autofit, command) of each alternative that is literal."""
    text = refusal.message
    for found in HINTS.finditer(text):
        yield found.group().split(), refusal.words
    for found in PLACE.finditer(text):
        words = with_place(refusal.words, *found.groups())
        if words:
            yield [], words


def by_hand(refusal):
    """The same refusal with each of its changes made."""
    for title, old, new, *options in BY_HAND:
        if title != refusal.title:
            continue
        changed = copy.copy(refusal)
        line = shlex.join(refusal.words)
        changed.files = {
            name: text.replace(old, new) for name, text in
            refusal.files.items()
        }
        if old in line:
            changed.words = shlex.split(line.replace(old, new))
        check("%s: there is %s" % (title, old),
              changed.words != refusal.words or
              changed.files != refusal.files)
        yield changed, options, changed.words


def follow(refusal, options, words):
    with lib.Place("advice") as place:
        told = " ".join([*refusal.words, *refusal.files.values()])
        for word in re.findall(r"(?<!\S)[\w./]+\.py(?!\S)", told):
            place.write(word, STUBS.get(refusal.words[0], "import torch\n"))
        for name, text in refusal.files.items():
            place.write(name, text)
        return place.run(
            "explain", *refusal.options, *options, "--", *words,
            env=refusal.env,
        )


def main():
    followed = 0
    for refusal in refusals():
        literal = [(refusal, *way) for way in ways(refusal)]
        for changed, options, words in [*literal, *by_hand(refusal)]:
            followed += 1
            got = follow(changed, options, words)
            check("%s: %s" % (refusal.title, " ".join(options or words)),
                  got.status == 0, "%s\nnow: %s" % (refusal.message, got.err))
    check("%d of at least %d ways" % (followed, FOLLOWED_MIN),
          followed >= FOLLOWED_MIN)
    lib.finish()


main()
