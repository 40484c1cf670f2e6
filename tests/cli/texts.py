#!/usr/bin/env python3
# What a newcomer reads in twenty situations, word by word.
# SPDX-License-Identifier: MIT
# CTEST COST 20
"""Each text was found unclear once, in an earlier version: what must be said now,
and what may not. Texts of a finished tuning are in tests/data/screens, of signals
in terminal.py, of options that are slips in tests/unit/test_options.c.
"""
import re
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

from lib import TRAINER, Place, check, equal, finish, holds, lacks  # noqa: E402

HOST = ["--device", "host", "--headroom", "16M", "--confirm-steps", "5"]
SAMPLES = ["--per-sample-kib", "1024", "--steps", "60"]


def tune(place, sizes, *options, memory="96M", command=(TRAINER,)):
    return place.run("tune", *HOST, "--memory", memory, *options, "--",
                     *command, *sizes, *SAMPLES)


def test_odd_batches(place):
    """E = 70 and others of few or odd divisors: the answer is a split of them. To
    see that a size takes effect another one may be run; it is called so."""
    for micro, accum in ((10, 7), (35, 2), (5, 3), (7, 1), (1, 1), (64, 1)):
        wanted = micro * accum
        answer = tune(place, ["--batch-size", str(micro), "--grad-accum",
                              str(accum)])
        equal("E = %d: kept" % wanted,
              answer.result["recommended"]["effective_batch"], wanted)
        others = [probe for probe in answer.probes
                  if wanted % probe["micro_batch"]]
        equal("E = %d: a row of another batch is called so" % wanted,
              len(re.findall(r"no\s+split\s+of\s+%d\b" % wanted,
                             answer.err + answer.out)), len(others))
        check("E = %d: there are few" % wanted, len(others) <= 1 and
              len(answer.probes) > len(others), answer)


def test_own_size(place):
    answer = tune(place, ["--batch-size", "4", "--grad-accum", "2"])
    holds("the first lines", answer.err + answer.out,
          "no known framework",
          r"kept: effective batch 8 = 4 x 2 x 1 \(--batch-size taken as",
          "testing sizes with short trial runs; .*Ctrl-C stops; --no-probe")
    holds("what to type stands with a word", answer.err + answer.out,
          r"use: +--batch-size 8 --grad-accum 1")
    lacks("no bare generic", answer.err + answer.out, "generic . keep")
    answer = tune(place, ["--batch-size", "64", "--grad-accum", "1"])
    holds("the own size that does not fit", answer.err + answer.out,
          r"yours micro 64 x accum 1: does not fit, peak over [\d.]+ of "
          r"80\.0 MiB", "your size: over the limit")
    lacks("has no factor", answer.err + answer.out, r"yours[^\n]*samples/s")
    place_of_none = place.write("no_accum.py", """
import argparse, subprocess, sys
parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", default="4")
size = parser.parse_known_args()[0].batch_size
sys.exit(subprocess.call(["%s", "--batch-size", size, "--per-sample-kib",
                          "1024", "--steps", "60"]))
""" % TRAINER)
    answer = place.run("tune", *HOST, "--memory", "96M", "--",
                       sys.executable, place_of_none, "--batch-size", "4")
    holds("without accumulation", answer.err + answer.out,
          "fits, kept: the command has no gradient accumulation, so that "
          "another size would change your effective batch",
          "about micro [0-9]+ should fit .*To search it: autofit --grow -- ")


