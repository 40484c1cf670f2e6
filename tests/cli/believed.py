#!/usr/bin/env python3
# What shows nothing is not believed, and where results go does no harm.
# SPDX-License-Identifier: MIT
"""Small programs without PyTorch: their batch option does nothing, they end well
without a step, refuse a folder of results that is there, or read what is in it.
"""
import os
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import check, equal, holds, lacks  # noqa: E402

HEAD = """
import argparse, os, sys
p = argparse.ArgumentParser()
p.add_argument("--batch-size", type=int, default=4)
p.add_argument("--grad-accum", type=int, default=8)
p.add_argument("--output-dir")
a = p.parse_args()
"""
STEPS = """
held = bytearray(b"x") * (a.batch_size << 22)
for step in range(8):
    print("step %d/8 loss 1.0" % (step + 1), flush=True)
"""
# More in one run than in another, whatever the batch: less with a larger one. Of
# a program that ends at once the peak may be known with its files only.
NOISE = """
held = bytearray(b"x") * ((16 if a.batch_size == 1 else 15) << 20)
for step in range(8):
    print("step %d/8 loss 1.0" % (step + 1), flush=True)
"""
USAGE = """
print("usage: train.py --batch-size N")
"""
# Rounds before the training, counted as steps are: they take no notice of the
# size, and end long after a probe has seen enough of them.
PREPARES = """
import time
for i in range(60):
    print("Encoding batch %d of 60" % (i + 1), flush=True)
    time.sleep(0.05)
held = bytearray(b"x") * (a.batch_size * (20 << 20))
for step in range(8):
    print("step %d/8 loss 1.0" % (step + 1), flush=True)
"""
# It counts steps that are still to be done, by another thread.
AHEAD = """
import threading, time
held = []
def work():
    for _ in range(a.batch_size * 5):
        held.append(bytearray(b"x") * (4 << 20))
        time.sleep(0.02)
threading.Thread(target=work, daemon=True).start()
for step in range(100000):
    print("step %d/100000 loss 1.0" % (step + 1), flush=True)
    time.sleep(0.001 if step < 30 else 0.05)
"""
FRESH_FOLDER = "os.makedirs(a.output_dir)\n" + STEPS
# It asks for so many samples a step before it starts.
ASKS_FOR_SAMPLES = """
assert a.batch_size * a.grad_accum >= 16, "16 samples a step are the least"
""" + STEPS
# The words of SpeechBrain, whose file of keys has no folder of results.
WITHOUT_FOLDER = """
keys = dict((word[2:] + "=").split("=")[:2] for word in sys.argv[1:]
            if word.startswith("--"))
for key in keys:
    if key not in ("batch_size", "grad_accumulation_factor"):
        raise KeyError("Override %r not found in: [...]" % key)
def parse_arguments(words): pass
def load_hyperpyyaml(file): pass
held = bytearray(b"x") * (int(keys["batch_size"]) << 22)
""" + STEPS.split("\n", 2)[2]
# Two ranks that both have PyTorch before one steps, and then do not wait for each
# other: the second comes when the first has done more steps than a probe needs,
# and alone takes memory.
LATE_RANK = """
import subprocess, time
if "RANK" not in os.environ:
    ranks = [subprocess.Popen([sys.executable, *sys.argv],
                              env=dict(os.environ, RANK=rank)) for rank in "01"]
    sys.exit(max(rank.wait() for rank in ranks))
import torch
here, come = ("%s.%d" % (word, os.getppid()) for word in ("here", "come"))
is_second = os.environ["RANK"] == "1"
optimizer = torch.optim.SGD([object()])
if is_second:
    open(here, "w").close()
while not os.path.exists(come if is_second else here):
    time.sleep(0.001)
if is_second:
    held = bytearray(b"x") * (a.batch_size << 24)
for step in range(100000):
    optimizer.step()
    time.sleep(0.002)
    if step == 200:
        open(come, "w").close()
"""
# It counts micro-steps, and the optimizer takes its memory with its first step.
MICRO_STEPS = """
import time
state = None
held = bytearray(b"x") * (a.batch_size << 22)
for i in range(100000):
    if (i + 1) % a.grad_accum == 0:
        state = state or bytearray(b"x") * (240 << 20)
    print("step %d/100000 loss 1.0" % (i + 1), flush=True)
    time.sleep(0.01)
"""
READS_FOLDER = 'open(os.path.join(a.output_dir, "vocab.txt")).read()\n' + STEPS


def tune(place, text, *words, memory=900):
    place.write("train.py", HEAD + text)
    return place.run("tune", "--device", "host", "--memory", "%dMiB" % memory,
                     "--fresh", "--", sys.executable, "train.py",
                     "--batch-size", "1", "--grad-accum", "8", *words)


def noise_shows_no_effect(place):
    got = tune(place, NOISE)
    equal("noise", got.status, 122)
    holds("noise: said", got.err, "had no effect: 1, 4")
    lacks("noise: steps were seen", got.err, "does it train")


