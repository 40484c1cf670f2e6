#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# CTEST COST 40
"""Tuning for AMD's GPUs, by files as the kernel has them.

The test is the kernel: what a program takes of a card it writes into a file of
its own, as KFD does for it, and the test adds it up.
"""
import glob
import json
import os
import shutil
import sys
import threading
import time

sys.dont_write_bytecode = True  # nothing new beside this file

from lib import (  # noqa: E402
    MIB, PATIENCE, Place, check, equal, finish, holds,
)

GIB = 1024 * MIB
WORDS = ("torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB. "
         "GPU 0 has a total capacity of 15.98 GiB of which 1.21 GiB is free.",
         "RuntimeError: HIP error: out of memory",
         "error: 'hipErrorOutOfMemory'(2) at square.cpp:76")
FIXED, PER_SAMPLE = 2 * GIB, 512 * MIB
# A program on the card: it takes its memory as one of KFD's processes, says
# what it sees, and steps.
TRAINER = """
import argparse
import os
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int)
parser.add_argument("--grad-accum", type=int, default=1)
parser.add_argument("--steps", type=int, default=400)
args = parser.parse_args()
root = os.environ["FAKE_SYS"]
total = int(os.environ["FAKE_TOTAL"])
seen = os.environ.get("HIP_VISIBLE_DEVICES", "")
card = int(seen.split(",")[0] or 0) if seen else 0
if "AUTOFIT_PROBE" not in os.environ:
    print("visible=" + seen, flush=True)
need = (%d + %d * args.batch_size)
folder = "%%s/class/kfd/kfd/proc/%%d" %% (root, os.getpid())
os.makedirs(folder)


def take(size):
    with open(folder + "/new", "w") as file:
        file.write("%%d" %% size)
    os.rename(folder + "/new", folder + "/vram_%%d" %% (1000 + card))


if need > total - (1 << 30):
    take(1 << 30)
    time.sleep(0.5)
    sys.exit(os.environ["FAKE_WORDS"])
take(need)
for step in range(args.steps):
    time.sleep(0.05)
    print("step %%d/%%d" %% (step + 1, args.steps), flush=True)
""" % (FIXED, PER_SAMPLE)


