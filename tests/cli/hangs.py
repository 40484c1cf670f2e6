#!/usr/bin/env python3
# Probes that hang, fail late or start slowly; limits; one tuning at a time.
# SPDX-License-Identifier: MIT
"""hangs.py [NAME]: all tests, or those whose name begins so."""
import concurrent.futures
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # nothing new beside this file
sys.path.append(os.path.join(os.path.dirname(__file__), "helpers"))

import storm  # noqa: E402

AUTOFIT = os.environ["AUTOFIT"]
TRAINER = os.environ["TRAINER"]
SLOW = os.path.join(os.environ["HELPERS"], "hang_start")
END_SECONDS = 600
# Nearly all of the tests is waiting.
AT_ONCE = 6
LOGS_KEPT = 20

HOST = ["--device", "host", "--memory", "1GiB", "--confirm-steps", "3"]
ONE_SIZE = ["--max-micro", "8"]
# bytes(35) fits in --limit-mib, bytes(36) does not.
LIMITED = [TRAINER, "--batch-size", "4", "--fixed-mib", "4", "--per-sample-kib",
           "1024", "--limit-mib", "40", "--steps", "30"]
LARGEST = 35


class Wrong(Exception):
    """What must not be, with what shows it."""


def check(what, holds, detail):
    if not holds:
        raise Wrong("%s\n%s" % (what, detail))


def until(condition, seconds=END_SECONDS):
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(0.01)


