#!/usr/bin/env python3
# An edited program is another one, whatever its files are called.
# SPDX-License-Identifier: MIT
"""The program trains without PyTorch, so nothing tells of its steps what it has
imported. A record of it must not answer for what was written since, or for a
setting that another variable of the environment makes, or that it reads from a
file that no word of the command names.
"""
import os
import sys
import zipfile

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import check, equal, holds  # noqa: E402

HOST = "--device host --memory 256MiB --headroom 32MiB --confirm-steps 3".split()
SIZES = ["--batch-size", "4", "--grad-accum", "4"]
PYTHON = "/usr/bin/python3"
MODEL = "SAMPLE_BYTES = %d << 20\n"
TRAIN = """\
import argparse
import os
parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int)
parser.add_argument("--grad-accum", type=int)
parser.add_argument("--model")
args = parser.parse_args()
layers = int(os.environ.get("LAYERS", 1))
seed = int(os.getenv("SEED", "1"))
rank = int(os.environ.get("LOCAL_RANK", 0))
from model import SAMPLE_BYTES
for step in range(1, 9):
    batch = bytearray(b"x") * (args.batch_size * SAMPLE_BYTES)
    print("step %d/8 loss 1.0" % step, flush=True)
"""
OPENS = """\
import json, os
from pathlib import Path
here = os.path.dirname(os.path.abspath(__file__))
layers = json.load(open(os.path.join(here, "conf", "net.json")))["layers"]
rate = Path("rate.toml").read_text()
with open("dump.json", "w") as dump:
    dump.write("{}")
json.load(open("dump.json"))
for number in range(20):
    open("data/%d.json" % number).close()
"""
PACKAGES = """\
import os, sys
sys.path.insert(0, os.path.join(os.getcwd(), "lib", "site-packages"))
import jax
"""
EDITABLE = """\
import importlib.util, os, sys
class _EditableFinder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name == "elsewhere":
            return importlib.util.spec_from_file_location(
                name, os.path.join(os.getcwd(), "src", "elsewhere.py"))
sys.meta_path.append(_EditableFinder)
import elsewhere
"""
PATHS = "import os, sys\nsys.path.insert(0, os.getcwd())\n"

# Name, command, the file that is edited, and how that is told.
ROWS = (
    ("no suffix", [PYTHON, "train"], "train", "train changed"),
    ("a folder", [PYTHON, "app"], "app/__main__.py", "app/__main__.py changed"),
    ("a module", [PYTHON, "-m", "pkg.train"], "pkg/train.py",
     "pkg/train.py changed"),
    ("below cd", ["bash", "job.sh"], "sub/train.py", "sub/train.py changed"),
    ("another language", ["./run", "train.jl"], "train.jl",
     "train.jl changed"),
    ("a model's folder", [PYTHON, "train.py", "--model", "small"],
     "small/config.json", "config.json changed"),
    ("an import", [PYTHON, "train.py"], "model.py", "model.py changed"),
    ("an import of a package", [PYTHON, "-m", "pkg.train"],
     "pkg/__init__.py", "__init__.py changed"),
    ("a file that it opens", [PYTHON, "opens.py"], "conf/net.json",
     "net.json changed"),
    ("an editable project", [PYTHON, "editable.py"], "src/elsewhere.py",
     "elsewhere.py changed"),
    ("a framework's version", [PYTHON, "packages.py"],
     "lib/site-packages/jax/version.py", "version.py changed"),
    ("one more", [PYTHON, "opens.py"], "rate.toml", "rate.toml changed"),
)


def project(place):
    for name in ("train", "train.py", "sub/train.py"):
        place.write(name, TRAIN)
    for name in ("app/__main__.py", "pkg/train.py"):
        place.write(name, PATHS + TRAIN)
    for name in ("model.py", "sub/model.py"):
        place.write(name, MODEL % 8)
    place.write("pkg/__init__.py", "")
    place.write("small/config.json", "{}\n")
    place.write("train.jl", TRAIN)
    place.write("editable.py", EDITABLE + TRAIN)
    place.write("src/elsewhere.py", "")
    place.write("packages.py", PACKAGES + TRAIN)
    place.write("lib/site-packages/jax/__init__.py", "import jax.version\n")
    place.write("lib/site-packages/jax/version.py", "version = '0.4'\n")
    place.write("opens.py", OPENS + TRAIN)
    place.write("conf/net.json", '{"layers": 2}\n')
    place.write("rate.toml", "rate = 1\n")
    for number in range(20):
        place.write("data/%d.json" % number, "{}\n")
    place.write("run", "#!/bin/sh\nexec %s \"$@\"\n" % PYTHON, 0o755)
    place.write("job.sh", "cd sub\n%s train.py %s\n" % (
        PYTHON, "--batch-size ${BS:-4} --grad-accum ${ACC:-4}"))


def sizes_of(command):
    return [] if command[0] == "bash" else SIZES


def record_of(place, command, **env):
    return place.run("explain", *HOST, "--", *command, *sizes_of(command),
                     env=env)


def row_is_noticed(place, name, command, edited, says):
    answer = place.run("tune", *HOST, "--", *command, *sizes_of(command))
    if not equal(name + ": tuned", answer.status, 0):
        print(answer)
    holds(name + ": known", record_of(place, command).out, "record .*: exact")
    text = open(place.path(edited), encoding="utf-8").read()
    ending = "\n" if edited.endswith(".json") else "# The end.\n"
    place.write(edited, text + ending)
    holds(name + ": edited", record_of(place, command).out,
          "record .*: near", says)
    place.write(edited, text)


def what_it_writes_is_not_read(place):
    """Of the program of the row before; of many files of one folder few."""
    command = [PYTHON, "opens.py"]
    place.write("dump.json", '{"of": "a run"}\n')
    for number in range(12, 20):
        place.write("data/%d.json" % number, "{ }\n")
    holds("its own file", record_of(place, command).out, "record .*: exact")


def an_archive_is_noticed(place):
    def write(text):
        with zipfile.ZipFile(place.path("app.pyz"), "w") as archive:
            archive.writestr("__main__.py", text)

    write(PATHS + TRAIN)
    command = [PYTHON, "app.pyz"]
    answer = place.run("tune", *HOST, "--", *command, *SIZES)
    equal("an archive: tuned", answer.status, 0)
    write(PATHS + TRAIN + "# The end.\n")
    holds("an archive: edited", record_of(place, command).out,
          "record .*: near", "app.pyz changed")


def a_variable_is_noticed(place):
    """Of the program that was tuned last as it is."""
    command = [PYTHON, "train.py"]
    holds("a variable", record_of(place, command, LAYERS="4").out,
          "record .*: near", "variable LAYERS 4 is new")
    holds("a seed and a rank", record_of(
        place, command, SEED="4", LOCAL_RANK="0", MORE="4").out,
        "record .*: exact")


def a_folder_without_a_program(place):
    os.mkdir(place.path("empty"))
    answer = place.run(*HOST, "--", PYTHON, "empty", *SIZES)
    equal("no __main__.py: the command fails", answer.status, 121)
    holds("no __main__.py: says so", answer.err,
          "empty/__main__.py: No such file")
    check("no __main__.py: nothing started", not answer.probes, answer)


with lib.Place("edited") as place:
    project(place)
    for row in ROWS:
        row_is_noticed(place, *row)
    what_it_writes_is_not_read(place)
    an_archive_is_noticed(place)
    a_variable_is_noticed(place)
    a_folder_without_a_program(place)
lib.finish()
