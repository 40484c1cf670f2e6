#!/usr/bin/env python3
# Autofit, its keeper or both are killed at random moments of tunings.
# SPDX-License-Identifier: MIT
# CTEST RUN_SERIAL ON
"""kill_storm.py [SEED [ROUND]]

Each round starts a tuning in a fresh AUTOFIT_HOME and sends SIGKILL at a random
moment. What must hold then:

- one of them killed: no process of the probe 2 s later; both: none after the
  next start;
- the next start (a killed keeper: the same one, which goes on) gives the answer
  of an undisturbed run, by the same sizes, and repeats no probe that the
  journal has;
- nothing is left in scratch, journals and cgroups;
- a child that was there before autofit lives on, and its exit status arrives,
  also when it ends while autofit runs.

With ROUND only that one is played, and its folder is kept.
"""
import collections
import contextlib
import ctypes
import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PR_SET_CHILD_SUBREAPER = 36
GONE_SECONDS = 2.0
END_SECONDS = 120.0
POLL_SECONDS = 0.002
# Moments are drawn from this part of an undisturbed run.
LAST_MOMENT = 0.95

Storm = collections.namedtuple("Storm", "command options kills jobs")
Round = collections.namedtuple("Round", "number victim moment status early swap")


class Wrong(Exception):
    """A round that showed what must not be."""


def until(condition, seconds):
    """What condition gives once it is true; what it gave last, when late."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(POLL_SECONDS)


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def processes_with(entry):
    """Living processes that have the entry in their environment."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and entry in read("/proc/%s/environ" % name).split(
            b"\0"
        ):
            found.append(int(name))
    return found


def children_of(pid):
    return read("/proc/%d/task/%d/children" % (pid, pid)).split()


def keeper_of(pid):
    for child in children_of(pid):
        if read("/proc/%s/comm" % child.decode()) == b"autofit-keeper\n":
            return int(child)
    return None