class Place:
    """A folder and an AUTOFIT_HOME that go away."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="hangs-")
        self.home = os.path.join(self.folder, "home")
        self.started = []
        self.autofit, self.user = AUTOFIT, {}
        return self

    def __exit__(self, *_):
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.wait()
        # The keeper of an autofit that was killed may still be at it.
        shutil.rmtree(self.folder, ignore_errors=True)
        until(lambda: not os.path.exists(self.folder) or
              shutil.rmtree(self.folder, ignore_errors=True))

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def start(self, subcommand, options, command):
        """Its output: path("N.out"), path("N.err"), the result "N.json"."""
        number = len(self.started)
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("AUTOFIT")}
        environment["AUTOFIT_HOME"] = self.home
        with open(self.path("%d.out" % number), "wb") as out, open(
                self.path("%d.err" % number), "wb") as err:
            self.started.append(subprocess.Popen(
                [self.autofit, *subcommand, *options, "--json",
                 self.path("%d.json" % number), "--", *command],
                env=environment, cwd=self.folder, stdout=out, stderr=err,
                stdin=subprocess.DEVNULL, **self.user))
        return number

    def become_another_user(self):
        """Where root can: one who may make no cgroup."""
        user = 400000 + os.getpid()
        try:
            subprocess.run(["true"], check=True, user=user, group=user)
        except (OSError, ValueError):
            return
        self.user = {"user": user, "group": user, "extra_groups": []}
        self.autofit = shutil.copy(AUTOFIT, self.folder)
        for folder, _, names in os.walk(self.folder):
            for path in [folder, *(os.path.join(folder, x) for x in names)]:
                os.chown(path, user, user)

    def text(self, name):
        with open(self.path(name), encoding="utf-8",
                  errors="replace") as file:
            return file.read()

    def end(self, number):
        """(exit code, result, all it printed)"""
        try:
            code = self.started[number].wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            raise Wrong("autofit does not end\n" +
                        self.text("%d.err" % number)) from None
        result = json.loads(self.text("%d.json" % number))
        return code, result, "exit %d\n%s%s" % (
            code, self.text("%d.out" % number), self.text("%d.err" % number))

    def tune(self, options, command):
        return self.end(self.start(["tune", "--largest"], HOST + options, command))

    def launch(self, options, command):
        return self.end(self.start([], HOST + options, command))

    def nothing_left(self):
        mark = b"AUTOFIT_HOME=" + os.fsencode(self.home)
        left = [os.path.join(self.home, "scratch", name) for name in
                os.listdir(os.path.join(self.home, "scratch"))]
        for name in os.listdir("/proc"):
            try:
                with open("/proc/%s/environ" % name, "rb") as file:
                    if mark in file.read().split(b"\0"):
                        left.append(name)
            except OSError:
                continue
        check("nothing is left", not left, left)


def verdicts(result):
    return [(probe["micro_batch"], probe["verdict"])
            for probe in result["probes"]]


# ------------------------------------------------------------------ time-outs

def hung_probe(place, command, options, reason, seconds):
    code, result, words = place.tune(options, command)
    probe = result["probes"][0]
    check("a first probe that hangs ends it with 121", code == 121 and
          result["outcome"] == "command_failed" and
          len(result["probes"]) == 1, words)
    check("it timed out", probe["verdict"] == "timeout" and
          reason in probe["why"], words)
    check("in its time", seconds <= probe["seconds"] < seconds + 10, words)
    check("with nothing to recommend", result["recommended"] is None, words)
    place.nothing_left()


def hang_before_the_first_step(place):
    hung_probe(place, [TRAINER, "--batch-size", "8", "--hang-at-step", "1"],
               ["--startup-timeout", "2s"], "--startup-timeout", 2)


def hang_with_workers(place):
    hung_probe(place, [TRAINER, "--batch-size", "8", "--hang-at-step", "2",
                       "--workers", "2"],
               ["--startup-timeout", "2s"], "--startup-timeout", 2)


def hang_that_takes_no_signal(place):
    hung_probe(place, [SLOW, "--batch-size", "8", "--hang-above", "1",
                       "--stubborn", "1"],
               ["--startup-timeout", "2s", "--grace", "1s"],
               "--startup-timeout", 3)


def probe_timeout(place):
    hung_probe(place, [TRAINER, "--batch-size", "8", "--step-ms", "300"],
               ["--probe-timeout", "2s", "--probe-steps", "30"],
               "--probe-timeout", 2)


def probe_timeout_before_the_first_step(place):
    # It lives, so that the start-up time-out is no end for it.
    hung_probe(place, [SLOW, "--batch-size", "8", "--start", "output",
                       "--seconds", "60"],
               ["--probe-timeout", "2s", "--startup-timeout", "2s"],
               "--probe-timeout", 2)


def hang_above_a_size(place):
    # Hanging, they hold less than the smallest that fits: on the line, such a
    # peak would lead the search astray.
    code, result, words = place.tune(
        ["--startup-timeout", "1s", "--max-micro", "24"],
        [SLOW, "--batch-size", "8", "--hang-above", "19"])
    check("the largest that does not hang", code == 0 and
          result["largest_micro_batch"] == 19, words)
    hung = [probe for probe in result["probes"]
            if probe["verdict"] == "timeout"]
    check("those that hang are misfits", hung and
          all(probe["micro_batch"] > 19 for probe in hung) and
          result["evidence"]["smallest_misfit"] == 20, words)
    check("their peaks are lower bounds",
          all(probe["peak_is_lower_bound"] for probe in hung), words)
    place.nothing_left()


# ------------------------------------------------------------- text and codes

def error_text_and_exit(place, options, code):
    status, result, words = place.tune(
        [], LIMITED + options + ["--exit-code", code])
    misfits = [probe for probe in result["probes"]
               if probe["micro_batch"] > LARGEST]
    check("the largest that fits", status == 0 and
          result["largest_micro_batch"] == LARGEST and
          result["evidence"]["smallest_misfit"] == LARGEST + 1, words)
    check("larger ones do not", misfits and
          all(probe["verdict"].startswith("oom_") for probe in misfits),
          words)
    check("said by the text alone",
          all(("caught" in probe["why"]) == (code == "0")
              for probe in misfits), words)
    # They ended before they took their memory.
    check("what they held is a lower bound",
          all(probe["peak_is_lower_bound"] for probe in misfits), words)


def device_text_exit_0(place):
    error_text_and_exit(place, ["--oom-text"], "0")


def device_text_exit_1(place):
    error_text_and_exit(place, ["--oom-text"], "1")


def failure_after_enough_steps(place):
    code, result, words = place.tune(
        ONE_SIZE, [TRAINER, "--batch-size", "8", "--steps", "20",
                   "--fail-at-step", "4", "--exit-code", "7"])
    check("exit 7 after 3 steps is a good probe", code == 0 and
          result["recommended"]["micro_batch"] == 8, words)
    check("that fits", {verdict for _, verdict in verdicts(result)} ==
          {"fits"}, words)


def failure_before_enough_steps(place):
    code, result, words = place.tune(
        ONE_SIZE, [TRAINER, "--batch-size", "8", "--steps", "20",
                   "--fail-at-step", "3", "--exit-code", "7"])
    check("exit 7 after 2 steps is a failure", code == 121 and
          verdicts(result) == [(8, "failed")] and "exit status 7" in words and
          "failed, as it was told" in words, words)


# -------------------------------------------------------------------- start-up

def slow_start(place, kind):
    code, result, words = place.tune(
        ["--startup-timeout", "2s", *ONE_SIZE],
        [SLOW, "--batch-size", "8", "--start", kind, "--seconds", "5"])
    check("a slow start with %s is no hang" % kind, code == 0 and
          result["probes"][0]["verdict"] == "fits" and
          result["probes"][0]["seconds"] > 4, words)


def start_with_output(place):
    slow_start(place, "output")


def start_with_io(place):
    slow_start(place, "io")


def start_with_cpu(place):
    slow_start(place, "cpu")


def start_with_memory(place):
    slow_start(place, "memory")


def start_in_silence(place):
    hung_probe(place, [SLOW, "--batch-size", "8", "--seconds", "30"],
               ["--startup-timeout", "2s"], "--startup-timeout", 2)


# ------------------------------------------------------------- autofit within

def autofit_within_a_probe(place):
    script = place.path("train.sh")
    with open(script, "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\nexec "%s" tune --device host --json within.json '
                   '-- "%s" "$@"\n' % (AUTOFIT, TRAINER))
    os.chmod(script, 0o755)
    # Else what it writes would go away with the probe.
    code, result, words = place.tune(
        [*ONE_SIZE, "--allow-writes", place.folder],
        [script, "--batch-size", "8", "--steps", "20"])
    check("a probe of autofit itself is one of its command", code == 0 and
          verdicts(result)[0] == (8, "fits"), words)
    check("the one within tunes nothing",
          not os.path.exists(place.path("within.json")) and
          len(os.listdir(os.path.join(place.home, "logs"))) == 1 and
          len(os.listdir(os.path.join(place.home, "records"))) == 1, words)
    with open(result["probes"][0]["log"], encoding="utf-8") as file:
        log = file.read()
    check("and prints nothing", "autofit" not in log and "step 1/" in log, log)


# --------------------------------------------------------------------- limits

def logs_of_the_last_tunings(place):
    logs = os.path.join(place.home, "logs")
    for _ in range(LOGS_KEPT + 3):
        code, result, words = place.tune(
            ["--fresh", *ONE_SIZE], [TRAINER, "--batch-size", "8"])
        check("tunes", code == 0, words)
        last = os.path.dirname(result["probes"][-1]["log"])
        check("its own logs are there", os.path.isdir(last), last)
    kept = os.listdir(logs)
    check("the logs of the last %d are kept" % LOGS_KEPT,
          len(kept) == LOGS_KEPT, kept)


def time_limit_of_a_tuning(place):
    code, result, words = place.tune(
        ["--time-limit", "2s", "--memory", "200MiB"],
        [TRAINER, "--batch-size", "2", "--step-ms", "200"])
    check("124", code == 124 and result["outcome"] == "time_limit", words)
    check("in time", result["seconds"] < 8, words)
    check("what is found so far is told", result["recommended"] and
          any("unconfirmed" in text for text in result["caveats"]), words)
    check("nothing is recorded", not os.path.isdir(
        os.path.join(place.home, "records")), words)
    place.nothing_left()


def time_limit_of_a_launch(place):
    # One probe takes less than the limit, and all of them, with the six steps of
    # the one that may be the answer, more.
    code, result, words = place.launch(
        ["--time-limit", "5s", "--confirm-steps", "6"],
        [TRAINER, "--batch-size", "2", "--grad-accum", "64", "--steps", "6",
         "--step-ms", "500", "--per-sample-kib", "1024"])
    fitting = [micro for micro, verdict in verdicts(result)
               if verdict == "fits"]
    check("the time was up", result["outcome"] == "time_limit", words)
    check("something had fitted", fitting, words)
    check("the largest tested split is started",
          result["recommended"]["micro_batch"] == max(fitting) and
          result["recommended"]["effective_batch"] == 128, words)
    last = [probe for probe in result["probes"] if probe["verdict"] == "fits" and
            probe["micro_batch"] == max(fitting)][-1]  # fmt: skip
    check("marked, unless all of it has run",
          ("unconfirmed" in words) != last["ran_to_end"], words)
    check("and its end is autofit's", code == 0 and
          "done: micro %d accum %d steps 6" % (
              max(fitting), 64 * 2 // max(fitting)) in words, words)


def max_probes(place):
    code, result, words = place.tune(
        ["--max-probes", "2", "--memory", "200MiB"],
        [TRAINER, "--batch-size", "2", "--steps", "20"])
    check("no more probes than allowed", code == 124 and
          result["outcome"] == "time_limit" and
          len(result["probes"]) == 2, words)
    code, result, words = place.tune(
        ["--memory", "200MiB"], [TRAINER, "--batch-size", "2", "--steps", "20"])
    check("the same command goes on from there", code == 0 and
          result["outcome"] == "tuned" and
          len(result["probes"]) > 2, words)
    logs = os.listdir(os.path.join(place.home, "logs"))
    check("in a second folder of logs", len(logs) == 2, logs)
    count = sum(len(os.listdir(os.path.join(place.home, "logs", name)))
                for name in logs)
    check("without repeating any", count == len(result["probes"]), words)


def short_life(place):
    """A program that is gone before anybody looked took what it took."""
    for _ in range(5):
        _, result, words = place.tune(
            ["--max-probes", "1", "--memory", "400MiB", "--fresh"],
            [TRAINER, "--batch-size", "2", "--steps", "3",
             "--per-sample-kib", "20480"])
        probe = result["probes"][0]
        check("its peak is seen", probe["verdict"] == "fits" and
              probe["peak_bytes"] >= 40 * (1 << 20), words)


def short_life_after_a_wait(place):
    """So it is where the looks saw something else for a long time."""
    for _ in range(5):
        _, result, words = place.tune(
            ["--max-probes", "1", "--memory", "400MiB", "--fresh"],
            ["sh", "-c", "sleep 0.5; exec \"$@\"", "sh", TRAINER,
             "--batch-size", "2", "--steps", "3", "--fixed-mib", "24"])
        probe = result["probes"][0]
        check("its peak is seen", probe["verdict"] == "fits" and
              probe["peak_bytes"] >= 24 * (1 << 20), words)


# ------------------------------------------------------- one tuning at a time

def start_a_long_one(place):
    """A tuning that stands still in a probe; its pid."""
    first = place.start(["tune"], HOST, [
        TRAINER, "--batch-size", "8", "--hang-at-step", "2"])
    logs = os.path.join(place.home, "logs")
    check("the first one starts", until(
        lambda: any("step 1/" in place.text(os.path.join(folder, name))
                    for folder, _, names in os.walk(logs) for name in names)),
        place.text("%d.err" % first))
    return first


def no_wait(place):
    first = start_a_long_one(place)
    pid = place.started[first].pid
    code, result, words = place.end(place.start(
        ["tune"], HOST + ["--no-wait"], [TRAINER, "--batch-size", "4"]))
    check("--no-wait: 123", code == 123 and
          result["outcome"] == "refused" and not result["probes"], words)
    check("it says for whom it would wait", re.search(
        r"\b%d\b" % pid, words) and "--batch-size 8" in words, words)
    check("the first one goes on", place.started[first].poll() is None, words)


def waits(place):
    first = start_a_long_one(place)
    pid = place.started[first].pid
    second = place.start(["tune"], HOST + ONE_SIZE,
                         [TRAINER, "--batch-size", "4"])
    check("the second one says for whom it waits", until(
        lambda: re.search(r"waiting for process %d\b.*--batch-size 8" % pid,
                          place.text("%d.err" % second), re.DOTALL)),
          place.text("%d.err" % second))
    check("and does", place.started[second].poll() is None,
          place.text("%d.err" % second))
    place.started[first].terminate()
    code, result, words = place.end(second)
    check("its turn comes", code == 0 and result["outcome"] == "tuned", words)
    check("it says so once", words.count("waiting for process") == 1, words)
    code, result, words = place.end(first)
    check("the first one ended by its signal", code == -15 and
          result["outcome"] == "interrupted", words)
    place.nothing_left()


def keeper_of(process):
    """Its pid, once the command of a probe runs below it; 0."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % name, encoding="ascii") as file:
                words = file.read().rsplit(")", 1)
            with open("/proc/%s/task/%s/children" % (name, name),
                      encoding="ascii") as file:
                children = file.read().split()
        except OSError:
            continue
        if (words[0].endswith("(autofit-keeper") and children
                and int(words[1].split()[1]) == process.pid):
            return int(name)
    return 0


