#!/usr/bin/env python3
# Ranks under FSDP, DeepSpeed's ZeRO and accelerate, on simulated GPUs.
# SPDX-License-Identifier: MIT
# CTEST COST 10
"""As gpu_ranks.py, with AUTOFIT_NIGHTLY=1 only: each start takes long.

Two, four and eight ranks of torchrun share by gloo what they share; PyTorch is one
that was built for CUDA, and its libraries are those of phantom cards (it finds no
card and uses none). The memory is that of the simulated driver.
"""
import json
import os
import shutil
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
import phantom_lib  # noqa: E402
from gpu_ranks_lib import SIM, SIZES, Ranks  # noqa: E402
from lib import MIB, check, equal, holds  # noqa: E402

BUILD = os.environ["BUILD"]
REQUIREMENTS = os.path.join(lib.DATA, "frameworks", "requirements-zero.txt")
PACKAGES = os.path.join(BUILD, "zero-packages")
# What it is, its script and what it adds, the stage of ZeRO, numbers of ranks.
KINDS = (("FSDP", ("train_ddp_gpu.py", "--shard"), 0, (2, 4, 8)),
         ("ZeRO 3", ("train_zero_gpu.py",), 3, (2, 4, 8)),
         ("ZeRO 2", ("train_zero_gpu.py",), 2, (2, 4, 8)),
         ("ZeRO 1", ("train_zero_gpu.py",), 1, (2,)),
         ("accelerate", ("train_accelerate_gpu.py",), 0, (2, 4, 8)))


class Framework(Ranks):
    def __init__(self, python, world, words, stage):
        super().__init__(world, words[0], python)
        self.words, self.sizes = words[1:], SIZES
        self.env.update(
            DS_ACCELERATOR="cpu", PYTHONPATH=PACKAGES,
            LD_LIBRARY_PATH="%s:%s" % (SIM, os.path.join(BUILD, "phantom")))
        if stage:
            self.sizes = ("--deepspeed_config", self.write("ds.json", json.dumps({
                "train_micro_batch_size_per_gpu": 2,
                "gradient_accumulation_steps": 24,
                "zero_optimization": {"stage": stage},
                "optimizer": {"type": "Adam",
                              "params": {"lr": 1e-6, "torch_adam": True}},
            })))

    def probe(self, *arguments, options=("--max-probes", "1")):
        return self.tune(*self.words, *arguments, options=options,
                         sizes=self.sizes)


def the_heavy_rank_bounds(name, world, ranks):
    """Each has 100 MiB for its context, 200, and 100 a sample."""
    answer = ranks.probe("--heavy-rank", "1", "--heavy-mib", "700",
                         options=("--max-micro", "2"))
    if not check(name + "tuned", answer.result and
                 answer.result["recommended"], answer):
        return
    equal(name + "world and effective batch",
          (answer.result["recommended"]["world_size"],
           answer.result["recommended"]["effective_batch"]),
          (world, 48 * world))
    equal(name + "the peak is that of the rank that needs most",
          answer.probes[0]["peak_bytes"] // MIB, 100 + 200 + 700 + 2 * 100)
    holds(name + "that rank is named", " ".join(answer.result["caveats"]),
          "rank 1 on GPU 1 takes .* it bounds the size of all ranks")


def the_first_that_ran_out_decides(name, _, ranks):
    """The others wait for it as in a collective that never ends."""
    answer = ranks.probe("--heavy-rank", "1", "--heavy-mib", "7000", "--hang")
    if not check(name + "one runs out", answer.probes, answer):
        return
    first = answer.probes[0]
    equal(name + "who ran out", (first["verdict"], first["rank"]),
          ("oom_device", 1))
    holds(name + "by what", first["why"],
          r"refused 7.* in cuMemAlloc, rank 1")


def who_waits_for_a_dead_rank_is_ended(name, _, ranks):
    answer = ranks.probe("--die-rank", "1", "--hang")
    if not check(name + "one dies", answer.probes, answer):
        return
    equal(name + "status", answer.status, 121)
    equal(name + "why", answer.probes[0]["why"],
          "rank 1 ended by an error, and the others waited for it")
    holds(name + "its error is shown", answer.err,
          "rank 1 ended .*ValueError: rank 1 has no data")


def install(python):
    """DeepSpeed, at the first call; skips where it cannot be."""
    stamp = os.path.join(PACKAGES, "installed.txt")
    with open(REQUIREMENTS, encoding="utf-8") as file:
        wanted = file.read()
    if os.path.exists(stamp):
        with open(stamp, encoding="utf-8") as file:
            if file.read() == wanted:
                return
    shutil.rmtree(PACKAGES, ignore_errors=True)
    status, words = phantom_lib.pip(
        python, "install", "--no-deps", "--retries", "1", "--timeout", "20",
        "--quiet", "--target", PACKAGES, "-r", REQUIREMENTS)
    if status:
        lib.skip("DeepSpeed cannot be installed: " + words)
    with open(stamp, "w", encoding="utf-8") as file:
        file.write(wanted)


def main():
    if os.environ.get("AUTOFIT_NIGHTLY") != "1":
        lib.skip("by night only: AUTOFIT_NIGHTLY=1")
    python = phantom_lib.find_python("accelerate")
    install(python)
    # A kind may be named.
    for title, words, stage, worlds in KINDS:
        for world in worlds if title in (sys.argv[1:] or [title]) else ():
            for part in (the_heavy_rank_bounds, the_first_that_ran_out_decides,
                         who_waits_for_a_dead_rank_is_ended):
                with Framework(python, world, words, stage) as ranks:
                    part("%s, %d ranks: " % (title, world), world, ranks)
    lib.finish()


if __name__ == "__main__":
    main()
