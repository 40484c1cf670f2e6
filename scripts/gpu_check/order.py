# In which order the checks are made: what is most worth knowing comes first.
# SPDX-License-Identifier: MIT
"""The time may end before the last of them, so that the whole way from a
command to its answer is tried before what only refines it."""
import itertools

# A name, or the beginning of several before a dash.
FIRST = ("machine", "self-test", "hello", "tracked", "transformer", "access", "tune-whole",
         "cap", "cost", "tune-8g", "tune-as")


def rank(name):
    for place, word in enumerate(FIRST):
        if name == word or name.startswith(word + "-"):
            return place
    return len(FIRST)


def batches(checks):
    """Lists of checks, one after the other; those of one list that are not
    made alone may be made side by side."""
    # What shares the machine before what has it for itself, where the order
    # says nothing. Sorting keeps the order of the file.
    ordered = sorted(checks, key=lambda check: (
        rank(check.name), rank(check.name) == len(FIRST) and check.alone))
    return [list(group) for _, group in
            itertools.groupby(ordered, key=lambda check: check.alone)]
