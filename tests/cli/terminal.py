#!/usr/bin/env python3
# At a terminal: Ctrl-C, Ctrl-Z and fg, hang-up, the live line, the real run.
# SPDX-License-Identifier: MIT
# CTEST COST 60
#
# Every test has a terminal of its own (a pty) with a small shell on it, which
# starts autofit as a job in a process group of its own, gives it the terminal
# and says how it stops and ends; so that the keys do what they do at a desk.
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import sys
import tempfile
import termios
import time
import unittest

AUTOFIT = os.environ["AUTOFIT"]
TRAINER = os.environ["TRAINER"]
HELPERS = os.environ["HELPERS"]

PATIENCE = 600  # far above what anything takes; only a fault comes to it
ROUND = 0.02
CTRL_C, CTRL_Z, CTRL_BACKSLASH = b"\x03", b"\x1a", b"\x1c"
FOREGROUND, BACKGROUND, NO_SHELL = "foreground", "background", "no shell"

OPTIONS = "--device host --memory 600M --probe-steps 3 --confirm-steps 6"
SIZES = "--batch-size 4 --grad-accum 8"


# ------------------------------------------------------- the shell's side


def put_in_front(group):
    """Give the terminal to a group; the shell ignores SIGTTOU for this."""
    os.tcsetpgrp(0, group)


def become_job(command, place, environment):
    if place != NO_SHELL:
        os.setpgid(0, 0)
    if place == FOREGROUND:
        put_in_front(os.getpgrp())
    for number in range(1, signal.NSIG):
        try:
            signal.signal(number, signal.SIG_DFL)
        except (OSError, ValueError):
            pass
    try:
        os.execvpe(command[0], command, environment)
    finally:
        os._exit(98)


def describe(status):
    if os.WIFSTOPPED(status):
        return "stopped by %d" % os.WSTOPSIG(status)
    if os.WIFSIGNALED(status):
        return "ended by %d" % os.WTERMSIG(status)
    return "exit %d" % os.WEXITSTATUS(status)


def run_shell(command, place, environment, events, orders):
    """One job: tell how it stops and ends; fg when told so."""
    for number in (signal.SIGTTOU, signal.SIGTTIN, signal.SIGTSTP):
        signal.signal(number, signal.SIG_IGN)
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    pid = os.fork()
    if pid == 0:
        os.close(events)
        os.close(orders)
        become_job(command, place, environment)
    try:
        os.setpgid(pid, pid)
    except OSError:
        pass  # it was quicker
    if place == FOREGROUND:
        put_in_front(pid)
    os.write(events, b"started %d\n" % pid)
    while True:
        _, status = os.waitpid(pid, os.WUNTRACED)
        put_in_front(os.getpgrp())
        os.write(events, describe(status).encode() + b"\n")
        if not os.WIFSTOPPED(status) or not os.read(orders, 1):
            return
        put_in_front(pid)
        os.killpg(pid, signal.SIGCONT)


