#!/usr/bin/env python3
# Real trainings that take their sizes in every way, tuned and started.
# SPDX-License-Identifier: MIT
# CTEST COST 150
"""Each row is a command with autofit in front of it, run twice.

The program counts what its steps have seen. After it: the effective batch is
the one that was asked for, the split is the largest that fits, no file but
those of the row is new and none has changed, no process and no port is left,
and the second start uses the record.

Where only the way in which sizes are said is another, the program trains with
a stand-in for PyTorch: the import takes longer than all else of such a row.
AUTOFIT_NIGHTLY=1 takes the real one for all of them.
"""
import collections
import concurrent.futures
import contextlib
import ctypes
import glob
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402

sys.path.append(os.path.join(os.path.dirname(__file__), "helpers"))

import folders  # noqa: E402

PYTHON = "/usr/bin/python3"
NIGHTLY = os.environ.get("AUTOFIT_NIGHTLY") == "1"
EXAMPLES = os.path.join(lib.SOURCE, "examples", "knobs")
STAND_IN = os.path.join(lib.DATA, "stand_in")
STAND_IN_TORCH = os.path.join(lib.DATA, "hook_fake_torch")
ECHO = re.compile(r"effective batch (\d+) = (\d+) x (\d+) x (\d+)$", re.M)
LISTENING = "0A"
SET_CHILD_SUBREAPER = 36
# Each on one processor.
LANES = 2
# Micro 4 needs 180 MiB and 8 needs 244; of two ranks 477 and 594.
MEMORY = "276MiB"
HEADROOM = "64MiB"

# command: with {python}, {port}. sizes: what is asked for, what is to run:
# micro, accum, world of each. new: labels of files that are there afterwards,
# as patterns; {last} is how many starts there were before. copy: a config file
# and the folder where its copy is then, work or home. cwd: where it is run.
# seen: the hook must have seen rows and passes, not only where it could. real:
# with PyTorch by day too. reuse: is started again by day too.
Row = collections.namedtuple(
    "Row", "name command sizes new copy options env memory cwd seen real reuse",
    defaults=("2 4 1 -> 4 2 1", (), None, "", {}, MEMORY, "work", False, False,
              False),
)

OUT = ("work/out", r"work/out/tinylm\.pt")
# With outputs as they would be by default, in words that every version takes:
# 1.13 cannot read the default under Python 3.11.
TWO_RANKS = "{python} -m torch.distributed.run -r 1 -t 1 --nproc_per_node 2 "
# The logs of ranks, of each of the two runs, are torchrun's own.
LOGS = (r"tmp/torchelastic_\w+(/.*)?",)

ROWS = [
    Row("two ranks", TWO_RANKS + "--rdzv_backend c10d --rdzv_endpoint"
        " localhost:0 ddp.py --batch-size 2 --grad-accum 4 --steps 6",
        "2 4 2 -> 4 2 2", new=LOGS, memory="600MiB", real=True, reuse=True),
    Row("two ranks, accumulation over all", TWO_RANKS + "--master_port {port}"
        " nanogpt_style.py --batch_size=2 --max_iters=5", "2 2 2 -> 4 1 2",
        new=LOGS, memory="600MiB", real=True),
    Row("argparse", "{python} argparse_flags.py -b 2 --grad-accum 4"
        " --steps 6", real=True, reuse=True),
    Row("argparse, abbreviated", "{python} argparse_flags.py --batch 2"
        " --gr=4 --st 6"),
    Row("fields", "{python} hf_style.py --do_train --output_dir out"
        " --per_device_train_batch_size 2 --gradient_accumulation_steps 4"
        " --max_steps 6", new=OUT, real=True),
    Row("fields, dashes", "{python} hf_style.py --do-train=true"
        " --per-device-train-batch-size=2 --gradient-acc 4 --max-steps=6"
        " --save-strategy no"),
    Row("fields, one JSON file", "{python} hf_style.py arguments.json",
        new=OUT, copy="home/arguments.json", real=True),
    Row("dotted", "{python} jsonargparse_style.py fit --config fit.yaml"
        " --data.batch_size 2 --trainer.accumulate_grad_batches=2",
        "2 2 1 -> 4 1 1"),
    Row("dotted, a later file wins", "{python} jsonargparse_style.py fit"
        " --data.batch_size 2 --trainer.accumulate_grad_batches 2"
        " --config fit.yaml"),
    Row("key=value", "{python} omegaconf_pairs.py train.batch_size=2"
        " train.accum_steps=4 train.steps=6"),
    Row("globals", "{python} nanogpt_style.py --batch_size=2 --max_iters=5"),
    Row("globals, a later file wins", "{python} nanogpt_style.py"
        " --batch_size=16 fast.py"),
    Row("YAML", "{python} work/config_file.py --config work/settings.yaml",
        copy="work/settings.yaml", cwd=".", reuse=True),
    Row("TOML", "{python} config_file.py --config settings.toml",
        copy="work/settings.toml"),
    Row("JSON", "{python} config_file.py --config=settings.json",
        copy="work/settings.json"),
    Row("variables", "{python} environment.py",
        options="--env BS={micro:2} --env ACCUM={accum:4}",
        env={"BS": "2", "ACCUM": "4", "STEPS": "6"}, reuse=True),
    Row("variables, the total is said", "{python} environment.py",
        options="--effective-batch 8 --env BS={micro} --env ACCUM={accum}",
        env={"STEPS": "6"}),
    Row("variables of env", "env BS={micro:2} ACCUM={accum:4} STEPS=6 {python}"
        " environment.py"),
    Row("a script of the shell", "bash train.sh --steps 6", env={"BS": "2"}),
    Row("words of the shell", "bash -c '{python} argparse_flags.py -b2"
        " --grad-accum 4 --steps 6'"),
]