def test_failures(place):
    place.write("missing.py", "import nosuchmodule\n")
    answer = place.run("tune", *HOST, "--memory", "96M", "--", sys.executable,
                       "missing.py", "--batch-size", "8")
    text = answer.err + answer.out
    holds("a command that fails", text,
          r"autofit: your command failed \(memory is not the cause\)",
          "your size: failed during start-up", "hint: a Python package is")
    equal("its log is named once", text.count("probe-1.log"), 1)
    equal("the exception stands once", text.count("ModuleNotFoundError"), 1)
    last = text[text.index("autofit: your command failed"):].strip()
    check("one error is six lines", len(last.split("\n")) <= 7, last)
    place.write("parser.py", "import argparse\n"
                "p = argparse.ArgumentParser()\n"
                "p.add_argument('--batch-size', type=int, default=8)\n"
                "p.parse_args()\n")
    answer = place.run("tune", *HOST, "--", sys.executable, "parser.py",
                       "--batch-sise", "8")
    holds("a slip in an option of the script", answer.err,
          "parser.py:3 has the option --batch-size, and none called "
          "--batch-sise: did you mean --batch-size")
    answer = place.run("tune", *HOST, "--", sys.executable, "-",
                       "--batch-size", "4")
    holds("a program from a pipe", answer.err,
          "python reads its program from standard input")
    place.write("asks.py", "import sys\nsys.stdin.readline() or sys.exit(2)\n")
    line = [sys.executable, "asks.py", "--batch-size", "4"]
    no_input = "hint: if it reads standard input: probes have none"
    lacks("no data were given",
          place.run("tune", *HOST, "--", *line).err, no_input)
    place.prefix = ["sh", "-c", 'echo yes | "$0" "$@"']
    holds("data from a pipe",
          place.run("tune", *HOST, "--", *line).err, no_input)
    place.prefix = []
    place.write("binds.py", "import socket, sys\n"
                "socket.socket(socket.AF_UNIX).bind('control.sock')\n")
    answer = place.run("tune", *HOST, "--memory", "96M", "--isolation",
                       "landlock", "--", sys.executable, "binds.py",
                       "--batch-size", "8")
    if answer.result["isolation"] == "landlock":
        holds("a socket that Landlock refuses", answer.err, r"hint: probes "
              r"make files and sockets only in scratch and caches "
              r"\(Landlock\): --allow-writes PATH names another folder")
    answer = tune(place, ["--batch-size", "10", "--grad-accum", "8"],
                  "--max-probes", "1", "--fresh")
    holds("an end before the answer", answer.err + answer.out,
          r"stopped after 1 probe \(--max-probes 1\)",
          "again without --fresh to resume")


def test_explain(place):
    place.write("train.sh", "#!/bin/sh\nBATCH=16\nexec \"%s\" --batch-size "
                "$BATCH \"$@\"\n" % TRAINER, 0o755)
    answer = place.run("explain", *HOST, "--memory", "96M", "--",
                       "./train.sh")
    holds("a size that the script sets", answer.out,
          r"micro-batch: --batch-size = 16 \(\./train\.sh:3\)",
          r"--batch-size 16, from \./train\.sh:3", "final command if 16 wins")
    lacks("is not called missing", answer.out, "not given")
    answer = place.run("explain", *HOST, "--memory", "96M", "--", "torchrun",
                       "--nproc-per-node", "1", "train.py", "--batch-size",
                       "8")
    lacks("one rank is one", answer.out, r"\b1 ranks")
    place.write("defaults.py", "import argparse\n"
                "p = argparse.ArgumentParser()\n"
                "p.add_argument('--batch-size', type=int, default=8)\n"
                "p.add_argument('--grad-accum', type=int, default=4)\n")
    answer = place.run("explain", *HOST, "--memory", "96M",
                       "--effective-batch", "97", "--", sys.executable,
                       "defaults.py", "--batch-size", "10")
    holds("what has no split is not the final command", answer.out,
          "first probe, micro 10", "final command if 1 wins",
          "--batch-size 1 --grad-accum 97")
    tuned = tune(place, ["--batch-size", "4", "--grad-accum", "3"],
                 memory="112M")
    equal("a record to differ from", tuned.status, 0)
    answer = place.run("explain", *HOST, "--memory", "1G", "--", TRAINER,
                       "--batch-size", "4", "--grad-accum", "3", *SAMPLES)
    holds("what differs, as it is typed", answer.out,
          r"--memory 1\.00 GiB, was 112 MiB")
    answer = place.run("--help")
    holds("help", answer.out, "default: free memory")


def main():
    with Place("texts") as place:
        test_own_size(place)
        test_failures(place)
    with Place("texts") as place:
        test_explain(place)
    with Place("texts") as place:
        test_odd_batches(place)
    finish()


main()
