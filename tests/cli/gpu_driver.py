#!/usr/bin/env python3
# A driver that is slow, broken or silent never makes autofit guess or hang.
# SPDX-License-Identifier: MIT
# CTEST COST 60
"""The simulated driver and NVML as they are at their worst.

A time that is compared here is far from both what is right and what is wrong:
autofit waits up to 90 s for a driver, and what ends it ends it at once.
"""
import os
import signal
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import gpu_hang_lib  # noqa: E402
import lib  # noqa: E402
from lib import check, equal, holds, lacks  # noqa: E402

SIM = os.path.join(os.environ["BUILD"], "sim")
TRAINING = [
    os.path.join(SIM, "sim_trainer"), "--batch-size", "4", "--grad-accum", "4",
    "--steps", "30", "--step-ms", "15", "--fixed-mib", "4000",
    "--per-sample-kib", "200000"
]  # fmt: skip
CARD = "Card:24G:300M:300M"
# Far less than a wait for the driver, far more than an end takes.
SOON = 45


class Gpu(lib.Place):
    def __init__(self, fault="", card=CARD):
        super().__init__("driver")
        self.env.update(
            LD_LIBRARY_PATH=SIM,
            AUTOFIT_SIM_STATE=self.path("devices"),
            AUTOFIT_SIM_DEVICES=card,
            AUTOFIT_SIM_FAULT=fault,
        )

    def tune(self, *words):
        return self.run(
            "tune", "--allow-writes", self.folder, "--confirm-steps", "3",
            "--", *TRAINING, *words
        )  # fmt: skip


def a_slow_start_is_waited_for():
    """Several GPUs without persistence take longer than 10 s to start."""
    with Gpu("init_ms=10500") as gpu:
        answer = gpu.run("explain", "--", *TRAINING)
    holds("slow: the GPU is what is tuned for", answer.out, "device 1x Card")
    holds("slow: it is said what is waited for", answer.err,
          "waiting for the NVIDIA driver .* for 3 s")  # fmt: skip


def nothing_is_guessed():
    for fault, words in (
        ("crash", "crashed while listing devices"),
        ("init=999", "CUDA error 999"),
    ):
        with Gpu(fault) as gpu:
            answer = gpu.tune()
            equal(fault + ": status", answer.status, 125)
            holds(fault + ": why, and the way out", answer.err, words,
                  "train on the CPU on purpose: --device host")  # fmt: skip
            check(fault + ": no probe", not answer.probes, answer)
    with Gpu("crash") as gpu:
        gpu.env["CUDA_VISIBLE_DEVICES"] = ""
        answer = gpu.run("explain", "--", *TRAINING)
        holds("a GPU that is hidden is not asked", answer.out, "host memory")


def an_amd_gpu_is_no_host():
    """With a mount of its own: /sys/class with the node of a GPU in it."""
    with Gpu("init=100") as gpu:
        folder = "/sys/class/kfd/kfd/topology/nodes/1"
        script = (
            'mount -t tmpfs none /sys/class && mkdir -p %s && echo '
            '"simd_count 256" > %s/properties && exec "$@"' % (folder, folder)
        )
        done = subprocess.run(
            ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
             script, "sh", lib.AUTOFIT, "explain", "--", *TRAINING],
            env=gpu.env, capture_output=True, text=True, timeout=lib.PATIENCE,
            check=False)  # fmt: skip
    if "unshare" in done.stderr or "mount" in done.stderr:
        print("no mounts of our own here: " + done.stderr.strip())
        return
    holds("an AMD GPU: why, and the way out", done.stdout,
          "there is an AMD GPU .* does not tell its memory",
          "--device host")  # fmt: skip


def a_hang_is_told():
    for fault, awaited in (
        ("hang", "the NVIDIA driver"),
        ("nvml=hang", "NVML"),
    ):
        with Gpu(fault) as gpu:
            process = gpu.start("tune", "--", *TRAINING)
            line = process.stderr.readline().decode()
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=lib.PATIENCE)
        holds(fault + ": the wait is told", line, "waiting for " + awaited)


def a_hang_ends():
    """tests/bench/gpu_end.py measures the seconds, which are below 2."""
    for where in gpu_hang_lib.PLACES:
        for number in (signal.SIGINT, signal.SIGTERM, None):
            name = "%s hangs, %s: " % (
                where, number.name if number else "--time-limit")  # fmt: skip
            end = gpu_hang_lib.end(where, number)
            print("# %s%.2f s" % (name, end.seconds))
            check(name + "ends at once", end.seconds < SOON / 2,
                  "%s\n%s" % (end.seconds, end.words))  # fmt: skip
            equal(name + "by that", end.status, -number if number else 124)
            check(name + "who hung is gone", end.hung_is_gone, end.words)
            if not number:
                holds(name + "it says why", end.words,
                      "the time limit was reached|stopped after 1 probe .--time-limit")  # fmt: skip


def nvml_that_hangs_is_left_out():
    """It answers the list and the first looks, and is silent from then on."""
    with Gpu("nvml_hang_after=5") as gpu:
        # Long enough for more looks than that, whatever else the machine does.
        answer = gpu.tune("--step-ms", "200")
    equal("silent NVML: tuned", answer.result["outcome"], "tuned")
    equal("silent NVML: nothing is claimed to be exact",
          answer.probes[0]["coverage"], "device-wide")  # fmt: skip


def slow_nvml_takes_no_time_of_the_probe():
    with Gpu("nvml_ms=150") as gpu:
        answer = gpu.tune()
    equal("slow NVML: tuned", answer.result["outcome"], "tuned")
    lacks("slow NVML: it is not said to be silent", answer.err, "not answered")


def a_gpu_that_never_refuses_is_kept_within_its_limit():
    """What is too much goes into the host's memory: no error tells it."""
    with Gpu("spills") as gpu:
        answer = gpu.tune("--batch-size", "256", "--grad-accum", "1")
    limit = answer.result["evidence"]["limit_bytes"]
    best = answer.result["recommended"]
    equal("never refuses: the first size is too large",
          (answer.probes[0]["micro_batch"], answer.probes[0]["verdict"]),
          (256, "over_budget"))
    check("never refuses: the answer is within the limit", best and max(
        probe["peak_bytes"] for probe in answer.probes
        if probe["micro_batch"] == best["micro_batch"]) <= limit, answer)


a_slow_start_is_waited_for()
nothing_is_guessed()
an_amd_gpu_is_no_host()
a_hang_is_told()
a_hang_ends()
a_gpu_that_never_refuses_is_kept_within_its_limit()
nvml_that_hangs_is_left_out()
slow_nvml_takes_no_time_of_the_probe()
lib.finish()
