#!/usr/bin/env python3
# Autofit as one of several ranks, in a batch script, and on a login node.
# SPDX-License-Identifier: MIT
"""A rank never probes: it says so, on every rank alike, and ends with 123."""
import os
import re
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import check, equal  # noqa: E402

sys.path.append(os.path.join(os.path.dirname(__file__), "helpers"))

from starts import NOTED, Notes  # noqa: E402

# A step takes long enough that a busy machine sees the memory of some, and a
# sample is larger than what the counters of the kernel leave out.
COMMAND = (
    [NOTED, lib.TRAINER, "--batch-size", "2", "--grad-accum", "8"]
    + ["--fixed-mib", "1", "--per-sample-kib", "1024", "--steps", "5"]
    + ["--step-ms", "40"]
)
AS_GIVEN = "done: micro 2 accum 8 steps 5"
TUNED = "done: micro 16 accum 1 steps 5"
MEMORY = ["--memory", "40MiB", "--headroom", "4MiB", "--confirm-steps", "3"]
HOST = ["--device", "host", *MEMORY]
# PATH, HOME and all that is no launcher's.
LAUNCHERS = re.compile(
    r"(SLURM|OMPI|PMI|PMIX|MV2|MPI|TORCHELASTIC|JSM|PALS|FLUX|LOCAL)_|"
    r"(GROUP|ROLE|RANK|WORLD_SIZE|LOCAL_RANK|MASTER_)"
)


def torchrun(world, rank):
    return {
        "WORLD_SIZE": world,
        "RANK": rank,
        "LOCAL_RANK": rank,
        "LOCAL_WORLD_SIZE": world,
        "TORCHELASTIC_RUN_ID": "none",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": "29500",
    }


# What a launcher sets for a rank: name, environment of world and rank, what
# the message speaks of.
RANKS = (
    (
        "srun",
        lambda n, k: {
            "SLURM_JOB_ID": "7",
            "SLURM_NTASKS": n,
            "SLURM_STEP_NUM_TASKS": n,
            "SLURM_PROCID": k,
        },
        "SLURM_STEP_NUM_TASKS",
    ),
    (
        "Open MPI",
        lambda n, k: {
            "OMPI_COMM_WORLD_SIZE": n,
            "OMPI_COMM_WORLD_RANK": k,
        },
        "OMPI_COMM_WORLD_SIZE",
    ),
    ("MPICH", lambda n, k: {"PMI_SIZE": n, "PMI_RANK": k}, "PMI_SIZE"),
    (
        "MVAPICH",
        lambda n, k: {"MV2_COMM_WORLD_SIZE": n, "MV2_COMM_WORLD_RANK": k},
        "MV2_COMM_WORLD_SIZE",
    ),
    ("torchrun", torchrun, "WORLD_SIZE"),
)


class Ranks(lib.Place):
    """A place whose environment is no launcher's, with notes."""

    def __init__(self):
        super().__init__("ranks")
        self.env = {
            name: value
            for name, value in self.env.items()
            if not LAUNCHERS.match(name)
        }
        self.notes = Notes(self)

    def call(self, *words, env=None):
        allowed = self.notes.options() if words[0] != "explain" else []
        place = 1 if words[0] in ("tune", "explain") else 0
        words = [*words[:place], *allowed, *words[place:]]
        return self.run(*words, "--", *COMMAND, env=env)

    def started(self):
        """What the notes say since the last look: probes, runs."""
        seen = len(self.notes.probes()), len(self.notes.runs())
        if sum(seen):
            self.notes.clear()
        return seen


def refused_alike(place, launcher, environment, speaks_of):
    answers = [
        place.call(*HOST, env=environment("4", str(rank))) for rank in range(4)
    ]
    name = launcher + ": "
    equal(name + "exit", [a.status for a in answers], [123] * 4)
    equal(
        name + "outcome",
        {a.result["outcome"] for a in answers},
        {"refused"},
    )
    check(
        name + "the same message on every rank",
        len({a.err for a in answers}) == 1,
        "\n".join(a.err for a in answers),
    )
    lib.holds(
        name + "says why and what to do",
        answers[0].err,
        r"one of 4 ranks",
        speaks_of,
        "--no-probe",
        r"autofit -- ",
    )
    equal(name + "not a word on stdout", {a.out for a in answers}, {""})
    equal(name + "nothing was started", place.started(), (0, 0))
    equal(
        name + "no journal, no record",
        [x for x in ("journals", "records", "logs")
         if os.path.exists(place.path("home", x))],
        [],
    )


def started_as_given(place, launcher, environment):
    for options in (["--no-probe"], ["--otherwise", "run"]):
        name = "%s, %s: " % (launcher, " ".join(options))
        answer = place.call(*HOST, *options, env=environment("4", "2"))
        equal(name + "exit", answer.status, 0)
        equal(
            name + "as given",
            answer.out.splitlines()[-1:],
            [AS_GIVEN],
        )
        equal(name + "no probe", place.started(), (0, 1))


