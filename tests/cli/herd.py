#!/usr/bin/env python3
# Many starts of one command, and several commands on one device.
# SPDX-License-Identifier: MIT
# CTEST COST 80
"""Every probe and every run is noted by helpers/noted.sh as it starts."""
import glob
import os
import signal
import sys
import threading

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import check, equal  # noqa: E402

sys.path.append(os.path.join(os.path.dirname(__file__), "helpers"))

from starts import NOTED, Notes, Start, read, seconds_since_boot  # noqa: E402

SIM = os.path.join(os.environ["BUILD"], "sim")
# probes/locks/lease.h; what a slow machine needs on top.
STALE_SECONDS = 6.0
HERD = 20
NOTE_BYTES = 1024


def training(step_ms, *more):
    """1 MiB a sample, and 16 of them are all."""
    return (
        [NOTED, lib.TRAINER, "--batch-size", "2", "--grad-accum", "8"]
        + ["--fixed-mib", "1", "--per-sample-kib", "1024", "--steps", "10"]
        + ["--step-ms", str(step_ms), *more]
    )


def options(notes):
    return (
        ["--device", "host", "--memory", "40MiB", "--headroom", "4MiB"]
        + ["--confirm-steps", "5", *notes.options(), "--"]
    )


def outcomes(answers):
    return sorted(a.result["outcome"] if a.result else "none" for a in answers)


def shown(answers):
    return "\n".join(map(str, answers))


def no_two_at_once(name, notes):
    equal(name + ": no two probes at one time", notes.lines("overlap"), [])


def leases(place):
    return glob.glob(place.path("home", "leases", "*"))


def twenty_starts():
    with lib.Place("herd") as place:
        notes = Notes(place)
        words = [*options(notes), *training(30)]
        starts = [Start(place, *words) for _ in range(HERD)]
        answers = [start.end() for start in starts]
        equal("herd: all end well", {a.status for a in answers}, {0})
        wanted = ["reused"] * (HERD - 1) + ["tuned"]
        check("herd: one tunes", outcomes(answers) == wanted, shown(answers))
        tuned = [a for a in answers if a.result["outcome"] == "tuned"]
        equal(
            "herd: no probe but those of the tuning",
            len({id for _, id, _ in notes.probes()}),
            sum(a.result["probe_count"] for a in tuned),
        )
        equal("herd: all run", len(notes.runs()), HERD)
        check(
            "herd: none runs before there is a record",
            all(int(run[1]) == 1 for run in notes.runs()),
            notes.runs(),
        )
        last = max(float(p[2]) for p in notes.probes())
        check(
            "herd: none runs before the last probe",
            all(float(run[2]) >= last for run in notes.runs()),
        )
        # Of the trainer: noted by all in the same words.
        check(
            "herd: all run with the same split",
            len({tuple(run[3:]) for run in notes.runs()}) == 1
            and all("--batch-size 16" in " ".join(r) for r in notes.runs()),
            notes.runs(),
        )
        no_two_at_once("herd", notes)
        equal("herd: no lease is left", leases(place), [])


def holder_is_killed():
    with lib.Place("herd") as place:
        notes = Notes(place)
        words = [*options(notes), *training(100)]
        holder = Start(place, *words)
        check("killed: a probe runs", lib.wait_for(notes.probes))
        waiters = [Start(place, *words) for _ in range(5)]
        all_wait = lib.wait_for(
            lambda: all(waiter.is_waiting() for waiter in waiters)
        )
        check("killed: the others wait", all_wait, waiters[0].err())
        check(
            "killed: they say for whom",
            "process %d " % holder.pid in waiters[0].err(),
            waiters[0].err(),
        )
        one_leaves(waiters.pop(), holder)
        is_busy(place, words)
        check("killed: the holder still tunes", not holder.has_ended())
        before = len(notes.probes())
        killed = seconds_since_boot()
        os.kill(holder.pid, signal.SIGKILL)
        holder.process.wait()
        taken = lib.wait_for(lambda: notes.probes()[before:])
        # A probe that had begun by then may be among them.
        check("killed: another takes over", taken)
        if taken:
            took = float(taken[-1][2]) - killed
            print("killed: another began after %.1f s" % took)
        answers = [waiter.end() for waiter in waiters]
        check(
            "killed: one tunes, the others reuse",
            outcomes(answers) == ["reused"] * 3 + ["tuned"],
            shown(answers),
        )
        equal("killed: all run", len(notes.runs()), 4)
        check(
            "killed: none runs before there is a record",
            all(int(run[1]) == 1 for run in notes.runs()),
        )
        no_two_at_once("killed", notes)
        equal("killed: no lease is left", leases(place), [])


def one_leaves(waiter, holder):
    """Ctrl-C in the terminal of one that waits."""
    waiter.send(signal.SIGINT)
    gone = lib.wait_for(waiter.has_ended)
    check("Ctrl-C: the waiter ends", gone, waiter.err())
    equal("Ctrl-C: by that signal", waiter.end().status, -signal.SIGINT)
    check("Ctrl-C: the holder goes on", not holder.has_ended())


def is_busy(place, words):
    begun = seconds_since_boot()
    answer = Start(place, "--no-wait", *words).end()
    took = seconds_since_boot() - begun
    print("--no-wait: after %.1f s" % took)
    equal("--no-wait: exit", answer.status, 123)
    equal("--no-wait: outcome", answer.result["outcome"], "refused")
    equal("--no-wait: nothing was started", answer.out, "")
    lib.holds("--no-wait: says why", answer.err, r"process \d+ on \S+")


