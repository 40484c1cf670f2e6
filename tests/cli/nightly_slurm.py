#!/usr/bin/env python3
# A list of commands tuned through a real Slurm that the test starts.
# SPDX-License-Identifier: MIT
"""Slurm's own daemons on loopback, with two nodes and two types of GPU. The
same list runs on this machine and through Slurm, and must give the same
records, also when autofit, a node or a job is killed on the way.

With AUTOFIT_NIGHTLY=1 the list has PyTorch and two ranks in it, and there are
20 kills instead of 3. Skipped where Slurm cannot be started.
"""
import glob
import json
import os
import random
import re
import signal
import sys
import time

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
import slurm_lib  # noqa: E402
from lib import check, equal, holds, lacks  # noqa: E402

IS_NIGHT = bool(os.environ.get("AUTOFIT_NIGHTLY"))
KILLS, BETWEEN = (20, (0, 4)) if IS_NIGHT else (3, (0, 1.5))

HEAD = """\
[nightly]
executor = %s
publish = site
[defaults]
device = host
headroom = 2M
confirm-steps = 3
memory = 60M
time = 10m
"""


def job(name, command, more=""):
    return "[job %s]\ncommand = %s\n%s" % (name, command, more)


def trainer(micro=4, accum=8, kib=1024, more="", step_ms=5):
    return ("%s --batch-size %d --grad-accum %d\n    --steps 10 --step-ms %d "
            "--per-sample-kib %d %s" % (lib.TRAINER, micro, accum, step_ms,
                                        kib, more))


JOBS = [
    job("first", trainer()),
    job("second", trainer(2, 8, 2048), "effective-batch = 32\n"),
    job("grown", trainer(2, 2), "grow = yes\nmax-micro = 24\n"),
    job("one-step", trainer(8, 1)),
    job("small", trainer(), "memory = 30M\n"),
    job("typo", trainer(more="--no-such-option"), "required = no\n"),
    job("fails-later", trainer(more="--fail-at-step 2"), "required = no\n"),
    job("fits-nowhere", trainer(kib=200000), "required = no\n"),
    job("elsewhere", "sh run.sh", "directory = sub\n"
        "environment = BS=4\n    GA=8\n"),
    job("no-knob", "%s --steps 3" % lib.TRAINER, "required = no\n"),
    job("hangs", trainer(more="--hang-at-step 1"), "required = no\n"
        "startup-timeout = 4s\n"),
    job("config", "/usr/bin/python3 train.py --config conf/train.yaml"),
]

# Sizes in a file; the memory is held by the batch, above Python's own.
YAML = """\
train:
  batch_size: 4  # per device
  gradient_accumulation_steps: 8
"""
YAML_SCRIPT = """\
import argparse, time, yaml
parser = argparse.ArgumentParser()
parser.add_argument("--config")
args = parser.parse_args()
train = yaml.safe_load(open(args.config))["train"]
held = bytearray(b"x") * (train["batch_size"] << 20)
for step in range(1, 11):
    time.sleep(0.01)
    print("step %d/10 loss 1.0" % step, flush=True)
"""


def trainer_job():
    """The Trainer of transformers, where cli/frameworks_pypi put it."""
    python = os.path.join(os.environ["BUILD"], "frameworks-venv", "bin",
                          "python")
    if not os.path.exists(python):
        print("# no environment with transformers: its Trainer is left out")
        return []
    script = os.path.join(lib.DATA, "frameworks", "hf_trainer.py")
    return [job("hf-trainer", "%s %s --output_dir out\n"
                "    --per_device_train_batch_size 2 --gradient_acc 4\n"
                "    --max_steps 6" % (python, script),
                "memory = 280M\nheadroom = 64M\n"
                "environment = HF_HUB_OFFLINE=1\n")]


