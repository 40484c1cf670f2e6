#!/usr/bin/env python3
# Where GPU and host have one memory, what they take counts together.
# SPDX-License-Identifier: MIT
# CTEST COST 40
"""A simulated device that has the host's memory, as a GB10 or a Jetson has.

Nothing refuses there until the machine stands still, so that a peak is that of
the device and of the processes together, and one limit holds for both.
"""
import os
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import MIB, check, equal, holds  # noqa: E402

SIM = os.path.join(os.environ["BUILD"], "sim")
TRAINER = os.path.join(SIM, "sim_trainer")
HOST_MIB = 400


class Unified(lib.Place):
    def __init__(self, fault="integrated,nvml=unsupported"):
        super().__init__("unified")
        self.env.update(
            LD_LIBRARY_PATH=SIM, AUTOFIT_SIM_STATE=self.path("devices"),
            AUTOFIT_SIM_DEVICES="Sim GB10:64G:0:100M",
            AUTOFIT_SIM_FAULT=fault)  # fmt: skip

    def tune(self, host_mib, *options):
        return self.run(
            "tune", "--largest", "--allow-writes", self.folder,
            "--confirm-steps", "3", *options, "--", TRAINER, "--batch-size",
            "4", "--grad-accum", "4", "--steps", "30", "--step-ms", "15",
            "--fixed-mib", "300", "--per-sample-kib", "20480", "--host-mib",
            str(host_mib))  # fmt: skip


def the_sum_is_what_fits():
    answers = []
    for host_mib in (0, HOST_MIB):
        with Unified() as unified:
            answer = unified.tune(host_mib, "--memory", "1500MiB",
                                  "--headroom", "100MiB")  # fmt: skip
        equal("%d MiB: tuned" % host_mib, answer.result["outcome"], "tuned")
        answers.append(answer)
    peaks = [a.probes[0]["peak_bytes"] for a in answers]
    check("what the process itself takes is in the peak",
          HOST_MIB - 50 < (peaks[1] - peaks[0]) / MIB < HOST_MIB + 50,
          peaks)  # fmt: skip
    largest = [a.result["largest_micro_batch"] for a in answers]
    # 20 MiB a sample, 400 MiB of the process itself
    check("and costs the samples that it takes the place of",
          17 <= largest[0] - largest[1] <= 23, largest)  # fmt: skip
    for answer in answers:
        fits = [p for p in answer.probes if p["verdict"] == "fits"]
        check("nothing that fits is over the limit", fits and all(
            p["peak_bytes"] <= answer.result["evidence"]["limit_bytes"]
            for p in fits), answer)  # fmt: skip


def it_can_be_shared():
    """What is free is what the host has, less the part that others may need."""
    with Unified() as unified:
        answer = unified.tune(0, "--shared", "--max-probes", "1")
    budget = answer.result and answer.result["devices"][0]["budget_bytes"]
    check("shared: there is a budget", budget and budget > 0, answer)


def a_card_of_its_own_is_another_matter():
    with Unified("") as unified:
        answer = unified.tune(HOST_MIB, "--memory", "1500MiB", "--max-probes",
                              "1")  # fmt: skip
    probe = answer.probes[0]
    # 300 MiB, 4 samples of 20 MiB and the context of 100 MiB
    equal("memory of the host is not the card's",
          probe["peak_bytes"] // MIB, 300 + 80 + 100)  # fmt: skip


def a_gpu_runs_out_where_the_host_is_tuned():
    with Unified("fail_over=1M") as place:
        command = place.write(
            "train.sh", "#!/bin/sh\necho 'torch.cuda.OutOfMemoryError: CUDA "
            "out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total "
            "capacity of 8.00 GiB of which 2.35 MiB is free.'\nexit 1\n",
            0o755)  # fmt: skip
        answer = place.run("tune", "--device", "host", "--", command,
                           "--batch-size", "8", "--grad-accum",
                           "4")  # fmt: skip
    equal("a GPU's memory on the host: status", answer.status, 121)
    equal("it is stopped at once", len(answer.probes), 1)
    equal("it is no misfit", answer.probes[0]["verdict"], "failed")
    holds("it is told in one sentence", answer.probes[0]["why"],
          "ran out of a GPU's memory, and what is tuned is host memory",
          "leave out --device host")  # fmt: skip


the_sum_is_what_fits()
it_can_be_shared()
a_card_of_its_own_is_another_matter()
a_gpu_runs_out_where_the_host_is_tuned()
lib.finish()
