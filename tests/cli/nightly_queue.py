#!/usr/bin/env python3
# Nights through Slurm that go wrong: programs stand in for sbatch and squeue.
# SPDX-License-Identifier: MIT
"""A job's name says what becomes of it. All run in one night, because a state
of Slurm counts only when a result had time to come; what squeue is asked, and
how often, is noted.
"""
import concurrent.futures
import json
import os
import re
import stat
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import check, equal, holds, lacks  # noqa: E402

# One file a job: ID has its name, its kind, its state and reason. "good" starts
# the script, which makes a real result; "trivial" is no tuning at all.
STAND_IN = r"""#!/usr/bin/python3
import json, os, re, subprocess, sys, time
ROOT = os.environ["STAND_IN"]
STATES = {
    "oom": "OUT_OF_MEMORY|None", "timeout": "TIMEOUT|TimeLimit",
    "cancelled": "CANCELLED|None", "silent": "COMPLETED|None",
    "stuck": "PENDING|BadConstraints", "held": "PENDING|JobHeldAdmin",
    "preempted": "PREEMPTED|None", "gone": None, "oomok":
    "OUT_OF_MEMORY|None",
}

def note(name, text):
    with open(os.path.join(ROOT, name), "a") as file:
        file.write(text + "\n")

def jobs():
    folder = os.path.join(ROOT, "jobs")
    for number in sorted(os.listdir(folder)):
        with open(os.path.join(folder, number)) as file:
            yield number, file.read().rstrip("\n").split("|")

def put(number, name, kind, state):
    path = os.path.join(ROOT, "new")
    with open(path, "w") as file:
        file.write("%s|%s|%s\n" % (name, kind, state))
    os.rename(path, os.path.join(ROOT, "jobs", number))

def run(number, script, wait=0):
    subprocess.Popen(["sh", "-c", "sleep %d; sh '%s' >'%s/out.%s' 2>&1" % (
        wait, script, ROOT, number)], start_new_session=True,
        env=dict(os.environ, SLURM_ARRAY_TASK_ID=number.split("_")[-1]),
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)

def begin(number, name, kind, body, script):
    # One job, or an element of an array.
    result = re.search(r"--json=(\S+)", body)[1]
    before = sum(1 for _, job in jobs() if job[1] == kind)
    note("submitted", "%s %s" % (number, kind))
    state = STATES.get(kind, "RUNNING|None")
    if kind == "nodefail" and not before:
        state = "NODE_FAIL|None"
    elif kind == "killed" and not before:
        state = "FAILED|RaisedSignal:9(Killed)"
    elif kind == "requeued":
        state = "PENDING|BeginTime"
    if state:
        put(number, name, kind, state)
    if kind == "disturbed" and not before or kind == "trivial":
        with open(result, "w") as file:
            json.dump({"outcome": "disturbed" if kind == "disturbed" else
                       "tuned", "message": kind}, file)
    if kind in ("good", "oomok") or (before and kind in (
            "nodefail", "killed", "disturbed")):
        run(number, script)
    if kind == "requeued":
        # The first start is interrupted, the second one comes to an end.
        with open(result, "w") as file:
            file.write('{"outcome": "interrupted"}')
        run(number, script, 3)

def sbatch():
    script = sys.argv[-1]
    with open(script) as file:
        text = file.read()
    name = re.search(r"--job-name=(\S+)", text)[1]
    note("sbatched", name)
    if "--account=nobody" in text:
        sys.exit("sbatch: error: Batch job submission failed: Invalid account")
    with open(os.path.join(ROOT, "next")) as file:
        number = file.read()
    if "--array=" not in text:
        begin(number, name, name.split("-")[1], text, script)
    elif os.path.exists(os.path.join(ROOT, "no-arrays")):
        sys.exit("sbatch: error: Batch job submission failed: Invalid job "
                 "array specification")
    else:
        for at, log, body in re.findall(
                r"(?ms)^(\d+)\)\nexec >>(\S+)\.log 2>&1\n(.*?)^;;$", text):
            begin(number + "_" + at, name, log.split("-")[0], body, script)
    with open(os.path.join(ROOT, "next"), "w") as file:
        file.write(str(int(number) + 1))
    print("sbatch: warning: the site says hello", file=sys.stderr)
    sys.stderr.flush()
    print(number + ";cluster")

def squeue():
    note("asked", "%.3f" % time.monotonic())
    if os.path.exists(os.path.join(ROOT, "down")):
        sys.exit("slurm_load_jobs error: Unable to contact slurm controller")
    for number, (name, _, state, reason) in jobs():
        node = "n/a" if state == "PENDING" else "node-7"
        print("%s|%s|%s|%s|%s" % (number, state, reason, node, name))
    print("7_2|PENDING|None|n/a|an-array")
    print("8|RUNNING|a reason | with a bar|node-7|others")

def scancel():
    note("scancelled", " ".join(sys.argv[1:]))

def sacct():
    note("accounted", " ".join(sys.argv[1:]))
    print("CANCELLED by 1000")

globals()[os.path.basename(sys.argv[0])]()
"""

