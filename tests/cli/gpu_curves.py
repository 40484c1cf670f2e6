#!/usr/bin/env python3
# Whatever the memory curve and the driver's faults: the answer is right.
# SPDX-License-Identifier: MIT
# CTEST COST 90
"""A whole `autofit tune` per curve, on the simulated driver.

Each curve has a seed, from which card, program and faults follow; the truth
is what the program says that it needs (--print-need). AUTOFIT_NIGHTLY=1 takes
500 of them instead of 24; with SEED... only these are played.
"""
import concurrent.futures
import os
import random
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import MIB, check  # noqa: E402

SIM = os.path.join(os.environ["BUILD"], "sim")
PROGRAM = os.path.join(SIM, "sim_trainer")
CURVES = 500 if os.environ.get("AUTOFIT_NIGHTLY") == "1" else 24
LANES = 2
GIB = 1024 * MIB
HEADROOM = 64 * MIB
MAX_MICRO = 256
EFFECTIVES = (8, 12, 24, 32, 48, 60, 64, 96, 128, 256)
FITS = ("fits", "fits_barely")
# Closer to the limit than this is decided by what the driver rounds up.
CLEAR = 48 * MIB
STEPS = ("--steps", "12", "--step-ms", "6", "--launches", "8")


class Curve:
    """All that follows from a seed."""

    def __init__(self, seed):
        self.seed = seed
        while not self.draw(random.Random("%d" % seed)):
            seed += 1000003

    def draw(self, dice):
        self.kind = dice.choice(
            ("linear", "linear", "linear", "step", "quadratic", "dip")
        )
        self.effective = dice.choice(EFFECTIVES)
        self.total = dice.choice((4, 8, 16, 24, 80, 140)) * GIB
        self.base = dice.choice((0, 0, 300)) * MIB
        self.context = dice.choice((0, 250, 530)) * MIB
        self.fixed_mib = int(self.total / MIB * dice.uniform(0.02, 0.5))
        room = self.total / 1024 - self.fixed_mib * 1024
        self.sample_kib = max(64, int(room / dice.uniform(2, 200)))
        self.memory = dice.choice(("linear", "linear", "virtual", "async"))
        self.fault = dice.choice(
            (
                "",
                "",
                "random=%d,%s" % (dice.randrange(10**6), "0.002"),
                "fail_alloc=%d" % dice.randrange(2, 60),
                "fail_over=%d" % (20 * MIB - 1),
                "module=%dM" % dice.choice((20, 90)),
            )
        )
        self.start = dice.choice(
            [n for n in range(1, 17) if self.effective % n == 0]
        )
        # A card of another size, capped to this one, answers the same.
        self.capped = dice.random() < 0.25 and not self.base
        self.limit = self.total - self.base - HEADROOM
        near = [abs(self.need(n) - self.limit) for n in self.candidates()]
        return min(near) > CLEAR and self.need(self.start) < 40 * self.limit

    def candidates(self):
        return range(1, MAX_MICRO + 1)

    def splits(self):
        return [
            n
            for n in self.candidates()
            if self.effective % n == 0 and n <= self.effective
        ]

    def activation(self, micro):
        sample = self.sample_kib * 1024
        size = sample * micro
        if self.kind == "step":
            size = sample * ((micro + 7) // 8 * 8)
        if self.kind == "quadratic":
            size += size // 64 * micro
        if self.kind == "dip" and micro % 8 == 0:
            size -= size // 4
        return size

    def need(self, micro):
        """What the whole process takes, to a few MiB."""
        module = 0
        if self.fault.startswith("module="):
            module = int(self.fault[7:-1]) * MIB
        return (
            self.context
            + module
            + self.fixed_mib * MIB
            + self.activation(micro)
        )

    def is_monotone(self):
        return self.kind != "dip"

    def command(self):
        return [
            PROGRAM,
            "--batch-size",
            str(self.start),
            "--grad-accum",
            str(self.effective // self.start),
            *STEPS,
            "--fixed-mib",
            str(self.fixed_mib),
            "--per-sample-kib",
            str(self.sample_kib),
            "--curve",
            self.kind,
            "--memory",
            self.memory,
        ]

    def __str__(self):
        return "%s %s E=%d %d GiB%s%s" % (
            self.kind,
            self.memory,
            self.effective,
            self.total // GIB,
            " capped" if self.capped else "",
            " " + self.fault if self.fault else "",
        )


def tune(curve, fault, capped):
    with lib.Place("curves") as place:
        card = curve.total if not capped else 141 * GIB
        place.env.update(
            LD_LIBRARY_PATH=SIM,
            AUTOFIT_SIM_STATE=place.path("devices"),
            AUTOFIT_SIM_DEVICES="Card:%d:%d:%d"
            % (card, curve.base, curve.context),
        )
        options = [
            "--device", "cuda",
            "--allow-writes", place.folder,
            "--headroom", "%d" % HEADROOM,
            "--max-micro", str(MAX_MICRO),
            "--confirm-steps", "4",
            "--max-probes", "40",
        ]  # fmt: skip
        if capped:
            options += ["--memory", "%d" % curve.total]
        if fault:
            place.env["AUTOFIT_SIM_FAULT"] = fault
        return place.run("tune", "--largest", *options, "--", *curve.command())


def run_sizes(answer, verdicts=None):
    return {
        probe["micro_batch"]
        for probe in answer.probes
        if verdicts is None or probe["verdict"] in verdicts
    }


def tolerance_step(micro):
    """The largest distance to the next candidate of `tune`."""
    return 1 if micro < 64 else max(1, int(micro * 0.02)) + 1


def is_right(curve, answer):
    """'' or what is wrong with it."""
    fitting = [n for n in curve.splits() if curve.need(n) <= curve.limit]
    if not answer.result:
        return "no result"
    outcome = answer.result["outcome"]
    if not fitting and curve.is_monotone():
        return "" if outcome == "nothing_fits" else "outcome %s" % outcome
    if outcome != "tuned":
        return "" if not fitting else "outcome %s" % outcome
    best = answer.result["recommended"]["micro_batch"]
    largest = answer.result["largest_micro_batch"] or best
    for size in (best, largest):
        if size not in run_sizes(answer, FITS):
            return "%d was not run, or does not fit" % size
        if curve.need(size) > curve.limit:
            return "%d needs too much" % size
    if best * answer.result["recommended"]["grad_accum"] != curve.effective:
        return "another effective batch"
    if not curve.is_monotone():
        misfits = run_sizes(answer) - run_sizes(answer, FITS)
        above = [n for n in misfits if n > largest]
        near = [n for n in above if n <= largest + tolerance_step(largest)]
        return "" if near or largest == MAX_MICRO else "no misfit beside it"
    if best != max(fitting):
        return "%d where %d fits" % (best, max(fitting))
    beyond = min(MAX_MICRO, largest + tolerance_step(largest))
    if largest < MAX_MICRO and curve.need(beyond) <= curve.limit:
        return "largest %d where %d fits" % (largest, beyond)
    return ""


def same(one, other):
    keys = ("micro_batch", "grad_accum", "effective_batch")
    a, b = one.result["recommended"], other.result["recommended"]
    if (a is None) != (b is None):
        return False
    return a is None or all(a[key] == b[key] for key in keys)


def play(seed):
    curve = Curve(seed)
    problems = []
    answer = tune(curve, curve.fault, False)
    wrong = is_right(curve, answer)
    if wrong:
        problems.append("%s\n%s" % (wrong, answer))
    transient = curve.fault.startswith(("random=", "fail_"))
    if transient and not curve.is_monotone() and not wrong:
        other = tune(curve, "", False)
        if not other.result or not same(answer, other):
            problems.append("without the fault, otherwise\n%s" % other)
    if curve.capped and not wrong:
        other = tune(curve, curve.fault, True)
        if not other.result or not same(answer, other):
            problems.append("capped, it answers otherwise\n%s" % other)
    return curve, problems


def check_need(seeds):
    """This test's truth is the program's own."""
    for seed in seeds:
        curve = Curve(seed)
        said = subprocess.run(
            [*curve.command(), "--print-need"],
            env=dict(
                os.environ,
                LD_LIBRARY_PATH=SIM,
                AUTOFIT_SIM_STATE="/nonexistent/state",
            ),
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        wanted = curve.fixed_mib * MIB + curve.activation(curve.start)
        got = int(said.split()[1]) if said else 0
        check("need of curve %d" % seed, abs(got - wanted) <= 34 * MIB,
              "%s wanted %d" % (said, wanted))  # fmt: skip


def main():
    seeds = [int(word) for word in sys.argv[1:]] or range(CURVES)
    check_need(list(seeds)[:20])
    with concurrent.futures.ThreadPoolExecutor(LANES) as lanes:
        for curve, problems in lanes.map(play, seeds):
            check(
                "curve %d: %s" % (curve.seed, curve),
                not problems,
                "\n".join(problems),
            )
    lib.finish()


if __name__ == "__main__":
    main()
