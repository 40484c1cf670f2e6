#!/usr/bin/env python3
# Exports of a record are read by what they are for, and say its sizes.
# SPDX-License-Identifier: MIT
"""One tuning of the C trainer, one of a command with a YAML config and one
through variables. Their exports, made in another folder's home from the record
alone, go through a shell, Python's json, csv and yaml, and where it is
installed transformers; each must come back with the recommended sizes.
"""
import csv
import io
import json
import os
import shlex
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import check, equal, holds, lacks  # noqa: E402

OPTIONS = ["--device", "host", "--headroom", "2MiB", "--confirm-steps", "3"]
MEMORY = ["--memory", "60MiB"]
TRAINER = [lib.TRAINER, "--batch-size", "4", "--grad-accum", "8",
           "--steps", "10", "--step-ms", "5", "--per-sample-kib", "1024"]
WANTED = {"micro": 32, "accum": 1, "effective": 32}

CONFIG = """\
# my own words
model:
  name: small  # kept
train:
  batch_size: 2   # per device
  gradient_accumulation_steps: 8
  lr: 1e-4
"""

# Reads the YAML as most scripts do, and holds memory by the batch.
SCRIPT = """\
import argparse, os, time, yaml
parser = argparse.ArgumentParser()
parser.add_argument("--config")
args = parser.parse_args()
train = yaml.safe_load(open(args.config))["train"]
held = bytearray(b"x") * (train["batch_size"] << 20)
for step in range(1, 21):
    print("step %d/20 loss 1.0" % step, flush=True)
    time.sleep(0.005)
"""


def export(place, form, name, status=0):
    """The text of the export; checks only its status."""
    process = place.start("export", form, name)
    out, err = process.communicate(timeout=lib.PATIENCE)
    if process.returncode != status:
        check("export %s: status" % form, False, err.decode())
    return (out if status == 0 else err).decode()


def shell(text, *names):
    """Values of the variables after a POSIX shell has read the text."""
    shown = " ".join('"$%s"' % name for name in names)
    done = subprocess.run(["sh", "-c", text + "\nprintf '%s\\n' " + shown],
                          capture_output=True, text=True, check=False)
    return done.stdout.split("\n")[:-1]


def pairs(text, between):
    return dict(line.split(between, 1) for line in text.splitlines())


def data_of_the_result(result, name):
    equal("settings", result["settings"], [
        {"size": "micro_batch", "name": "--batch-size", "value": "32",
         "was": "4", "where": "argument 2"},
        {"size": "grad_accum", "name": "--grad-accum", "value": "1",
         "was": "8", "where": "argument 4"},
    ])
    rates = result["rates"]
    for who, sizes in (("yours", (4, 8)), ("best", (32, 1))):
        rate = rates[who]
        probe = result["probes"][rate["probe"]]
        equal("rates: %s" % who, (rate["micro_batch"], rate["grad_accum"]),
              sizes)
        equal("rates: which probe was %s" % who, probe["micro_batch"],
              sizes[0])
        equal("rates: its rate, %s" % who, rate["samples_per_second"],
              probe["samples_per_second"])
        spread = rate["samples_per_second_spread"]
        if probe["samples_per_second"] is None:  # a busy machine: too few
            equal("rates: no spread without a rate, %s" % who, spread, None)
        else:
            check("rates: its spread, %s" % who,
                  0 < spread < rate["samples_per_second"], rate)
    equal("host", result["host"], os.uname().nodename)
    check("versions", isinstance(result["versions"], dict))
    check("created", result["created"] > 1700000000)
    equal("record", result["record"]["id"], name)


def frameworks_read_them(place, name):
    hf = json.loads(export(place, "hf", name))
    equal("hf", hf, {"per_device_train_batch_size": 32,
                     "gradient_accumulation_steps": 1})
    deepspeed = json.loads(export(place, "deepspeed", name))
    equal("deepspeed", deepspeed, {"train_batch_size": 32,
                                   "train_micro_batch_size_per_gpu": 32,
                                   "gradient_accumulation_steps": 1})
    equal("torchtune", pairs(export(place, "torchtune", name), "="),
          {"batch_size": "32", "gradient_accumulation_steps": "1"})
    equal("hydra", pairs(export(place, "hydra", name), "="),
          {"batch_size": "32", "grad_accum": "1"})
    try:
        import yaml
    except ImportError:
        print("# no yaml: accelerate and axolotl are not read")
        return
    accelerate = yaml.safe_load(export(place, "accelerate", name))
    equal("accelerate", (accelerate["num_processes"],
                         accelerate["distributed_type"],
                         accelerate["use_cpu"],
                         accelerate["deepspeed_config"]),
          (1, "NO", True, {"gradient_accumulation_steps": 1}))
    axolotl = yaml.safe_load(export(place, "axolotl", name))
    equal("axolotl", axolotl, {"micro_batch_size": 32,
                               "gradient_accumulation_steps": 1})


