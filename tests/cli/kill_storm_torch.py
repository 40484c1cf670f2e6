#!/usr/bin/env python3
# As kill_storm.py, with a PyTorch training.
# SPDX-License-Identifier: MIT
# CTEST COST 60
"""kill_storm_torch.py [SEED [ROUND]]"""
import os
import sys

# No __pycache__ in the source folder.
sys.dont_write_bytecode = True

import kill_storm  # noqa: E402
import lib  # noqa: E402


def python_with_torch():
    for python in ("/usr/bin/python3", "python3"):
        if lib.has_modules(python, "torch"):
            return python
    return None


def main():
    python = python_with_torch()
    if not python:
        print("skipped: no Python with torch")
        return 77
    # Start-up is nearly all of such a probe: few of them.
    command = [python, os.path.join(os.environ["SOURCE"], "examples", "charlm",
                                    "train.py"),
               "--batch-size", "4", "--grad-accum", "4", "--steps", "40",
               "--layers", "1", "--width", "32", "--context", "16",
               "--device", "cpu"]
    options = ["--device", "host", "--memory", "4GiB", "--confirm-steps", "3",
               "--max-micro", "8"]
    kills = {"autofit": 4, "keeper": 3, "both": 2, "record": 1, "wait": 2}
    if os.environ.get("AUTOFIT_NIGHTLY") != "1":
        # kill_storm.py has played many of each kind.
        kills = dict.fromkeys(kills, 1)
    return kill_storm.run_storm(
        kill_storm.Storm(os.environ["AUTOFIT"], command, options,
                         [os.geteuid()], kills, 2, b"step 40/40 "),
        sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
