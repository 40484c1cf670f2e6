#!/usr/bin/env python3
# Autofit, its keeper or both are killed at random moments of what they do.
# SPDX-License-Identifier: MIT
# CTEST COST 80
"""kill_storm.py [SEED [ROUND]]

Each round starts autofit in a fresh AUTOFIT_HOME - to tune or to launch, for
root or for another user - and sends SIGKILL at a random moment:

- to autofit, to the keeper of a probe or to both, anywhere in a tuning;
- to autofit while it writes the record, after the last probe;
- to one of two starts of one command, of which the second waits for the first.

Probes are kept apart by a view, where there can be one; they write into their
folder and into /dev/shm. What must hold then:

- one of them killed: no process of the probe 2 s later; both: none after the
  next start;
- no record is torn at any time;
- the next start (a killed keeper: the same one; a killed holder: who waits)
  gives the answer of an undisturbed run, by the same sizes, repeats no probe
  that the journal has, and is not kept waiting by what a dead one held;
- nothing is left: no process, mount, cgroup, scratch folder, journal, lease, or
  file in the folder or in /dev/shm;
- a child that was there before autofit lives on, and its exit status arrives,
  also when it ends while autofit runs.

AUTOFIT_NIGHTLY=1 plays twenty times as many rounds. With ROUND only that one is
played, and its folder is kept.
"""
import collections
import ctypes
import itertools
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # nothing new beside this file
sys.path.append(os.path.join(os.path.dirname(__file__), "helpers"))

from storm import (  # noqa: E402
    COARSE_POLL_SECONDS, END_SECONDS, FINE_POLL_SECONDS, Place,
    Wrong, describe, keeper_of, kill, mounts, names_in, processes_with, until)

PR_SET_CHILD_SUBREAPER = 36
# LEASE_STALE_MS, after which nothing of a dead one counts; and being slow.
# Moments are drawn from this part of an undisturbed run.
LAST_MOMENT = 0.95
NIGHTLY = 20
# Only probes leave something in their folder and in shared memory, and have
# workers, which nobody would end when it is the command itself that is killed.
SCRIPT = """\
#!/bin/sh
if [ -n "$AUTOFIT_PROBE" ]; then
	: >"written-$AUTOFIT_PROBE"
	: >"/dev/shm/$STORM-$AUTOFIT_PROBE"
	set -- "$@" --workers 2 --worker-mib 0
fi
exec "$@"
"""

# users: for whom autofit is started. kills: rounds by what is killed. done: a
# word of each line by which a run of the command ends.
Storm = collections.namedtuple(
    "Storm", "autofit command options users kills jobs done")
Round = collections.namedtuple(
    "Round", "number scene victim user launch moment status early swap")
Reference = collections.namedtuple(
    "Reference", "answer path seconds tail isolation")

SCENES = {
    "autofit": ("tune", ["autofit"]),
    "keeper": ("tune", ["keeper"]),
    "both": ("tune", ["both"]),
    "record": ("record", ["autofit"]),
    "wait": ("wait", ["holder", "holder", "waiter", "both"]),
}


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


# ---------------------------------------------------- what nobody disturbs


def undisturbed(task):
    """The Reference of a start that nobody kills."""
    storm, user, launch = task
    place = Place(storm, Round(0, "", "", user, launch, 0, 1, False, False))
    try:
        start = place.start()
        done = [start.begun]

        def look():
            if len(place.journal()) >= len(done):
                done.append(time.monotonic())
            return not start.is_autofit()

        until(look, END_SECONDS, FINE_POLL_SECONDS)
        ended = time.monotonic()
        if start.end() != 0:
            raise Wrong("undisturbed run: exit %d" % start.end())
        result = start.result()
        if place.leftovers():
            raise Wrong("undisturbed: left %s" % place.leftovers())
        path = path_of(result)
        # A last line that went unseen was there for next to no time.
        tail = ended - done[-1] if len(done) > len(path) else 0.0
        return Reference(answer_of(result), path, ended - start.begun, tail,
                         result["isolation"])
    finally:
        place.remove()


def references_of(pool, storm):
    """By user and kind of start; as many at once as there will be rounds, so
    that times compare.
    """
    found = {}
    for user, launch in itertools.product(storm.users, (False, True)):
        runs = pool.map(undisturbed, [(storm, user, launch)] * storm.jobs,
                        chunksize=1)
        first = runs[0]
        for run in [*runs[1:], found.get((storm.users[0], launch), first)]:
            if run[:2] != first[:2]:
                sys.exit("undisturbed runs differ: %s" % ([first, run],))
        found[user, launch] = first._replace(
            seconds=min(run.seconds for run in runs),
            tail=max(run.tail for run in runs))
        print("undisturbed %s for user %d: %.2f s, %s, micro %d accum %d, "
              "probes %s" % (
                  "launch" if launch else "tuning", user,
                  found[user, launch].seconds, first.isolation,
                  first.answer[0], first.answer[1], first.path), flush=True)
    return found


# --------------------------------------------------------------- the kills


