#!/usr/bin/env python3
# Mistakes in lists of jobs: each with its line and a remedy, nothing started.
# SPDX-License-Identifier: MIT
"""A row is a list, the line of its mistake, and words of the message and of
the remedy. A good job stands in each list; it must not have started.
"""
import os
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import check, equal, holds  # noqa: E402

GOOD = "[job good]\ncommand = ./mark\n"

# (what, text before the good job, line, what is wrong, remedy)
ROWS = [
    ("unknown section", "[jobs]\na = b\n", 1, r"no section is called \[jobs\]",
     r"write \[nightly\], .*or \[job NAME\]"),
    ("key before a section", "device = host\n", 1, "before the first section",
     r"begin with \[nightly\]"),
    ("no name", "[job ]\ncommand = true\n", 1, r"no section|no name",
     r"write \[job |letters, digits"),
    ("a path as name", "[job ../x]\ncommand = true\n", 1, "no name of a job",
     "letters, digits"),
    ("a hidden name", "[job .x]\ncommand = true\n", 1, "no name of a job",
     "letters"),
    ("a blank in the name", "[job a b]\ncommand = true\n", 1,
     "no name of a job", "letters"),
    ("a name twice", "[job a]\ncommand = true\n\n[job b]\ncommand = true\n"
     "[job a]\ncommand = true\n", 6, r"is there twice \(line 1\)", "rename"),
    ("defaults twice", "[defaults]\ndevice = host\n[job a]\ncommand = true\n"
     "[defaults]\ndevice = host\n", 5, "there twice", "remove one"),
    ("a key twice", "[job a]\ncommand = true\ncommand = false\n", 3,
     r"'command' is there twice in \[job a\] \(line 2\)", "keep one"),
    ("a name twice in a row", "[job a]\ncommand = true\n[job a]\n"
     "command = true\n", 4, r"twice in \[job a\] \(line 2\)",
     "rename a section"),
    ("no command", "[job a]\ndevice = host\n", 1, "has no command",
     "add command"),
    ("an empty section", "[job a]\n\n", 1, "is empty", "add command"),
    ("an empty command", "[job a]\ncommand =\n", 2, "command is empty",
     "write the command"),
    ("command in the defaults", "[defaults]\ncommand = true\n", 2,
     r"\[defaults\] has no command", "each job has its own"),
    ("a pipe", "[job a]\ncommand = true | tee x\n", 2, r"'\|' is for a shell",
     "sh -c"),
    ("two commands", "[job a]\ncommand = true && false\n", 2,
     "'&&' is for a shell", "sh -c"),
    ("a redirection", "[job a]\ncommand = true > log\n", 2, "for a shell",
     "name a script"),
    ("a variable", "[job a]\ncommand = true --out $HOME/x\n", 2,
     r"\$HOME is for a shell", "sh -c"),
    ("a folder of a user", "[job a]\ncommand = true --out ~/x\n", 2,
     "'~' is for a shell", "write the path"),
    ("a home", "[job a]\ncommand = true --out ~\n", 2,
     "'~' is for a shell", "write the path"),
    ("a variable in front", "[job a]\ncommand = A=1 true\n", 2,
     "A=1: No such", "environment = NAME=value"),
    ("a command inside", "[job a]\ncommand = true $(date)\n", 2,
     "is for a shell", "sh -c"),
    ("an open quote", "[job a]\ncommand = true 'x\n", 2, "command: ",
     "close what is open"),
    ("a comment cuts", "[job a]\ncommand = true ; --lr 2\n", 2,
     "cut the command off", "script"),
    ("a comment cuts further on", "[job a]\ncommand = true\n    x ; y\n", 3,
     '" ;" in an indented line', "line of its own"),
    ("autofit itself", "[job a]\ncommand = autofit -- true\n", 2,
     "begins with autofit", "write the command alone"),
    ("no such program", "[job a]\ncommand = no-such-program-here x\n", 2,
     "no-such-program-here: No such file", "install it"),
    ("no such path", "[job a]\ncommand = ./gone.sh\n", 2, "gone.sh: No such",
     "name its path"),
    ("not executable", "[job a]\ncommand = ./plain\n", 2,
     "Permission denied", "make it executable"),
    ("no such directory", "[job a]\ncommand = true\ndirectory = gone\n", 3,
     "directory .*gone: No such", "make it"),
    ("a file as directory", "[job a]\ncommand = true\ndirectory = plain\n", 3,
     "is no folder", "name the one"),
    ("no variable", "[job a]\ncommand = true\nenvironment = 1A=b\n", 3,
     "is not NAME=value", "one variable on each line"),
    ("no variable further on", "[job a]\ncommand = true\nenvironment = A=b\n"
     "    B\n", 4, "is not NAME=value", "one variable"),
    ("a variable of autofit", "[job a]\ncommand = true\n"
     "environment = AUTOFIT_MEMORY=8G\n", 3, "is autofit's own",
     "as a key of the job"),
    ("required", "[job a]\ncommand = true\nrequired = maybe\n", 3,
     "'maybe' is not", "yes or no"),
    ("unknown key", "[job a]\ncommand = true\nflavour = vanilla\n", 3,
     "unknown key 'flavour'", "options of autofit tune"),
    ("a slip in a key", "[job a]\ncommand = true\ncomand = true\n", 3,
     "unknown key 'comand'", "did you mean command"),
    ("a slip in an option", "[job a]\ncommand = true\nmemroy = 8G\n", 3,
     "unknown key 'memroy'", "did you mean memory"),
    ("an option of one call", "[job a]\ncommand = true\njson = x\n", 3,
     "belongs to one call", "on the command line"),
    ("no size", "[job a]\ncommand = true\nmemory = lots\n", 3, "memory: ",
     "--help"),
    ("no number", "[job a]\ncommand = true\nmax-probes = -1\n", 3,
     "max-probes: ", "--help"),
    ("no duration", "[job a]\ncommand = true\ntime-limit = soon\n", 3,
     "time-limit: ", "--help"),
    ("no objective", "[job a]\ncommand = true\nobjective = best\n", 3,
     "largest or fastest", "--help"),
    ("no device", "[defaults]\ndevice = tpu\n", 2, "device: ", "--help"),
    ("effective batch", "[job a]\ncommand = true\neffective-batch = 0\n", 3,
     "effective-batch: ", "--help"),
    ("no executor", "[nightly]\nexecutor = pbs\n", 2, "not in this version",
     "write local or slurm"),
    ("at-once", "[nightly]\nat-once = many\n", 2, "at-once 'many' is no "
     "number", "how many jobs"),
    ("a type without Slurm", "[type a]\ngres = gpu:1\n[job x]\n"
     "command = true\ntypes = a\n", 5, "types are for Slurm",
     "executor = slurm"),
    ("no such type", "[nightly]\nexecutor = slurm\n[job x]\n"
     "command = true\ntypes = a b\n[type a]\ngres = gpu:1\n", 5,
     "no type is called b", r"add \[type b\]"),
    ("a type of the defaults", "[nightly]\nexecutor = slurm\n[defaults]\n"
     "types = a\n", 4, "no type is called a", r"add \[type a\]"),
    ("a type twice in one line", "[nightly]\nexecutor = slurm\n[job x]\n"
     "command = true\ntypes = a a\n[type a]\ngres = gpu:1\n", 5,
     "a is there twice", "keep one"),
    ("a type twice", "[type a]\ngres = gpu\n[job x]\ncommand = true\n"
     "[type a]\ngres = gpu\n", 5, r"is there twice \(line 1\)", "rename"),
    ("a type's name", "[type a b]\ngres = gpu\n", 1, "no name of a job or "
     "type", "letters"),
    ("a command in a type", "[type a]\ncommand = true\n", 2,
     r"\[type\] has no command", "each job has its own"),
    ("types in a type", "[type a]\ntypes = b\n", 2, r"\[type\] has no types",
     "name them"),
    ("a slip in a key of Slurm", "[job a]\ncommand = true\nparition = x\n",
     3, "unknown key 'parition'", "did you mean partition"),
    ("two words for Slurm", "[type a]\npartition = a b\n", 2,
     "partition: 'a b' is not one plain word", "without blanks"),
    ("a quote for Slurm", "[type a]\naccount = 'x'\n", 2,
     "account: .* is not one plain word", "without blanks and quotes"),
    ("Slurm's own notation of time", "[type a]\ntime = 01:30:00\n", 2,
     "time: '01:30:00' is no time", "write 90m"),
    ("no nodes", "[type a]\nnodes = 0\n", 2, "nodes: '0' is no number",
     "from 1 to"),
    ("no ranks", "[type a]\nranks = all\n", 2, "ranks: 'all' is no number",
     "from 1 to"),
    ("no option of sbatch", "[type a]\nsbatch = --mem=8G\n    mem=8G\n", 3,
     "sbatch: 'mem=8G' is no option", "write --NAME=VALUE"),
    ("two options of sbatch in a line", "[type a]\n"
     "sbatch = --mem=8G --qos=x\n", 2, "is no option", "one on each line"),
    ("autofit's own option of sbatch", "[type a]\nsbatch = --output=x\n", 2,
     "sbatch: --output is autofit's own", "leave it out"),
    ("unknown key of the night", "[nightly]\nresult = x\n", 2,
     "unknown key 'result'", "has results, publish, executor"),
    ("no folder of results", "[nightly]\nresults =\n", 2, "results is empty",
     "name a folder"),
    ("results is a file", "[nightly]\nresults = plain\n", 2,
     "results .* is no folder", "name another"),
    ("publish below a file", "[nightly]\npublish = plain/x\n", 2,
     "publish .*: Not a directory", "another folder"),
    ("no entry", "[job a]\nthis is nothing\n", 2, "no entry",
     "write key = value"),
    ("an open section", "[job a\ncommand = true\n", 1, "no section",
     r"write \[name\]"),
    ("a long line", "[job a]\ncommand = true %s\n" % ("x" * 200), 2,
     "a line of ", "indented line"),
    ("a NUL", "[job a]\ncommand = tr\0ue\n", 2, "NUL", "text file"),
]


