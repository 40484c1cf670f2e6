#!/usr/bin/env python3
# Probes that are forked from a process that has done the imports.
# SPDX-License-Identifier: MIT
# CTEST COST 60 ENVIRONMENT_MODIFICATION OMP_NUM_THREADS=unset:
"""A forked probe sees what a fresh start sees, gets the same answer, and the
answer is confirmed by a fresh start. Where a copy could differ there is none.
Whoever is killed, nothing is left.
"""
import json
import os
import signal
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import check, equal, holds  # noqa: E402

PYTHON = os.environ.get("PYTHON", "/usr/bin/python3")
# Bisection asks for sizes that cannot be the answer.
TUNE = ["tune", "-v", "--device", "host", "--grow", "--strategy", "bisect",
        "--fresh", "--max-micro", "48"]
NIGHTLY = os.environ.get("AUTOFIT_NIGHTLY") == "1"
OBSERVED = "observed "
AT_LEAST = 40
# Of the program, which a copy is to get as they are.
WORDS = ("", "a b", "--", "-x")


def tune(place, memory, *options, script="observes.py", before=(), words=()):
    program = [*before, PYTHON, place.path(script), "--batch-size", "2"]
    return place.run(*TUNE, "--memory", "%dMiB" % memory, *options, "--",
                     *program, *words)


def forked(answer):
    return [probe for probe in answer.probes if probe["is_forked"]]


def observations(probe):
    with open(probe["log"], encoding="utf-8", errors="replace") as log:
        for line in log:
            if OBSERVED in line:
                return json.loads(line.split(OBSERVED, 1)[1])
    return None


def a_copy_sees_what_a_start_sees(place, answer, but=()):
    fresh = [p for p in answer.probes if not p["is_forked"]]
    if not check("some are forked", len(forked(answer)) >= 2 and fresh,
                 answer):
        return
    seen = observations(fresh[0])
    second = observations(fresh[1])
    # What two fresh starts differ in, as in a random seed, says nothing.
    seen = {name: value for name, value in seen.items()
            if value == second[name] and name not in but}
    check("so much is compared", len(seen) >= AT_LEAST, len(seen))
    for probe in forked(answer):
        other = observations(probe)
        for name, value in seen.items():
            if isinstance(value, dict):
                value = sorted(value.items())
                other[name] = sorted(other[name].items())
                value, other[name] = (
                    [each for each in value if each not in other[name]],
                    [each for each in other[name] if each not in value])
            equal("%d: %s" % (probe["micro_batch"], name), other[name], value)
    sizes = {p["micro_batch"]: p for p in answer.probes}
    last = sizes[answer.result["recommended"]["micro_batch"]]
    check("the answer was a fresh start", not last["is_forked"], last)
    confirmed = answer.result["evidence"]["confirmed_steps"]
    check("it is confirmed", 0 < confirmed <= last["steps"], last)


def both_ways_have_one_answer(place, answer, memory, share=0.03, **how):
    other = tune(place, memory, "--no-zygote", **how)
    check("none is forked", not forked(other), other)
    equal("the same answer", other.result["recommended"]["argv"],
          answer.result["recommended"]["argv"])
    both_ways_have_one_peak(answer, other, share)


def both_ways_have_one_peak(answer, other, share):
    peaks = {p["micro_batch"]: p["peak_bytes"] for p in other.probes
             if p["verdict"] == "fits"}
    for probe in answer.probes:
        peak = peaks.get(probe["micro_batch"])
        if probe["is_forked"] and peak and probe["verdict"] == "fits":
            near = abs(probe["peak_bytes"] - peak) < share * peak
            check("%d: the same peak" % probe["micro_batch"], near,
                  (probe["peak_bytes"], peak))


REFUSALS = (
    # What an import does, and what is said of it.
    ("writes", "open(%r, 'w').write('x')", r"an import calls open"),
    ("starts", "__import__('subprocess').call(['true'])",
     r"an import calls (subprocess|os)\."),
    ("threads", "__import__('threading').Thread(target="
     "__import__('time').sleep, args=(99,), daemon=True).start()",
     r"imports have left threads"),
)


def where_it_could_differ_there_is_none(place, memory):
    with open(os.path.join(lib.DATA, "observes.py"), encoding="utf-8") as file:
        text = file.read()
    for name, effect, why in REFUSALS:
        # A package, as others are installed; the program imports it.
        folder = "site-packages"
        trace = place.path("trace")
        place.write(folder + "/effects_%s.py" % name,
                    "import sys\n" + (effect % trace if "%r" in effect
                                      else effect) + "\n")
        place.write(name + ".py", text.replace(
            "import torch ", "import effects_%s\nimport torch " % name, 1))
        place.env["PYTHONPATH"] = place.path(folder)
        answer = tune(place, memory, "--max-probes", "3",
                      script=name + ".py")
        holds("%s: said" % name, answer.err, "no zygote: " + why)
        check("%s: none is forked" % name, not forked(answer), answer)
        check("%s: nothing was done" % name, not os.path.exists(trace))
    del place.env["PYTHONPATH"]
    place.write("variable.py", text.replace(
        "import torch ", "os.environ['X'] = '1'\nimport torch ", 1))
    answer = tune(place, memory, "--max-probes", "3", script="variable.py")
    check("a variable set before torch: none is forked", not forked(answer),
          answer)
    holds("a variable set before torch: said", answer.err,
          "no zygote: not one process alone .* variable before it imports")


