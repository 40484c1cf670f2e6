#!/usr/bin/env python3
# scripts/gpu-check without a GPU: it says so, and its parts work.
# SPDX-License-Identifier: MIT
# CTEST COST 30
import collections
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # nothing new beside this file

from lib import (  # noqa: E402
    AUTOFIT, PATIENCE, SOURCE, Place, check, equal, finish, holds,
)

SCRIPT = os.path.join(SOURCE, "scripts", "gpu-check")
CHECKS = os.path.join(SOURCE, "scripts", "gpu_check")
BUILD = os.environ["BUILD"]
SIM = os.path.join(BUILD, "sim")
PRELOAD = os.path.join(BUILD, "libautofit_preload.so")
UUID = "GPU-516d0000-0000-4000-8000-000000000001"
# Before this folder: a test here has the name of a file there.
sys.path.insert(0, CHECKS)

import figures  # noqa: E402
import order  # noqa: E402
import page  # noqa: E402
import report  # noqa: E402

MIB, GIB = figures.MIB, figures.GIB
Named = collections.namedtuple("Named", "name alone")
# Of a PyTorch that sees a GPU, as far as gpu-check asks it.
FAKE_TORCH = """
__version__ = "9.9"
class version:
    cuda = "13.0"
class cuda:
    is_available = staticmethod(lambda: True)
"""


# ------------------------------------------------------------- no GPU here


def run(place, *args, **env):
    return subprocess.run(
        [SCRIPT, "--autofit", AUTOFIT, "--results", place.path("results"),
         *args],
        env=dict(place.env, **env), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        universal_newlines=True, timeout=PATIENCE, check=False)


def simulated(place):
    return {"LD_LIBRARY_PATH": SIM, "AUTOFIT_SIM_STATE": place.path("sim"),
            "AUTOFIT_SIM_DEVICES": "Sim H200:64G:1G:500M"}


def it_is_skipped_in_words():
    with Place("gpu-check") as place:
        rows = (
            ("no driver", (), {"CUDA_VISIBLE_DEVICES": ""}, "no GPU: "),
            ("a driver that fails", (),
             dict(simulated(place), AUTOFIT_SIM_FAULT="init=803"),
             "no GPU: .*803"),
            ("a GPU and no torch with CUDA", (), simulated(place),
             "(sees no GPU|has no PyTorch)"),
            ("no Python", ("--python", "/nowhere/python"), {},
             "no Python 3.8 or later"),
        )
        for name, args, env, words in rows:
            done = run(place, *args, **env)
            equal(name + " is 77", done.returncode, 77)
            holds(name + ", and why", done.stderr, "skipped: .*" + words)
        check("nothing is written", not os.path.exists(place.path("results")))
        done = run(place, "--only", "hello,nothing")
        check("an unknown check is refused", done.returncode == 2 and
              "no such check: nothing" in done.stderr, done.stderr)


def it_runs_over_the_simulated_driver():
    """Those checks that ask nothing but the driver, from end to end."""
    with Place("gpu-check") as place:
        place.write("fake/torch.py", FAKE_TORCH)
        env = dict(simulated(place), PYTHONPATH=place.path("fake"))
        out = place.path("out")
        only = "first-lookup,rounding,steps-plain"
        done = run(place, "--python", sys.executable, "--preload", PRELOAD,
                   "--out", out, "--only", only, **env)
        with open(os.path.join(out, "gpu-check.json"),
                  encoding="utf-8") as file:
            result = json.load(file)
        found = {each["name"]: each for each in result["checks"]}
        equal("the checks that were asked for, and the first", sorted(found),
              sorted(["machine"] + only.split(",")))
        equal("what is right passes", found["first-lookup"]["status"], "pass")
        equal("and what nobody expects is measured",
              (found["rounding"]["status"],
               found["rounding"]["details"]["rows"][0]["taken"] % (2 * MIB)),
              ("measured", 0))
        equal("the library is seen in the workload",
              found["machine"]["status"], "pass")
        # The fake has no optimizer: a check that fails stops no other.
        equal("what fails is told", found["steps-plain"]["status"], "fail")
        holds("with its last words", found["steps-plain"]["why"],
              "ended with status 1: .*Error")
        equal("one that fails is 1", done.returncode, 1)
        facts = result["facts"]
        equal("facts", (facts["GPU"], facts["PyTorch"],
                        facts["CUDA of PyTorch"]), ("Sim H200", "9.9", "13.0"))
        holds("autofit's version", facts["autofit"], r"^autofit \d+\.\d+")
        name = facts["date"] + "-sim-h200.md"
        with open(place.path("results", name), encoding="utf-8") as file:
            text = file.read()
        with open(os.path.join(out, name), encoding="utf-8") as file:
            equal("the page is in both folders", file.read(), text)
        holds("the page", text, "# gpu-check on Sim H200, ",
              r"\| rounding \| .* \| measured \|")
        done = run(place, "--python", sys.executable, "--preload", PRELOAD,
                   "--out", out, "--only", "first-lookup,self-test", **env)
        equal("all right is 0", done.returncode, 0)
        with open(os.path.join(out, "gpu-check.json"),
                  encoding="utf-8") as file:
            result = json.load(file)
        tested = {each["name"].split("-")[-1] for each in result["checks"]
                  if each["name"].startswith("self-test-")}
        check("what users test themselves is a part of it",
              {"driver", "counts", "refusal", "cap"} <= tested, result)
        done = run(place, "--python", sys.executable, "--preload", PRELOAD,
                   "--minutes", "0.2", "--out", out, "--only", "rounding",
                   **env)
        with open(os.path.join(out, "gpu-check.json"),
                  encoding="utf-8") as file:
            result = json.load(file)
        equal("what there is no time for is skipped",
              (done.returncode,
               {(each["status"], each["why"]) for each in result["checks"]}),
              (0, {("skipped", "the time was over")}))
        done = run(place, "--python", sys.executable, "--preload",
                   place.path("none.so"), **env)
        check("without the library it cannot start", done.returncode == 1 and
              "--preload PATH" in done.stderr, done.stderr)