def kill(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def cgroups_left(ids):
    """Folders of the probes' own cgroups that are still there."""
    left = []
    for line in read("/proc/self/cgroup").decode().splitlines():
        _, controllers, path = line.split(":", 2)
        for root in ("/sys/fs/cgroup", "/sys/fs/cgroup/" + controllers,
                     "/sys/fs/cgroup/unified"):
            for probe in ids:
                folder = "%s%s/autofit-%s" % (root, path.rstrip("/"), probe)
                if os.path.isdir(folder):
                    left.append(folder)
    return left


class Bystander:
    """A child of autofit that was there before it; ends with its status."""

    # In the shell's words, before it becomes autofit; without AUTOFIT_HOME, by
    # which what autofit starts is known.
    SHELL = (
        'env -u AUTOFIT_HOME sh -c \'read -r code <"$0"; exit "$code"\' '
        '"$BYSTANDER" & echo $! >"$BYSTANDER.pid"; exec "$@"'
    )

    def __init__(self, folder, status):
        self.status = status
        self.path = os.path.join(folder, "bystander")
        self.was_told = False
        os.mkfifo(self.path)

    def pid(self):
        text = read(self.path + ".pid")
        return int(text) if text.endswith(b"\n") else None

    def _speak(self):
        try:
            fd = os.open(self.path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return False
        os.write(fd, b"%d\n" % self.status)
        os.close(fd)
        return True

    def tell_to_end(self):
        if not until(self._speak, 5):
            raise Wrong("the child from before autofit is dead")
        self.was_told = True

    def finish(self):
        """Once autofit is gone, its children are the test's."""
        pid = self.pid()
        ends = []

        def ended():
            ends[:] = os.waitpid(pid, os.WNOHANG)
            return ends[0]

        if not self.was_told:
            self.tell_to_end()
        try:
            if not until(ended, 5):
                raise Wrong("the child from before autofit does not end")
        except ChildProcessError:
            raise Wrong("the child from before autofit was reaped") from None
        if ends[1] != self.status << 8:
            raise Wrong("the child from before autofit ended with %d" % ends[1])


class Tuning:
    """A folder of its own, and starts of autofit in it."""

    def __init__(self, storm, status):
        self.storm = storm
        self.folder = tempfile.mkdtemp(prefix="kill_storm-")
        self.home = os.path.join(self.folder, "home")
        self.mark = b"AUTOFIT_HOME=" + os.fsencode(self.home)
        self.bystander = Bystander(self.folder, status)
        self.starts = 0
        self.result_path = None
        self.probes_seen = set()

    def start(self, bystander):
        self.starts += 1
        stem = os.path.join(self.folder, "start-%d" % self.starts)
        self.result_path = stem + ".json"
        command = [os.environ["AUTOFIT"], "tune", *self.storm.options,
                   "--json", self.result_path, "--", *self.storm.command]
        if bystander:
            command = ["sh", "-c", Bystander.SHELL, "sh", *command]
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("AUTOFIT")}
        environment.update(AUTOFIT_HOME=self.home,
                           BYSTANDER=self.bystander.path)
        with open(stem + ".log", "wb") as log:
            return subprocess.Popen(
                command, env=environment, cwd=self.folder, stdout=log,
                stderr=log, stdin=subprocess.DEVNULL)

    def result(self):
        with open(self.result_path, encoding="utf-8") as file:
            return json.load(file)

    def probe_id(self):
        """Of the probe under way, as the lock tells."""
        folder = os.path.join(self.home, "locks")
        with contextlib.suppress(OSError):
            for name in os.listdir(folder):
                for line in read(os.path.join(folder, name)).split(b"\n"):
                    if line.startswith(b"probe_id=") and len(line) > 9:
                        probe = line[9:].decode()
                        self.probes_seen.add(probe)
                        return probe
        return None

    def journal(self):
        """The probes that need not be repeated, by their logs."""
        folder = os.path.join(self.home, "journals")
        names = os.listdir(folder) if os.path.isdir(folder) else []
        done = []
        for name in names:
            text = read(os.path.join(folder, name))
            for line in text[: text.rfind(b"\n") + 1].splitlines()[1:]:
                done.append(json.loads(line)["log"])
        return done

    def logs(self):
        found = []
        for folder, _, names in os.walk(os.path.join(self.home, "logs")):
            found += [os.path.join(folder, name) for name in names]
        return set(found)

    def leftovers(self, outcome):
        """What a tuning that came to its end may not leave."""
        left = cgroups_left(self.probes_seen)
        # Killed right after the record was written, it leaves its journal.
        for name in ("scratch", "journals")[: 1 + (outcome == "tuned")]:
            folder = os.path.join(self.home, name)
            if os.path.isdir(folder):
                left += [os.path.join(folder, x) for x in os.listdir(folder)]
        return left + processes_with(self.mark)

    def remove(self):
        for pid in processes_with(self.mark):
            kill(pid)
        if self.bystander.pid():
            kill(self.bystander.pid())
        with contextlib.suppress(ChildProcessError):
            until(lambda: os.waitpid(-1, os.WNOHANG) == (0, 0), 5)
        shutil.rmtree(self.folder)


def end_of(process):
    try:
        return process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        raise Wrong("autofit does not end") from None


def answer_of(result):
    best, evidence = result["recommended"], result["evidence"]
    return (best["micro_batch"], best["grad_accum"], best["effective_batch"],
            result["largest_micro_batch"], evidence["largest_fit"],
            evidence["smallest_misfit"])


def path_of(result):
    """Sizes in the order they were asked for; lost probes are no answer."""
    return [(probe["micro_batch"], probe["grad_accum"],
             probe["verdict"] == "fits")
            for probe in result["probes"] if probe["verdict"] != "disturbed"]


def disturbed_of(result):
    return sum(probe["verdict"] == "disturbed" for probe in result["probes"])


def undisturbed(storm):
    """(answer, path, seconds) of a run that nobody kills."""
    tuning = Tuning(storm, 1)
    begun = time.monotonic()
    code = end_of(tuning.start(bystander=False))
    seconds = time.monotonic() - begun
    try:
        if code != 0:
            raise Wrong("undisturbed run: exit %d" % code)
        result = tuning.result()
        if tuning.leftovers("tuned"):
            raise Wrong("undisturbed: left %s" % tuning.leftovers("tuned"))
        return answer_of(result), path_of(result), seconds
    finally:
        tuning.remove()


def wait_for_autofit(process):
    comm = "/proc/%d/comm" % process.pid
    if not until(lambda: read(comm) == b"autofit\n", 10):
        raise Wrong("autofit does not start")


def strike(tuning, process, play, seconds):
    """Kill at the moment: (id of the keeper's probe, when it was); None: late.
    """
    end = time.monotonic() + play.moment * seconds
    until(lambda: process.poll() is not None or time.monotonic() > end,
          END_SECONDS)
    if play.victim == "autofit":
        tuning.probe_id()
        killed = time.monotonic()
        kill(process.pid)
        return None, killed
    found = []

    def keeper_with_probe():
        probe = tuning.probe_id()
        keeper = keeper_of(process.pid)
        if probe and keeper and tuning.probe_id() == probe:
            found[:] = [keeper, probe]
        return found or process.poll() is not None

    until(keeper_with_probe, END_SECONDS)
    if not found:
        return None
    victims = [found[0]]
    if play.victim == "both":
        victims.append(process.pid)
    killed = time.monotonic()
    for pid in reversed(victims) if play.swap else victims:
        kill(pid)
    return found[1], killed


def describe(pids):
    return ["%d (%s)" % (
        pid, read("/proc/%d/cmdline" % pid).replace(b"\0", b" ").decode())
        for pid in pids]


def gone(entry, killed):
    """Seconds since the kill until no process has the entry."""
    if not until(lambda: not processes_with(entry),
                 killed + GONE_SECONDS - time.monotonic()):
        raise Wrong("%.0f s later there are still %s" % (
            GONE_SECONDS, describe(processes_with(entry))))
    return time.monotonic() - killed


def check_end(tuning, code, reference):
    if code != 0:
        raise Wrong("exit %d after the kill" % code)
    result = tuning.result()
    if result["outcome"] not in ("tuned", "reused"):
        raise Wrong("outcome %s" % result["outcome"])
    answer, path, _ = reference
    if answer_of(result) != answer:
        raise Wrong("answer %s, not %s" % (answer_of(result), answer))
    if path_of(result) != path:
        raise Wrong("probes %s, not %s" % (path_of(result), path))
    left = tuning.leftovers(result["outcome"])
    if left:
        raise Wrong("left behind: %s" % left)
    return result


def go_on(tuning, reference):
    """The next start after autofit was killed."""
    journal = tuning.journal()
    before = tuning.logs()
    result = check_end(tuning, end_of(tuning.start(bystander=False)), reference)
    logs = [probe["log"] for probe in result["probes"]]
    new = tuning.logs() - before
    if result["outcome"] == "reused":
        if new:
            raise Wrong("probes after a record: %s" % new)
    elif logs[: len(journal)] != journal or set(logs[len(journal):]) != new:
        raise Wrong("repeated: journal %s, then %s, result %s" % (
            journal, sorted(new), logs))


def once(storm, play, reference, moment, keep):
    """Seconds until the probe was gone; None when the kill came too late."""
    tuning = Tuning(storm, play.status)
    try:
        process = tuning.start(bystander=True)
        wait_for_autofit(process)
        if play.early:
            tuning.bystander.tell_to_end()
        struck = strike(tuning, process, play._replace(moment=moment),
                        reference[2])
        if not struck:
            end_of(process)
            return None
        probe, killed = struck
        if play.victim == "keeper":
            took = gone(b"AUTOFIT_PROBE=" + probe.encode(), killed)
            result = check_end(tuning, end_of(process), reference)
            if disturbed_of(result) > 1:
                raise Wrong("more than one probe was lost")
            tuning.bystander.finish()
            return took
        if end_of(process) != -signal.SIGKILL:
            return None
        took = 0.0
        if play.victim == "autofit":
            took = gone(tuning.mark, killed)
        go_on(tuning, reference)
        tuning.bystander.finish()
        return took
    finally:
        if keep:
            print("kept: " + tuning.folder)
        else:
            tuning.remove()


def play_round(task):
    """(round, seconds until the probe was gone, what was wrong)."""
    storm, play, reference, keep = task
    moment = play.moment
    try:
        for _ in range(20):
            took = once(storm, play, reference, moment, keep)
            if took is not None:
                return play, took, None
            moment *= 0.8
        raise Wrong("no moment before its end was found")
    except Wrong as wrong:
        return play, 0.0, str(wrong)


def become_subreaper():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "PR_SET_CHILD_SUBREAPER")


