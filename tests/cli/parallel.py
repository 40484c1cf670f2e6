#!/usr/bin/env python3
# --parallel: the same answer in fewer rounds, and nobody's GPU used twice.
# SPDX-License-Identifier: MIT
# CTEST COST 60
"""On four simulated GPUs, whose probes note where they run."""
import collections
import concurrent.futures
import os
import re
import signal
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import check, equal, holds, lacks, wait_for  # noqa: E402

SIM = os.path.join(os.environ["BUILD"], "sim")
PROGRAM = os.path.join(SIM, "sim_trainer")
GPUS = 4
OWN = lib.sim_uuid(0)
FITS = ("fits", "fits_barely")
PACE = ("--steps", "12", "--step-ms", "6")

# A probe notes its GPU, and holds a lock of it until it is gone. GATE="A B":
# that of A goes on when that of B was noted.
COMMAND = """#!/bin/sh
[ -n "$AUTOFIT_PROBE" ] || exec "%(program)s" "$@"
gpu=${CUDA_VISIBLE_DEVICES:-%(own)s}
exec 9> "%(notes)s/gpu-$gpu"
flock -n 9 || echo "$gpu" >> "%(notes)s/clashes"
echo "$AUTOFIT_MICRO $gpu" >> "%(notes)s/probes"
case "$GATE" in
"$AUTOFIT_MICRO "*)
    until grep -q "^${GATE#* } " "%(notes)s/probes"; do sleep 0.01; done;;
esac
case " $SLEEPERS " in *" $AUTOFIT_MICRO "*) exec sleep 1000;; esac
exec "%(program)s" "$@"
"""

# name, effective batch, start, MiB fixed and per sample, GiB budget, more
Curve = collections.namedtuple(
    "Curve", "name effective start fixed sample budget more command")
CURVES = [
    Curve("powers", 256, 4, 3000, 300, 14, (), ()),
    Curve("many splits", 360, 4, 500, 90, 14, (), ()),
    Curve("all of it", 64, 4, 500, 20, 14, (), ()),
    Curve("the start alone", 64, 4, 2000, 2600, 14, (), ()),
    Curve("the start is too large", 128, 64, 2000, 400, 14, (), ()),
    Curve("nothing fits", 16, 4, 9000, 6000, 14, (), ()),
    Curve("steps of eight", 240, 3, 1000, 110, 14, (), ("--curve", "step")),
    Curve("largest", 64, 4, 1000, 170, 14, ("--largest",), ()),
    Curve("grow", 64, 4, 1000, 290, 9, ("--grow",), ()),
    Curve("quadratic", 256, 4, 1000, 60, 14, (), ("--curve", "quadratic")),
]
# What is asked in its first round.
WIDE, WIDE_FIRST = CURVES[1], "15 45 60 90"