# -------------------------------------------------------- the test's side


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, command, place=FOREGROUND, **environment):
        event_read, event_write = os.pipe()
        order_read, order_write = os.pipe()
        self.shell, self.master = pty.fork()
        if self.shell == 0:
            for fd in (event_read, order_write):
                os.close(fd)
            if place == NO_SHELL:
                os.close(order_read)
                os.close(event_write)
                become_job(command, place, environment)
            try:
                run_shell(
                    command, place, environment, event_write, order_read
                )
            finally:
                os._exit(0)
        os.close(event_write)
        os.close(order_read)
        self.resize(100)
        # No later job may hold this terminal open.
        os.set_inheritable(self.master, False)
        self.events, self.orders = event_read, order_write
        self.screen = b""
        self.said = b""
        self.pid = self.shell
        if place != NO_SHELL:
            self.pid = int(self.event().split()[1])

    def pump(self, seconds=ROUND):
        """Take in what the terminal shows and the shell says."""
        sources = [fd for fd in (self.master, self.events) if fd is not None]
        for fd in select.select(sources, [], [], seconds)[0]:
            try:
                data = os.read(fd, 65536)
            except OSError:  # EIO: nobody has the terminal open any more
                data = b""
            if fd == self.master:
                self.screen += data
                if not data:
                    self.hang_up()
            else:
                self.said += data
                if not data:
                    os.close(self.events)
                    self.events = None

    def wait(self, condition, seconds=PATIENCE, what="a condition"):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(
                    "waited %g s for %s; the terminal shows:\n%s"
                    % (seconds, what, self.text())
                )
            self.pump()

    def event(self, seconds=PATIENCE):
        self.wait(lambda: b"\n" in self.said, seconds, "news of the job")
        line, self.said = self.said.split(b"\n", 1)
        return line.decode()

    def expect(self, pattern, seconds=PATIENCE):
        self.wait(
            lambda: re.search(pattern, self.text()), seconds, repr(pattern)
        )

    def resize(self, columns):
        size = struct.pack("HHHH", 24, columns, 0, 0)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, size)

    def frames(self):
        """What was drawn of the live line, one after another."""
        return [frame.partition("\x1b[K")[0].split("\r")[-1]
                for frame in self.text().split("\r")[1:]
                if "micro" in frame and "\x1b[K" in frame]

    def press(self, key):
        os.write(self.master, key)

    def foreground(self):
        os.write(self.orders, b"f")

    def hang_up(self):
        if self.master is not None:
            os.close(self.master)
            self.master = None

    def text(self):
        return self.screen.decode("utf-8", "replace")

    def lines(self):
        """What a reader sees in the end: \\r and "erase to the end" done."""
        result = []
        for line in self.text().replace("\r\n", "\n").split("\n"):
            shown = ""
            for piece in re.split("\r", line):
                kept, erase, rest = piece.partition("\x1b[K")
                shown = kept + (rest if erase else shown[len(piece):])
            result.append(re.sub("\x1b\\[[0-9;]*m", "", shown))
        return result

    def close(self):
        for fd in (self.events, self.orders):
            if fd is not None:
                os.close(fd)
        self.hang_up()
        os.waitpid(self.shell, 0)


