#!/usr/bin/env python3
# A phantom of the GPU says where a tuning starts; the GPU has the last word.
# SPDX-License-Identifier: MIT
# CTEST COST 20
"""The GPU is the simulated driver's, the phantom is autofit's own, and the
program allocates on both: real probes with and without it are counted."""
import os
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402

SIM = os.path.join(os.environ["BUILD"], "sim")
CARD = "NVIDIA GeForce RTX 4090:24207M:0M:500M"
# Bytes at rest, bytes of a sample: the effective batch is 256.
PROGRAMS = ((1700, 1100000), (900, 90000), (9000, 2500000), (300, 300000))


class Gpu(lib.Place):
    def __init__(self, card=CARD):
        super().__init__("phantom-start")
        self.env.update(LD_LIBRARY_PATH=SIM, AUTOFIT_SIM_DEVICES=card,
                        AUTOFIT_SIM_STATE=self.path("devices"))

    def tune(self, fixed, sample, *options):
        return self.run(
            "tune", "--device", "cuda", "--allow-writes", self.folder,
            "--confirm-steps", "5", "--headroom", "1G", *options, "--",
            os.path.join(SIM, "sim_trainer"), "--batch-size", "1",
            "--grad-accum", "256", "--steps", "40", "--step-ms", "5",
            "--fixed-mib", str(fixed), "--per-sample-kib", str(sample))


def fewer_probes():
    real = {True: 0, False: 0}
    for fixed, sample in PROGRAMS:
        answers = {}
        for with_phantom in real:
            with Gpu() as gpu:
                answer = gpu.tune(fixed, sample, "--phantom-start" if
                                  with_phantom else "--no-phantom")
                left = [name for _, folders, names in os.walk(
                    gpu.path("home")) for name in folders + names
                    if "phantom" in name]
            if not lib.equal("%d MiB, %d KiB: tuned" % (fixed, sample),
                             answer.status, 0):
                print(answer)
                return
            real[with_phantom] += answer.result["probe_count"]
            answers[with_phantom] = answer.result["recommended"]["micro_batch"]
            said = answer.result["phantom_start"]
            lib.equal("  in JSON what the phantom said", said and
                      said["micro_batch"],
                      answers[with_phantom] if with_phantom else None)
            lib.equal("  nothing of it is left", left, [])
        lib.equal("  the answer is the same", answers[True], answers[False])
    print("real probes: %d with a phantom, %d without" % (
        real[True], real[False]))
    lib.equal("with a phantom there is one real probe for each", real[True],
              len(PROGRAMS))
    lib.check("without there are at least twice as many",
              real[False] >= 2 * real[True], real)


def only_a_start():
    """This GPU keeps more for itself than its model is said to."""
    sizes = {}
    for option in ("--phantom-start", "--no-phantom"):
        with Gpu(CARD.replace("500M", "8000M")) as gpu:
            answer = gpu.tune(1700, 1100000, option)
        sizes[option] = answer.result["recommended"]["micro_batch"]
        tried = [probe["micro_batch"] for probe in answer.result["probes"]]
        if option == "--phantom-start":
            said = answer.result["phantom_start"]["micro_batch"]
    lib.check("a phantom that says too much is tried, and the GPU decides",
              said > sizes["--no-phantom"] == sizes["--phantom-start"],
              (said, sizes, tried))
    with Gpu() as gpu:
        gpu.write("home/config/gpus.csv", "name,driver_total_mib\n"
                  "NVIDIA GeForce RTX 4090,24564\n")
        answer = gpu.tune(1700, 1100000, "--phantom-start")
    lib.equal("a card of which too little is known has no phantom",
              (answer.status, answer.result["phantom_start"]), (0, None))
    lib.lacks("and none is asked", answer.err, "asking a phantom")


def not_by_itself():
    with Gpu() as gpu:
        answer = gpu.tune(1700, 1100000)
    lib.equal("where starts are cheap none is asked", (
        answer.status, answer.result["phantom_start"]), (0, None))


def main():
    fewer_probes()
    only_a_start()
    not_by_itself()
    lib.finish()


if __name__ == "__main__":
    main()
