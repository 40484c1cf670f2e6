#!/usr/bin/env python3
# Seconds from Ctrl-C, SIGTERM or --time-limit to the end, whatever hangs.
# SPDX-License-Identifier: MIT
"""gpu_end.py [ROUNDS]: least, median and most of so many (default 5) ends.

On the simulated driver; BUILD names the folder where everything was built.
"""
import os
import signal
import statistics
import sys

SOURCE = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
BUILD = os.environ.setdefault("BUILD", os.path.join(SOURCE, "build/release"))
for name in ("AUTOFIT", "TRAINER"):
    os.environ.setdefault(name, os.path.join(BUILD, name.lower()))
os.environ.setdefault("SOURCE", SOURCE)
sys.dont_write_bytecode = True
sys.path.insert(1, os.path.join(SOURCE, "tests", "cli"))

import gpu_hang_lib  # noqa: E402

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 5

print("%-28s %-12s %6s %6s %6s" % ("hangs", "ended by", "least", "median",
                                   "most"))
for where in gpu_hang_lib.PLACES:
    for number in (signal.SIGINT, signal.SIGTERM, None):
        took = [gpu_hang_lib.end(where, number).seconds for _ in range(ROUNDS)]
        print("%-28s %-12s %5.2fs %5.2fs %5.2fs" % (
            where, number.name if number else "--time-limit", min(took),
            statistics.median(took), max(took)), flush=True)