# As a Hydra program starts, and as torchtune merges its command line.
OVERRIDES = """\
import sys
from omegaconf import OmegaConf
words = open(sys.argv[1]).read().split()
print(*OmegaConf.merge({"batch_size": 2, "gradient_accumulation_steps": 8},
                       OmegaConf.from_dotlist(words)).values())
try:
    from hydra import compose, initialize_config_dir
except ImportError:
    sys.exit()
words = open(sys.argv[2]).read().split()
with initialize_config_dir(config_dir=sys.argv[3], version_base=None):
    print(*compose("config", overrides=words).values())
"""


def overrides_are_merged(place, name):
    """OmegaConf is Debian's, or with Hydra that of the environment."""
    torchtune = place.write("tune.txt", export(place, "torchtune", name))
    hydra = place.write("hydra.txt", export(place, "hydra", name))
    place.write("conf/config.yaml", "batch_size: 2\ngrad_accum: 8\n")
    environment = os.path.join(os.environ["BUILD"], "frameworks-venv", "bin",
                               "python")
    for python in (environment, "/usr/bin/python3"):
        done = subprocess.run([python, "-c", OVERRIDES, torchtune, hydra,
                               place.path("conf")], capture_output=True,
                              text=True, check=False, timeout=lib.PATIENCE
                              ) if os.path.exists(python) else None
        if done is None or "No module named 'omegaconf'" in done.stderr:
            print("# not merged: no OmegaConf for %s" % python)
            continue
        equal("OmegaConf and Hydra merge them",
              set(done.stdout.splitlines()) or done.stderr, {"32 1"})


# What the consumer itself makes of the files; run by its own Python.
CONSUMER = """\
import json, sys
from transformers import TrainingArguments, HfArgumentParser
args, = HfArgumentParser(TrainingArguments).parse_dict(
    dict(json.load(open(sys.argv[1])), output_dir=sys.argv[3]))
from accelerate.commands.config.config_args import load_config_from_file
config = load_config_from_file(sys.argv[2])
print(args.per_device_train_batch_size, args.gradient_accumulation_steps,
      config.num_processes,
      config.deepspeed_config["gradient_accumulation_steps"])
"""


def the_real_consumers_read_them(place, name):
    """Where tests/cli/frameworks_pypi.py has made an environment."""
    python = os.path.join(os.environ["BUILD"], "frameworks-venv", "bin",
                          "python")
    if not os.path.exists(python):
        print("# no environment with transformers: not loaded by it")
        return
    hf = place.write("hf.json", export(place, "hf", name))
    config = place.write("accelerate.yaml", export(place, "accelerate", name))
    done = subprocess.run([python, "-c", CONSUMER, hf, config,
                           place.path("out")], capture_output=True, text=True,
                          check=False, timeout=lib.PATIENCE)
    equal("transformers and accelerate load them", done.stdout.strip(),
          "32 1 1 1")


def shells_read_them(place, name):
    names = ("AUTOFIT_MICRO", "AUTOFIT_ACCUM", "AUTOFIT_EFFECTIVE")
    equal("env: a shell", shell(export(place, "env", name), *names),
          ["32", "1", "32"])
    equal("dotenv", [pairs(export(place, "dotenv", name), "=")[n]
                     for n in names], ["32", "1", "32"])
    line = export(place, "cmd", name)
    words = shlex.split(line)
    equal("cmd: its words", words[:5],
          [lib.TRAINER, "--batch-size", "32", "--grad-accum", "1"])
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True,
                          check=False)
    holds("cmd: a shell runs it", done.stdout, "step 10/10")
    equal("args", shlex.split(export(place, "args", name)),
          ["--batch-size", "32", "--grad-accum", "1"])


def tables_are_read(place, name, rate):
    rows = list(csv.DictReader(io.StringIO(export(place, "csv", name))))
    equal("csv", [(row["record"], int(row["micro_batch"]),
                   int(row["grad_accum"])) for row in rows], [(name, 32, 1)])
    shown = rows[0]["samples_per_second"]
    check("csv: the rate", rate is None and shown == ""
          or abs(float(shown) - rate) < 0.1, (shown, rate))
    head, rule, row = export(place, "markdown", name).splitlines()
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    equal("markdown: as many cells", head.count("|"), row.count("|"))
    equal("markdown: and rules", rule.count("|"), row.count("|"))
    equal("markdown", cells[0:1] + cells[2:4], [name, "32", "1"])


def elsewhere(place, name):
    """The record alone, where neither script nor program is."""
    text = export(place, "record", name)
    with lib.Place("export-there") as there:
        path = there.write("record.ini", text)
        process = there.start("import", path)
        process.communicate(timeout=lib.PATIENCE)
        equal("elsewhere: imported", process.returncode, 0)
        for form in ("cmd", "env", "hf", "hydra", "csv"):
            equal("elsewhere: " + form, export(there, form, name),
                  export(place, form, name))


