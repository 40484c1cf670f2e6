# What gpu-check works out of what it measured: no files, no processes.
# SPDX-License-Identifier: MIT
import re
import statistics

MIB = 1 << 20
GIB = 1 << 30
UNITS = {"bytes": 1, "B": 1, "KiB": 1 << 10, "MiB": MIB, "GiB": GIB,
         "TiB": 1 << 40}
SIZE = r"([0-9.]+) (bytes|B|KiB|MiB|GiB|TiB)"
# PyTorch 2.1 wrote "capacty"; older ones "7.93 GiB total capacity".
OOM_TRIED = re.compile(r"Tried to allocate " + SIZE)
OOM_TOTAL = (re.compile(r"total capaci?ty of " + SIZE),
             re.compile(SIZE + r" total capacity"))
OOM_FREE = (re.compile(r"of which " + SIZE + r" is free"),
            re.compile(SIZE + r" free;"))
# What rounding to two digits may hide.
PRINTED = 0.005 * GIB


def bytes_of(match):
    return int(float(match.group(1)) * UNITS[match.group(2)]) if match else None


def first_of(patterns, text):
    for pattern in patterns:
        match = pattern.search(text)
        if match:
            return bytes_of(match)
    return None


def oom_text(text):
    """tried, total and free bytes of PyTorch's message; None: not said."""
    return {
        "tried": bytes_of(OOM_TRIED.search(text)),
        "total": first_of(OOM_TOTAL, text),
        "free": first_of(OOM_FREE, text),
    }


def size_text(size):
    if size is None:
        return "not known"
    sign, size = ("-", -size) if size < 0 else ("", size)
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return "%s%.4g %s" % (sign, size / unit, name)
    return "%s%d B" % (sign, size)


def percent_text(share):
    return "%.2f%%" % (100 * share)


def share_of_error(predicted, found):
    """|predicted - found| as a share of what was found."""
    return abs(predicted - found) / found if found else float(predicted != 0)


def reconcile(early, late):
    """
    What the overhead of an early look (tracked, outside) makes of the tracked
    bytes of a late one, and how far that is from the truth outside. None when
    one of them had no figure from outside.
    """
    if early["outside"] is None or late["outside"] is None:
        return None
    overhead = early["outside"] - early["tracked"]
    predicted = late["tracked"] + overhead
    return {
        "overhead": overhead,
        "late_overhead": late["outside"] - late["tracked"],
        "predicted": predicted,
        "error": share_of_error(predicted, late["outside"]),
    }


def extra_cost(with_it, without):
    """Medians of both, and the share that the first is above the second."""
    a, b = statistics.median(with_it), statistics.median(without)
    return {"with": a, "without": b, "share": a / b - 1}


def splits(effective):
    """The micro-batches that split it exactly, in rising order."""
    return [n for n in range(1, effective + 1) if effective % n == 0]


def to_sweep(effective, answer):
    """The answer, the next larger split, the next smaller: in that order."""
    sizes = splits(effective)
    if answer not in sizes:
        return [answer] if answer else []
    at = sizes.index(answer)
    return ([answer] + sizes[at + 1:at + 2] +
            (sizes[at - 1:at] if at > 0 else []))


def fits(run, limit):
    return bool(run["ran"] and run["peak"] is not None and
                run["peak"] <= limit)


def judge_sweep(answer, runs, limit):
    """
    (right, words): right is None while the runs do not tell. The answer fits,
    every larger one that was run does not.
    """
    judged = {run["micro"]: fits(run, limit) for run in runs}
    if answer not in judged:
        return None, "the answer itself was not run"
    if not judged[answer]:
        return False, "micro %d does not fit when it is run" % answer
    larger = [micro for micro in judged if micro > answer]
    for micro in larger:
        if judged[micro]:
            return False, "micro %d fits as well" % micro
    if not larger:
        return True, "micro %d fits; there is no larger split" % answer
    return True, "micro %d fits, micro %d does not" % (answer, min(larger))


def slug(name):
    """A name as part of a file's: "nvidia-h200"."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60] or "gpu"


def tail(text, lines=6, characters=600):
    kept = [line for line in text.splitlines() if line.strip()][-lines:]
    return "\n".join(kept)[-characters:]
