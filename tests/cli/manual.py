#!/usr/bin/env python3
# The examples of the documentation print what the documentation shows.
# SPDX-License-Identifier: MIT
"""Runs every command of the console blocks of some pages, and compares. Calls of
autofit that are only shown are explained; other commands stand in ELSEWHERE.

A command begins with "$ ", its further lines with "> "; what follows is its
output. "..." stands for any text that was left out. Sizes must be those of the
page; what depends on the machine (bytes, times, paths, dates) is masked.

manual.py --update writes the present output into the pages, but for those
commands whose output was shortened by hand. AUTOFIT and SOURCE as in all tests.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys

from lib import AUTOFIT, PATIENCE, SOURCE, TRAINER, Place, check, finish

PAGES = ["README.md", "docs/manual.md", "docs/presets.md"]

MASKS = [
    (r"writes\s+probes write into a copy-on-write view.*?(?=first probe)",
     "WRITES "),
    (r"writes\s+(?:probes|Landlock|folders).*?(?=first probe)", "WRITES "),
    (r"probe(?:s write|s'| writes)[^;]*;\s+Ctrl-C", "WRITES; Ctrl-C"),
    (r"\[[#!-]{8}\]", "BAR"),
    (r"(?<![\w.])/[^\s:;,)']+", "PATH"),
    (r"\b20\d\d-\d\d-\d\d(T[\d:]+Z)?\b", "DATE"),
    (r"\d[\d.]* of (?=\d)", "N of "),
    (r"[<>] (?=\d)", ""),
    (r"(?<![\w.])-?\d[\d.]* ?([KMGT]iB|ms|us|s|min|h)\b", "N"),
    (r"\d[\d.]* samples/s", "N samples/s"),
    (r"\(\d+\.\d+x\)", "(N)"),
    # A machine that others use makes the larger size the slower one.
    (r", but trains slower than your sizes: [\d.]+x\. --objective fastest "
     "takes the fastest split that fits", ""),
    (r"(BAR +(?:N|-)) +(?:[\d.]+|-)", r"\1 N"),
    (r"BAR +- N", "BAR N N"),
    (r"confirmed over \d+ steps", "confirmed over N steps"),
    (r'"(\w*(?:bytes|seconds))": [\d.]+', r'"\1": N'),
    (r"-[0-9a-f]{4}\b", "-HASH"),
    (r"CHANNEL_FD=\d+", "CHANNEL_FD=N"),
    (r"about micro \d+", "about micro N"),
    (r"autofit \d+\.\d+\.\d+", "autofit N"),
    (r"(loss|autofit  ) +[\d.]+", r"\1 N"),
]


# Commands of indented blocks that do not run here, and why.
ELSEWHERE = {
    "scripts/demo": "installs packages, and tunes a PyTorch example",
    "scripts/test": "is what runs this test",
    "scripts/package": "tests/packages.py runs it",
    "cmake --preset release": "is how the program under test was built",
    "cmake --install": "tests/install.sh runs it",
    "autofit phantom": "tests/cli/phantom.py runs it",
    "autofit tune --device phantom": "tests/cli/phantom.py runs it",
    "autofit --memory 60G -- srun": "tests/cli/step_ranks.py runs one, inside "
                                    "of a job",
}
# "command..." is a form to fill in, no command.
SHOWN = re.compile(
    r"    (?:\$ )?((?:autofit |scripts/\w+|cmake |pip |apt ).*(?<!command\.\.\.))")
# What the commands that are only shown start.
STUB = """
parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=8)
parser.add_argument("--grad-accum", type=int, default=1)
"""


class Example:
    """A command of a page and the lines that are shown below it."""

    def __init__(self, line, command):
        self.line = line  # of the page, from 0
        self.command = [command]
        self.shown = []


def read_examples(lines):
    found = []
    inside = False
    for number, line in enumerate(lines):
        if line.startswith("```"):
            inside = line == "```console"
        elif inside and line.startswith("$ "):
            found.append(Example(number, line[2:]))
        elif inside and re.match(">( |$)", line) and not found[-1].shown:
            found[-1].command.append(line[2:])
        elif inside:
            found[-1].shown.append(line)
    return found


def masked(text):
    text = re.sub(r"\s+", " ", text)
    for pattern, mask in MASKS:
        text = re.sub(pattern, mask, text)
    return re.sub(r"\s+", " ", text).strip()


def same(shown, got):
    parts = [re.escape(masked(part)) for part in shown.split("...")]
    return re.fullmatch(r"\s*.*?\s*".join(parts), masked(got), re.DOTALL)


def run_examples(examples, env, folder, out):
    """The outputs. One shell for all: what it exports stays."""
    script = []
    for number, example in enumerate(examples):
        script.append("{\n%s\n} >%s/%d 2>&1 </dev/null"
                      % ("\n".join(example.command), out, number))
    subprocess.run(["bash", "-c", "\n".join(script)], cwd=folder, env=env,
                   timeout=PATIENCE, check=False)
    outputs = []
    for number in range(len(examples)):
        path = os.path.join(out, str(number))
        with open(path, errors="replace") as file:
            outputs.append(file.read().expandtabs().rstrip("\n"))
    return outputs


def updated(lines, examples, outputs):
    """The lines of the page with the outputs in them."""
    for example, got in reversed(list(zip(examples, outputs))):
        if any("..." in line for line in example.shown):
            continue
        first = example.line + len(example.command)
        lines[first:first + len(example.shown)] = got.splitlines()
    return lines


def clone(place, name):
    """A folder as a reader has it: the examples, and a build of autofit."""
    folder = place.path(name)
    os.makedirs(os.path.join(folder, "build", "release"))
    shutil.copytree(os.path.join(SOURCE, "examples"),
                    os.path.join(folder, "examples"))
    for program in (AUTOFIT, TRAINER):
        os.symlink(program, os.path.join(folder, "build", "release",
                                         os.path.basename(program)))
    return folder


def check_page(place, page):
    path = os.path.join(SOURCE, page)
    with open(path) as file:
        lines = file.read().splitlines()
    examples = read_examples(lines)
    name = os.path.basename(page)
    out = place.path(name + ".out")
    os.makedirs(out)
    outputs = run_examples(examples, place.env, clone(place, name), out)
    check("%s has examples" % page, examples)
    for example, got in zip(examples, outputs):
        check("%s:%d prints what is shown"
              % (page, example.line + 1),
              same("\n".join(example.shown), got),
              "%s\nprints\n%s\nmasked, shown and got:\n%s\n%s"
              % ("\n".join(example.command), got,
                 masked("\n".join(example.shown)), masked(got)))
    if sys.argv[1:] == ["--update"]:
        with open(path, "w") as file:
            file.write("\n".join(updated(lines, examples, outputs)) + "\n")


def check_shown(place, pages):
    """Every command that is indented is understood, or ELSEWHERE says why not."""
    place.write("train.py", STUB)
    place.write("train.sh", 'exec python train.py --batch-size "$1" '
                '--grad-accum "$2"\n', 0o755)
    unused = set(ELSEWHERE)
    for page in pages:
        with open(os.path.join(SOURCE, page)) as file:
            found = [SHOWN.fullmatch(line) for line in file.read().splitlines()]
        for command in [match.group(1).split("  #")[0].strip()
                        for match in found if match]:
            words = shlex.split(command)
            names = [name for name in ELSEWHERE if command.startswith(name)]
            unused -= set(names)
            if not names and words[0] == "autofit" and "--" in words:
                told = place.run("explain", "--device", "host", *words[1:])
                check("%s: %s is understood" % (page, command),
                      told.status == 0, told.err)
                continue
            check("%s: %s stands in ELSEWHERE" % (page, command), names)
    check("ELSEWHERE names only what is shown", not unused, unused)


def main():
    with Place("manual") as place:
        check_shown(place, PAGES)
        for page in PAGES:
            check_page(place, page)
    finish()


main()
