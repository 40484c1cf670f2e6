#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# CTEST COST 60
"""Tuning for GPUs, with the simulated driver and NVML in front."""
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # nothing new beside this file

from lib import PATIENCE  # noqa: E402

AUTOFIT = os.environ["AUTOFIT"]
TRAINER = os.environ["TRAINER"]
SIM = os.path.join(os.environ["BUILD"], "sim")
GPU_TRAINING = [os.path.join(SIM, "sim_trainer"), "--batch-size", "8",
                "--grad-accum", "16", "--steps", "40", "--fixed-mib", "4000",
                "--per-sample-kib", "400000", "--step-ms", "50"]
CPU_TRAINING = [TRAINER, "--batch-size", "8", "--grad-accum", "16", "--steps",
                "40", "--step-ms", "20", "--fixed-mib", "20"]
FIXED, PER_SAMPLE = 4000 << 20, 400000 << 10
failures = 0


def check(name, holds, detail=""):
    global failures
    print(("ok" if holds else "NOT OK") + " - " + name, flush=True)
    if not holds:
        failures += 1
        print(detail, flush=True)


class World:
    """A folder of state, a set of simulated devices, a way to run."""

    def __init__(self, devices):
        self.folder = tempfile.TemporaryDirectory()
        self.env = dict(os.environ,
                        AUTOFIT_HOME=os.path.join(self.folder.name, "home"),
                        LD_LIBRARY_PATH=SIM, AUTOFIT_SIM_DEVICES=devices,
                        AUTOFIT_SIM_STATE=os.path.join(self.folder.name, "sim"))
        self.env.pop("CUDA_VISIBLE_DEVICES", None)

    def run(self, options, command, **env):
        path = os.path.join(self.folder.name, "result.json")
        done = subprocess.run(
            # The simulated devices are a file that probes write for real.
            [AUTOFIT, "--allow-writes", self.folder.name, *options, "--json",
             path, "--", *command],
            env=dict(self.env, **env), capture_output=True, text=True,
            timeout=PATIENCE, check=False)
        try:
            with open(path, encoding="utf-8") as file:
                result = json.load(file)
        except OSError:
            result = {}
        return done, result


def largest_that_fits(limit):
    return max(m for m in (1, 2, 4, 8, 16, 32, 64, 128)
               if FIXED + m * PER_SAMPLE + (500 << 20) <= limit)


def tunes_and_reuses():
    world = World("Sim H200:24G:500M")
    done, result = world.run([], GPU_TRAINING)
    check("tuned on the GPU", result.get("outcome") == "tuned" and
          result["device_kind"] == "cuda", done.stderr)
    best = result["recommended"]
    check("largest exact split", (best["micro_batch"], best["grad_accum"]) ==
          (largest_that_fits(result["evidence"]["limit_bytes"]), 4), best)
    check("exact coverage",
          result["evidence"]["coverage"] == "exact", result["evidence"])
    peak = result["evidence"]["peak_bytes"]
    truth = FIXED + best["micro_batch"] * PER_SAMPLE
    # Some of its blocks are no whole granules of the driver's.
    check("the peak to the granule", 0 <= peak - truth < 16 << 20, peak - truth)
    check("at most 4 probes", result["probe_count"] <= 4, done.stderr)
    # A record is used without the driver: one that would crash is not asked.
    done, result = world.run([], GPU_TRAINING, AUTOFIT_SIM_FAULT="crash,nvml=hang")
    check("reused", result["outcome"] == "reused",
          done.stderr)


def memory_is_a_limit():
    world = World("Sim H200:24G:500M")
    done, result = world.run(["--memory", "12G"], GPU_TRAINING)
    check("--memory bounds the budget",
          result["devices"][0]["budget_bytes"] == 12 << 30, result)
    check("its answer", result["recommended"]["micro_batch"] ==
          largest_that_fits(result["evidence"]["limit_bytes"]), done.stderr)


def no_use_of_the_gpu():
    world = World("Sim H200:24G:500M")
    done, result = world.run(["--device", "cuda"], CPU_TRAINING)
    check("--device cuda without use of it is 121", done.returncode == 121 and
          result["outcome"] == "command_failed" and
          "did not use the GPU" in done.stderr, done.stderr)
    done, result = world.run(["--memory", "400M"], CPU_TRAINING)
    check("auto becomes host memory", result["device_kind"] == "host" and
          result["outcome"] == "tuned", done.stderr)
    check("and says so", "used no GPU" in done.stderr, done.stderr)


def one_of_two():
    world = World("Small:8G:500M;Large:24G:500M")
    show = os.path.join(world.folder.name, "show.sh")
    with open(show, "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\n[ -n "$AUTOFIT_PROBE" ] || '
                   'echo "visible=$CUDA_VISIBLE_DEVICES"\nexec "$@"\n')
    os.chmod(show, 0o755)
    done, result = world.run(["--device", "cuda:1"], [show, *GPU_TRAINING])
    gpu = result["devices"][0]
    check("cuda:1 is the second", gpu["name"] == "Large" and
          len(result["devices"]) == 1, done.stderr)
    check("the command sees it alone", "visible=" + gpu["uuid"] in done.stdout,
          done.stdout)
    done, _ = world.run(["--device", "cuda:7"], GPU_TRAINING)
    check("cuda:7 is refused in words", done.returncode == 125 and
          "cuda:7: no such GPU" in done.stderr, done.stderr)


def drivers_that_fail():
    world = World("Sim H200:24G:500M")
    done, result = world.run(["--memory", "400M", "--device", "host"],
                             CPU_TRAINING, AUTOFIT_SIM_FAULT="crash")
    check("a driver that crashes is not asked for the host",
          result.get("outcome") == "tuned", done.stderr)
    done, result = world.run(["--device", "cuda"], GPU_TRAINING,
                             AUTOFIT_SIM_FAULT="init=803")
    check("a driver that refuses is named", done.returncode == 125 and
          "803" in done.stderr, done.stderr)


def nothing_fits():
    world = World("Sim H200:24G:500M")
    done, result = world.run(["--memory", "4G"], GPU_TRAINING)
    check("nothing fits: 120", done.returncode == 120 and
          result["outcome"] == "nothing_fits", done.stderr)


tunes_and_reuses()
memory_is_a_limit()
no_use_of_the_gpu()
one_of_two()
drivers_that_fail()
nothing_fits()
sys.exit(1 if failures else 0)
