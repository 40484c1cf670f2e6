#!/usr/bin/env python3
# The table of a night at a terminal, what stays of it, and other sizes.
# SPDX-License-Identifier: MIT
"""The night runs on a terminal of its own (a pty). What it writes is read as a
terminal would show it, so that rows are seen where a person sees them.
"""
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import check, equal, holds, lacks  # noqa: E402

LIST = """\
[defaults]
device = host
headroom = 2M
confirm-steps = 3
memory = 60M
[job first]
command = %s
[job a-job-with-a-long-name-that-has-to-be-cut]
command = %s
[job gated]
command = sh gated.sh
    --batch-size 4 --grad-accum 8
allow-writes = %s
"""
TRAINER = ("%s --batch-size 4 --grad-accum 8\n    --steps 10 --step-ms 20 "
           "--per-sample-kib 1024" % lib.TRAINER)
# Its first probe waits until the test has seen enough. What comes into a folder
# later, a probe's view of it need not show: this one is shared.
GATED = """\
while [ ! -e %s ]; do sleep 0.05; done
exec %s --steps 10 --step-ms 5 --per-sample-kib 1024 "$@"
"""


class Screen:
    """As much of a terminal as the night uses; lines are kept for ever."""

    def __init__(self):
        self.lines, self.row, self.column, self.left = [""], 0, 0, ""
        self.widest = 0

    def put(self, text):
        text = self.left + text
        self.left = ""
        at = 0
        while at < len(text):
            code = re.compile(r"\x1b\[(\d*)([A-Za-z])").match(text, at)
            if text[at] == "\x1b" and not code:
                self.left = text[at:]
                return
            if code:
                self.escape(int(code[1] or 1), code[2])
                at = code.end()
                continue
            self.letter(text[at])
            at += 1

    def letter(self, letter):
        if letter == "\r":
            self.column = 0
        elif letter == "\n":
            self.row, self.column = self.row + 1, 0
            if self.row == len(self.lines):
                self.lines.append("")
        else:
            line = self.lines[self.row].ljust(self.column)
            self.lines[self.row] = (line[:self.column] + letter +
                                    line[self.column + 1:])
            self.column += 1
            self.widest = max(self.widest, self.column)

    def escape(self, number, letter):
        if letter == "A":
            self.row = max(0, self.row - number)
        elif letter == "K":
            self.lines[self.row] = self.lines[self.row][:self.column]
        elif letter == "J":
            self.lines[self.row] = self.lines[self.row][:self.column]
            del self.lines[self.row + 1:]

    def text(self):
        return "\n".join(self.lines)


class Night:
    """autofit nightly on a terminal of this size."""

    def __init__(self, place, columns, rows, **environment):
        self.screen, self.raw, self.status = Screen(), "", None
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ,
                        struct.pack("HHHH", rows, columns, 0, 0))
            os.chdir(place.folder)
            os.execve(lib.AUTOFIT, ["autofit", "nightly", "jobs.ini"],
                      dict(dict(place.env, TERM="xterm"),
                           **environment))

    def resize(self, columns, rows):
        """The terminal tells its processes by SIGWINCH."""
        fcntl.ioctl(self.master, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))

    def read(self):
        """What there is; False: it has ended."""
        ready, _, _ = select.select([self.master], [], [], 0.05)
        if not ready:
            return True
        text = lib.read_terminal(self.master).decode(errors="replace")
        if not text:
            return False
        self.raw += text
        self.screen.put(text)
        return True

    def until(self, *patterns):
        """Reads until all of them are on the screen at once."""
        end = time.monotonic() + lib.PATIENCE
        while time.monotonic() < end:
            goes_on = self.read()
            if all(re.search(p, self.screen.text(), re.M) for p in patterns):
                return True
            if not goes_on:
                return False
        return False

    def to_its_end(self):
        pid = 0
        while not pid:
            self.read()
            pid, status = os.waitpid(self.pid, os.WNOHANG)
        while select.select([self.master], [], [], 0)[0] and self.read():
            pass
        os.close(self.master)
        return os.waitstatus_to_exitcode(status)


def prepare(place):
    os.makedirs(place.path("gates"))
    place.write("jobs.ini", LIST % (TRAINER, TRAINER, place.path("gates")))
    place.write("gated.sh", GATED % (place.path("gates", "open"),
                                     lib.TRAINER))


def wide():
    with lib.Place("live") as place:
        prepare(place)
        night = Night(place, 100, 40)
        check("wide: a row for each, running and waiting", night.until(
            r"^ +job +state +time +probes +best so far +node$",
            r"^  first  +runs +\d+:\d\d +\d",
            r"^  a-job-with-a-long-name-that-has-  waits$",
            r"^  gated  +waits$"), night.screen.text())
        check("wide: probes and the best of them", night.until(
            r"runs +\d+:\d\d +\d+  micro \d+ x accum \d+"),
            night.screen.text())
        check("wide: what is over has a line above the table", night.until(
            r"^\[1/3\] first: micro 32 x accum 1(.*\n)+ +job +state",
            r"^  gated  +runs +\d+:\d\d"), night.screen.text())
        before = len(night.raw)
        night.resize(40, 40)
        check("resized: drawn anew", night.until(
            r"(job +state(.*\n)+)+.*job +state"), night.screen.text())
        night.screen.widest = 0
        drawn = lib.wait_for(lambda: night.read() and
                             night.screen.widest > 20, 30)
        check("resized: no line is wider",
              drawn and night.screen.widest <= 39, night.raw[before:])
        night.resize(100, 40)
        place.write("gates/open", "")
        equal("wide: exit", night.to_its_end(), 0)
        last = night.screen.text().rstrip("\n").splitlines()
        holds("wide: the lines stay", "\n".join(last), r"\[1/3\] first: ",
              r"\[3/3\] gated: micro 32 x accum 1",
              "autofit: 3 jobs: 3 new, 0 to look at")
        check("wide: and nothing of the table below them",
              not re.search("job +state", "\n".join(last[-3:])), last)


def low():
    """As many rows as there is room for; the others are counted."""
    with lib.Place("live-low") as place:
        prepare(place)
        night = Night(place, 80, 4)
        check("low: the others are counted", night.until(
            r"^  first  +runs", r"^  and 2 more$"), night.screen.text())
        place.write("gates/open", "")
        equal("low: exit", night.to_its_end(), 0)


def plain():
    """No terminal that can draw: lines alone, as in a file."""
    with lib.Place("live-plain") as place:
        prepare(place)
        place.write("gates/open", "")
        for name, environment in (("dumb", {"TERM": "dumb"}),
                                  ("CI", {"CI": "true"})):
            night = Night(place, 80, 24, **environment)
            equal(name + ": exit", night.to_its_end(), 0)
            lacks(name + ": no escape", night.raw, "\x1b")
            holds(name + ": its lines", night.raw, r"\[3/3\] gated: ")
        answer = place.ask("nightly", "jobs.ini")
        lacks("a pipe: no escape", answer.err, "\x1b")


wide()
low()
plain()
lib.finish()
