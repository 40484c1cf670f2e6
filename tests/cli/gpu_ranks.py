#!/usr/bin/env python3
# Ranks of torchrun on the simulated driver: who runs out, who needs more.
# SPDX-License-Identifier: MIT
# CTEST COST 120
"""Real PyTorch shares gradients by gloo; each rank has a simulated GPU.

Two ranks by day; AUTOFIT_NIGHTLY=1 tries four and eight as well.
"""
import os
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from gpu_ranks_lib import PYTHON, Ranks  # noqa: E402
from lib import MIB, check, equal, holds, lacks  # noqa: E402

SCRIPT = "train_ddp_gpu.py"
WORLDS = (2, 4, 8) if os.environ.get("AUTOFIT_NIGHTLY") == "1" else (2,)


def all_ranks_count(world):
    """Each has 100 MiB for its context, 200, and 100 a sample."""
    with Ranks(world, SCRIPT) as ranks:
        answer = ranks.tune("--heavy-rank", "1", "--heavy-mib", "700")
    name = "%d ranks: " % world
    if not check(name + "tuned", answer.result and answer.result["outcome"] ==
                 "tuned", answer):  # fmt: skip
        return
    best = answer.result["recommended"]
    equal(name + "world", best["world_size"], world)
    equal(name + "effective batch", best["effective_batch"], 48 * world)
    first = answer.probes[0]
    equal(name + "the peak is that of the rank that needs most",
          first["peak_bytes"] // MIB, 100 + 200 + 700 + 2 * 100)  # fmt: skip
    check(name + "the answer is within the limit of all",
          max(p["peak_bytes"] for p in answer.probes
              if p["micro_batch"] == best["micro_batch"])
          <= answer.result["evidence"]["limit_bytes"], answer)  # fmt: skip
    holds(name + "that rank is named", " ".join(answer.result["caveats"]),
          "rank 1 on GPU 1 takes .* it bounds the size of all ranks")  # fmt: skip


def equal_ranks_are_not_named():
    with Ranks(2, SCRIPT) as ranks:
        answer = ranks.tune(options=["--max-probes", "1"])
    check("equal ranks: tuned", answer.result["recommended"], answer)
    lacks("equal ranks: none is named", " ".join(answer.result["caveats"]),
          "it bounds the size")  # fmt: skip


def the_first_that_ran_out_decides(world):
    """The others wait for it as in a collective that never ends."""
    with Ranks(world, SCRIPT) as ranks:
        answer = ranks.tune("--heavy-rank", "1", "--heavy-mib", "7000",
                            "--hang", options=["--max-probes", "1"])  # fmt: skip
    first = answer.probes[0]
    name = "%d ranks, one runs out: " % world
    equal(name + "verdict", first["verdict"], "oom_device")
    equal(name + "which", first["rank"], 1)
    holds(name + "by what", first["why"], r"refused 7.* in cuMemAlloc, rank 1")


def who_waits_for_a_dead_rank_is_ended(world):
    """Without autofit torchrun waits 30 s for them, and says nothing."""
    with Ranks(world, SCRIPT) as ranks:
        answer = ranks.tune("--die-rank", "1", "--hang")
    first = answer.probes[0]
    name = "%d ranks, one dies: " % world
    equal(name + "status", answer.status, 121)
    equal(name + "why", first["why"],
          "rank 1 ended by an error, and the others waited for it")  # fmt: skip
    holds(name + "its error is shown", answer.err,
          "rank 1 ended .*ValueError: rank 1 has no data")  # fmt: skip


if subprocess.call([PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL):
    lib.skip("no PyTorch at %s" % PYTHON)
for number in WORLDS:
    all_ranks_count(number)
    the_first_that_ran_out_decides(number)
    who_waits_for_a_dead_rank_is_ended(number)
equal_ranks_are_not_named()
lib.finish()
