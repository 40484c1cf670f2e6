#!/usr/bin/env python3
# Far more output than is kept in a probe: all of it is read, little stays.
# SPDX-License-Identifier: MIT
# CTEST COST 50
"""flood.py [MEGABYTES]: 500 with AUTOFIT_NIGHTLY=1, else 160."""
import json
import os
import subprocess
import sys
import tempfile
import time

NIGHTLY = os.environ.get("AUTOFIT_NIGHTLY") == "1"
MEGABYTES = int(sys.argv[1]) if len(sys.argv) > 1 else 500 if NIGHTLY else 160
BYTES_PER_STEP = 100000
STEPS = MEGABYTES * 1000000 // BYTES_PER_STEP
MEMORY_LIMIT = 32 << 20
LOG_LIMIT = 8 << 20
END_SECONDS = 600
failures = 0


def check(name, holds, detail=""):
    global failures
    print(("ok" if holds else "NOT OK") + " - " + name, flush=True)
    if not holds:
        failures += 1
        print(detail, flush=True)


def peak_bytes(pid):
    """VmHWM; 0 once it is gone."""
    try:
        with open("/proc/%s/status" % pid, encoding="ascii") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) << 10
    except OSError:
        pass
    return 0


def keepers_of(pid):
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid),
                  encoding="ascii") as file:
            return file.read().split()
    except OSError:
        return []


def watch(process):
    """(peak of autofit, peak of its keeper), once it ended."""
    autofit = keeper = 0
    end = time.monotonic() + END_SECONDS
    while process.poll() is None:
        if time.monotonic() > end:
            process.kill()
            process.wait()
            sys.exit("autofit did not end in %d s" % END_SECONDS)
        autofit = max(autofit, peak_bytes(process.pid))
        for child in keepers_of(process.pid):
            keeper = max(keeper, peak_bytes(child))
        time.sleep(0.02)
    return autofit, keeper


def tune(folder, options, flood):
    """(exit code, its report, result, peaks, bytes of the log)"""
    path = os.path.join(folder, "result.json")
    report = os.path.join(folder, "report")
    with open(report, "wb") as file:
        process = subprocess.Popen(
            [os.environ["AUTOFIT"], "tune", "--device", "host", "--memory",
             "256MiB", "--max-probes", "1", "--max-micro", "8", *options,
             "--json", path, "--", os.path.join(os.environ["HELPERS"], "flood"),
             "--batch-size", "8", "--flood-mb", str(MEGABYTES), *flood],
            env=dict(os.environ, AUTOFIT_HOME=os.path.join(folder, "home")),
            stdout=file, stderr=file, stdin=subprocess.DEVNULL)
        peaks = watch(process)
    with open(report, encoding="utf-8", errors="replace") as file:
        words = file.read()
    with open(path, encoding="utf-8") as file:
        result = json.load(file)
    size = os.stat(result["probes"][0]["log"]).st_size
    return process.returncode, words, result, peaks, size


def play(name, options, flood, judge):
    with tempfile.TemporaryDirectory(prefix="flood-") as folder:
        code, words, result, peaks, size = tune(folder, options, flood)
    detail = "exit %s, %s\n%s" % (code, result["probes"], words)
    seconds = result["probes"][0]["seconds"]
    print("%s: %d MB in %.1f s; VmHWM %.1f MiB, keeper %.1f MiB; log %.1f MiB"
          % (name, MEGABYTES, seconds, peaks[0] / 2**20, peaks[1] / 2**20,
             size / 2**20))
    check(name + ": autofit stays small", 0 < peaks[0] < MEMORY_LIMIT, peaks)
    check(name + ": so does the keeper", 0 < peaks[1] < MEMORY_LIMIT, peaks)
    check(name + ": so does the log", 0 < size < LOG_LIMIT, size)
    judge(name, code, result["probes"][0], detail)


def all_steps(name, code, probe, detail):
    check(name + ": fits", code == 0 and probe["verdict"] == "fits", detail)
    check(name + ": all %d steps are counted" % STEPS,
          probe["steps"] == STEPS, detail)


def out_of_host_memory(name, _, probe, detail):
    check(name + ": found", probe["verdict"] == "oom_host" and
          "DefaultCPUAllocator" in probe["why"], detail)
    check(name + ": with the steps before it",
          STEPS // 2 <= probe["steps"] <= STEPS, detail)


def out_of_device_memory(name, code, probe, detail):
    check(name + ": found", probe["verdict"] == "failed" and
          "it ran out of a GPU's memory" in probe["why"], detail)
    check(name + ": no answer all the same", code == 121, detail)


# More steps than there are: nothing but its end decides.
NEVER = ["--probe-steps", str(STEPS + 1)]
play("no error", NEVER, [], all_steps)
play("error in the middle, exit 1", NEVER,
     ["--oom", "host", "--exit-code", "1"], out_of_host_memory)
play("error in the middle, exit 0", NEVER, ["--oom", "cuda"],
     out_of_device_memory)
sys.exit(1 if failures else 0)