def alone(place, launcher, environment):
    """The only rank of its step is no rank among several."""
    answer = place.call(*HOST, "--fresh", env=environment("1", "0"))
    name = launcher + ", one rank: "
    check(name + "tunes", answer.status == 0 and answer.probes, answer)
    equal(name + "outcome", answer.result["outcome"], "tuned")
    equal(name + "world", answer.result["recommended"]["world_size"], 1)
    place.started()


def tune_is_refused(place):
    answer = place.run(
        "tune", *HOST, "--", *COMMAND, env=RANKS[0][1]("4", "1")
    )
    equal("tune as a rank: exit", answer.status, 123)
    equal("tune as a rank: nothing was started", place.started(), (0, 0))


def record_of_one(place):
    """The record of a single rank is none for one of four."""
    tuned = place.call(*HOST)
    equal("one rank: tuned", tuned.result["outcome"], "tuned")
    place.started()
    answer = place.call(*HOST, env=RANKS[0][1]("4", "0"))
    check(
        "the record of one rank is not used by one of four",
        answer.status == 123 and place.started() == (0, 0),
        answer,
    )
    again = place.call(*HOST)
    equal("alone it is used", again.result["outcome"], "reused")
    place.started()


def batch_script(place):
    """A batch script's SLURM_NTASKS counts for what it starts by srun."""
    env = {
        "SLURM_JOB_ID": "7",
        "SLURM_NTASKS": "2",
        "SLURM_NPROCS": "2",
        "SLURM_PROCID": "0",
        "SLURM_LOCALID": "0",
        "SLURM_JOB_NUM_NODES": "1",
    }
    answer = place.call(*HOST, env=env)
    name = "batch script of two tasks: "
    if check(name + "ends well", answer.status == 0, answer):
        equal(name + "tunes", answer.result["outcome"], "tuned")
        equal(name + "world", answer.result["recommended"]["world_size"], 1)
        equal(name + "E", answer.result["effective_batch_asked"], 16)
        equal(name + "runs", answer.out.splitlines()[-1:], [TUNED])
    place.started()


def odd_values(place):
    """Not numbers of ranks: as if they were not there."""
    for value in ("", "x", "0", "-3", "1e3", "99999999999999999999"):
        answer = place.call(*HOST, env={"SLURM_STEP_NUM_TASKS": value})
        check(
            "SLURM_STEP_NUM_TASKS=%s: no crash" % value,
            answer.status in (0, 123),
            answer,
        )
    place.started()
    # A user's own variables, without what torchrun sets beside them.
    answer = place.call(*HOST, env={"WORLD_SIZE": "4"})
    check("WORLD_SIZE alone: no rank", answer.status == 0, answer)
    place.started()


def login_node(place):
    conf = place.write("slurm.conf", "ClusterName=test\n")
    env = {"SLURM_CONF": conf}
    answer = place.call("--confirm-steps", "3", env=env)
    equal("login node: exit", answer.status, 123)
    equal("login node: outcome", answer.result["outcome"], "refused")
    lib.holds(
        "login node: says why and what to do",
        answer.err,
        "login node",
        "--device host",
        "--memory",
    )
    equal("login node: nothing was started", place.started(), (0, 0))
    answer = place.call("--confirm-steps", "3", "--otherwise", "run", env=env)
    equal("login node, otherwise: exit", answer.status, 0)
    equal("login node, otherwise: as given", place.started(), (0, 1))
    explained = place.run("explain", "--", *COMMAND, env=env)
    lib.holds("login node: explain says so", explained.out, "login node")
    equal("login node: explain ends as a launch would", explained.status, 123)
    for name, options, more in (
        ("--device host", ["--device", "host", "--confirm-steps", "3"], {}),
        ("--memory", MEMORY, {}),
        ("an allocation", ["--confirm-steps", "3"], {"SLURM_JOB_ID": "9"}),
    ):
        answer = place.call(
            "--fresh", "--max-micro", "4", *options, env=dict(env, **more)
        )
        check(
            "login node, %s: tunes" % name,
            answer.status == 0 and answer.result["outcome"] == "tuned",
            answer,
        )
        place.started()
    # A recorded answer needs no probe: used anywhere.
    tuned = place.call(*HOST)
    place.started()
    answer = place.call(*HOST, env=env)
    equal(
        "login node: a record is used",
        [tuned.result["outcome"], answer.result["outcome"]],
        ["tuned", "reused"],
    )


def main():
    for launcher, environment, speaks_of in RANKS:
        with Ranks() as place:
            refused_alike(place, launcher, environment, speaks_of)
            started_as_given(place, launcher, environment)
            alone(place, launcher, environment)
    for scenario in (
        tune_is_refused,
        record_of_one,
        batch_script,
        odd_values,
        login_node,
    ):
        with Ranks() as place:
            scenario(place)
    lib.finish()


if __name__ == "__main__":
    main()
