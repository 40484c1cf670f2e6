#!/usr/bin/env python3
# A run that is requeued or resumed keeps the split of its first start.
# SPDX-License-Identifier: MIT
"""What is recorded meanwhile for the same command does not change a run under
way, unless its first split no longer fits.
"""
import os
import shutil
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import check, equal  # noqa: E402

# The trainer knows no --resume: its script takes that away.
SCRIPT = """\
#!/bin/sh
for word; do
	shift
	case $skip$word in
	--resume | --resume_from_checkpoint) skip=skip- ;;
	--resume=* | resume=*) ;;
	skip-*) skip= ;;
	*) set -- "$@" "$word" ;;
	esac
done
exec "$TRAINER" "$@"
"""
SIZES = (
    ["--batch-size", "2", "--grad-accum", "8", "--steps", "5"]
    + ["--step-ms", "20"]
    # 8 samples need 17 MiB.
    + ["--fixed-mib", "1", "--per-sample-kib", "2048"]
)
OPTIONS = ["--device", "host", "--headroom", "2MiB", "--confirm-steps", "3"]
USUAL = ["--memory", "26MiB"]  # 8 fit
MORE = ["--memory", "42MiB"]  # 16 fit
LESS = ["--memory", "15MiB"]  # 4 fit


def job(number, restarts=None, cluster=None):
    env = {"SLURM_JOB_ID": str(number)}
    if restarts is not None:
        env["SLURM_RESTART_COUNT"] = str(restarts)
    if cluster:
        env["SLURM_CLUSTER_NAME"] = cluster
    return env


class Run:
    """One command in a place of its own."""

    def __init__(self, place):
        self.place = place
        self.script = place.write("train.sh", SCRIPT, 0o755)
        place.env["TRAINER"] = lib.TRAINER

    def start(self, memory, *words, env=None, options=()):
        return self.place.run(
            *OPTIONS, *memory, *options, "--", self.script, *SIZES, *words,
            env=env,
        )

    def tune(self, memory):
        """What others record meanwhile; nothing is run."""
        answer = self.place.run(
            "tune", *OPTIONS, *memory, "--", self.script, *SIZES
        )
        check("recorded meanwhile", answer.status == 0, answer)

    def call(self, *words):
        process = self.place.start(*words)
        out, err = process.communicate(timeout=lib.PATIENCE)
        return process.returncode, (out + err).decode()

    def forget_records(self):
        shutil.rmtree(self.place.path("home", "records"), ignore_errors=True)


