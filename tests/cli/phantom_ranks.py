#!/usr/bin/env python3
# Two cards that are not there: ranks that share gradients, or weights.
# SPDX-License-Identifier: MIT
# CTEST COST 60
"""DDP and FSDP of the real PyTorch by torchrun: they start, as their checks of
shapes are answered, train, hand objects on, and each rank's peak is told."""
import os
import re
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
import phantom_lib  # noqa: E402

RANKS = os.path.join(phantom_lib.SOURCE, "ranks.py")
CONTEXT = 500 * lib.MIB
RUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")


def once(place, python, how):
    answer = place.ask("phantom", "rtx3060x2", "--limit", "11G", "--", python,
                       *RUN, RANKS, how)
    if not lib.equal("%s on two cards ends well" % how, answer.status, 0):
        print(answer)
        return
    lib.lacks("  and nothing of it is doubtful", answer.err, "at least")
    for rank in range(2):
        reserved = re.findall(r"rank %d reserved (\d+)" % rank, answer.out)
        lib.holds("  rank %d's peak is told" % rank, answer.err,
                  r"rank %d GPU %d peak \S+ \w+ \(%d bytes\)" % (
                      rank, rank, int(reserved[-1]) + CONTEXT))
        lib.holds("  and it heard the others", answer.out,
                  r"rank %d was told \['I am 0', 'I am 1'\] "
                  r"\['of rank 0'\]" % rank)


def tuning(place, python):
    answer = place.run(
        "tune", "--device", "phantom:rtx3060x2", "--grow", "--max-micro", "128",
        "--", python, *RUN, RANKS, "ddp", "--batch-size", "32", "--grad-accum",
        "4", "--steps", "100")
    if not lib.equal("a tuning of two ranks ends well", answer.status, 0):
        print(answer)
        return
    lib.equal("  of both", answer.result["recommended"]["world_size"], 2)


def main():
    python = phantom_lib.find_python()
    with lib.Place("phantom-ranks") as place:
        for how in ("ddp", "fsdp"):
            once(place, python, how)
        tuning(place, python)
    lib.finish()


if __name__ == "__main__":
    main()
