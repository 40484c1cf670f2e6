#!/usr/bin/env python3
# Sizes that are numbers in the script: the line to write, or a copy of it.
# SPDX-License-Identifier: MIT
# CTEST PROCESSORS 2 COST 30
"""The program has its sizes in constants. autofit must find what to write there
without writing it, and run a copy only where that is asked for.
"""
import os
import re
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import check, equal, holds, lacks  # noqa: E402

PYTHON = "/usr/bin/python3"
HOST = "--device host --memory 4GiB".split()
# One split alone is allowed, however fast the others are.
TUNE = [*HOST, "--micro-multiple-of", "32"]
SCRIPT = '''"""BATCH_SIZE = 99 is no code here."""
import subprocess
import sys

import torch
from helper import WIDTH
from torch.utils.data import DataLoader, TensorDataset

BATCH_SIZE = 8  # the batch_size = 8 of a step
ACCUM = 4


def main():
    data = TensorDataset(torch.randn(2048, WIDTH), torch.randn(2048, 1))
    val_loader = DataLoader(data, batch_size=64)
    loader = DataLoader(data, batch_size=BATCH_SIZE)
    model = torch.nn.Linear(WIDTH, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step, (x, y) in enumerate(loader):
        loss = torch.nn.functional.mse_loss(model(x), y)
        (loss / ACCUM).backward()
        if (step + 1) % ACCUM == 0:
            optimizer.step()
            optimizer.zero_grad()
    code = "print(open(%r).read().count('BATCH_SIZE = %d '))"
    subprocess.run([sys.executable, "-c", code % (__file__, BATCH_SIZE)])
    print("ran", BATCH_SIZE, ACCUM, __file__, sys.path[0], flush=True)


if __name__ == "__main__":
    main()
'''
LINES = ["const.py:9: BATCH_SIZE = 32  # the batch_size = 8 of a step",
         "const.py:10: ACCUM = 1"]
SAID = [re.sub(" +", " ", line) for line in LINES]


def contents(place):
    """Every file of the user's, with its bytes."""
    found = {}
    for folder, _, names in os.walk(place.folder):
        if folder.startswith(place.path("home")):
            continue
        for name in names:
            if name.startswith("result-"):
                continue
            with open(os.path.join(folder, name), "rb") as file:
                found[os.path.join(folder, name)] = file.read()
    return found


def write_lines(place, lines):
    """As a user would who does what is said, to the letter."""
    for entry in lines:
        name, number, line = entry.split(":", 2)
        name = os.path.normpath(name)
        with open(place.path(name), encoding="utf-8") as file:
            text = file.read().splitlines(keepends=True)
        old = text[int(number) - 1]
        indent = old[:len(old) - len(old.lstrip())]
        text[int(number) - 1] = indent + line[1:] + "\n"
        place.write(name, "".join(text), os.stat(place.path(name)).st_mode)


def the_line_to_write(place, command):
    before = contents(place)
    asked = place.run(*TUNE, "--", *command)
    equal("a launch asks", asked.status, 122)
    holds("it names the lines and both ways", asked.err, "no argument can",
          "`const.py:9: BATCH_SIZE = 8 # .*` and `const.py:10: ACCUM = 4`",
          "autofit tune -- .*python3 const.py", "--edit-copy")
    lacks("and no other that cannot help", asked.err, "say how the command")
    equal("before any probe", len(asked.probes), 0)
    got = place.run("tune", *TUNE, "--", *command)
    if not equal("tune", got.status, 0):
        print(got)
    equal("the lines to write", got.result["recommended"]["write"], LINES)
    holds("they end the report", got.err, *SAID)
    rows = [p["input_rows"] for p in got.probes if p["micro_batch"] == 32]
    equal("the copies are what the probes ran", set(rows), {32})
    equal("nothing of the user's is touched", contents(place), before)


def a_copy_runs(place, command):
    before = contents(place)
    asked = place.run(*TUNE, "--", *command)
    equal("with a record a launch asks as well", asked.status, 122)
    holds("it says what to write", asked.err, "`%s` and `%s`" % tuple(SAID),
          "--edit-copy")
    got = place.run(*TUNE, "--no-probe", "--", *command)
    equal("--no-probe starts it as it is", got.result["starts"], "as_given")
    holds("with its own sizes", got.out, "ran 8 4 ")
    got = place.run(*TUNE, "--edit-copy", "--", *command)
    equal("--edit-copy runs", got.status, 0)
    equal("by the record", got.result["outcome"], "reused")
    check("the copy, in its place, for its processes too",
          got.out.splitlines() == [
              "1", "ran 32 1 %s/const.py %s" % (place.folder,
                                                place.folder)], got)
    equal("nothing of the user's is touched by it", contents(place), before)


