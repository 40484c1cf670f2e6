#!/usr/bin/env python3
# Published records and summaries are never seen half written, by any reader.
# SPDX-License-Identifier: MIT
"""Writers publish one record again and again, two at once, as two nights would;
readers without locks read every file of the site all the while, and autofit
itself answers from it. With AUTOFIT_NIGHTLY=1 10,000 rounds, else 300.
"""
import json
import os
import re
import subprocess
import sys
import threading

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import check, equal  # noqa: E402

ROUNDS = 10000 if os.environ.get("AUTOFIT_NIGHTLY") else 300
WORDS = ["--device", "host", "--headroom", "2M", "--confirm-steps", "3",
         "--memory", "60M"]
COMMAND = [lib.TRAINER, "--batch-size", "4", "--grad-accum", "8", "--steps",
           "6", "--step-ms", "5", "--per-sample-kib", "1024"]
LIST = """\
[nightly]
publish = site
results = %s
[defaults]
device = host
headroom = 2M
confirm-steps = 3
memory = 60M
[job a]
command = %s
"""


# What a file is called for a moment, before it takes the place of another.
PASSING = re.compile(r"\.[A-Za-z0-9]{6}$")


class Reader(threading.Thread):
    """Reads the files of a folder, by their names, until it is told to end."""

    def __init__(self, folder, is_whole):
        super().__init__()
        self.folder, self.is_whole = folder, is_whole
        self.ends, self.rounds, self.bad = False, 0, []

    def run(self):
        while not self.ends:
            for name in os.listdir(self.folder):
                if PASSING.search(name):
                    continue
                try:
                    with open(os.path.join(self.folder, name),
                              encoding="utf-8") as file:
                        text = file.read()
                except FileNotFoundError:
                    self.bad.append((name, "is gone"))
                    continue
                self.rounds += 1
                if not self.is_whole(text):
                    self.bad.append((name, text[-200:]))


def newer(text, created):
    """The same record, made later: it replaces the one that is there."""
    return re.sub(r"(?m)^created = \d+", "created = %d" % created, text)


def publish(place, night, home, created):
    """A night whose only job has a record of its own, and publishes it."""
    folder = place.path(home, "records")
    name = os.listdir(folder)[0]
    path = os.path.join(folder, name)
    with open(path, encoding="utf-8") as file:
        text = newer(file.read(), created)
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path + ".new", 0o600)
    os.rename(path + ".new", path)
    process = place.start("nightly", "--quiet", night,
                          env={"AUTOFIT_HOME": place.path(home)})
    process.communicate(timeout=lib.PATIENCE)
    return process.returncode


def writer(place, number, codes, whole):
    created = 1700000000
    while not whole.is_set():
        created += 1
        codes.append(publish(place, "jobs-%d.ini" % number,
                             "home-%d" % number, created))


def rounds(place):
    for number in (0, 1):
        place.write("jobs-%d.ini" % number, LIST % (
            "night-%d" % number, " ".join(COMMAND)))
        publish_first(place, number)
    site = place.path("site", "records")
    with open(os.path.join(site, os.listdir(site)[0]),
              encoding="utf-8") as file:
        length = len(file.read())
    readers = [Reader(site, lambda text: abs(len(text) - length) < 40 and
                      text.endswith("\n") and "created = " in text),
               Reader(place.path("night-0", "best", "a"), lambda text:
                      text.endswith("\n"))]
    codes, whole = [], threading.Event()
    writers = [threading.Thread(target=writer, args=(place, n, codes, whole))
               for n in (0, 1)]
    for thread in readers + writers:
        thread.start()
    lib.wait_for(lambda: len(codes) >= ROUNDS / 10)
    asked = [place.run(*WORDS, "--no-probe", "--", *COMMAND,
                       env={"AUTOFIT_HOME": place.path("user"),
                            "AUTOFIT_SITE": place.path("site")})
             for _ in range(5)]
    lib.wait_for(lambda: min(r.rounds for r in readers) >= ROUNDS)
    whole.set()
    for thread in writers:
        thread.join()
    for reader in readers:
        reader.ends = True
        reader.join()
    equal("rounds: every night published", set(codes), {0})
    check("rounds: enough of them", min(r.rounds for r in readers) >= ROUNDS)
    equal("rounds: no reader saw half a file",
          readers[0].bad[:3] + readers[1].bad[:3], [])
    equal("rounds: autofit reads it all the while",
          {(a.result["outcome"], a.result["recommended"]["micro_batch"],
            a.result["probe_count"]) for a in asked}, {("reused", 32, 0)})
    equal("rounds: one file, whatever the writers", len(os.listdir(site)), 1)
    for number in (0, 1):
        path = place.path("night-%d" % number, "summary.json")
        with open(path, encoding="utf-8") as file:
            equal("rounds: the summary is whole",
                  json.load(file)["jobs"][0]["micro_batch"], 32)


def publish_first(place, number):
    process = place.start("nightly", "--quiet", "jobs-%d.ini" % number, env={
        "AUTOFIT_HOME": place.path("home-%d" % number)})
    process.communicate(timeout=lib.PATIENCE)
    equal("first night %d" % number, process.returncode, 0)


def quick(place):
    """Another user, another home: the answer without a probe, quickly."""
    env = dict(place.env, AUTOFIT_HOME=place.path("user"),
               AUTOFIT_SITE=place.path("site"))
    done = subprocess.run([lib.AUTOFIT, *WORDS, "--", *COMMAND], env=env,
                          cwd=place.folder, capture_output=True, text=True,
                          check=False, timeout=lib.PATIENCE)
    check("another user: no probe", "no probe" in done.stderr, done.stderr)
    other = [*COMMAND[:-1], "2048"]
    answer = place.run("explain", *WORDS, "--", *other, env={
        "AUTOFIT_HOME": place.path("user"),
        "AUTOFIT_SITE": place.path("site")})
    grade = (answer.result.get("record") or {}).get("grade")
    check("another command: never exact", grade in ("near", "hint", None),
          grade)


with lib.Place("published") as here:
    rounds(here)
    quick(here)
lib.finish()