class Kernel(Place):
    """A machine with AMD cards, whose files it keeps."""

    def __init__(self, *names, total=16 * GIB, base=0):
        super().__init__("amd")
        self.total, self.base, self.cards = total, base, len(names)
        self.sys = self.path("sys")
        self.put("class/kfd/kfd/topology/nodes/0/properties", "simd_count 0\n")
        for number, name in enumerate(names):
            node = "class/kfd/kfd/topology/nodes/%d/" % (number + 1)
            self.put(node + "properties", "simd_count 304\nunique_id %d\n"
                     "drm_render_minor %d\ngfx_target_version 90402\n"
                     % (number + 1, 128 + number))
            self.put(node + "gpu_id", "%d\n" % (1000 + number))
            self.put(self.drm(number, "mem_info_vram_total"), "%d\n" % total)
            self.put(self.drm(number, "product_name"), name + "\n")
        os.makedirs(os.path.join(self.sys, "class/kfd/kfd/proc"))
        self.write("train.py", TRAINER)
        self.env.update(
            AUTOFIT_SYSFS=self.sys, FAKE_SYS=self.sys, FAKE_TOTAL=str(total),
            FAKE_WORDS=WORDS[0])
        for name in ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"):
            self.env.pop(name, None)
        self.accounting = threading.Lock()
        self.account()
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.keep)
        self.thread.start()

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()
        super().__exit__()

    def drm(self, number, name):
        return "class/drm/renderD%d/device/%s" % (128 + number, name)

    def put(self, name, text):
        path = os.path.join(self.sys, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(path + ".new", path)

    def process(self, pid, number, size):
        self.put("class/kfd/kfd/proc/%d/vram_%d" % (pid, 1000 + number),
                 "%d\n" % size)

    def account(self):
        """Who is gone has nothing; the rest is used."""
        with self.accounting:
            self.add_up()

    def add_up(self):
        used = [self.base] * self.cards
        for path in glob.glob(self.sys + "/class/kfd/kfd/proc/*/vram_*"):
            folder, name = os.path.split(path)
            if not os.path.exists("/proc/" + os.path.basename(folder)):
                shutil.rmtree(folder, ignore_errors=True)
                continue
            try:
                with open(path, encoding="utf-8") as file:
                    used[int(name[5:]) - 1000] += int(file.read())
            except (OSError, ValueError):
                continue
        for number, size in enumerate(used):
            self.put(self.drm(number, "mem_info_vram_used"), "%d\n" % size)

    def keep(self):
        while not self.is_over.is_set():
            self.account()
            time.sleep(0.003)

    def tune(self, *options, batch=2, accum=32, env=None, command="tune"):
        words = [command] if command else []
        return self.run(
            *words, "--allow-writes", self.folder, "--confirm-steps", "4",
            *options, "--", sys.executable, self.path("train.py"),
            "--batch-size", str(batch), "--grad-accum", str(accum), "--steps",
            "400" if command else "2", env=env)


def largest(limit):
    return max(m for m in (1, 2, 4, 8, 16, 32)
               if FIXED + m * PER_SAMPLE <= limit)


def cards_are_listed():
    with Kernel("AMD Instinct MI210", "AMD Radeon PRO W7900", base=GIB) as amd:
        amd.process(os.getpid(), 1, 3 * GIB)
        amd.account()
        path = amd.path("devices.json")
        answer = amd.ask("devices", "--json", path)
        equal("devices: status", answer.status, 0)
        holds("devices: a card", answer.out,
              r"AMD Instinct MI210 +16.0 GiB +15.0 GiB", "GPU-0000000000000001",
              r"AMD Radeon PRO W7900 +16.0 GiB +12.0 GiB",
              "GPU-0000000000000002",
              r"pid %d .* 3.00 GiB" % os.getpid(),
              "GPUs and processes by the kernel's files")
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
        equal("devices: for programs",
              [(each["kind"], each.get("name"), each["observed_by"])
               for each in result["devices"]],
              [("rocm", "AMD Instinct MI210", ["kernel"]),
               ("rocm", "AMD Radeon PRO W7900", ["kernel"]),
               ("host", None, ["proc", "cgroup"])])
        check("devices: AMD's are there", result["amd_gpu_present"])
        answer = amd.ask("devices", env={"HIP_VISIBLE_DEVICES": "1"})
        check("devices: only the visible", "W7900" in answer.out and
              "MI210" not in answer.out, answer.out)
        answer = amd.ask("devices", "--check")
        equal("devices: no self-test of them", answer.status, 125)
        answer = amd.tune("--device", "cuda:1")
        equal("a card in use is refused", answer.status, 123)
        holds("and who uses it", answer.err, r"W7900.* is in use: pid %d"
              % os.getpid())


def ranks_and_looks():
    """One rank for each card that is visible; and the cards again and again."""
    with Kernel("A", "B") as amd:
        for visible, world in ((None, 2), ("1", 1), ("1,0", 2)):
            answer = amd.ask(
                "explain", "--", "torchrun", "--nproc-per-node=gpu", "train.py",
                "--batch-size", "4",
                env={"HIP_VISIBLE_DEVICES": visible} if visible else {})
            holds("ranks of %s" % visible, answer.out,
                  "launcher torchrun, %d rank" % world,
                  "device %dx [AB]," % world)
        process = amd.start("devices", "--watch", "0.1", "--json", "-")
        line = json.loads(process.stdout.readline())
        process.terminate()
        process.communicate(timeout=PATIENCE)
        equal("a look", [(each["kind"], each["name"], each["used_bytes"],
                          each["total_bytes"], each["problem"])
                         for each in line["devices"]],
              [("rocm", name, 0, 16 * GIB, None) for name in "AB"])
        answer = amd.ask("doctor")
        holds("the doctor sees them", answer.out, "ok devices A, 16.0 GiB",
              "ok devices B, 16.0 GiB")


def tuned_and_reused():
    with Kernel("AMD Instinct MI210", base=300 * MIB) as amd:
        answer = amd.tune()
        equal("tuned on the card", (answer.result["outcome"],
                                    answer.result["device_kind"],
                                    answer.result["devices"][0]["name"]),
              ("tuned", "cuda", "AMD Instinct MI210"))
        evidence = answer.result["evidence"]
        equal("readings of a whole device", evidence["coverage"],
              "device-wide")
        holds("and what that may miss", answer.err, "by the kernel's figures")
        equal("8% of it is left free", evidence["headroom_bytes"],
              16 * GIB // 100 * 8)
        equal("the largest exact split",
              answer.result["recommended"]["micro_batch"],
              largest(evidence["limit_bytes"]))
        equal("its peak", evidence["peak_bytes"], FIXED + PER_SAMPLE *
              answer.result["recommended"]["micro_batch"])
        check("nothing is left there", not glob.glob(
            amd.sys + "/class/kfd/kfd/proc/*/vram_*"))
        again = amd.tune(command=None)
        equal("reused", (again.status, again.result["outcome"]),
              (0, "reused"))
        amd.base = 12 * GIB
        amd.account()
        full = amd.tune(command=None)
        check("not where too little is free now", full.result["outcome"] !=
              "reused" or full.result["recommended"]["micro_batch"] <
              answer.result["recommended"]["micro_batch"], full)


def out_of_memory_in_hips_words():
    with Kernel("AMD Instinct MI210") as amd:
        for words in WORDS:
            answer = amd.tune("--fresh", batch=64, accum=1,
                              env={"FAKE_WORDS": words})
            first = answer.probes[0]
            equal("out of memory: " + words[:50],
                  (first["micro_batch"], first["verdict"]), (64, "oom_device"))


def the_card_that_was_chosen():
    with Kernel("A", "B") as amd:
        for visible, index, wanted in ((None, 1, "1"), ("1,0", 1, "0"),
                                       ("1,0", 0, "1")):
            env = {"HIP_VISIBLE_DEVICES": visible} if visible else {}
            name = "%s of %s: " % (index, visible)
            option = ["--device", "cuda:%d" % index, "--fresh"]
            answer = amd.tune(*option, command=None, env=env)
            equal(name + "tuned", answer.result["outcome"], "tuned")
            equal(name + "on that card", answer.result["devices"][0]["name"],
                  "AB"[int(wanted)])
            holds(name + "and run there", answer.out, "visible=%s " % wanted)
            answer = amd.tune(*option[:2], command=None, env=env)
            equal(name + "reused", answer.result["outcome"], "reused")
            holds(name + "there too", answer.out, "visible=%s " % wanted)


def a_card_that_tells_nothing():
    with Kernel("A") as amd:
        os.remove(os.path.join(amd.sys, amd.drm(0, "mem_info_vram_total")))
        answer = amd.ask("explain", "--", "true", "--batch-size", "4")
        holds("no card is guessed", answer.out, "does not tell its memory",
              "--device host")
        answer = amd.ask("explain", "--", "true", "--batch-size", "4",
                         env={"HIP_VISIBLE_DEVICES": ""})
        holds("one that is hidden is not asked", answer.out, "host memory")


cards_are_listed()
ranks_and_looks()
tuned_and_reused()
out_of_memory_in_hips_words()
the_card_that_was_chosen()
a_card_that_tells_nothing()
finish()
