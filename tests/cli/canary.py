#!/usr/bin/env python3
# What is written into a command must be seen to take effect, or data end it.
# SPDX-License-Identifier: MIT
# CTEST COST 30
"""Small trainings that take their batch size, or only seem to.

One of each kind is PyTorch's own; the others make their steps with the
stand-in beside the tests, whose import takes no time.
"""
import os
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import check, equal, holds  # noqa: E402

PYTHON = "/usr/bin/python3"
HOST = ("--device", "host", "--memory", "4GiB", "--confirm-steps", "5")

TRAINING = """
import argparse, json, os, sys
import torch

def model():
    return torch.nn.Sequential(
        torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))

def train(size, accum, steps=60, net=None):
    net = net or model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for step in range(steps):
        for _ in range(accum):
            net(torch.ones(size, 64)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        print("step", step, flush=True)
"""
# The same with the stand-in; batch(n) is a batch of n samples.
STAND_IN = """
import argparse, json, os, sys, time
sys.path.insert(1, %r)
import torch

def batch(size):
    return torch.Tensor(size, 64)

def model():
    return torch.nn.Module([torch.Tensor(64)])

def train(size, accum, steps=60):
    net = model()
    optimizer = torch.optim.SGD(net.parameters())
    for step in range(steps):
        for _ in range(accum):
            net(batch(size))
        time.sleep(0.005)
        optimizer.step()
        print("step", step, flush=True)
""" % os.path.join(lib.DATA, "hook_fake_torch")
PARSER = """
parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=8)
parser.add_argument("--grad-accum", type=int, default=1)
parser.add_argument("--train-rows", type=int, default=8)
"""

WORKS = """
args = parser.parse_args()
train(args.batch_size, args.grad_accum)
"""
OTHER_FLAG = """
args = parser.parse_args()
train(args.train_rows, args.grad_accum)
"""
CONFIG_WINS = """
args = parser.parse_args()
vars(args).update(json.load(open(os.path.join(sys.path[0], "train.json"))))
train(args.batch_size, args.grad_accum)
"""
ECHO = """
args = parser.parse_args()
vars(args).update(json.load(open(os.path.join(sys.path[0], "train.json"))))
print("samples in a batch: %d" % args.batch_size)
train(args.batch_size, args.grad_accum)
"""
# As OmegaConf.from_cli: a key that nobody reads is as good as any.
KEYS = """
config = {"train.batch_size": 3, "train.accum": 1}
config.update(word.split("=", 1) for word in sys.argv[1:])
train(int(config["train.batch_size"]), int(config["train.accum"]))
"""
# 128 samples, whole batches only.
FEW_SAMPLES = """
args = parser.parse_args()
net = model()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
data = torch.utils.data.TensorDataset(torch.ones(128, 64))
loader = torch.utils.data.DataLoader(
    data, batch_size=args.batch_size, drop_last=True)
done = 0
for epoch in range(80):
    for (x,) in loader:
        loss = net(x).sum()
        loss.backward()
        done += 1
        if done % args.grad_accum == 0:
            optimizer.step()
            optimizer.zero_grad()
"""
# Without a loader: so many whole batches are in them.
FEW_SAMPLES_ALONE = """
args = parser.parse_args()
net = model()
optimizer = torch.optim.SGD(net.parameters())
done = 0
for epoch in range(80):
    time.sleep(0.005)
    for _ in range(128 // args.batch_size):
        loss = net(batch(args.batch_size))
        done += 1
        if done % args.grad_accum == 0:
            optimizer.step()
"""
FEW_SAMPLES_FAILS = FEW_SAMPLES_ALONE + "print(loss)\n"
FEW_SAMPLES_DIVIDES = FEW_SAMPLES_ALONE + "print(1 / done)\n"

PRESET = """
[preset]
description = a test's own
[recognise]
script = train_echo.py
[micro]
name = --batch-size
[accum]
name = --grad-accum
default = 1
[log]
echo = samples in a batch: (?<micro>[0-9]+)
"""


def sizes(micro, accum):
    return ["--batch-size", str(micro), "--grad-accum", str(accum)]


def tune(place, name, text, argv, *options, training=STAND_IN):
    script = place.write(name, training + PARSER + text)
    return place.run(
        *("tune", *HOST, *options, "--"), *(PYTHON, script), *argv
    )


def rows(answer):
    return [(p["micro_batch"], p["input_rows"]) for p in answer.probes]


def no_record(title, place, answer):
    equal(title + ": no recommendation", answer.result["recommended"], None)
    equal(title + ": no record", answer.result["record"]["path"], None)
    folder = place.path("home", "state", "records")
    there = os.listdir(folder) if os.path.isdir(folder) else []
    equal(title + ": no file of one", there, [])


def works(place):
    answer = tune(
        place, "train_works.py", WORKS, sizes(8, 4), "--max-micro", "32",
        training=TRAINING,
    )
    equal("a flag that works: status", answer.status, 0)
    if not check("a flag that works: probes", answer.probes, answer):
        return
    best = answer.result["recommended"]
    equal("a flag that works: answer", best and best["micro_batch"], 32)
    seen = rows(answer)
    equal("a flag that works: rows", seen, [(n, n) for n, _ in seen])
    # Its own size, and the largest.
    equal("a flag that works: no probe for it", len(seen), 2)
    echoes = {p["echo_micro"] for p in answer.probes}
    equal("a flag that works: no echo", echoes, {None})