# What must be asked about: status, and what is said.
Asked = collections.namedtuple(
    "Asked", "name command options status words"
)

ASKED = [
    Asked("a misspelt key", "{python} omegaconf_pairs.py train.batchsize=2"
          " train.accum_steps=4 train.steps=6", "", 122,
          (r"train\.batchsize", r"no effect")),
    Asked("variables that the command sets again", "env BS=2 ACCUM=4 STEPS=6"
          " {python} environment.py",
          "--env BS={micro:2} --env ACCUM={accum:4}", 122,
          (r"BS", r"the command itself sets BS=2")),
]


class Scene(lib.Place):
    """A private copy of the examples, and all that may be written to."""

    def __init__(self, python, source, cwd="work", real=True):
        super().__init__("frameworks")
        self.cwd = self.path(cwd)
        self.roots = {"work": self.path("work")}
        shutil.copytree(source, self.path("work"))
        for name in ("user", "tmp"):
            self.roots[name] = self.path(name)
            os.mkdir(self.path(name))
        self.env.update(
            HOME=self.path("user"),
            TMPDIR=self.path("tmp"),
            # train.sh calls it by its name.
            PATH=os.path.dirname(python) + ":" + os.environ["PATH"],
            OMP_NUM_THREADS="1",
            # Tensors have mappings of their own: a size has one peak.
            MALLOC_MMAP_THRESHOLD_="1048576",
            PYTHONDONTWRITEBYTECODE="1",
        )
        if not real:
            shutil.copy(os.path.join(STAND_IN, "tinylm.py"), self.path("work"))
            self.env["PYTHONPATH"] = STAND_IN_TORCH
        self.before = self.walk()

    def start(self, *args, env=None):
        return subprocess.Popen(
            [lib.AUTOFIT, *args],
            cwd=self.cwd,
            env=dict(self.env, **(env or {})),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def walk(self):
        """Of folders only that they are there."""
        return {
            label: entry._replace(changed=0, modified=0, links=0)
            if entry.kind == 0o040000 else entry
            for label, entry in folders.walk(self.roots).items()
        }

    def changes(self, allowed):
        """Of what no pattern allows: new, gone, changed."""
        return [
            line
            for line in folders.differences(self.before, self.walk())
            if not any(
                re.fullmatch(pattern + ": new", line) for pattern in allowed
            )
        ]

    def missing(self, wanted):
        return [
            pattern
            for pattern in wanted
            if not any(re.fullmatch(pattern, label) for label in self.walk())
        ]

    def processes(self):
        """(pid, its words) of all that came from here."""
        mark = os.fsencode(self.folder)
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                with open("/proc/%s/environ" % pid, "rb") as file:
                    environ = file.read()
                with open("/proc/%s/cmdline" % pid, "rb") as file:
                    words = file.read()
                if mark in environ + words:
                    found.append((pid, words.decode(errors="replace")))
        return found


def adopt():
    """Whatever loses its parent in a row becomes a child of this process."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    failed = prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    lib.check("orphans are adopted", not failed)


def children():
    """Of this process, all its threads; not those that only wait for it."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    found = []
    for path in glob.glob("/proc/self/task/*/children"):
        with contextlib.suppress(OSError):
            with open(path, encoding="ascii") as file:
                found += file.read().split()
    return found


def listening_ports():
    """{port: inode} of sockets that wait for connections."""
    found = {}
    for name in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            with open("/proc/net/" + name, encoding="ascii") as file:
                for words in map(str.split, file.readlines()[1:]):
                    if words[3] == LISTENING:
                        port = int(words[1].rsplit(":", 1)[1], 16)
                        found[port] = words[9]
    return found


def owned_inodes():
    """Of all sockets that a process has open that is not of this test."""
    found = set()
    own = children()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if pid in own:
            continue
        with contextlib.suppress(OSError):
            folder = "/proc/%s/fd" % pid
            for name in os.listdir(folder):
                with contextlib.suppress(OSError):
                    link = os.readlink(os.path.join(folder, name))
                    found.update(re.findall(r"^socket:\[(\d+)\]$", link))
    return found


def ports_left(before):
    """New ones, but for those of somebody else who is alive."""
    owned = owned_inodes()
    return [
        port
        for port, inode in listening_ports().items()
        if before.get(port) != inode and inode not in owned
    ]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


# Of a training's own; probes must get others.
PORT = free_port()


def words_of(text, python):
    text = text.replace("{python}", python)
    return shlex.split(text.replace("{port}", str(PORT)))


def sizes_of(text):
    micro, accum, world = map(int, text.split())
    return (micro * accum * world, micro, accum, world)


def launch(scene, row, python):
    return scene.run(
        *("--device", "host", "--memory", row.memory),
        *("--headroom", HEADROOM, "--confirm-steps", "5"),
        *(*shlex.split(row.options), "--", *words_of(row.command, python)),
        env=row.env,
    )


def echo_of(answer):
    """What the child says of itself: lines of four numbers."""
    return [tuple(map(int, found)) for found in ECHO.findall(answer.out)]


def lines_that_differ(one, other):
    with open(one, encoding="utf-8") as first:
        with open(other, encoding="utf-8") as second:
            pairs = list(zip(first.readlines(), second.readlines()))
    return [(a.strip(), b.strip()) for a, b in pairs if a != b]


def check_copy(scene, row, answer):
    """The copy that the run reads differs in the sizes only, and is named."""
    where, name = row.copy.split("/")
    copies = [
        os.path.join(folder, file)
        for folder, _, files in os.walk(scene.path(where))
        for file in files
        if re.fullmatch(r"\.autofit-[0-9a-f]+-" + name, file)
    ]
    if not lib.equal(row.name + ": copies of the file", len(copies), 1):
        return
    own = scene.path("work", name)
    copy = copies[0]
    pairs = lines_that_differ(own, copy)
    lib.check(
        row.name + ": the copy differs in numbers only",
        pairs and all(re.sub(r"\d+", "", a) == re.sub(r"\d+", "", b)
                      for a, b in pairs), pairs)
    lib.equal(row.name + ": mode of the copy",
              os.stat(copy).st_mode, os.stat(own).st_mode)
    lib.holds(row.name + ": the report names the copy",
              re.sub(r"\s+", "", answer.err),
              re.escape(os.path.basename(copy)))
    forget = scene.start("forget", answer.result["record"]["id"])
    words = b"".join(forget.communicate())
    lib.equal(row.name + ": forgotten", forget.returncode, 0)
    lib.check(row.name + ": and the copy with it",
              not os.path.exists(copy), words)


def check_seen(row, answer):
    """Rows and passes of every probe are those that its words mean."""
    shown = [p for p in answer.probes if p["input_rows"] and p["seen_accum"]]
    lib.equal(
        row.name + ": what is seen is what is",
        [(p["input_rows"], p["seen_accum"]) for p in shown],
        [(p["micro_batch"], p["grad_accum"]) for p in shown],
    )
    lib.check(row.name + ": seen", shown or not row.seen, answer.probes)


def check_traces(scene, row, starts):
    wanted = [p.replace("{last}", str(starts - 1)) for p in row.new]
    if row.copy and row.copy.startswith("work/"):
        name = row.copy[len("work/"):]
        wanted.append(r"work/\.autofit-[0-9a-f]+-" + name)
    lib.equal(row.name + ": new, gone or changed", scene.changes(wanted), [])
    lib.equal(row.name + ": and not there", scene.missing(wanted), [])
    left = lib.wait_for(lambda: not scene.processes())
    lib.check(row.name + ": no process is left", left, scene.processes())


def check_reuse(scene, row, python, first):
    """Of the second start: no probe, the same sizes."""
    answer = launch(scene, row, python)
    if not lib.check(row.name + ": starts again", answer.status == 0, answer):
        return
    lib.equal(row.name + ": reused", answer.result["outcome"], "reused")
    lib.equal(row.name + ": without a probe", answer.result["probe_count"], 0)
    lib.equal(row.name + ": the same sizes", echo_of(answer), echo_of(first))


def play(row, python, source, real=True):
    asked, wanted = map(sizes_of, row.sizes.split("->"))
    with Scene(python, source, row.cwd, real) as scene:
        answer = launch(scene, row, python)
        if not lib.check(row.name + ": ends well", answer.status == 0, answer):
            return
        lib.equal(row.name + ": the effective batch that was asked for",
                  answer.result["effective_batch_asked"], asked[0])
        lib.check(row.name + ": %d = %d x %d x %d runs" % wanted,
                  echo_of(answer) == [wanted], answer)
        check_seen(row, answer)
        check_traces(scene, row, 1)
        if row.reuse or NIGHTLY:
            check_reuse(scene, row, python, answer)
            check_traces(scene, row, 2)
        if row.copy:
            check_copy(scene, row, answer)


def play_asked(row, python, source):
    with Scene(python, source, real=NIGHTLY) as scene:
        answer = scene.run(
            *("--device", "host", "--memory", MEMORY),
            *("--headroom", HEADROOM, "--confirm-steps", "5"),
            *(*shlex.split(row.options), "--", *words_of(row.command, python)),
        )
        lib.equal(row.name + ": status", answer.status, row.status)
        lib.holds(row.name + ": is told", answer.err, *row.words)
        lib.equal(row.name + ": nothing is run", echo_of(answer), [])
        lib.check(row.name + ": nothing is recommended",
                  answer.result and not answer.result["recommended"], answer)
        lib.equal(row.name + ": new, gone or changed", scene.changes(()), [])


def play_all(plays):
    """Functions without arguments; the rest of what is checked of them all."""
    adopt()
    ports = listening_ports()
    with concurrent.futures.ThreadPoolExecutor(LANES) as lanes:
        for done in [lanes.submit(one) for one in plays]:
            done.result()
    lib.wait_for(lambda: not children())
    lib.equal("processes that are left", children(), [])
    lib.wait_for(lambda: not ports_left(ports))
    lib.equal("ports that are left", ports_left(ports), [])


def selected(rows):
    """For somebody at work on one row: its name as an argument."""
    only = sys.argv[1] if len(sys.argv) > 1 else ""
    return [row for row in rows if only in row.name]


def main():
    if not lib.has_modules(PYTHON, "torch", "yaml"):
        lib.skip("no PyTorch or no yaml at %s" % PYTHON)
    rows, asked = selected(ROWS), selected(ASKED)
    if not lib.has_modules(PYTHON, "omegaconf"):
        print("left out: omegaconf is not installed", flush=True)
        rows = [row for row in rows if "omegaconf" not in row.command]
        asked = [row for row in asked if "omegaconf" not in row.command]
    play_all(
        [lambda row=row: play(row, PYTHON, EXAMPLES, row.real or NIGHTLY)
         for row in rows]
        + [lambda row=row: play_asked(row, PYTHON, EXAMPLES) for row in asked]
    )
    lib.finish()


if __name__ == "__main__":
    main()
