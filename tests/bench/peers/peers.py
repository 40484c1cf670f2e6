#!/usr/bin/env python3
# autofit beside other tools: answer, trials, seconds, and whether it lives.
# SPDX-License-Identifier: MIT
#
# peers.py [--programs a,b] [--budgets N] [--tools a,b] [--keep FILE]: for each
# program of programs.py and its first N budgets (default 3) each tool searches
# the batch size under the budget. That is timed, and wants a machine on which
# nothing else runs, for the better part of an hour. Then each answer trains 200
# passes under a hard limit of the same size, which takes hours where batches
# are large; that is not timed, so several do so side by side. With FILE what is
# measured is kept, and what is kept there is not measured again. The limit is
# RLIMIT_DATA, which refuses memory as a GPU does; it also counts what is mapped
# and never touched, so that much, as measured after two steps of one sample, is
# added to it. PYTHON names an interpreter with torch, and with accelerate,
# lightning and transformers for those tools; what it lacks is left out. AUTOFIT
# names the program. One thread. Of autofit it is timed until an answer is
# confirmed, and with --guard until the run itself begins. On the last lines are
# the goals and what was reached.
import argparse
import concurrent.futures
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from cases import BUDGETS, EFFECTIVE

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
AUTOFIT = os.environ.get("AUTOFIT", ROOT + "/build/release/autofit")
PYTHON = os.environ.get("PYTHON", sys.executable)
PASSES = 200
PATIENCE = 7200
# Lightning's search by halves goes round for ever at some limits.
SEARCH_PATIENCE = 1200
MIB = 1 << 20
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
               "MALLOC_ARENA_MAX": "2"}
NEEDS = {
    "accelerate": "accelerate",
    "lightning-power": "lightning",
    "lightning-binsearch": "lightning",
    "hf": "transformers",
}


def limited(budget):
    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (budget * MIB,) * 2)

    return limit


SMALLEST = """
import sys
import torch
sys.path.append(sys.argv[1])
import programs
programs.train(sys.argv[2], 1, 1, int(sys.argv[3]))
try:
    import torch._dynamo
except ImportError:
    pass
sizes = dict(line.split(":") for line in open("/proc/self/status"))
print(*(sizes[name].split()[0] for name in ("RssAnon", "VmData")))
"""


