#!/usr/bin/env python3
# --guard: a run that is watched, started smaller, and else as by exec.
# SPDX-License-Identifier: MIT
# CTEST COST 40
"""The program trains in plain Python. In a real run it does what the plan says
for its micro-batch at step 40: it runs out of memory, fails otherwise, waits
for a signal. It notes each start, and each signal that it gets.
"""
import json
import os
import signal
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
import terminal  # noqa: E402
from lib import check, equal, holds, lacks  # noqa: E402

PROGRAM = '''\
import argparse, json, os, signal, sys, time

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=2)
parser.add_argument("--grad-accum", type=int, default=16)
parser.add_argument("--steps", type=int, default=45)
parser.add_argument("--resume")
args = parser.parse_args()
probe = "AUTOFIT_PROBE" in os.environ
hold = bytearray(args.batch_size * 2 << 20)
hold[::4096] = b"x" * len(hold[::4096])


def note(*words):
    if not probe:
        with open(os.environ["NOTES"], "a") as file:
            file.write(" ".join(map(str, words)) + "\\n")


def caught(number, frame):
    note("signal", number)
    if number != signal.SIGUSR1:
        sys.exit(7)


def act(what):
    if what == "oom":
        raise MemoryError()
    if what == "torch":
        raise RuntimeError(
            "[enforce fail at alloc_cpu.cpp:75] err == 0. DefaultCPUAllocator:"
            " can't allocate memory: you tried to allocate 99999999999999"
            " bytes. Error code 12 (Cannot allocate memory)"
        )
    if what == "child":
        # Of a process that nobody minds; the run fails for another reason.
        import multiprocessing

        one = multiprocessing.Process(target=act, args=("oom",))
        one.start()
        one.join()
        raise ValueError("no such column")
    if what == "fail":
        raise ValueError("no such column")
    if what == "status":
        sys.exit(3)
    if what == "say":
        print("MemoryError: caught, and on it goes", file=sys.stderr)
    if what == "take":
        more = []
        while True:
            more.append(bytearray(b"x" * (8 << 20)))
    if what == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "catch":
        for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGINT):
            signal.signal(number, caught)
    if what in ("catch", "wait"):
        note("ready")
        while True:
            time.sleep(0.05)


note("start", args.batch_size, args.grad_accum, args.resume, os.getpid(),
     os.getpgrp(), os.getsid(0), os.getppid())
with open(os.environ["PLAN"]) as file:
    plan = json.load(file)
for step in range(1, args.steps + 1):
    print("step %d/%d loss 1.0" % (step, args.steps), flush=True)
    time.sleep(0.02 if probe else 0.001)
    if step == 40 and not probe:
        act(plan.get(str(args.batch_size), plan.get("any")))
'''
OPTIONS = "--device host --memory 72MiB --headroom 4MiB".split()
SIZES = "--batch-size 2 --grad-accum 16".split()
RESUME = "{resume:--resume last}"


class Guarded:
    """The program in a place of its own, tuned once."""

    def __init__(self, place):
        self.place = place
        place.write("train.py", PROGRAM)
        place.env["NOTES"] = place.path("notes")
        place.env["PLAN"] = place.path("plan")
        self.plan({})

    def plan(self, plan):
        self.place.write("plan", json.dumps(plan))
        self.place.write("notes", "")

    def words(self, resume=RESUME, guard=True):
        return [
            *OPTIONS,
            *(["--guard"] if guard else []),
            "--",
            sys.executable,
            "train.py",
            *SIZES,
            *([resume] if resume else []),
        ]

    def run(self, plan, **how):
        self.plan(plan)
        return self.place.run(*self.words(**how))

    def notes(self):
        with open(self.place.path("notes"), encoding="utf-8") as file:
            return [line.split() for line in file]

    def starts(self):
        return [line[1:4] for line in self.notes() if line[0] == "start"]

    def signals(self):
        return [int(line[1]) for line in self.notes() if line[0] == "signal"]

    def is_ready(self):
        return any(line[0] == "ready" for line in self.notes())

    def record(self):
        answer = self.place.run(
            "explain", *OPTIONS, "--guard", "--", sys.executable, "train.py",
            *SIZES,
        )
        recommended = answer.result["recommended"]
        return recommended["micro_batch"], recommended["grad_accum"]

    def shown(self):
        names = os.listdir(self.place.path("home", "records"))
        process = self.place.start("show", names[0][: -len(".ini")])
        return process.communicate(timeout=lib.PATIENCE)[0].decode()

    def begin(self, plan, **how):
        """A start that waits at step 40."""
        self.plan(plan)
        process = self.place.start(*self.words(**how))
        lib.wait_for(self.is_ready)
        return process

    def run_pid(self):
        return int([line for line in self.notes() if line[0] == "start"][-1][4])

    def leftovers(self):
        found = []
        for base, folders, _ in os.walk(self.place.path("home")):
            found += [os.path.join(base, f) for f in folders
                      if f.startswith("guard-")]
        return found


