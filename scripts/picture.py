#!/usr/bin/env python3
# Draws a run of autofit at a terminal as an SVG, for the README.
# SPDX-License-Identifier: MIT
"""picture.py run    runs the command of docs/picture.txt, writes the text anew
picture.py draw   docs/picture.txt as an SVG, to standard output

The first line of docs/picture.txt is the command after its "$ ", and the rest
what it printed, without the lines of the training. AUTOFIT names the program,
else it is build/release/autofit. Text and picture are of one run.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile
from xml.sax.saxutils import escape

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TEXT = os.path.join(SOURCE, "docs/picture.txt")
AUTOFIT = os.environ.get("AUTOFIT",
                         os.path.join(SOURCE, "build/release/autofit"))
WIDTH, LINE, MARGIN, TOP = 8.4, 19, 16, 36
COLUMNS = 80
# What a terminal would paint: the first that a line matches.
PAINTS = (
    (r"^\$ ", "#9ecbff", "bold"),
    (r"^autofit: micro .* fits", "#85e89d", "bold"),
    (r"^autofit ", "#e1e4e8", "bold"),
    (r"^  use: ", "#ffea7f", "bold"),
    (r"^  best ", "#85e89d", "normal"),
    (r"\] .* fits", "#85e89d", "normal"),
    (r"over the limit", "#ffab70", "normal"),
    (r"^  testing|^    Ctrl-C|^   micro ", "#959da5", "normal"),
)


def read():
    with open(TEXT) as file:
        return file.read().splitlines()


def paint(line):
    for pattern, colour, weight in PAINTS:
        if re.search(pattern, line):
            return colour, weight
    return "#d1d5da", "normal"


def draw(lines):
    width = COLUMNS * WIDTH + 2 * MARGIN
    height = len(lines) * LINE + TOP + MARGIN
    yield ('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
           'viewBox="0 0 %d %d" role="img" aria-label="a tuning by autofit">'
           % (width, height, width, height))
    yield '<rect width="100%" height="100%" rx="8" fill="#1f2428"/>'
    for number, colour in enumerate(("#f97583", "#ffea7f", "#85e89d")):
        yield ('<circle cx="%d" cy="16" r="5" fill="%s"/>'
               % (MARGIN + 6 + 18 * number, colour))
    yield ('<g font-family="ui-monospace,Menlo,Consolas,monospace" '
           'font-size="14" xml:space="preserve">')
    for number, line in enumerate(lines):
        colour, weight = paint(line)
        if line:
            yield ('<text x="%d" y="%d" fill="%s" font-weight="%s" '
                   'textLength="%.1f" lengthAdjust="spacingAndGlyphs">'
                   '%s</text>'
                   % (MARGIN, TOP + (number + 0.7) * LINE, colour, weight,
                      len(line) * WIDTH, escape(line)))
    yield "</g>"
    yield "</svg>"


def run():
    """What the command prints now, in a home of its own."""
    lines = read()
    command = lines[0][2:]
    for line in lines[1:]:
        if not line.startswith("> "):
            break
        command = command.rstrip("\\") + line[2:]
    words = shlex.split(command)
    assert words[0] == "autofit", words
    with tempfile.TemporaryDirectory(prefix="autofit-picture-") as home:
        env = dict(os.environ, AUTOFIT_HOME=home, LC_ALL="C.UTF-8",
                   CI="true", NO_COLOR="1")
        done = subprocess.run([AUTOFIT] + words[1:], cwd=SOURCE, env=env,
                              stderr=subprocess.PIPE, text=True, check=True,
                              stdout=subprocess.DEVNULL)
        said = done.stderr.replace(home, "~/.local/state/autofit")
    kept = [line for line in lines if re.match(r"[$>] ", line)]
    return kept + said.splitlines()


def main(what):
    if what == "draw":
        print("\n".join(draw(read())))
    else:
        text = "\n".join(run()) + "\n"
        with open(TEXT, "w") as file:
            file.write(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