def runs(name, answer, micro, outcome):
    """The command ran with that micro-batch."""
    result = answer.result
    if not check(name + ": works", answer.status == 0 and result, answer):
        return
    equal(
        name + ": split",
        answer.out.splitlines()[-1:],
        ["done: micro %d accum %d steps 5" % (micro, 16 // micro)],
    )
    equal(name + ": outcome", result["outcome"], outcome)
    if outcome == "reused":
        equal(name + ": no probe", result["probe_count"], 0)


def kept(name, answer, says):
    runs(name, answer, 8, "reused")
    lines = answer.err.splitlines()
    check(
        name + ": one line says why",
        len(lines) == 1 and "first start" in lines[0] and says in lines[0],
        answer.err,
    )


def requeued(run):
    runs("first start", run.start(USUAL, env=job(7)), 8, "tuned")
    # More memory by now, and another record for that.
    run.tune(MORE)
    answer = run.start(MORE, env=job(7, 1))
    kept("requeued", answer, "requeued")
    kept("requeued again", run.start(MORE, env=job(7, 2)), "requeued")
    runs("another job", run.start(MORE, env=job(8)), 16, "reused")
    # Its own first start is another one's.
    runs("its requeue", run.start(USUAL + ["--max-micro", "16"],
                                  env=job(8, 1)), 8, "tuned")
    kept("the first one still", run.start(MORE, env=job(7, 3)), "requeued")
    runs("requeued, never seen", run.start(MORE, env=job(9, 1)), 16, "reused")
    runs("not requeued", run.start(MORE, env=job(7, 0)), 16, "reused")
    runs("--fresh", run.start(MORE, env=job(7, 1), options=["--fresh"]), 16,
         "tuned")


def without_records(run):
    runs("first start", run.start(USUAL, env=job(7)), 8, "tuned")
    run.forget_records()
    kept("requeued without a record", run.start(USUAL, env=job(7, 1)),
         "requeued")
    explained = run.place.run("explain", *OPTIONS, *USUAL, "--", run.script,
                              *SIZES, env=job(7, 1))
    lib.holds("explain says so", explained.out, "first start", "requeued")
    tuned = run.place.run("tune", *OPTIONS, *USUAL, "--", run.script, *SIZES,
                          env=job(7, 1))
    equal("tune tunes all the same", tuned.result["outcome"], "tuned")


def does_not_fit(run):
    runs("first start", run.start(USUAL, env=job(7)), 8, "tuned")
    answer = run.start(LESS, env=job(7, 1))
    runs("requeued with too little memory", answer, 4, "tuned")


def lowered(run):
    """It ran out of memory later: that split is not to be kept."""
    runs("first start", run.start(USUAL, env=job(7)), 8, "tuned")
    status, text = run.call("lower", *OPTIONS, *USUAL, "--", run.script,
                            *SIZES)
    check("lowered", status == 0, text)
    answer = run.start(USUAL, env=job(7, 1))
    micro = answer.result["recommended"]["micro_batch"]
    check(
        "requeued after lower: a smaller split",
        answer.status == 0 and micro < 8,
        answer,
    )


def resumed(run):
    runs("first start", run.start(USUAL), 8, "tuned")
    run.tune(MORE)
    for words in (
        ["--resume", "ckpt.pt"],
        ["--resume=ckpt.pt"],
        ["resume=ckpt.pt"],
        ["--resume_from_checkpoint", "runs/a/checkpoint-9"],
    ):
        kept("resumed by " + words[0], run.start(MORE, *words),
             "resumes a run")
    runs("not resumed", run.start(MORE), 16, "reused")
    # That was a first start of its own.
    answer = run.start(MORE, "--resume", "ckpt.pt")
    runs("resumed after that", answer, 16, "reused")


def resumes_nothing(run):
    """Nothing is known of its first start, or it resumes nothing."""
    answer = run.start(USUAL, "--resume", "ckpt.pt")
    runs("resumed, never seen", answer, 8, "tuned")
    run.tune(MORE)
    answer = run.start(MORE, "--resume=false")
    check(
        "--resume=false resumes nothing",
        answer.status == 0 and "first start" not in answer.err,
        answer,
    )


def other_command(run):
    """Another script or other sizes are another run."""
    runs("first start", run.start(USUAL), 8, "tuned")
    answer = run.start(USUAL, "--resume", "ckpt.pt", "--step-ms", "1")
    check(
        "with another argument: another run",
        answer.status == 0 and "first start" not in answer.err,
        answer,
    )


def hostile_starts(run):
    """Whatever stands in the files of first starts: only numbers, checked."""
    runs("first start", run.start(USUAL, env=job(7)), 8, "tuned")
    folder = run.place.path("home", "starts")
    files = [os.path.join(folder, name) for name in os.listdir(folder)]
    check("it is kept", files)
    texts = {}
    for path in files:
        with open(path, encoding="utf-8") as file:
            texts[path] = file.read()
    for name, change in (
        ("empty", lambda text: ""),
        ("cut", lambda text: text[: len(text) // 2]),
        ("micro 0", lambda text: text.replace("micro_batch = 8",
                                              "micro_batch = 0")),
        ("micro huge", lambda text: text.replace("micro_batch = 8",
                                                 "micro_batch = 99999999")),
        ("junk", lambda text: "\x00\xff" * 5000),
    ):
        for path in files:
            with open(path, "w", encoding="utf-8") as file:
                file.write(change(texts[path]))
        answer = run.start(USUAL, env=job(7, 1))
        runs("a file that is %s" % name, answer, 8, "reused")
        lib.lacks("a file that is %s: not used" % name, answer.err,
                  "first start")
    for path in files:
        with open(path, "w", encoding="utf-8") as file:
            file.write(texts[path])
        os.chmod(path, 0o666)
    answer = run.start(USUAL, env=job(7, 1))
    lib.lacks("a file that all may write to: not used", answer.err,
              "first start")


def main():
    for scenario in (
        requeued,
        without_records,
        does_not_fit,
        lowered,
        resumed,
        resumes_nothing,
        other_command,
        hostile_starts,
    ):
        with lib.Place("resume") as place:
            scenario(Run(place))
    lib.finish()


if __name__ == "__main__":
    main()
