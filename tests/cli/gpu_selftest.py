#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# CTEST COST 30
"""autofit devices --check, on simulated GPUs with and without faults."""
import glob
import json
import os
import re
import signal
import socket
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

from lib import (  # noqa: E402
    sim_uuid,
    DATA, MIB, PATIENCE, Place, check, equal, finish, holds, lacks, wait_for,
)

SIM = os.path.join(os.environ["BUILD"], "sim")
GIB = 1024 * MIB
LINES_MAX = 20
GOLDEN = """\
ok    driver   CUDA 13.5, kernel module not known; it listed 1 GPU in T, and started again in T
ok    nvml     100 looks: half of them within T, 99 of 100 within T
ok    machine  MACHINE
ok    gpu      0: Sim H200, 24.0 GiB for programs, 23.0 GiB free, reserved 500 MiB, 0 processes on it
ok    library  it is in a process of GPU 0; a context takes 400 MiB beside what is counted
ok    counts   cuMemAlloc: 64.0 MiB asked, 64.0 MiB counted, by the driver 64.0 MiB
ok    counts   cuMemAlloc, as the CUDA runtime finds it: 64.0 MiB asked, 64.0 MiB counted, by the driver 64.0 MiB
ok    counts   cuMemAlloc, with a copy of the process: 64.0 MiB asked, 64.0 MiB counted, by the driver 64.0 MiB
ok    counts   cuMemAllocAsync: 64.0 MiB asked, 64.0 MiB counted, by the driver 64.0 MiB
ok    counts   cuMemCreate: 64.0 MiB asked, 64.0 MiB counted, by the driver 64.0 MiB
ok    counts   cuArrayCreate: 64.0 MiB asked, 64.0 MiB counted, by the driver 64.0 MiB
ok    counts   cuMemAllocManaged: 64.0 MiB asked, 64.0 MiB counted
ok    counts   cuMemHostAlloc: 64.0 MiB asked, 64.0 MiB counted
ok    refusal  25.0 GiB asked at once: out of memory, and seen
ok    cap      of 1.00 GiB: 576 MiB granted beside a context, then out of memory; the GPU held 976 MiB
"""
CARD = "Sim H200:24G:1G:400M"


class World(Place):
    """A folder with simulated GPUs; scratch folders come into it."""

    def __init__(self, devices=CARD, fault=""):
        super().__init__("selftest")
        os.mkdir(self.path("tmp"))
        self.env.update(
            LD_LIBRARY_PATH=SIM, AUTOFIT_SIM_STATE=self.path("devices"),
            AUTOFIT_SIM_DEVICES=devices, TMPDIR=self.path("tmp"),
            # A sanitized autofit wants its own library to come first.
            ASAN_OPTIONS="verify_asan_link_order=0")
        if fault:
            self.env["AUTOFIT_SIM_FAULT"] = fault

    def test(self, *more, env=None):
        path = self.path("check.json")
        answer = self.ask("devices", "--check", "--json", path, *more, env=env)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                answer.result = json.load(file)
        return answer

    def left(self):
        return os.listdir(self.path("tmp"))


def states(answer):
    """The states of all findings of each name."""
    found = {}
    for each in answer.result["findings"]:
        found.setdefault(each["name"], set()).add(each["state"])
    return found


def a_good_gpu():
    with World(fault="reserved=524288000") as world:
        answer = world.test()
        text = re.sub(r"\d+\.\d+ m?s\b", "T", answer.out)
        text = re.sub(r"(machine  ).*", r"\1MACHINE", text)
        equal("status", answer.status, 0)
        equal("the text", text, GOLDEN)
        check("in few lines", len(answer.out.splitlines()) <= LINES_MAX)
        check("nothing is left", not world.left(), world.left())
        equal("the schema", answer.result["schema"], "autofit.devices.check/1")
        equal("all is well", set.union(*states(answer).values()), {"ok"})
        gpu = answer.result["gpus"][0]
        equal("the GPU's memory",
              (gpu["total_bytes"], gpu["free_bytes"], gpu["board_bytes"],
               gpu["reserved_bytes"], gpu["process_count"]),
              (24 * GIB, 23 * GIB, 24 * GIB + 500 * MIB, 500 * MIB, 0))
        equal("what its context takes", answer.result["context_bytes"],
              400 * MIB)
        equal("every kind", {(each["answer"], each["asked_bytes"],
                              each["counted_bytes"])
                             for each in answer.result["allocations"]},
              {(0, 64 * MIB, 64 * MIB)})
        equal("what the driver says of them",
              [each["driver_bytes"] for each in answer.result["allocations"]],
              [64 * MIB] * 6 + [None] * 2)
        whole = json.dumps(answer.result)
        for name, word in (("host", r"\b%s\b" % socket.gethostname()),
                           ("uuid", sim_uuid(0)[4:12]), ("folder", world.folder),
                           ("path", "/(usr|lib|tmp|home|proc)")):
            lacks("no %s in the object" % name, whole, word)


def kinds_of_gpus():
    with World(fault="mig") as world:
        answer = world.test()
        equal("a slice is tested", answer.status, 0)
        holds("and named so", answer.out, r"gpu 0: Sim H200, MIG,")
    with World(fault="integrated,nvml=unsupported") as world:
        answer = world.test()
        holds("unified memory is named", answer.out, "the host's memory")
        check("and never asked for in one piece",
              "refusal" not in states(answer), answer)
    with World(fault="spills") as world:
        answer = world.test()
        holds("a GPU that refuses nothing is named", answer.out,
              "bad *refusal .*: granted, so that a full GPU may not refuse")
    with World("Old:4G:3800M;New:24G") as world:
        answer = world.test()
        holds("a full GPU is passed over", answer.out,
              "process of GPU 1;")
        answer = world.test("--device", "cuda:0")
        equal("and refused when it is named", answer.status, 125)
        holds("in words", answer.out, "bad tested nothing: no GPU has 1.5 GiB")
        equal("and for programs", answer.result["tested"], None)


