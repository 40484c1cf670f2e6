#!/usr/bin/env python3
# Sizes in a config file that no word of the command names: a run opens it.
# SPDX-License-Identifier: MIT
"""The program puts the path of its config together, so that nothing but a run
shows which file it is. The rows of a pass say which of its numbers counts. It
trains with the stand-in for PyTorch.
"""
import json
import os
import shutil
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import equal, holds  # noqa: E402

PYTHON = "/usr/bin/python3"
TARGET = "--device host --memory 276MiB --headroom 64MiB".split()
TRAIN = """\
import argparse, json, os
parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=40)
args = parser.parse_args()
import tinylm
here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "conf")
name = os.environ.get("NAME", "base")
for other in ("eval.json", "model.json"):
    json.load(open(os.path.join(here, other)))
with open(os.path.join(here, name + ".json")) as file:
    sizes = json.load(file)["train"]
tinylm.train(sizes["batch_size"], sizes["accum"], args.steps)
"""
# Another's size, and a number of the same value that is none.
BESIDE = {"conf/eval.json": {"batch_size": 7}, "conf/model.json": {"layers": 2}}


def write_sizes(place, name, micro, accum):
    place.write(name, json.dumps({"train": {"batch_size": micro,
                                            "accum": accum}}, indent=1))


def tune(place, *command, options=(), **env):
    return place.run("tune", *TARGET, *options, "--", *command, env=env)


def is_found(place, name, *command):
    """Of one run as it is; then it is read so, and asked no more."""
    got = tune(place, *command, options=["--fresh"])
    if not equal(name + ": tuned", got.status, 0):
        print(got)
        return
    best = got.result["recommended"]
    equal(name + ": the answer", (best["micro_batch"], best["grad_accum"]),
          (4, 2))
    holds(name + ": said", " ".join(got.err.split()),
          "a pass takes 2 rows, and [^ ]*/conf/base.json, which the command "
          "opens, names a batch size of as many")
    holds(name + ": where it stands", got.out + got.err,
          '/conf/base.json:3: "batch_size": 4,')
    holds(name + ": again", tune(place, *command).err, "no probe")


def it_may_move(place):
    """What was seen earlier is gone: the next run shows where it is now."""
    os.rename(place.path("conf", "base.json"), place.path("conf", "new.json"))
    got = tune(place, PYTHON, "train.py", NAME="new")
    equal("it has moved", got.status, 0)
    holds("it has moved: said", " ".join(got.err.split()),
          "/conf/new.json, which the command opens")
    os.rename(place.path("conf", "new.json"), place.path("conf", "base.json"))


def nothing_is_taken_by_chance(place):
    """Two files say it, or none does."""
    write_sizes(place, "conf/eval.json", 2, 1)
    two = tune(place, PYTHON, "train.py", "--steps", "41")
    equal("two files", two.status, 122)
    holds("two files: said", " ".join(two.err.split()),
          "a pass takes 2 rows, and no named number")
    place.write("conf/eval.json", "{}")
    program = TRAIN.replace('sizes["batch_size"]', '2 * sizes["batch_size"]')
    place.write("double.py", program)
    none = tune(place, PYTHON, "double.py")
    equal("another size", none.status, 122)
    holds("another size: said", " ".join(none.err.split()),
          "a pass takes 4 rows, and no named number")


with lib.Place("opened") as place:
    place.env["PYTHONPATH"] = os.path.join(lib.DATA, "hook_fake_torch")
    shutil.copy(os.path.join(lib.DATA, "stand_in", "tinylm.py"), place.path())
    place.write("train.py", TRAIN)
    place.write("job.sh", "%s train.py --steps 42\n" % PYTHON)
    for path, content in BESIDE.items():
        place.write(path, json.dumps(content))
    write_sizes(place, "conf/base.json", 2, 4)
    is_found(place, "a script", PYTHON, "train.py")
    is_found(place, "a shell's", "bash", "job.sh")
    it_may_move(place)
    nothing_is_taken_by_chance(place)
lib.finish()
