#!/usr/bin/env python3
# Random tunings of five PyTorch programs: each answer lives for 200 passes.
# SPDX-License-Identifier: MIT
# CTEST PROCESSORS 2 COST 200
"""A transformer, an MLP, a convolution net, sequences of varying lengths, and a
training that updates its weights by hand (those of tests/bench/peers), under
random budgets. The answer keeps the effective batch; its own run, watched by
another sampler, stays within the budget. By day there are two tunings, of the
quickest program, with short confirmations and runs.
"""
import concurrent.futures
import os
import random
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import MIB, check  # noqa: E402

PEERS = os.path.join(lib.SOURCE, "tests", "bench", "peers")
sys.path.append(os.path.join(os.path.dirname(__file__), "helpers"))
sys.path.append(PEERS)

import cases  # noqa: E402
import sampler  # noqa: E402

PYTHON = os.environ.get("PYTHON", "/usr/bin/python3")
NIGHTLY = os.environ.get("AUTOFIT_NIGHTLY") == "1"
NAMES = sorted(cases.EFFECTIVE) if NIGHTLY else ["by_hand"]
TUNINGS = 40 if NIGHTLY else 2
PASSES = 200 if NIGHTLY else 20
CONFIRM = [] if NIGHTLY else ["--confirm-steps", "8"]
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
# With fewer answers than this of all tunings the budgets ask for nothing.
ANSWERED = 0.6


def program(name, micro, accum, steps):
    sizes = ["--batch-size", str(micro), "--grad-accum", str(accum)]
    script = os.path.join(PEERS, "programs.py")
    return [PYTHON, script, name, *sizes, "--steps", str(steps)]


def draw(dice, base):
    """Budgets between a bit less and a bit more than those compared there."""
    name = dice.choice(NAMES)
    effective = cases.EFFECTIVE[name] // dice.choice((1, 2, 3))
    budgets = cases.BUDGETS[name]
    above = dice.uniform(0.6 * min(budgets), max(budgets))
    return {
        "name": name,
        "effective": effective,
        "micro": dice.choice([n for n in range(1, 9) if effective % n == 0]),
        "budget": base + int(above * MIB),
    }


def tune(case):
    """Whether there was an answer; what it says is checked."""
    with lib.Place("survival") as place:
        place.env.update(ENVIRONMENT)
        return answered(place, case)


def answered(place, case):
    micro = case["micro"]
    options = ["--device", "host", "--memory", "%dKiB" % (case["budget"] >> 10)]
    options += CONFIRM
    words = program(case["name"], micro, case["effective"] // micro, 100000)
    answer = place.run("tune", "--fresh", *options, "--", *words)
    name = "%(name)s, %(micro)d of %(effective)d" % case
    name += ", %d MiB" % (case["budget"] // MIB)
    if answer.status != 0:
        check(name + ": does not fit", answer.status == 120, answer)
        return False
    advised = answer.result["recommended"]
    micro, accum = advised["micro_batch"], advised["grad_accum"]
    check(name + ": the effective batch", micro * accum == case["effective"],
          answer)
    argv = advised["argv"]
    argv[argv.index("--steps") + 1] = str(-(-PASSES // accum))
    status, peak = sampler.peak_of(argv, env=place.env,
                                   stderr=subprocess.DEVNULL)
    check("%s: %d x %d lives, %d MiB" % (name, micro, accum, peak // MIB),
          status == 0 and peak <= case["budget"], answer)
    return True


def main():
    if not lib.has_modules(PYTHON, "torch"):
        lib.skip("no PyTorch at %s" % PYTHON)
    seed = int(os.environ.get("AUTOFIT_SEED", "1"))
    if NIGHTLY and "AUTOFIT_SEED" not in os.environ:
        seed = random.randrange(1 << 30)
    print("seed %d (AUTOFIT_SEED)" % seed)
    dice = random.Random(seed)
    _, base = sampler.peak_of([PYTHON, "-c", "import torch"],
                              env=dict(os.environ, **ENVIRONMENT))
    drawn = [draw(dice, base) for _ in range(TUNINGS)]
    with concurrent.futures.ThreadPoolExecutor(2) as lanes:
        count = sum(lanes.map(tune, drawn))
    check("%d of %d have an answer" % (count, TUNINGS),
          count >= ANSWERED * TUNINGS)
    lib.finish()


main()
