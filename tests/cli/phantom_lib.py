# A Python with the CUDA build of PyTorch, or of JAX, for tests of phantom cards.
# SPDX-License-Identifier: MIT
"""AUTOFIT_PHANTOM_PYTHON names one that has PyTorch, AUTOFIT_JAX_PYTHON one that
has JAX. Without that its packages (1.1
GB, which takes longer than all that is asked of them) are installed with
AUTOFIT_NIGHTLY=1, once per build folder, pinned; by day they are used where they
are there. Where they cannot be had, the test says why and is left out.
"""
import filecmp
import os
import shutil
import subprocess

import lib

SOURCE = os.path.join(lib.DATA, "phantom")


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


def install(folder, requirements):
    shutil.rmtree(folder, ignore_errors=True)
    if subprocess.call(["python3", "-m", "venv", folder],
                       stdout=subprocess.DEVNULL):
        lib.skip("no virtual environment can be made: python3-venv is needed")
    # Without what they depend on: that would be NVIDIA's libraries.
    status, words = pip(os.path.join(folder, "bin", "python"), "install",
                        "--no-deps", "--retries", "1", "--timeout", "20",
                        "--quiet", "-r", requirements)
    if status:
        lib.skip("the packages cannot be installed: " + words)
    shutil.copy(requirements, os.path.join(folder, "installed.txt"))


def find_installed(variable, name, requirements, modules, by_day):
    given = os.environ.get(variable)
    if not by_day and not is_night():
        lib.skip("minutes of phantom cards: with AUTOFIT_NIGHTLY=1")
    if given and not lib.has_modules(given, *modules):
        lib.skip("%s lacks one of %s" % (given, ", ".join(modules)))
    if given:
        return given
    folder = os.path.join(os.environ["BUILD"], name)
    requirements = os.path.join(SOURCE, requirements)
    stamp = os.path.join(folder, "installed.txt")
    if not os.path.exists(stamp) or not filecmp.cmp(stamp, requirements, False):
        if not is_night():
            lib.skip("1.1 GB of packages are fetched with AUTOFIT_NIGHTLY=1 "
                     "only; %s names a Python that has them" % variable)
        install(folder, requirements)
    return os.path.join(folder, "bin", "python")


def find_python(*modules, by_day=False):
    """One with PyTorch's packages, installed at the first call, and these
    modules; or skips. Only what is by_day is not left to the night."""
    return find_installed("AUTOFIT_PHANTOM_PYTHON", "phantom-venv",
                          "requirements.txt", modules, by_day)


def find_jax():
    return find_installed("AUTOFIT_JAX_PYTHON", "jax-venv",
                          "requirements-jax.txt", ("jax",), True)
