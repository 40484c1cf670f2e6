#!/usr/bin/env python3
# A list of commands tuned at night: results, resuming, comparing, publishing.
# SPDX-License-Identifier: MIT
# CTEST COST 30
"""Jobs are the C trainer and small scripts, so that a night takes seconds.

With AUTOFIT_NIGHTLY=1 a night is killed at 20 random moments instead of 4.
"""
import csv
import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import check, equal, holds, lacks  # noqa: E402

KILLS = 20 if os.environ.get("AUTOFIT_NIGHTLY") else 4

DEFAULTS = """\
[nightly]
publish = site
[defaults]
device = host
headroom = 2M
confirm-steps = 3
memory = 60M
"""


def job(name, command, more=""):
    return "[job %s]\ncommand = %s\n%s" % (name, command, more)


def trainer(micro=4, accum=8, kib=1024, more=""):
    return ("%s --batch-size %d --grad-accum %d\n    --steps 10 --step-ms 40 "
            "--per-sample-kib %d %s" % (lib.TRAINER, micro, accum, kib, more))


def nightly(place, *words, env=None):
    process = place.start("nightly", *words, env=env)
    out, err = process.communicate(timeout=lib.PATIENCE)
    return process.returncode, out.decode(), err.decode()


def summary(place):
    with open(place.path("nightly", "summary.json"), encoding="utf-8") as file:
        return json.load(file)


def rows(place):
    return {row["name"]: row for row in summary(place)["jobs"]}


def sizes(row):
    return row["micro_batch"], row["grad_accum"]


def records(place):
    """What the records of the home say of the sizes, by their names."""
    found = {}
    for path in glob.glob(place.path("home", "records", "*.ini")):
        with open(path, encoding="utf-8") as file:
            head = file.read().split("\n\n", 1)[0]
        found[os.path.basename(path)] = re.findall(
            r"^(?:micro_batch|grad_accum|effective_batch) = .*", head, re.M)
    return found


LIST = DEFAULTS + "".join((
    job("first", trainer()),
    job("second", trainer(2, 8, 2048), "effective-batch = 32\n"),
    job("typo", trainer(more="--no-such-option"), "required = no\n"),
    job("fits-nowhere", trainer(kib=200000), "required = no\n"),
    job("elsewhere", "sh run.sh", "directory = sub\n"
        "environment = BS=4\n    GA=8\n"),
))
WANTED = {"first": (32, 1), "second": (16, 2), "elsewhere": (32, 1)}


def prepare(place):
    place.write("jobs.ini", LIST)
    place.write("sub/run.sh", 'exec %s --batch-size ${BS:-1} --grad-accum '
                "${GA:-1} --steps 10 --step-ms 5 --per-sample-kib 1024\n"
                % lib.TRAINER)


def a_night(place):
    code, _, err = nightly(place, "--metrics", "m.prom", "jobs.ini")
    equal("night: only optional jobs fail", code, 0)
    got = rows(place)
    equal("night: every job has a row, in the order of the list", list(got),
          ["first", "second", "typo", "fits-nowhere", "elsewhere"])
    equal("night: sizes", {n: sizes(got[n]) for n in WANTED}, WANTED)
    equal("night: all are new, or fail",
          {n: r["change"] for n, r in got.items()},
          {n: "new" if n in WANTED else "failing" for n in got})
    equal("night: how those fail",
          (got["typo"]["outcome"], got["fits-nowhere"]["outcome"]),
          ("command_failed", "nothing_fits"))
    holds("night: a line for each job", err, r"\[1/5\] first: micro 32 x acc",
          r"\[3/5\] typo: fails: ", "autofit: 5 jobs: 3 new, 2 failing, 0 to")
    lacks("night: no line of a program breaks a line", err, r"\\x0a")


