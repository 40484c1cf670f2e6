#!/usr/bin/env python3
# 1,000 trivial jobs through stand-ins of Slurm: what a night itself costs.
# SPDX-License-Identifier: MIT
"""usage: tests/bench/nightly_queue.py [JOBS [AT-ONCE]]

Needs AUTOFIT, TRAINER, SOURCE and BUILD in the environment, as the tests do.
The stand-ins' own time is not counted; the summary is the largest file of the
night. Fails where memory or polling is not bounded.
"""
import os
import resource
import sys
import time

sys.dont_write_bytecode = True  # nothing new beside this file
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "cli"))

import lib  # noqa: E402
import nightly_queue as queue  # noqa: E402

JOBS = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
AT_ONCE = int(sys.argv[2]) if len(sys.argv) > 2 else 32
MEMORY_MAX_MIB = 64


def peak_mib(process):
    """Its own VmHWM, as long as it lives."""
    try:
        with open("/proc/%d/status" % process.pid, encoding="utf-8") as file:
            for line in file:
                if line.startswith("VmHWM"):
                    return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0


with lib.Place("bench-queue") as place:
    queue.stand_in(place)
    place.write("jobs.ini", queue.jobs_of(
        ["trivial-%d" % i for i in range(JOBS)]).replace(
            "at-once = 32", "at-once = %d" % AT_ONCE))
    began = time.monotonic()
    night = place.start("nightly", "--quiet", "jobs.ini")
    peak = 0
    while night.poll() is None:
        peak = max(peak, peak_mib(night))
        time.sleep(0.05)
    seconds = time.monotonic() - began
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    asked = [float(line) for line in queue.notes(place, "asked")]
    gaps = [b - a for a, b in zip(asked, asked[1:])]
    rows = queue.rows(place)
    print("%d jobs, %d at once: %.0f s, peak %.1f MiB, squeue asked %d times, "
          "CPU %.1f s with that of sbatch" % (
              JOBS, AT_ONCE, seconds, peak, len(asked),
              usage.ru_utime + usage.ru_stime))
    good = (len(rows) == JOBS and
            all(r["state"] == "ok" for r in rows.values()) and
            len(queue.notes(place, "submitted")) == JOBS and
            peak < MEMORY_MAX_MIB and (not gaps or min(gaps) >= 14.9) and
            len(asked) <= 1 + seconds / 14.9)
    sys.exit(0 if good else 1)