# As newer versions of torch do it when they are imported.
KEEPS_FILES = """import tempfile
FOLDER = tempfile.TemporaryDirectory()
with open(FOLDER.name + "/module.py", "w") as file:
    file.write("x = 1")
"""


def temporary_files_of_imports_are_no_effect(place, memory):
    place.write("site-packages/keeps_files.py", KEEPS_FILES)
    with open(place.path("observes.py"), encoding="utf-8") as file:
        place.write("keeps.py", file.read().replace(
            "import torch ", "import keeps_files\nimport torch ", 1))
    folder = place.path("temporary")
    os.makedirs(folder)
    place.env.update(PYTHONPATH=place.path("site-packages"), TMPDIR=folder)
    answer = tune(place, memory, script="keeps.py")
    check("temporary files: some are forked", forked(answer), answer)
    equal("temporary files: none is left", os.listdir(folder), [])
    del place.env["PYTHONPATH"], place.env["TMPDIR"]


# As uv and conda start a command: they hold memory of their own, change the
# environment, and wait. The one leaves open descriptors alone.
WAITS = """#!%s
import os
import subprocess
import sys
held = bytearray(b"x" * (40 << 20))
folder = "/nonexistent/environment"
os.environ["VIRTUAL_ENV"] = folder
os.environ["PATH"] = folder + "/bin:" + os.environ["PATH"]
sys.exit(subprocess.call(sys.argv[2:], close_fds=%s))
"""
# And those that become what they start.
BECOME_IT = ("nohup", "env", "A=1", "nice", "-n", "1")
LAUNCHERS = {"uv": ("/usr/bin/python3 -IS", False),
             "conda": ("/usr/bin/python3", True)}
# Of the process that waits for it, and of what autofit gives to the one that it
# starts itself: no training looks at them.
BY_WHO_STARTS = ("parent", "leads its group", "session", "dies with",
                 "descriptors", "masks")


def behind_a_launcher_that_waits(place, memory, name):
    """The copy goes without it, and counts its memory."""
    launcher = place.write("bin/" + name, WAITS % LAUNCHERS[name], 0o755)
    before = (*BECOME_IT, launcher, "run")
    memory += 48  # and what else its interpreter takes
    answer = tune(place, memory, before=before)
    a_copy_sees_what_a_start_sees(place, answer, BY_WHO_STARTS)
    if NIGHTLY:
        # Of several processes the fresh start's peak is sampled.
        both_ways_have_one_answer(place, answer, memory, 0.05, before=before)
    peaks = {probe["micro_batch"]: probe["peak_bytes"]
             for probe in answer.probes if not probe["is_forked"]}
    for probe in forked(answer):
        # A fresh start of 2 rows is no more than this below its own peak.
        check("%s: its memory counts" % name,
              probe["peak_bytes"] > 0.97 * peaks[2], (probe, peaks))


def workers_are_counted(place, memory):
    """How far they are ahead differs from run to run; two are 16 MiB."""
    steps = ("--probe-steps", "30", "--max-probes", "5")
    answer, other = (tune(place, 2 * memory, *steps, *how,
                          words=("--workers", "2"))
                     for how in ((), ("--no-zygote",)))
    check("workers: some are forked", forked(answer), answer)
    both_ways_have_one_peak(answer, other, 0.06)


def what_a_script_does_is_done_by_its_probe(place, memory):
    script = place.write("train.sh", """#!/bin/sh
mkdir made
exec %s %s "$@"
""" % (PYTHON, place.path("observes.py")), 0o755)
    answer = place.run(*TUNE, "--max-micro", "12", "--memory",
                       "%dMiB" % memory, "--", script, "--batch-size", "2")
    equal("a script: status", answer.status, 0)
    check("a script: none is forked", not forked(answer), answer)
    holds("a script: said", answer.err, "no zygote: a shell starts it")
    check("a script: nothing is made", not os.path.exists(place.path("made")))


def a_size_that_a_launcher_sets_is_that_of_each_probe(place, memory):
    with open(place.path("observes.py"), encoding="utf-8") as file:
        text = file.read()
    place.write("variable.py", text.replace(
        "args = parser.parse_args()\n", "args = parser.parse_args()\n"
        "    args.batch_size = int(os.environ['BATCH_SIZE'])\n").replace(
            'parser.add_argument("--batch-size", type=int, default=1)', ""))
    answer = place.run(*TUNE, "--memory", "%dMiB" % memory, "--", "env",
                       "BATCH_SIZE=2", PYTHON, place.path("variable.py"))
    equal("env: status", answer.status, 0)
    holds("env: said", answer.err, "no zygote: its launchers are told the size")
    for probe in answer.probes:
        seen = observations(probe)
        check("env: the probe has its size",
              seen and seen["rows"] == probe["micro_batch"], probe)


