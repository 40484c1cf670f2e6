#!/usr/bin/env python3
# Ranks that srun starts on two nodes: each reports for itself.
# SPDX-License-Identifier: MIT
"""The command is `srun -N 2 -n 4 ...` inside an allocation, and its ranks are
children of somebody else. What they need of host memory is the sum over the
ranks of a node, the worst node decides, and nothing of them is left behind,
whoever is killed. Here a program stands in for srun and its daemons; with a
real Slurm slurm_ranks.py does the same.
"""
import glob
import json
import os
import signal
import stat
import subprocess
import sys
import threading

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import check, equal, holds  # noqa: E402

# Holds memory by its micro-batch, three times as much in the last rank.
RANK = """\
import argparse, os, sys, time
parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int)
parser.add_argument("--grad-accum", type=int)
parser.add_argument("--steps", type=int, default=30)
parser.add_argument("--fails", type=int, default=-1)
parser.add_argument("--hold", type=int, default=0)
args = parser.parse_args()
rank = int(os.environ["SLURM_PROCID"])
held = bytearray(b"x") * ((args.batch_size << 20) * (3 if rank == 3 else 1))
time.sleep(args.hold)
for step in range(1, args.steps + 1):
    time.sleep(0.05)
    if rank == args.fails:
        sys.exit("rank %d: this is wrong" % rank)
    if rank == 0:
        print("step %d/%d loss 1.0" % (step, args.steps), flush=True)
    while args.fails >= 0:
        time.sleep(1)
if rank == 0:
    print("done: micro %d accum %d" % (args.batch_size, args.grad_accum))
"""

# Trains by itself on each rank; what counts its steps is the hook.
TORCH = """\
import argparse, torch
parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int)
parser.add_argument("--grad-accum", type=int)
args = parser.parse_args()
model = torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(40):
    for _ in range(args.grad_accum):
        model(torch.ones(args.batch_size, 64)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""

OPTIONS = ["--device", "host", "--headroom", "2M", "--confirm-steps", "3"]
SRUN = ["srun", "-N", "2", "-n", "4", "--ntasks-per-node", "2"]
SIZES = ["--batch-size", "2", "--grad-accum", "16"]
# The node of ranks 2 and 3 holds four times the micro-batch and two bare
# interpreters: 16 fits in 120 MiB, 32 does not; it would if all nodes were
# like the other one, and 16 would not if the nodes were added up.
MEMORY = ["--memory", "120M"]


def processes_of(place):
    """Those that carry the home of this place, but autofit and srun."""
    mark = ("AUTOFIT_HOME=" + place.path("home")).encode()
    found = []
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(path, "rb") as file:
                if mark not in file.read().split(b"\0"):
                    continue
            with open(os.path.dirname(path) + "/cmdline", "rb") as file:
                found.append((int(path.split("/")[2]),
                              file.read().split(b"\0")))
        except OSError:
            continue
    return found


def ranks_of(place):
    return [pid for pid, words in processes_of(place)
            if words[0].endswith(b"python3") and b"rank.py" in words]


def left_behind(place):
    """What stays of probes, on the nodes and where they are kept."""
    found = []
    for folder in (place.path("tmp"), place.path("home", "scratch")):
        if os.path.isdir(folder):
            found += os.listdir(folder)
    return found


def worst_node(place, inside):
    inside(place, 4)
    tuned = place.run("tune", *OPTIONS, *MEMORY, "--", *SRUN,
                      "/usr/bin/python3", "rank.py", *SIZES)
    if not equal("worst node: exit", tuned.status, 0):
        print(tuned)
        return
    best = tuned.result["recommended"]
    equal("worst node: sizes", (best["micro_batch"], best["grad_accum"],
                                best["world_size"]), (16, 2, 4))
    fit = [p for p in tuned.probes if p["micro_batch"] == 16][-1]
    check("worst node: the sum of its ranks", 64 * lib.MIB <
          fit["peak_bytes"] < 110 * lib.MIB, fit)
    more = [p for p in tuned.probes if p["micro_batch"] == 32]
    equal("worst node: the next size was tried",
          {p["verdict"] for p in more}, {"over_budget"})
    holds("worst node: the argv is that of the user",
          " ".join(best["argv"]), r"^srun -N 2 -n 4 --ntasks-per-node 2 /usr/bin/python3 rank.py "
          "--batch-size 16 --grad-accum 2$")
    ran = place.run(*OPTIONS, *MEMORY, "--", *SRUN, "/usr/bin/python3",
                    "rank.py", *SIZES)
    equal("worst node: a launch becomes srun",
          (ran.status, ran.result["outcome"], ran.out.splitlines()[-1]),
          (0, "reused", "done: micro 16 accum 2"))
    equal("worst node: nothing is left on the nodes", left_behind(place), [])


def a_rank_fails(place, inside):
    inside(place, 4)
    failed = place.run("tune", *OPTIONS, *MEMORY, "--", *SRUN,
                       "/usr/bin/python3", "rank.py", *SIZES, "--fails", "2")
    equal("a rank fails: exit", failed.status, 121)
    holds("a rank fails: its words", failed.err, "rank 2: this is wrong")
    equal("a rank fails: none is left", ranks_of(place), [])


def hook(place, inside):
    if not lib.has_modules("/usr/bin/python3", "torch"):
        print("# no torch: the hook is not seen on two nodes")
        return
    inside(place, 2)
    tuned = place.run("tune", *OPTIONS, "--memory", "1500M", "--max-micro",
                      "4", "--", "srun", "-N", "2", "-n", "2",
                      "/usr/bin/python3", "train.py", *SIZES)
    if not equal("hook: exit", tuned.status, 0):
        print(tuned)
        return
    equal("hook: it counts the steps of ranks on two nodes",
          tuned.result["evidence"]["steps_source"], "hook")
    equal("hook: ranks", tuned.result["recommended"]["world_size"], 2)


def own_processes(place, with_keeper=False):
    """autofit's; a keeper is known by its name."""
    found = []
    for pid, words in processes_of(place):
        try:
            with open("/proc/%d/comm" % pid, encoding="utf-8") as file:
                is_keeper = file.read().strip() == "autofit-keeper"
        except OSError:  # it has ended
            continue
        if words[0] == lib.AUTOFIT.encode() and b"tune" in words and (
                with_keeper or not is_keeper):
            found.append(pid)
    return found


