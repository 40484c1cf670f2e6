#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# CTEST COST 60
"""Other tenants of a GPU, before a tuning and while a probe runs."""
import json
import os
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # nothing new beside this file

from lib import PATIENCE  # noqa: E402

AUTOFIT = os.environ["AUTOFIT"]
SIM = os.path.join(os.environ["BUILD"], "sim")
TRAINER = os.path.join(SIM, "sim_trainer")
TRAINING = ["--batch-size", "4", "--grad-accum", "2", "--steps", "12",
            "--fixed-mib", "2000", "--per-sample-kib", "200000", "--step-ms",
            "150"]
# Holds 3 GiB until it is ended.
TENANT = [TRAINER, "--batch-size", "1", "--steps", "100000", "--step-ms",
          "100", "--fixed-mib", "2872", "--per-sample-kib", "204800"]
failures = 0


def check(name, holds, detail=""):
    global failures
    print(("ok" if holds else "NOT OK") + " - " + name, flush=True)
    if not holds:
        failures += 1
        print(detail, flush=True)


class World:
    """One simulated GPU, and a command that tells when a probe starts."""

    def __init__(self, **env):
        self.folder = tempfile.TemporaryDirectory()
        self.probes = os.path.join(self.folder.name, "probes")
        self.command = os.path.join(self.folder.name, "train.sh")
        with open(self.command, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\n[ -z "$AUTOFIT_PROBE" ] || '
                       'echo "$AUTOFIT_PROBE" >> "%s"\nexec "%s" "$@"\n' %
                       (self.probes, TRAINER))
        os.chmod(self.command, 0o755)
        self.env = dict(os.environ, LD_LIBRARY_PATH=SIM,
                        AUTOFIT_HOME=os.path.join(self.folder.name, "home"),
                        AUTOFIT_SIM_DEVICES="Sim H200:16G:500M",
                        AUTOFIT_SIM_STATE=os.path.join(self.folder.name, "sim"),
                        **env)
        self.env.pop("CUDA_VISIBLE_DEVICES", None)
        self.json = os.path.join(self.folder.name, "result.json")

    def start(self, *options):
        return subprocess.Popen(
            [AUTOFIT, "tune", "--allow-writes", self.folder.name, *options,
             "--json", self.json, "--", self.command, *TRAINING],
            env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True)

    def end(self, autofit):
        _, error = autofit.communicate(timeout=PATIENCE)
        try:
            with open(self.json, encoding="utf-8") as file:
                return json.load(file), error
        except OSError:
            return {}, error

    def tenant(self):
        """Returns once it holds all its memory."""
        env = dict(self.env)
        env.pop("AUTOFIT_SIM_FAULT", None)
        process = subprocess.Popen(TENANT, env=env, text=True,
                                   stdout=subprocess.PIPE)
        process.stdout.readline()
        return process

    def wait_for_probe(self, number):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if os.path.exists(self.probes):
                with open(self.probes, encoding="utf-8") as file:
                    if len(file.readlines()) >= number:
                        return
            time.sleep(0.01)


def stop(process):
    process.kill()
    process.communicate()


def a_gpu_in_use_is_left_alone():
    world = World()
    tenant = world.tenant()
    autofit = world.start()
    result, error = world.end(autofit)
    stop(tenant)
    check("a GPU in use is refused", autofit.returncode == 123 and
          result.get("outcome") == "refused", error)
    check("by pid and bytes", "pid %d (" % tenant.pid in error and
          "3.00 GiB" in error and "--shared" in error, error)
    check("before any probe", not os.path.exists(world.probes))


def a_share_is_used_beside_others():
    world = World()
    tenant = world.tenant()
    result, error = world.end(world.start("--shared"))
    stop(tenant)
    check("shared: tuned", result.get("outcome") == "tuned", error)
    # 16 GiB less 500 MiB, 3 GiB of the tenant and a tenth of the card
    check("shared: its budget", result["devices"][0]["budget_bytes"] ==
          (16384 - 500 - 3072) * 1024 * 1024 - 16 * 1024**3 // 10,
          result.get("devices"))


def one_that_comes_disturbs(shared):
    name = "shared" if shared else "alone"
    world = World()
    autofit = world.start(*(["--shared"] if shared else []))
    world.wait_for_probe(1)
    tenant = world.tenant()
    pid = tenant.pid
    world.wait_for_probe(2)
    stop(tenant)
    result, error = world.end(autofit)
    probes = result.get("probes", [])
    check(name + ": the probe is disturbed", probes and
          probes[0]["verdict"] == "disturbed", error)
    check(name + ": it says by whom", probes and probes[0]["why"].startswith(
        "another process came onto the GPU: pid %d, " % pid), probes)


def hidden_pids_claim_nothing():
    for fault in ("nvml=hidden", "nvml=host_pids"):
        world = World(AUTOFIT_SIM_FAULT=fault)
        autofit = world.start()
        world.wait_for_probe(1)
        tenant = world.tenant()
        time.sleep(0.5)  # long enough for ten looks
        stop(tenant)
        result, error = world.end(autofit)
        check(fault + ": nothing is claimed", result.get("probes") and
              "another process" not in json.dumps(result["probes"]) +
              error, result)


a_gpu_in_use_is_left_alone()
a_share_is_used_beside_others()
one_that_comes_disturbs(False)
one_that_comes_disturbs(True)
hidden_pids_claim_nothing()
sys.exit(1 if failures else 0)
