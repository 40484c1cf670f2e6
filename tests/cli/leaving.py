#!/usr/bin/env python3
# Programs that would send work elsewhere start nothing in a probe.
# SPDX-License-Identifier: MIT
"""Whatever way the training calls them: by name, by path, through a shell; and
whether or not it minds that they fail. The user's own launcher is no such call.
"""
import glob
import itertools
import os
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import check, equal  # noqa: E402

OPTIONS = ["--device", "host", "--memory", "256MiB", "--headroom", "32MiB"]
SIZES = ["--batch-size", "2"]
ISOLATIONS = ("view", "landlock", "compare")

# Builds its words so that its source does not name the program.
TRAINER = """
import os, subprocess, sys, time
tool, way = os.environ["TOOL"].split(), os.environ["WAY"]
if way == "path":
    tool[0] = os.path.join(os.environ["TOOLS"], tool[0])
if way == "shell":
    os.system(" ".join(tool))
elif way == "own path":
    env = dict(os.environ, PATH=os.environ["TOOLS"] + ":/usr/bin:/bin")
    subprocess.run(["/bin/sh", "-c", " ".join(tool)], check=False, env=env)
else:
    subprocess.run(tool, check=False)
size = int(sys.argv[sys.argv.index("--batch-size") + 1])
batch = bytearray(size << 23)
for step in range(5):
    batch[::4096] = b"x" * len(batch[::4096])
    time.sleep(0.01)
    print("step %d" % step, flush=True)
"""
# The real one: says that it was there, and takes its time.
TOOL = "#!/bin/sh\necho the real one\nsleep 60\n"
PASSES = "#!/bin/sh\necho passed\n"

# Refused in front of a training, so not started by one either; two names are
# none that a shell could find.
OURS = """[launcher]
names = ourcloud ssh no/such $(none)
kind = refused
outside = yes
advice = start it inside
"""

CALLS = (
    ("sbatch --wrap sleep", "name", "sbatch --wrap"),
    ("kubectl apply -f x", "path", "kubectl apply -f"),
    ("ssh host ls", "shell", "ssh host ls"),
    ("ourcloud submit job", "shell", "ourcloud submit job"),
    ("docker run image", "own path", "docker run image"),
    ("srun -N 2 hostname", "name", "srun -N"),
    ("ray job submit", "name", "ray job submit"),
)


def place_with(tool, text):
    place = lib.Place("leaving")
    place.write("train.py", TRAINER)
    place.write("home/config/launchers/ours.ini", OURS)
    place.write("tools/" + tool, text, 0o755)
    place.env["TOOLS"] = place.path("tools")
    place.env["PATH"] = place.path("tools") + ":" + os.environ["PATH"]
    return place


def tune(place, isolation, *command, **env):
    return place.run("tune", *OPTIONS, "--isolation", isolation, "--",
                     *command, *SIZES, env=env)


def logs_of(place):
    texts = []
    for path in glob.glob(place.path("home/logs/*/*.log")):
        with open(path, encoding="utf-8", errors="replace") as file:
            texts.append(file.read())
    assert texts
    return "\n".join(texts)


def stopped():
    for isolation, (call, way, named) in itertools.product(ISOLATIONS, CALLS):
        name = "%s, %s by %s: " % (isolation, call, way)
        tool = call.split()[0]
        with place_with(tool, TOOL) as place:
            answer = tune(place, isolation, sys.executable, "train.py",
                          TOOL=call, WAY=way)
            equal(name + "exit", answer.status, 123)
            words = " ".join(named.split()[:3])
            check(name + "named", "'" + words in answer.err, answer)
            # What is seen only when it runs has run for a moment.
            if way in ("name", "shell") or isolation == "view":
                lib.lacks(name + "never started", logs_of(place),
                          "the real one")


def passes():
    for call, env in (("ray status", {}),
                      ("srun hostname", {"SLURM_JOB_ID": "7"})):
        tool = call.split()[0]
        with place_with(tool, PASSES) as place:
            answer = tune(place, "view", sys.executable, "train.py",
                          TOOL=call, WAY="name", **env)
            check(call + " may start", answer.status == 0, answer)


def main():
    stopped()
    passes()
    lib.finish()


if __name__ == "__main__":
    main()
