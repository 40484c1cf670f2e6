#!/usr/bin/env python3
# One command on many cards that are not there: what a tuning of each would say.
# SPDX-License-Identifier: MIT
# CTEST COST 20
"""`autofit estimate --phantom`, with a program that allocates by the driver: no
PyTorch. Its split on each card is that of a tuning on a phantom of this card."""
import json
import os
import re
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402

TRAINER = (os.path.join(os.environ["BUILD"], "sim", "sim_trainer"),
           "--batch-size", "8", "--grad-accum", "8", "--steps", "40",
           "--step-ms", "10", "--fixed-mib", "1500", "--per-sample-kib",
           "700000")
# A fixed one: whether a peak still rises is a matter of chance in so few steps.
HEADROOM = ("--headroom", "700M")
CARDS = ("t4", "rtx2060", "rtx3060", "rtx4090", "a100-80gb", "b200")
WRONG = [
    ("estimate --phantom", 125, r"autofit estimate --phantom \[CARD,...\] -- "),
    ("estimate --phantom t4,none9 -- true", 125, "'none9' is no GPU model"),
    ("estimate --phantom --compare -- true", 125, "a table of its own"),
    ("estimate --phantom t4 -- python3 cpu.py --batch-size 4", 123,
     "did not use the phantom card"),
    ("estimate --phantom t4 -- true", 122, "batch"),
    ("tune --phantom -- true", 125, "--phantom belongs to autofit estimate"),
]


def tuned(place, card):
    """Name of the card, micro-batch (None: nothing fits) and peak there."""
    answer = place.run("tune", *HEADROOM, "--device", "phantom:" + card, "--",
                       *TRAINER)
    result = answer.result
    best = result["recommended"] or {}
    return (result["devices"][0]["name"].replace("phantom ", ""),
            best.get("micro_batch"), result["evidence"]["peak_bytes"])


def survey(place):
    report = place.path("cards.json")
    answer = place.ask("estimate", "--phantom", ",".join(CARDS), "--json",
                       report, *HEADROOM, "--", *TRAINER,
                       env={"COLUMNS": "80"})
    if not lib.equal("a survey ends well", answer.status, 0):
        print(answer)
        lib.finish()
    with open(report, encoding="utf-8") as file:
        return answer, json.load(file)


def as_tuned(place):
    answer, found = survey(place)
    rows = found["phantom"]
    lib.lacks("nothing is recorded", place.ask("show").out, "sim_trainer")
    lib.equal("there is a row for each card", len(rows), len(CARDS))
    lib.equal("the smallest is first", [row["usable_bytes"] for row in rows],
              sorted(row["usable_bytes"] for row in rows))
    lib.check("the table fits the terminal", all(
        len(line) <= 80 for line in answer.out.splitlines()), answer.out)
    probes = re.search(r"in (\d+) probes", re.sub(r"\s+", " ", answer.out))
    # Six cards of three groups: no size runs twice in one.
    sizes = {row["micro_batch"] for row in rows if row["micro_batch"]}
    lib.check("a size runs once for all cards of a group", probes and
              int(probes[1]) <= 3 * len(sizes), answer)
    lib.holds("it says what it is", answer.out, "by real allocations",
              "not run on the cards")
    lib.lacks("and tells no speed", answer.out, r"samples/s|faster| ms\b")
    for card in CARDS:
        name, micro, peak = tuned(place, card)
        row = next(row for row in rows if row["gpu"] == name)
        lib.check("%s: as a tuning says" % card, row["micro_batch"] == micro and
                  (not micro or row["peak_bytes"] == peak),
                  (row, micro, peak, str(answer)))


def beside_formula(place):
    """Of a command whose model is known, what is computed stands beside it."""
    report = place.path("formula.json")
    answer = place.ask("estimate", "--phantom", "t4", "--params", "124m",
                       "--sequence", "256", "--json", report, *HEADROOM, "--",
                       *TRAINER)
    with open(report, encoding="utf-8") as file:
        row, = json.load(file)["phantom"]
    lib.check("the formula's bytes are those of the same split", answer.status
              == 0 and row["micro_batch"] and row["estimate_low_bytes"] <
              row["estimate_bytes"] < row["estimate_high_bytes"], (answer, row))
    lib.holds("and stand in the table", answer.out,
              r"formula Tesla T4 .* (\d\S* GiB \S+ [GM]iB|\S+ [GM]iB) ")


def wrong(place):
    place.write("cpu.py", "print('step 1')\n")
    for line, code, words in WRONG:
        answer = place.ask(*line.split())
        lib.equal("autofit %s" % line, answer.status, code)
        lib.holds("  says why", answer.err, words)


def main():
    with lib.Place("phantom-cards") as place:
        wrong(place)
        as_tuned(place)
        beside_formula(place)
    lib.finish()


if __name__ == "__main__":
    main()
