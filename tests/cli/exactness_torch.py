#!/usr/bin/env python3
# The answers are exact: PyTorch trainings, measured by another sampler.
# SPDX-License-Identifier: MIT
# CTEST PROCESSORS 2 COST 200 RESOURCE_LOCK standalone
"""A sweep over all exact splits says what every budget's answer must be.

Attention over long contexts, one layer, few samples: 200 steps take two
minutes. The C library is told to give each tensor its own mapping, so that a
size has one peak: else that of the smallest varies by a fifth.
"""
import concurrent.futures
import contextlib
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import MIB, check, equal  # noqa: E402

sys.path.append(os.path.join(os.path.dirname(__file__), "helpers"))

import sampler  # noqa: E402

PYTHON = "/usr/bin/python3"
SCRIPT = os.path.join(lib.SOURCE, "examples", "charlm", "train.py")
DDP = os.path.join(lib.DATA, "train_ddp.py")
# All of it takes ten minutes on two cores: every change gets a part of it, with
# half of the width and of the samples.
NIGHTLY = os.environ.get("AUTOFIT_NIGHTLY") == "1"
EFFECTIVE = 8 if NIGHTLY else 4
SPLITS = [n for n in range(1, EFFECTIVE + 1) if EFFECTIVE % n == 0]
SWEEP_STEPS = 6
HEADROOM = 128 * MIB
WIDTH = 128 if NIGHTLY else 64
OPTIONS = "--device cpu --context 1024 --layers 1 --width".split()
OPTIONS += [str(WIDTH)]
RUNS = 3 if NIGHTLY else 2
BUDGETS = 10 if NIGHTLY else 2
CONFIRM_STEPS = 10 if NIGHTLY else 6
FINAL_STEPS = 200 if NIGHTLY else 15
LEAST, MOST = 300 * MIB, 2048 * MIB
DISTANCE = 0.03
PROBES_MAX = 5
# What is measured runs two at once, each on one processor. The final runs only
# have to end: as many as there are share the processors.
LANES = 2
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "MALLOC_MMAP_THRESHOLD_": "131072"}


def command(micro, steps):
    accum = EFFECTIVE // micro
    sizes = ["--batch-size", str(micro), "--grad-accum", str(accum)]
    return [PYTHON, SCRIPT, *sizes, "--steps", str(steps), *OPTIONS]


def in_lanes(function, items, count=LANES):
    with concurrent.futures.ThreadPoolExecutor(count) as lanes:
        return list(lanes.map(function, items))


def sweep(env):
    """The peaks of each size, of every run."""

    def peak(micro):
        status, peak = sampler.peak_of(command(micro, SWEEP_STEPS), env=env)
        check("sweep: micro %d runs" % micro, status == 0)
        return peak

    measured = in_lanes(peak, [n for n in SPLITS for _ in range(RUNS)])
    return {
        micro: measured[i * RUNS : (i + 1) * RUNS]
        for i, micro in enumerate(SPLITS)
    }


def answer_of(peaks, budget):
    fitting = [n for n in SPLITS if max(peaks[n]) + HEADROOM <= budget]
    return max(fitting, default=0)


def is_clear(peaks, budget):
    """Far enough from what any size needs, in any of its runs."""
    needs = [p + HEADROOM for runs in peaks.values() for p in runs]
    return all(abs(budget - need) >= DISTANCE * need for need in needs)