def wait_for_moment(start, end):
    until(lambda: start.has_ended() or time.monotonic() > end, END_SECONDS)


def kill_all(pids, swap):
    """When it was."""
    killed = time.monotonic()
    for pid in reversed(pids) if swap else pids:
        kill(pid)
    return killed


def find_keeper(place, start):
    """[keeper, id of its probe]; [] when autofit has ended before."""
    found = []

    def keeper_with_probe():
        probe = place.probe_id()
        keeper = keeper_of(start.pid)
        if probe and keeper and place.probe_id() == probe:
            found[:] = [keeper, probe]
        return found or start.has_ended()

    until(keeper_with_probe, END_SECONDS)
    return found


def gone(entry, killed):
    """Seconds since the kill until no process has the entry."""
    if not until(lambda: not processes_with(entry),
                 END_SECONDS,
                 COARSE_POLL_SECONDS):
        raise Wrong("%.0f s later there are still %s" % (
            END_SECONDS, describe(processes_with(entry))))
    return time.monotonic() - killed


def check_end(place, start, reference):
    """A start that comes to its end, with the right answer."""
    code = start.end()
    if code != 0:
        raise Wrong("exit %d after the kill" % code)
    result = start.result()
    if result["outcome"] not in ("tuned", "reused"):
        raise Wrong("outcome %s" % result["outcome"])
    if answer_of(result) != reference.answer:
        raise Wrong("answer %s, not %s" % (answer_of(result),
                                           reference.answer))
    if path_of(result) != reference.path:
        raise Wrong("probes %s, not %s" % (path_of(result), reference.path))
    if start.runs(place.storm.done) != place.play.launch:
        raise Wrong("the command ran %d times" % start.runs(place.storm.done))
    return result


def check_left(place, result, reference):
    place.no_torn_record()
    left = place.leftovers()
    # Killed right after the record was written, it leaves its journal and its
    # lease to the next tuning.
    if left and result["outcome"] == "reused":
        check_end(place, place.start(options=["--fresh"]), reference)
        left = place.leftovers()
    if left:
        raise Wrong("left behind: %s" % left)


def check_goes_on(place, start, before, reference):
    """Its probes are those of the journal (before: and all logs), then new
    ones."""
    journal, logs = before
    result = check_end(place, start, reference)
    told = [probe["log"] for probe in result["probes"]]
    new = place.logs() - logs
    if result["outcome"] == "reused":
        if new:
            raise Wrong("probes after a record: %s" % new)
    elif told[: len(journal)] != journal or set(told[len(journal):]) != new:
        raise Wrong("repeated: journal %s, then %s, result %s" % (
            journal, sorted(new), told))
    return result


def next_start(place, reference):
    """After autofit was killed, and all that depends on it is gone."""
    place.no_torn_record()
    before = place.journal(), place.logs()
    start = place.start()
    result = check_goes_on(place, start, before, reference)
    check_left(place, result, reference)


def kill_autofit(place, start, reference):
    if not start.is_autofit():
        return None  # it has become the command
    place.probe_id()
    killed = kill_all([start.pid], False)
    if start.end() != -signal.SIGKILL:
        return None
    took = gone(place.mark, killed)
    next_start(place, reference)
    return took


def play_tune(place, start, reference, moment):
    """Seconds until the probe was gone; None when the kill came too late."""
    wait_for_moment(start, start.begun + moment * reference.seconds)
    if place.play.victim == "autofit":
        return kill_autofit(place, start, reference)
    found = find_keeper(place, start)
    if not found:
        return None
    if place.play.victim == "both":
        kill_all([found[0], start.pid], place.play.swap)
        if start.end() != -signal.SIGKILL:
            return None
        next_start(place, reference)
        return 0.0
    killed = kill_all(found[:1], False)
    took = gone(b"AUTOFIT_PROBE=" + found[1].encode(), killed)
    result = check_end(place, start, reference)
    if disturbed_of(result) > 1:
        raise Wrong("more than one probe was lost")
    check_left(place, result, reference)
    return took


def play_record(place, start, reference, moment):
    """Killed between the last probe and the end of the tuning."""
    probes = len(reference.path)
    until(lambda: len(place.journal()) >= probes or start.has_ended(),
          END_SECONDS, FINE_POLL_SECONDS)
    end = time.monotonic() + moment * reference.tail
    while time.monotonic() < end:
        pass  # a few milliseconds in all
    return kill_autofit(place, start, reference)


