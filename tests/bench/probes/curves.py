#!/usr/bin/env python3
# Records how much host memory programs take at each size: tests/data/curves.csv.
# SPDX-License-Identifier: MIT
#
# curves.py INTERPRETER... prints the rows of that file: of the programs of run.py
# and those of tests/bench/peers, with each interpreter that has what they import.
# Each size is probed once by autofit, without a limit, and REPEATED three times
# more, to see by how much one command differs from itself. AUTOFIT names the
# program. Two programs run at once.
import concurrent.futures
import os
import subprocess
import sys
import tempfile

import run

SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
REPEATED = 32
# A size that takes more, or a step that takes longer, is the last.
PEAK_MAX, STEP_SECONDS_MAX = 3 << 30, 12
OTHERS = ("mlp", "conv", "lengths")
PROGRAMS = {name: row[:2] for name, row in run.PROGRAMS.items()}
PROGRAMS.update(
    (name, ([run.PEERS, name, "--batch-size", "{micro}", "--grad-accum",
             "{accum}", "--steps", "{steps}"], "torch")) for name in OTHERS)


def probe(interpreter, command, micro):
    with tempfile.TemporaryDirectory(prefix="curves-") as folder:
        argv = run.filled(command, micro, 2, run.LONG, interpreter)
        result = run.tune(argv, "{accum}" not in command, folder,
                          "--max-probes", "1")
        return result["probes"][0]


def record(name, interpreter):
    """Its rows."""
    command, module = PROGRAMS[name]
    look = "import torch, %s; print(torch.__version__)" % module
    done = subprocess.run([interpreter, "-c", look], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    rows = []
    if done.returncode:
        return rows
    torch = done.stdout.decode().strip()
    for micro in SIZES:
        for _ in range(4 if micro == REPEATED else 1):
            seen = probe(interpreter, command, micro)
            if seen["verdict"] != "fits" or not seen["peak_bytes"]:
                return rows
            kib = (seen["peak_bytes"], seen["rest_bytes"],
                   seen["forward_bytes"])
            rows.append("%s,%s,%d,%d,%d,%d\n" % (
                name, torch, micro, *((each or 0) >> 10 for each in kib)))
        if (seen["peak_bytes"] > PEAK_MAX or
                (seen["step_seconds"] or 0) > STEP_SECONDS_MAX):
            break
    return rows


def main():
    todo = [(name, each) for each in sys.argv[1:] for name in PROGRAMS]
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory(prefix="curves-") as home:
        os.environ["AUTOFIT_HOME"] = home
        with concurrent.futures.ThreadPoolExecutor(2) as lanes:
            for rows in lanes.map(lambda each: record(*each), todo):
                print("".join(rows), end="", flush=True)


if __name__ == "__main__":
    main()
