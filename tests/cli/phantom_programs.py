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
# Processor seconds at most, after the imports: model, and three steps.
SECONDS_MAX = 8
# Name, card, size.
HOST_ROWS = (("gpt", "b200", 1), ("gpt", "b200", 128), ("trainer", "b200", 64),
             ("lora_70b", "b200", 1))
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


def reserved_of(text):
    return max(numbers(r"reserved (\d+)", text), default=0)


def log_of(probe):
    with open(probe["log"], encoding="utf-8", errors="replace") as file:
        return file.read()


def once(place, python, words, size, micro, accum):
    return place.ask("phantom", "rtx4090", "--limit", str(LIMIT), "--", python,
                     *words, micro, str(size), accum, "2", "--steps", "5")


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
    fits = once(place, python, words, best, micro, accum)
    if not lib.check("  micro %d fits by hand" % best, fits.status == 0 and
                     "were refused" not in fits.err):
        print(fits)
    after = once(place, python, words, best + 1, micro, accum)
    # Where the allocator has to free all it keeps to go on, it does not fit.
    lib.check("  and %d does not" % (best + 1), after.status in (1, 120) or
              "allocations were refused" in after.err, after)
    if name != "charlm":  # it does not say what PyTorch reserved
        lib.equal("  its peak is PyTorch's reserved bytes and the context",
                  numbers(r"\((\d+) bytes\)", fits.err),
                  [reserved_of(fits.out) + CONTEXT])
        lib.check("  and so is that of each probe, by the preload library", all(
            each["peak_bytes"] == reserved_of(log_of(each)) + CONTEXT
            for each in answer.probes if each["verdict"].startswith("fits")),
            [(each, log_of(each)) for each in answer.probes])
    lib.equal("  workspaces of convolutions are missing", any(
        "workspaces of its convolutions" in caveat
        for caveat in answer.result["caveats"]), name == "conv")


def host(place, python):
    """Bytes and time of the host; processor time, for it may be busy."""
    for name, card, size in HOST_ROWS:
        # Threads that wait for each other take time of a busy machine.
        answer = place.ask("phantom", card, "--", python, PROGRAMS, name,
                           "--batch-size", str(size), "--output-dir",
                           place.path("out"), env={"OMP_NUM_THREADS": "1"})
        lib.equal("%s at %d runs" % (name, size), answer.status, 0)
        taken = max(numbers(r"host (\d+)", answer.out), default=HOST_MAX)
        spent = re.search(r"seconds (\S+) after \S+ of imports", answer.out)
        print("    %s, %d MiB of the host" % (
            spent and spent.group(0), taken // lib.MIB))
        lib.check("  and takes little of the host", taken < HOST_MAX, answer)
        lib.check("  and few seconds of it", spent and
                  float(spent.group(1)) < SECONDS_MAX, answer)


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