def its_files(place):
    best = place.path("nightly", "best", "first")
    equal("best: its files", sorted(os.listdir(best)),
          ["arguments.txt", "command.sh", "evidence.json", "record.ini",
           "settings.dotenv", "settings.env"])
    done = subprocess.run(["sh", os.path.join(best, "command.sh")],
                          capture_output=True, text=True, check=False)
    holds("best: the command runs", done.stdout, "step 10/10")
    with open(os.path.join(best, "evidence.json"), encoding="utf-8") as file:
        equal("best: evidence", json.load(file)["recommended"]["micro_batch"],
              32)
    check("best: none of what fails",
          not os.path.exists(place.path("nightly", "best", "typo")))
    with open(place.path("nightly", "summary.csv"), encoding="utf-8",
              newline="") as file:
        table = list(csv.DictReader(file))
    equal("csv: sizes", {r["job"]: (int(r["micro_batch"]),
                                    int(r["grad_accum"]))
                         for r in table if r["state"] == "ok"}, WANTED)
    equal("csv: what is not known is empty",
          {r["micro_batch"] for r in table if r["state"] != "ok"}, {""})
    with open(place.path("nightly", "summary.md"), encoding="utf-8") as file:
        lines = [line for line in file if line.startswith("|")]
    bars = {len(re.findall(r"(?<!\\)\|", line)) for line in lines}
    equal("markdown: a table of all jobs", (len(lines), len(bars)), (7, 1))


def its_metrics(place):
    """By the rules of Prometheus' text format."""
    with open(place.path("m.prom"), encoding="utf-8") as file:
        text = file.read()
    check("metrics: ends with a line", text.endswith("\n"))
    family, seen, bad = None, set(), []
    for line in text.splitlines():
        head = re.match(r"# (HELP|TYPE) ([a-z_]+) (.+)$", line)
        if head and head[1] == "HELP":
            family = head[2]
            bad += [line] if family in seen else []
            seen.add(family)
        elif head:
            bad += [line] if head[2] != family or head[3] != "gauge" else []
        elif not re.match(r'%s(\{job="[^"\n]*",device="[^"\n]*"\})? '
                          r"[0-9]+(\.[0-9]+)?$" % family, line):
            bad.append(line)
    equal("metrics: families in one piece, with help and type", bad, [])
    holds("metrics: a value", text,
          r'job_micro_batch\{job="first",device="host memory"\} 32')
    if shutil.which("promtool"):
        done = subprocess.run(["promtool", "check", "metrics"], input=text,
                              capture_output=True, text=True, check=False)
        equal("metrics: promtool has nothing to say",
              (done.returncode, done.stdout + done.stderr), (0, ""))
    left = [n for n in os.listdir(place.folder) if n.startswith(".")]
    equal("metrics: nothing is left beside it", left, [])


def published(place):
    site = glob.glob(place.path("site", "records", "*.ini"))
    equal("published: the records", len(site), 3)
    equal("published: all may read", {oct(os.stat(p).st_mode & 0o777)
                                      for p in site}, {"0o644"})
    for path in site:
        with open(path, encoding="utf-8") as file:
            lacks("published: no paths of logs", file.read(), r"^log = ")
    words = ["--device", "host", "--headroom", "2M", "--confirm-steps", "3",
             "--memory", "60M", "--no-probe"]
    there = place.run(*words, "--", *trainer().split(),
                      env={"AUTOFIT_HOME": place.path("other"),
                           "AUTOFIT_SITE": place.path("site")})
    equal("published: another user starts at once",
          (there.result["outcome"], there.result["recommended"]["micro_batch"],
           there.result["probe_count"]), ("reused", 32, 0))


