#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A GPU stands in for a smaller one: --memory and --as, on simulated ones."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from lib import (  # noqa: E402
    MIB, PATIENCE, TRAINER, Place, check, equal, finish, holds, lacks,
)

SIM = os.path.join(os.environ["BUILD"], "sim")
LARGE = "Sim H200:24G:500M"
GIB = 1 << 30
T4 = 14909 * MIB  # of configs/gpus.csv
# Asks the driver how much there is, in a probe and in the run, then trains.
TOTALS = """
import ctypes, os, sys
cuda = ctypes.CDLL("libcuda.so.1")
total, free = ctypes.c_size_t(), ctypes.c_size_t()
whole, context = ctypes.c_size_t(), ctypes.c_void_p()
codes = [cuda.cuInit(0), cuda.cuDeviceTotalMem_v2(ctypes.byref(whole), 0),
         cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0),
         cuda.cuCtxSetCurrent(context),
         cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))]
with open(sys.argv[1], "a") as file:
    print("probe" if "AUTOFIT_PROBE" in os.environ else "run", *codes,
          whole.value, total.value, free.value, file=file)
"""


def training(micro=8, accum=16, fixed=4000, sample=400000, steps=400):
    return [os.path.join(SIM, "sim_trainer"), "--batch-size", str(micro),
            "--grad-accum", str(accum), "--steps", str(steps), "--fixed-mib",
            str(fixed), "--per-sample-kib", str(sample), "--step-ms", "20"]


class Machine(Place):
    """A place with simulated devices in it."""

    def __init__(self, devices, **env):
        super().__init__("cap")
        self.env.update(LD_LIBRARY_PATH=SIM, AUTOFIT_SIM_DEVICES=devices,
                        AUTOFIT_SIM_STATE=self.path("sim"), **env)

    def call(self, options, command, word="", **env):
        # The simulated devices are a file that probes write for real.
        words = [word, "--largest"] if word == "tune" else [word][: bool(word)]
        return self.run(*words, "--allow-writes", self.folder, *options, "--",
                        *command, env=env)


    def read(self, *words):
        """What a sub-command without --json prints."""
        return self.start(*words).communicate(timeout=PATIENCE)[0].decode()


def device(answer):
    return (answer.result or {}).get("devices", [{}])[0]


def split(answer):
    best = (answer.result or {}).get("recommended") or {}
    return best.get("micro_batch"), best.get("grad_accum")


