# A folder in which a trainer misbehaves, and what it was like before.
# SPDX-License-Identifier: MIT
"""Scene is a lib.Place with everything the kinds of misbehave.py touch.

    work/            where the command runs: train.py, ckpt.pt, ...
    out/ abs/ common/    other folders it writes to
    user/ tmp/       HOME and TMPDIR
    home/            AUTOFIT_HOME, the only one that autofit may change

A full one holds the state of step 3 in all places; a bare one no state at all,
but links that lead to where it would be; a clean one not even these.
"""
import contextlib
import glob
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess

import folders
import lib

FULL, BARE, CLEAN = "full", "bare", "clean"
HERE = os.path.dirname(os.path.abspath(__file__))
OLD_SECONDS = 1000000000
STEP = 3
GUARDED = ("work", "out", "abs", "common", "user", "tmp")
FILES = (
    "work/ckpt.pt", "work/train.log", "work/old/state", "work/data.txt",
    "work/wandb/latest/state", "work/shards/0", "work/runs/out/ckpt.pt",
    "out/ckpt.pt", "abs/ckpt.pt", "common/target.pt", "common/hard.pt",
    "common/folder/deep.pt", "user/.misbehave/state",
    "user/.cache/misbehave/state",
)
RUN = """\
#!/bin/sh
echo "started" >>train.log
exec %s train.py "$@"
"""


def processes_with(mark):
    """Living processes with these bytes in their environment."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open("/proc/%s/environ" % name, "rb") as file:
                if mark in file.read():
                    found.append(int(name))
    return found


class Scene(lib.Place):
    """Whoever uid is does everything in it; prefix stands before autofit."""

    def __init__(self, program, python, uid, prefix=(), state=FULL):
        # What options of mounts and their table give a meaning to.
        super().__init__("isolation, a=b \\")
        self.program, self.python, self.uid = program, python, uid
        self.prefix, self.state = list(prefix), state
        self.tag = self.folder.rsplit("-", 1)[1]
        self.receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.receiver.bind(("127.0.0.1", 0))
        self.receiver.setblocking(False)
        self.env.update(
            HOME=self.path("user"), TMPDIR=self.path("tmp"),
            MISBEHAVE_TAG=self.tag,
            MISBEHAVE_PORT=str(self.receiver.getsockname()[1]),
        )
        self.outside = {
            "/tmp": "/tmp/misbehave-%s.state" % self.tag,
            "/dev/shm": "/dev/shm/misbehave-%s" % self.tag,
            "/dev/shm, held": "/dev/shm/misbehave-%s-held" % self.tag,
        }
        self.fill(state)
        self.hand_over()
        self.before = self.walk()

    def __exit__(self, *_):
        for pid in processes_with(self.tag.encode()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.receiver.close()
        for path in self.strays():
            os.unlink(path)
        super().__exit__()

    def fill(self, state):
        for name in GUARDED + ("work/runs", "work/data", "common/folder",
                               "user/.cache"):
            os.makedirs(self.path(name), exist_ok=True)
        for name, source in (("train.py", "misbehave.py"),
                             ("torch_train.py", "misbehave_torch.py")):
            shutil.copy(os.path.join(HERE, source), self.path("work", name))
        self.write("work/run.sh", RUN % self.python, 0o755)
        if state != CLEAN:
            os.symlink("../common/target.pt", self.path("work/link.pt"))
            os.symlink(self.path("common/folder"), self.path("work/linked"))
        if state == FULL:
            self.fill_states()

    def fill_states(self):
        for name in FILES:
            self.write(name, "%d\n" % STEP)
        with open(self.outside["/tmp"], "w", encoding="ascii") as file:
            file.write("%d\n" % STEP)
        self.write("work/data/weights.bin", "%16d" % STEP + "\0" * 4080)
        os.link(self.path("common/hard.pt"), self.path("work/hard.pt"))
        os.link(self.path("work/data.txt"), self.path("work/linked.pt"))
        os.mkfifo(self.path("work/pipe"))
        with open(self.path("work/big.bin"), "wb") as file:
            file.truncate(1 << 33)
            file.seek(-16, os.SEEK_END)
            file.write(b"%16d" % STEP)
        with open(self.path("work/train.py"), "a", encoding="ascii") as file:
            file.writelines("# step %d\n" % step for step in range(STEP))
        self.write("work/__pycache__/kept", "")
        with contextlib.closing(sqlite3.connect(self.path("work/steps.db"))) \
                as database:
            database.execute("create table steps (step integer)")
            database.execute("insert into steps values (%d)" % STEP)
            database.commit()

    def hand_over(self):
        """Everything is the user's, and old."""
        names = [self.folder, self.outside["/tmp"]]
        for folder, inner, files in os.walk(self.folder, topdown=False):
            names += [os.path.join(folder, name) for name in inner + files]
        for name in filter(os.path.lexists, names):
            if os.geteuid() == 0:
                os.lchown(name, self.uid, self.uid)
            os.utime(name, (OLD_SECONDS, OLD_SECONDS), follow_symlinks=False)

    def strays(self):
        """What bears the tag outside of the scene's own folder."""
        return (glob.glob("/tmp/misbehave-%s*" % self.tag)
                + glob.glob("/dev/shm/*%s*" % self.tag))

    def walk(self):
        roots = {name: self.path(name) for name in GUARDED}
        roots.update(self.outside)
        return folders.walk(roots)

    def changes(self):
        # Where probes cannot make them, folders of caches stand in it for a
        # while, as long as they are empty.
        times = r"user/\.cache: (changed \d+, was \d+, )?modified [\d, was]+$"
        return [line for line in folders.differences(self.before, self.walk())
                if not re.match(times, line)]

    def start_program(self, argv):
        user = {}
        if os.geteuid() == 0 and self.uid != 0:
            user = {"user": self.uid, "group": self.uid, "extra_groups": []}
        return subprocess.Popen(
            argv, cwd=self.path("work"), env=self.env,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, start_new_session=True, **user)

    def start(self, *args, env=None):
        return self.start_program([*self.prefix, self.program, *args])

    def plain(self, argv):
        """The command without autofit: (status, output)."""
        process = self.start_program(argv)
        out, err = process.communicate(timeout=lib.PATIENCE)
        return process.returncode, (out + err).decode()

    def reports(self, phase):
        """What trainers of a phase have told since the last call."""
        found = []
        with contextlib.suppress(BlockingIOError):
            while True:
                found.append(json.loads(self.receiver.recv(65536)))
        return [report for report in found if report["phase"] == phase]

    def left_behind(self):
        """Processes, mounts, scratch; the walk shows the rest."""
        mark = b"MISBEHAVE_TAG=" + self.tag.encode()
        lib.wait_for(lambda: not processes_with(mark))
        left = ["process %d" % pid for pid in processes_with(mark)]
        with open("/proc/self/mountinfo", encoding="utf-8") as file:
            left += [line for line in file if self.tag in line]
        scratch = self.path("home", "scratch")
        if os.path.isdir(scratch):
            left += os.listdir(scratch)
        known = set(self.outside.values())
        return left + [path for path in self.strays() if path not in known]
