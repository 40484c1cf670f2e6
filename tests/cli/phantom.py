#!/usr/bin/env python3
# The CUDA build of PyTorch on a card that is not there: what it takes, and the
# largest size that a tuning finds for it.
# SPDX-License-Identifier: MIT
# CTEST COST 90
"""The real PyTorch and its real allocator, without NVIDIA's packages: which
Python that is says phantom_lib.py."""
import os
import re
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
import phantom_lib  # noqa: E402

TRAIN = os.path.join(phantom_lib.SOURCE, "train.py")
# A card of the user's catalogue, so small that few sizes fit.
CARD = ("name,driver_total_mib,cuda_usable_mib,cc,sms,context_mib\n"
        "Test Card,2048,1536,8.6,28,500\n")
USABLE, CONTEXT = 1536 * lib.MIB, 500 * lib.MIB
DOUBTFUL = ("mask", "nonzero", "unique", "repeat", "experts")


def peak_of(answer):
    found = re.search(r"\((\d+) bytes\)", answer.err)
    return int(found[1]) if found else 0


def reserved_of(text):
    return max((int(n) for n in re.findall(r"reserved (\d+)", text)),
               default=0)


def once(place, python, *args, card="testcard", options=()):
    return place.ask("phantom", card, *options, "--", python, TRAIN, *args)


def plain_runs(place, python):
    answer = once(place, python, "--batch-size", "4")
    lib.equal("a plain run ends as the command does", answer.status, 0)
    lib.equal("the peak is PyTorch's reserved bytes and the context",
              peak_of(answer), reserved_of(answer.out) + CONTEXT)
    lib.lacks("nothing of it is doubtful", answer.err, "at least")
    lib.lacks("and there is no speed", answer.err, r"samples/s| ms\b")
    lib.holds("what it was is said", answer.err, r"on phantom Test Card "
              r"\(1.50 GiB\): by real allocations, not run on the card")
    peak = peak_of(answer)
    for limit, code in ((peak, 0), (peak - 1, 120)):
        lib.equal("--limit %d" % (limit - peak), once(
            place, python, "--batch-size", "4",
            options=("--limit", str(limit))).status, code)
    answer = once(place, python, "--batch-size", "4000")
    lib.equal("out of memory is the command's failure", answer.status, 1)
    lib.holds("and PyTorch's own words", answer.err,
              r"OutOfMemoryError: CUDA out of memory\. Tried to allocate "
              r".* GPU 0 has a total capacity of 1\.50 GiB")
    lib.holds("is known as that", answer.err, "memory ran out: the last of")


def doubtful_runs(place, python):
    for what in DOUBTFUL:
        answer = once(place, python, "--with", what,
                      options=("--limit", "1500MiB"))
        lib.holds("%s: at least" % what, answer.err,
                  "at least sizes depend on values")
        lib.equal("%s: no limit is said to hold" % what, answer.status, 123)
    answer = place.run("tune", "--device", "phantom:testcard", "--", python,
                       TRAIN, "--batch-size", "4", "--grad-accum", "4",
                       "--with", "mask")
    lib.equal("a tuning of such a program is refused", answer.status, 123)
    lib.holds("and says why", answer.err, "sizes depend on values, which are "
              "zeros on a phantom .* only probes on the card itself")


def tuning(place, python):
    headroom = lib.MIB
    answer = place.run(
        "tune", "--grow", "--headroom",
        str(headroom), "--device", "phantom:testcard", "--", python, TRAIN,
        "--batch-size", "4", "--grad-accum", "16", "--steps", "100")
    if not lib.equal("a tuning ends well", answer.status, 0):
        print(answer)
        return
    result = answer.result
    micro = result["recommended"]["micro_batch"]
    lib.equal("the device is a phantom", (
        result["device_kind"], result["devices"][0]["name"],
        result["evidence"]["coverage"]),
        ("phantom", "phantom Test Card", "phantom"))
    lib.check("no speed is told", all(
        probe["samples_per_second"] is None and probe["step_seconds"] is None
        for probe in result["probes"]), result["probes"])
    lib.lacks("nor in the report", answer.err, r"samples/s|faster|slower")
    lib.holds("the report says what it rests on", answer.err,
              "fits on a phantom card",
              "on a phantom Test Card: by real allocations, not run on the "
              "card")
    for probe in result["probes"]:
        with open(probe["log"], encoding="utf-8", errors="replace") as file:
            reserved = reserved_of(file.read())
        if probe["verdict"] == "fits":
            lib.equal("micro %d: the preload library saw PyTorch's bytes" %
                      probe["micro_batch"], probe["peak_bytes"],
                      reserved + CONTEXT)
    limit = ("--limit", str(USABLE - headroom))
    for size, good in ((micro, True), (micro + 1, False)):
        one = once(place, python, "--batch-size", str(size), options=limit)
        lib.check("micro %d %s by hand" % (size, "fits" if good else
                                           "does not fit"),
                  (one.status == 0) == good, one)
    with open(result["record"]["path"], encoding="utf-8") as file:
        lib.check("the record is of a phantom",
                  "device_kind = 7:phantom" in file.read())


def main():
    python = phantom_lib.find_python()
    with lib.Place("phantom") as place:
        place.write("home/config/gpus.csv", CARD)
        plain_runs(place, python)
        doubtful_runs(place, python)
        tuning(place, python)
    lib.finish()


if __name__ == "__main__":
    main()
