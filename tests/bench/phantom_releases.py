#!/usr/bin/env python3
# Releases of PyTorch on a phantom card: which run, and what they allocate.
# SPDX-License-Identifier: MIT
"""phantom_releases.py AUTOFIT PYTHON FOLDER VERSION...: a table in Markdown.

Each release is installed into FOLDER/VERSION, without what it depends on, where
it is not there yet (2 to 3 GB each). PYTHON is one that pip has wheels of all of
them for, and has what they depend on but for NVIDIA's libraries, as another
release of PyTorch brings it. What is run are programs of tests/data/phantom.
"""
import os
import re
import subprocess
import sys

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data",
                    "phantom")
PROGRAMS = {
    "transformer": ("train.py", "--batch-size", "4"),
    "gpt": ("programs.py", "gpt", "--batch-size", "2", "--steps", "2"),
    "conv": ("programs.py", "conv", "--batch-size", "2", "--steps", "2"),
}
CARD = "rtx3060"


def install(python, folder, version):
    if not os.path.isdir(os.path.join(folder, "torch")):
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps",
                        "--target", folder, "torch==" + version], check=True)


def cell(autofit, python, folder, program, *words):
    done = subprocess.run(
        [autofit, "phantom", CARD, "--", python, os.path.join(DATA, program),
         *words], env=dict(os.environ, PYTHONPATH=folder, OMP_NUM_THREADS="1"),
        capture_output=True, text=True, errors="replace", check=False)
    taken = re.search(r"= (\S+ \S+) of allocations", done.stderr)
    if done.returncode == 0 and taken:
        return taken[1]
    lines = [line for line in done.stderr.splitlines()
             if re.match(r"autofit: |\w*Error: ", line)]
    return "%d: %s" % (done.returncode, lines[0] if lines else "?")


def main():
    autofit, python, place = sys.argv[1:4]
    print("| PyTorch | CUDA | %s |" % " | ".join(PROGRAMS))
    print("|---|---|%s" % ("---|" * len(PROGRAMS)))
    for version in sys.argv[4:]:
        folder = os.path.join(os.path.abspath(place), version)
        install(python, folder, version)
        with open(folder + "/torch/version.py", encoding="utf-8") as file:
            cuda = re.search(r"^cuda.* = '([^']+)'", file.read(), re.M)
        cells = [cell(autofit, python, folder, *words)
                 for words in PROGRAMS.values()]
        print("| %s | %s | %s |" % (version, cuda and cuda[1], " | ".join(cells)),
              flush=True)


if __name__ == "__main__":
    main()
