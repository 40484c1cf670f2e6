#!/usr/bin/env python3
# What sizes mean is seen: programs with the same options and other meanings.
# SPDX-License-Identifier: MIT
# CTEST COST 100 RESOURCE_LOCK standalone
"""Each row runs tests/data/train_meaning.py with one meaning of its sizes. The
words are read alike; the answer must keep the rows of a step that the command
has as it was given, and say what was seen.
"""
import glob
import os
import signal
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import check, equal, holds, lacks  # noqa: E402

PYTHON = "/usr/bin/python3"
SCRIPT = os.path.join(lib.DATA, "train_meaning.py")
RANKS = "-m torch.distributed.run --standalone --nproc_per_node 2"
# Words that every version takes: 1.13 cannot read its own default.
OUTPUTS = "--redirects 2 --tee 1"

TAKEN_BACK = ("as they were read first",)
# Meaning, ranks, options; then rows of a whole step as the command is given,
# and words that the report must have.
ROWS = (
    ("plain", 1, "--batch-size 8 --accum-steps 4", 32, ()),
    ("no_loader", 1, "--batch-size 8 --accum-steps 4", 32, ()),
    ("whole", 1, "--batch-size 32 --accum-steps 4", 32, ("whole batch",)),
    ("pieces", 1, "--batch-size 32 --accum-steps 4", 32, ("whole batch",)),
    ("twice", 1, "--batch-size 8 --accum-steps 2", 16, ()),
    ("twice", 1, "", 8, TAKEN_BACK),
    ("two_losses", 1, "--batch-size 8", 8, ()),
    ("closures", 1, "--batch-size 8 --accum-steps 4", 32, ()),
    ("data_parallel", 1, "--batch-size 8 --accum-steps 2", 16, ()),
    ("over_ranks", 2, "--batch-size 16", 16, ("counts over all ranks",)),
    ("total_accum", 2, "--batch-size 4 --accum-steps 4", 16,
     ("--accum-scope total",)),
    ("plain", 2, "--batch-size 4 --accum-steps 2", 16, ()),
    ("pair", 1, "--batch-size 8 --accum-steps 4", 32, ()),
    ("together", 1, "--batch-size 8 --accum-steps 4", 32, ()),
    ("doubled", 1, "--batch-size 8 --accum-steps 4", 32, ()),
    ("uneven", 1, "--batch-size 8 --accum-steps 4", 32, ()),
    ("derived", 1, "--batch-size 8", 64, ("other defaults",)),
    ("row_by_row", 1, "--batch-size 8 --accum-steps 8", 64, ()),
    ("over_node", 2, "--batch-size 16", 16, ("counts over all ranks",)),
)

# These differ from another row in what the hook of PyTorch attaches to alone,
# which python_hook.py looks at.
NIGHTLY = os.environ.get("AUTOFIT_NIGHTLY") == "1"
if not NIGHTLY:
    LEFT_OUT = (("no_loader", 1), ("data_parallel", 1), ("together", 1),
                ("closures", 1), ("pair", 1), ("uneven", 1),
                ("plain", 2), ("over_node", 2))
    ROWS = tuple(row for row in ROWS if row[:2] not in LEFT_OUT)

# What comes into the model, or back, more than once a row.
VIEWS = {"doubled": 2, "twice": 2}

MISREAD = [row for row in ROWS if row[4]]


def run(place, meaning, ranks, words, *options):
    launcher = [*RANKS.split(), *OUTPUTS.split()] if ranks > 1 else []
    return place.run(
        *"tune --device host --memory 4GiB --fresh".split(), *options, "--",
        *[PYTHON, *launcher, SCRIPT, "--meaning", meaning, *words.split()],
    )


def logs_of(place):
    return set(glob.glob(place.path("home", "logs", "*", "probe-*.log")))


def every_meaning(place):
    for meaning, ranks, words, whole, said in ROWS:
        name = "%s, %d ranks" % (meaning, ranks)
        before = logs_of(place)
        got = run(place, meaning, ranks, words)
        if not equal(name, got.status, 0):
            print(got)
            continue
        best = got.result["recommended"]
        equal(name + ": read", best["effective_batch"], whole)
        seen = [p for p in got.probes if p["seen_accum"]][-1]
        rows = seen["input_rows"] * seen["seen_accum"]
        seen_whole = rows * (seen["seen_ranks"] or 1)
        equal(name + ": seen", seen_whole, whole * VIEWS.get(meaning, 1))
        if said:
            holds(name + ": said", got.err, *said)
        if seen_whole == whole:
            lacks(name + ": named", got.err, "what is named here")
        # What showed it ran the command as it is given: that is not run twice.
        starts = len(logs_of(place) - before)
        equal(name + ": starts", got.result["probe_count"], starts)
        # But for one of another size, by which a default was taken back.
        untold = said == TAKEN_BACK
        check(name + ": all are told", starts <= len(got.probes) + untold, got)


