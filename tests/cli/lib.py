# What the black-box tests in Python share: a folder, autofit, checks.
# SPDX-License-Identifier: MIT
"""A test has one Place, calls autofit through it, and ends with finish().

It finds AUTOFIT, TRAINER and SOURCE in the environment. Settings of the user
who runs it play no part. Checks print a line each and never end a test.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

AUTOFIT = os.environ["AUTOFIT"]
TRAINER = os.environ["TRAINER"]
SOURCE = os.environ["SOURCE"]
DATA = os.path.join(SOURCE, "tests", "data")
MIB = 1 << 20
KIB = 1 << 10
# Of other tools, that would change what is tested.
FOREIGN = re.compile(
    r"AUTOFIT_|XDG_(CONFIG|STATE|CACHE)_HOME$|CI$|NO_COLOR$|SLURM_|OMPI_|"
    r"PYTHONPATH$|MALLOC_|GLIBC_TUNABLES$|CUDA_VISIBLE_DEVICES$|"
    r"(MASTER_ADDR|MASTER_PORT|RANK|LOCAL_RANK|WORLD_SIZE)$"
)

# Seconds after which something hangs: far above what anything takes, on a
# machine that is busy with much else too.
PATIENCE = 600
# Of what a failed check shows.
DETAIL_MAX = 8000

checks = []


def check(name, good, detail=""):
    """Note and print a check; returns whether it holds."""
    checks.append(bool(good))
    print("%s - %s" % ("ok" if good else "not ok", name), flush=True)
    if not good and detail != "":
        for line in str(detail)[:DETAIL_MAX].splitlines():
            print("    " + line, flush=True)
    return bool(good)


def equal(name, got, wanted):
    return check(name, got == wanted, "got:    %r\nwanted: %r" % (got, wanted))


def holds(name, text, *patterns):
    """Every pattern is found in the text, which may be wrapped at blanks."""
    flat = re.sub(r"\s+", " ", text)
    missing = [p for p in patterns if not re.search(p, flat)]
    return check(name, not missing, "no %r in:\n%s" % (missing, text))


def lacks(name, text, pattern):
    found = re.search(pattern, text, re.IGNORECASE)
    return check(name, not found, "%r in:\n%s" % (pattern, text))


def finish():
    # Another test may have been imported for its name, and ends this one.
    whose = sys._getframe(1).f_globals["__name__"]
    if whose != "__main__":
        check("the checks of this test", False, whose)
    bad = checks.count(False)
    print("1..%d" % len(checks))
    if bad:
        print("%d of %d failed" % (bad, len(checks)))
    sys.exit(1 if bad or not checks else 0)


def has_modules(python, *names):
    """Whether it could import them: none is imported, which takes long."""
    look = (
        "import importlib.util, sys; "
        "sys.exit(not all(map(importlib.util.find_spec, sys.argv[1:])))"
    )
    try:
        return subprocess.call([python, "-c", look, *names]) == 0
    except OSError:
        return False


def skip(reason):
    print("skipped: %s" % reason)
    sys.exit(77)


def wait_for(condition, seconds=PATIENCE):
    """The first true value of the condition, or its last, false one."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(0.01)


def read_terminal(master):
    """What has come to a terminal; b"" once no process has it open.

    Linux looks for bytes first and for the last close afterwards, so the first
    EIO may come before what was written last: the second one does not.
    """
    for _ in range(2):
        try:
            return os.read(master, 65536)
        except OSError:
            pass
    return b""


def soon(seconds):
    """A time zone and HH:MM, which it is there so many seconds from now."""
    now = int(time.time())
    east = (60 - seconds - now) % 60
    then = time.gmtime(now + east + seconds)
    return "TEST-0:00:%02d" % east, time.strftime("%H:%M", then)


class Answer:
    """What a call of autofit left: status, output, its --json result."""

    def __init__(self, status, out, err, result):
        self.status = status
        self.out = out
        self.err = err
        self.result = result

    @property
    def probes(self):
        return self.result["probes"] if self.result else []

    def __str__(self):
        return "status %d\n%s\n%s" % (self.status, self.out, self.err)


# Simulated GPUs of this test are no other test's: they need not wait for those.
SIM_SERIAL = "%08x" % os.getpid()


def sim_uuid(number, kind="GPU"):
    """Of a simulated device, from 0."""
    return "%s-516d%s-%s-4000-8000-%012x" % (
        kind, SIM_SERIAL[:4], SIM_SERIAL[4:], number + 1)


class Place:
    """A private folder with a home of autofit; goes away with all in it."""

    def __init__(self, name):
        self.folder = os.path.realpath(
            tempfile.mkdtemp(prefix="autofit-%s-" % name)
        )
        self.count = 0
        self.prefix = []  # what autofit is started by; nothing: itself
        self.env = {
            name: value
            for name, value in os.environ.items()
            if not FOREIGN.match(name)
        }
        self.env.update(
            AUTOFIT_HOME=self.path("home"), HOME=self.folder,
            AUTOFIT_SIM_SERIAL=SIM_SERIAL, LC_ALL="C.UTF-8"
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text, mode=0o644):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def start(self, *args, env=None):
        """autofit with these arguments, in a process group of its own."""
        return subprocess.Popen(
            [*self.prefix, AUTOFIT, *args],
            cwd=self.folder,
            env=dict(self.env, **(env or {})),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def ask(self, *args, env=None, timeout=PATIENCE):
        """Calls autofit to its end: status and what it wrote."""
        process = self.start(*args, env=env)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            err += b"\n(killed by the test: it took too long)"
        return Answer(process.returncode, out.decode(errors="replace"),
                      err.decode(errors="replace"), None)

    def run(self, *args, env=None, timeout=PATIENCE):
        """The same. A --json FILE is added where one fits."""
        self.count += 1
        report = self.path("result-%d.json" % self.count)
        words = list(args)
        place = 1 if words and words[0] in ("tune", "explain") else 0
        words[place:place] = ["--json", report]
        answer = self.ask(*words, env=env, timeout=timeout)
        if os.path.exists(report):
            with open(report, encoding="utf-8") as file:
                answer.result = json.load(file)
        return answer
