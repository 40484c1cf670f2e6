#!/usr/bin/env python3
# Exports read by DeepSpeed, Hydra, torchtune and axolotl themselves.
# SPDX-License-Identifier: MIT
# CTEST COST 60
"""As export.py, with packages that Debian does not have.

They are installed once per build folder, pinned, and without what they depend
on, for Debian's PyTorch. Where they cannot be had, the test says why and is
left out. Of torchtune, which wants a newer PyTorch, what merges the words of
its command line is loaded alone; of axolotl, which is large and is installed
with AUTOFIT_NIGHTLY=1 only, the schema of its config.
"""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import frameworks  # noqa: E402
import frameworks_pypi  # noqa: E402
import lib  # noqa: E402
from lib import equal  # noqa: E402

OPTIONS = ["--device", "host", "--headroom", "2MiB", "--confirm-steps", "3",
           "--memory", "60MiB", "--max-micro", "16"]
TRAINER = [lib.TRAINER, "--batch-size", "4", "--grad-accum", "8",
           "--steps", "10", "--step-ms", "5", "--per-sample-kib", "1024"]
# 32 = 16 x 2: no size is 1, as a consumer's default would be.
WANTED = [16, 2]

DEEPSPEED = """\
import json, sys
from deepspeed.runtime.config import DeepSpeedConfig
read = DeepSpeedConfig(json.load(open(sys.argv[1])))
print(json.dumps([read.train_micro_batch_size_per_gpu,
                  read.gradient_accumulation_steps, read.train_batch_size,
                  read.world_size]))
"""

HYDRA = """\
import json, os, sys
from hydra import compose, initialize_config_dir
folder = os.path.dirname(os.path.abspath(sys.argv[1]))
with initialize_config_dir(config_dir=folder, version_base=None):
    read = compose("config", overrides=open(sys.argv[1]).read().split())
print(json.dumps([read.batch_size, read.grad_accum]))
"""

TORCHTUNE = """\
import argparse, importlib.util, json, os, sys, types
root = importlib.util.find_spec("torchtune").submodule_search_locations[0]
for name in ("torchtune", "torchtune.config", "torchtune.utils"):
    module = types.ModuleType(name)
    module.__path__ = [os.path.join(root, *name.split(".")[1:])]
    sys.modules[name] = module
utils = sys.modules["torchtune.utils"]
utils.get_logger = utils.get_world_size_and_rank = lambda *_: None
from torchtune.config._utils import _merge_yaml_and_cli_args
read = _merge_yaml_and_cli_args(
    argparse.Namespace(batch_size=2, gradient_accumulation_steps=8),
    open(sys.argv[1]).read().split())
print(json.dumps([read.batch_size, read.gradient_accumulation_steps]))
"""


AXOLOTL = """\
import json, sys, yaml
from axolotl.utils.schemas.config import AxolotlInputConfig
config = {"base_model": "m", "learning_rate": 0.001,
          "datasets": [{"path": "d", "type": "alpaca"}],
          "micro_batch_size": 2, "gradient_accumulation_steps": 8}
config.update(yaml.safe_load(open(sys.argv[1])))
read = AxolotlInputConfig(**config)
print(json.dumps([read.micro_batch_size, read.gradient_accumulation_steps]))
"""


def consume(python, program, path):
    """What it has read; else its last words."""
    done = subprocess.run([python, "-c", program, path], capture_output=True,
                          text=True, check=False, timeout=lib.PATIENCE,
                          stdin=subprocess.DEVNULL)
    try:
        return json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        return (done.stdout + done.stderr)[-2000:]


def environment(folder, packages):
    return frameworks_pypi.make_environment(
        os.path.join(os.environ["BUILD"], folder),
        os.path.join(lib.DATA, "consumers", packages))


def main():
    if not lib.has_modules(frameworks.PYTHON, "torch"):
        lib.skip("no PyTorch at %s" % frameworks.PYTHON)
    python = environment("consumers-venv", "requirements.txt")
    rows = [("deepspeed", python, DEEPSPEED, [*WANTED, 32, 1]),
            ("hydra", python, HYDRA, WANTED),
            ("torchtune", python, TORCHTUNE, WANTED)]
    if os.environ.get("AUTOFIT_NIGHTLY"):
        rows.append(("axolotl", environment("axolotl-venv", "axolotl.txt"),
                     AXOLOTL, WANTED))
    with lib.Place("export-pypi") as place:
        tuned = place.run("tune", *OPTIONS, "--", *TRAINER)
        if not equal("tune", tuned.status, 0):
            print(tuned)
            return
        place.write("config.yaml", "batch_size: 2\ngrad_accum: 8\n")
        for form, consumer, program, wanted in rows:
            text = place.ask("export", form, tuned.result["record"]["id"]).out
            path = place.write(form + ".txt", text)
            equal(form + " reads it", consume(consumer, program, path),
                  wanted)


if __name__ == "__main__":
    main()
    lib.finish()