HEAD = """\
[nightly]
executor = slurm
at-once = 32
[defaults]
device = host
headroom = 2M
confirm-steps = 3
memory = 60M
max-probes = 3
"""
COMMAND = ("%s --batch-size 4 --grad-accum 8 --steps 4 --step-ms 5\n"
           "    --per-sample-kib 1024" % lib.TRAINER)

# What becomes of a job, and the words of its row.
FAILING = {
    "oom": r"Slurm ran out of the memory .*: raise sbatch = --mem",
    "timeout": r"reached Slurm's time limit: raise time",
    "cancelled": r"was cancelled in Slurm",
    "silent": r"ended without a result; see .*silent\.log",
    "stuck": r"never starts: no node has what constraint and gres ask",
    "held": r"is held by Slurm's administrator",
    "preempted": r"was preempted and not requeued",
    "gone": r"was cancelled in Slurm",
    "refused": r"is not taken by Slurm: .*Invalid account",
}
GOOD = ("good", "oomok", "nodefail", "killed", "requeued", "disturbed")


def stand_in(place):
    for name in ("sbatch", "squeue", "scancel", "sacct"):
        place.write("bin/" + name, STAND_IN, 0o755)
    place.write("slurm/next", "100")
    os.makedirs(place.path("slurm", "jobs"))
    place.env["PATH"] = place.path("bin") + ":" + os.environ["PATH"]
    place.env["STAND_IN"] = place.path("slurm")


def notes(place, name):
    path = place.path("slurm", name)
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def nightly(place, *words):
    process = place.start("nightly", *words)
    out, err = process.communicate(timeout=lib.PATIENCE)
    return process.returncode, out.decode() + err.decode()


def rows(place):
    with open(place.path("nightly", "summary.json"), encoding="utf-8") as file:
        return {row["name"]: row for row in json.load(file)["jobs"]}


def jobs_of(names):
    return HEAD + "".join("[job %s]\ncommand = %s\n" % (n, COMMAND)
                          for n in names)


def all_ends():
    with lib.Place("queue") as place:
        stand_in(place)
        place.write("jobs.ini", jobs_of([*FAILING, *GOOD]).replace(
            "[job refused]", "[job refused]\naccount = nobody"))
        code, said = nightly(place, "jobs.ini")
        got = rows(place)
        equal("ends: exit code", code, 119)
        for name, words in FAILING.items():
            equal(name + ": fails", got[name]["state"], "failing")
            holds(name + ": its words", got[name]["message"], words)
        equal("ends: those that have a result in the end",
              {n: got[n]["state"] for n in GOOD}, dict.fromkeys(GOOD, "ok"))
        submitted = [line.split()[1] for line in notes(place, "submitted")]
        equal("ends: what was submitted again, and how often",
              {n: submitted.count(n) for n in (*FAILING, *GOOD)
               if submitted.count(n) > 1},
              {"preempted": 3, "nodefail": 2, "killed": 2, "disturbed": 2})
        equal("ends: those that are alike are one array, and what is "
              "submitted again is alone", [
                  bool(re.match(r"autofit-oom\+13-[0-9a-f]{8}$", name))
                  for name in notes(place, "sbatched")], [True] + [False] * 6)
        equal("ends: what waits for ever is cancelled, in one call",
              notes(place, "scancelled"), ["100_4 100_5"])
        equal("ends: accounting is asked for the one that is gone",
              [line.split("--jobs=")[1] for line in notes(place, "accounted")],
              ["100_7"])
        asked = [float(line) for line in notes(place, "asked")]
        gaps = [b - a for a, b in zip(asked, asked[1:])]
        check("squeue: 15 seconds apart, whatever the number of jobs",
              gaps and min(gaps) >= 14.9, gaps)
        path = place.path("nightly", "runs", "good.log")
        equal("log: for its owner", stat.S_IMODE(os.stat(path).st_mode), 0o600)
        lacks("lines: no line of a program breaks a line", said, r"\\x0a")
        a_mended_list(place)