def a_second_night(place):
    """One job is changed on purpose: that one is told, with its cause."""
    place.write("jobs.ini", LIST.replace("--per-sample-kib 2048",
                                         "--per-sample-kib 3300"))
    before = summary(place)
    code, _, err = nightly(place, "jobs.ini")
    got = rows(place)
    equal("second night: exit code", code, 119)
    equal("second night: what changed",
          {n: r["change"] for n, r in got.items() if n in WANTED},
          {"first": "same", "second": "worse", "elsewhere": "same"})
    holds("second night: the cause", got["second"]["cause"] or "",
          "argument --per-sample-kib 3300, was 2048")
    holds("second night: in its line", err, "second: .*worse: .*was 2048")
    equal("second night: probes of the others", got["first"]["probe_count"],
          None)
    history = sorted(glob.glob(place.path("nightly", "history", "*.json")))
    equal("second night: the history", len(history), 1)
    with open(history[0], encoding="utf-8") as file:
        equal("second night: it is the first one", json.load(file), before)
    process = place.start("diff", history[0],
                          place.path("nightly", "summary.json"))
    out, _ = process.communicate(timeout=lib.PATIENCE)
    equal("diff: exit code", process.returncode, 119)
    holds("diff: the line", out.decode(), "worse second: ", "same first")


# A stand-in for PyTorch, whose version says how much a sample needs.
PYTHON_SCRIPT = """\
import argparse, time
import torch
parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int)
parser.add_argument("--grad-accum", type=int)
args = parser.parse_args()
held = bytearray(b"x") * (args.batch_size * torch.MIB << 20)
optimizer = torch.optim.SGD([object()])
for step in range(8):
    optimizer.step()
    time.sleep(0.02)
"""


def a_newer_torch():
    """A newer torch needs more, for a job that imports it: that job is told,
    with the versions as the cause, and the other one is not."""
    with lib.Place("nightly-torch") as place:
        shutil.copytree(os.path.join(lib.DATA, "hook_fake_torch"),
                        place.path("packages"))
        init = place.path("packages", "torch", "__init__.py")
        with open(init, "a", encoding="utf-8") as file:
            file.write("\nfrom .version import __version__, MIB\n")

        def install(version, mib):
            place.write("packages/torch/version.py",
                        "__version__ = '%s'\nMIB = %d\n" % (version, mib))

        place.write("train.py", PYTHON_SCRIPT)
        place.write("jobs.ini", DEFAULTS + job("plain", trainer()) + job(
            "imports", "/usr/bin/python3 train.py --batch-size 2\n"
            "    --grad-accum 8", "memory = 100M\nenvironment = PYTHONPATH=%s"
            "\n" % place.path("packages")))
        install("2.8.0", 4)
        code, _, err = nightly(place, "jobs.ini")
        equal("newer torch: the first night", code, 0)
        equal("newer torch: its size before", rows(place)["imports"]
              ["micro_batch"], 16)
        install("2.9.0", 8)
        code, _, err = nightly(place, "jobs.ini")
        got = rows(place)
        equal("newer torch: exit code", code, 119)
        equal("newer torch: exactly that one",
              {n: r["change"] for n, r in got.items()},
              {"plain": "same", "imports": "worse"})
        holds("newer torch: its cause", got["imports"]["cause"] or "",
              r"torch 2\.8\.0 -> 2\.9\.0")
        holds("newer torch: in its line", err, r"imports: .*worse: .*torch 2\.8")


def of_two_records(place):
    """diff of records; of neither; and of one that is gone."""
    paths = {n: place.path("nightly", "best", n, "record.ini")
             for n in ("first", "second")}

    def diff(old, new):
        process = place.start("diff", old, new)
        out, err = process.communicate(timeout=lib.PATIENCE)
        return process.returncode, (out + err).decode()

    code, text = diff(paths["first"], paths["first"])
    equal("diff: of one record with itself", (code, text),
          (0, "same     record\n"))
    code, text = diff(paths["first"], paths["second"])
    equal("diff: to a smaller one", code, 119)
    holds("diff: says what differs", text, "worse",
          "micro 32 x accum 1 -> micro ")
    name = sorted(os.listdir(place.path("home", "records")))[0][:-4]
    equal("diff: by the name of a record", diff(name, name),
          (0, "same     record\n"))
    code, text = diff(name, "no-such-host-0000")
    equal("diff: no such name", code, 125)
    holds("diff: says where names are", text, "autofit show lists")
    code, text = diff(paths["first"], place.write("x", "[a]\nb = 1\n"))
    equal("diff: neither", code, 125)
    holds("diff: says so", text, "neither a record", "summary.json")