# -------------------------------------------------------------- the layout


STRUCTS = (
    ("preload_header", page.HEADER), ("preload_device", page.DEVICE),
    ("preload_event", page.EVENT), ("preload_use", page.USE),
    ("preload_slot", page.SLOT), ("channel_header", page.CHANNEL_HEADER),
    ("channel_slot", page.CHANNEL_SLOT),
)
CONSTANTS = (
    ("PRELOAD_PAGE_OFFSET", page.OFFSET), ("PRELOAD_MAGIC", page.MAGIC),
    ("PRELOAD_VERSION", page.VERSION), ("PRELOAD_DEVICES", page.DEVICES),
    ("PRELOAD_SLOTS", page.SLOTS), ("PRELOAD_EVENTS", page.EVENTS),
    ("PRELOAD_DEVICE_READY", page.READY), ("PRELOAD_CUDA", page.CUDA),
    ("PRELOAD_CONTEXT", page.CONTEXT), ("PRELOAD_NVML", page.NVML),
    ("PRELOAD_CROWDED", page.CROWDED), ("PRELOAD_EVENT_REFUSED", page.REFUSED),
    ("PRELOAD_EVENT_RECOVERED", page.RECOVERED),
    ("PRELOAD_EVENT_ASKED_FREE", page.ASKED_FREE),
    ("CHANNEL_MAGIC", page.CHANNEL_MAGIC),
    ("CHANNEL_SLOTS", page.CHANNEL_SLOTS),
    ("CHANNEL_COMPILED", page.COMPILED),
    ("sizeof(struct preload_page)", page.PAGE_SIZE),
    ("sizeof(struct preload_slot)", page.SLOT_SIZE),
    ("PRELOAD_PAGE_OFFSET + offsetof(struct preload_page, devices)",
     page.DEVICES_AT),
    ("PRELOAD_PAGE_OFFSET + offsetof(struct preload_page, events)",
     page.EVENTS_AT),
    ("PRELOAD_PAGE_OFFSET + offsetof(struct preload_page, slots)",
     page.SLOTS_AT),
)


def expectations():
    for name, value in CONSTANTS:
        yield name, value
    for struct_name, fields in STRUCTS:
        at = 0
        for field, code in fields:
            size = struct.calcsize("=" + code)
            yield "offsetof(struct %s, %s)" % (struct_name, field), at
            yield "sizeof(((struct %s *)0)->%s)" % (struct_name, field), size
            at += size