def other_flag(place):
    title = "another flag"
    answer = tune(place, "train_other.py", OTHER_FLAG, sizes(8, 4),
                  training=TRAINING)
    equal(title + ": status", answer.status, 122)
    equal(title + ": outcome", answer.result["outcome"], "not_recognised")
    holds(
        title,
        answer.err,
        "--batch-size: the flag had no effect",
        "8, 32 and 128 took the same",
        "batch of 8 each time",
        "--micro-flag NAME",
    )
    equal(title + ": rows", {n for _, n in rows(answer)}, {8})
    no_record(title, place, answer)
    # Told once, it is told again, by probes: what was wrong may be mended.
    # Then the flag that was named is taken.
    script = place.path("train_other.py")
    named = [PYTHON, script, "--train-rows", "8", "--grad-accum", "4"]
    answer = place.run(
        "tune", *HOST, "--micro-flag", "--train-rows", "--", *named
    )
    equal(title + ": the way out", answer.status, 0)


def as_is(place):
    """Nothing is rewritten: nothing is in doubt."""
    title = "one size alone"
    answer = place.run(
        *("tune", *HOST, "--max-micro", "8", "--"),
        *(PYTHON, place.write("train_one.py", STAND_IN + PARSER + OTHER_FLAG)),
        *sizes(8, 1),
    )
    equal(title + ": status", answer.status, 0)
    equal(title + ": probes", len(answer.probes), 1)


def misspelt(place):
    title = "a key that nobody reads"
    argv = ["train.batchsize=8", "train.accum=4"]
    flags = ["--micro-flag", "train.batchsize", "--accum-flag", "train.accum"]
    answer = tune(place, "train_keys.py", KEYS, argv, *flags)
    equal(title + ": status", answer.status, 122)
    holds(title, answer.err, "train.batchsize: the flag had no effect")
    no_record(title, place, answer)
    argv[0] = "train.batch_size=8"
    flags[1] = "train.batch_size"
    answer = tune(place, "train_keys.py", KEYS, argv, *flags)
    equal(title + ": rightly spelt", answer.status, 0)


def config_wins(place):
    title = "a file that overrides the flag"
    place.write("train.json", '{"batch_size": 16}')
    answer = tune(place, "train_config.py", CONFIG_WINS, sizes(8, 4))
    equal(title + ": status", answer.status, 122)
    holds(title, answer.err, "the flag had no effect", "batch of 16 each")
    no_record(title, place, answer)


def echo(place):
    title = "a program that names another size"
    place.write("home/config/presets/echoing.ini", PRESET)
    place.write("train.json", '{"batch_size": 16}')
    answer = tune(place, "train_echo.py", ECHO, sizes(8, 4))
    equal(title + ": status", answer.status, 122)
    equal(title + ": preset", answer.result["preset"], "echoing")
    equal(title + ": at the second probe", len(answer.probes), 2)
    holds(title, answer.err, "the program itself names micro-batch 16")
    no_record(title, place, answer)
    place.write("train.json", "{}")
    answer = tune(place, "train_echo.py", ECHO, sizes(8, 4))
    equal(title + ": mended", answer.status, 0)
    seen = [p["echo_micro"] == p["micro_batch"] for p in answer.probes]
    check(title + ": mended, echoes", seen and all(seen), answer.probes)


def few_samples(place, title, text, training=STAND_IN):
    script = "train_%s.py" % title.replace(" ", "_")
    answer = tune(place, script, text, sizes(32, 16), training=training)
    equal(title + ": status", answer.status, 0)
    if not check(title + ": probes", answer.probes, answer):
        return
    verdicts = {p["micro_batch"]: p["verdict"] for p in answer.probes}
    for micro, verdict in verdicts.items():
        wanted = "fits" if micro <= 128 else "too_big"
        equal("%s: %d samples" % (title, micro), verdict, wanted)
    best = answer.result["recommended"]
    equal(title + ": answer", best and best["micro_batch"], 128)
    if training == TRAINING:
        # The hook sees the loader, and how many it has.
        check(title + ": no larger one was tried",
              "too_big" not in verdicts.values(), answer)
        holds(title + ": and that is said", " ".join(answer.err.split()),
              "larger than 128 was not used: its data loader has 128 samples")
        return
    check(title + ": some was too big", "too_big" in verdicts.values())
    whys = [p["why"] for p in answer.probes if p["verdict"] == "too_big"]
    check(
        title + ": why",
        all("fewer samples than one batch" in why for why in whys),
        whys,
    )


def few_samples_first(place):
    title = "too few from the start"
    answer = tune(place, "train_first.py", FEW_SAMPLES_FAILS, sizes(256, 1))
    equal(title + ": status", answer.status, 121)
    holds(title, answer.err, "'loss' is not defined", "hint: .*one batch")


def main():
    if not lib.has_modules(PYTHON, "torch"):
        lib.skip("no PyTorch at %s" % PYTHON)
    tests = [
        works,
        other_flag,
        as_is,
        misspelt,
        config_wins,
        echo,
        lambda place: few_samples(
            place, "few samples", FEW_SAMPLES, TRAINING
        ),
        lambda place: few_samples(
            place, "few samples and an error", FEW_SAMPLES_FAILS
        ),
        lambda place: few_samples(
            place, "few samples and a mean", FEW_SAMPLES_DIVIDES
        ),
        few_samples_first,
    ]
    for test in tests:
        with lib.Place("canary") as place:
            place.env.update(OMP_NUM_THREADS="1")
            test(place)
    lib.finish()


if __name__ == "__main__":
    main()