def play_wait(place, start, reference, moment):
    """Two starts of one command: who is killed does not hold up the other."""
    until(lambda: names_in(place.home, "leases") or start.has_ended(),
          END_SECONDS)
    waiter = place.start()
    until(lambda: waiter.is_waiting() or start.has_ended(), END_SECONDS)
    wait_for_moment(start, start.begun + moment * reference.seconds)
    if not (start.is_autofit() and waiter.is_waiting()):
        return None
    before = place.journal(), place.logs()
    if place.play.victim == "waiter":
        killed = kill_all([waiter.pid], False)
        if waiter.end() != -signal.SIGKILL:
            return None
        result = check_end(place, start, reference)
        if disturbed_of(result):
            raise Wrong("killing who waits disturbed a probe")
        check_left(place, result, reference)
        return time.monotonic() - killed
    if place.play.victim == "holder":
        killed = kill_all([start.pid], False)
        if start.end() != -signal.SIGKILL:
            return None
        after = place.journal()
        # A probe may have been finished between the look and the kill.
        before = after, before[1] | set(after)
        result = check_goes_on(place, waiter, before, reference)
        check_left(place, result, reference)
        return time.monotonic() - killed
    killed = kill_all([start.pid, waiter.pid], place.play.swap)
    if {start.end(), waiter.end()} != {-signal.SIGKILL}:
        return None
    took = gone(place.mark, killed)
    next_start(place, reference)
    return took


PLAYS = {"tune": play_tune, "record": play_record, "wait": play_wait}


def once(storm, play, reference, moment, keep):
    place = Place(storm, play)
    try:
        start = place.start(bystander=True)
        if play.early:
            place.bystander.tell_to_end()
        took = PLAYS[play.scene](place, start, reference, moment)
        if took is None:
            return None
        place.nothing_runs()
        place.bystander.finish()
        return took
    finally:
        if keep:
            print("kept: " + place.folder)
        else:
            place.remove()


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


def draw_rounds(storm, seed):
    numbers = random.Random(seed)
    times = NIGHTLY if os.environ.get("AUTOFIT_NIGHTLY") == "1" else 1
    names = [name for name, count in storm.kills.items()
             for _ in range(count * times)]
    numbers.shuffle(names)
    rounds = []
    for i, name in enumerate(names):
        scene, victims = SCENES[name]
        rounds.append(Round(
            i, scene, numbers.choice(victims), numbers.choice(storm.users),
            numbers.random() < 0.5, numbers.uniform(0, LAST_MOMENT),
            numbers.randrange(1, 256), numbers.random() < 0.5,
            numbers.random() < 0.5))
    return rounds


def run_storm(storm, arguments):
    """The exit status of the test."""
    seed = int(arguments[0]) if arguments else random.SystemRandom().getrandbits(32)
    only = int(arguments[1]) if len(arguments) > 1 else None
    print("seed %d" % seed, flush=True)
    rounds = [play for play in draw_rounds(storm, seed)
              if only in (None, play.number)]
    wrong = 0
    slowest = collections.Counter()
    before = mounts()
    context = multiprocessing.get_context("fork")
    with context.Pool(storm.jobs, become_subreaper) as pool:
        try:
            references = references_of(pool, storm)
        except Wrong as fault:
            sys.exit("NOT OK - %s" % fault)
        tasks = [(storm, play, references[play.user, play.launch],
                  only is not None)
                 for play in rounds]
        for play, took, what in pool.imap_unordered(play_round, tasks):
            slowest[play.victim] = max(slowest[play.victim], took)
            if what:
                wrong += 1
                print("NOT OK - round %d, %s at %.0f%% of %s for user %d: %s"
                      % (play.number, play.victim, 100 * play.moment,
                         "the launch" if play.launch else "the tuning",
                         play.user, what), flush=True)
    if mounts() - before:
        wrong += 1
        print("NOT OK - mounted: %s" % (mounts() - before))
    print("%d rounds, %d wrong; a probe was gone at most %s s after" % (
        len(rounds), wrong, ", ".join(
            "%.2f (%s)" % (slowest[name], name)
            for name in ("autofit", "keeper"))))
    return 1 if wrong else 0


def another_user():
    """[one that nobody else has], where root can become that."""
    user = 300000 + os.getpid()
    try:
        subprocess.run(["true"], check=True, user=user, group=user,
                       extra_groups=[])
    except (OSError, ValueError):
        print("for no other user: not root, or too few users in a container")
        return []
    return [user]


def main():
    with tempfile.TemporaryDirectory(prefix="kill_storm-stage-") as stage:
        # Where every user can reach it.
        os.chmod(stage, 0o755)
        script = os.path.join(stage, "train.sh")
        with open(script, "w", encoding="ascii") as file:
            file.write(SCRIPT)
        os.chmod(script, 0o755)
        # 4 MiB a sample, next to nothing in workers that may be slow to start,
        # and a limit in the middle between two sizes: far from what differs
        # between two runs. No size that is asked for is over the budget, where
        # the kernel's killer would add its own delay.
        command = [script, shutil.copy(os.environ["TRAINER"], stage),
                   "--batch-size", "2", "--grad-accum", "2", "--steps", "12",
                   "--step-ms", "20", "--fixed-mib", "3", "--per-sample-kib",
                   "4096"]
        options = ["--device", "host", "--memory", "32200KiB", "--headroom",
                   "6MiB", "--confirm-steps", "3", "--max-micro", "6"]
        users = [os.geteuid(), *another_user()]
        kills = {"autofit": 13, "keeper": 10, "both": 8, "record": 9,
                 "wait": 10}
        return run_storm(
            Storm(shutil.copy(os.environ["AUTOFIT"], stage), command, options,
                  users, kills, 4, b"done: "), sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
