#!/usr/bin/env python3
# Which change of a command costs no probe, one probe, or a new tuning.
# SPDX-License-Identifier: MIT
# CTEST COST 30
"""A script with a local module, and a stand-in for torch where the version
changes; the same with PyTorch itself where there is one.
"""
import contextlib
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import MIB, check, equal  # noqa: E402

sys.path.append(os.path.join(os.path.dirname(__file__), "helpers"))

from exactness_torch import Cgroup  # noqa: E402
from starts import read  # noqa: E402

PYTHON = "/usr/bin/python3"
FAKE_TORCH = os.path.join(lib.DATA, "hook_fake_torch")
MEMORY = ["--memory", "100MiB"]
OPTIONS = ["--device", "host", "--headroom", "8MiB", "--confirm-steps", "4"]

# 8 MiB a sample, of which the module decides: 8 samples fit, 16 do not.
SCRIPT = """\
import argparse, time
import torch
from local_model import hold
parser = argparse.ArgumentParser()
parser.add_argument("--batch_size", type=int, default=8)
parser.add_argument("--grad_accum", type=int, default=1)
parser.add_argument("--seq_len", type=int, default=128)
parser.add_argument("--seed", type=int)
parser.add_argument("--lr", type=float)
parser.add_argument("--output_dir")
parser.add_argument("--max_steps", type=int, default=6)
args = parser.parse_args()
held = hold(args.batch_size)
optimizer = torch.optim.SGD([object()])
for step in range(args.max_steps):
    optimizer.step()
    time.sleep(0.01)
print("done: micro %d accum %d" % (args.batch_size, args.grad_accum))
"""
MODULE = """\
# Part of the model.
def hold(samples):
    return bytearray(b"x") * (samples * %d << 20)
"""
ARGUMENTS = {
    "--batch_size": "2",
    "--grad_accum": "8",
    "--seq_len": "128",
    "--seed": "1",
    "--lr": "0.1",
    "--output_dir": "runs/a",
    "--max_steps": "6",
}


class Project:
    """A folder with the script, its module and a torch; and its records."""

    def __init__(self, place):
        self.place = place
        self.script = place.write("train.py", SCRIPT)
        self.module(8)
        shutil.copytree(FAKE_TORCH, place.path("packages"))
        init = place.path("packages", "torch", "__init__.py")
        place.write("packages/torch/__init__.py",
                    read(init) + "from .version import __version__\n")
        self.torch("2.1.0")
        place.env["PYTHONPATH"] = place.path("packages")

    def module(self, mib, comment=""):
        self.place.write("local_model.py", comment + MODULE % mib)

    def torch(self, version):
        self.place.write(
            "packages/torch/version.py", "__version__ = '%s'\n" % version
        )

    def command(self, **changes):
        arguments = dict(ARGUMENTS)
        for name, value in changes.items():
            arguments["--" + name] = value
        words = [word for pair in arguments.items() for word in pair]
        return [PYTHON, self.script, *words]

    def run(self, *options, memory=None, **changes):
        return self.place.run(
            *OPTIONS, *(memory or MEMORY), *options, "--",
            *self.command(**changes)
        )

    def call(self, *words):
        """A sub-command: (status, stdout, stderr)."""
        process = self.place.start(*words)
        out, err = process.communicate(timeout=lib.PATIENCE)
        return process.returncode, out.decode(), err.decode()

    def saved(self):
        shutil.rmtree(self.place.path("saved"), ignore_errors=True)
        shutil.copytree(self.place.path("home"), self.place.path("saved"))

    def restore(self):
        """Everything as it was after the first tuning."""
        shutil.rmtree(self.place.path("home"), ignore_errors=True)
        shutil.copytree(self.place.path("saved"), self.place.path("home"))
        self.module(8)
        self.torch("2.1.0")


def is_reused(name, answer, grade, probes, micro=8):
    result = answer.result
    if not check(name + ": works", answer.status == 0 and result, answer):
        return
    got = (result["outcome"], result["record"]["grade"], result["probe_count"])
    check(
        "%s: %s, %d probes" % (name, grade, probes),
        got == ("reused", grade, probes),
        "%s\n%s" % (got, answer),
    )
    runs_with(name, answer, micro)


