#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# CTEST COST 20
"""Tuning for Intel's GPUs, by files as the kernel has them.

The test is the kernel: what a program takes of a card it writes into a file of its
own, as the kernel shows it of an open device.
"""
import json
import os
import shutil
import sys
import threading

sys.dont_write_bytecode = True  # nothing new beside this file

from lib import MIB, Place, check, equal, finish, holds  # noqa: E402

GIB = 1024 * MIB
FIXED, PER_SAMPLE = 2 * GIB, 512 * MIB
WORDS = ("torch.OutOfMemoryError: XPU out of memory. Tried to allocate 192.00 MiB. "
         "GPU 0 has a total capacity of 15.91 GiB of which 10.22 MiB is free.",
         "RuntimeError: level_zero backend failed with error: 39 "
         "(UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)")
# A program on the card that its mask leaves.
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
mask = os.environ.get("ZE_AFFINITY_MASK", "")
card = min(int(word) for word in mask.split(",")) if mask else 0
if "AUTOFIT_PROBE" not in os.environ:
    print("mask=" + mask, flush=True)
need = %d + %d * args.batch_size
folder = "%%s/proc/%%d" %% (os.environ["FAKE_SYS"], os.getpid())
os.makedirs(folder + "/fd")
os.makedirs(folder + "/fdinfo")


def take(size):
    with open(folder + "/new", "w") as file:
        file.write("drm-driver: xe\\ndrm-client-id: 7\\ndrm-pdev: 0000:%%02d:00.0\\n"
                   "drm-resident-vram0: %%d KiB\\ndrm-cycles-ccs: 5\\n"
                   %% (3 + card, size >> 10))
    os.rename(folder + "/new", folder + "/fdinfo/3")


os.symlink("/dev/dri/renderD%%d" %% (128 + card), folder + "/fd/3")
if need > %d:
    take(1 << 30)
    time.sleep(0.5)
    sys.exit(os.environ["FAKE_WORDS"])
take(need)
for step in range(args.steps):
    time.sleep(0.05)
    print("step %%d/%%d" %% (step + 1, args.steps), flush=True)