def the_layout_is_that_of_the_headers():
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        print("left out: there is no C compiler")
        return
    wanted = dict(expectations())
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "layout.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write('#include "probes/channel/channel.h"\n'
                       '#include "probes/preload/ledger/page.h"\n'
                       "#include <stdio.h>\n#include <stddef.h>\n"
                       "int main(void)\n{\n")
            for text in wanted:
                file.write('\tprintf("%%llu %s\\n", (unsigned long long)(%s));'
                           "\n" % (text, text))
            file.write("\treturn 0;\n}\n")
        program = os.path.join(folder, "layout")
        made = subprocess.run(
            [compiler, "-I", SOURCE, "-o", program, source],
            stderr=subprocess.PIPE, universal_newlines=True, check=False)
        if not check("the headers have all of these", made.returncode == 0,
                     made.stderr):
            return
        lines = subprocess.run(
            [program], stdout=subprocess.PIPE, universal_newlines=True,
            check=True).stdout.splitlines()
    got = {text: int(number) for number, text in
           (line.split(" ", 1) for line in lines)}
    wrong = {text: (got[text], wanted[text]) for text in wanted
             if got[text] != wanted[text]}
    check("the layout of %d constants and fields" % len(wanted), not wrong,
          wrong)


def pages_are_made_and_read():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "channel")
        page.make(path, [(UUID, 8 * GIB, GIB)])
        equal("its size", os.stat(path).st_size, page.FILE_SIZE)
        equal("only ours", os.stat(path).st_mode & 0o777, 0o600)
        empty = page.Page(path)
        equal("a device that was given", (
            empty.device(UUID)["cap_bytes"],
            empty.device(UUID)["baseline_bytes"]), (8 * GIB, GIB))
        equal("nobody has written", (empty.slots, empty.events, empty.steps(),
                                     empty.signature()), ([], [], 0, []))
        equal("a device that was not given",
              empty.device("GPU-" + UUID[4:-1] + "2")["cap_bytes"], 0)
        with open(path, "r+b") as file:
            file.seek(page.SLOTS_AT + 3 * page.SLOT_SIZE)
            file.write(page.pack(page.SLOT, pid=77, flags=3, recovered=2))
            file.write(page.pack(page.USE, current_bytes=5))
            for place, (number, kind) in enumerate(
                ((3, 1), (1, 1), (2, 2), (4, 1), (5, 3))
            ):
                file.seek(page.EVENTS_AT + place * page.size_of(page.EVENT))
                file.write(page.pack(page.EVENT, number=number, kind=kind))
            file.seek(64 + page.size_of(page.CHANNEL_SLOT))
            file.write(page.pack(page.CHANNEL_SLOT, pid=77, steps=9))
        full = page.Page(path)
        equal("a slot", (full.slot(77)["flags"], full.total("recovered"),
                         full.slot(77)["devices"][0]["current_bytes"],
                         full.slot(78)), (3, 2, 5, None))
        equal("events in their order", full.signature(),
              ["refused", "granted", "refused", "asked"])
        equal("steps of the hook", full.steps(), 9)
        for name in ("GPU-1", "MIG-GPU-x/1/0", UUID[4:]):
            try:
                page.uuid_bytes(name)
                check("%s is no uuid" % name, False)
            except ValueError:
                check("%s is no uuid" % name, True)


# --------------------------------------------------------- what it works out


NEW_TEXT = (
    "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total "
    "capacity of 8.00 GiB of which 2.35 GiB is free. Including non-PyTorch "
    "memory, this process has 5.60 GiB memory in use.")
OLD_TEXT = (
    "CUDA out of memory. Tried to allocate 1.50 GiB (GPU 0; 7.93 GiB total "
    "capacity; 6.00 GiB already allocated; 14.88 MiB free; 6.00 GiB reserved "
    "in total by PyTorch)")


def figures_are_worked_out():
    equal("a message of today", figures.oom_text(NEW_TEXT), {
        "tried": 20 * MIB, "total": 8 * GIB, "free": int(2.35 * GIB)})
    equal("with the typing error of 2.1",
          figures.oom_text(NEW_TEXT.replace("capacity", "capacty"))["total"],
          8 * GIB)
    equal("an old message", figures.oom_text(OLD_TEXT), {
        "tried": int(1.5 * GIB), "total": int(7.93 * GIB),
        "free": int(14.88 * MIB)})
    equal("no message", figures.oom_text("Killed"),
          {"tried": None, "total": None, "free": None})
    found = figures.reconcile({"tracked": 100, "outside": 150},
                              {"tracked": 950, "outside": 1010})
    equal("the overhead predicts", (
        found["overhead"], found["late_overhead"], found["predicted"],
        round(found["error"], 4)), (50, 60, 1000, round(10 / 1010, 4)))
    equal("nothing outside, nothing said", figures.reconcile(
        {"tracked": 1, "outside": None}, {"tracked": 1, "outside": 2}), None)
    equal("nothing found where something was", figures.share_of_error(5, 0),
          1.0)
    cost = figures.extra_cost([1.01, 9.0, 1.02], [1.0, 0.1, 1.0])
    equal("cost by medians", round(cost["share"], 4), 0.02)
    equal("sizes in words", [figures.size_text(size) for size in
                             (None, 0, -2 * MIB, 1536, 8 * GIB)],
          ["not known", "0 B", "-2 MiB", "1.5 KiB", "8 GiB"])
    equal("names of files", [figures.slug(name) for name in
                             ("NVIDIA H200", "Tesla/../T4", "")],
          ["nvidia-h200", "tesla-t4", "gpu"])
    equal("the last lines", figures.tail("a\n\nb\nc\n", 2), "b\nc")


