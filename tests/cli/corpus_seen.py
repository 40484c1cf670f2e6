#!/usr/bin/env python3
# After a first probe no command line of the corpus is misread.
# SPDX-License-Identifier: MIT
# CTEST PROCESSORS 2 COST 90 RESOURCE_LOCK standalone
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
# A question is right now and then, and no way out.
ASKED_SHARE_MAX = 0.15


def as_here(words):
    """The interpreter that has torch, whatever the command calls it."""
    if words[0] in ("python", "python3"):
        return [PYTHON, *words[1:]]
    if words[0] == "torchrun":
        return [*TORCHRUN, *words[1:]]
    return words


def saw_what_is(case, probe, is_derived):
    """
    Of a probe with the user's own sizes: whatever was seen, is; a script that
    derives its accumulation may have less of it at first.
    """
    rows, passes, ranks = case.run_sizes
    if probe["input_rows"]:
        # As a multiple where each row came in more than one view.
        many = probe["input_rows"] % rows
        check(case.name + ": rows seen", many == 0, probe)
    # A probe takes fewer passes where the option for them is known.
    passes = min(passes, probe["grad_accum"]) if passes > 1 else 1
    for name, wanted in (("seen_accum", passes), ("seen_ranks", ranks)):
        if name == "seen_accum" and is_derived:
            check(case.name + ": no more", probe[name] <= wanted, probe)
        elif probe[name]:
            equal("%s: %s" % (case.name, name), probe[name], wanted)


def tuned(case, words, *options):
    with lib.Place("corpus") as place:
        case.lay(place)
        return place.run(
            "tune", *OPTIONS, *options, "--", *words, env=case.env
        )


def is_as_meant(case):
    """False: it was asked what the sizes mean."""
    got = tuned(case, as_here(case.run_words))
    if got.status == 122:
        print("# asked: %s\n%s" % (case.name, got.err))
        return False
    micro, accum, ranks = case.run_sizes
    whole = micro * accum * ranks
    if not equal(case.name, got.result["effective_batch_asked"], whole):
        print(got)
    # A status of a tuning that answered, or was stopped after its probes.
    check(case.name + ": status", got.status in (0, 120, 124), got)
    if got.probes:
        derives = "the script accumulates up to" in " ".join(got.err.split())
        saw_what_is(case, got.probes[0], derives)
    best = got.result["recommended"]
    if best and (best["micro_batch"], best["grad_accum"]) != (micro, accum):
        keeps_whole(case, best, whole)
    return True


def keeps_whole(case, best, whole):
    """Another split, started by its own words, is the same batch."""
    equal(case.name + ": kept", best["effective_batch"], whole)
    if best.get("write"):
        return  # the words are the same: lines of the script are others
    again = tuned(case, best["argv"], "--max-probes", "1")
    probe = again.probes[0] if again.probes else {}
    if probe.get("input_rows") and probe.get("seen_accum"):
        ranks = probe["seen_ranks"] or 1
        rows = probe["input_rows"] * probe["seen_accum"] * ranks
        rows = rows * best["grad_accum"] // probe["grad_accum"]
        check(case.name + ": run as recommended", rows % whole == 0, again)


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    cases = [c for c in corpus_lib.cases() if c.trains and wanted in c.name]
    if not wanted and not os.environ.get("AUTOFIT_NIGHTLY"):
        cases = cases[:: max(1, len(cases) // BY_DAY)]
    if not os.path.exists(PYTHON):
        lib.skip("no " + PYTHON)
    asked = [case.name for case in cases if not is_as_meant(case)]
    # Of few cases a share says little: one more is nothing there.
    check("asked: few", len(asked) <= ASKED_SHARE_MAX * len(cases) + 1, asked)
    lib.finish()


main()