def stopped_keeper(place):
    """Nothing that ends a tuning waits for somebody to wake it."""
    hangs = [TRAINER, "--batch-size", "8", "--hang-at-step", "2"]
    for how, options, code in (
            ("SIGTERM", [], -signal.SIGTERM), ("SIGINT", [], -signal.SIGINT),
            ("SIGUSR1", [], -signal.SIGUSR1),
            ("--time-limit", ["--time-limit", "3s"], 124)):
        number = place.start(["tune"], HOST + options, hangs)
        process = place.started[number]
        keeper = until(lambda p=process: keeper_of(p))
        check(how + ": a keeper", keeper, place.text("%d.err" % number))
        os.kill(keeper, signal.SIGSTOP)
        if not options:
            process.send_signal(getattr(signal, how))
        try:
            got = process.wait(60)
        except subprocess.TimeoutExpired:
            raise Wrong(how + ": it does not end") from None
        check(how + ": ends it", got == code, got)
    place.nothing_left()


# Hangs at its first start, beside a process of another session that has thrown
# away its environment and its descriptors, and is known by its words alone.
HIDES = """\
#!/bin/sh
[ -e out/hidden ] && exec %s "$@"
setsid env -i sh -c ': >out/hidden; exec sleep %d' <&- >/dev/null 2>&1 &
exec sleep 1000
"""