def torch_jobs():
    """One with PyTorch, one with two ranks of it, one of a framework."""
    train = os.path.join(lib.SOURCE, "examples", "charlm", "train.py")
    return trainer_job() + [
        job("torch", "/usr/bin/python3 %s\n    --batch-size 4 --grad-accum 2 "
            "--steps 6" % train, "memory = 900M\n"),
        # Debian's PyTorch 1.13 needs its outputs named under Python 3.11.
        job("ranks", "/usr/bin/python3 -m torch.distributed.run -r 1 -t 1\n"
            "    --nproc_per_node 2 --rdzv_backend c10d\n    --rdzv_endpoint "
            "localhost:0 ddp.py\n    --batch-size 2 --grad-accum 4 --steps 6",
            # Micro 8, its largest, needs 597 MiB.
            "memory = 750M\nheadroom = 64M\ndirectory = %s\n"
            % os.path.join(lib.SOURCE, "examples", "knobs")),
    ]


# Waits until the test has seen it run. What comes into a folder later, a
# probe's view of it need not show: this one is shared.
GATED = """\
gate=$1
shift
while [ ! -e %s/$gate ]; do sleep 0.05; done
exec %s --steps 10 --step-ms 5 --per-sample-kib 1024 "$@"
"""


def gated(place, name, gate):
    """A job whose probes wait for the gate to be opened."""
    gates = place.path("gates")
    os.makedirs(gates, exist_ok=True)
    place.write("gated.sh", GATED % (gates, lib.TRAINER))
    return job(name, "sh gated.sh %s --batch-size 4 --grad-accum 8" % gate,
               "allow-writes = %s\n" % gates)


def prepare(place, executor, jobs, head=""):
    place.write("jobs.ini", HEAD % executor + head + "".join(jobs))
    place.write("sub/run.sh", 'exec %s --batch-size ${BS:-1} --grad-accum '
                "${GA:-1} --steps 10 --step-ms 5 --per-sample-kib 1024\n"
                % lib.TRAINER)
    place.write("train.py", YAML_SCRIPT)
    place.write("conf/train.yaml", YAML)


def start(place, cluster, *words):
    return place.start("nightly", *words, "jobs.ini", env=cluster.env)


def nightly(place, cluster, *words):
    process = start(place, cluster, *words)
    out, err = process.communicate(timeout=lib.PATIENCE)
    return process.returncode, out.decode(), err.decode()


def rows(place):
    with open(place.path("nightly", "summary.json"), encoding="utf-8") as file:
        return {row["name"]: row for row in json.load(file)["jobs"]}


def findings(place):
    """What a night found, but for what no two runs have in common."""
    return {name: (row["state"], row["micro_batch"], row["grad_accum"],
                   row["world_size"], row["effective_batch"],
                   row["state"] == "ok" or row["outcome"])
            for name, row in rows(place).items()}


def both_executors(cluster):
    """The same list here and through Slurm: the same records."""
    jobs = JOBS + (torch_jobs() if IS_NIGHT else [])
    with lib.Place("nightly-here") as here, \
            lib.Place("nightly-there") as there:
        prepare(here, "local", jobs)
        prepare(there, "slurm", jobs)
        process = start(there, cluster)
        code, _, err = nightly(here, cluster)
        out, said = process.communicate(timeout=lib.PATIENCE)
        equal("both: exit codes", (process.returncode, code), (0, 0))
        equal("both: the same records", findings(there), findings(here))
        equal("both: which have none",
              sorted(n for n, f in findings(there).items() if f[0] != "ok"),
              ["fails-later", "fits-nowhere", "hangs", "no-knob", "typo"])
        equal("both: published", len(os.listdir(there.path("site",
                                                           "records"))),
              len(os.listdir(here.path("site", "records"))))
        holds("slurm: its lines", said.decode(), "first: micro 32 x accum 1",
              "typo: fails: ")
        check("slurm: nothing is left in the queue", not cluster.queue(),
              cluster.queue())
        killed(cluster, jobs, here)
        second_night(there, cluster, jobs)


def second_night(place, cluster, jobs):
    """One job changed on purpose: that one is told, with its cause."""
    place.write("jobs.ini", HEAD % "slurm" + "".join(jobs).replace(
        "--per-sample-kib 2048", "--per-sample-kib 3300"))
    code, _, _ = nightly(place, cluster)
    got = rows(place)
    equal("second night: exit code", code, 119)
    equal("second night: exactly that one",
          [n for n, r in got.items() if r["change"] in ("worse", "better",
                                                        "new")], ["second"])
    holds("second night: its cause", got["second"]["cause"] or "",
          "argument --per-sample-kib 3300, was 2048")