class OtherMachine:
    """Holds a lease as its file would look from another machine."""

    def __init__(self, path):
        text = read(path)
        fields = [x for x in text.splitlines() if "=" in x]
        self.fields = dict(line.split("=", 1) for line in fields)
        self.fields.update(
            host="elsewhere", boot_id="0" * 36, token="0" * 32, beat="7"
        )
        self.path = path
        self.beaten = 0.0
        os.unlink(path)
        self.write()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.beat)
        self.thread.start()

    def write(self):
        text = "".join("%s=%s\n" % item for item in self.fields.items())
        text = (text + "end\n").ljust(NOTE_BYTES, "\n")
        with open(self.path, "w+b" if not os.path.exists(self.path) else "r+b",
                  buffering=0) as file:
            file.write(text.encode("ascii"))
        os.chmod(self.path, 0o600)
        self.beaten = seconds_since_boot()

    def beat(self):
        while not self.over.wait(1.0):
            self.fields["beat"] = str(int(self.fields["beat"]) + 1)
            self.write()

    def stop(self):
        self.over.set()
        self.thread.join()


def lease_of_a_killed(place, notes, words):
    """The path of the lease that a killed tuning of the command leaves."""
    start = Start(place, *words)
    check("killed: a tuning begins", lib.wait_for(notes.probes))
    found = leases(place)
    os.kill(start.pid, signal.SIGKILL)
    start.process.wait()
    return found[0] if equal("killed: one lease", len(found), 1) else None


def other_machine_holds(meanwhile, afterwards):
    """While it beats a start waits; some seconds after the last beat, no more.
    """
    with lib.Place("herd") as place:
        notes = Notes(place)
        words = [*options(notes), *training(30)]
        path = lease_of_a_killed(place, notes, words)
        if not path:
            return
        other = OtherMachine(path)
        try:
            before = len(notes.probes())
            begun = seconds_since_boot()
            waiter = Start(place, *words)
            check("elsewhere: waits", lib.wait_for(waiter.is_waiting))
            lib.holds("elsewhere: says where", waiter.err(), "on elsewhere")
            is_busy(place, words)
            meanwhile()
            left = begun + STALE_SECONDS + 2 - seconds_since_boot()
            lib.wait_for(lambda: False, max(left, 0))
            check(
                "elsewhere: as long as it beats",
                len(notes.probes()) == before and not waiter.has_ended(),
                waiter.err(),
            )
        finally:
            other.stop()
        afterwards()
        answer = waiter.end()
        equal("elsewhere: ends well", answer.status, 0)
        equal("elsewhere: tuned", outcomes([answer]), ["tuned"])
        new = notes.probes()[before:]
        took = float(new[0][2]) - other.beaten if new else 0
        check(
            "elsewhere: begins %.1f s after the last beat" % took,
            took > STALE_SECONDS - 0.5,
            answer,
        )
        equal("elsewhere: it runs once", len(notes.runs()), 1)


def remaining(paths):
    return [path for path in paths if os.path.exists(path)]


def killed_before_the_clean_up():
    """The record is there, and so are the journal and the lease of who was
    killed between the two: the next start, which reuses it, removes them.
    """
    with lib.Place("herd") as place:
        notes = Notes(place)
        words = [*options(notes), *training(30)]
        lease = lease_of_a_killed(place, notes, words)
        if not lease:
            return
        left = {lease: read(lease)}
        for path in glob.glob(place.path("home", "journals", "*")):
            left[path] = read(path)
        equal("clean-up: a lease and a journal", len(left), 2)
        equal("clean-up: tuned", outcomes([Start(place, *words).end()]),
              ["tuned"])
        equal("clean-up: both are gone", remaining(left), [])
        for path, text in left.items():
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(path, 0o600)
        equal("clean-up: reused", outcomes([Start(place, *words).end()]),
              ["reused"])
        equal("clean-up: both go", remaining(left), [])


def gpu_training(per_sample_kib):
    return (
        [NOTED, os.path.join(SIM, "sim_trainer"), "--batch-size", "8"]
        + ["--grad-accum", "4", "--steps", "20", "--fixed-mib", "1000"]
        + ["--per-sample-kib", str(per_sample_kib), "--step-ms", "20"]
    )


def two_on_one_gpu():
    """Different commands: both tune, one after the other. (Were they run as
    well, the second would find the first one's training on the GPU.)
    """
    with lib.Place("herd") as place:
        notes = Notes(place)
        place.env.update(
            LD_LIBRARY_PATH=SIM,
            AUTOFIT_SIM_DEVICES="Sim H200:24G:500M",
            AUTOFIT_SIM_STATE=os.path.join(notes.folder, "sim"),
        )
        words = ["tune", "--confirm-steps", "5", *notes.options(), "--"]
        starts = [
            Start(place, *words, *gpu_training(kib))
            for kib in (100000, 200000)
        ]
        told = lib.wait_for(lambda: [start for start in starts if start.is_waiting()]
        )
        check("one GPU: one of them waits", told, starts[0].err())
        no_wait = ["tune", "--no-wait", *words[1:]]
        busy = Start(place, *no_wait, *gpu_training(150000)).end()
        equal("one GPU: --no-wait", busy.status, 123)
        answers = [start.end() for start in starts]
        equal("one GPU: both end well", [a.status for a in answers], [0, 0])
        check(
            "one GPU: both tune",
            outcomes(answers) == ["tuned", "tuned"],
            shown(answers),
        )
        kinds = {a.result["device_kind"] for a in answers}
        equal("one GPU: on it", kinds, {"cuda"})
        check(
            "one GPU: each has probes",
            len(notes.probes()) >= 4,
            notes.probes(),
        )
        no_two_at_once("one GPU", notes)


def main():
    # What waits for time to pass does so while the others work.
    other_machine_holds(holder_is_killed, two_on_one_gpu)
    killed_before_the_clean_up()
    twenty_starts()
    lib.finish()


if __name__ == "__main__":
    main()
