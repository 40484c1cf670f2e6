# How a workload of gpu-check speaks with the check that started it.
# SPDX-License-Identifier: MIT
"""Lines "@meet {...}" and "@skip reason" on standard output.

At a meeting the workload stands still until a line comes back, so that the
check reads the page and NVML while nothing changes.
"""
import json
import os
import sys

SKIPPED = 77
DEVICE = os.environ.get("GPU_CHECK_DEVICE", "cuda")


def meet(name, **facts):
    sys.stdout.write("\n@meet " + json.dumps(dict(facts, name=name)) + "\n")
    sys.stdout.flush()
    sys.stdin.readline()


def skip(reason):
    sys.stdout.write("\n@skip %s\n" % reason)
    sys.stdout.flush()
    sys.exit(SKIPPED)


def run(modes):
    """The mode named by the first argument."""
    modes[sys.argv[1]]()