""" % (FIXED, PER_SAMPLE, 15 * GIB)


class Kernel(Place):
    def __init__(self, *ids, total=16 * GIB):
        super().__init__("intel")
        self.sys = self.path("sys")
        for number, name in enumerate(ids):
            node = "class/drm/renderD%d/device/" % (128 + number)
            self.put(node + "uevent", "DRIVER=xe\nPCI_ID=8086:%s\nPCI_SLOT_NAME="
                     "0000:%02d:00.0\n" % (name, 3 + number))
            self.put(node + "tile0/physical_vram_size_bytes", "%d\n" % total)
        os.makedirs(os.path.join(self.sys, "proc"))
        self.write("train.py", TRAINER)
        self.env.update(AUTOFIT_SYSFS=self.sys, FAKE_SYS=self.sys,
                        FAKE_WORDS=WORDS[0])
        self.env.pop("ZE_AFFINITY_MASK", None)
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.keep)
        self.thread.start()

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()
        super().__exit__()

    def keep(self):
        """Who is gone has no files."""
        folder = os.path.join(self.sys, "proc")
        while not self.is_over.wait(0.003):
            for pid in os.listdir(folder):
                if not os.path.exists("/proc/" + pid):
                    shutil.rmtree(os.path.join(folder, pid), ignore_errors=True)

    def put(self, name, text):
        path = os.path.join(self.sys, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def process(self, pid, number, size, cycles=5):
        folder = "proc/%d/" % pid
        self.put(folder + "fdinfo/3", "drm-client-id: 9\ndrm-pdev: 0000:%02d:00.0\n"
                 "drm-resident-vram0: %d KiB\ndrm-cycles-ccs: %d\n"
                 % (3 + number, size >> 10, cycles))
        self.put(folder + "fd/none", "")
        os.symlink("/dev/dri/renderD%d" % (128 + number),
                   os.path.join(self.sys, folder, "fd/3"))

    def tune(self, *options, batch=2, accum=32, env=None, command="tune"):
        return self.run(
            *([command] if command else []), "--allow-writes", self.folder,
            "--confirm-steps", "4", *options, "--", sys.executable,
            self.path("train.py"), "--batch-size", str(batch), "--grad-accum",
            str(accum), "--steps", "400" if command else "2", env=env)


def largest(limit):
    return max(m for m in (1, 2, 4, 8, 16, 32) if FIXED + m * PER_SAMPLE <= limit)


def cards_are_listed():
    with Kernel("56A0", "E20B") as intel:
        intel.process(os.getpid(), 1, 3 * GIB)
        path = intel.path("devices.json")
        answer = intel.ask("devices", "--json", path)
        equal("devices: status", answer.status, 0)
        holds("devices: a card", answer.out,
              "Intel GPU 56A0 +16.0 GiB +16.0 GiB", "INTEL-0000-03-00-0",
              "Intel GPU E20B +16.0 GiB +13.0 GiB", "INTEL-0000-04-00-0",
              r"pid %d .* 3.00 GiB" % os.getpid(),
              "GPUs by the kernel, your processes by their open files")
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
        equal("devices: for programs",
              [(each["kind"], each["observed_by"])
               for each in result["devices"]],
              [("xpu", ["kernel"]), ("xpu", ["kernel"]),
               ("host", ["proc", "cgroup"])])
        answer = intel.ask("devices", env={"ZE_AFFINITY_MASK": "1"})
        check("devices: only the visible", "E20B" in answer.out and
              "56A0" not in answer.out, answer.out)
        answer = intel.ask("devices", "--check")
        equal("devices: no self-test of them", answer.status, 125)
        answer = intel.tune("--device", "cuda:1")
        equal("a card in use is refused", answer.status, 123)
        holds("and who uses it", answer.err,
              r"E20B.* is in use: pid %d" % os.getpid())


def tuned_and_reused():
    """With a desktop on the card: base load."""
    with Kernel("56A0") as intel:
        intel.process(os.getpid(), 0, 300 * MIB, cycles=0)
        answer = intel.tune()
        if not equal("tuned on the card", (answer.status, answer.result and
                     answer.result["devices"][0]["name"]), (0, "Intel GPU 56A0")):
            print(answer)
            return
        evidence = answer.result["evidence"]
        equal("readings of a whole device", evidence["coverage"], "device-wide")
        holds("and what that may miss", answer.err,
              "what other users have there is not seen")
        equal("8% of it is left free", evidence["headroom_bytes"],
              16 * GIB // 100 * 8)
        equal("the largest exact split",
              answer.result["recommended"]["micro_batch"],
              largest(evidence["limit_bytes"]))
        equal("its peak", evidence["peak_bytes"], FIXED + PER_SAMPLE *
              answer.result["recommended"]["micro_batch"])
        again = intel.tune(command=None)
        equal("reused", (again.status, again.result["outcome"]), (0, "reused"))


def out_of_memory_in_its_words():
    with Kernel("56A0") as intel:
        for words in WORDS:
            answer = intel.tune("--fresh", batch=64, accum=1,
                                env={"FAKE_WORDS": words})
            first = answer.probes[0]
            equal("out of memory: " + words[:50],
                  (first["micro_batch"], first["verdict"]), (64, "oom_device"))


def the_card_that_was_chosen():
    """A mask is a filter: its order says nothing."""
    with Kernel("56A0", "E20B") as intel:
        for mask, index, wanted in ((None, 1, "1"), ("1,0", 1, "1"),
                                    ("1", 0, "1")):
            env = {"ZE_AFFINITY_MASK": mask} if mask else {}
            name = "%s of %s: " % (index, mask)
            option = ["--device", "cuda:%d" % index, "--fresh"]
            answer = intel.tune(*option, command=None, env=env)
            equal(name + "on that card", answer.result["devices"][0]["name"],
                  "Intel GPU " + ("56A0", "E20B")[int(wanted)])
            holds(name + "and run there", answer.out, "mask=%s " % wanted)
            answer = intel.tune(*option[:2], command=None, env=env)
            equal(name + "reused", answer.result["outcome"], "reused")
            holds(name + "there too", answer.out, "mask=%s " % wanted)


def a_card_that_tells_nothing():
    with Kernel("56A0") as intel:
        os.remove(os.path.join(
            intel.sys, "class/drm/renderD128/device/tile0/physical_vram_size_bytes"))
        answer = intel.ask("explain", "--", "true", "--batch-size", "4")
        holds("no card is guessed", answer.out, "does not tell its memory",
              "--device host")
        answer = intel.ask("explain", "--", "true", "--batch-size", "4",
                           env={"CUDA_VISIBLE_DEVICES": ""})
        holds("one that is hidden is not asked", answer.out, "host memory")


cards_are_listed()
tuned_and_reused()
out_of_memory_in_its_words()
the_card_that_was_chosen()
a_card_that_tells_nothing()
finish()