def smallest_takes(name, steps):
    """MiB in memory, and MiB that count as data, after steps of one sample."""
    out = run([PYTHON, "-c", SMALLEST, HERE, name, str(steps)])[1].split()
    resident, data = (int(kib) // 1024 for kib in out[-2:])
    return resident, data


def run(argv, budget=None, folder=None, patience=PATIENCE):
    """(status, output) of a command, under a hard limit if there is one.

    What does not end has no status.
    """
    env = dict(os.environ, **ENVIRONMENT)
    try:
        done = subprocess.run(
            argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, text=True, errors="replace", cwd=folder,
            timeout=patience, preexec_fn=limited(budget) if budget else None)
    except subprocess.TimeoutExpired:
        return None, "no end in %d s" % patience
    return done.returncode, done.stdout


def train(name, micro, accum, steps):
    return [PYTHON, HERE + "/programs.py", name, "--batch-size", str(micro),
            "--grad-accum", str(accum), "--steps", str(steps)]


def lives(name, micro, accum, limit):
    steps = -(-PASSES // accum)
    return run(train(name, micro, accum, steps), limit)[0] == 0


def splits(effective):
    return [n for n in range(1, effective + 1) if effective % n == 0]


def autofit_words(name, effective, budget, *options):
    start = min(8, effective)
    return [AUTOFIT, *options, "--device", "host", "--memory", "%dM" % budget,
            "--", *train(name, start, effective // start, 100)]


def by_autofit(name, effective, budget):
    with tempfile.TemporaryDirectory(prefix="peers-") as home:
        os.environ["AUTOFIT_HOME"] = home
        _, out = run(autofit_words(name, effective, budget, "tune"))
    split = re.search(r"micro (\d+) x accum (\d+) fits", out)
    probes = re.search(r"(\d+) probes? in", out)
    if not split:
        return None, probes and int(probes[1]), out
    return (int(split[1]), int(split[2])), int(probes[1]), out


def by_guard(name, effective, budget):
    """Until the run is started, which the finished result comes before."""
    with tempfile.TemporaryDirectory(prefix="peers-") as home:
        path = home + "/result.json"
        env = dict(os.environ, **ENVIRONMENT, AUTOFIT_HOME=home)
        autofit = subprocess.Popen(
            autofit_words(name, effective, budget, "--guard", "--json", path),
            env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        while autofit.poll() is None and not os.path.exists(path):
            time.sleep(0.01)
        autofit.terminate()
        autofit.wait()
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
    best = result["recommended"]
    return (best and (best["micro_batch"], best["grad_accum"]),
            result["probe_count"], result["outcome"])


OURS = {"autofit": by_autofit, "autofit --guard": by_guard}
TOOLS = [*OURS, "bisection", "doubling", *NEEDS]


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
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        _, out = run([PYTHON, HERE + "/tool.py", tool, name], budget, folder,
                     SEARCH_PATIENCE)
    answer = re.search(r"^answer (\d+) (\d+)$", out, re.M)
    if not answer:
        return None, None, out
    micro = int(answer[1])
    # What users make of it: as many passes as reach the effective batch.
    return (micro, -(-effective // micro)), int(answer[2]), out


def search(tool, name, effective, budget, slack):
    if tool in OURS:
        return OURS[tool](name, effective, budget)
    if tool == "bisection":
        return by_bisection(name, effective, budget + slack)
    return by_tool(tool, name, effective, budget + slack)


def has(module):
    return run([PYTHON, "-c", "import " + module])[0] == 0


def children_cpu():
    """Seconds of CPU of all that has ended: other work does not count."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Kept:
    """What was measured, by its words; in a file, if one is named."""

    def __init__(self, path):
        self.path, self.found = path, {}
        self.lock = threading.Lock()
        if path and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.found = json.load(file)

    def get(self, measure, *words):
        key = " ".join(str(word) for word in words)
        if key not in self.found:
            self.put(key, measure())
        return self.found[key]

    def put(self, key, value):
        with self.lock:
            self.found[key] = value
            if self.path:
                with open(self.path, "w", encoding="utf-8") as file:
                    json.dump(self.found, file, indent=1)


def timed(tool, name, budget, slack):
    """What one tool makes of one case."""
    begun, used = time.monotonic(), children_cpu()
    split, trials, out = search(tool, name, EFFECTIVE[name], budget, slack)
    last = out.strip().splitlines()[-1:] or [""]
    seen = {"seconds": time.monotonic() - begun,
            "cpu": children_cpu() - used, "trials": trials, "split": split,
            "last": last[0][:60]}
    print("  %-20s %6.1f s  %s" % (tool, seen["seconds"],
                                   split or seen["last"]), flush=True)
    return seen


def searched(kept, tools, name, above):
    """One case, without what becomes of the answers."""
    imports, resident, data = kept.get(
        lambda: (smallest_takes(name, 0)[0], *smallest_takes(name, 2)), name)
    budget, slack = above + imports, data - resident
    print("\n%s, %d MiB, effective batch %d" % (
        name, budget, EFFECTIVE[name]), flush=True)
    cells = {tool: dict(kept.get(lambda tool=tool: timed(tool, name, budget,
                                                         slack),
                                 name, above, tool)) for tool in tools}
    return {"name": name, "budget": budget, "limit": budget + slack,
            "cells": cells}


def see_who_lives(kept, cases, jobs):
    """Each split once, whoever answered it."""
    answers = {(case["name"], *seen["split"], case["limit"])
               for case in cases for seen in case["cells"].values()
               if seen["split"]}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        ordered = sorted(answers, key=lambda answer: answer[1])
        for _ in pool.map(lambda answer: kept.get(lambda: lives(*answer),
                                                  "lives", *answer), ordered):
            pass
    for case in cases:
        for seen in case["cells"].values():
            split = seen["split"]
            seen["lives"] = bool(split) and kept.get(
                None, "lives", case["name"], *split, case["limit"])
            seen["keeps"] = (bool(split) and split[0] * split[1] ==
                             EFFECTIVE[case["name"]])


def show(case):
    print("\n%s, %d MiB, effective batch %d" % (
        case["name"], case["budget"], EFFECTIVE[case["name"]]))
    for tool, seen in case["cells"].items():
        text = "no answer (%s)" % seen["last"]
        if seen["split"]:
            text = "%dx%d, %s trials" % (*seen["split"], seen["trials"])
        print("  %-20s %-24s %6.1f s, CPU %6.1f s  %s, %s" % (
            tool, text, seen["seconds"], seen["cpu"],
            "keeps E" if seen["keeps"] else "E differs",
            "lives" if seen["lives"] else "dies"))


def ratios(cases, own, wanted):
    """One's seconds over those of the fastest peer with all of that."""
    found = []
    for cells in cases:
        peers = [seen["seconds"] for tool, seen in cells.items()
                 if tool not in OURS and all(seen[what] for what in wanted)]
        if peers:
            found.append(cells[own]["seconds"] / min(peers))
    return found


def summary(cases, own):
    seen = [cells[own] for cells in cases]
    trials = sorted(one["trials"] or 0 for one in seen)
    print("\n%s: %d of %d answers live and keep E; probes mean %.2f "
          "(goal 3.0), p95 %d (goal 5)" % (
              own, sum(one["lives"] and one["keeps"] for one in seen),
              len(seen), statistics.mean(trials),
              trials[int(0.95 * (len(trials) - 1))]))
    for words, goal, wanted in (
            ("the fastest peer whose answer lives", "1.0 in each case",
             ["lives"]),
            ("those that keep E", "0.6 in the median", ["lives", "keeps"])):
        found = ratios(cases, own, wanted)
        if found:
            print("seconds against %s: median %.2fx, at most %.2fx of %d "
                  "cases (goal %s)" % (
                      words, statistics.median(found), max(found),
                      len(found), goal))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", default=",".join(EFFECTIVE))
    parser.add_argument("--budgets", type=int, default=3)
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--keep", metavar="FILE")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    tools = [tool for tool in args.tools.split(",")
             if tool not in NEEDS or has(NEEDS[tool])]
    kept = Kept(args.keep)
    cases = [searched(kept, tools, name, above)
             for name in args.programs.split(",")
             for above in BUDGETS[name][:args.budgets]]
    see_who_lives(kept, cases, args.jobs)
    for case in cases:
        show(case)
    for own in (tool for tool in OURS if tool in tools):
        summary([case["cells"] for case in cases], own)


if __name__ == "__main__":
    main()