def the_line_is_written(place, command):
    write_lines(place, LINES)
    got = place.run(*TUNE, "--", *command)
    equal("what was written runs as it is", got.status, 0)
    equal("it is the same record", got.result["record"]["grade"], "exact")
    check("with the sizes in it",
          "ran 32 1 %s/const.py" % place.folder in got.out, got)
    with open(place.path("const.py"), "a", encoding="utf-8") as file:
        file.write("# another script\n")
    got = place.run("explain", *TUNE, "--", *command)
    holds("any other change is told", got.out, "differs: const.py changed")


def no_view_no_probe(place, command):
    got = place.run("tune", *TUNE, "--isolation", "compare", "--fresh", "--",
                    *command)
    equal("without a view nothing is probed", got.status, 123)
    holds("and why", got.err, "edited copy in place of const.py",
          "--isolation was given")


def a_shell_script(place):
    script = '#!/bin/sh\nBS=4  # of a step\n%s --batch-size $BS ' \
        '--grad-accum 8 --steps 40\n' % lib.TRAINER
    place.write("run/train.sh", script, 0o755)
    command = ["./run/train.sh"]
    before = contents(place)
    asked = place.run(*TUNE, "--", *command)
    equal("a shell script: a launch asks", asked.status, 122)
    holds("once, with both lines", asked.err, "train.sh:2: BS=4",
          "train.sh:3: .* --grad-accum 8")
    got = place.run("tune", *TUNE, "--", *command)
    equal("a shell script: tune", got.status, 0)
    lines = got.result["recommended"]["write"]
    equal("a shell script: the line to write", lines[0],
          "./run/train.sh:2: BS=32  # of a step")
    ran = place.run(*TUNE, "--edit-copy", "--", *command)
    equal("its copy runs", ran.status, 0)
    holds("with other sizes", ran.out, "micro 32 accum 1 ")
    equal("a shell script: nothing is touched", contents(place), before)
    write_lines(place, lines)
    ran = place.run(*TUNE, "--", *command)
    equal("a shell script: what was written runs", ran.status, 0)
    equal("a shell script: by its record", ran.result["record"]["grade"],
          "exact")
    holds("a shell script: with the sizes in it", ran.out,
          "micro 32 accum 1 ")


def a_config_behind_cd(place):
    config = '{\n"batch_size": 8,\n"accum": 4\n}\n'
    place.write("sub/conf.json", config)
    place.write("sub/helper.py", "WIDTH = 64\n")
    place.write("sub/conf.py", SCRIPT
                .replace("import sys\n", "import json\nimport sys\n", 1)
                .replace("BATCH_SIZE = 8", "SAID = json.load(open(sys.argv[2]))"
                         '\nBATCH_SIZE = SAID["batch_size"]')
                .replace("ACCUM = 4", 'ACCUM = SAID["accum"]'))
    place.write("behind.sh", "cd sub\n%s conf.py --config conf.json\n" % PYTHON)
    before = contents(place)
    ran = place.run(*TUNE, "--edit-copy", "--", "sh", "behind.sh")
    equal("a config file behind cd", ran.status, 0)
    holds("runs with other sizes", ran.out, "ran 32 1 ")
    equal("and is not touched", contents(place), before)


def a_literal_of_a_call(place):
    place.write("lit.py", SCRIPT.replace("BATCH_SIZE = 8", "WIDE = 8")
                .replace("ACCUM = 4", "ACCUM = 1")
                .replace("batch_size=BATCH_SIZE", "batch_size=8, shuffle=True")
                .replace(", BATCH_SIZE", ", 0"))
    command = [PYTHON, "lit.py"]
    got = place.run("tune", *TUNE, "--grow", "--max-micro", "32", "--",
                    *command)
    equal("a literal of a call", got.status, 0)
    equal("is a line to write", got.result["recommended"]["write"][0],
          "lit.py:16: loader = DataLoader(data, batch_size=32, shuffle=True)")
    rows = {p["micro_batch"]: p["input_rows"] for p in got.probes}
    equal("and is what the probes ran", rows.get(32), 32)


def a_number_without_effect(place):
    place.write("idle.py", SCRIPT.replace("batch_size=BATCH_SIZE",
                                          "batch_size=int('8')"))
    got = place.run("tune", *HOST, "--", PYTHON, "idle.py")
    equal("a constant that moves nothing is no size", got.status, 122)
    holds("and named", got.err, "BATCH_SIZE")
    equal("then there is nothing to write", got.result["recommended"], None)


def main():
    with lib.Place("constants") as place:
        place.write("const.py", SCRIPT)
        place.write("helper.py", "WIDTH = 64\n")
        place.env["PYTHONDONTWRITEBYTECODE"] = "1"
        command = [PYTHON, "const.py"]
        the_line_to_write(place, command)
        a_copy_runs(place, command)
        the_line_is_written(place, command)
        no_view_no_probe(place, command)
        a_shell_script(place)
        a_config_behind_cd(place)
        a_literal_of_a_call(place)
        a_number_without_effect(place)
    lib.finish()


main()
