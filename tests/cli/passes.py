#!/usr/bin/env python3
# Long accumulating steps are confirmed by their micro-steps, where those are
# alike; by whole steps in every other case.
# SPDX-License-Identifier: MIT
# CTEST COST 60
"""Each row tunes tests/data/train_passes.py, whose answer has an accumulation.
Where an earlier probe saw that micro-steps are alike, one whole step and some
micro-steps confirm it, and the report says so; whatever differs is waited for.
"""
import os
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import MIB, check, equal, holds, lacks  # noqa: E402

PYTHON = "/usr/bin/python3"
SCRIPT = os.path.join(lib.DATA, "train_passes.py")

# Kind, and the whole steps that are waited for; from WHOLE on micro-steps do not
# count as steps. What is kept until a step is over shows in the second step,
# which is the first with the optimizer's state. What the third step takes was
# seen in the first probe, so that three are waited for, and then micro-steps.
WHOLE = 5
ROWS = (
    ("alike", 1),
    ("kept", 2),
    ("third", 3),
    ("lengths", WHOLE),
    ("first", WHOLE),
    ("two", WHOLE),
)
if os.environ.get("AUTOFIT_NIGHTLY") != "1":
    ROWS = ROWS[:4]


def tune(place, kind, *options, words=(), memory=2048 * MIB):
    # At most micro 8: an accumulation of 8 stays.
    return place.run(
        *"tune --device host --max-micro 8 --fresh".split(), "--memory",
        "%dKiB" % (memory // 1024), *options, "--", PYTHON, SCRIPT, "--kind",
        kind, *words,
    )


def of_each_kind(place):
    peaks = {}
    for kind, whole in ROWS:
        got = tune(place, kind)
        if not equal(kind, got.status, 0):
            print(got)
            continue
        best = got.result["recommended"]
        evidence = got.result["evidence"]
        equal(kind + ": kept", best["effective_batch"], 64)
        equal(kind + ": the answer", best["micro_batch"], 8)
        passes = evidence["confirmed_passes"] or 0
        peaks[kind] = evidence["peak_bytes"]
        steps = evidence["confirmed_steps"]
        check(kind + ": whole steps", steps >= whole, evidence)
        if kind == "alike":
            check(kind + ": micro-steps", 7 <= passes < 24 and steps <= 5,
                  evidence)
            holds(kind + ": said", got.err,
                  r"confirmed over \d steps? and \d+ passes after the first")
            last = got.probes[-1]
            equal(kind + ": the first step", last["seen_accum"], 8)
        elif kind == "third":
            check(kind + ": micro-steps", passes >= 2 * 8 + 5 and
                  steps <= WHOLE, evidence)
            check(kind + ": its 96 MiB are in the peak",
                  evidence["peak_bytes"] - peaks["alike"] > 80 * MIB, peaks)
        elif whole == WHOLE:
            equal(kind + ": no micro-steps", passes, 0)
            lacks(kind + ": said", got.err, "passes after the first")
        if kind == "lengths":
            # Each micro-step is drawn: a hundred of them are in 13 steps.
            check(kind + ": steps", steps < 20, evidence)
    return peaks


def a_peak_near_the_budget_settles(place, peak):
    """Of 2 GiB it left so much that nobody waited."""
    got = tune(place, "alike", "--headroom", "2%", memory=int(peak * 1.12))
    evidence = got.result["evidence"]
    equal("near: the answer", got.result["recommended"]["micro_batch"], 8)
    passes = evidence["confirmed_passes"] or 0
    check("near: micro-steps", passes >= 24, evidence)


def whole_steps_near_the_budget_settle(place):
    """One pass each: eight of them are enough only where there is room."""
    words = ("--batch-size", "8", "--accum-steps", "1")
    peak = tune(place, "alike", words=words).result["evidence"]["peak_bytes"]
    got = tune(place, "alike", "--headroom", "2%", words=words,
               memory=int(peak * 1.12))
    equal("one pass: the answer", got.result["recommended"]["micro_batch"], 8)
    steps = got.result["evidence"]["confirmed_steps"]
    # A slow machine does not make them within the time that is waited.
    check("one pass: steps", steps >= 20 or got.probes[-1]["seconds"] > 4, got)


def as_many_as_asked(place):
    got = tune(place, "alike", "--confirm-steps", "6")
    evidence = got.result["evidence"]
    equal("as asked: passes", evidence["confirmed_passes"], None)
    check("as asked: steps", evidence["confirmed_steps"] >= 6, evidence)


def what_every_step_keeps_is_told(place):
    """Less than what counts as a rise, so that twenty steps have to show it."""
    got = tune(place, "leak", words=("--batch-size", "8", "--accum-steps", "1"))
    equal("a leak: the answer", got.result["recommended"]["micro_batch"], 8)
    holds("a leak: said", got.err, "grew by about [0-9.]+ [KM]iB with every step")


def no_more_than_a_start_needs(place):
    """The run itself, which is watched, shows where malloc's peak settles."""
    got = tune(place, "alike", "--guard", words=("--pass-seconds", "0.4"))
    evidence = got.result["evidence"]
    equal("--guard: the answer", got.result["recommended"]["micro_batch"], 8)
    passes = evidence["confirmed_passes"] or 0
    check("--guard: micro-steps", 2 <= passes < 24, evidence)


def main():
    if not lib.has_modules(PYTHON, "torch"):
        lib.skip("no PyTorch at %s" % PYTHON)
    with lib.Place("passes") as place:
        # What malloc keeps differs from run to run, and a peak that rises by it
        # is watched for longer: here what is freed goes back at once.
        place.env["MALLOC_MMAP_THRESHOLD_"] = "65536"
        peaks = of_each_kind(place)
        a_peak_near_the_budget_settles(place, peaks["alike"])
        whole_steps_near_the_budget_settle(place)
        as_many_as_asked(place)
        what_every_step_keeps_is_told(place)
        no_more_than_a_start_needs(place)
    lib.finish()


if __name__ == "__main__":
    main()