def splits(guarded):
    """What was tested: the largest three micro-batches, the answer first."""
    answer = guarded.place.run(
        "tune", *OPTIONS, "--guard", "--", sys.executable, "train.py", *SIZES
    )
    sizes = sorted(
        {p["micro_batch"] for p in answer.probes if p["verdict"] == "fits"},
        reverse=True,
    )
    check("three splits fit", len(sizes) >= 3, answer)
    best = answer.result["recommended"]["micro_batch"]
    equal("the answer is the largest", best, sizes[0])
    equal(
        "no probe beyond its three steps",
        max(p["steps"] for p in answer.probes) < 8,
        True,
    )
    return [(str(m), str(32 // m)) for m in sizes]


def test_learns(guarded):
    one, two, three = splits(guarded)[:3]

    answer = guarded.run({})
    equal("a run that ends well", answer.status, 0)
    equal("started once", guarded.starts(), [[*one, "None"]])
    holds("and confirms them", guarded.shown(), "run to its end")
    lacks("without a word against", guarded.shown(), "confirmed")

    answer = guarded.run({one[0]: "oom"})
    equal("out of memory at step 40, then well", answer.status, 0)
    equal(
        "goes on with the next smaller split",
        guarded.starts(),
        [[*one, "None"], [*two, "last"]],
    )
    holds("says so", answer.err, "ran out of memory", "micro " + two[0])
    holds("its exception is on stderr", answer.err, "MemoryError")
    equal("the record is lower", guarded.record(), tuple(map(int, two)))

    answer = guarded.run({})
    equal("the next launch takes it", guarded.starts(), [[*two, "None"]])

    answer = guarded.run({two[0]: "torch", "any": "oom"})
    starts = guarded.starts()
    micros = [int(start[0]) for start in starts]
    equal("a second time", starts[:2], [[*two, "None"], [*three, "last"]])
    check("each is smaller", micros == sorted(set(micros), reverse=True), micros)
    equal("until there is none: its own status", answer.status, 1)
    holds("and says so", answer.err, "no smaller split")
    equal("nothing is left", guarded.leftovers(), [])


def test_other_ends(guarded):
    best = splits(guarded)[0]
    for plan, status, what in (
        ("fail", 1, "another exception"),
        ("status", 3, "a status of its own"),
        ("kill", -signal.SIGKILL, "a SIGKILL that was not the kernel's"),
        ("say", 0, "words of memory that ended nothing"),
        ("child", 1, "a child's end that ended nothing"),
    ):
        answer = guarded.run({"any": plan})
        equal(what + ": the status is the run's", answer.status, status)
        equal(what + ": nothing is restarted", len(guarded.starts()), 1)
        equal(what + ": nothing is learned", guarded.record(),
              tuple(map(int, best)))
    equal("nothing is left", guarded.leftovers(), [])


def test_no_way_to_resume(guarded):
    one, two = splits(guarded)[:2]
    answer = guarded.run({"any": "oom"}, resume=None)
    equal("no way to resume: the run's status", answer.status, 1)
    equal("started once", len(guarded.starts()), 1)
    holds("says which word is missing", answer.err, r"\{resume:WORDS\}")
    equal("but it is learned", guarded.record(), tuple(map(int, two)))
    check("from " + one[0], one != two)


def test_unconfirmed(guarded):
    """What had three steps only is no answer without --guard."""
    best = splits(guarded)[0]
    holds("said in the record", guarded.shown(), "--guard is to confirm")
    answer = guarded.run({}, guard=False, resume=None)
    equal("another start tunes anew", answer.result["outcome"], "tuned")
    equal("to the same answer", guarded.starts(), [[*best, "None"]])


def test_signals(guarded):
    splits(guarded)
    for number, group, status in (
        (signal.SIGTERM, False, -signal.SIGTERM),
        (signal.SIGINT, True, -signal.SIGINT),
        (signal.SIGHUP, False, -signal.SIGHUP),
    ):
        process = guarded.begin({"any": "wait"})
        if group:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        process.communicate(timeout=lib.PATIENCE)
        if number == signal.SIGINT:  # Python ends itself by it, noted
            status = process.returncode
            check("SIGINT ends it", status in (-2, 130, 1), status)
        equal("ends by %s" % number.name, process.returncode, status)
        equal("%s: once only" % number.name, len(guarded.starts()), 1)

    for number, send in (
        (signal.SIGTERM, "process"),
        (signal.SIGTERM, "group"),
        (signal.SIGINT, "group"),
    ):
        process = guarded.begin({"any": "catch"})
        start = [l for l in guarded.notes() if l[0] == "start"][0]
        equal("in autofit's group", int(start[5]), process.pid)
        equal("in its session", int(start[6]), process.pid)
        equal("its child", int(start[7]), process.pid)
        if send == "group":
            os.killpg(process.pid, signal.SIGUSR1)
        else:
            process.send_signal(signal.SIGUSR1)
        lib.wait_for(guarded.signals)
        if send == "group":
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        process.communicate(timeout=lib.PATIENCE)
        equal("%s to the %s: its own status" % (number.name, send),
              process.returncode, 7)
        equal("%s to the %s: each once" % (number.name, send),
              guarded.signals(), [signal.SIGUSR1, number])


def is_gone(pid):
    return terminal.state_of(pid) in ("", "Z")


def test_killed(guarded):
    splits(guarded)
    process = guarded.begin({"any": "wait"})
    pid = guarded.run_pid()
    process.kill()
    process.communicate(timeout=lib.PATIENCE)
    check("with autofit the run is killed", lib.wait_for(lambda: is_gone(pid)))
    check("it leaves its folder", guarded.leftovers())
    guarded.run({})
    equal("which the next start removes", guarded.leftovers(), [])


class Cgroup:
    """A folder of the memory controller with a limit, and this process in it."""

    def __init__(self, limit):
        self.folder = None
        with open("/proc/self/cgroup", encoding="ascii") as file:
            lines = [line.strip().split(":", 2) for line in file]
        v1 = [path for _, names, path in lines if "memory" in names.split(",")]
        v2 = [path for number, _, path in lines if number == "0"]
        root = "/sys/fs/cgroup/memory" if v1 else "/sys/fs/cgroup"
        self.home = root + (v1 or v2)[0].rstrip("/")
        if not os.path.exists(self.home + "/cgroup.procs"):
            self.home = root  # seen from within a container
        name = "memory.limit_in_bytes" if v1 else "memory.max"
        folder = "%s/autofit-test-guard-%d" % (self.home, os.getpid())
        try:
            os.mkdir(folder)
            self.folder = folder
            self.put(name, limit)
            self.put("cgroup.procs", os.getpid())
        except OSError as error:
            self.leave()
            print("# no cgroup to test with: %s" % error)

    def put(self, name, value):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write("%d" % value)

    def leave(self):
        if not self.folder:
            return
        try:
            with open(self.home + "/cgroup.procs", "w") as file:
                file.write("%d" % os.getpid())
        except OSError:
            pass
        lib.wait_for(self.is_removed)
        self.folder = None

    def is_removed(self):
        try:
            os.rmdir(self.folder)
        except OSError:
            return not os.path.exists(self.folder)
        return True


def test_kernel(guarded):
    """The kernel kills for want of memory, and its count says so."""
    cgroup = Cgroup(200 << 20)
    if not cgroup.folder:
        return
    try:
        one, two = splits(guarded)[:2]
        answer = guarded.run({one[0]: "take"})
        equal("killed by the kernel, then well", answer.status, 0)
        equal("goes on smaller", guarded.starts(),
              [[*one, "None"], [*two, "last"]])
        holds("says who", answer.err, "the kernel killed it")
        answer = guarded.run({"any": "kill"})
        equal("another SIGKILL right after", answer.status, -signal.SIGKILL)
        equal("is none of the kernel's", len(guarded.starts()), 1)
    finally:
        cgroup.leave()


def test_terminal(guarded):
    splits(guarded)
    guarded.plan({"any": "wait"})
    os.chdir(guarded.place.folder)
    at = terminal.Terminal(
        [lib.AUTOFIT, *guarded.words()], terminal.FOREGROUND,
        **guarded.place.env
    )
    at.wait(guarded.is_ready, what="the run")
    pid = guarded.run_pid()
    equal("its group is in front", os.tcgetpgrp(at.master), at.pid)
    at.press(terminal.CTRL_Z)
    equal("Ctrl-Z", at.event(), "stopped by %d" % signal.SIGTSTP)
    equal("the run is stopped too", terminal.state_of(pid), "T")
    at.foreground()
    at.wait(lambda: terminal.state_of(pid) != "T", what="fg")
    at.press(terminal.CTRL_BACKSLASH)
    equal("after fg a key ends it", at.event(), "ended by %d" % signal.SIGQUIT)
    check("the run too", is_gone(pid))
    at.close()

    # stdin is the terminal itself, for the run alone.
    guarded.place.write("train.py", PROGRAM.replace(
        "        while True:\n            time.sleep(0.05)",
        "        note('read', sys.stdin.readline(), sys.stdout.isatty(),"
        " sys.stderr.isatty())\n        sys.exit(5)",
    ))
    guarded.plan({"any": "wait"})
    at = terminal.Terminal(
        [lib.AUTOFIT, *guarded.words()], terminal.FOREGROUND,
        **guarded.place.env
    )
    at.wait(guarded.is_ready, what="the run")
    at.press(b"hello\n")
    equal("it reads the terminal", at.event(), "exit 5")
    equal("as its own", guarded.notes()[-1:], [["True", "True"]])
    holds("a line of it", str(guarded.notes()), "'read', 'hello'")
    at.close()


def main():
    for test in (
        test_learns,
        test_other_ends,
        test_no_way_to_resume,
        test_unconfirmed,
        test_signals,
        test_killed,
        test_kernel,
        test_terminal,
    ):
        print("# " + test.__name__[5:].replace("_", " "), flush=True)
        with lib.Place("guard") as place:
            test(Guarded(place))
    lib.finish()


main()