class World(lib.Place):
    """Simulated GPUs, and a command that tells where its probes ran."""

    def __init__(self, gpus=GPUS):
        super().__init__("parallel")
        self.notes = self.path("notes")
        os.mkdir(self.notes)
        self.env.update(
            LD_LIBRARY_PATH=SIM,
            AUTOFIT_SIM_STATE=self.path("devices"),
            AUTOFIT_SIM_DEVICES=";".join(["Card:24G:0:300M"] * gpus),
        )
        self.command = self.write(
            "train.sh",
            COMMAND % {"program": PROGRAM, "own": OWN, "notes": self.notes},
            0o755)

    def words(self, curve, *options):
        return [
            "tune", "--allow-writes", self.folder, "--headroom", "64M",
            "--confirm-steps", "4", "--max-probes", "30",
            *([] if "--shared" in options
              else ["--memory", "%dG" % curve.budget]),
            *curve.more, *options, "--", self.command,
            "--batch-size", str(curve.start), "--grad-accum",
            str(curve.effective // curve.start), *PACE,
            "--fixed-mib", str(curve.fixed), "--per-sample-kib",
            str(curve.sample * 1024), *curve.command,
        ]  # fmt: skip

    def tune(self, curve, *options, **env):
        return self.run(*self.words(curve, *options), env=env)

    def noted(self, name="probes"):
        """Micro-batch and GPU of each probe so far."""
        try:
            with open(os.path.join(self.notes, name), encoding="utf-8") as file:
                return [line.split() for line in file]
        except OSError:
            return []

    def tenant(self, number):
        """Someone else on a GPU; returns once it holds its memory."""
        process = subprocess.Popen(
            [PROGRAM, "--batch-size", "1", "--steps", "100000", "--step-ms",
             "100", "--fixed-mib", "3000"],
            env=dict(self.env, CUDA_VISIBLE_DEVICES=str(number)),
            stdout=subprocess.PIPE)
        process.stdout.readline()
        return process


def rounds(answer):
    """Probes that ran alone, and rounds of several."""
    probes = answer.probes
    return (len([p for p in probes if p["round"] is None]) +
            len({p["round"] for p in probes if p["round"] is not None}))


def beside(answer):
    return [p for p in answer.probes if p["gpu"]]


def recommended(answer):
    best = answer.result["recommended"]
    return best and (best["micro_batch"], best["grad_accum"])


def play(curve):
    """One curve, alone and in parallel: both answers and what was noted."""
    with World() as alone, World() as world:
        return (curve, alone.tune(curve), world.tune(curve, "--parallel"),
                world.noted(), world.noted("clashes"))


def answers_are_the_same():
    fewer = more = 0
    with concurrent.futures.ThreadPoolExecutor(2) as lanes:
        played = list(lanes.map(play, CURVES))
    for curve, one, many, noted, clashes in played:
        if not one.result or not many.result:
            check(curve.name, False, "%s\n%s" % (one, many))
            continue
        equal(curve.name + ": the same outcome", many.result["outcome"],
              one.result["outcome"])
        equal(curve.name + ": the same answer", recommended(many),
              recommended(one))
        equal(curve.name + ": the same largest",
              many.result["largest_micro_batch"],
              one.result["largest_micro_batch"])
        check(curve.name + ": no GPU is used twice at a time", not clashes,
              clashes)
        # Which evidence is withdrawn is a matter of time.
        check(curve.name + ": hardly more rounds than probes alone",
              rounds(many) <= len(one.probes) + 1, "%s\n%s" % (one, many))
        fewer += rounds(many)
        more += len(one.probes)
        sides = beside(many)
        check(curve.name + ": side by side on other GPUs",
              {p["gpu"] for p in sides} <=
              {lib.sim_uuid(n) for n in range(1, GPUS)} and
              all(p["round"] for p in sides), many)
        check(curve.name + ": they saw one GPU each", len(noted) > 0 and all(
            re.match(r"GPU-[-0-9a-f]+$", gpu) for _, gpu in noted), noted)
        check(curve.name + ": rates are those of probes alone", all(
            p["samples_per_second"] is None for p in many.probes
            if p["round"]), many)
        equal(curve.name + ": every probe is told",
              many.result["probe_count"], len(many.probes))
        is_confirmed_at_home(curve.name, many)
    check("%d rounds instead of %d probes" % (fewer, more), fewer < more)
    check("others were used", any(beside(p[2]) for p in played))


def is_confirmed_at_home(name, answer):
    best = recommended(answer)
    if not best:
        return
    last = [p for p in answer.probes if p["micro_batch"] == best[0]][-1]
    check(name + ": the answer ran on the command's own GPU",
          last["gpu"] is None and last["verdict"] in FITS and
          last["steps"] >= 4, answer)


def a_gpu_in_use_is_left_alone():
    with World() as world:
        tenant = world.tenant(2)
        answer = world.tune(WIDE, "--parallel", "--device", "cuda:0")
        tenant.kill()
        tenant.communicate()
        used = {gpu for _, gpu in world.noted()}
        check("a GPU in use: tuned", answer.result and
              answer.result["outcome"] == "tuned", answer)
        check("a GPU in use is left alone", lib.sim_uuid(2) not in used, used)
        check("and another is used", used - {OWN}, used)


def where_it_stays_one_lane():
    """The line that says why; and all is as without the option."""
    for name, words, gpus, options, more, env in (
        ("one GPU", "no other GPU is visible here", 1, (), (), {}),
        ("one is allowed", "no other GPU is visible here", 4, (), (),
         {"CUDA_VISIBLE_DEVICES": OWN}),
        ("--shared", "--shared is given", 4, ("--shared",), (), {}),
        ("ranks", "several (ranks|GPUs)", 2, (), ("--ranks", "2"), {}),
        ("speeds", "--objective fastest", 4, ("--objective", "fastest"), (),
         {}),
        ("compare", "only one at a time", 4, ("--isolation", "compare"), (),
         {}),
    ):
        curve = CURVES[2]._replace(command=more)
        with World(gpus) as world:
            answer = world.tune(curve, "--parallel", *options, **env)
            holds(name + " stays one lane, and says so", answer.err,
                  "--parallel: one probe at a time: .*" + words)
            equal(name + ": said once", answer.err.count("one probe at a"), 1)
            check(name + ": all alone", answer.probes and not any(
                p["round"] or p["gpu"] for p in answer.probes), answer)
    with World() as world:
        answer = world.tune(CURVES[2])
        lacks("without it nothing is said", answer.err, "--parallel|one probe at a time")


def other_models_do_not_count():
    with World() as world:
        world.env["AUTOFIT_SIM_DEVICES"] = (
            "Card:24G:0:300M;Other:24G:0:300M;Card:40G:0:300M")
        answer = world.tune(CURVES[0], "--parallel")
        holds("another model is no spare", answer.err, "of the same model")
        check("nor is another size", not beside(answer), answer)


def living(mark):
    """Processes of probes of this world."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open("/proc/%s/environ" % name, "rb") as file:
                if mark.encode() in file.read():
                    found.append(int(name))
        except OSError:
            pass
    return found


def what_is_left(world):
    left = ["process %d" % pid for pid in living(world.notes)]
    for folder, folders, names in os.walk(world.path("home")):
        left += [f for f in folders if re.fullmatch("[0-9a-f]{32}", f)]
        if os.path.basename(folder) == "locks":
            for name in names:
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    left += re.findall(r"probe_id=\w+", file.read())
    return left


def in_a_round(world, number):
    """A slow tuning is in its first round; the signal comes there."""
    # So that their processes can be told from those of other worlds.
    world.env["PARALLEL_WORLD"] = world.notes
    autofit = world.start(*world.words(WIDE, "--parallel"))
    reached = wait_for(lambda: len(world.noted()) >= 4 or
                       autofit.poll() is not None)
    check("a round began", reached and autofit.poll() is None, world.noted())
    os.kill(autofit.pid, number)
    autofit.communicate(timeout=lib.PATIENCE)
    return autofit.returncode


def states(world):
    """Of the programs of its probes that never end."""
    found = []
    for pid in living(world.notes):
        try:
            with open("/proc/%d/stat" % pid, encoding="utf-8") as file:
                name, _, rest = file.read().partition("(")[2].rpartition(")")
        except OSError:
            continue
        if name == "sleep":
            found.append(rest.split()[0])
    return found


def become_job():
    """As a shell starts it, whatever this test was started by."""
    os.setpgrp()
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start_a_round(world):
    """A tuning whose first round has two lanes that do not end."""
    # So that their processes can be told from those of other worlds.
    world.env["PARALLEL_WORLD"] = world.notes
    autofit = subprocess.Popen(
        [lib.AUTOFIT, *world.words(WIDE, "--parallel")],
        env=dict(world.env, SLEEPERS=WIDE_FIRST), cwd=world.folder,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, preexec_fn=become_job)
    check("a round is under way", wait_for(
        lambda: len(states(world)) >= 2 or autofit.poll() is not None) and
        autofit.poll() is None, world.noted())
    return autofit


def a_stop_stops_all_lanes():
    """As Ctrl-Z and fg do."""
    with World() as world:
        autofit = start_a_round(world)
        os.kill(autofit.pid, signal.SIGTSTP)
        _, status = os.waitpid(autofit.pid, os.WUNTRACED)
        check("a stop: autofit is stopped", os.WIFSTOPPED(status), status)
        # One that waits for a CPU stops when it gets it.
        check("a stop: so are all lanes", wait_for(
            lambda: len(states(world)) >= 2 and set(states(world)) == {"T"},
            60), states(world))
        os.kill(autofit.pid, signal.SIGCONT)
        check("all of them go on", wait_for(
            lambda: len(states(world)) >= 2 and "T" not in states(world), 60),
            states(world))
        os.kill(autofit.pid, signal.SIGINT)
        equal("to its end", autofit.wait(lib.PATIENCE), -signal.SIGINT)


def children_of(pid):
    path = "/proc/%d/task/%d/children" % (pid, pid)
    with open(path, encoding="utf-8") as file:
        return [int(child) for child in file.read().split()]


def an_end_leaves_nothing():
    for name, number, with_keepers in (
        ("SIGINT", signal.SIGINT, False),
        ("SIGKILL", signal.SIGKILL, False),
        ("SIGKILL of keepers too", signal.SIGKILL, True),
    ):
        with World() as world:
            autofit = start_a_round(world)
            keepers = children_of(autofit.pid) if with_keepers else []
            for pid in [autofit.pid, *keepers]:
                os.kill(pid, number)
            equal(name + " ends it", autofit.wait(lib.PATIENCE), -number)
            # Without its keeper a probe is ended by the next start.
            gone = with_keepers or wait_for(
                lambda: not living(world.notes))  # noqa: B023
            check(name + ": no process is left", gone, living(world.notes))
            answer = world.tune(WIDE, "--parallel")
            check(name + ": the next start tunes", answer.result and
                  answer.result["outcome"] == "tuned", answer)
            check(name + ": nothing is left", not what_is_left(world),
                  what_is_left(world))
            check(name + ": no GPU was used twice", not world.noted("clashes"),
                  world.noted("clashes"))


def what_is_answered_is_withdrawn():
    """Sizes that never end, beside one that makes them pointless."""
    for name, curve, sleepers, gate, probes in (
        ("below a fit", "all of it", "8 16 32", "64 16", [4, 64]),
        ("above a misfit", "nothing fits", "2", "1 2", [4, 1]),
    ):
        curve = next(c for c in CURVES if c.name == curve)
        with World() as world:
            answer = world.tune(curve, "--parallel", SLEEPERS=sleepers,
                                GATE=gate)
            check(name + ": it ran", set(sleepers.split()) & {
                micro for micro, _ in world.noted()}, world.noted())
            equal(name + ": it is no trial", sorted(
                p["micro_batch"] for p in answer.probes), sorted(probes))
            equal(name + ": it does not count", answer.result["probe_count"],
                  len(probes))
            lacks(name + ": it spoils nothing", answer.err, "at a time")


def a_lane_that_fails_says_nothing():
    """What only a probe beside others shows is asked again, alone."""
    with World() as world:
        path = world.path("train.sh")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        # It breaks wherever it sees but one GPU.
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(
                "exec 9>", '[ -z "$CUDA_VISIBLE_DEVICES" ] || '
                '{ echo "ValueError: no" >&2; exit 1; }\nexec 9>'))
        answer = world.tune(CURVES[0], "--parallel")
        check("a lane that fails: tuned all the same", answer.result and
              answer.result["outcome"] == "tuned", answer)
        check("it leaves no trial", answer.probes and all(
            p["verdict"] != "failed" for p in answer.probes), answer)
        holds("and says why the rest are alone", answer.err,
              "--parallel: one probe at a time: ")


answers_are_the_same()
a_gpu_in_use_is_left_alone()
where_it_stays_one_lane()
other_models_do_not_count()
a_stop_stops_all_lanes()
an_end_leaves_nothing()
what_is_answered_is_withdrawn()
a_lane_that_fails_says_nothing()
lib.finish()
