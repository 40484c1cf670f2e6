#!/usr/bin/env python3
# The README's picture is of its text, and the text is what autofit prints.
# SPDX-License-Identifier: MIT
"""docs/picture.svg is drawn of docs/picture.txt. A short tuning of the example
in C has to print the same lines, but for what differs between two commands;
with AUTOFIT_NIGHTLY=1 the very command of the picture is run, too.

After a change of the words: scripts/picture.py run, then
scripts/picture.py draw >docs/picture.svg.
"""
import os
import re
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

from lib import SOURCE, TRAINER, Place, check, equal, finish  # noqa: E402

sys.path.insert(0, os.path.join(SOURCE, "scripts"))
import picture  # noqa: E402

# Lines that every such run prints, by how they begin.
FORMS = (
    ("the device", r"autofit \d+\.\d+\.\d+ · host memory, budget [\d.]+ GiB "
                   r"\(--memory\) · no known framework$"),
    ("the batch", r"  kept: effective batch \d+ = \d+ x \d+ x 1 "
                  r"\(--batch-size taken as per rank\)$"),
    ("what happens", r"  testing sizes with short trial runs; "),
    ("the head", r"   micro  accum  peak of [\d.]+ [MG]iB +step  samples/s$"),
    ("a row", r" +\d+ +\d+ +[\d.]+ [MG]iB \[[#-]{8}\] +[\d.]+ m?s +[\d.]+  "
              r"fits, yours$"),
    ("the answer", r"autofit: micro \d+ x accum \d+ fits"),
    ("kept", r"  kept      effective batch \d+ = \d+ x \d+ x 1$"),
    ("yours", r"  yours     micro \d+ x accum \d+, peak [\d.]+ [MG]iB, "
              r"[\d.]+ ± [\d.]+$|  yours .* [\d.]+ ± [\d.]+ samples/s$"),
    ("best", r"  best      micro \d+ x accum \d+, peak [\d.]+ [MG]iB"),
    ("memory", r"  memory    peak [\d.]+ [MG]iB, limit [\d.]+ [MG]iB = "),
    ("evidence", r"  evidence  largest fit \d+"),
    ("use", r"  use:  --batch-size \d+ --grad-accum \d+$"),
    ("the end", r"\d+ probes in [\d.]+ (s|min)"),
)


def in_order(name, lines):
    at = 0
    for form, pattern in FORMS:
        found = [number for number in range(at, len(lines))
                 if re.match(pattern, lines[number])]
        if not check("%s: %s" % (name, form), found, "\n".join(lines)):
            return
        at = found[0] + 1


def numbers_of_readme(lines):
    """What the README says of the run stands in its text."""
    with open(os.path.join(SOURCE, "README.md")) as file:
        readme = file.read()
    text = "\n".join(lines)
    for word in ("yours", "best"):
        rate = re.search(r"  %s .*?, ([\d.]+) ±" % word, text, re.DOTALL)
        check("README: the samples/s of %s" % word,
              rate and "%s samples/s" % rate.group(1) in readme, text)
    factor = re.search(r"\((\d+\.\d+x)\)", text)
    check("README: the factor", factor and "**%s**" % factor.group(1)
          in readme, text)


def main():
    text = picture.read()
    with open(os.path.join(SOURCE, "docs/picture.svg")) as file:
        equal("the picture is of the text", file.read().splitlines(),
              list(picture.draw(text)))
    in_order("the text", text)
    numbers_of_readme(text)
    with Place("picture") as place:
        answer = place.run(
            "tune", "--device", "host", "--memory", "1GiB", "--",
            TRAINER, "--batch-size", "2", "--grad-accum", "8",
            "--per-sample-kib", "1024", "--step-ms", "20",
            env={"LC_ALL": "C.UTF-8"})
        in_order("now", answer.err.splitlines())
    if os.environ.get("AUTOFIT_NIGHTLY") == "1":
        in_order("the same command", picture.run())
    finish()


main()
