#!/usr/bin/env python3
# autofit doctor: what is as it should be, and the remedy for what is not.
# SPDX-License-Identifier: MIT
import os
import re
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import check, equal, holds, lacks  # noqa: E402


def doctor(place, **env):
    process = place.start("doctor", env=env)
    out, err = process.communicate(timeout=lib.PATIENCE)
    return process.returncode, out.decode(), err.decode()


def without_site(place):
    code, out, err = doctor(place)
    equal("no site: exit code and stderr", (code, err), (0, ""))
    holds("no site: every check has a line", out, "ok versions autofit ",
          "ok records .*home/records can be written", "ok clock ",
          "note site AUTOFIT_SITE is not set", "(note|ok) slurm ",
          "note devices no GPU", "(ok|note|bad) isolation probes ")
    check("no site: a word, then the rest, on one line", all(
        re.match(r"(ok|note|bad) +[a-z]+ +\S", line)
        for line in out.splitlines()), out)
    left = [n for n in os.listdir(place.path("home", "records"))]
    equal("nothing is left behind", left, [])


def published(place):
    place.write("jobs.ini", "[nightly]\npublish = site\n[defaults]\n"
                "device = host\nmemory = 60M\nheadroom = 2M\n"
                "confirm-steps = 3\n[job a]\ncommand = %s --batch-size 4 "
                "--grad-accum 8\n    --steps 6 --step-ms 5\n" % lib.TRAINER)
    place.start("nightly", "jobs.ini").communicate(timeout=lib.PATIENCE)
    site = place.path("site")
    code, out, _ = doctor(place, AUTOFIT_SITE=site)
    equal("site: exit code", code, 0)
    holds("site: owner and records", out, "ok site .*/site, of .* may publish",
          "ok site 1 records in .*, 1 of 1 can be used")
    records = os.path.join(site, "records")
    path = os.path.join(records, os.listdir(records)[0])
    for what, change, words in (
            ("a record that others may write", lambda: os.chmod(path, 0o666),
             r"1 records are not used, the first: .*write.*; publish them "
             "again"),
            ("a folder that others may write",
             lambda: os.chmod(records, 0o777),
             r"may be written to by others than .*: chmod go-w .*/records"),
            ("a record of the future", lambda: future(path),
             "1 records are from the future: set the clock"),
            ("a damaged record", lambda: place.write(path, "[x", 0o644),
             "1 records are not used, the first: "),
            ("nothing published", lambda: (os.remove(path),
                                           os.rmdir(records)), None)):
        change()
        code, out, _ = doctor(place, AUTOFIT_SITE=site)
        equal(what + ": exit code", code, 119 if words else 0)
        holds(what + ": the remedy", out, "bad site .*" + words if words else
              "note site nothing is published in .*: autofit nightly with")
        if os.path.exists(path):
            os.chmod(path, 0o644)
            os.chmod(records, 0o755)
    code, out, _ = doctor(place, AUTOFIT_SITE=place.path("gone"))
    equal("no such site: exit code", code, 119)
    holds("no such site: the remedy", out, "bad site .*/gone: is not there; "
          "make it")


def future(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(r"(?m)^created = \d+", "created = 4102444800",
                          text))


def slurm(place):
    place.write("bin/squeue", "#!/bin/sh\necho 'no controller' >&2\nexit 1\n",
                0o755)
    path = place.path("bin") + ":" + os.environ["PATH"]
    code, out, _ = doctor(place, PATH=path)
    if "no slurm.conf" in out:  # there is none on this machine
        equal("slurm is not set up: exit code", code, 0)
        holds("slurm is not set up: a note", out, "note slurm its programs "
              "are here, but no slurm.conf: executor = local only")
    place.write("slurm.conf", "")
    code, out, _ = doctor(place, PATH=path, SLURM_CONF=place.path("slurm.conf"))
    equal("slurm is down: exit code", code, 119)
    holds("slurm is down: the remedy", out, "bad slurm it does not answer: no "
          "controller; set SLURM_CONF")
    place.write("bin/squeue", "#!/bin/sh\nexit 0\n", 0o755)
    place.write("slurm.conf", "")
    code, out, _ = doctor(place, PATH=path, SLURM_CONF=place.path("slurm.conf"))
    equal("a login node: exit code", code, 0)
    holds("a login node", out, "ok slurm it answers",
          "note slurm this looks like a login node")
    code, out, _ = doctor(place, PATH=path, SLURM_JOB_ID="12",
                          SLURM_CLUSTER_NAME="c",
                          SLURM_CONF=place.path("slurm.conf"))
    holds("inside a job", out, "it answers; this is slurm c 12")
    lacks("inside a job: no login node", out, "login node")


def no_home(place):
    place.write("file", "")
    code, out, _ = doctor(place, AUTOFIT_HOME=place.path("file"))
    equal("no place for records: exit code", code, 119)
    holds("no place for records: the remedy", out, "bad records .*; name a "
          "folder of yours in AUTOFIT_HOME")


with lib.Place("doctor") as here:
    # No Slurm of this machine plays a part.
    here.write("bin/squeue", "#!/bin/sh\nexit 0\n", 0o755)
    here.env["PATH"] = here.path("bin") + ":" + here.env["PATH"]
    without_site(here)
    published(here)
    slurm(here)
    no_home(here)
lib.finish()