def killed(place, inside):
    """autofit is gone, and the ranks end; so they do after a signal. At night
    its keeper is killed with it: then nobody tells them to end."""
    inside(place, 4)
    ways = [("killed", signal.SIGKILL, False),
            ("interrupted", signal.SIGINT, False)]
    if os.environ.get("AUTOFIT_NIGHTLY"):
        ways.append(("killed with its keeper", signal.SIGKILL, True))
    for name, number, with_keeper in ways:
        night = place.start("tune", "--fresh", *OPTIONS, *MEMORY, "--", *SRUN,
                            "/usr/bin/python3", "rank.py", *SIZES, "--hold",
                            "600")
        there = lib.wait_for(lambda: len(ranks_of(place)) >= 4, 60)
        check(name + ": the ranks run", there)
        for pid in own_processes(place, with_keeper):
            os.kill(pid, number)
        night.communicate(timeout=lib.PATIENCE)
        check(name + ": no rank is left on any node",
              lib.wait_for(lambda: not ranks_of(place), 180),
              ranks_of(place))
        # Of a keeper that was killed too, the next start removes it.
        check(name + ": nor a file", with_keeper or lib.wait_for(
            lambda: not left_behind(place)), left_behind(place))


def stopped(place, inside):
    """Ctrl-Z stops the ranks of all nodes, fg lets them go on."""
    def states():
        found = []
        for pid in ranks_of(place):
            try:
                with open("/proc/%d/stat" % pid, encoding="utf-8") as file:
                    found.append(file.read().rsplit(")", 1)[1].split()[0])
            except OSError:
                found.append("gone")
        return set(found)

    inside(place, 4)
    # In a session with its parent, as a shell's job: others cannot be stopped
    # from a keyboard.
    process = subprocess.Popen(
        [*place.prefix, lib.AUTOFIT, "tune", *OPTIONS, *MEMORY, "--",
         *SRUN, "/usr/bin/python3", "rank.py", *SIZES, "--hold", "2"],
        cwd=place.folder, env=place.env, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        preexec_fn=lambda: os.setpgid(0, 0))
    lib.wait_for(lambda: len(ranks_of(place)) >= 4, 60)
    pids = own_processes(place)
    for pid in pids:
        os.kill(pid, signal.SIGTSTP)
    check("stopped: all ranks", lib.wait_for(lambda: states() == {"T"}, 60),
          states())
    for pid in pids:
        os.kill(pid, signal.SIGCONT)
    process.communicate(timeout=lib.PATIENCE)
    equal("stopped: goes on to its end", process.returncode, 0)

PARTS = (worst_node, a_rank_fails, hook, killed, stopped)


def each(parts, inside):
    """inside(place, tasks): what the place starts is in an allocation."""
    for part in parts:
        with lib.Place("ranks") as place:
            place.write("rank.py", RANK)
            place.write("train.py", TORCH)
            os.makedirs(place.path("tmp"))
            place.env["TMPDIR"] = place.path("tmp")
            part(place, inside)