def read_bytes(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def processes(mark):
    """Running processes whose environment has the entry's beginning."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            entries = read_bytes("/proc/%s/environ" % name).split(b"\0")
            if any(entry.startswith(mark) for entry in entries):
                found.append(int(name))
    return found


def state_of(pid):
    stat = read_bytes("/proc/%d/stat" % pid)
    return stat.rpartition(b") ")[2][:1].decode()


class TerminalTest(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="autofit-tty-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": self.folder,
            "AUTOFIT_HOME": self.path("home"),
            # The one folder that probes write into for real.
            "AUTOFIT_ALLOW_WRITES": self.path("notes"),
            "TERM": "xterm-256color",
            "LC_ALL": "C.UTF-8",
        }
        os.mkdir(self.path("notes"))
        self.script(
            "train.sh",
            'echo "${AUTOFIT_PROBE:+probe }$*" >>"%s"\n'
            'set -- --step-ms 100 --steps ${AUTOFIT_PROBE:+4000}8 "$@"\n'
            'exec "%s" --workers 2 "$@"\n' % (self.path("notes/starts"), TRAINER),
        )
        self.addCleanup(self.end_everything)

    def end_everything(self):
        for pid in self.everything():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def path(self, name):
        return os.path.join(self.folder, name)

    def script(self, name, text):
        with open(self.path(name), "w") as file:
            file.write("#!/bin/sh\n" + text)
        os.chmod(self.path(name), 0o700)

    def start(self, command, place=FOREGROUND):
        os.chdir(self.folder)
        terminal = Terminal(command, place, **self.environment)
        self.addCleanup(terminal.close)
        return terminal

    def autofit(self, options="", place=FOREGROUND, command="./train.sh"):
        words = [AUTOFIT] + OPTIONS.split() + options.split()
        words += ["--json", self.path("result.json"), "--", command]
        return self.start(words + SIZES.split(), place)

    def everything(self):
        mark = b"AUTOFIT_HOME=" + self.environment["AUTOFIT_HOME"].encode()
        return processes(mark)

    def probe_processes(self):
        """The command of the probe and its workers, without the keeper."""
        ours = set(self.everything())
        return [pid for pid in processes(b"AUTOFIT_PROBE=") if pid in ours]

    def starts(self):
        return read_bytes(self.path("notes/starts")).decode().splitlines()

    def result(self):
        with open(self.path("result.json")) as file:
            return json.load(file)

    def records(self):
        folder = self.path("home/records")
        return os.listdir(folder) if os.path.exists(folder) else []

    def answer(self):
        """What must not depend on what happened at the terminal."""
        result = self.result()
        probes = [
            (probe["micro_batch"], probe["grad_accum"], probe["verdict"])
            for probe in result["probes"]
        ]
        recommended = result["recommended"]
        return (
            result["outcome"],
            recommended["micro_batch"],
            recommended["grad_accum"],
            probes,
        )

    def wait_for_probe(self, terminal, number, processes=3):
        """The number-th probe runs, with all of its workers, and shows it."""
        terminal.wait(
            lambda: len(self.starts()) >= number,
            what="probe %d" % number,
        )
        terminal.wait(
            lambda: len(self.probe_processes()) >= processes,
            what="the workers of probe %d" % number,
        )

    def wait_until_nothing_is_left(self, terminal):
        terminal.wait(
            lambda: not self.everything(),
            what="the end of every process",
        )


class Interrupted(TerminalTest):
    """Keys and signals that end autofit end everything it started."""

    def interrupt(self, send, number):
        terminal = self.autofit()
        self.wait_for_probe(terminal, 2)
        send(terminal)
        self.assertEqual(terminal.event(), "ended by %d" % number)
        self.wait_until_nothing_is_left(terminal)
        return terminal

    def test_every_way_to_end_it(self):
        rows = (
            ("Ctrl-C", 2, lambda terminal: terminal.press(CTRL_C)),
            ("Ctrl-\\", 3, lambda terminal: terminal.press(CTRL_BACKSLASH)),
            ("TERM", 15, lambda terminal: os.kill(terminal.pid, 15)),
            ("HUP", 1, lambda terminal: os.kill(terminal.pid, 1)),
        )
        for name, number, send in rows:
            with self.subTest(name):
                terminal = self.interrupt(send, number)
                self.assertEqual(self.result()["outcome"], "interrupted")
                text = "\n".join(terminal.lines())
                self.assertRegex(text, r"best tested so far +micro 4 ")
                self.assertRegex(text, r"same command again to resume")
                self.assertEqual(os.listdir(self.path("home/scratch")), [])
                self.assertFalse(self.records())
                # No rest of the live line between the lines that stay.
                for line in terminal.lines():
                    self.assertNotRegex(line, "(prob|confirm|start)ing micro")
                shutil.rmtree(self.path("home"))
                os.remove(self.path("notes/starts"))

    def test_kill_9_leaves_nothing(self):
        self.interrupt(lambda terminal: os.kill(terminal.pid, 9), 9)

    def test_the_same_command_resumes(self):
        self.interrupt(lambda terminal: terminal.press(CTRL_C), 2)
        before = self.starts()
        self.assertEqual(len(before), 2)
        self.assertIn("probe --batch-size 4 --grad-accum 8", before[0])
        terminal = self.autofit()
        self.assertEqual(terminal.event(), "exit 0")
        after = self.starts()[2:]
        self.assertEqual(self.result()["outcome"], "tuned")
        self.assertTrue(self.records())
        self.assertEqual(after[-1], "--batch-size 32 --grad-accum 1")
        self.assertFalse([line for line in after if "--batch-size 4 " in line])
        # The answer is the one of a tuning that nobody disturbed.
        resumed = self.answer()
        shutil.rmtree(self.path("home"))
        self.assertEqual(self.autofit().event(), "exit 0")
        self.assertEqual(resumed, self.answer())

    def test_a_hang_up_ends_it(self):
        terminal = self.autofit()
        self.wait_for_probe(terminal, 1)
        terminal.hang_up()
        self.wait_until_nothing_is_left(terminal)
        self.assertEqual(self.result()["outcome"], "interrupted")

    def test_ctrl_c_during_the_run_is_the_commands(self):
        terminal = self.autofit("--no-probe")
        terminal.expect("step 2/8")
        terminal.press(CTRL_C)
        self.assertEqual(terminal.event(), "ended by 2")
        self.assertEqual(self.result()["outcome"], "as_given")


class Stopped(TerminalTest):
    """Ctrl-Z stops the tree and autofit; fg continues both."""

    def setUp(self):
        super().setUp()
        # A probe that is held trains, and its steps are told when it is let
        # go, so that it cannot have ended when the key comes. The shell waits
        # without starting anything: who has just done so with vfork() is
        # shown as "D" while the child is stopped, not as "T".
        os.rename(self.path("train.sh"), self.path("go_on.sh"))
        self.script(
            "train.sh",
            "hold=notes/hold-$(($(cat notes/starts 2>/dev/null | wc -l) + 1))\n"
            '[ -e $hold ] || exec ./go_on.sh "$@"\n'
            './go_on.sh "$@" | { read _ <$hold; exec cat; }\n',
        )

    def hold(self, *probes):
        for probe in probes:
            os.mkfifo(self.path("notes/hold-%d" % probe))

    def let_go(self, probe):
        hold = self.path("notes/hold-%d" % probe)
        with open(hold, "w"):
            os.remove(hold)

    def wait_for_held(self, terminal, number):
        # Beside the trainer and its workers there are two shells.
        self.wait_for_probe(terminal, number, 5)

    def stop(self, terminal):
        running = self.probe_processes()
        terminal.press(CTRL_Z)
        self.assertEqual(
            terminal.event(), "stopped by %d" % signal.SIGTSTP
        )
        self.assertEqual(state_of(terminal.pid), "T")
        # The tree was stopped first, so it stands when autofit does.
        terminal.wait(
            lambda: all(
                state_of(pid) in ("T", "", "Z") for pid in running
            ),
            what="a stopped tree",
        )
        self.assertTrue([pid for pid in running if state_of(pid) == "T"])

    def undisturbed(self):
        self.assertEqual(self.autofit().event(), "exit 0")
        answer = self.answer()
        self.assertEqual(answer[:3], ("tuned", 32, 1))
        self.assertEqual({row[2] for row in answer[3]}, {"fits"})
        shutil.rmtree(self.path("home"))
        os.remove(self.path("notes/starts"))
        return answer

    def test_no_verdict_changes(self):
        expected = self.undisturbed()
        self.hold(1, 2)
        terminal = self.autofit()
        for probe, times in ((1, 1), (2, 2)):
            self.wait_for_held(terminal, probe)
            for _ in range(times):
                self.stop(terminal)
                terminal.foreground()
                terminal.wait(
                    lambda: state_of(terminal.pid) != "T",
                    what="autofit to go on",
                )
                terminal.wait(
                    lambda: "T" not in map(state_of, self.probe_processes()),
                    what="the tree to go on",
                )
            self.let_go(probe)
        self.assertEqual(terminal.event(), "exit 0")
        self.assertEqual(self.answer(), expected)

    def test_stopped_time_is_no_time(self):
        limit = 15
        self.hold(1)
        terminal = self.autofit(
            "--time-limit %ds --probe-timeout %ds" % (limit, limit)
        )
        self.wait_for_held(terminal, 1)
        self.stop(terminal)
        end = time.monotonic() + limit + 0.5
        terminal.wait(lambda: time.monotonic() > end)
        terminal.foreground()
        self.let_go(1)
        self.assertEqual(terminal.event(), "exit 0")
        self.assertEqual(self.answer()[:3], ("tuned", 32, 1))

    def test_a_stopped_tuning_can_be_ended(self):
        self.hold(1)
        for number in (signal.SIGTERM, signal.SIGKILL):
            with self.subTest(number):
                terminal = self.autofit()
                self.wait_for_held(terminal, 1)
                self.stop(terminal)
                os.kill(terminal.pid, number)
                terminal.foreground()
                self.assertEqual(terminal.event(), "ended by %d" % number)
                self.wait_until_nothing_is_left(terminal)
                shutil.rmtree(self.path("home"))
                os.remove(self.path("notes/starts"))

    def test_where_nobody_could_continue_it_nothing_stops(self):
        # A group without a shell behind it (docker run -t) is an orphan: the
        # kernel does not stop it by Ctrl-Z, and neither may autofit.
        terminal = self.autofit(place=NO_SHELL)
        self.wait_for_probe(terminal, 1)
        terminal.press(CTRL_Z)
        terminal.wait(
            lambda: os.path.exists(self.path("result.json")),
            what="the end of the tuning",
        )
        self.assertEqual(self.answer()[:3], ("tuned", 32, 1))

    def test_the_run_stops_and_goes_on(self):
        terminal = self.autofit("--no-probe")
        terminal.expect("step 2/8")
        terminal.press(CTRL_Z)
        self.assertEqual(
            terminal.event(), "stopped by %d" % signal.SIGTSTP
        )
        terminal.foreground()
        self.assertEqual(terminal.event(), "exit 0")


class Shown(TerminalTest):
    """What is written where."""

    def test_a_live_line_on_a_terminal_only(self):
        rows = (
            ("a terminal", {}, "", True),
            ("a dumb one", {"TERM": "dumb"}, "", False),
            ("CI", {"CI": "true"}, "", False),
            ("quiet", {}, "-q", False),
        )
        for name, environment, options, expected in rows:
            with self.subTest(name):
                before = dict(self.environment)
                self.environment.update(environment)
                terminal = self.autofit(options)
                self.assertEqual(terminal.event(), "exit 0")
                terminal.pump()
                # The terminal itself makes \r\n of every \n.
                live = re.search("\r(?!\n)", terminal.text())
                self.assertEqual(bool(live), expected)
                moving = re.search("probing micro 4 ", terminal.text())
                self.assertEqual(bool(moving), expected)
                for line in terminal.lines():
                    self.assertNotRegex(line, "(prob|confirm|start)ing micro")
                self.environment = before
                shutil.rmtree(self.path("home"))

    def test_a_window_that_is_resized(self):
        """The live line follows: narrower without a bar, never two lines."""
        terminal = self.autofit("--fresh")
        self.wait_for_probe(terminal, 1)
        for columns, wanted in ((60, False), (120, True), (40, False)):
            known = len(terminal.frames())
            terminal.resize(columns)
            terminal.wait(
                lambda: any(
                    ("[" in frame) == wanted and len(frame) < columns
                    for frame in terminal.frames()[known + 1:]
                ),
                what="a frame of %d columns" % columns,
            )
            # One may have been on its way.
            for frame in terminal.frames()[known + 1:]:
                self.assertLess(len(frame), columns)
        self.assertEqual(terminal.event(), "exit 0")
        lines = terminal.lines()
        for line in lines:
            self.assertNotRegex(line, "(prob|confirm|start)ing micro")
        # Each line of the header is a line, however often it was resized.
        for beginning in ("autofit \\d", "  kept: ", "  testing sizes ",
                          " +micro +accum", "autofit: micro 32 "):
            found = [line for line in lines if re.match(beginning, line)]
            self.assertEqual(len(found), 1, (beginning, lines))

    def test_a_file_gets_plain_lines(self):
        self.script(
            "redirected.sh",
            'exec "%s" %s -- ./train.sh %s 2>"%s"\n'
            % (AUTOFIT, OPTIONS, SIZES, self.path("report")),
        )
        terminal = self.start(["./redirected.sh"])
        self.assertEqual(terminal.event(), "exit 0")
        report = read_bytes(self.path("report"))
        self.assertRegex(report, rb"micro 32 x accum 1")
        self.assertNotRegex(report, rb"[\r\x1b]")
        self.assertNotRegex(terminal.text(), "fits")

    def test_colour(self):
        rows = (
            ("a terminal", {}, "", True),
            ("NO_COLOR", {"NO_COLOR": "1"}, "", False),
            ("never", {}, "--color never", False),
        )
        for name, environment, options, expected in rows:
            with self.subTest(name):
                before = dict(self.environment)
                self.environment.update(environment)
                terminal = self.autofit(options)
                self.assertEqual(terminal.event(), "exit 0")
                terminal.pump()
                colour = re.search(r"\x1b\[[0-9;]*m", terminal.text())
                self.assertEqual(bool(colour), expected)
                self.environment = before
                shutil.rmtree(self.path("home"))


class Run(TerminalTest):
    """The real command has the terminal as if it were started bare."""

    def state(self, command):
        terminal = self.start(
            [os.path.join(HELPERS, "state_enter"), "--"]
            + command
            + [os.path.join(HELPERS, "print_state")]
            + ["--state", self.path("state")]
            + SIZES.split()
        )
        self.assertEqual(terminal.event(), "exit 0")
        text = read_bytes(self.path("state")).decode()
        # A file that argv names is part of what a record is for.
        os.remove(self.path("state"))
        # Which of the terminals it was is not the question.
        return re.sub(r"/dev/pts/\d+", "/dev/pts/N", text)

    def test_the_state_at_a_terminal(self):
        tuned = [AUTOFIT] + OPTIONS.split() + ["--json", "result.json", "--"]
        bare = self.state([])
        self.assertRegex(bare, "fd 0 flags 0 status [0-7]*2 /dev/pts/N")
        self.assertIn("terminal foreground group own", bare)
        self.assertEqual(self.state(tuned), bare)
        self.assertEqual(self.result()["outcome"], "tuned")
        self.assertEqual(self.state(tuned), bare)
        self.assertEqual(self.result()["outcome"], "reused")

    def test_what_is_typed_is_the_commands(self):
        self.script(
            "reader.sh",
            'if [ -n "$AUTOFIT_PROBE" ]; then exec "%s" "$@"; fi\n'
            'echo ask; read -r line; echo "got $line"\n' % TRAINER,
        )
        terminal = self.autofit(command="./reader.sh")
        terminal.press(b"typed early\n")
        terminal.expect("got typed early")
        self.assertEqual(terminal.event(), "exit 0")
        self.assertEqual(self.result()["outcome"], "tuned")

    def test_a_tuning_in_the_background(self):
        terminal = self.autofit(place=BACKGROUND)
        self.wait_for_probe(terminal, 1)
        # Nobody in the background reads the keyboard or gets its keys.
        terminal.press(CTRL_C)
        self.assertEqual(terminal.event(), "exit 0")
        self.assertEqual(self.answer()[:3], ("tuned", 32, 1))
        self.assertEqual(self.starts()[-1], "--batch-size 32 --grad-accum 1")


if __name__ == "__main__":
    # What the caller left open may move meanwhile: ctest's log does.
    os.closerange(3, 10)
    sys.exit(not unittest.main(exit=False).result.wasSuccessful())