def limit_is_of(name, answer, cap):
    evidence = answer.result["evidence"]
    exact = evidence["coverage"] == "exact"
    least, share = (512 * MIB, 4) if exact else (GIB, 8)
    equal(name + ": headroom by coverage", evidence["headroom_bytes"],
          max(least, cap // 100 * share))
    equal(name + ": limit", evidence["limit_bytes"],
          cap - evidence["headroom_bytes"])


def a_cap_is_a_card_of_that_size():
    rows = [
        ("even", dict(), 12),
        ("steep", dict(fixed=2000, sample=1500000), 12),
        ("its own size is too large", dict(micro=32, accum=4), 12),
        ("a tight card", dict(fixed=3000, sample=100000), 5),
    ]
    for name, curve, size in rows:
        with Machine(LARGE) as large, Machine("Small:%dG:0" % size) as small:
            capped = large.call(["--memory", "%dG" % size], training(**curve),
                                "tune")
            real = small.call([], training(**curve), "tune")
        cap = size * GIB
        equal(name + ": budget", device(capped).get("budget_bytes"), cap)
        equal(name + ": by", capped.result["budget_source"], "--memory")
        equal(name + ": not emulated", device(capped)["emulated_as"], None)
        check(name + ": tuned", capped.result["outcome"] == "tuned" and
              real.result["outcome"] == "tuned", "%s\n%s" % (capped, real))
        equal(name + ": the same split", split(capped), split(real))
        equal(name + ": the same largest micro",
              capped.result["largest_micro_batch"],
              real.result["largest_micro_batch"])
        equal(name + ": the same limit",
              capped.result["evidence"]["limit_bytes"],
              real.result["evidence"]["limit_bytes"])
        limit_is_of(name, capped, cap)
        peaks = [p["peak_bytes"] or 0 for p in capped.probes]
        check(name + ": no probe had more than the cap", max(peaks) <= cap,
              capped)
        equal(name + ": seen exactly",
              capped.result["evidence"]["coverage"], "exact")


def totals_of(machine):
    with open(machine.path("totals"), encoding="utf-8") as file:
        return [line.split() for line in file]


def only_probes_are_capped():
    with Machine(LARGE) as machine:
        ask = machine.write("ask.py", TOTALS)
        script = machine.write(
            "train.sh", '#!/bin/sh\n"%s" "%s" "%s" || exit 1\nexec "$@"\n' %
            (sys.executable, ask, machine.path("totals")), 0o755)
        answer = machine.call(["--as", "t4"], [script, *training(steps=40)])
        lines = totals_of(machine)
    equal("launch: it ran", (answer.status, answer.result["outcome"]),
          (0, "tuned"))
    probes = [line for line in lines if line[0] == "probe"]
    runs = [line for line in lines if line[0] == "run"]
    check("the driver was asked", len(probes) >= 1 and len(runs) == 1 and
          all(line[1:6] == ["0"] * 5 for line in lines), lines)
    check("a probe sees a T4", all(line[6:8] == [str(T4)] * 2 and
                                   int(line[8]) <= T4 for line in probes), lines)
    check("the run sees the card", all(line[6:8] == [str(24 * GIB)] * 2
                                       for line in runs), lines)
    holds("the report says so", answer.err,
          "the run is not held to the memory of Tesla T4")


def as_a_model():
    with Machine(LARGE) as machine:
        answer = machine.call(["--as", "t4"], training(), "tune")
        result = answer.result
        equal("--as: budget", device(answer).get("budget_bytes"), T4)
        equal("--as: by", result["budget_source"], "--as")
        equal("--as: emulated", device(answer)["emulated_as"], "Tesla T4")
        equal("--as: the card it was", device(answer)["name"], "Sim H200")
        limit_is_of("--as", answer, T4)
        check("--as: a caveat", [c for c in result["caveats"] if c.startswith(
            "emulated: Tesla T4 on Sim H200; workspaces")], result["caveats"])
        holds("--as: the report", answer.err, "1x Sim H200 as Tesla T4",
              "budget 14.6 GiB \\(--as\\)", "emulated: Tesla T4 on Sim H200; "
              "workspaces, context size and free memory differ on the real "
              "one: re-check there \\(autofit does at the first launch\\)")
        lacks("--as: nothing runs", answer.err, "is not held to")
        with open(result["record"]["path"], encoding="utf-8") as file:
            record = file.read()
        holds("--as: the record", record, "emulated_as = 8:Tesla%20T4")
        holds("--as: in the list", machine.read("show"),
              "Sim H200 as Tesla T4")
        grades_of(machine)
        both = machine.call(["--as", "t4", "--memory", "8G"], training(),
                            "tune")
        equal("--as and --memory: the smaller", device(both)["budget_bytes"],
              8 * GIB)
        equal("--as and --memory: emulated", device(both)["emulated_as"],
              "Tesla T4")


def grades_of(machine):
    """For whom the record of a T4 is exact, a hint, or none."""
    def grade(*options):
        answer = machine.call(list(options), training(), "explain")
        return answer.result["record"]["grade"]

    rows = [
        ("the same name", ["--as", "t4"], "exact"),
        ("the same model", ["--as", "NVIDIA Tesla-T4"], "exact"),
        ("no --as", [], "hint"),
        ("its memory as --memory", ["--memory", "%d" % T4], "hint"),
        ("--memory as well", ["--as", "t4", "--memory", "8G"], "hint"),
        ("another model", ["--as", "rtx3060"], "hint"),
    ]
    for name, options, wanted in rows:
        equal("grade, " + name, grade(*options), wanted)
    reused = machine.call(["--as", "t4"], training(), "tune",
                          AUTOFIT_SIM_FAULT="crash,nvml=hang")
    equal("reused without a driver", reused.result["outcome"], "reused")
    equal("reused: emulated", device(reused)["emulated_as"], "Tesla T4")
    launched = machine.call(["--as", "t4"], training(steps=2))
    equal("launched by the record", launched.result["outcome"], "reused")
    holds("it says what it is", launched.err, "no probe; the run is not held "
          "to the memory of Tesla T4; --fresh")
    machine.write("home/config/gpus.csv",
                  "name,driver_total_mib,cuda_usable_mib\nTesla T4,15360,9000\n"
                  "Broken,x,\n")
    own = machine.call(["--as", "t4"], training(), "explain")
    equal("grade, another figure", own.result["record"]["grade"], "hint")
    holds("the user's own figure", own.out, "as Tesla T4, budget 8.79 GiB")
    holds("and a bad line", own.err,
          "config/gpus.csv:3: driver_total_mib is no size")
    os.remove(machine.path("home", "config", "gpus.csv"))


def refused():
    rows = [
        ("a larger card", LARGE, ["--as", "a100-40gb"], training(),
         "cannot emulate a larger card: programs have 39.4 GiB on NVIDIA A100"),
        ("host memory", LARGE, ["--as", "t4", "--device", "host"], training(),
         "host memory cannot emulate a GPU: leave out --device host"),
        ("no GPU", "", ["--as", "t4"], training(),
         "host memory cannot emulate a GPU, and there is none here"),
        ("no use of the GPU", LARGE, ["--as", "t4"],
         [TRAINER, "--batch-size", "8", "--grad-accum", "16", "--steps", "40",
          "--step-ms", "20", "--fixed-mib", "20"],
         "host memory cannot emulate a GPU, and the first probe used none"),
        ("several models", LARGE, ["--as", "a100"], training(),
         "'a100' is not the whole name: is it NVIDIA A100-PCIE-40GB"),
        ("no model", LARGE, ["--as", "rtx4091"], training(),
         "'rtx4091' is no GPU model that is known here; near it: NVIDIA "
         "GeForce RTX 4090"),
    ]
    for name, devices, options, command, words in rows:
        with Machine(devices) as machine:
            answer = machine.call(options, command, "tune")
            records = machine.path("home", "records")
            check(name + ": nothing is recorded", not os.path.isdir(records) or
                  not os.listdir(records))
        equal(name + ": 125", answer.status, 125)
        holds(name + ": in words", answer.err, words)
        if answer.result:
            equal(name + ": JSON", answer.result["outcome"], "error")
    with Machine(LARGE) as machine:
        answer = machine.call(["--otherwise", "run", "--as", "nothing"],
                              training(steps=2))
    equal("--otherwise run starts it", answer.status, 0)
    holds("as given", answer.out, "step 2/2")
    holds("and says why", answer.err, "'nothing' is no GPU model")


def options_of_every_kind():
    with Machine(LARGE, AUTOFIT_AS="t4") as machine:
        answer = machine.call([], training(), "explain")
        holds("by its variable", answer.out, "1x Sim H200 as Tesla T4")
        machine.env.pop("AUTOFIT_AS")
        machine.write(".autofit.ini", "as = rtx3060\n")
        answer = machine.call([], training(), "explain")
        holds("by a file", answer.out, "as NVIDIA GeForce RTX 3060, budget")
        # Inside a probe nothing is looked up, and nothing said.
        answer = machine.call(["--as", "nothing"], ["true"],
                              AUTOFIT_PROBE="0" * 32)
        equal("nothing inside a probe", (answer.status, answer.err), (0, ""))
        machine.write(".autofit.ini", "")
        exported = machine.call(["--as", "t4"], training(), "tune")
        name = exported.result["record"]["id"]
        text = machine.read("export", "json", name)
        if check("export prints JSON", text.startswith("{"), text):
            equal("export keeps it",
                  json.loads(text)["devices"][0]["emulated_as"], "Tesla T4")


a_cap_is_a_card_of_that_size()
only_probes_are_capped()
as_a_model()
refused()
options_of_every_kind()
finish()
