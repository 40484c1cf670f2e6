#!/usr/bin/env python3
# The effective batch is kept, and what is said of it holds.
# SPDX-License-Identifier: MIT
"""tune, explain and a launch answer one question: the best exact split of the
effective batch. What they say of the user's own size, of the limit, of a
command without accumulation and of the way to go on is true.
"""
import os
import re
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import check, equal, holds, lacks  # noqa: E402

# 1 MiB at rest and 2 MiB a sample.
MEMORY = ["--fixed-mib", "1", "--per-sample-kib", "2048"]
OPTIONS = ["--device", "host", "--headroom", "2MiB", "--confirm-steps", "3"]


def training(micro, accum=None):
    sizes = ["--batch-size", str(micro)]
    sizes += ["--grad-accum", str(accum)] if accum else []
    return [lib.TRAINER, *sizes, *MEMORY, "--steps", "5", "--step-ms", "10"]


def ask(place, how, memory, command, *options):
    words = [*([how] if how else []), *OPTIONS, "--memory", memory, *options]
    return place.run(*words, "--", *command)


def row_of(text, micro, accum):
    """The lines of a probe of this split: its row, and what is said below."""
    rows = re.findall(
        r"^ +%d +%d .*(?:\n {4}\S.*)*" % (micro, accum), text, re.MULTILINE
    )
    return rows[-1] if rows else ""


def too_large_without_accumulation():
    with lib.Place("keep") as place:
        command = training(24)
        tuned = ask(place, "tune", "40MiB", command)
        equal("too large: tune", tuned.status, 120)
        holds("too large: what would fit, and the option", tuned.err,
              "effective batch 24", r"micro-batch 1[6-9] fits",
              r"--effective-batch 1[6-9]")
        equal("too large: no record", tuned.result["record"]["id"], None)
        launched = ask(place, "", "40MiB", command)
        equal("too large: a launch says the same", launched.status, 120)
        explained = ask(place, "explain", "40MiB", command)
        holds("too large: and explain knows of no answer", explained.out,
              "none of this command")


def room_without_accumulation():
    with lib.Place("keep") as place:
        command = training(4)
        tuned = ask(place, "tune", "60MiB", command)
        equal("room: tune", tuned.status, 0)
        equal("room: kept", tuned.result["recommended"]["micro_batch"], 4)
        holds("room: why no other size, and what would be gained", tuned.err,
              "the command has no gradient accumulation",
              "would change your effective batch",
              r"about micro 2\d should fit \(predicted, not run\)", "--grow")
        lacks("room: not 'the best already'", tuned.err, "best already")
        bounded = ask(place, "tune", "60MiB", training(8), "--max-micro", "4")
        equal("no larger size than was asked for", bounded.status, 123)
        holds("no larger size: said", " ".join(bounded.err.split()),
              "no split of effective batch 8", "at most 4")


def own_size_does_not_fit():
    with lib.Place("keep") as place:
        tuned = ask(place, "tune", "26MiB", training(16, 4))
        equal("own size: tune", tuned.status, 0)
        best = tuned.result["recommended"]
        equal("own size: the split", (best["micro_batch"], best["grad_accum"]),
              (8, 8))
        yours = re.search(r"^  yours .*(\n {12}.*)*", tuned.err, re.MULTILINE)
        holds("own size: said of yours", yours[0] if yours else "",
              "16 x accum 4", r"over [0-9.]+ of 24\.0 MiB")
        lacks("own size: no factor and no rate", yours[0] if yours else "-",
              r"samples/s|\([0-9.]+x\)|fits")
        # Its last probe is in its row, which may be of another accumulation.
        probe = [p for p in tuned.probes if p["micro_batch"] == 16][-1]
        # In a cgroup of its own the kernel may be quicker, and says so.
        words = {"oom_host": "the kernel killed it for want of host memory"}
        holds("own size: the limit that was applied is over the rows",
              tuned.err, r"micro +accum +peak of 24\.0 MiB")
        holds("own size: its row says that it is over that",
              row_of(tuned.err, 16, probe["grad_accum"]),
              words.get(probe["verdict"], "your size: over the limit"))


