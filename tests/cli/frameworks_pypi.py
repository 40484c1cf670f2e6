#!/usr/bin/env python3
# The Trainer of transformers, LightningCLI and accelerate as published, tuned.
# SPDX-License-Identifier: MIT
# CTEST COST 90
"""As frameworks.py, with packages that Debian does not have, with
AUTOFIT_NIGHTLY=1 only.

They are installed once per build folder, pinned, for Debian's PyTorch. Where
they cannot be had, the test says why and is left out.
"""
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import frameworks  # noqa: E402
import lib  # noqa: E402
from frameworks import Row  # noqa: E402

SOURCE = os.path.join(lib.DATA, "frameworks")
REQUIREMENTS = os.path.join(SOURCE, "requirements.txt")

# The caches of the user are shared with probes.
CACHE = r"user/\.cache(/.*)?"
OUT = (r"work/out(/.*)?", CACHE)
LOGS = (
    CACHE,
    r"work/lightning_logs(/version_[0-{last}](/.*)?)?",
    r"work/lightning_logs/version_{last}/config\.yaml",
)

# Between what micro 4 and 8 need: 191 and 242 MiB, 213 and 261 MiB; and 64.
TRAINER_MEMORY = "280MiB"
LIGHTNING_MEMORY = "301MiB"
# 268 and 396 MiB, and 64.
ACCELERATE_MEMORY = "384MiB"

ROWS = [
    Row("Trainer", "{python} hf_trainer.py --output_dir out"
        " --per_device_train_batch_size 2 --gradient_acc 4 --max_steps 6",
        new=OUT, memory=TRAINER_MEMORY, seen=True),
    Row("LightningCLI", "{python} lightning_main.py fit --config config.yaml"
        " --data.batch_size=2 --trainer.accumulate_grad_batches 2",
        "2 2 1 -> 4 1 1", new=LOGS, memory=LIGHTNING_MEMORY, seen=True),
    Row("accelerate", "{python} accelerate_main.py"
        " --per_device_train_batch_size 2 --gradient_accumulation_steps 4",
        new=(CACHE,), memory=ACCELERATE_MEMORY, seen=True),
    Row("Trainer, one JSON file", "{python} hf_trainer.py trainer.json",
        new=OUT, copy="home/trainer.json", memory=TRAINER_MEMORY),
    Row("LightningCLI, sizes in the file", "{python} lightning_main.py fit"
        " -c config.yaml", new=LOGS, memory=LIGHTNING_MEMORY),
]


def pip(python, *args):
    """Its exit status, and the last line that it says."""
    try:
        done = subprocess.run(
            [python, "-m", "pip", "--disable-pip-version-check", *args],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            timeout=lib.PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return 1, "pip takes too long"
    lines = done.stdout.decode(errors="replace").splitlines()
    return done.returncode, lines[-1] if lines else ""


def make_environment(folder, requirements=REQUIREMENTS):
    """Its Python, installed at the first call; skips where it cannot be."""
    python = os.path.join(folder, "bin", "python")
    with open(requirements, encoding="utf-8") as file:
        wanted = file.read()
    stamp = os.path.join(folder, "installed.txt")
    if os.path.exists(stamp):
        with open(stamp, encoding="utf-8") as file:
            if file.read() == wanted:
                return python
    shutil.rmtree(folder, ignore_errors=True)
    make = [frameworks.PYTHON, "-m", "venv", "--system-site-packages", folder]
    if subprocess.call(make, stdout=subprocess.DEVNULL):
        lib.skip("no virtual environment can be made: python3-venv is needed")
    # Without what they depend on: that would be another PyTorch.
    status, words = pip(
        python, "install", "--no-deps", "--retries", "1", "--timeout", "20",
        "--quiet", "-r", requirements,
    )
    if status:
        lib.skip("the packages cannot be installed: " + words)
    with open(stamp, "w", encoding="utf-8") as file:
        file.write(wanted)
    return python


def main():
    if not frameworks.NIGHTLY:
        lib.skip("by night only: AUTOFIT_NIGHTLY=1")
    if not lib.has_modules(frameworks.PYTHON, "torch"):
        lib.skip("no PyTorch at %s" % frameworks.PYTHON)
    python = make_environment(
        os.path.join(os.environ["BUILD"], "frameworks-venv")
    )
    os.environ["HF_HUB_OFFLINE"] = "1"
    frameworks.play_all(
        [
            lambda row=row: frameworks.play(row, python, SOURCE)
            for row in frameworks.selected(ROWS)
        ]
    )
    lib.finish()


if __name__ == "__main__":
    main()