def runs_with(name, answer, micro, effective=16):
    equal(
        "%s: runs with %d" % (name, micro),
        answer.out.splitlines()[-1:],
        ["done: micro %d accum %d" % (micro, effective // micro)],
    )


def is_tuned(name, answer, micro, grade):
    result = answer.result
    if not check(name + ": works", answer.status == 0 and result, answer):
        return
    got = (result["outcome"], result["record"]["grade"])
    check(
        "%s: a new tuning" % name,
        got == ("tuned", grade) and result["probe_count"] > 0,
        "%s\n%s" % (got, answer),
    )
    runs_with(name, answer, micro)


def one_line(name, answer, *words):
    """Reuse is one line of autofit's, and it holds these words."""
    lines = [x for x in answer.err.splitlines() if x.startswith("autofit: ")]
    told = [x for x in lines if all(word in x for word in words)]
    check("%s: one line says %s" % (name, ", ".join(words)),
          len(told) == 1, answer.err)


# ------------------------------------------------------------- no probe

def neutral_changes(project):
    for changes in (
        {"seed": "2"},
        {"lr": "0.5"},
        {"output_dir": "runs/b"},
        {"max_steps": "7"},
        {"seed": "3", "lr": "1e-4", "output_dir": "/dev/null"},
        # Another split of the same effective batch is the same question.
        {"batch_size": "4", "grad_accum": "4"},
    ):
        answer = project.run(**changes)
        name = "changed " + ", ".join(changes)
        is_reused(name, answer, "exact", 0)
        equal(name + ": one line", answer.err.count("\n"), 1)
    project.module(8)
    os.utime(project.place.path("local_model.py"), (1, 1))
    is_reused("module touched", project.run(), "exact", 0)


# ------------------------------------------------------------ one probe

def near_changes(project):
    def sequence():
        return {"seq_len": "256"}

    def comment():
        project.module(8, "# Only a comment.\n")
        return {}

    def version():
        project.torch("2.2.0")
        return {}

    def script():
        project.place.write("train.py", SCRIPT + "# The end.\n")
        return {}

    for name, change, says in (
        ("longer sequences", sequence, "seq_len"),
        ("edited module", comment, "local_model.py"),
        ("other torch", version, "torch"),
        ("edited script", script, "train.py"),
    ):
        project.restore()
        changes = change()
        answer = project.run(**changes)
        is_reused(name, answer, "near", 1)
        one_line(name, answer, "near", says)
        equal(
            name + ": the probe is of that split",
            answer.probes[-1]["micro_batch"] if answer.probes else 0,
            8,
        )
        again = project.run(**changes)
        is_reused(name + ", again", again, "exact", 0)
        project.place.write("train.py", SCRIPT)


def other_memory(project):
    for name, mib, micro in (
        ("needs more", 16, 4),
        ("needs less", 4, 16),
    ):
        project.restore()
        project.module(mib)
        answer = project.run()
        is_tuned("module " + name, answer, micro, "near")
        again = project.run()
        is_reused("module %s, again" % name, again, "exact", 0, micro)


def other_place(project):
    project.restore()
    answer = project.run(memory=["--memory", "60MiB"])
    is_tuned("other --memory", answer, 4, "hint")
    lib.holds("other --memory: says so", answer.err, "--memory")
    # As before.
    is_reused("the first --memory again", project.run(), "exact", 0)
    answer = project.run(grad_accum="16")
    check(
        "other effective batch: a new tuning",
        answer.status == 0 and answer.result["outcome"] == "tuned"
        and answer.result["record"]["grade"] == "hint",
        answer,
    )
    runs_with("other effective batch", answer, 8, 32)


# -------------------------------------------------------------- options

def options_of_records(project):
    project.restore()
    answer = project.run("--trust-record", seq_len="256")
    is_reused("--trust-record", answer, "near", 0)
    one_line("--trust-record", answer, "near", "seq_len")
    # It was not checked: the next start without it does so.
    is_reused("after --trust-record", project.run(seq_len="256"), "near", 1)

    project.restore()
    answer = project.run("--no-probe", seq_len="256")
    equal("--no-probe on near: as given", answer.result["outcome"], "as_given")
    runs_with("--no-probe on near", answer, 2)
    is_reused("--no-probe on exact", project.run("--no-probe"), "exact", 0)

    answer = project.run("--fresh")
    is_tuned("--fresh", answer, 8, None)
    check("--fresh: all probes anew", answer.result["probe_count"] >= 2)

    records = os.listdir(project.place.path("home", "records"))
    given = project.place.path("given.ini")
    shutil.copy(project.place.path("home", "records", records[0]), given)
    os.chmod(given, 0o600)
    for name, changes, grade, probes in (
        ("--from", {"seed": "9"}, "exact", 0),
        ("--from, near", {"seq_len": "256"}, "near", 1),
    ):
        shutil.rmtree(project.place.path("home"))
        answer = project.run("--from", given, **changes)
        is_reused(name, answer, grade, probes)


def explained(project):
    project.restore()
    for name, options, changes, words in (
        ("exact", [], {}, ["exact"]),
        ("near", [], {"seq_len": "256"}, ["near", "seq_len 256", "was 128"]),
        ("--fresh", ["--fresh"], {}, ["fresh"]),
    ):
        answer = project.place.run(
            "explain", *OPTIONS, *MEMORY, *options, "--",
            *project.command(**changes)
        )
        equal("explain, %s: exit" % name, answer.status, 0)
        lib.holds("explain, %s: says so" % name, answer.out, *words)
        equal(
            "explain, %s: grade" % name,
            answer.result["record"]["grade"],
            name if name in ("exact", "near") else None,
        )
        equal("explain, %s: no probe" % name, answer.result["probe_count"], 0)
    project.module(8, "# A comment.\n")
    answer = project.place.run(
        "explain", *OPTIONS, *MEMORY, "--", *project.command()
    )
    lib.holds("explain, edited module: names it", answer.out, "near",
              r"local_model\.py changed")
    project.module(8)
    project.place.write("train.py", SCRIPT + "# A comment.\n")
    answer = project.place.run(
        "explain", *OPTIONS, *MEMORY, "--", *project.command()
    )
    equal("explain, edited script: named once",
          answer.result["record"]["difference"].count("train.py changed"), 1)
    project.place.write("train.py", SCRIPT)
    answer = project.place.run(
        "explain", *OPTIONS, "--memory", "60MiB", "--", *project.command()
    )
    lib.holds("explain, other --memory: names it", answer.out, "hint",
              "--memory")


def lowered(project):
    project.restore()
    command = [*OPTIONS, *MEMORY, "--", *project.command()]
    tested = {p["micro_batch"] for p in project.run().probes
              if p["verdict"] == "fits"}
    smaller = sorted(m for m in tested if m < 8 and 16 % m == 0)
    check("lower: a smaller split was tested", smaller, tested)
    status, out, err = project.call("lower", *command)
    equal("lower: exit", status, 0)
    lib.holds("lower: says what", out + err, "lowered",
              "micro %d" % smaller[-1])
    is_reused("lower: the next start", project.run(), "exact", 0, smaller[-1])
    status = 0
    for _ in smaller:
        status, out, err = project.call("lower", *command)
    equal("lower to the end: exit", status, 120)
    lib.holds("lower to the end: says what to do", out + err, "--max-micro")
    status, out, err = project.call("forget", *command)
    equal("forget: exit", status, 0)
    answer = project.run("--max-micro", "4")
    is_tuned("forget: the next start", answer, 4, None)


# ---------------------------------------------------- what is free now

class Ballast:
    """A process that holds memory in a group."""

    def __init__(self, group, mib):
        code = ("import sys; held = bytearray(b'x') * (%d << 20); "
                "print(len(held), flush=True); sys.stdin.read()" % mib)
        self.process = subprocess.Popen(
            group.wrap([PYTHON, "-c", code]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.process.stdout.readline()

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


@contextlib.contextmanager
def group_of(limit):
    group = Cgroup("autofit-identity-%d" % os.getpid(), limit)
    try:
        yield group
    finally:
        group.remove()


def less_is_free(project):
    """In a group whose memory another process holds: the smaller split."""
    try:
        with group_of(400 * MIB) as group:
            less_is_free_in(project, group)
    except OSError as error:
        print("less free: left out, %s" % error, flush=True)


def run_in(project, group, report):
    path = project.place.path(report)
    done = subprocess.run(
        group.wrap([lib.AUTOFIT, "--json", path, *OPTIONS, *MEMORY, "--",
                    *project.command()]),
        cwd=project.place.folder,
        env=project.place.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=lib.PATIENCE,
        check=False,
    )
    result = lib.json.loads(read(path) or "null")
    return lib.Answer(done.returncode, done.stdout.decode(),
                      done.stderr.decode(), result)


def less_is_free_in(project, group):
    project.restore()
    shutil.rmtree(project.place.path("home"))
    answer = run_in(project, group, "free-1.json")
    is_tuned("in a group", answer, 8, None)
    peaks = {p["micro_batch"]: p["peak_bytes"] for p in answer.probes
             if p["verdict"] == "fits" and not p["peak_is_lower_bound"]}
    smaller = sorted(m for m in peaks if m < 8)
    if not check("in a group: a smaller split was tested", smaller, peaks):
        return
    # Room for the smaller one and not for the recorded one.
    room = (peaks[smaller[-1]] + peaks[8]) // 2 + 8 * MIB
    ballast = Ballast(group, 400 - room // MIB - 8)
    try:
        answer = run_in(project, group, "free-2.json")
    finally:
        ballast.end()
    is_reused("less is free", answer, "exact", 0, smaller[-1])
    one_line("less is free", answer, "free now")
    answer = run_in(project, group, "free-3.json")
    is_reused("free again: as recorded", answer, "exact", 0, 8)


# ------------------------------------------------------------- with torch

TORCH_SCRIPT = SCRIPT.replace(
    "held = hold(args.batch_size)\n"
    "optimizer = torch.optim.SGD([object()])\n",
    "held = hold(args.batch_size)\n"
    "weights = torch.ones(8, requires_grad=True)\n"
    "optimizer = torch.optim.SGD([weights], lr=0.1)\n",
).replace("    optimizer.step()\n", "    weights.sum().backward()\n"
          "    optimizer.step()\n")


def with_torch():
    if not lib.has_modules(PYTHON, "torch"):
        print("with torch: left out, there is none", flush=True)
        return
    with lib.Place("identity") as place:
        project = Project(place)
        place.env["OMP_NUM_THREADS"] = "1"
        del place.env["PYTHONPATH"]
        project.script = place.write("train.py", TORCH_SCRIPT)
        # Of samples; PyTorch itself takes what it takes.
        project.module(24)
        memory = ["--memory", "2GiB", "--max-micro", "8"]
        answer = project.run(memory=memory)
        if not check("torch: tunes", answer.status == 0, answer):
            return
        equal("torch: steps", answer.result["evidence"]["steps_source"],
              "hook")
        answer = project.run(memory=memory, seed="5", lr="3", output_dir="x")
        is_reused("torch, neutral changes", answer, "exact", 0)
        project.module(24, "# Only a comment.\n")
        answer = project.run(memory=memory)
        is_reused("torch, edited module", answer, "near", 1)
        one_line("torch, edited module", answer, "local_model.py")
        answer = project.run(memory=memory)
        is_reused("torch, edited module, again", answer, "exact", 0)


def stamps_are_few(project):
    """Files of the record: the module and the version, not the packages."""
    records = os.listdir(project.place.path("home", "records"))
    text = read(project.place.path("home", "records", records[0]))
    stamps = re.findall(r"(?m)^stamps = \d+:(.*(?:\n  .*)*)", text)
    check("stamps: the local module", any("local_model.py" in x
                                          for x in stamps), stamps)
    check("stamps: torch's version file", any("torch/version.py" in x
                                              for x in stamps), stamps)
    check("stamps: not the standard library",
          not any("argparse" in x for x in stamps), stamps)


def main():
    with lib.Place("identity") as place:
        project = Project(place)
        answer = project.run()
        is_tuned("first start", answer, 8, None)
        project.saved()
        stamps_are_few(project)
        for scenario in (
            neutral_changes,
            near_changes,
            other_memory,
            other_place,
            options_of_records,
            explained,
            lowered,
            less_is_free,
        ):
            project.restore()
            scenario(project)
    with_torch()
    lib.finish()


if __name__ == "__main__":
    main()
