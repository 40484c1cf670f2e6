#!/usr/bin/env python3
# Real command lines that nothing was tuned for are read as they are meant.
# SPDX-License-Identifier: MIT
# CTEST COST 30
"""Each case of the corpus is explained beside its stand-in and is one of:

right     read as it is meant; or, where that is right, refused, or left to
          what a probe shows, with the words that settle it
asked     refused although the words tell
misread   accepted with another meaning: a user's effective batch would change
"""
import re
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import corpus_lib  # noqa: E402
import lib  # noqa: E402
from lib import check  # noqa: E402

# As few as the promise allows, and of the others as many as there are now.
MISREAD_MAX = 2
ASKED_SHARE_MAX = 0.15
# The words do not tell; what they start would run outside of a probe.
REFUSED = (122, 123)


def outcome(case, answer):
    read = corpus_lib.read_sizes(answer) if answer.status == 0 else None
    if answer.status in REFUSED or (answer.status == 0 and not read):
        if not case.asks:
            return "asked"
        said = re.sub(r"\s+", " ", answer.out + answer.err)
        return "right" if re.search(case.asks, said) else "asked"
    return "right" if read == case.sizes else "misread"


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    cases = [c for c in corpus_lib.cases() if wanted in c.name]
    found = {"right": [], "asked": [], "misread": []}
    for case in cases:
        with lib.Place("corpus") as place:
            case.lay(place)
            answer = place.run("explain", "--", *case.words, env=case.env)
            kind = outcome(case, answer)
        found[kind].append(case)
        if kind == "right" and not wanted:
            continue
        print("%s: %s\n    %s\n    meant: %s" % (
            kind, case.name, " ".join(case.words), case.sizes or case.asks))
        if answer.status == 0:
            print("    read:  %s" % (corpus_lib.read_sizes(answer),))
        print("    " + "\n    ".join(answer.err.splitlines()))
    print(", ".join("%s %d" % (k, len(v)) for k, v in found.items()))
    check("misread: at most %d" % MISREAD_MAX,
          len(found["misread"]) <= MISREAD_MAX)
    check("asked needlessly: few",
          len(found["asked"]) <= ASKED_SHARE_MAX * len(cases))
    lib.finish()


main()
