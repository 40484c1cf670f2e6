#!/usr/bin/env python3
# The page of a GPU's probe: in memory, seen by the probe, and not left behind.
# SPDX-License-Identifier: MIT
# CTEST COST 5
"""With AUTOFIT_NIGHTLY=1 by more ways. A page on a disk that is full or far away is SIGBUS in a program that counts its
memory there. So it lies in /dev/shm, which a view hides from probes but for this;
and whoever is killed, it goes."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import check, equal  # noqa: E402

sys.path.insert(1, os.path.join(os.environ["SOURCE"], "tests", "cli", "helpers"))
import storm  # noqa: E402

BUILD = os.environ["BUILD"]
SHM = "/dev/shm"
# Says where its page is and what else it sees of pages, then trains.
SCRIPT = """\
#!/bin/sh
echo "$AUTOFIT_CHANNEL" >>"$SEEN"
ls -A {shm} | grep -c '^[.]autofit-' >>"$SEEN.count"
exec "{trainer}" "$@"
"""


class Gpu(lib.Place):
    def __init__(self):
        super().__init__("page")
        self.env.update(
            LD_LIBRARY_PATH=os.path.join(BUILD, "sim"),
            AUTOFIT_SIM_STATE=self.path("state", "devices"),
            AUTOFIT_SIM_DEVICES="Card:24G:300M:300M", SEEN=self.path("state", "seen"))
        os.mkdir(self.path("state"))
        self.script = self.write("train.sh", SCRIPT.format(
            shm=SHM, trainer=os.path.join(BUILD, "sim", "sim_trainer")), 0o755)

    def words(self, *options, steps=30):
        return ("tune", "--allow-writes", self.path("state"), "--confirm-steps", "3",
                "--max-micro", "4", *options, "--", self.script, "--batch-size", "4", "--grad-accum", "4",
                "--steps", str(steps), "--step-ms", "15", "--fixed-mib", "4000",
                "--per-sample-kib", "200000")

    def pages(self):
        """Where those of the probes so far were."""
        try:
            with open(self.env["SEEN"], encoding="utf-8") as file:
                return file.read().split()
        except FileNotFoundError:
            return []


def left(pages):
    return [page for page in pages if os.path.exists(page)]


def it_is_in_memory(kind):
    """And counts every byte: it is the file that autofit reads."""
    with Gpu() as gpu:
        answer = gpu.run(*gpu.words("--isolation", kind))
        pages = gpu.pages()
    name = kind + ": "
    if not equal(name + "tuned", answer.status, 0):
        print(answer)
        return
    equal(name + "isolated so", answer.result["isolation"], kind)
    equal(name + "each is in memory, in a file of its own",
          ({os.path.dirname(page) for page in pages}, len(set(pages))),
          ({SHM}, len(answer.probes)))
    equal(name + "every byte is counted",
          {probe["coverage"] for probe in answer.probes}, {"exact"})
    equal(name + "none is left", left(pages), [])


def elsewhere(where, prepare):
    """In mounts of its own, where /dev/shm cannot be had."""
    with Gpu() as gpu:
        gpu.prefix = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
                      prepare + ' && exec "$@"', "sh"]
        if subprocess.call([*gpu.prefix, "true"], stderr=subprocess.DEVNULL):
            print("# no mounts of our own here: not where /dev/shm is " + where)
            return
        answer = gpu.run(*gpu.words())
        pages = gpu.pages()
    name = "/dev/shm %s: " % where
    if not equal(name + "tuned", answer.status, 0):
        print(answer)
        return
    check(name + "the page is in scratch",
          pages and all(page.endswith("/channel") for page in pages), pages)
    equal(name + "every byte is counted",
          {probe["coverage"] for probe in answer.probes}, {"exact"})


def killed(victims):
    with Gpu() as gpu:
        process = gpu.start(*gpu.words("--probe-steps", "100000", steps=100000))
        lib.wait_for(gpu.pages)
        pages, keeper = gpu.pages(), storm.keeper_of(process.pid)
        pids = {"autofit": [process.pid], "keeper": [keeper], "probe": [
            pid for pid in storm.processes_with(b"AUTOFIT_HOME=" + os.fsencode(
                gpu.path("home"))) if pid not in (process.pid, keeper)]}
        name = "killed with SIGKILL, %s: " % " and ".join(victims)
        check(name + "the page was there", pages and left(pages), pages)
        for victim in victims:
            for pid in pids[victim]:
                storm.kill(pid)
        if "autofit" not in victims:
            # It tries once more, and is told to end then.
            lib.wait_for(lambda: len(gpu.pages()) > len(pages))
            process.terminate()
        process.communicate(timeout=lib.PATIENCE)
        if victims != ("autofit",) and "autofit" in victims:
            # Nobody was left that could: the next start does it first.
            answer = gpu.run(*gpu.words())
            equal(name + "the next start tunes", answer.status, 0)
        pages = gpu.pages()
        check(name + "it is gone", lib.wait_for(lambda: not left(pages)),
              left(pages))


it_is_in_memory("view")
it_is_in_memory("landlock")
elsewhere("is full", "mount -t tmpfs -o size=1M none %s" % SHM)
killed(("autofit", "keeper", "probe"))
if os.environ.get("AUTOFIT_NIGHTLY") == "1":
    it_is_in_memory("compare")
    elsewhere("is on a disk", "mount --bind /tmp %s" % SHM)
    for some in (("autofit",), ("keeper",), ("autofit", "keeper")):
        killed(some)
lib.finish()
