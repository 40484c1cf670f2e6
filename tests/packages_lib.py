# What the tests of packages share: made once, tried and removed again.
# SPDX-License-Identifier: MIT
import glob
import os
import subprocess
import sys
import tempfile

SOURCE = os.environ["SOURCE"]
BUILD = os.environ["BUILD"]
TRAINER = os.environ["TRAINER"]
PORTABLE = os.path.join(BUILD, "portable")  # of portable.sh
EPOCH = "1700000000"
PATIENCE = 3000
SKIPPED = 77

failed = []


def check(name, good, detail=""):
    print("%s - %s" % ("ok" if good else "not ok", name), flush=True)
    if not good:
        failed.append(name)
        print("    " + str(detail)[:4000].replace("\n", "\n    "), flush=True)
    return good


def equal(name, got, wanted):
    return check(name, got == wanted, "got:    %r\nwanted: %r" % (got, wanted))


def finish():
    sys.exit(1 if failed else 0)


def skip(reason):
    print("skipped: " + reason)
    sys.exit(SKIPPED)


def run(*words, **options):
    """The finished process; its output as text, both streams in one."""
    return subprocess.run(words, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, timeout=PATIENCE,
                          check=False, **options)


def must(*words, **options):
    done = run(*words, **options)
    if done.returncode:
        sys.exit("%s: %d\n%s" % (" ".join(words), done.returncode, done.stdout))
    return done.stdout


def build_portable():
    must("cmake", "--build", PORTABLE, "-j", "2")


def make_packages(folder):
    """Every package, in the folder: their paths by the end of their names."""
    must(os.path.join(SOURCE, "scripts/package"), "-b", PORTABLE, folder,
         env=dict(os.environ, SOURCE_DATE_EPOCH=EPOCH))
    return {end: path for end in (".tar.gz", ".whl", ".deb", ".rpm",
                                  ".cdx.json")
            for path in glob.glob(os.path.join(folder, "*" + end))}


def listing(folder):
    """Everything in a folder, but what programs compile for themselves."""
    found = set()
    for top, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in folders + names:
            found.add(os.path.relpath(os.path.join(top, name), folder))
    return found


def try_program(name, program):
    """It says who it is, and tunes the example that is written in C."""
    with tempfile.TemporaryDirectory(prefix="autofit-packages-") as home:
        env = {"PATH": "/usr/bin:/bin", "HOME": home, "LC_ALL": "C"}
        said = run(program, "--version", env=env, cwd=home).stdout
        check(name + ": runs", said.startswith("autofit "), said)
        done = run(program, "tune", "--device", "host", "--memory", "128M",
                   "--confirm-steps", "5", "--", TRAINER, "--batch-size", "4",
                   "--per-sample-kib", "1024", "--steps", "100",
                   env=env, cwd=home)
        check(name + ": tunes the example",
              done.returncode == 0 and " fits" in done.stdout, done.stdout)