def only_one(place):
    code, _, err = nightly(place, "--only", "first", "jobs.ini")
    got = rows(place)
    lacks("only: no other job runs", err, r"\] second")
    equal("only: the others are as they were", sizes(got["elsewhere"]),
          (32, 1))
    equal("only: and are compared with nothing",
          (got["second"]["change"], got["second"]["cause"]), (None, None))
    equal("only: its exit code", code, 0)
    code, _, err = nightly(place, "--only", "nobody", "jobs.ini")
    equal("only: no such job", code, 125)
    holds("only: says so", err, "no job 'nobody'; its jobs are first, second, "
          "typo, fits-nowhere, elsewhere")


def nights():
    with lib.Place("nightly") as place:
        prepare(place)
        code, out, _ = nightly(place, "--dry-run", "jobs.ini")
        equal("dry run", code, 0)
        holds("dry run: the command", out, "autofit tune --device=host .* -- ")
        check("dry run: nothing is made",
              not os.path.exists(place.path("nightly")))
        a_night(place)
        its_files(place)
        its_metrics(place)
        published(place)
        a_second_night(place)
        of_two_records(place)
        only_one(place)


def killed():
    """Killed at random moments it comes to the same records, and repeats no
    job that was done."""
    with lib.Place("nightly-whole") as place:
        prepare(place)
        nightly(place, "jobs.ini")
        wanted = records(place)
    rng = random.Random(18)
    with lib.Place("nightly-killed") as place:
        prepare(place)
        done_before = 0
        for _ in range(KILLS):
            process = place.start("nightly", "jobs.ini")
            lib.wait_for(lambda p=process: p.poll() is not None or
                         os.path.exists(place.path("nightly", "runs")))
            time.sleep(rng.uniform(0, 0.8))  # the moment, not a wait
            process.send_signal(rng.choice((signal.SIGKILL, signal.SIGTERM,
                                            signal.SIGINT)))
            _, err = process.communicate(timeout=lib.PATIENCE)
            done_before += err.decode().count("(done before)")
            if summary_is_over(place):
                break
        lib.wait_for(lambda: not tuning_left(place))
        code = 0
        if not summary_is_over(place):
            code, _, err = nightly(place, "jobs.ini")
            done_before += err.count("(done before)")
        equal("killed: it comes to its end", code, 0)
        got = rows(place)
        equal("killed: sizes", {n: sizes(got[n]) for n in WANTED}, WANTED)
        equal("killed: the records",
              sorted(sum(records(place).values(), [])),
              sorted(sum(wanted.values(), [])))
        equal("killed: one night", glob.glob(
            place.path("nightly", "history", "*.json")), [])


def summary_is_over(place):
    path = place.path("nightly", "summary.json")
    return os.path.exists(path) and summary(place)["finished"] is not None


def tuning_left(place):
    """A tuning of this place that still ends."""
    mark = ("AUTOFIT_HOME=" + place.path("home")).encode()
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(path, "rb") as file:
                if mark in file.read().split(b"\0"):
                    return True
        except OSError:
            continue
    return False