def draw_rounds(kills, seed):
    numbers = random.Random(seed)
    victims = [name for name, count in kills.items() for _ in range(count)]
    numbers.shuffle(victims)
    return [Round(i, victim, numbers.uniform(0, LAST_MOMENT),
                  numbers.randrange(1, 256), numbers.random() < 0.5,
                  numbers.random() < 0.5)
            for i, victim in enumerate(victims)]


def reference_of(pool, storm):
    """As many at once as there will be rounds, so that times compare."""
    runs = pool.map(undisturbed, [storm] * storm.jobs, chunksize=1)
    for run in runs[1:]:
        if run[:2] != runs[0][:2]:
            sys.exit("undisturbed runs differ: %s" % (runs,))
    answer, path, _ = runs[0]
    seconds = min(run[2] for run in runs)
    print("undisturbed: %.2f s, micro %d accum %d, probes %s" % (
        seconds, answer[0], answer[1], path), flush=True)
    return answer, path, seconds


def run_storm(storm, arguments):
    """The exit status of the test."""
    seed = int(arguments[0]) if arguments else random.SystemRandom().getrandbits(32)
    only = int(arguments[1]) if len(arguments) > 1 else None
    print("seed %d" % seed, flush=True)
    rounds = [play for play in draw_rounds(storm.kills, seed)
              if only in (None, play.number)]
    wrong = 0
    slowest = collections.Counter()
    context = multiprocessing.get_context("fork")
    with context.Pool(storm.jobs, become_subreaper) as pool:
        reference = reference_of(pool, storm)
        tasks = [(storm, play, reference, only is not None) for play in rounds]
        for play, took, what in pool.imap_unordered(play_round, tasks):
            slowest[play.victim] = max(slowest[play.victim], took)
            if what:
                wrong += 1
                print("NOT OK - round %d, %s at %.0f%%: %s" % (
                    play.number, play.victim, 100 * play.moment, what),
                    flush=True)
    print("%d rounds, %d wrong; a probe was gone at most %s s after" % (
        len(rounds), wrong, ", ".join(
            "%.2f (%s)" % (slowest[name], name)
            for name in ("autofit", "keeper"))))
    return 1 if wrong else 0


def main():
    # 4 MiB a sample, and a limit in the middle between two sizes: far from what
    # differs between two runs. No size that is asked for is over the budget,
    # where the kernel's killer would add its own delay.
    command = [os.environ["TRAINER"], "--batch-size", "2", "--grad-accum", "2",
               "--steps", "50", "--step-ms", "20", "--fixed-mib", "1",
               "--per-sample-kib", "4096", "--workers", "2",
               "--worker-mib", "1"]
    options = ["--device", "host", "--memory", "32200KiB", "--headroom",
               "6MiB", "--confirm-steps", "3", "--max-micro", "6"]
    kills = {"autofit": 80, "keeper": 80, "both": 40}
    return run_storm(Storm(command, options, kills, 2), sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