def choose_budgets(peaks):
    """For each answer the least and the most clear budget, and between."""
    clear = {}
    for budget in range(LEAST, MOST + 1, MIB):
        if is_clear(peaks, budget):
            clear.setdefault(answer_of(peaks, budget), []).append(budget)
    clear.pop(0, None)
    chosen = []
    for i, budgets in enumerate(clear.values()):
        count = (BUDGETS - len(chosen)) // (len(clear) - i)
        last = len(budgets) - 1
        places = {last * k // max(count - 1, 1) for k in range(count)}
        chosen += [budgets[place] for place in sorted(places)]
    # An answer with few clear budgets leaves more to the others.
    spare = sorted(set(sum(clear.values(), [])) - set(chosen))
    missing = BUDGETS - len(chosen)
    chosen += [spare[len(spare) * k // missing] for k in range(missing)]
    return sorted(chosen)


def tune(place, peaks, budget):
    """autofit's answer: (micro, the recommended command)."""
    answer = place.run(
        *("--device", "host", "--memory", str(budget)),
        *("--headroom", str(HEADROOM), "--confirm-steps", str(CONFIRM_STEPS), "--"),
        *command(1, 2),
    )
    name = "%d MiB" % (budget // MIB)
    if not check(name + ": ends well", answer.status == 0, answer):
        return 0, None
    best = answer.result["recommended"]
    wanted = answer_of(peaks, budget)
    check(
        "%s: micro %d, should be %d" % (name, best["micro_batch"], wanted),
        best["micro_batch"] == wanted
        and best["grad_accum"] == EFFECTIVE // wanted,
        answer.err,
    )
    count = answer.result["probe_count"]
    check(
        "%s: %d probes, at most %d" % (name, count, PROBES_MAX),
        count <= PROBES_MAX,
        answer.err,
    )
    evidence = answer.result["evidence"]
    equal(name + ": steps", evidence["steps_source"], "hook")
    equal(name + ": coverage", evidence["coverage"], "exact")
    check(
        name + ": the final command runs",
        answer.out.count("step 2/2") == 1 and "step 3" not in answer.out,
        answer.out,
    )
    return best["micro_batch"], best["argv"]


class Cgroup:
    """A memory cgroup with a hard limit, of either version."""

    # As /proc/self/cgroup calls it, where it is, its file of the limit.
    KINDS = (
        ("memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
        ("", "/sys/fs/cgroup", "memory.max"),
    )

    def __init__(self, name, limit):
        with open("/proc/self/cgroup", encoding="utf-8") as file:
            lines = [line.rstrip("\n").split(":", 2) for line in file]
        for controller, mount, limit_file in self.KINDS:
            for _, names, own in lines:
                self.path = os.path.join(mount, own.lstrip("/"), name)
                if controller in names.split(",") and self.make(
                    os.path.join(self.path, limit_file), limit
                ):
                    return
        raise OSError("no memory cgroup can be made")

    def make(self, limit_file, limit):
        try:
            os.mkdir(self.path)
        except OSError:
            return False
        try:
            with open(limit_file, "w", encoding="ascii") as file:
                file.write(str(limit))
        except OSError:
            os.rmdir(self.path)
            return False
        with contextlib.suppress(OSError):
            swap = os.path.join(self.path, "memory.swap.max")
            with open(swap, "w", encoding="ascii") as file:
                file.write("0")
        return True

    def wrap(self, argv):
        procs = os.path.join(self.path, "cgroup.procs")
        return ["sh", "-c", 'echo $$ >"$0" && exec "$@"', procs, *argv]

    def remove(self):
        lib.wait_for(self.removed)

    def removed(self):
        try:
            os.rmdir(self.path)
        except OSError:
            return False
        return True


def final_run(env, budget, argv):
    """All steps, under a hard limit that is the budget."""
    name = "%d MiB as a hard limit" % (budget // MIB)
    where = argv.index("--steps") + 1
    argv = [*argv[:where], str(FINAL_STEPS), *argv[where + 1 :]]
    try:
        group = Cgroup("autofit-test-%d-%d" % (os.getpid(), budget), budget)
    except OSError as error:
        print("%s: left out, %s" % (name, error), flush=True)
        return
    try:
        done = subprocess.run(
            group.wrap(argv),
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
    finally:
        group.remove()
    last = done.stdout.decode(errors="replace").splitlines()[-1:]
    check(
        "%s: %d steps of %s" % (name, FINAL_STEPS, " ".join(argv[2:6])),
        done.returncode == 0
        and last
        and last[0].startswith("step %d/%d " % (FINAL_STEPS, FINAL_STEPS)),
        "status %d, %s" % (done.returncode, last),
    )


def one_process(env):
    peaks = sweep(env)
    for micro, runs in peaks.items():
        sizes = ", ".join("%.0f" % (p / MIB) for p in runs)
        print("micro %d: peak %s MiB" % (micro, sizes), flush=True)
    budgets = choose_budgets(peaks)
    equal("budgets", len(budgets), BUDGETS)
    answers = {answer_of(peaks, b) for b in budgets}
    check(
        "the sizes %s are answers" % sorted(answers),
        len(answers) >= min(BUDGETS, 3),
    )

    def tune_apart(budget):
        with lib.Place("exactness") as place:
            place.env = dict(place.env, **ENVIRONMENT)
            return tune(place, peaks, budget)

    smallest = {}
    for budget, (micro, argv) in zip(budgets, in_lanes(tune_apart, budgets)):
        if argv:
            smallest.setdefault(micro, (budget, argv))
    finals = list(smallest.values())
    in_lanes(lambda item: final_run(env, *item), finals, len(finals) or 1)


def is_running(word):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open("/proc/%s/cmdline" % pid, "rb") as file:
                if os.fsencode(word) in file.read():
                    return True
    return False


def two_ranks():
    """torchrun: what the hook counts and what is kept, with two workers."""
    with lib.Place("ranks") as place:
        place.env = dict(place.env, OMP_NUM_THREADS="1")
        with open(DDP, encoding="utf-8") as file:
            script = place.write("train_two.py", file.read())
        # The outputs as they would be by default, in words that every
        # version takes: 1.13 cannot read the default under Python 3.11.
        launcher = "-m torch.distributed.run --standalone --nproc_per_node 2"
        outputs = "--redirects 2 --tee 1"
        sizes = "--batch-size 2 --grad-accum 6 --steps 8"
        answer = place.run(
            *("--device", "host", "--memory", "4GiB", "--"),
            *[PYTHON, *launcher.split(), *outputs.split()],
            *[script, *sizes.split()],
        )
        if not check("two ranks: ends well", answer.status == 0, answer):
            return
        best = answer.result["recommended"]
        equal("two ranks: asked", answer.result["effective_batch_asked"], 24)
        equal("two ranks: world", best["world_size"], 2)
        equal("two ranks: all fits", best["micro_batch"], 12)
        equal("two ranks: accumulation", best["grad_accum"], 1)
        equal("two ranks: effective batch", best["effective_batch"], 24)
        evidence = answer.result["evidence"]
        equal("two ranks: steps", evidence["steps_source"], "hook")
        # More where the peaks of these small ranks jumped twice.
        varies = any("varies" in line for line in answer.result["caveats"])
        check(
            "two ranks: %d steps counted" % evidence["confirmed_steps"],
            # Of each rank the same steps, not the sum.
            8 <= evidence["confirmed_steps"] < (40 if varies else 16),
            answer,
        )
        check(
            "two ranks: the final command",
            re.search(r"done: micro 12 accum 1 world 2$", answer.out, re.M),
            answer.out,
        )
        check(
            "two ranks: no worker is left",
            lib.wait_for(lambda: not is_running(script)),
        )


def main():
    if not lib.has_modules(PYTHON, "torch"):
        lib.skip("no PyTorch at %s" % PYTHON)
    with open("/proc/meminfo", encoding="ascii") as file:
        available = int(re.search(r"MemAvailable:\s+(\d+)", file.read())[1])
    if available << 10 < LANES * MOST:
        lib.skip("less than 4 GiB of memory are free")
    with lib.Place("exactness") as place:
        one_process(dict(place.env, **ENVIRONMENT))
    two_ranks()
    lib.finish()


if __name__ == "__main__":
    main()