def exact_splits_alone():
    """No probe is spent on a size that cannot be the answer."""
    with lib.Place("keep") as place:
        # 21 fit.
        tuned = ask(place, "tune", "46MiB", training(8, 8))
        equal("splits: tune", tuned.status, 0)
        equal("splits: the best one",
              tuned.result["recommended"]["micro_batch"], 16)
        micros = [p["micro_batch"] for p in tuned.probes]
        check("splits: every probe is of one", all(
            64 % micro == 0 for micro in micros), micros)
        check("splits: few", len(micros) <= 4, micros)
        largest = ask(place, "tune", "46MiB", training(8, 8), "--largest")
        equal("splits: the rest is searched where that is asked for",
              largest.result["largest_micro_batch"], 21)


def explain_is_the_launch():
    """The probe that explain names is the first that a launch makes; an answer
    that it names is used.
    """
    with lib.Place("keep") as place:
        rows = (
            ("nothing known", "26MiB", training(4, 4), (), None),
            ("a record", "26MiB", training(4, 4), (), "reused"),
            ("of less memory", "15MiB", training(4, 4), (), None),
            ("of another effective batch", "26MiB", training(3, 4), (), None),
            ("grown", "60MiB", training(4), ("--grow",), None),
            ("kept after it grew", "60MiB", training(4), (), None),
            ("kept again", "60MiB", training(4), (), "reused"),
            ("--fresh", "60MiB", training(4), ("--fresh",), None),
            ("--effective-batch", "60MiB", training(4, 2),
             ("--effective-batch", "24"), None),
        )
        for name, memory, command, options, outcome in rows:
            explained = ask(place, "explain", memory, command, *options)
            plan = explained.result["plan"]
            launched = ask(place, "", memory, command, *options)
            equal(name + ": starts", launched.status, 0)
            if outcome:
                equal(name + ": outcome", launched.result["outcome"], outcome)
                equal(name + ": no probe is named", plan["first_probe"], None)
                equal(name + ": the command", plan["final"]["argv"],
                      launched.result["recommended"]["argv"])
                continue
            named, made = plan["first_probe"], launched.probes[0]
            equal(name + ": the first probe",
                  (named["micro_batch"], named["grad_accum"]),
                  (made["micro_batch"], made["grad_accum"]))
            micro = re.search(r"the search starts at micro (\d+)",
                              launched.err)
            if micro:
                equal(name + ": said", int(micro[1]), made["micro_batch"])


KEYS = "train:\n  batch_size: 16\n  accumulate: 4\n"
READS_FILE = """\
import argparse, yaml
parser = argparse.ArgumentParser()
parser.add_argument("--config")
yaml.safe_load(open(parser.parse_args().config))
"""


def keys_of_a_file():
    with lib.Place("keep") as place:
        script = place.write("own.py", READS_FILE)
        config = place.write("c.yaml", KEYS)
        command = ["python3", script, "--config", config]
        for options in ((), ("--accum-flag", "train.accumulate"),
                        ("--micro-flag", "train.batch_size",
                         "--accum-flag", "accumulate")):
            explained = ask(place, "explain", "1GiB", command, *options)
            holds("keys: %s" % (options,), explained.out,
                  "effective batch 64 = 16 x 4 x 1")


def stopped_says_how_to_go_on():
    with lib.Place("keep") as place:
        command = training(16, 4)
        nightly = ["--fresh", "--max-probes", "1"]
        for night in (1, 2):
            stopped = ask(place, "tune", "26MiB", command, *nightly)
            equal("night %d: stopped" % night, stopped.status, 124)
            holds("night %d: the way to go on" % night, stopped.err,
                  "again without --fresh to resume")
        resumed = ask(place, "tune", "26MiB", command)
        equal("as told: ends", resumed.status, 0)
        equal("as told: no finished probe is repeated",
              resumed.result["probe_count"] + 1, len(resumed.probes))
        name = resumed.result["record"]["id"]
        words, _ = place.start("export", "args", name).communicate()
        equal("export by name needs no option of the tuning",
              words.decode().strip(), "--batch-size 8 --grad-accum 8")


TWO_CONSTANTS = """\
#!/bin/bash
BATCH=16
ACCUM=4
exec %s --batch-size $BATCH --grad-accum $ACCUM %s --steps 5 --step-ms 10
"""