# ------------------------------------------------------------- the stand-in

# Asks the test to start the ranks, passes their output on, and ends as they do.
SRUN_PROGRAM = """\
#!/usr/bin/python3
import json, os, signal, sys, time
root = os.environ["STAND_IN"]
words, said = sys.argv[1:], {}
while words and words[0] in ("-N", "-n", "--ntasks-per-node"):
    said[words[0]] = int(words[1])
    words = words[2:]
name = os.path.join(root, "%d" % os.getpid())
with open(name + ".new", "w") as file:
    json.dump({"argv": words, "env": dict(os.environ), "cwd": os.getcwd(),
               "nodes": said["-N"], "tasks": said["-n"]}, file)

def cancel(*_):
    open(name + ".cancel", "w").close()

for number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(number, cancel)
open(name + ".out", "w").close()
with open(name + ".out", "rb") as out:
    os.rename(name + ".new", name + ".wanted")
    while True:
        is_over = os.path.exists(name + ".status")
        text = out.read()
        sys.stdout.buffer.write(text)
        sys.stdout.flush()
        if is_over and not text:
            break
        time.sleep(0.02)
with open(name + ".status") as file:
    sys.exit(int(file.read()))
"""


class Daemons(threading.Thread):
    """What starts the ranks, in place of Slurm's daemons."""

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.folder, self.steps, self.ends = folder, {}, False

    def run(self):
        while not self.ends:
            for name in os.listdir(self.folder):
                path = os.path.join(self.folder, name[:name.rindex(".")])
                if name.endswith(".wanted"):
                    os.rename(path + ".wanted", path + ".taken")
                    self.steps[path] = self.start_step(path)
                elif name.endswith(".cancel"):
                    os.unlink(path + ".cancel")
                    for rank in self.steps.get(path, ()):
                        rank.terminate()
            for path in list(self.steps):
                self.look_at(path)
            threading.Event().wait(0.02)

    @staticmethod
    def start_step(path):
        with open(path + ".taken", encoding="utf-8") as file:
            wanted = json.load(file)
        ranks = []
        with open(path + ".out", "ab") as out:
            for rank in range(wanted["tasks"]):
                node = rank * wanted["nodes"] // wanted["tasks"]
                env = dict(wanted["env"], SLURM_PROCID=str(rank),
                           SLURM_STEP_NUM_TASKS=str(wanted["tasks"]),
                           SLURMD_NODENAME="node-%d" % node)
                # The folder of probes is one that this node does not see.
                if node == 1 and "NOT_SHARED" in env:
                    env["AUTOFIT_RANKS"] += "-elsewhere"
                ranks.append(subprocess.Popen(
                    wanted["argv"], cwd=wanted["cwd"], stdout=out, stderr=out,
                    stdin=subprocess.DEVNULL, start_new_session=True, env=env))
        return ranks

    def look_at(self, path):
        ends = [rank.poll() for rank in self.steps[path]]
        if None in ends:
            return
        worst = max(abs(end) for end in ends)
        with open(path + ".status.new", "w", encoding="utf-8") as file:
            file.write(str(min(worst, 255)))
        os.rename(path + ".status.new", path + ".status")
        del self.steps[path]


def not_shared(place, inside):
    """A node that does not see the folder: said, with the remedy."""
    inside(place, 4)
    place.env["NOT_SHARED"] = "1"
    failed = place.run("tune", *OPTIONS, *MEMORY, "--", *SRUN,
                       "/usr/bin/python3", "rank.py", *SIZES)
    equal("not shared: exit", failed.status, 121)
    holds("not shared: the remedy", failed.err, "2 of its ranks did not report "
          "what they use: the folder of probes must be one that all nodes see")
    with open(failed.probes[0]["log"], encoding="utf-8") as file:
        holds("not shared: what those ranks said", file.read(),
              "ranks-elsewhere cannot be reached from node node-1")


def with_stand_in():
    with lib.Place("srun") as slurm:
        path = slurm.write("bin/srun", SRUN_PROGRAM)
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        os.makedirs(slurm.path("steps"))
        daemons = Daemons(slurm.path("steps"))
        daemons.start()

        def inside(place, _):
            place.env.update(
                PATH=slurm.path("bin") + ":" + os.environ["PATH"],
                STAND_IN=slurm.path("steps"), SLURM_JOB_ID="7",
                SLURMD_NODENAME="node-0")

        try:
            # A part may be named.
            each([part for part in (*PARTS, not_shared)
                  if part.__name__ in (sys.argv[1:] or [part.__name__])],
                 inside)
        finally:
            daemons.ends = True
            daemons.join()


if __name__ == "__main__":
    with_stand_in()
    lib.finish()