def ask(place, text):
    path = place.path("jobs.ini")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    process = place.start("nightly", "jobs.ini")
    out, err = process.communicate(timeout=lib.PATIENCE)
    return process.returncode, out.decode() + err.decode()


def nothing_started(place):
    return not (os.path.exists(place.path("marked")) or
                os.path.exists(place.path("nightly")))


def each_mistake(place):
    for what, text, line, wrong, remedy in ROWS:
        code, said = ask(place, text + GOOD)
        first = [l for l in said.splitlines()
                 if l.startswith("jobs.ini:%d: " % line) or
                 "jobs.ini:%d: " % line in l]
        equal(what + ": exit code", code, 125)
        if check(what + ": its line", first, said):
            holds(what + ": what and how", first[0], wrong, remedy)
        check(what + ": nothing started", nothing_started(place))


def all_at_once(place):
    code, said = ask(place, "[nightly]\nexecutor = pbs\n[defaults]\n"
                     "device = tpu\n[job a]\nmemory = lots\n[job b]\n"
                     "command = true | x\n[job c]\n"
                     "command = true ~a.key.of.hydra\n" + GOOD)
    lines = [l.split(": ", 1)[0] for l in said.splitlines()]
    equal("all at once, in the order of the file", (code, lines[:5]),
          (125, ["jobs.ini:2", "jobs.ini:4", "jobs.ini:5", "jobs.ini:6",
                 "jobs.ini:8"]))
    holds("all at once: how many", said, "5 mistakes; nothing was started")
    code, said = ask(place, "; nothing\n")
    equal("no job", code, 125)
    holds("no job: the remedy", said, r"jobs.ini:1: there is no job: add")
    process = place.start("nightly", "gone.ini")
    _, err = process.communicate(timeout=lib.PATIENCE)
    equal("no list", process.returncode, 125)
    holds("no list: which", err.decode(), "gone.ini")


with lib.Place("lists") as here:
    here.write("mark", "#!/bin/sh\n: >marked\n", 0o755)
    here.write("plain", "")
    each_mistake(here)
    all_at_once(here)
lib.finish()
