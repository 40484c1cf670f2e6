#!/usr/bin/env python3
# autofit devices --watch: what is shown, beside which need, and how it ends.
# SPDX-License-Identifier: MIT
import datetime
import getpass
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import fcntl

from lib import (
    AUTOFIT, MIB, Place, check, equal, finish, holds, lacks, wait_for,
)

SIM = os.path.join(os.environ["BUILD"], "sim")
GPUS = "Sim A100:8G:1G;Sim T4:4G"
GIB = 1 << 30
PATIENCE = 600  # far above what anything takes; only a fault comes to it
TRAINING = [
    os.path.join(SIM, "sim_trainer"), "--batch-size", "4", "--grad-accum", "4",
    "--steps", "40", "--fixed-mib", "500", "--per-sample-kib", "200000",
    "--step-ms", "20",
]


class Watch:
    """A running `devices --watch`, read line by line as it comes."""

    def __init__(self, place, *args, **env):
        self.process = subprocess.Popen(
            [AUTOFIT, "devices", "--watch", *args],
            cwd=place.folder, env=dict(place.env, **env),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.buffer = b""

    def line(self):
        while b"\n" not in self.buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
            data = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            if not data:
                return ""
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode()

    def sample(self, until=lambda sample: True):
        """The first sample for which that holds, or the last one."""
        found = {}

        def look():
            nonlocal found
            text = self.line()
            found = json.loads(text) if text else {}
            return not text or until(found)

        wait_for(look)
        return found

    def children(self):
        path = "/proc/%d/task/%d/children" % ((self.process.pid,) * 2)
        with open(path, encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        _, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, err.decode()


def gpus(place, devices=GPUS):
    place.env.update(
        LD_LIBRARY_PATH=SIM, AUTOFIT_SIM_DEVICES=devices,
        AUTOFIT_SIM_STATE=place.path("sim"),
    )
    return place


def samples_are_json_lines():
    with gpus(Place("watch")) as place:
        watch = Watch(place, "0.1", "--json", "-")
        first = watch.sample()
        second = watch.sample()
        equal("its schema", first.get("schema"), "autofit.devices.sample/1")
        times = [
            datetime.datetime.strptime(s["time"], "%Y-%m-%dT%H:%M:%S.%fZ")
            for s in (first, second)
        ]
        now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
        check("times are UTC and rise", times[0] < times[1] <= now and
              now - times[0] < datetime.timedelta(seconds=PATIENCE), times)
        equal("each GPU", [
            (gpu["index"], gpu["name"], gpu["total_bytes"], gpu["used_bytes"],
             gpu["free_bytes"], gpu["peak_bytes"], gpu["process_count"],
             gpu["largest_process"], gpu["need"], gpu["problem"])
            for gpu in first["devices"]
        ], [
            (0, "Sim A100", 8 * GIB, GIB, 7 * GIB, GIB, 0, None, None, None),
            (1, "Sim T4", 4 * GIB, 0, 4 * GIB, 0, 0, None, None, None),
        ])
        host = first["host"]
        check("and host memory", 0 < host["used_bytes"] < host["total_bytes"]
              and host["budget_bytes"] and host["available_bytes"] and
              host["peak_bytes"] >= host["used_bytes"], host)
        equal("nothing else is said", watch.end(), (-signal.SIGTERM, ""))
        watch = Watch(place, "0.1", "--json", "-", "--device", "host")
        equal("--device host has no GPU", watch.sample()["devices"], [])
        watch.end()


def the_peak_stays():
    with gpus(Place("watch")) as place:
        watch = Watch(place, "0.1", "--json", "-")
        watch.sample()
        with subprocess.Popen(
            TRAINING, env=place.env, stdout=subprocess.DEVNULL
        ) as trainer:
            busy = watch.sample(
                lambda s: s["devices"][0]["used_bytes"] > GIB + 1000 * MIB
            )["devices"][0]
            trainer.wait()
        done = watch.sample(lambda s: not s["devices"][0]["process_count"])
        gpu = done["devices"][0]
        equal("its process", (busy["process_count"],
                              busy["largest_process"]["pid"],
                              busy["largest_process"]["user"]),
              (1, trainer.pid, getpass.getuser()))
        equal("what it uses", busy["largest_process"]["used_bytes"],
              busy["used_bytes"] - GIB)
        check("the peak is kept when it has ended",
              gpu["used_bytes"] == GIB and
              gpu["peak_bytes"] >= busy["used_bytes"], gpu)
        watch.end()


def needs_stand_beside():
    with gpus(Place("watch")) as place:
        # A display may hold what nobody who computes there has.
        tune = place.run("tune", "--device", "cuda:0", "--allow-writes",
                         place.folder, "--", *TRAINING,
                         env={"AUTOFIT_SIM_FAULT": "display=%d" % os.getpid()})
        evidence = tune.result["evidence"]
        name = tune.result["record"]["id"]
        peak, headroom = evidence["peak_bytes"], evidence["headroom_bytes"]
        rows = [
            ("the newest record of that model", [], "newest", peak, ""),
            ("an exact record", ["--device", "cuda:0", "--", *TRAINING],
             "exact", peak + headroom, ""),
            ("a near record", ["--device", "cuda:0", "--", *TRAINING, "--x"],
             "near", peak, "only a similar command is recorded (%s)" % name),
            ("another device", ["--device", "cuda:1", "--", *TRAINING], None,
             None, "(%s) is of another device" % name),
            ("another command", ["--device", "cuda:0", "--", "env",
                                 *TRAINING[:1], "--batch-size", "3"], None,
             None, "nothing is recorded for this command"),
        ]
        for title, args, kind, wanted, words in rows:
            watch = Watch(place, "0.1", "--json", "-", *args)
            sample = watch.sample()
            need = sample["devices"][0]["need"]
            if kind:
                equal(title, (need["kind"], need["bytes"], need["record"],
                              need["peak_bytes"], need["headroom_bytes"]),
                      (kind, wanted, name, peak, headroom))
            else:
                equal(title, need, None)
            equal(title + " says nothing of the host", sample["host"]["need"],
                  None)
            check(title + " in words", words in watch.end()[1], words)
        watch = Watch(place, "0.1", "--device", "cuda:0", "--", *TRAINING)
        holds("a line has it", watch.line(),
              r"^\S+Z GPU 0 Sim A100: used 1.00 GiB, free 7.00 GiB, total "
              r"8.00 GiB, peak 1.00 GiB, need \S+ GiB \(peak .* headroom "
              r".*: %s\), processes 0$" % name)
        holds("and the host one", watch.line(),
              r"^\S+Z host memory: used .*, available .*, budget .*, need -$")
        watch.end()
        watch = Watch(place, "--", "true")
        watch.process.wait(PATIENCE)
        equal("a command that is not recognised is 122",
              watch.process.returncode, 122)


def it_ends_as_it_is_told():
    with gpus(Place("watch")) as place:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            watch = Watch(place, "3600", "--json", "-")
            watch.sample()
            (child,) = watch.children()
            equal("ended by signal %d" % number, watch.end(number),
                  (-number, ""))
            check("and so is its process", wait_for(lambda: not os.path.exists("/proc/%d" % child)))
        for args in (["--json", "-"], []):
            watch = Watch(place, "3600", *args)
            watch.line()
            watch.process.stdout.close()
            watch.process.wait(PATIENCE)
            equal("nobody reads on %s" % args,
                  (watch.process.returncode, watch.process.stderr.read()),
                  (0, b""))
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [AUTOFIT, "devices", "--watch"], env=place.env, stdout=full,
                stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
        check("a full disk is 125", done.returncode == 125 and
              b"cannot write to standard output" in done.stderr, done)


def a_file_gets_every_sample():
    with gpus(Place("watch")) as place:
        path = place.write("samples.json", "of an older watch\n")
        watch = Watch(place, "0.1", "--json", path)
        for _ in range(7):  # the third look of three devices
            watch.line()
        watch.end()
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        check("whole lines, made anew", len(lines) >= 4 and not lines[-1] and
              all(json.loads(line)["devices"] for line in lines[:-1]), lines)
        watch = Watch(place, "--json", place.path("no", "such"))
        watch.process.wait(PATIENCE)
        check("a file that cannot be made is 125",
              watch.process.returncode == 125)


def a_driver_may_fail():
    with gpus(Place("watch")) as place:
        watch = Watch(place, "0.1", "--json", "-")
        watch.sample()
        (child,) = watch.children()
        os.kill(child, signal.SIGSTOP)
        hung = watch.sample(lambda s: s["problem"])
        holds("a hung driver is said", hung["problem"],
              r"has not answered for \d+ s")
        equal("and nothing is made up",
              (hung["devices"][0]["used_bytes"],
               hung["devices"][0]["peak_bytes"]), (None, GIB))
        check("host memory goes on", hung["host"]["used_bytes"] > 0)
        os.kill(child, signal.SIGCONT)
        back = watch.sample(lambda s: not s["problem"])
        equal("it comes back", back["devices"][0]["used_bytes"], GIB)
        equal("in the same process", watch.children(), [child])
        os.kill(child, signal.SIGKILL)
        died = watch.sample(lambda s: s["problem"])
        holds("a crash is said", died["problem"], "ended the process")
        back = watch.sample(lambda s: not s["problem"])
        equal("and another process asks on", back["devices"][0]["used_bytes"],
              GIB)
        watch.end()
        watch = Watch(place, "0.1", "--json", "-",
                      AUTOFIT_SIM_FAULT="nvml=missing")
        holds("without NVML", watch.sample()["devices"][0]["problem"],
              "NVML cannot start")
        watch.end()
        watch = Watch(place, "0.1", "--json", "-", AUTOFIT_SIM_FAULT="crash")
        holds("a driver that does not start", watch.sample()["problem"],
              "driver crashed")
        watch.end()
        for args, words in (
            (["--device", "cuda:7"], "there is no GPU 7"),
            (["0.05"], "shorter than 0.1 s"),
            (["3601"], "longer than 1 h"),
            (["soon"], "'soon' is not a duration"),
        ):
            watch = Watch(place, *args)
            _, err = watch.process.communicate(timeout=PATIENCE)
            check("%s is refused in words" % args[-1],
                  watch.process.returncode == 125 and words in err.decode(),
                  err)


def on_a_terminal(place, columns, enough, **env):
    """What comes to the terminal until that much has."""
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(place.folder)
        os.execve(AUTOFIT, [AUTOFIT, "devices", "--watch", "0.1"],
                  dict(place.env, **dict({"TERM": "xterm"}, **env)))
    fcntl.ioctl(master, termios.TIOCSWINSZ,
                struct.pack("HHHH", 24, columns, 0, 0))
    out = b""

    def read():
        nonlocal out
        ready, _, _ = select.select([master], [], [], PATIENCE)
        out += os.read(master, 65536) if ready else b""
        return not ready or enough(out)

    wait_for(read)
    os.write(master, b"\x03")
    _, status = os.waitpid(pid, 0)
    os.close(master)
    return out.decode(), status


def tables_are_drawn_over():
    with gpus(Place("watch"), "A GPU of a long name \x1b:8G:1G") as place:
        out, status = on_a_terminal(
            place, 60, lambda out: out.count(b"\x1b[J") >= 4)
        equal("Ctrl-C ends it", os.WTERMSIG(status), signal.SIGINT)
        tables = out.split("\x1b[J")
        # The first one may have been drawn before the size was told.
        equal("up by what was drawn", tables[2][:4], "\x1b[4A")
        equal("a line for each device", tables[2].count("\r\n"), 4)
        plain = re.sub(r"\x1b\[[0-9;]*[mKA]|\r", "", tables[2])
        check("no line is wider than the terminal", all(
            len(line) <= 60 for line in plain.split("\n")), plain)
        lacks("no stranger's escape", tables[2], "name \x1b:")
        holds("in colours", tables[2], r"\x1b\[1m")
        out, _ = on_a_terminal(place, 80,
                               lambda out: out.count(b"\x1b[J") >= 2,
                               NO_COLOR="1")
        lacks("NO_COLOR", out, r"\x1b\[[0-9;]*m")
        for env in ({"TERM": "dumb"}, {"CI": "1"}):
            out, _ = on_a_terminal(
                place, 80, lambda out: out.count(b"host memory:") >= 2, **env)
            lacks("plain lines with %s" % env, out, r"\x1b")


samples_are_json_lines()
the_peak_stays()
needs_stand_beside()
it_ends_as_it_is_told()
a_file_gets_every_sample()
a_driver_may_fail()
tables_are_drawn_over()
finish()