def no_step_is_said(place):
    got = tune(place, USAGE)
    equal("no step", got.status, 122)
    holds("no step: said", got.err, "no step was seen .does it train at all")
    got = tune(place, USAGE, "--grad-accum", "1")
    check("its own size: a caveat", any(
        "no step was seen" in text for text in got.result["caveats"]), got)
    equal("its own size: no other is promised",
          got.result["predicted_micro_batch"], None)


def what_comes_before_is_no_training(place):
    # Of 86 MiB four samples take 80, beside the interpreter's 10.
    for words, status, best in (
            (["--batch-size", "8", "--grad-accum", "1"], 0, (2, 4)),
            (["--batch-size", "2", "--grad-accum", "4"], 0, (2, 4))):
        got = tune(place, PREPARES, *words, memory=150)
        title = "prepares, " + " ".join(words)
        equal(title, got.status, status)
        holds(title + ": said", got.err, "each size is watched for longer")
        answer = got.result["recommended"]
        equal(title + ": the answer",
              answer and (answer["micro_batch"], answer["grad_accum"]), best)
        doubted = [p for p in got.probes if p["verdict"] == "none"]
        check(title + ": three are taken back", len(doubted) == 3, got.probes)
        check(title + ": the peak is the training's",
              got.result["evidence"]["peak_bytes"] > 40 * lib.MIB, got)


def eight_is_too_large(place, title, text):
    """Which is seen in its one probe, and two fit."""
    got = tune(place, text, "--batch-size", "8", "--grad-accum", "1",
               memory=150)
    equal(title, got.status, 0)
    answer = got.result["recommended"]
    equal(title + ": the answer",
          answer and (answer["micro_batch"], answer["grad_accum"]), (2, 4))
    first = got.probes[0]
    equal(title + ": the own size", (first["micro_batch"], first["verdict"]),
          (8, "over_budget"))


def steps_that_are_not_done_are_none(place):
    eight_is_too_large(place, "ahead", AHEAD)


def micro_steps_are_counted(place):
    got = tune(place, MICRO_STEPS, "--grad-accum", "64", memory=400)
    equal("micro-steps", got.status, 0)
    answer = got.result["recommended"]
    equal("micro-steps: the answer",
          answer and (answer["micro_batch"], answer["grad_accum"]), (16, 4))
    check("micro-steps: each fit has the optimizer's memory",
          all(probe["peak_bytes"] > 240 * lib.MIB for probe in got.probes
              if probe["verdict"] == "fits"), got.probes)
    lacks("micro-steps: what is not known", got.err, "slower|faster")


def folders_of_results(place):
    got = tune(place, FRESH_FOLDER, "--output-dir", "new")
    equal("a folder that must not be there", got.status, 0)
    check("it is not there afterwards", not os.path.exists(place.path("new")), got)
    place.write("exp/vocab.txt", "a\n")
    got = tune(place, READS_FOLDER, "--output-dir", "exp")
    if got.result["isolation"] != "view":
        return
    equal("a folder that is read", got.status, 0)
    check("said", any("additions" in text for text in got.result["caveats"]),
          got)


def fewer_passes_may_be_too_few(place):
    got = tune(place, ASKS_FOR_SAMPLES, "--grad-accum", "16")
    equal("samples a step", got.status, 0)
    equal("samples a step: less of them, then all", [
        (p["micro_batch"], p["grad_accum"], p["verdict"])
        for p in got.probes[:2]], [(1, 2, "failed"), (1, 16, "fits")])
    # What fails whatever it is told fails no third time.
    got = tune(place, 'sys.exit("no such data")', "--grad-accum", "16")
    equal("it fails", got.status, 121)
    equal("it fails: as it is given", [p["grad_accum"] for p in got.probes],
          [2, 16])


def a_folder_that_it_has_not(place):
    place.write("train.py", "import sys\n" + WITHOUT_FOLDER)
    got = place.run("tune", "--device", "host", "--memory", "900MiB", "--fresh",
                    "--", sys.executable, "train.py", "--batch_size=1",
                    "--grad_accumulation_factor=2")
    if got.result["isolation"] != "view":
        return
    equal("no folder of results", got.status, 0)
    equal("no folder of results: probes", len(got.probes), 3)


def ranks_are_waited_for(place):
    place.env["PYTHONPATH"] = os.path.join(lib.DATA, "hook_fake_torch")
    eight_is_too_large(place, "a late rank", LATE_RANK)


def main():
    for test in (ranks_are_waited_for, noise_shows_no_effect, no_step_is_said,
                 what_comes_before_is_no_training,
                 steps_that_are_not_done_are_none, micro_steps_are_counted,
                 folders_of_results,
                 fewer_passes_may_be_too_few, a_folder_that_it_has_not):
        with lib.Place("believed") as place:
            test(place)
    lib.finish()


if __name__ == "__main__":
    main()