def remembers(place):
    """The next start reads the command as it was seen, without a probe."""
    again = place.run(
        *"--device host --memory 4GiB --".split(),
        *[PYTHON, SCRIPT, "--meaning", "whole"],
        *"--batch-size 32 --accum-steps 4 --steps 2".split(),
    )
    check("reused", "reused" in again.result["outcome"], again)
    words = "--batch-size 32 --accum-steps 4"
    told = place.run(
        *("explain", "--device", "host", "--memory", "4GiB", "--"),
        *[PYTHON, SCRIPT, "--meaning", "whole", *words.split()],
    )
    holds("explained as seen", told.out, "seen +read as an earlier probe",
          "effective batch 32 = 8 x 4 x 1")


def up_to_a_number_of_the_script(place):
    """What it derives from the size can be no other number in a probe."""
    got = place.run(
        *"tune --device host --memory 4GiB --fresh --max-micro 32 --".split(),
        *[PYTHON, os.path.join(lib.DATA, "train_nominal.py")],
        *"--batch-size 8".split(),
    )
    equal("nominal", got.status, 0)
    best = got.result["recommended"]
    equal("nominal: answer", (best["micro_batch"], best["grad_accum"]), (32, 2))
    equal("nominal: probes", [p["grad_accum"] for p in got.probes], [8, 2])
    equal("nominal: seen", [p["seen_accum"] for p in got.probes], [8, 2])


def no_optimizer(place):
    """
    Its passes are counted at once. How many it takes for a step nobody knows:
    the words stand, and no more is said.
    """
    got = run(place, "by_hand", 1, "--batch-size 2048 --accum-steps 4")
    equal("no optimizer", got.status, 0)
    best = got.result["recommended"]
    equal("no optimizer: read", best["effective_batch"], 8192)
    check("no optimizer: nothing is seen",
          not any(p["seen_accum"] for p in got.probes), got.probes)
    equal("no optimizer: what counts",
          got.result["evidence"]["steps_source"], "passes")
    own = [p for p in got.probes if p["micro_batch"] == 2048]
    check("no optimizer: the rows are", own[0]["input_rows"] == 2048, own)


def parts_of_a_size(place):
    """Half of it, or at most so much: no split of it would be kept."""
    half = run(place, "halved", 1, "--batch-size 16 --accum-steps 2")
    equal("halved", half.status, 122)
    holds("halved: what is seen", half.err, "8 rows x 1 pass")
    holds("halved: what settles it", half.err, "--micro-scope rank")
    said = run(place, "halved", 1, "--batch-size 16 --accum-steps 2",
               "--micro-scope", "rank")
    equal("halved: as told", said.status, 0)
    best = said.result["recommended"]
    equal("halved: the parts are kept", best["effective_batch"], 32)
    holds("halved: and said", said.err, "rows where micro [0-9]+ was written")
    marked = run(place, "whole", 1, "--batch-size {micro:16} "
                 "--accum-steps {accum:2}")
    equal("whole, marked as a micro-batch", marked.status, 122)
    holds("whole, marked: what settles it", marked.err, "--global-flag NAME")
    named = run(place, "whole", 1, "--batch-size 16 --accum-steps 2",
                "--global-flag", "--batch-size")
    equal("whole, marked: as told", named.status, 0)
    most = run(place, "clipped", 1, "--batch-size 32")
    equal("clipped", most.status, 122)
    holds("clipped: what is seen", most.err, "seen 8 rows", "--micro-flag")


def what_is_not_run_is_no_fit(place):
    """Programs that make what is too large for them smaller, or leave it out."""
    for meaning, why in (("smaller", "makes its passes smaller by itself"),
                         ("left_out", "steps without a gradient"),
                         ("few_rows", "its data loader has 24 samples"),
                         ("at_most", "16 rows in a pass, fewer than it was")):
        got = run(place, meaning, 1, "--batch-size 8 --accum-steps 8")
        if not equal(meaning, got.status, 0):
            print(got)
            continue
        best = got.result["recommended"]
        check(meaning + ": what ran", best["micro_batch"] <= 16, got)
        equal(meaning + ": the step", best["effective_batch"], 64)
        holds(meaning + ": said", " ".join(got.err.split()), why)