def types(cluster):
    """A job on two types of GPU: two rows, each with its own setting."""
    with lib.Place("nightly-types") as place:
        prepare(place, "slurm", [
            job("first", trainer(), "types = big small\n"),
            job("plain", trainer()),
        ], "[type big]\ngres = gpu:big:2\n[type small]\ngres = gpu:small\n"
           "memory = 30M\ntime = 30m\n")
        _, out, _ = nightly(place, cluster, "--dry-run")
        holds("types: the scripts", out, "#SBATCH --gres=gpu:big:2",
              "#SBATCH --gres=gpu:small ", "#SBATCH --time=30 ",
              "exec autofit tune .*--memory=30M ")
        holds("types: what it costs", out,
              "3 jobs, at most 0.8 GPU-hours")
        code, _, err = nightly(place, cluster)
        equal("types: exit code", code, 0)
        got = rows(place)
        equal("types: their rows", list(got), ["first@big", "first@small",
                                               "plain"])
        equal("types: their sizes", [r["micro_batch"] for r in got.values()],
              [32, 8, 32])
        code, _, err = nightly(place, cluster, "--only", "first")
        holds("types: --only takes all types of a job", err, "first@big: ",
              "first@small: ")
        lacks("types: and no other", err, r"\] plain")


def cancelled(cluster):
    """A signal takes the jobs out of Slurm, and the next call goes on."""
    with lib.Place("nightly-cancelled") as place:
        prepare(place, "slurm", [gated(place, "slow-%d" % i, "open")
                                 for i in range(3)])
        process = start(place, cluster)
        lib.wait_for(lambda: os.path.exists(
            place.path("nightly", "runs", "slow-2.sbatch")) and
            any(q[2] == "RUNNING" for q in cluster.queue()))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=lib.PATIENCE)
        equal("cancelled: it ends by the signal", process.returncode,
              -signal.SIGINT)
        check("cancelled: nothing is left in Slurm",
              lib.wait_for(lambda: not cluster.queue(), 60), cluster.queue())
        equal("cancelled: its rows", {r["state"] for r in
                                      rows(place).values()}, {"not_run"})
        place.write("gates/open", "")
        code, _, err = nightly(place, cluster)
        equal("cancelled: the next call goes on",
              (code, {r["state"] for r in rows(place).values()}),
              (0, {"ok"}))
        lacks("cancelled: with all of them", err, "done before")


def probe_rows(place, name):
    """Sizes of the probes that the job's log tells of."""
    path = place.path("nightly", "runs", name + ".log")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", errors="replace") as file:
        return re.findall(r"(?m)^ +(\d+) +(\d+) +\S.*$", file.read())


def requeued(cluster):
    """As after a preemption: the journal goes on, and no probe is repeated."""
    with lib.Place("nightly-requeued") as place:
        prepare(place, "slurm", [job("slow", trainer(step_ms=300))])
        process = start(place, cluster)
        lib.wait_for(lambda: probe_rows(place, "slow"))
        before = probe_rows(place, "slow")
        number, = [q[0] for q in cluster.queue("running")]
        cluster.ask("scontrol", "requeue", number)
        _, err = process.communicate(timeout=lib.PATIENCE)
        equal("requeued: exit code", process.returncode, 0)
        equal("requeued: the same job of Slurm",
              cluster.ask("scontrol", "show", "job", number).count(
                  "Restarts=1"), 1)
        after = probe_rows(place, "slow")
        holds("requeued: its sizes", err.decode(), "slow: micro 32 x accum 1")
        check("requeued: no probe is repeated", before and
              len(set(after)) == len(after), (before, after))


def queue_of_arrays(cluster):
    """Elements that are not over: (array, element, state)."""
    out = cluster.ask("squeue", "-h", "--array", "-o", "%F|%K|%T")
    return [tuple(line.split("|")) for line in out.splitlines()]


