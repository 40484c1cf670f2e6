#!/usr/bin/env python3
# Five programs on a card that is not there: a tuning finds what trying finds.
# SPDX-License-Identifier: MIT
# CTEST COST 120
"""The real PyTorch, transformers and peft on a phantom RTX 4090: the size that
a tuning finds runs within the same limit by hand, the next one does not, and
every peak is PyTorch's reserved bytes and the context. And how much of the host
it takes, for GPT-2 at a large size and for 70 billion parameters. Arguments:
only those of ROWS, or "host".
"""
import os
import re
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
import phantom_lib  # noqa: E402

PROGRAMS = os.path.join(phantom_lib.SOURCE, "programs.py")
CHARLM = os.path.join(lib.SOURCE, "examples", "charlm", "train.py")
CONTEXT = 500 * lib.MIB
HOST_MAX = 1536 * lib.MIB
HEADROOM = lib.MIB
# 24207 MiB are usable.
LIMIT = (24207 << 20) - HEADROOM
CHARLM_SIZE = ("--context", "256", "--width", "512", "--layers", "8")
# Name, the program's words, the option of its micro-batch, of its accumulation.
ROWS = (
    ("charlm", (CHARLM, *CHARLM_SIZE), "--batch-size", "--grad-accum"),
    ("gpt", (PROGRAMS, "gpt"), "--batch-size", "--grad-accum"),
    ("trainer", (PROGRAMS, "trainer", "--output-dir", "out"),
     "--batch-size", "--grad-accum"),
    ("lora", (PROGRAMS, "lora"), "--batch-size", "--grad-accum"),
    ("conv", (PROGRAMS, "conv"), "--batch-size", "--grad-accum"),
)


def numbers(pattern, text):
    return [int(n) for n in re.findall(pattern, text)]


def once(place, python, words, size, flag):
    return place.ask("phantom", "rtx4090", "--limit", str(LIMIT), "--", python,
                     *words, flag, str(size), "--steps", "5")


def boundary(place, python, name, words, micro, accum):
    answer = place.run(
        "tune", "--grow", "--headroom", str(HEADROOM), "--tolerance", "0",
        "--max-probes", "30", "--device", "phantom:rtx4090", "--micro-flag",
        micro, "--accum-flag", accum, "--", python, *words, micro, "4", accum,
        "16", "--steps", "1000")
    if not lib.equal("%s: a tuning ends well" % name, answer.status, 0):
        print(answer)
        return
    best = answer.result["recommended"]["micro_batch"]
    fits = once(place, python, words, best, micro)
    if not lib.equal("  micro %d fits by hand" % best, fits.status, 0):
        print(fits)
    after = once(place, python, words, best + 1, micro)
    # Where the allocator has to free all it keeps to go on, it does not fit.
    lib.check("  and %d does not" % (best + 1), after.status in (1, 120) or
              "allocations were refused" in after.err, after)
    peak = numbers(r"\((\d+) bytes\)", fits.err)
    reserved = max(numbers(r"reserved (\d+)", fits.out), default=0)
    if name != "charlm":  # it does not say what PyTorch reserved
        lib.equal("  its peak is PyTorch's reserved bytes and the context",
                  peak, [reserved + CONTEXT])
    seen = {probe["micro_batch"]: probe["peak_bytes"]
            for probe in answer.probes if probe["verdict"].startswith("fits")}
    lib.equal("  which the preload library saw as well", seen.get(best),
              peak[0] if peak else None)


def host(place, python):
    for name, card, size in (("trainer", "b200", 64), ("lora_70b", "b200", 1)):
        answer = place.ask("phantom", card, "--", python, PROGRAMS, name,
                           "--batch-size", str(size), "--output-dir",
                           place.path("out"))
        lib.equal("%s at %d runs" % (name, size), answer.status, 0)
        taken = numbers(r"host (\d+)", answer.out)
        lib.check("  and takes little of the host", taken and
                  taken[0] < HOST_MAX, answer)


def main():
    python = phantom_lib.find_python("transformers", "accelerate", "peft")
    only = sys.argv[1:]
    with lib.Place("phantom-programs") as place:
        for row in ROWS:
            if not only or row[0] in only:
                boundary(place, python, *row)
        if not only or "host" in only:
            host(place, python)
    lib.finish()


if __name__ == "__main__":
    main()
