#!/usr/bin/env python3
# After a first probe no command line of the corpus is misread.
# SPDX-License-Identifier: MIT
# CTEST PROCESSORS 2 COST 90
"""The cases whose stand-in trains on a CPU are tuned: the effective batch that
autofit keeps is what the program does, or it asks. By day a few, at night all.
"""
import os
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import corpus_lib  # noqa: E402
import lib  # noqa: E402
from lib import check, equal  # noqa: E402

PYTHON = "/usr/bin/python3"
# Words that every version takes: 1.13 cannot read its own default.
TORCHRUN = (
    PYTHON, *"-m torch.distributed.run --redirects 2 --tee 1".split()
)
OPTIONS = "--device host --memory 4GiB --fresh --max-probes 4".split()
BY_DAY = 10


def as_here(words):
    """The interpreter that has torch, whatever the command calls it."""
    if words[0] in ("python", "python3"):
        return [PYTHON, *words[1:]]
    if words[0] == "torchrun":
        return [*TORCHRUN, *words[1:]]
    return words


def is_as_meant(case):
    with lib.Place("corpus") as place:
        case.lay(place)
        got = place.run(
            "tune", *OPTIONS, "--", *as_here(case.run_words), env=case.env
        )
    if got.status == 122:
        return check(case.name + ": asks", True)
    micro, accum, ranks = case.run_sizes
    whole = micro * accum * ranks
    if not equal(case.name, got.result["effective_batch_asked"], whole):
        print(got)
    # A status of a tuning that answered, or was stopped after its probes.
    return check(case.name + ": status", got.status in (0, 120, 124), got)


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    cases = [c for c in corpus_lib.cases() if c.trains and wanted in c.name]
    if not wanted and not os.environ.get("AUTOFIT_NIGHTLY"):
        cases = cases[:: max(1, len(cases) // BY_DAY)]
    if not os.path.exists(PYTHON):
        lib.skip("no " + PYTHON)
    for case in cases:
        is_as_meant(case)
    lib.finish()


main()
