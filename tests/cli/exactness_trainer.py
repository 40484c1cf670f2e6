#!/usr/bin/env python3
# The answers are exact: against a trainer whose bytes are a known function.
# SPDX-License-Identifier: MIT
# CTEST COST 60
"""Budgets are chosen so that the answer is known, from --print-bytes.

What the C library and the stack add is measured here, once, by this test.
"""
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import KIB, MIB, check  # noqa: E402

HEADROOM = 2 * MIB
PROBES_MAX = 8
# On a busy machine the hard limit may be quicker than autofit's look.
MISFITS = ("over_budget", "oom_host")
# How much of a sample's memory the limit is past the size that must fit, and
# short of it for the next: closer than any sample, farther than a page.
CLOSE = 96 * KIB

# Steps long enough to be seen from outside.
SHORT = ("--steps", "12", "--step-ms", "5")
OPTIONS = ("--device", "host", "--confirm-steps", "5")


class Trainer:
    def __init__(self, per_sample_kib, fixed_mib):
        self.argv = [
            lib.TRAINER,
            *SHORT,
            "--per-sample-kib=%d" % per_sample_kib,
            "--fixed-mib=%d" % fixed_mib,
        ]

    def bytes(self, micro):
        text = subprocess.check_output(
            [*self.argv, "--print-bytes", "-b", str(micro)]
        )
        return int(text)

    def command(self, micro, accum):
        return [*self.argv, "-b", str(micro), "--grad-accum", str(accum)]


def process_base():
    """What a trainer holds above --print-bytes, seen in a paused one."""
    trainer = Trainer(256, 1)
    process = subprocess.Popen(
        [*trainer.command(1, 1), "--hang-at-step", "2"],
        stdout=subprocess.PIPE,
    )
    try:
        process.stdout.readline()  # of the first step: all is there
        with open("/proc/%d/status" % process.pid, encoding="ascii") as file:
            held = re.search(r"RssAnon:\s+(\d+) kB", file.read())
        return int(held.group(1)) * KIB - trainer.bytes(1)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def splits(effective):
    return [n for n in range(1, effective + 1) if effective % n == 0]


def budget_for(trainer, base, micro, larger, where):
    """With this micro fits and larger does not; "high": only just so."""
    least = trainer.bytes(micro) + base + CLOSE
    most = (trainer.bytes(larger) + base if larger else 2 * least) - CLOSE
    limit = {"low": least, "middle": (least + most) // 2, "high": most}[where]
    return limit + HEADROOM


def limits(budget):
    return ["--memory", str(budget), "--headroom", str(HEADROOM), *OPTIONS]


# (E, KiB per sample, fixed MiB, the command's own micro-batch, where the
# limit lies between the answer and the next split)
LAUNCHES = (
    (96, 4096, 8, 8, "middle"),
    (1000, 256, 16, 8, "low"),
    (128, 2048, 32, 1, "high"),
    (97, 2048, 16, 1, "middle"),
    (97, 2048, 16, 97, "middle"),
    (13, 8192, 0, 1, "low"),
    (34, 4096, 0, 2, "high"),
    (60, 4096, 64, 60, "low"),
)
# Of these E these splits are asked; of the others every one.
SOME = {1000: (1, 8, 40, 250, 1000), 128: (1, 16, 128)}
if os.environ.get("AUTOFIT_NIGHTLY") != "1":
    SOME.update({96: (1, 32), 1000: (8, 1000), 128: (16,), 97: (97,),
                 34: (2, 34), 60: (15,)})


def launch(place, base, row, micro):
    effective, per_sample, fixed, own, where = row
    trainer = Trainer(per_sample, fixed)
    larger = next((n for n in splits(effective) if n > micro), None)
    budget = budget_for(trainer, base, micro, larger, where)
    answer = place.run(
        "--fresh",
        *limits(budget),
        "--",
        *trainer.command(own, effective // own),
    )
    name = "E %d from %d: micro %d" % (effective, own, micro)
    if not check(name + " ends well", answer.status == 0, answer):
        return
    best = answer.result["recommended"]
    got = (best["micro_batch"], best["grad_accum"], best["world_size"])
    done = "done: micro %d accum %d steps 12" % (micro, effective // micro)
    check(
        "%s is the largest that fits, in %d probes"
        % (name, answer.result["probe_count"]),
        got == (micro, effective // micro, 1)
        and best["effective_batch"] == effective
        and answer.result["probe_count"] <= PROBES_MAX,
        "%s\n%s" % (got, answer.err),
    )
    check(
        name + " is what ran in the end",
        answer.out.endswith(done + "\n") and answer.out.count("done:") == 1,
        answer.out,
    )
    check(
        name + " was never said to fit above a misfit or untested",
        all(
            probe["micro_batch"] <= micro or probe["verdict"] in MISFITS
            for probe in answer.probes
            if effective % probe["micro_batch"] == 0
        ),
        answer.err,
    )


# (answer, KiB per sample, fixed MiB). 4096: everything fits.
TUNES = (
    (1, 8192, 16),
    (2, 8192, 0),
    (7, 8192, 64),
    (17, 8192, 16),
    (33, 4096, 0),
    (63, 4096, 16),
    (64, 4096, 256),
    (65, 4096, 16),
    (100, 2048, 16),
    (389, 1024, 64),
    (1117, 512, 32),
    (2500, 256, 0),
    (4096, 256, 0),
)


def tune(place, base, row):
    largest, per_sample, fixed = row
    trainer = Trainer(per_sample, fixed)
    larger = largest + 1 if largest < 4096 else None
    budget = budget_for(trainer, base, largest, larger, "middle")
    answer = place.run(
        "tune",
        "--largest",
        "--fresh",
        "--max-micro",
        "4096",
        *limits(budget),
        "--",
        *trainer.command(8, 2),
    )
    name = "tune over 1..4096: %d fits" % largest
    if not check(name + " ends well", answer.status == 0, answer):
        return
    got = answer.result["largest_micro_batch"]
    least = largest if largest <= 64 else -(-largest * 98 // 100)
    check(
        "%s, %s answered" % (name, got), least <= got <= largest, answer.err
    )
    count = answer.result["probe_count"]
    check("%s, %d probes" % (name, count), count <= PROBES_MAX, answer.err)
    best = answer.result["recommended"]
    wanted = max(n for n in splits(16) if n <= largest)
    check(
        name + ", and the best split of 16 is %d" % wanted,
        (best["micro_batch"], best["grad_accum"]) == (wanted, 16 // wanted),
        answer.err,
    )
    check(name + ", and nothing was run", answer.out == "", answer.out)


def main():
    base = process_base()
    check(
        "a trainer adds %d KiB to what it prints" % (base // KIB),
        0 < base < CLOSE * 4,
    )
    with lib.Place("exactness") as place:
        for row in LAUNCHES:
            for micro in SOME.get(row[0], splits(row[0])):
                launch(place, base, row, micro)
        for row in TUNES:
            tune(place, base, row)
    lib.finish()


if __name__ == "__main__":
    main()