def process_of(place, word):
    """One whose first word ends so, below this place's home."""
    mark = ("AUTOFIT_HOME=" + place.path("home")).encode()
    for path in glob.glob("/proc/[0-9]*"):
        try:
            with open(path + "/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            with open(path + "/environ", "rb") as file:
                if mark in file.read().split(b"\0") and \
                        words[0].endswith(word.encode()):
                    return int(path[len("/proc/"):])
        except OSError:
            continue
    return None


def ended_together():
    """Whoever ends a job signals each process of it, the probe's before
    autofit: that is no verdict of the size, and the job goes on."""
    with lib.Place("nightly-together") as place:
        place.write("jobs.ini", DEFAULTS + job("first", trainer(
            more="--step-ms 300")))
        log = place.path("nightly", "runs", "first.log")
        process = place.start("nightly", "jobs.ini")

        def has_row():
            if not os.path.exists(log):
                return False
            with open(log, encoding="utf-8") as file:
                return re.search(r"(?m)^ +4 +8 .*fits", file.read())

        lib.wait_for(has_row)
        probe = lib.wait_for(lambda: process_of(place, "/trainer"))
        with open("/proc/%d/task/%d/children" % (process.pid, process.pid),
                  encoding="utf-8") as file:
            tuning = int(file.read().split()[0])
        os.kill(probe, signal.SIGTERM)
        time.sleep(0.1)  # the moment, not a wait
        os.kill(tuning, signal.SIGTERM)
        process.communicate(timeout=lib.PATIENCE)
        equal("ended together: it goes on", process.returncode, 0)
        equal("ended together: sizes", sizes(rows(place)["first"]), (32, 1))


def two_at_once():
    with lib.Place("nightly-two") as place:
        prepare(place)
        first = place.start("nightly", "jobs.ini")
        lib.wait_for(lambda: os.path.exists(place.path("nightly", "runs",
                                                       "first.log")))
        code, _, err = nightly(place, "jobs.ini")
        first.communicate(timeout=lib.PATIENCE)
        equal("two at once: the second ends", code, 125)
        holds("two at once: it says why", err, "another night is working on")
        equal("two at once: the first is not disturbed", first.returncode, 0)


def until():
    """A time that is just over is tomorrow's; one that comes stops a job."""
    with lib.Place("nightly-until") as place:
        place.write("jobs.ini", DEFAULTS + job("first", trainer()))
        code, _, _ = nightly(place, "--until", time.strftime("%H:%M"),
                             "jobs.ini")
        equal("until: a time that is over", code, 0)
        place.write("jobs.ini", DEFAULTS + "".join(
            job(n, trainer(kib=1100, more="--steps 60 --step-ms 1000"),
                "confirm-steps = 50\nfresh = yes\n")
            for n in ("slow", "later")))
        zone, at = lib.soon(3)
        code, _, err = nightly(place, "--until", at, "jobs.ini",
                               env={"TZ": zone})
        equal("until: the time comes", code, 119)
        got = rows(place)
        equal("until: one is stopped, the other does not start",
              [(r["state"], r["message"]) for r in got.values()],
              [("not_run", "stopped at --until; it goes on the next time"),
               ("not_run", None)])
        process = place.start("nightly", "--until", "25:00", "jobs.ini")
        _, err = process.communicate(timeout=lib.PATIENCE)
        equal("until: no time of day", process.returncode, 125)
        holds("until: the remedy", err.decode(), "write HH:MM")


def init():
    with lib.Place("nightly-init") as place:
        code, _, err = nightly(place, "--init", "new.ini")
        equal("init", (code, err), (0, ""))
        code, _, err = nightly(place, "--init", "new.ini")
        equal("init: nothing is overwritten", code, 125)
        place.write("train.py", "")
        code, out, err = nightly(place, "--dry-run", "new.ini")
        check("init: the list is right, but for the program",
              code == 0 or ("mistake" in err and "python" in err), err)
        place.write("bin/sinfo", "#!/bin/sh\necho 'gpu* gpu:h100:8 1-00 4'\n",
                    0o755)
        path = place.path("bin") + ":" + os.environ["PATH"]
        _, out, _ = nightly(place, "--init", env={"PATH": path})
        holds("init: partitions", out, r"; gpu\* gpu:h100:8 1-00 4")


nights()
a_newer_torch()
killed()
two_at_once()
ended_together()
until()
init()
lib.finish()