def no_sense(place):
    got = run(place, "ignored", 1, "--batch-size 8 --accum-steps 2")
    equal("an option that does nothing", got.status, 122)
    holds("what was read and seen", got.err, "8 rows x 3 passes",
          "--accum-flag", "{accum:3}")
    lacks("and no second advice", got.err, "say how the command")


def set_elsewhere(place):
    """Its loader has batches of 16, whatever the option says."""
    got = run(place, "set_elsewhere", 1, "--batch-size 8")
    equal("set elsewhere: it runs", got.status, 0)
    holds("set elsewhere: said", " ".join(got.err.split()),
          "gave batches of 16 where micro 8 was written: --batch-size may")
    lacks("set elsewhere: no larger size is promised", got.err, "--grow")
    grown = run(place, "set_elsewhere", 1, "--batch-size 8", "--grow")
    equal("set elsewhere: no size is", grown.status, 122)
    holds("set elsewhere: why", " ".join(grown.err.split()),
          "the flag had no effect", "batch of 16 each time")
    check("set elsewhere: soon", len(grown.probes) <= 3, grown)


def number_of_any_name(place):
    """
    It has the value that was counted, and no other does: it is tried. What is
    found to mean something else is not read so, now and at the next start.
    """
    script = os.path.join(lib.DATA, "train_turns.py")
    for kind, whole in (("counted", 32), ("width", 8), ("fixed", 8)):
        name = "a number of any name, " + kind
        command = [PYTHON, script, *"--batch-size 8 --turns 4".split(), kind]
        got = place.run(*"tune --device host --memory 4GiB --fresh --".split(),
                        *command)
        if not equal(name, got.status, 0):
            print(got)
            continue
        best = got.result["recommended"]
        equal(name + ": the step", best["effective_batch"], whole)
        holds(name + ": said", got.err, "--turns is 4, too, and may count")
        words = place.run("explain", "--device", "host", "--memory", "4GiB",
                          "--", *command)
        holds(name + ": kept", words.out,
              "effective batch %d = 8 x %d x 1" % (whole, whole // 8),
              "used without a probe")
        if kind != "counted":
            holds(name + ": taken back", got.err,
                  "--turns does not count the passes",
                  "seen to make 4 backward passes")


def pieces_of_any_name(place):
    """
    The batch is that of a whole step, and the program cuts it: a number of the
    pieces' count, or of the rows of one, is tried, and taken back where it
    means something else.
    """
    script = os.path.join(lib.DATA, "train_turns.py")
    rows = (
        ("--batch-size 32 --turns 4 cut", 0, "--accum-flag --turns"),
        ("--batch-size 32 --part 8 --turns 3 parts", 0, "--micro-flag --part"),
        ("--batch-size 32 --turns 4 cut-width", 122,
         "--turns does not count the passes"),
    )
    for words, status, said in rows:
        name = "pieces of any name, " + words
        got = place.run(*"tune --device host --memory 4GiB --fresh --".split(),
                        PYTHON, script, *words.split())
        if not equal(name, got.status, status):
            print(got)
            continue
        holds(name + ": said", " ".join(got.err.split()),
              "whole batch of a step", said)
        if status == 0:
            best = got.result["recommended"]
            equal(name + ": the step", best["effective_batch"], 32)
            equal(name + ": in one", best["micro_batch"], 32)


def batch_of_a_step_of_any_name(place):
    """One number is as many as the rows of all passes: it is tried."""
    script = os.path.join(lib.DATA, "train_turns.py")
    for kind, whole in (("until", 32), ("width", 8)):
        name = "a batch of a step of any name, " + kind
        got = place.run(*"tune --device host --memory 4GiB --fresh --".split(),
                        PYTHON, script, "--batch-size", "8", "--turns", "32",
                        kind)
        if not equal(name, got.status, 0):
            print(got)
            continue
        best = got.result["recommended"]
        equal(name + ": the step", best["effective_batch"], whole)
        said = " ".join(got.err.split())
        holds(name + ": said", said, "--turns is as many as the rows of all")
        if kind == "width":
            holds(name + ": taken back", said,
                  "--turns does not count the passes",
                  "seen to make 4 backward passes")


def batch_size_of_any_name(place):
    """
    Nothing is named like it: the rows of a pass say which number it is, and a
    probe with another value, whether that is so.
    """
    script = os.path.join(lib.DATA, "train_unnamed.py")
    target = "--device host --memory 4GiB".split()

    def tune(words, *options):
        return place.run("tune", *target, *options, "--", PYTHON, script,
                         *words.split())

    rows = (
        ("--turns 4", {"--chunk": "96", "--turns": "1"},
         ("a pass takes 24 rows, and --chunk is that number",
          "4 passes make a step, as --turns says")),
        ("--chunk 40 --turns 3", {"--chunk": "120", "--turns": "1"}, ()),
    )
    for words, answer, said in rows if NIGHTLY else rows[:1]:
        name = "a batch size of any name, " + words
        got = tune(words)
        if not equal(name, got.status, 0):
            print(got)
            continue
        argv = got.result["recommended"]["argv"]
        equal(name + ": written", {n: argv[argv.index(n) + 1]
                                   for n in answer}, answer)
        holds(name + ": said", got.err, *said)
        again = tune(words)
        holds(name + ": kept", again.err, "no probe")

    alone = tune("--chunk 24")
    holds("a size that never changed is a guess", alone.err,
          "--chunk is the batch size is told by its value alone")
    grown = tune("--chunk 25", "--grow", "--max-micro", "64")
    lacks("one that did is none", grown.err, "by its value alone")
    equal("one that did", grown.result["recommended"]["micro_batch"], 64)
    literal = tune("literal")
    holds("a literal of the script", literal.err,
          "ROWS_OF_A_PASS is that number")

    rows = (
        ("fixed", "--chunk does not set the rows of a pass"),
        ("width", "--chunk does not set the rows of a pass"),
        ("--chunk 32 --knots 32",
         "a pass takes 32 rows, the value of --chunk and --knots"),
    )
    for words, why in rows if NIGHTLY else rows[1:]:
        name = "no batch size, " + words
        got = tune(words, "--grow", "--max-micro", "64")
        equal(name, got.status, 122)
        said = " ".join(got.err.split())
        holds(name + ": said", said, why,
              "no batch size is found among the arguments of")
    dies = tune("dies")
    equal("a mistake of the command's is no matter of its sizes",
          dies.status, 121)
    holds("a mistake of the command's: said", dies.err, "a mistake of its own")
    equal("a mistake of the command's: no size is named",
          [p["micro_batch"] for p in dies.probes], [None])

    planned = place.run("explain", *target, "--", PYTHON, script, "--chunk",
                        "26")
    equal("explained", planned.status, 0)
    holds("explained: said", planned.out, "no batch size is found",
          "first probe, the command as it is")
    for words in (("export", "args"), ("lower",)):
        refused = place.ask(*words, "--", PYTHON, script, "--chunk", "27")
        holds("%s: no probe would show it" % words[0], refused.err,
              "no batch size is found")


def second_knob(place):
    """It times the first, whose default is what it was read to be."""
    for _ in range(2):
        got = run(place, "repeats", 1, "--batch-size 8 --repeats 3")
        equal("a second knob", got.status, 0)
        best = got.result["recommended"]
        equal("a second knob: kept", best["effective_batch"], 8)
        holds("a second knob: what is seen", got.err, "x 3 passes",
              "the effective batch is 3 times what is named")
    kept = os.listdir(place.path("home", "meanings"))
    # And this one, and those of a number of any name.
    check("no wrong reading is kept", len(kept) == len(MISREAD) + 4, kept)


def forgets(place):
    """A fresh tuning asks the program itself again."""
    kept = place.path("home", "meanings")
    before = len(os.listdir(kept))
    fresh = place.start(
        *"tune --device host --memory 4GiB --fresh --".split(),
        *[PYTHON, SCRIPT, "--meaning", "whole"],
        *"--batch-size 32 --accum-steps 4".split(),
    )
    check("--fresh forgets",
          lib.wait_for(lambda: len(os.listdir(kept)) < before))
    fresh.send_signal(signal.SIGINT)
    fresh.communicate()


def main():
    with lib.Place("meaning") as place:
        place.env = dict(place.env, OMP_NUM_THREADS="1")
        every_meaning(place)
        remembers(place)
        what_is_not_run_is_no_fit(place)
        no_sense(place)
        set_elsewhere(place)
        parts_of_a_size(place)
        no_optimizer(place)
        up_to_a_number_of_the_script(place)
        number_of_any_name(place)
        second_knob(place)
        pieces_of_any_name(place)
        batch_of_a_step_of_any_name(place)
        batch_size_of_any_name(place)
        forgets(place)
    lib.finish()


main()
