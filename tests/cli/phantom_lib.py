# A Python with the CUDA build of PyTorch, for the tests of phantom cards.
# SPDX-License-Identifier: MIT
"""AUTOFIT_PHANTOM_PYTHON names one that has it. Without that its packages (1.1
GB, which takes longer than all that is asked of them) are installed with
AUTOFIT_NIGHTLY=1, once per build folder, pinned; by day they are used where they
are there. Where they cannot be had, the test says why and is left out.
"""
import os
import shutil
import subprocess

import lib

SOURCE = os.path.join(lib.DATA, "phantom")
REQUIREMENTS = os.path.join(SOURCE, "requirements.txt")


def pip(python, *args):
    done = subprocess.run(
        [python, "-m", "pip", "--disable-pip-version-check", *args],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL, check=False)
    lines = done.stdout.decode(errors="replace").splitlines()
    return done.returncode, lines[-1] if lines else ""


def is_night():
    return os.environ.get("AUTOFIT_NIGHTLY") == "1"


def has_triton(python):
    """It makes kernels of torch.compile, by the C compiler."""
    return lib.has_modules(python, "triton") and bool(
        shutil.which("cc") or shutil.which("gcc"))


def install(folder, wanted):
    shutil.rmtree(folder, ignore_errors=True)
    if subprocess.call(["python3", "-m", "venv", folder],
                       stdout=subprocess.DEVNULL):
        lib.skip("no virtual environment can be made: python3-venv is needed")
    # Without what PyTorch depends on: that would be NVIDIA's libraries.
    status, words = pip(os.path.join(folder, "bin", "python"), "install",
                        "--no-deps", "--retries", "1", "--timeout", "20",
                        "--quiet", "-r", REQUIREMENTS)
    if status:
        lib.skip("the packages cannot be installed: " + words)
    with open(os.path.join(folder, "installed.txt"), "w",
              encoding="utf-8") as file:
        file.write(wanted)


def find_python(*modules, by_day=False):
    """One with the packages, installed at the first call, and these modules;
    or skips. Only what is by_day is not left to the night."""
    given = os.environ.get("AUTOFIT_PHANTOM_PYTHON")
    if not by_day and not is_night():
        lib.skip("minutes of PyTorch on phantom cards: with AUTOFIT_NIGHTLY=1")
    if given and not lib.has_modules(given, *modules):
        lib.skip("%s lacks one of %s" % (given, ", ".join(modules)))
    if given:
        return given
    folder = os.path.join(os.environ["BUILD"], "phantom-venv")
    stamp = os.path.join(folder, "installed.txt")
    with open(REQUIREMENTS, encoding="utf-8") as file:
        wanted = file.read()
    if os.path.exists(stamp):
        with open(stamp, encoding="utf-8") as file:
            if file.read() == wanted:
                return os.path.join(folder, "bin", "python")
    if not is_night():
        lib.skip("1.1 GB of packages are fetched with AUTOFIT_NIGHTLY=1 only; "
                 "AUTOFIT_PHANTOM_PYTHON names a Python that has them")
    install(folder, wanted)
    return os.path.join(folder, "bin", "python")