def two_constants_of_a_shell_script():
    with lib.Place("keep") as place:
        script = place.write("train.sh", TWO_CONSTANTS % (
            lib.TRAINER, " ".join(MEMORY)), 0o755)
        asked = ask(place, "", "26MiB", [script])
        equal("constants: a launch asks", asked.status, 122)
        holds("constants: both lines, and the way", asked.err,
              r"train\.sh:2", r"train\.sh:3", "--edit-copy", "autofit tune")
        tuned = ask(place, "tune", "26MiB", [script])
        equal("constants: tune", tuned.status, 0)
        holds("constants: the lines to write", tuned.err,
              r"train\.sh:2: BATCH=8\b", r"train\.sh:3: ACCUM=8\b")
        copied = ask(place, "", "26MiB", [script], "--edit-copy")
        equal("constants: --edit-copy", copied.status, 0)
        holds("constants: the copy ran", copied.out, "micro 8 accum 8")
        with open(script, encoding="utf-8") as file:
            check("constants: the script is as it was",
                  "BATCH=16" in file.read())


FOLLOWS = """\
#!/bin/bash
BATCH=%s
ACCUM=$((64 / BATCH))
exec %s --batch-size $BATCH --grad-accum $ACCUM %s --steps 5 --step-ms 10
"""


def what_a_script_computes_follows_by_itself():
    rows = (
        # How the script says the batch; the command, and with the answer.
        ("${BATCH:-16}", [], {"BATCH": "8"}, []),
        ("$1", ["16"], {}, ["8"]),
    )
    for batch, words, variables, answer in rows:
        with lib.Place("keep") as place:
            text = FOLLOWS % (batch, lib.TRAINER, " ".join(MEMORY))
            script = place.write("train.sh", text, 0o755)
            ran = ask(place, "", "26MiB", [script, *words])
            equal(batch + ": a launch starts", ran.status, 0)
            holds(batch + ": as the script computes it", ran.out,
                  "micro 8 accum 8")
            best = ran.result["recommended"]
            equal(batch + ": nothing is to be written",
                  (best["env"], best["argv"]),
                  (variables, [script, *answer]))
            grown = ask(place, "", "26MiB", [script, *words], "--grow")
            equal(batch + ": another batch asks", grown.status, 122)
            holds(batch + ": for its line", grown.err, r"train\.sh:3")
            again = ask(place, "", "26MiB", [script, *words])
            equal(batch + ": and again", again.result["outcome"], "reused")
    with lib.Place("keep") as place:
        script = place.write("train.sh", FOLLOWS % (
            16, lib.TRAINER, " ".join(MEMORY)), 0o755)
        tuned = ask(place, "tune", "26MiB", [script])
        holds("one line: to write", tuned.err, r"train\.sh:2: BATCH=8\b")
        lacks("one line: the other follows", tuned.err, r"train\.sh:3")
        copied = ask(place, "", "26MiB", [script], "--edit-copy")
        holds("one line: the copy ran", copied.out, "micro 8 accum 8")


def refusal_of_srun():
    with lib.Place("keep") as place:
        place.write("epoch-1.ckpt", "weights\n")
        tool = place.write("srun", "#!/bin/sh\nexec \"$@\"\n", 0o755)
        # On a GPU: host memory of what it starts is refused before that.
        refused = place.run(
            "--device", "cuda", "--", tool, "--ntasks", "1", *training(4),
            env={"LD_LIBRARY_PATH": os.path.join(os.environ["BUILD"], "sim"),
                 "AUTOFIT_SIM_DEVICES": "Sim:24G:500M", "SLURM_JOB_ID": "7",
                 "AUTOFIT_SIM_STATE": place.path("sim")})
        equal("srun: refused", refused.status, 123)
        holds("srun: for the checkpoint, and why nothing keeps it",
              refused.err, r"epoch-1\.ckpt", r"what srun starts .*outside")
        lacks("srun: nothing that was not given", refused.err,
              r"--isolation\s+compare\s+was\s+given")


def main():
    too_large_without_accumulation()
    room_without_accumulation()
    own_size_does_not_fit()
    exact_splits_alone()
    explain_is_the_launch()
    keys_of_a_file()
    stopped_says_how_to_go_on()
    two_constants_of_a_shell_script()
    what_a_script_computes_follows_by_itself()
    refusal_of_srun()
    lib.finish()


if __name__ == "__main__":
    main()
