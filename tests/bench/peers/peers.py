#!/usr/bin/env python3
# autofit beside other tools: answer, trials, seconds, and whether it lives.
# SPDX-License-Identifier: MIT
#
# peers.py [--programs a,b] [--budgets N] [--tools a,b]: for each program of
# programs.py and its first N budgets (default 3) each tool searches the batch
# size under the budget, and its answer then trains 200 passes under a hard
# limit (RLIMIT_DATA) of the same size. PYTHON names an interpreter with torch,
# and with accelerate, lightning and transformers for those tools; what it lacks
# is left out. AUTOFIT names the program. One thread; nothing else should run.
import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

from cases import BUDGETS, EFFECTIVE

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
AUTOFIT = os.environ.get("AUTOFIT", ROOT + "/build/release/autofit")
PYTHON = os.environ.get("PYTHON", sys.executable)
PASSES = 200
PATIENCE = 1200
MIB = 1 << 20
NEEDS = {
    "accelerate": "accelerate",
    "lightning-power": "lightning",
    "lightning-binsearch": "lightning",
    "hf": "transformers",
}
TOOLS = ["autofit", "bisection", "doubling", *NEEDS]


def limited(budget):
    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (budget * MIB,) * 2)

    return limit


def run(argv, budget=None):
    """(status, output) of a command, under a hard limit if there is one."""
    env = dict(os.environ, OMP_NUM_THREADS="1", MKL_NUM_THREADS="1",
               MALLOC_ARENA_MAX="2")
    done = subprocess.run(
        argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL, text=True, errors="replace",
        timeout=PATIENCE, preexec_fn=limited(budget) if budget else None)
    return done.returncode, done.stdout


def train(name, micro, accum, steps):
    return [PYTHON, HERE + "/programs.py", name, "--batch-size", str(micro),
            "--grad-accum", str(accum), "--steps", str(steps)]


def lives(name, micro, accum, budget):
    steps = -(-PASSES // accum)
    return run(train(name, micro, accum, steps), budget)[0] == 0


def splits(effective):
    return [n for n in range(1, effective + 1) if effective % n == 0]


def by_autofit(name, effective, budget):
    home = tempfile.mkdtemp(prefix="peers-")
    os.environ["AUTOFIT_HOME"] = home
    try:
        start = min(8, effective)
        _, out = run([AUTOFIT, "tune", "--device", "host", "--memory",
                      "%dM" % budget, "--",
                      *train(name, start, effective // start, 100)])
    finally:
        shutil.rmtree(home)
    split = re.search(r"micro (\d+) x accum (\d+) fits", out)
    probes = re.search(r"(\d+) probes? in", out)
    if not split:
        return None, probes and int(probes[1]), out
    return (int(split[1]), int(split[2])), int(probes[1]), out


def by_bisection(name, effective, budget):
    """The largest exact split that runs 8 steps in a process of its own."""
    sizes = splits(effective)
    low, high, trials = -1, len(sizes), 0
    while high - low > 1:
        middle = (low + high) // 2
        trials += 1
        if run(train(name, sizes[middle], 1, 8), budget)[0] == 0:
            low = middle
        else:
            high = middle
    if low < 0:
        return None, trials, ""
    return (sizes[low], effective // sizes[low]), trials, ""


def by_tool(tool, name, effective, budget):
    os.environ["SCRATCH"] = tempfile.mkdtemp(prefix="peers-")
    try:
        _, out = run([PYTHON, HERE + "/tool.py", tool, name], budget)
    finally:
        shutil.rmtree(os.environ["SCRATCH"])
    answer = re.search(r"^answer (\d+) (\d+)$", out, re.M)
    if not answer:
        return None, None, out
    micro = int(answer[1])
    # What users make of it: as many passes as reach the effective batch.
    return (micro, -(-effective // micro)), int(answer[2]), out


def search(tool, name, effective, budget):
    if tool == "autofit":
        return by_autofit(name, effective, budget)
    if tool == "bisection":
        return by_bisection(name, effective, budget)
    return by_tool(tool, name, effective, budget)


def has(module):
    return run([PYTHON, "-c", "import " + module])[0] == 0


def cell(tool, name, budget):
    begun = time.monotonic()
    split, trials, out = search(tool, name, EFFECTIVE[name], budget)
    seconds = time.monotonic() - begun
    if not split:
        last = out.strip().splitlines()[-1:] or [""]
        return "no answer (%s)" % last[0][:60], seconds, False, False
    keeps = split[0] * split[1] == EFFECTIVE[name]
    alive = lives(name, *split, budget)
    text = "%dx%d, %s trials" % (*split, trials)
    return text, seconds, keeps, alive


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", default=",".join(EFFECTIVE))
    parser.add_argument("--budgets", type=int, default=3)
    parser.add_argument("--tools", default=",".join(TOOLS))
    args = parser.parse_args()
    tools = [tool for tool in args.tools.split(",")
             if tool not in NEEDS or has(NEEDS[tool])]
    ratios = []
    for name in args.programs.split(","):
        for budget in BUDGETS[name][:args.budgets]:
            print("\n%s, %d MiB, effective batch %d" % (
                name, budget, EFFECTIVE[name]), flush=True)
            took = {}
            for tool in tools:
                text, seconds, keeps, alive = cell(tool, name, budget)
                took[tool] = (seconds, keeps, alive)
                print("  %-20s %-24s %6.1f s  %s, %s" % (
                    tool, text, seconds, "keeps E" if keeps else "E differs",
                    "lives" if alive else "dies"), flush=True)
            own = took.pop("autofit", None)
            peers = [s for s, _, alive in took.values() if alive]
            if own and own[2] and peers:
                ratios.append(own[0] / min(peers))
                print("  autofit takes %.2fx the fastest peer whose answer "
                      "lives" % ratios[-1], flush=True)
    if ratios:
        print("\nmedian of %d cases: %.2fx" % (
            len(ratios), sorted(ratios)[len(ratios) // 2]))


if __name__ == "__main__":
    main()