def others_are_spared():
    words = "tenant=%d,tenant_bytes=2147483648" % os.getpid()
    with World(fault=words) as world:
        answer = world.test()
        equal("nothing is tested beside others", answer.status, 125)
        holds("and why", answer.out, "1 process on it", "--shared tests beside")
        equal("unless it is wanted", world.test("--shared").status, 0)


def what_is_wrong_is_found():
    rows = (
        ("no NVML", "nvml=missing", {}, "nvml",
         "other users of a GPU are not seen"),
        ("a library that is switched off", "", {"AUTOFIT_HOOK": "0"}, "library",
         "it is not in a process of GPU 0"),
        ("an allocation that is refused", "fail_alloc=2", {}, "counts",
         "as the CUDA runtime finds it: 64.0 MiB asked, and the driver "
         "answers 2"),
        ("no context", "oom_context", {}, "counts",
         "the driver answers 2 where a process wants a context"),
        ("host memory that is refused", "oom_host=1", {}, "counts",
         "cuMemHostAlloc: 64.0 MiB asked, and the driver answers 2"),
    )
    for name, fault, env, finding, words in rows:
        with World(fault=fault) as world:
            answer = world.test(env=env)
            equal(name + " needs a look", answer.status, 119)
            check(name + " is bad", "bad" in states(answer).get(finding, ()),
                  answer)
            holds(name + " in words", answer.out, words)


def a_driver_that_fails():
    for fault, words in (("init=803", "CUDA error 803"),
                         ("crash", "crashed while listing")):
        with World(fault=fault) as world:
            answer = world.test()
            equal("125 after " + fault, answer.status, 125)
            holds("its words after " + fault, answer.out, "bad driver .*" + words)
    with World() as world:
        answer = world.test(env={"CUDA_VISIBLE_DEVICES": ""})
        equal("no GPU is 125", answer.status, 125)
        holds("and said", answer.out, "nothing: there is no NVIDIA GPU")


# It takes 300 MiB of the driver, and a stand-in for torch says what it reserved.
TRAINING = """
import ctypes
import torch

driver = ctypes.CDLL("libcuda.so.1")
context, place = ctypes.c_void_p(), ctypes.c_ulonglong()
for result in (driver.cuInit(0),
               driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0),
               driver.cuCtxSetCurrent(context),
               driver.cuMemAlloc_v2(ctypes.byref(place),
                                    ctypes.c_size_t(300 << 20))):
    assert result == 0, result
torch.cuda.memory_stats = lambda device: {"reserved_bytes.all.peak": %d << 20}
print("said", flush=True)
"""


def a_command_is_compared():
    for says, state, words in (
        (300, "ok", "exit code 0; 300 MiB counted at its peak, torch reserved "
                    "300 MiB; 0 refused"),
        (301, "bad", "torch reserved 301 MiB; 0 refused; less was counted"),
    ):
        with World() as world:
            answer = world.test(
                "--", sys.executable, "-c", TRAINING % says,
                env={"PYTHONPATH": os.path.join(DATA, "hook_fake_torch"),
                     "FAKE_CUDA": "1"})
            equal("torch says %d: status" % says, answer.status,
                  0 if state == "ok" else 119)
            equal("torch says %d" % says, states(answer).get("command"),
                  {state})
            holds("torch says %d: in words" % says, answer.out, words)
            check("its output is no finding", "said" in answer.err and
                  "said" not in answer.out, answer)
            equal("torch says %d: for programs" % says,
                  answer.result["command"],
                  {"exit_code": 0, "counted": True,
                   "tracked_bytes": 300 * MIB,
                   "torch_reserved_bytes": says * MIB, "refused_count": 0})
            check("nothing of it is left", not world.left(), world.left())
    with World() as world:
        answer = world.test("--", "sh", "-c", "exit 7")
        equal("one without a GPU needs a look", answer.status, 119)
        holds("and why", answer.out, "exit code 7; .*in none of its processes")
        answer = world.test("--time-limit", "1s", "--", "sleep",
                            str(PATIENCE))
        holds("one that does not end is ended", answer.out, "exit code 143;")


def the_end_comes_at_once():
    with World(fault="latency_us=%d" % (PATIENCE * 1000000)) as world:
        process = world.start("devices", "--check")
        begun = wait_for(lambda: glob.glob(world.path("tmp", "*", "channel")))
        check("it is under way", begun, world.left())
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
        equal("ended by the signal", process.returncode, -signal.SIGTERM)
        check("and nothing is left", not world.left(), world.left())


def wrong_calls():
    with World() as world:
        for words, why in (
            (("devices", "--check", "--watch"), "--check or --watch"),
            (("tune", "--check", "--", "true"), "belongs to autofit devices"),
        ):
            answer = world.ask(*words)
            equal("%s is 125" % " ".join(words), answer.status, 125)
            holds("in words", answer.err, why)


a_good_gpu()
kinds_of_gpus()
others_are_spared()
what_is_wrong_is_found()
a_driver_that_fails()
a_command_is_compared()
the_end_comes_at_once()
wrong_calls()
finish()