def arrays(cluster):
    """Jobs that are alike are one array; each element goes its own way."""
    with lib.Place("nightly-arrays") as place:
        jobs = [gated(place, "alike-%d" % i, i) for i in range(5)]
        jobs.insert(2, job("other", trainer(kib=999), "time = 5m\n"))
        prepare(place, "slurm", jobs)
        place.write("jobs.ini", HEAD.replace("publish", "at-once = 3\npublish")
                    % "slurm" + "".join(jobs))
        _, out, _ = nightly(place, cluster, "--dry-run")
        holds("arrays: in the plan", out, "#SBATCH --array=0-4%1 ",
              "6 jobs, at most 0.0 GPU-hours")
        process = start(place, cluster)
        lib.wait_for(lambda: len(queue_of_arrays(cluster)) == 6)
        queue = queue_of_arrays(cluster)
        ids = {number for number, element, _ in queue if element != "N/A"}
        number = ids.pop() if len(ids) == 1 else "0"
        equal("arrays: one submission for those that are alike",
              sorted(q[1] for q in queue if q[0] == number), list("01234"))
        most = in_their_ways(place, cluster, process, number)
        equal("arrays: throttled", most, 1)
        process.communicate(timeout=lib.PATIENCE)
        got = rows(place)
        equal("arrays: exit code", process.returncode, 119)
        bad = {n: r["message"] for n, r in got.items() if r["state"] != "ok"}
        equal("arrays: those that were cancelled", sorted(bad),
              ["alike-1", "alike-4"])
        for element in "14":  # one ran, the other waited
            holds("arrays: why not " + element, bad.get("alike-" + element, ""),
                  "job %s_%s of Slurm was cancelled in Slurm" %
                  (number, element))
        equal("arrays: sizes of the others", {
            r["micro_batch"] for n, r in got.items() if n not in bad}, {32})
        holds("arrays: one was started again", cluster.ask(
            "scontrol", "show", "job", number + "_0"), "Restarts=1 ")


def in_their_ways(place, cluster, process, number):
    """One element is put back while it runs, one is cancelled then, and one
    while it waits; returns how many ran at once at most."""
    ways = {"0": ("scontrol", "requeue"), "1": ("scancel",)}
    most = 0
    cluster.ask("scancel", number + "_4")
    while process.poll() is None:
        running = [q[1] for q in queue_of_arrays(cluster)
                   if q[0] == number and q[2] == "RUNNING"]
        most = max(most, len(running))
        for element in running:
            if element in ways:
                cluster.ask(*ways.pop(element), number + "_" + element)
            place.write("gates/" + element, "")
    equal("arrays: each was seen running", ways, {})
    return most


def the_record(place, name):
    """What its record says: the answer, its limits and its settings, but not
    the peaks and probes by which it was found."""
    path = place.path("nightly", "best", name, "record.ini")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        parts = [part for part in file.read().split("\n\n")
                 if "[record]" in part or part.startswith("[setting.")]
    return re.findall(
        r"(?m)^(?:micro_batch|grad_accum|world_size|effective_batch\w*|"
        r"limit_bytes|headroom_bytes|budget_bytes|preset|device_kind|argv|"
        r"name|value|was|where) = .*", "\n".join(parts))


def killed(cluster, jobs, wanted):
    """Killed at random moments, autofit, a node or a job: the same records.
    wanted: the place of a night that was left alone. Where a night is over
    before all kills were, the rest of them meets another one."""
    rng = random.Random(18)
    # By day only those after which Slurm does not wait.
    kinds = ["autofit", "node", "requeue", "job"] if IS_NIGHT else [
        "autofit", "node"]
    kinds = (kinds * KILLS)[:KILLS]
    rng.shuffle(kinds)
    while kinds:
        with lib.Place("nightly-storm") as place:
            prepare(place, "slurm", jobs)
            code = a_storm(place, cluster, rng, kinds)
            as_if_left_alone(place, wanted, code)
    check("killed: nothing is left in the queue",
          lib.wait_for(lambda: not cluster.queue(), 60), cluster.queue())


def a_storm(place, cluster, rng, kinds):
    """A night to its end; takes the kills that it met out of kinds."""
    process, done, jobs = start(place, cluster), [], []
    while kinds:
        time.sleep(rng.uniform(*BETWEEN))  # the moment, not a wait
        if process.poll() is not None:
            break
        done.append(a_kill(kinds.pop(), rng, cluster, process, place, jobs))
        if process.poll() is not None:
            process.communicate()
            process = start(place, cluster)
    process.communicate(timeout=lib.PATIENCE)
    print("# kills in one night: %s; jobs: %s" % (" ".join(done),
                                                  " ".join(jobs)))
    return process.returncode


