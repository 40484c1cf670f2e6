#!/usr/bin/env python3
# What depends on values of a card that is not there is never said to fit.
# SPDX-License-Identifier: MIT
# CTEST COST 90
"""Programs whose memory may depend on what the card computes, with the real
PyTorch: each is told apart from those that only print or check what they read.
"""
import concurrent.futures
import os
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
import phantom_lib  # noqa: E402

VALUES = os.path.join(phantom_lib.SOURCE, "values.py")
CARD = "rtx3060"
# What a message says of some of them: the line, and what is done there.
WORDS = {
    "mask": r"\(kernel \w+\)",
    "item_branch": r"values\.py:\d+ compares a number of the card",
    "longest": r"values\.py:\d+ reads a whole number from the card",
    "longest_named": r"values\.py:\d+ reads a whole number from the card",
    "all_of": r"values\.py:\d+ asks the card a question",
    "as_float": r"values\.py:\d+ takes a number from the card",
}


def names(place, python):
    doubtful, plain = once(place, python, "--list").out.splitlines()
    return doubtful.split(), plain.split()


def once(place, python, name):
    return place.ask("phantom", CARD, "--limit", "11G", "--", python, VALUES,
                     name)


def doubtful(name, answer):
    lib.equal("%s is never said to fit" % name, answer.status, 123)
    if name == "while_not_converged":
        lib.holds("  and ends", answer.err, r"values\.py:\d+ asks the card a "
                  "question again and again, and waits for another answer")
        return
    lib.holds("  but to need at least this", answer.err, "at least .* zeros "
              "on a phantom", WORDS.get(name, ""))


def plain(name, answer):
    if not lib.equal("%s is not doubted" % name, answer.status, 0):
        print(answer)
    lib.lacks("  in no line", answer.err, "at least")


def tunings(place, python):
    """The same comes out of a tuning."""
    for name, words in (
            ("mask", "sizes depend on values, which are zeros on a phantom .*"
             "only probes on the card itself"),
            ("longest", r"takes at least [0-9.]+ [GM]iB: what the program does may "
             r"depend on values.*values\.py:\d+ reads a whole number"),
            ("while_not_converged", "waits for another answer: a phantom card "
             "has none: only a real card can tell"),
            ("misled", r"the command fails on a phantom, and it may do so only "
             r"there: .*values\.py:\d+ asks the card a question.*"
             r"AssertionError: the model is dead")):
        answer = place.run(
            "tune", "--device", "phantom:" + CARD, "--micro-flag",
            "--batch-size", "--accum-flag", "--grad-accum", "--", python,
            VALUES, name, "--batch-size", "4", "--grad-accum", "4")
        lib.equal("a tuning of %s is refused" % name, answer.status, 123)
        lib.holds("  and says why", answer.err, words)


def main():
    python = phantom_lib.find_python()
    with lib.Place("phantom-values") as place:
        many, few = names(place, python)
        lib.check("there are at least 20 of them", len(many) >= 20, many)
        if not phantom_lib.has_triton(python):
            print("left out: folded, which takes Triton and a C compiler")
            few.remove("folded")
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            answers = pool.map(lambda name: once(place, python, name),
                               many + few)
            for name, answer in zip(many + few, answers):
                (doubtful if name in many else plain)(name, answer)
        tunings(place, python)
    lib.finish()


if __name__ == "__main__":
    main()
