# Several starts of autofit at one time, each with what it printed so far.
# SPDX-License-Identifier: MIT
"""A Start runs in the background; Notes is what helpers/noted.sh wrote."""
import json
import os
import signal
import subprocess
import time

import lib

NOTED = os.path.join(lib.SOURCE, "tests", "cli", "helpers", "noted.sh")


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def seconds_since_boot():
    """The clock of the notes."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Notes:
    """The folder $NOTES, which probes may write to for real."""

    def __init__(self, place):
        self.place = place
        self.folder = place.path("notes")
        os.makedirs(self.folder)
        place.env["NOTES"] = self.folder

    def lines(self, word):
        text = read(os.path.join(self.folder, "log"))
        return [x for x in map(str.split, text.splitlines()) if x[0] == word]

    def probes(self):
        return self.lines("probe")

    def runs(self):
        return self.lines("run")

    def options(self):
        return ["--allow-writes", self.folder]

    def clear(self):
        with open(os.path.join(self.folder, "log"), "w", encoding="ascii"):
            pass


class Start:
    """autofit in a session of its own; its output goes to files."""

    count = 0

    def __init__(self, place, *words, env=None, json_of=True):
        Start.count += 1
        self.stem = place.path("start-%d" % Start.count)
        arguments = list(words)
        if json_of:
            place_of = 1 if arguments[0] == "tune" else 0
            arguments[place_of:place_of] = ["--json", self.stem + ".json"]
        with open(self.stem + ".out", "wb") as out, open(
            self.stem + ".err", "wb"
        ) as err:
            self.process = subprocess.Popen(
                [lib.AUTOFIT, *arguments],
                cwd=place.folder,
                env=dict(place.env, **(env or {})),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        self.pid = self.process.pid

    def err(self):
        return read(self.stem + ".err")

    def is_waiting(self):
        return "waiting for" in self.err()

    def has_ended(self):
        return self.process.poll() is not None

    def send(self, number):
        """To its whole process group, as a terminal does."""
        os.killpg(self.pid, number)

    def end(self, timeout=lib.PATIENCE):
        """Its Answer, once it is over."""
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.send(signal.SIGKILL)
            self.process.wait()
        text = read(self.stem + ".json")
        return lib.Answer(
            self.process.returncode,
            read(self.stem + ".out"),
            self.err(),
            json.loads(text) if text else None,
        )