def as_if_left_alone(place, wanted, code):
    check("killed: exit code", code == 0,
          {n: r["message"] for n, r in rows(place).items() if r["message"]})
    equal("killed: the same findings", findings(place), findings(wanted))
    equal("killed: the same records",
          {name: the_record(place, name) for name in rows(place)},
          {name: the_record(wanted, name) for name in rows(wanted)})
    check("killed: which are some", the_record(place, "first") and
          the_record(place, "config"), the_record(place, "first"))
    equal("killed: published",
          *(len(os.listdir(p.path("site", "records")))
            for p in (place, wanted)))


def batch_scripts(place):
    """Processes of this place's jobs that Slurm itself has started."""
    mark, found = ("AUTOFIT_HOME=" + place.path("home")).encode(), []
    for path in glob.glob("/proc/[0-9]*"):
        try:
            with open(path + "/environ", "rb") as file:
                if mark not in file.read().split(b"\0"):
                    continue
            with open(path + "/status", encoding="utf-8") as file:
                parent = re.search(r"(?m)^PPid:\s+(\d+)", file.read())[1]
            with open("/proc/%s/comm" % parent, encoding="utf-8") as file:
                if file.read().startswith("slurmstepd"):
                    found.append(int(path[len("/proc/"):]))
        except OSError:
            continue
    return found


def a_kill(what, rng, cluster, process, place, killed_before):
    """Where no job runs that could be killed, autofit is. None is killed twice:
    one that is lost three times fails, as it should."""
    running = [q[0] for q in cluster.queue("running")]
    jobs = [(pid, name) for pid in batch_scripts(place)
            for name in [job_of(pid)] if name not in killed_before]
    if what == "node":
        cluster.kill_node(rng.choice(slurm_lib.NODES)[0])
    elif what == "requeue" and running:
        cluster.ask("scontrol", "requeue", rng.choice(running))
    elif what == "job" and jobs:
        pid, name = rng.choice(jobs)
        killed_before.append(name)
        os.kill(pid, signal.SIGKILL)
    else:
        what = "autofit"
        process.kill()
        process.wait()
    return what


def job_of(pid):
    """By the result that its autofit writes; it may have ended."""
    try:
        with open("/proc/%d/cmdline" % pid, encoding="utf-8") as file:
            return (re.findall(r"--json=\S+?/runs/([^/\0]+)\.json",
                               file.read()) or [""])[0]
    except OSError:
        return ""


def two_at_once(cluster):
    """Two nights of two folders tune the same commands: no harm."""
    with lib.Place("nightly-two") as place:
        prepare(place, "slurm", JOBS[:2])
        place.write("other.ini", (HEAD % "slurm").replace(
            "[defaults]", "results = other\n[defaults]") + "".join(JOBS[:2]))
        first = start(place, cluster)
        second = place.start("nightly", "other.ini", env=cluster.env)
        ends = [p.communicate(timeout=lib.PATIENCE)[1].decode()
                for p in (first, second)]
        equal("two at once: exit codes",
              (first.returncode, second.returncode), (0, 0))
        equal("two at once: one record of each command",
              len([n for n in os.listdir(place.path("home", "records"))
                   if n.endswith(".ini")]), 2)
        holds("two at once: both have the setting", ends[1],
              "first: micro 32 x accum 1")


def init(cluster):
    with lib.Place("nightly-slurm-init") as place:
        process = place.start("nightly", "--init", env=cluster.env)
        out, _ = process.communicate(timeout=lib.PATIENCE)
        holds("init: partitions and types", out.decode(),
              r"; main\* gpu:big:2", r"; \[type big\] ; partition = main ; "
              "gres = gpu:big:1", r"; \[type small\]")


# Ignored where a shell has started this in the background; what is started here
# is sent it.
signal.signal(signal.SIGINT, signal.default_int_handler)
with slurm_lib.Cluster() as the_cluster:
    both_executors(the_cluster)
    types(the_cluster)
    cancelled(the_cluster)
    requeued(the_cluster)
    arrays(the_cluster)
    two_at_once(the_cluster)
    init(the_cluster)
lib.finish()
