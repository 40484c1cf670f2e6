# The corpus: command lines of public repositories, each beside a stand-in.
# SPDX-License-Identifier: MIT
"""A folder of tests/data/corpus is one repository, OWNER--NAME. Its cases.ini
has a section for each command line; the files beside it stand in for the
repository's own: ours, with the same options, defaults, divisions and loop.

    [what the command is for]
    from = README.md            where in the repository it stands
    command = torchrun --nproc_per_node=8 main.py --batch_size 64
    sizes = 64 x 1 x 8          what it means, as the program runs it:
                                rows a pass x passes a step x ranks
    asks = --micro-scope        or: why it is rightly refused, a pattern that
                                the message must have
    env = NAME=value            variables, if any (words as a shell splits them)
    trains = yes                the stand-in trains on a CPU (sizes needed); its
                                command may differ from `command` where that
                                needs GPUs or data: `run = python main.py ...`
    run = ...                   with its own meaning in `run sizes`
    run sizes = 8 x 2 x 2
"""
import configparser
import os
import re
import shlex
import shutil

import lib

FOLDER = os.path.join(lib.DATA, "corpus")
SIZES = re.compile(r"effective batch (\d+) = (\d+) x (\d+) x (\d+)")


def as_sizes(text):
    """The three numbers of "8 x 2 x 4"."""
    return tuple(int(word) for word in text.split(" x "))


class Case:
    def __init__(self, repository, title, fields):
        self.repository = repository
        self.name = "%s: %s" % (repository.replace("--", "/"), title)
        self.words = shlex.split(fields["command"])
        self.env = dict(
            word.split("=", 1) for word in shlex.split(fields.get("env", ""))
        )
        self.sizes = as_sizes(fields["sizes"]) if "sizes" in fields else None
        self.asks = fields.get("asks")
        self.trains = fields.getboolean("trains", False)
        self.run_words = shlex.split(fields.get("run", fields["command"]))
        self.run_sizes = self.sizes
        if "run sizes" in fields:
            self.run_sizes = as_sizes(fields["run sizes"])
        assert bool(self.sizes) != bool(self.asks), self.name
        assert not self.trains or self.run_sizes, self.name

    def lay(self, place):
        """A copy of the stand-ins as the place's own folder, nothing else."""
        shutil.rmtree(place.folder, ignore_errors=True)
        shutil.copytree(os.path.join(FOLDER, self.repository), place.folder)


def cases():
    found = []
    for repository in sorted(os.listdir(FOLDER)):
        ini = configparser.ConfigParser(interpolation=None, delimiters="=")
        ini.read(os.path.join(FOLDER, repository, "cases.ini"))
        for title in ini.sections():
            found.append(Case(repository, title, ini[title]))
    return found


def read_sizes(answer):
    """What explain read, as sizes; None: it did not say."""
    found = SIZES.search(answer.result["plan"]["assumption"] or "")
    return tuple(int(n) for n in found.groups()[1:]) if found else None
