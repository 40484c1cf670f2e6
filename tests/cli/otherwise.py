#!/usr/bin/env python3
# With --otherwise run every failing outcome starts the command as given.
# SPDX-License-Identifier: MIT
"""print_state prints all that a program inherits: after autofit it is what a
plain start has. Without the option the exit code is the documented one, and
nothing is started.
"""
import collections
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import check, equal  # noqa: E402

HELPERS = os.environ["HELPERS"]
STATUS = 42
HOST = ["--device", "host", "--memory", "64MiB", "--headroom", "4MiB"]
SIZES = ["--batch-size", "4", "--grad-accum", "4", "--steps", "20"]
LINE = r"starting the command (exactly )?as given \(--otherwise run\)$"

# An outcome: its exit code, options of autofit, the gate's word, arguments of
# the command, variables, and what is to be there before.
Row = collections.namedtuple(
    "Row", "name code options gate words env prepare outcome"
)


def row(name, code, *options, **more):
    fields = {
        "gate": "pass",
        "words": SIZES,
        "env": {},
        "prepare": None,
        "outcome": None,
    }
    fields.update(more)
    return Row(name, code, [*options], **fields)


def put_checkpoint(place):
    place.write("epoch-1.ckpt", "weights\n")


def put_broken_options(place):
    place.write(".autofit.ini", "[autofit]\nmax-micro = many\n")


def put_login_node(place):
    place.write("slurm.conf", "ClusterName=test\n")


def put_file_for_home(place):
    place.write("a-file", "")


