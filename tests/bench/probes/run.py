#!/usr/bin/env python3
# How many probes a launch takes, and how long each is beside its three steps.
# SPDX-License-Identifier: MIT
#
# run.py [--programs a,b]: five kinds of programs on the CPU. Each is launched from
# nothing behind autofit; then every size that was probed is started bare for as
# many steps as a probe asks for. The last column is the time of the probe over
# that of the bare start; of a probe that was forked after the imports, over the
# bare start without its imports. A probe that went on as the confirmation took
# more steps: "confirms" stands there instead. PYTHON names an interpreter with
# torch, and with transformers and lightning for those; what it lacks is left
# out. AUTOFIT names the program. Nothing else should run.
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.dirname(HERE)
ROOT = os.path.dirname(os.path.dirname(BENCH))
AUTOFIT = os.environ.get("AUTOFIT", ROOT + "/build/release/autofit")
PYTHON = os.environ.get("PYTHON", sys.executable)
FRAMEWORKS = ROOT + "/tests/data/frameworks/"
STEPS = 3
LONG = 100000

PEERS = BENCH + "/peers/programs.py"
# Command, with {micro} and {steps}; what it imports; MiB of the budget beyond the
# peak of the first split; that split.
PROGRAMS = {
    "nanoGPT-like": (
        [PEERS, "transformer", "--batch-size", "{micro}", "--grad-accum",
         "{accum}", "--steps", "{steps}"], "torch", 280, (8, 60)),
    "word_language_model-like": (
        [PEERS, "by_hand", "--batch-size", "{micro}", "--grad-accum",
         "{accum}", "--steps", "{steps}"], "torch", 160, (8, 64)),
    "minGPT-like": (
        [HERE + "/mingpt.py", "--trainer.batch_size={micro}",
         "--trainer.max_iters={steps}", "--trainer.num_workers=2"],
        "torch", 400, (16, None)),
    "HF Trainer": (
        [FRAMEWORKS + "hf_trainer.py", "--output_dir", "out",
         "--per_device_train_batch_size", "{micro}",
         "--gradient_accumulation_steps", "{accum}", "--max_steps",
         "{steps}"], "transformers", 250, (2, 16)),
    "Lightning": (
        [FRAMEWORKS + "lightning_main.py", "fit", "--config",
         FRAMEWORKS + "config.yaml", "--data.batch_size={micro}",
         "--trainer.accumulate_grad_batches={accum}",
         "--trainer.max_steps={steps}"], "lightning", 250, (2, 16)),
}


def filled(command, micro, accum, steps, python=PYTHON):
    return [python] + [
        word.format(micro=micro, accum=accum or 1, steps=steps)
        for word in command
    ]


def seconds_of(argv, folder):
    begun = time.monotonic()
    subprocess.run(argv, cwd=folder, check=True, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - begun


def has(module):
    look = "import importlib.util as u, sys; sys.exit(not u.find_spec(%r))"
    return subprocess.call([PYTHON, "-c", look % module]) == 0


def tune(argv, grows, folder, *options):
    path = os.path.join(folder, "result.json")
    done = subprocess.run(
        [AUTOFIT, "tune", "--fresh", "-q", "--device", "host", *options,
         *(("--grow",) if grows else ()), "--json", path, "--", *argv],
        cwd=folder, check=False, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if not os.path.exists(path):
        sys.exit(done.stdout.decode(errors="replace"))
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def budget_of(argv, grows, room, folder):
    """In MiB: what the first split takes, as autofit counts it, and the room."""
    result = tune(argv, grows, folder, "--max-probes", "1")
    return (result["probes"][0]["peak_bytes"] >> 20) + room


def play(name):
    command, module, room, (micro, accum) = PROGRAMS[name]
    argv = filled(command, micro, accum, LONG)
    if not has(module):
        return "%s: no %s at %s" % (name, module, PYTHON)
    with tempfile.TemporaryDirectory(prefix="probes-") as folder:
        os.environ["AUTOFIT_HOME"] = os.path.join(folder, "home")
        budget = budget_of(argv, not accum, room, folder)
        result = tune(argv, not accum, folder, "--memory", "%dMiB" % budget)
        imports = seconds_of([PYTHON, "-c", "import torch"], folder)
        rows = []
        for probe in result["probes"]:
            micro, accum = probe["micro_batch"], probe["grad_accum"]
            bare = seconds_of(filled(command, micro, accum, STEPS), folder)
            own = bare - imports if probe["is_forked"] else bare
            rows.append((probe, bare, probe["seconds"] / own))
    best = result["recommended"] or {}
    print("\n%s, %d MiB: %sx%s, %d probes, %.1f s" % (
        name, budget, best.get("micro_batch"), best.get("grad_accum"),
        len(rows), result["seconds"]))
    for probe, bare, ratio in rows:
        print("  %5d x %-4d %-8s %-7s %3d steps %6.1f s, bare %5.1f s  %s" % (
            probe["micro_batch"], probe["grad_accum"], probe["verdict"],
            "forked" if probe["is_forked"] else "fresh",
            probe["steps"], probe["seconds"], bare,
            "confirms" if probe["steps"] > STEPS else "%.2fx" % ratio))
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    for name in parser.parse_args().programs.split(","):
        left_out = play(name)
        if left_out:
            print("\n" + left_out)


if __name__ == "__main__":
    main()