def lowered(place, name):
    process = place.start("lower", name)
    process.communicate(timeout=lib.PATIENCE)
    with open(place.path("home", "records", name + ".ini"),
              encoding="utf-8") as file:
        head = file.read().split("\n\n", 1)[0]  # before the probes
        sizes = dict(line.split(" = ", 1) for line in head.splitlines()
                     if line.startswith(("micro_batch", "grad_accum")))
    equal("lowered: hydra follows", pairs(export(place, "hydra", name), "="),
          {"batch_size": sizes["micro_batch"],
           "grad_accum": sizes["grad_accum"]})
    holds("lowered: cmd has no old sizes", export(place, "cmd", name, 125),
          "sizes only")
    holds("no config file", export(place, "yaml", name, 125),
          "no YAML file of the command says a size")


def of_a_trainer():
    with lib.Place("export") as place:
        tuned = place.run("tune", *OPTIONS, *MEMORY, "--", *TRAINER)
        if not equal("tune", tuned.status, 0):
            print(tuned)
            return
        name = tuned.result["record"]["id"]
        data_of_the_result(tuned.result, name)
        shells_read_them(place, name)
        frameworks_read_them(place, name)
        the_real_consumers_read_them(place, name)
        overrides_are_merged(place, name)
        tables_are_read(place, name,
                        tuned.result["rates"]["best"]["samples_per_second"])
        elsewhere(place, name)
        lowered(place, name)


def of_a_config():
    try:
        import yaml
    except ImportError:
        print("# no yaml: no config is tuned")
        return
    with lib.Place("export-yaml") as place:
        place.write("train.py", SCRIPT)
        config = place.write("conf/train.yaml", CONFIG)
        tuned = place.run("tune", *OPTIONS, "--memory", "600MiB", "--",
                          "python3", "train.py", "--config",
                          "conf/train.yaml")
        if not equal("yaml: tune", tuned.status, 0):
            print(tuned)
            return
        name = tuned.result["record"]["id"]
        sizes = tuned.result["recommended"]
        equal("yaml: where", [(s["name"], s["where"])
                              for s in tuned.result["settings"]],
              [("train.batch_size", "conf/train.yaml:5"),
               ("train.gradient_accumulation_steps", "conf/train.yaml:6")])
        for form in ("yaml", "config"):
            text = export(place, form, name)
            there = yaml.safe_load(text)["train"]
            equal(form + ": sizes", (there["batch_size"],
                                     there["gradient_accumulation_steps"]),
                  (sizes["micro_batch"], sizes["grad_accum"]))
            back = text.replace(
                "batch_size: %d " % sizes["micro_batch"], "batch_size: 2 "
            ).replace("steps: %d\n" % sizes["grad_accum"], "steps: 8\n")
            equal(form + ": all else stays", back, CONFIG)
        hydra = pairs(export(place, "hydra", name), "=")
        equal("yaml: hydra", hydra["train.batch_size"],
              str(sizes["micro_batch"]))
        place.write("conf/train.yaml", CONFIG.replace("size: 2", "size: 3"))
        holds("yaml: an edited file", export(place, "yaml", name, 125),
              "conf/train.yaml has changed")
        os.unlink(config)
        holds("yaml: no file", export(place, "yaml", name, 125),
              "conf/train.yaml")


def of_a_variable():
    """A name of a variable, and a value that a shell would read otherwise."""
    with lib.Place("export-env") as place:
        place.write("run.sh", 'exec "$1" --batch-size $BS --grad-accum $GA '
                    "--steps 10 --step-ms 5 --per-sample-kib 1024\n")
        tuned = place.run(
            "tune", *OPTIONS, *MEMORY, "--env", "BS={micro:4}", "--env",
            "GA={accum:8}", "--", "sh", "run.sh", lib.TRAINER,
            env={"BS": "4", "GA": "8"})
        if not equal("env: tune", tuned.status, 0):
            print(tuned)
            return
        name = tuned.result["record"]["id"]
        equal("env: where", [(s["name"], s["value"], s["where"])
                             for s in tuned.result["settings"]],
              [("BS", "32", "environment"), ("GA", "1", "environment")])
        equal("env: a shell has the user's names",
              shell(export(place, "env", name), "BS", "GA"), ["32", "1"])


def of_a_secret():
    with lib.Place("export-secret") as place:
        place.write("run.sh", 'shift 2; exec "$@"\n')
        tuned = place.run("tune", *OPTIONS, *MEMORY, "--", "sh", "run.sh",
                          "--api-key", "hunter2secret", *TRAINER)
        name = (tuned.result["record"]["id"]
                if tuned.result and tuned.result["record"] else None)
        if not check("secret: tune", tuned.status == 0 and name, tuned):
            return
        for form in ("json", "record", "cmd", "env"):
            lacks("secret: not in " + form, export(place, form, name),
                  "hunter2secret")


of_a_trainer()
of_a_config()
of_a_variable()
of_a_secret()
lib.finish()
