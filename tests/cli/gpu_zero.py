#!/usr/bin/env python3
# Ranks under DeepSpeed's ZeRO and under accelerate, on simulated GPUs.
# SPDX-License-Identifier: MIT
# CTEST COST 10
"""As gpu_ranks.py, with AUTOFIT_NIGHTLY=1 only: each start takes long.

DeepSpeed is made to do with gloo of PyTorch 1.13 (see train_zero_gpu.py), which
is enough for its stages 1 and 2.
"""
import json
import os
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import frameworks_pypi  # noqa: E402
import lib  # noqa: E402
from gpu_ranks_lib import PYTHON, SIZES, Ranks  # noqa: E402
from lib import MIB, check, equal, holds  # noqa: E402

REQUIREMENTS = os.path.join(lib.DATA, "frameworks", "requirements-zero.txt")
# What it is, its script, and the stage of ZeRO.
KINDS = (("accelerate", "train_accelerate_gpu.py", 0),
         ("ZeRO 1", "train_zero_gpu.py", 1),
         ("ZeRO 2", "train_zero_gpu.py", 2))
WORLD = 2


class Framework(Ranks):
    def __init__(self, python, script, stage):
        super().__init__(WORLD, script, python)
        self.env.update(DS_ACCELERATOR="cpu")
        self.sizes = SIZES
        if stage:
            self.sizes = ("--deepspeed_config", self.write("ds.json", json.dumps({
                "train_micro_batch_size_per_gpu": 2,
                "gradient_accumulation_steps": 24,
                "zero_optimization": {"stage": stage},
                "optimizer": {"type": "Adam",
                              "params": {"lr": 1e-6, "torch_adam": True}},
            })))

    def probe(self, heavy_mib, *options):
        return self.tune(
            "--heavy-rank", "1", "--heavy-mib", str(heavy_mib),
            options=options, sizes=self.sizes)


def the_heavy_rank_bounds(python, name, *kind):
    """Each has 100 MiB for its context, 200, and 100 a sample."""
    with Framework(python, *kind) as ranks:
        answer = ranks.probe(700, "--max-micro", "4")
    if not check(name + ": tuned", answer.result and
                 answer.result["recommended"], answer):
        return
    equal(name + ": world and effective batch",
          (answer.result["recommended"]["world_size"],
           answer.result["recommended"]["effective_batch"]),
          (WORLD, 48 * WORLD))
    equal(name + ": the peak is that of the rank that needs most",
          answer.probes[0]["peak_bytes"] // MIB, 100 + 200 + 700 + 2 * 100)
    holds(name + ": that rank is named", " ".join(answer.result["caveats"]),
          "rank 1 on GPU 1 takes .* it bounds the size of all ranks")


def the_first_that_ran_out_decides(python, name, *kind):
    with Framework(python, *kind) as ranks:
        answer = ranks.probe(7000, "--max-probes", "1")
    if not check(name + ": probed", answer.probes, answer):
        return
    first = answer.probes[0]
    equal(name + ": who ran out", (first["verdict"], first["rank"]),
          ("oom_device", 1))
    holds(name + ": by what", first["why"],
          r"refused 7.* in cuMemAlloc, rank 1")


if os.environ.get("AUTOFIT_NIGHTLY") != "1":
    lib.skip("by night only: AUTOFIT_NIGHTLY=1")
if not lib.has_modules(PYTHON, "torch"):
    lib.skip("no PyTorch at %s" % PYTHON)
WHERE = frameworks_pypi.make_environment(
    os.path.join(os.environ["BUILD"], "zero-venv"), REQUIREMENTS)
for row in KINDS:
    the_heavy_rank_bounds(WHERE, *row)
    the_first_that_ran_out_decides(WHERE, *row)
lib.finish()
