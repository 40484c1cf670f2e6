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

SIM = os.path.join(os.environ["BUILD"], "sim")
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


def of_another_user(place, number, *words, **env):
    """autofit of a user who has no record, in front of the published ones."""
    return place.run(*words, env=dict(
        {"AUTOFIT_HOME": place.path("user-%d" % number),
         "AUTOFIT_SITE": place.path("site")}, **env))


# What another user's command has otherwise, as options and as words of it, and
# what the published record is then worth.
OTHERS = (
    ("the same", [], [], "exact"),
    ("another learning rate", [], ["--lr", "0.1"], "exact"),
    ("another argument", [], ["--per-sample-kib", "1000"], "near"),
    ("less memory", ["--memory", "50M"], [], "hint"),
    ("more memory", ["--memory", "70M"], [], "hint"),
    ("another headroom", ["--headroom", "3M"], [], "hint"),
    ("another batch", ["--effective-batch", "64"], [], "hint"),
)


def worth(place, number, options, command, **env):
    """What the published record is worth to the user of that number, and
    whether it would be used without a probe."""
    answer = of_another_user(place, number, "explain", *options, "--",
                             *command, **env)
    if not answer.result or not answer.result["record"]:
        return answer.err, False
    return (answer.result["record"]["grade"],
            "used without a probe" in answer.out)


def others(place):
    """What is not the same is never taken as it is: near is worth one check
    probe, a hint is where a tuning begins."""
    for number, (name, options, more, wanted) in enumerate(OTHERS):
        options, command = [*WORDS, *options], [*COMMAND, *more]
        equal(name + ": what the record is worth, and used",
              worth(place, number, options, command),
              (wanted, wanted == "exact"))
        ran = of_another_user(place, number, *options, "--no-probe", "--",
                              *command)
        equal(name + ": used by a start", bool(
            ran.result and ran.result["outcome"] == "reused"),
            wanted == "exact")


def another_script(place):
    """The same words, but the script says something else now."""
    script = 'exec %s --steps 6 --step-ms 5 --per-sample-kib %d "$@"\n'
    command = ["sh", "run.sh", "--batch-size", "4", "--grad-accum", "8"]
    place.write("run.sh", script % (lib.TRAINER, 1024))
    place.write("jobs-2.ini", LIST % ("night-2", " ".join(command)))
    publish_first(place, 2)
    equal("the same script", worth(place, 20, WORDS, command),
          ("exact", True))
    place.write("run.sh", script % (lib.TRAINER, 1023))
    equal("another script", worth(place, 21, WORDS, command),
          ("near", False))


# A machine of the simulated driver, and what the kernel's driver lists of it.
MOUNT = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
         'mount --bind "$1" /proc/driver && shift && exec "$@"', "sh"]


def machine(place, name, cards):
    for bus, card in enumerate(cards):
        place.write("%s/nvidia/gpus/0000:%02x:00.0/information" % (
            name, bus + 1), "Model: %s\nGPU UUID: %s\n" % (
                card, lib.sim_uuid(bus)))
    place.prefix = [*MOUNT, place.path(name)]
    return dict(LD_LIBRARY_PATH=SIM, AUTOFIT_SIM_STATE=place.path(
        "gpu-state", name), AUTOFIT_SIM_DEVICES=";".join(
            card + ":24G:500M" for card in cards))


def another_device(place):
    """Of a GPU: exact on the same model, a hint on another one."""
    trainer = os.path.join(SIM, "sim_trainer")
    if not os.path.exists(trainer) or subprocess.call(
            [*MOUNT, place.path("site"), "true"], stderr=subprocess.DEVNULL):
        print("# no simulated driver, or no mounts: no other GPU")
        return
    os.makedirs(place.path("gpu-state"))
    options = ["--confirm-steps", "3", "--allow-writes",
               place.path("gpu-state")]
    command = [trainer, "--batch-size", "8", "--grad-accum", "16", "--steps",
               "40", "--fixed-mib", "4000", "--per-sample-kib", "400000",
               "--step-ms", "5"]
    place.write("jobs-3.ini", "[nightly]\npublish = site\nresults = night-3\n"
                "[job gpu]\nconfirm-steps = 3\nallow-writes = %s\n"
                "command = %s\n" % (options[-1], " ".join(command)))
    env = machine(place, "node-1", ["Sim H200"])
    night = place.ask("nightly", "--quiet", "jobs-3.ini", env=dict(
        env, AUTOFIT_HOME=place.path("home-3")))
    equal("another device: the night", night.status, 0)
    for number, (name, cards, wanted) in enumerate((
            ("the same model", ["Sim H200"], "exact"),
            ("another model", ["Sim A100"], "hint"),
            ("two models", ["Sim A100", "Sim H200"], "hint")), 30):
        env = machine(place, "node-%d" % number, cards)
        equal("another device: " + name,
              worth(place, number, options, command, **env),
              (wanted, wanted == "exact"))
    place.prefix = []


with lib.Place("published") as here:
    rounds(here)
    others(here)
    another_script(here)
    another_device(here)
lib.finish()
