#!/usr/bin/env python3
# What is not PyTorch on a card that is not there: one sentence, and 123.
# SPDX-License-Identifier: MIT
# CTEST COST 10
"""The CUDA build of JAX itself, once as it comes (it takes the CPU where it finds
no GPU) and once where it has to have a GPU; and what a real nvcc makes. Each is
left out where it is not at hand (phantom_lib.py; nvcc on PATH)."""
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
import phantom_lib  # noqa: E402

NEEDS_TORCH = (r"autofit: (error: )?the command did not use the phantom card"
               "%s: that takes a CUDA build of PyTorch")
OWN_RUNTIME = r"autofit: (error: )?the command carries a CUDA runtime of "


def refused(place, name, words, *command):
    for way in (("phantom", "t4"), ("tune", "--device", "phantom:t4")):
        answer = place.ask(*way, "--", *command)
        lib.equal("%s: autofit %s" % (name, " ".join(way)), answer.status, 123)
        lib.holds("  says why", answer.err, words)
        lib.equal("  in one sentence", len([
            line for line in answer.err.splitlines()
            if line.startswith("autofit: ")]), 1)


def static_runtime(place):
    program = place.path("own_runtime")
    subprocess.run(["nvcc", "-o", program, os.path.join(
        phantom_lib.SOURCE, "own_runtime.cu")], check=True)
    refused(place, "NVIDIA's runtime inside", OWN_RUNTIME, program,
            "--batch-size", "4")


def jax(place, python):
    train = (python, os.path.join(phantom_lib.SOURCE, "jax_train.py"),
             "--batch-size", "4", "--grad-accum", "4")
    refused(place, "JAX", NEEDS_TORCH % "", *train)
    refused(place, "JAX that has to have a GPU", NEEDS_TORCH % " before it "
            "failed", *train, "--device", "gpu")


def main():
    with lib.Place("phantom-others") as place:
        if shutil.which("nvcc"):
            static_runtime(place)
        else:
            print("left out: there is no nvcc")
        jax(place, phantom_lib.find_jax())
    lib.finish()


if __name__ == "__main__":
    main()