def hidden_descendant(place):
    """Autofit and keeper are killed; the next start ends what they left."""
    seconds = 10 ** 8 + os.getpid()
    os.mkdir(place.path("out"))
    trainer = shutil.copy(TRAINER, place.folder)
    with open(place.path("train.sh"), "w", encoding="ascii") as file:
        file.write(HIDES % (trainer, seconds))
    os.chmod(place.path("train.sh"), 0o755)
    place.become_another_user()
    options = [*HOST, *ONE_SIZE, "--allow-writes", place.path("out")]
    command = ["./train.sh", "--batch-size", "8", "--steps", "20"]
    hidden = [b"sleep", b"%d" % seconds]
    first = place.start(["tune"], options, command)
    left = until(lambda: storm.processes_of(hidden))
    check("it hides", left, place.text("%d.err" % first))
    process = place.started[first]
    keeper = keeper_of(process)
    process.send_signal(signal.SIGSTOP)  # it would wake the keeper
    os.waitpid(process.pid, os.WUNTRACED)
    os.kill(keeper, signal.SIGSTOP)  # it would clean up
    process.kill()
    os.kill(keeper, signal.SIGKILL)
    process.wait()
    check("it survives both", storm.processes_of(hidden) == left, left)
    code, _, words = place.end(place.start(["tune"], options, command))
    left = storm.processes_of(hidden)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    check("the next start ends it", not left, left)
    check("and says so", "that a killed tuning had left behind" in
          " ".join(words.split()), words)
    check("and has its answer", code == 0, words)
    place.nothing_left()


TESTS = [
    hidden_descendant, stopped_keeper,
    hang_above_a_size, logs_of_the_last_tunings, start_with_output,
    start_with_io, start_with_cpu, start_with_memory, start_in_silence,
    hang_before_the_first_step, hang_with_workers, hang_that_takes_no_signal,
    probe_timeout, probe_timeout_before_the_first_step, device_text_exit_0,
    device_text_exit_1, failure_after_enough_steps, failure_before_enough_steps,
    autofit_within_a_probe, time_limit_of_a_tuning, time_limit_of_a_launch,
    max_probes, short_life, short_life_after_a_wait, no_wait, waits,
]


def play(test):
    """What was wrong; None: nothing."""
    with Place() as place:
        try:
            test(place)
        except Wrong as wrong:
            return str(wrong)
    return None


def main():
    prefix = sys.argv[1] if len(sys.argv) > 1 else ""
    tests = [test for test in TESTS if test.__name__.startswith(prefix)]
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for test, wrong in zip(tests, pool.map(play, tests)):
            print("%s - %s" % ("NOT OK" if wrong else "ok", test.__name__),
                  flush=True)
            if wrong:
                failures += 1
                print(wrong, flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