RANK = {"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "1"}
TINY = ["--device", "host", "--memory", "3MiB", "--headroom", "1MiB"]
ROWS = (
    row("nothing fits", 120, *TINY, outcome="nothing_fits"),
    row("fails in probes", 121, *HOST, gate="fail", outcome="command_failed"),
    row(
        "not recognised",
        122,
        *HOST,
        words=["--steps", "20"],
        outcome="not_recognised",
    ),
    row("one of several ranks", 123, *HOST, env=RANK, outcome="refused"),
    row(
        "a checkpoint, and nothing keeps probes from it",
        123,
        *HOST,
        "--isolation",
        "compare",
        prepare=put_checkpoint,
        outcome="refused",
    ),
    row(
        "a login node",
        123,
        env={"SLURM_CONF": "/PLACE/slurm.conf"},
        prepare=put_login_node,
        outcome="refused",
    ),
    row(
        "time limit with nothing tested",
        124,
        *HOST,
        "--time-limit",
        "1s",
        gate="hang",
        outcome="time_limit",
    ),
    # These end before there is a result.
    row("wrong value", 125, *HOST, "--max-micro", "many"),
    row("unknown option", 125, *HOST, "--no-such-option"),
    row("unknown option with a value", 125, *HOST, "--no-such-option=3"),
    row("broken options file", 125, *HOST, prepare=put_broken_options),
    row("broken variable", 125, *HOST, env={"AUTOFIT_MAX_MICRO": "many"}),
    row(
        "no place for its state",
        125,
        *HOST,
        env={"AUTOFIT_HOME": "/PLACE/a-file/home"},
        prepare=put_file_for_home,
        outcome="error",
    ),
    row("no such record", 125, *HOST, "--from", "/no/such/record.ini"),
)

# How the caller may be: words of state_enter.c.
PLAIN = []
STRANGE = (
    "close=0 open=7 keep=9 pipe=1 nonblock=1 ignore=13 ignore=1 default=17 "
    "block=10 pend=12 umask=027 subreaper=1 limit=7:128 limit=3:1048576 "
    "nice=3 slack=70000 session=1"
).split()
CLOSED = "close=0 close=1 ignore=17 block=15 umask=077 folder=/".split()


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def raise_oom_score():
    with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("300")


class Comparison:
    """One row in a place of its own."""

    def __init__(self, place, about):
        self.place = place
        self.about = about
        if about.prepare:
            about.prepare(place)
        # A plain start finds its folder as it is, and so does autofit.
        self.env = dict(
            place.env,
            STATE_EXIT=str(STATUS),
            ODD=" a b \t'\"\u00e9\n= ",
            EMPTY="",
        )
        for name, value in about.env.items():
            self.env[name] = value.replace("/PLACE", place.folder)

    def command(self):
        state = ["--state", self.place.path("state")]
        words = ["two words", "", "\n", "--text=\u00e9 'x'", *self.about.words]
        return (
            [os.path.join(HELPERS, "probe_gate"), self.about.gate]
            + [os.path.join(HELPERS, "print_state"), *state, *words]
        )

    def start(self, caller, words, env=None, result=None):
        """(status, state or None, stdout, stderr); bare without words"""
        path = self.place.path("state")
        if os.path.exists(path):
            os.unlink(path)
        options = ["--json", result] if result else []
        before = []
        if words is not None:
            before = [lib.AUTOFIT, *options, *words, "--"]
        enter = [os.path.join(HELPERS, "state_enter"), *caller, "--"]
        with open(self.place.path("input"), "w+", encoding="ascii") as stdin:
            done = subprocess.run(
                [*enter, *before, *self.command()],
                cwd=self.place.folder,
                env=dict(self.env, **(env or {})),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                preexec_fn=raise_oom_score,
                timeout=lib.PATIENCE,
                check=False,
            )
        state = None
        if os.path.exists(path):
            with open(path, encoding="utf-8", errors="replace") as file:
                state = file.read().splitlines()
        return done.returncode, state, done.stdout, done.stderr.decode(
            errors="replace"
        )

    def starts_nothing(self):
        report = self.place.path("stop.json")
        words = [*self.about.options]
        status, state, out, err = self.start(PLAIN, words, result=report)
        name = self.about.name
        equal(name + ": exit", status, self.about.code)
        check(name + ": nothing is started", state is None and out == b"", err)
        check(name + ": says why", "autofit: " in err, err)
        lib.lacks(name + ": no word of a start", err, LINE)
        if self.about.outcome:
            result = read_json(report)
            equal(name + ": outcome", result["outcome"], self.about.outcome)
            equal(name + ": starts", result["starts"], None)

    def same(self, how, caller, words, env=None):
        """Env is of both starts: it is the command's as well."""
        name = "%s, %s: " % (self.about.name, how)
        bare = self.start(caller, None, env=env)
        report = None if caller else self.place.path("run.json")
        got = self.start(caller, words, env=env, result=report)
        equal(name + "the command's own status", got[0], bare[0])
        equal(name + "what it prints", got[2], bare[2])
        if not check(name + "started", got[1] is not None, got[3]):
            return
        changed = [
            "- %s" % line for line in bare[1] if line not in got[1]
        ] + ["+ %s" % line for line in got[1] if line not in bare[1]]
        check(
            name + "all it inherits",
            got[1] == bare[1],
            "\n".join(changed) or "another order",
        )
        told = [x for x in got[3].splitlines() if re.search(LINE, x)]
        check(name + "one line says so", len(told) == 1, got[3])
        if report and self.about.outcome:
            result = read_json(report)
            equal(name + "outcome", result["outcome"], self.about.outcome)
            equal(name + "starts", result["starts"], "as_given")

    def ways(self):
        options = self.about.options
        flag = ["--otherwise", "run", *options]
        self.same("flag", PLAIN, flag)
        self.same("strange caller", STRANGE, flag)


def variable_and_file():
    """The two other places where the option can stand."""
    about = row("fails in probes", 121, *HOST, gate="fail",
                outcome="command_failed")
    run = {"AUTOFIT_OTHERWISE": "run"}
    with lib.Place("otherwise") as place:
        comparison = Comparison(place, about)
        comparison.same("variable", PLAIN, about.options, env=run)
    with lib.Place("otherwise") as place:
        place.write(".autofit.ini", "[autofit]\notherwise = run\n")
        Comparison(place, about).same("project's file", PLAIN, about.options)
    with lib.Place("otherwise") as place:
        place.write("home/config/autofit.ini", "[autofit]\notherwise = run\n")
        Comparison(place, about).same("user's file", PLAIN, about.options)
    # A line that cannot be read does not hide what the others say.
    wrong = row("wrong value", 125, *HOST, "--max-micro", "many")
    with lib.Place("otherwise") as place:
        Comparison(place, wrong).same("variable", PLAIN, wrong.options, env=run)
    with lib.Place("otherwise") as place:
        Comparison(place, wrong).same(
            "closed", CLOSED, ["--otherwise=run", *wrong.options]
        )


def stop_wins():
    """The flag is stronger than the variable, and nothing is started."""
    with lib.Place("otherwise") as place:
        about = row("fails in probes", 121, *HOST, gate="fail")
        comparison = Comparison(place, about)
        comparison.env["AUTOFIT_OTHERWISE"] = "run"
        status, state, _, err = comparison.start(
            PLAIN, ["--otherwise", "stop", *about.options]
        )
        equal("stop wins: exit", status, 121)
        check("stop wins: nothing is started", state is None, err)


def not_for_tune():
    """tune runs nothing, whatever comes of it."""
    with lib.Place("otherwise") as place:
        about = row("fails in probes", 121, *HOST, gate="fail")
        comparison = Comparison(place, about)
        comparison.env["AUTOFIT_OTHERWISE"] = "run"
        for words in (["tune", *HOST], ["explain", *HOST, "--no-such"]):
            status, state, _, err = comparison.start(PLAIN, words)
            check(
                "%s: nothing is started" % words[0],
                state is None and status in (121, 125),
                "%d %s" % (status, err),
            )


WRITER = """
import os
with open("weights.h5", "r+b") as file:
    file.write(b"broken")
print("a probe" if "AUTOFIT_PROBE" in os.environ else "the run", flush=True)
for step in range(5):
    print("step %d" % step, flush=True)
"""


def never_on_damage():
    """A probe has changed what the run would resume from."""
    with lib.Place("otherwise") as place:
        place.write("train.py", WRITER)
        place.write("weights.h5", "before\n")
        answer = place.run(
            "--otherwise", "run", *HOST, "--isolation", "compare", "--",
            sys.executable, "train.py", "--batch-size", "4",
            "--grad-accum", "4",
        )
        equal("damage: exit", answer.status, 123)
        equal("damage: nothing is started", answer.out, "")
        with open(place.path("weights.h5"), encoding="ascii") as file:
            equal("damage: it is put back", file.read(), "before\n")
        equal("damage: starts", answer.result["starts"], None)
        lib.holds("damage: the file is named", answer.err, r"weights\.h5")


def by_signal():
    """A command that dies by a signal is seen to do so."""
    with lib.Place("otherwise") as place:
        about = row("fails in probes", 121, *HOST, gate="fail")
        comparison = Comparison(place, about)
        comparison.env["STATE_SIGNAL"] = "11"
        status = comparison.start(PLAIN, ["--otherwise=run", *HOST])[0]
        equal("by its own signal", status, -11)


def main():
    for about in ROWS:
        with lib.Place("otherwise") as place:
            comparison = Comparison(place, about)
            comparison.starts_nothing()
            comparison.ways()
    variable_and_file()
    stop_wins()
    not_for_tune()
    never_on_damage()
    by_signal()
    lib.finish()


if __name__ == "__main__":
    main()