def sweeps_are_judged():
    equal("splits", figures.splits(12), [1, 2, 3, 4, 6, 12])
    equal("what is swept", [figures.to_sweep(8, n) for n in (1, 4, 8, 3, 0)],
          [[1, 2], [4, 8, 2], [8, 4], [3], []])
    good = {"micro": 4, "ran": True, "peak": 90}
    rows = (
        ("the largest", [good, {"micro": 8, "ran": False, "peak": 99}], True),
        ("over the limit", [good, {"micro": 8, "ran": True, "peak": 101}],
         True),
        ("a larger one fits", [good, {"micro": 8, "ran": True, "peak": 100}],
         False),
        ("it does not run", [dict(good, ran=False)], False),
        ("it needs more", [dict(good, peak=101)], False),
        ("its peak is not known", [dict(good, peak=None)], False),
        ("the last split of all", [good], True),
        ("it was not run", [{"micro": 8, "ran": True, "peak": 1}], None),
    )
    for name, runs, right in rows:
        equal("sweep: " + name, figures.judge_sweep(4, runs, 100)[0], right)


def the_whole_way_comes_early():
    """Of the checks as they stand: time may end before the last of them."""
    with open(os.path.join(CHECKS, "checks.py"), encoding="utf-8") as file:
        found = re.findall(r'^@check\("([a-z0-9-]+)"(.*)\)$', file.read(), re.M)
    checks = [Named(name, "alone=True" in rest) for name, rest in found]
    batches = order.batches(checks)
    names = [[check.name for check in batch] for batch in batches]
    equal("every check is made once", sorted(sum(names, [])),
          sorted(check.name for check in checks))
    equal("the first", names[0], ["machine", "self-test"])
    equal("then what shares the machine", names[1][:3],
          ["hello", "tracked-reserved", "transformer"])
    equal("then the whole way, and the caps", names[2],
          ["tune-whole", "cap", "cost", "tune-8g", "tune-as"])
    check("each batch shares the machine or does not", all(
        len({check.alone for check in batch}) == 1 for batch in batches), names)
    check("every word of the order names a check", all(
        any(order.rank(check.name) == place for check in checks)
        for place in range(len(order.FIRST))), names)


def reports_are_written():
    outcomes = [
        report.Outcome("a", "one | two", "x\ny", "5"),
        report.Outcome("b", "", measured="7", status=report.MEASURED),
        report.Outcome("c", "", status=report.SKIPPED, why="not there"),
    ]
    facts = [("date", "2026-11-21"), ("GPU", "Sim"), ("driver", "1|2")]
    equal("nothing failed", report.exit_code(outcomes), 0)
    text = report.page(facts, outcomes)
    holds("its page", text, "# gpu-check on Sim, 2026-11-21",
          "1 passed, 1 measured without an expectation, 0 failed, 1 skipped",
          r"\| driver \| 1\\\|2 \|",
          r"\| a \| one \\\| two \| x y \| 5 \| pass \|",
          r"\| c \| \| \| \| skipped: not there \|")
    check("every row has its cells", all(
        len(re.findall(r"(?<!\\)\|", line)) in (3, 6)
        for line in text.splitlines() if line.startswith("|")), text)
    outcomes.append(report.Outcome("d", "", status=report.FAIL))
    equal("one failed", report.exit_code(outcomes), 1)
    result = json.loads(report.as_json(facts, outcomes))
    equal("its object", (result["schema"], result["totals"],
                         [each["name"] for each in result["checks"]]),
          ("autofit.gpu-check/1",
           {"pass": 1, "measured": 1, "fail": 1, "skipped": 1}, list("abcd")))


it_is_skipped_in_words()
it_runs_over_the_simulated_driver()
the_layout_is_that_of_the_headers()
pages_are_made_and_read()
figures_are_worked_out()
sweeps_are_judged()
the_whole_way_comes_early()
reports_are_written()
finish()