def a_copy_makes_no_whole_steps(place):
    """It confirms nothing: two micro-steps show what more of them take."""
    script = os.path.join(lib.DATA, "train_passes.py")
    words = ["--batch-size", "4", "--accum-steps", "16", "--pass-seconds", "0"]
    answer = place.run("tune", "-v", "--device", "host", "--strategy", "bisect",
                       "--fresh", "--memory", "2GiB", "--", PYTHON, script,
                       *words)
    copies = [(p["micro_batch"], p["grad_accum"]) for p in forked(answer)]
    check("accumulation: some are forked", copies, answer)
    equal("accumulation: of a copy", copies,
          [(micro, min(64 // micro, 2)) for micro, _ in copies])
    best = answer.result["recommended"]
    equal("accumulation: kept", best["effective_batch"], 64)
    last = answer.probes[-1]
    equal("accumulation: of the answer",
          (last["grad_accum"], last["is_forked"]), (best["grad_accum"], False))


def processes_of(place):
    """Those whose command names the folder, but for autofit."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"autofit"):
            continue
        if any(place.folder.encode() in word for word in words):
            found.append(int(pid))
    return found


def nothing_is_left(place, memory):
    """Killed while a forked probe is under way."""
    for victim in ("autofit", "keeper", "zygote"):
        program = [PYTHON, place.path("observes.py"), "--batch-size", "2"]
        process = subprocess.Popen(
            [lib.AUTOFIT, *TUNE, "--memory", "%dMiB" % memory, "--json",
             place.path("json"), "--", *program],
            env=place.env, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        child = lib.wait_for(lambda: process.poll() is not None or
                             forked_probe(process.pid, place))
        child = child if isinstance(child, tuple) else None
        if not check("%s: a probe is forked" % victim, child):
            process.kill()
            continue
        probe, zygote = child
        pid = {"autofit": process.pid, "keeper": parent_of(probe),
               "zygote": zygote}[victim]
        os.kill(pid, signal.SIGKILL)
        status = process.wait(timeout=lib.PATIENCE)
        if victim != "autofit":
            equal("%s is killed: the tuning goes on" % victim, status, 0)
        left = lib.wait_for(lambda: not processes_of(place))
        check("%s is killed: nothing is left" % victim, left,
              processes_of(place))


def parent_of(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8") as file:
            return int(file.read().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


def forked_probe(autofit, place):
    """Its pid and the zygote's: both have the zygote's words in /proc."""
    ours = processes_of(place)
    zygotes = [pid for pid in ours if parent_of(pid) == autofit
               and os.path.basename(os.readlink("/proc/%d/exe" % pid)) !=
               "autofit"]
    named = {pid: name_of(pid) for pid in ours}
    zygotes = [pid for pid in zygotes if named[pid] != "autofit-keeper"]
    keepers = [pid for pid in ours if named[pid] == "autofit-keeper"]
    for pid in ours:
        if zygotes and parent_of(pid) in keepers:
            return pid, zygotes[0]
    return None


def name_of(pid):
    try:
        with open("/proc/%d/comm" % pid, encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""


TAKES = """import torch
try:
    import torch._dynamo
except ImportError:
    pass
with open("/proc/self/status") as status:
    print(dict(line.split(":") for line in status)["RssAnon"].split()[0])
"""


def room_for(python):
    """MiB that leave a hundred or two to the program beside its imports."""
    out = subprocess.run([python, "-c", TAKES], stdout=subprocess.PIPE,
                         check=True).stdout
    return int(out) // 1024 + 200


def main():
    if not lib.has_modules(PYTHON, "torch"):
        lib.skip("%s has no torch" % PYTHON)
    memory = room_for(PYTHON)
    with lib.Place("zygote") as place:
        # Each large block is mapped by itself: a size has one peak.
        place.env["MALLOC_MMAP_THRESHOLD_"] = "65536"
        with open(os.path.join(lib.DATA, "observes.py"),
                  encoding="utf-8") as file:
            place.write("observes.py", file.read())
        answer = tune(place, memory, words=WORDS)
        equal("status", answer.status, 0)
        a_copy_sees_what_a_start_sees(place, answer)
        both_ways_have_one_answer(place, answer, memory, words=WORDS)
        behind_a_launcher_that_waits(place, memory, "uv")
        what_a_script_does_is_done_by_its_probe(place, memory)
        temporary_files_of_imports_are_no_effect(place, memory)
        a_copy_makes_no_whole_steps(place)
        if NIGHTLY:
            answer = tune(place, memory, before=BECOME_IT)
            a_copy_sees_what_a_start_sees(place, answer)
            behind_a_launcher_that_waits(place, memory, "conda")
            workers_are_counted(place, memory)
            a_size_that_a_launcher_sets_is_that_of_each_probe(place, memory)
        where_it_could_differ_there_is_none(place, memory)
        nothing_is_left(place, memory)
    lib.finish()


if __name__ == "__main__":
    main()