def a_mended_list(place):
    """What is done is not submitted again; nor is it in the same night."""
    before = len(notes(place, "submitted"))
    place.write("jobs.ini", jobs_of(GOOD[:2]))
    code, _ = nightly(place, "jobs.ini")
    equal("next night: exit code", code, 0)
    equal("next night: its jobs", len(notes(place, "submitted")) - before, 2)


def taken_over():
    """A night that was killed: its jobs go on, and are not submitted again."""
    with lib.Place("queue-killed") as place:
        stand_in(place)
        place.write("jobs.ini", jobs_of(("requeued", "good")))
        process = place.start("nightly", "jobs.ini")
        lib.wait_for(lambda: len(notes(place, "submitted")) == 2)
        process.kill()
        process.communicate()
        code, _ = nightly(place, "jobs.ini")
        equal("taken over: exit code", code, 0)
        equal("taken over: submitted once", len(notes(place, "submitted")), 2)
        with open(place.path("nightly", "runs", "good.sbatch"),
                  encoding="utf-8") as file:
            holds("taken over: as elements of an array", file.read(),
                  "# Submitted as element 1 of autofit-requeued.1-")
        equal("taken over: sizes", [r["micro_batch"]
                                    for r in rows(place).values()], [32, 32])


def throttled():
    """Where arrays are refused: never more than at-once in Slurm."""
    with lib.Place("queue-throttled") as place:
        stand_in(place)
        names = ["good-%d" % i for i in range(5)]
        place.write("slurm/no-arrays", "")
        place.write("jobs.ini", jobs_of(names).replace("at-once = 32",
                                                       "at-once = 1"))
        process = place.start("nightly", "jobs.ini")
        lib.wait_for(lambda: notes(place, "submitted"))
        most = 0
        while process.poll() is None:
            done = len([n for n in os.listdir(place.path("nightly", "runs"))
                        if n.endswith(".json")])
            most = max(most, len(notes(place, "submitted")) - done)
        process.communicate()
        equal("throttled: exit code", process.returncode, 0)
        equal("throttled: one at a time", most, 1)
        equal("throttled: an array is tried once", [
            "+" in name for name in notes(place, "sbatched")],
              [True] + [False] * 5)
        equal("throttled: all of them", len(rows(place)), 5)
        equal("throttled: their states", {r["state"] for r in
                                          rows(place).values()}, {"ok"})


def until():
    """At that time the jobs are taken out of Slurm."""
    with lib.Place("queue-until") as place:
        stand_in(place)
        place.write("jobs.ini", jobs_of(("slow-1", "slow-2")))
        zone, at = lib.soon(3)
        process = place.start("nightly", "--until", at, "jobs.ini",
                              env={"TZ": zone})
        _, err = process.communicate(timeout=lib.PATIENCE)
        equal("until: exit code", process.returncode, 119)
        holds("until: its words", err.decode(), "slow-1: not run: stopped at "
              "--until", "2 not run")
        numbers = [line.split()[0] for line in notes(place, "submitted")]
        equal("until: all are cancelled in one call",
              notes(place, "scancelled"), [" ".join(numbers)])


def without():
    """No Slurm, or one that does not answer: nothing is started."""
    with lib.Place("queue-none") as place:
        place.write("jobs.ini", jobs_of(("good",)))
        place.env["PATH"] = place.path("empty")
        code, said = nightly(place, "jobs.ini")
        equal("no sbatch: exit code", code, 125)
        holds("no sbatch: the remedy", said, "sbatch is not found: start the "
              "night on a node that submits jobs")
        stand_in(place)
        place.write("slurm/down", "")
        code, said = nightly(place, "jobs.ini")
        equal("no controller: exit code", code, 125)
        holds("no controller: what it says", said,
              "Unable to contact slurm controller", "Slurm does not answer")
        equal("no controller: nothing is submitted",
              notes(place, "submitted"), [])


if __name__ == "__main__":
    # Most of it waits for the next time that squeue may be asked.
    with concurrent.futures.ThreadPoolExecutor() as pool:
        parts = [pool.submit(part) for part in (all_ends, taken_over,
                                                throttled, until, without)]
    for done in parts:
        done.result()
    lib.finish()
