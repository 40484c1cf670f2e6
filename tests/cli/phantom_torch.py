#!/usr/bin/env python3
# The real PyTorch on cards that are not there, one run of each kind: by day.
# SPDX-License-Identifier: MIT
# CTEST COST 60
"""Loops, AMP, checkpointing, LoRA by peft, the Trainer of transformers,
torch.compile, a conv net, FSDP on two cards and PyTorch's own OutOfMemoryError:
each runs once, and what autofit counted is what PyTorch reserved. What takes
longer, tunings and boundaries, is in the other tests of phantom cards."""
import concurrent.futures
import os
import re
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
import phantom_lib  # noqa: E402

CONTEXT = 500 * lib.MIB
PROGRAMS = os.path.join(phantom_lib.SOURCE, "programs.py")
TRAIN = os.path.join(phantom_lib.SOURCE, "train.py")
CHARLM = os.path.join(lib.SOURCE, "examples", "charlm", "train.py")
RANKS = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
         os.path.join(phantom_lib.SOURCE, "ranks.py"))
# Name, cards, the program's words, exit code.
ROWS = (
    ("compiled", "rtx3060", (PROGRAMS, "compiled"), 0),
    ("fsdp", "rtx3060x2", (*RANKS, "fsdp"), 0),
    ("trainer", "rtx4090", (PROGRAMS, "trainer", "--output-dir", "out"), 0),
    ("lora", "rtx4090", (PROGRAMS, "lora"), 0),
    ("gpt", "rtx4090", (PROGRAMS, "gpt"), 0),
    ("charlm", "rtx3060", (CHARLM, "--steps", "3"), 0),
    ("conv", "rtx3060", (PROGRAMS, "conv"), 0),
    ("too large", "rtx3060", (TRAIN, "--batch-size", "4000"), 1),
)


def once(place, python, row):
    # Few compilers: the cores are others' as well.
    return place.ask("phantom", row[1], "--", python, *row[2], env={
        "TORCHINDUCTOR_COMPILE_THREADS": "1"})


def judge(name, answer, code):
    if not lib.equal("%s ends as it should" % name, answer.status, code):
        print(answer)
        return
    lib.lacks("  nothing of it is doubtful", answer.err, "at least")
    if code:
        lib.holds("  by PyTorch's own error", answer.err,
                  r"torch\.OutOfMemoryError: CUDA out of memory\. Tried to "
                  "allocate", "memory ran out: the last of")
        return
    peaks = {int(n) for n in re.findall(r"\((\d+) bytes\)", answer.err)}
    reserved = [int(n) for n in re.findall(r"reserved (\d+)", answer.out)]
    lib.check("  its peak is told", peaks, answer)
    if name != "charlm":  # it does not say what PyTorch reserved
        lib.equal("  and is PyTorch's reserved bytes and the context", peaks,
                  {max(reserved, default=0) + CONTEXT})
    if name == "compiled":
        lib.holds("  and was compiled", answer.out, "graphs [1-9]")


def main():
    python = phantom_lib.find_python("transformers", "accelerate", "peft",
                                     by_day=True)
    rows = [row for row in ROWS if row[0] != "compiled" or
            phantom_lib.has_triton(python)]
    if len(rows) < len(ROWS):
        print("left out: torch.compile, which takes Triton and a C compiler")
    with lib.Place("phantom-torch") as place:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            answers = pool.map(lambda row: once(place, python, row), rows)
            for row, answer in zip(rows, answers):
                judge(row[0], answer, row[3])
    lib.finish()


if __name__ == "__main__":
    main()
