#!/usr/bin/env python3
# Ranks that srun starts on two nodes of a real Slurm: each reports for itself.
# SPDX-License-Identifier: MIT
"""As step_ranks.py, with Slurm's own srun and daemons on loopback, and as a job
of a list. Skipped where Slurm cannot be started.
"""
import json
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
import slurm_lib  # noqa: E402
import step_ranks  # noqa: E402
from lib import equal  # noqa: E402

LIST = """\
[nightly]
executor = slurm
[defaults]
device = host
headroom = 2M
confirm-steps = 3
memory = 120M
time = 10m
[job ranks]
nodes = 2
ranks = 4
sbatch = --ntasks-per-node=2
command = srun /usr/bin/python3 rank.py
    --batch-size 2 --grad-accum 16
"""


def nightly(place, cluster):
    """Such a job of a list, through sbatch."""
    place.write("rank.py", step_ranks.RANK)
    place.write("jobs.ini", LIST)
    answer = place.ask("nightly", "jobs.ini", env=cluster.env)
    equal("nightly: exit", answer.status, 0)
    with open(place.path("nightly", "summary.json"), encoding="utf-8") as file:
        row = json.load(file)["jobs"][0]
    equal("nightly: its row", (row["micro_batch"], row["grad_accum"],
                               row["world_size"], row["message"]),
          (16, 2, 4, None))


with slurm_lib.Cluster() as the_cluster:
    def in_allocation(place, tasks):
        place.env.update(the_cluster.env)
        place.prefix = ["salloc", "--quiet", "-N", "2", "-n", str(tasks),
                        "--ntasks-per-node", str(tasks // 2)]

    step_ranks.each(step_ranks.PARTS, in_allocation)
    with lib.Place("ranks-nightly") as here:
        nightly(here, the_cluster)
lib.finish()
