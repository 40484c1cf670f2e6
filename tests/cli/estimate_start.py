#!/usr/bin/env python3
# The estimate of a command's model starts its search, and advises where
# nothing fits.
# SPDX-License-Identifier: MIT
"""On the simulated driver; the program says gpt2 and needs what it needs."""
import os
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import check, equal, holds, lacks  # noqa: E402

SIM = os.path.join(os.environ["BUILD"], "sim")
SCRIPT = """
import os, sys
words = sys.argv[1:]
for name in ("--model_name_or_path", "--max_seq_length"):
    if name in words:
        at = words.index(name)
        del words[at : at + 2]
program = %r
os.execv(program, [program, *words])
""" % os.path.join(SIM, "sim_trainer")
MODEL = ["--model_name_or_path", "gpt2", "--max_seq_length", "1024"]
FIXED_MIB, SAMPLE_KIB = 1700, 1100000


class Gpu(lib.Place):
    def __init__(self, card):
        super().__init__("estimate")
        self.env.update(
            LD_LIBRARY_PATH=SIM,
            AUTOFIT_SIM_STATE=self.path("devices"),
            AUTOFIT_SIM_DEVICES=card,
        )
        self.script = self.write("train.py", SCRIPT)

    def launch(self, *words):
        sizes = ["--batch-size", "1", "--grad-accum", "64", "--steps", "20"]
        needs = ["--fixed-mib", str(FIXED_MIB)]
        needs += ["--per-sample-kib", str(SAMPLE_KIB), "--step-ms", "15"]
        return self.run(
            *("--device", "cuda", "--allow-writes", self.folder),
            *("--confirm-steps", "5", "--"),
            *[sys.executable, self.script, *sizes, *needs, *words],
        )


def it_starts_at_the_estimate():
    with Gpu("Card:24G:300M:500M") as gpu:
        answer = gpu.launch(*MODEL)
    with Gpu("Card:24G:300M:500M") as gpu:
        own = gpu.launch()
    sizes = [probe["micro_batch"] for probe in answer.result["probes"]]
    equal("with a model: tuned", answer.result["outcome"], "tuned")
    best = answer.result["recommended"]
    equal("with a model: the answer", best["micro_batch"], 16)
    equal("with a model: the first size", sizes[0], 8)
    holds("with a model: said", answer.err,
          r"estimate +[\d.]+ GiB with micro 1 ", "autofit estimate -- ")
    check("with a model: in JSON", "GiB" in (answer.result["estimate"] or ""))
    sizes = [probe["micro_batch"] for probe in own.result["probes"]]
    equal("without: the command's own size", sizes[0], 1)
    equal("without: no estimate", own.result["estimate"], None)
    lacks("without: none said", own.err, "estimate ")


def nothing_fits():
    with Gpu("Card:1500M:100M:300M") as gpu:
        answer = gpu.launch(*MODEL)
        other = gpu.launch()
    equal("nothing fits: exit", answer.status, 120)
    holds("nothing fits: advice", answer.err, "what would save memory",
          "saves [0-9.]+ [MG]iB")  # fmt: skip
    check("nothing fits: in JSON", "saves" in (answer.result["advice"] or ""))
    equal("no model: exit", other.status, 120)
    equal("no model: no advice", other.result["advice"], None)


it_starts_at_the_estimate()
nothing_fits()
lib.finish()
