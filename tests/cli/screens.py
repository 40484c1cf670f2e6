#!/usr/bin/env python3
# What a newcomer sees first, at terminals of 60, 80 and 120 columns.
# SPDX-License-Identifier: MIT
# CTEST COST 20
"""Each view on a terminal of its own (a pty), as it was looked at and found good:
tests/data/screens/first/COLUMNS.txt. screens.py --update writes them anew.

What the machine decides is left out: its memory, and how probes are isolated.
The live line and the reports of a tuning are in tests/unit/test_report.c, a
window that is resized in tests/cli/terminal.py.
"""
import fcntl
import os
import re
import shutil
import struct
import subprocess
import sys
import termios

sys.dont_write_bytecode = True  # nothing new beside this file

from lib import (  # noqa: E402
    AUTOFIT, DATA, Place, check, finish, read_terminal)

SIM = os.path.join(os.environ["BUILD"], "sim")
FOLDER = os.path.join(DATA, "screens", "first")
WIDTHS = (60, 80, 120)
COMMAND = ["--", "./train.sh", "--batch-size", "8", "--grad-accum", "16"]

# Words, and whether every line is narrower than the terminal: not where a line
# is a command, or a file, which stays whole.
VIEWS = [
    (["-h"], True),
    (["--help"], True),
    (["tune", "-h"], True),
    (["estimate", "-h"], True),
    (["show", "--help"], True),
    (["list"], True),
    (["presets"], False),
    (["devices"], True),
    (["explain", "--device", "host", "--memory", "512M", *COMMAND], True),
    (["estimate", "llama-3.1-8b"], True),
    (["estimate", "--lora", "16", "--as", "rtx4090", "llama-3.1-8b"], True),
    (["estimate", "--fit", "24GiB"], True),
    (["estimate", "--need", "llama-3.1-8b"], True),
    (["estimate", "--compare", "gpt2"], True),
    (["estimate", "--generation", "gpt2"], True),
    (["import", "record.ini"], True),
    (["show"], True),
    (["show", "trainer-host-memory-2316"], False),
    (["estimate", "--lora", "llama-3.1-8b"], False),
    (["tune", "./train.sh"], False),
    (["estimate", "llama-9"], False),
]

MASKS = [
    # Of the machine.
    (r"(?m)^Host memory: .*\n(?:     .*\n)*", "Host memory: ...\n"),
    (r"(?m)^writes    .*\n(?:          .*\n)*", "writes    ...\n"),
]


def on_terminal(place, columns, words):
    """What autofit writes to a terminal that is so wide.

    It leads no session of that terminal: where a leader ends, Linux throws
    away what has not been read.
    """
    ours, theirs = os.openpty()
    size = struct.pack("HHHH", 24, columns, 0, 0)
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, size)
    autofit = subprocess.Popen(
        ["autofit", *words], executable=AUTOFIT, cwd=place.folder,
        env=dict(place.env, TERM="xterm"), stdin=theirs, stdout=theirs,
        stderr=theirs)
    os.close(theirs)
    text = b""
    while data := read_terminal(ours):
        text += data
    os.close(ours)
    check("%d columns: %s: ends by itself" % (columns, " ".join(words)),
          autofit.wait() >= 0, autofit.returncode)
    return text.decode().replace("\r\n", "\n").replace(
        os.path.realpath(place.folder), "/here")


def capture(columns):
    shown = ""
    with Place("screens") as place:
        place.env.pop("COLUMNS", None)
        place.env.update(LD_LIBRARY_PATH=SIM, AUTOFIT_SIM_SERIAL="",
                         AUTOFIT_SIM_DEVICES="NVIDIA H100 80GB HBM3:80G:500M",
                         AUTOFIT_SIM_STATE=place.path("sim"))
        place.write("train.sh", "#!/bin/sh\n", 0o755)
        shutil.copy(os.path.join(DATA, "records", "record.ini"),
                    place.path("record.ini"))
        for words, is_narrow in VIEWS:
            text = on_terminal(place, columns, words)
            plain = re.sub("\x1b\\[[0-9;]*m", "", text)
            check("%d columns: %s: nothing moves" % (columns, " ".join(words)),
                  not re.search("[\r\x1b]", plain), repr(plain[:400]))
            wide = [line for line in plain.split("\n") if len(line) > columns]
            check("%d columns: %s: no line is wider" % (
                columns, " ".join(words)), not (is_narrow and wide), wide)
            for pattern, words_instead in MASKS:
                plain = re.sub(pattern, words_instead, plain)
            shown += "$ autofit %s\n%s\n" % (" ".join(words), plain)
    return shown


def compare(columns, shown):
    path = os.path.join(FOLDER, "%d.txt" % columns)
    if "--update" in sys.argv:
        os.makedirs(FOLDER, exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(shown)
    with open(path, encoding="utf-8") as file:
        wanted = file.read()
    views = [text.split("\n$ autofit ") for text in (shown, wanted)]
    for got, want in zip(*views):
        check("%d columns: autofit %s" % (columns, want.split("\n")[0]),
              got == want, "shows:\n%s\nwas:\n%s" % (got, want))
    check("%d columns: as many views" % columns,
          len(views[0]) == len(views[1]))


def main():
    for columns in WIDTHS:
        compare(columns, capture(columns))
    finish()


main()
