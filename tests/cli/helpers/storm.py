# Starts of autofit that are killed, and all that they could leave behind.
# SPDX-License-Identifier: MIT
"""A Place is a folder with a home of autofit, for one round of a kill storm."""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

END_SECONDS = 600.0
POLL_SECONDS = 0.002
# For what lasts a few milliseconds itself.
FINE_POLL_SECONDS = 0.0003
# For a look at all processes, which takes their own time from them.
COARSE_POLL_SECONDS = 0.02


class Wrong(Exception):
    """A round that showed what must not be."""


def until(condition, seconds, poll=POLL_SECONDS):
    """What condition gives once it is true; what it gave last, when late."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(poll)


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def names_in(*parts):
    try:
        return sorted(os.listdir(os.path.join(*parts)))
    except OSError:
        return []


def processes_with(entry):
    """Living processes that have the entry in their environment."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and entry in read("/proc/%s/environ" % name).split(
            b"\0"
        ):
            found.append(int(name))
    return found


def processes_of(words):
    """Living processes that were started with these words."""
    command = b"\0".join([*words, b""])
    return [int(name) for name in os.listdir("/proc") if name.isdigit()
            and read("/proc/%s/cmdline" % name) == command]


def children_of(pid):
    return [int(child) for child in
            read("/proc/%d/task/%d/children" % (pid, pid)).split()]


def living_below(pid, besides):
    """Descendants that are no zombies, whatever their environment is."""
    found = []
    for child in children_of(pid):
        if child == besides:
            continue
        state = read("/proc/%d/stat" % child).rpartition(b") ")[2][:1]
        if state not in (b"Z", b""):
            found.append(child)
        found += living_below(child, besides)
    return found


def keeper_of(pid):
    for child in children_of(pid):
        if read("/proc/%d/comm" % child) == b"autofit-keeper\n":
            return child
    return None


def mount_space(pid):
    try:
        return os.readlink("/proc/%s/ns/mnt" % pid)
    except OSError:
        return None


def mounts():
    return set(read("/proc/self/mountinfo").splitlines())


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


def describe(pids):
    return ["%d (%s)%s" % (
        pid, read("/proc/%d/cmdline" % pid).replace(b"\0", b" ").decode(),
        "" if mount_space(pid) == mount_space("self") else
        " with mounts of its own") for pid in pids]


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
        os.chmod(self.path, 0o666)

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
        if not until(self._speak, END_SECONDS):
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
            if not until(ended, END_SECONDS):
                raise Wrong("the child from before autofit does not end")
        except ChildProcessError:
            raise Wrong("the child from before autofit was reaped") from None
        if ends[1] != self.status << 8:
            raise Wrong("the child from before autofit ended with %d" % ends[1])


class Start:
    """One start of autofit, with what it leaves."""

    def __init__(self, place, number, bystander, options):
        self.begun = time.monotonic()
        stem = os.path.join(place.folder, "start-%d" % number)
        self.report = stem + ".json"
        self.log = stem + ".log"
        storm = place.storm
        command = [storm.autofit, *([] if place.play.launch else ["tune", "--largest"]),
                   *storm.options, *options, "--json", self.report, "--", *storm.command]
        if bystander:
            command = ["sh", "-c", Bystander.SHELL, "sh", *command]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                command, env=place.environment, cwd=place.folder, stdout=log,
                stderr=log, stdin=subprocess.DEVNULL, **place.identity)
        self.pid = self.process.pid

    def has_ended(self):
        return self.process.poll() is not None

    def end(self):
        try:
            return self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            raise Wrong("autofit does not end") from None

    def result(self):
        with open(self.report, encoding="utf-8") as file:
            return json.load(file)

    def runs(self, word):
        return read(self.log).count(word)

    def is_waiting(self):
        return b"waiting for process" in read(self.log)

    def is_autofit(self):
        # In this order: a zombie keeps its name.
        return (read("/proc/%d/comm" % self.pid) == b"autofit\n"
                and not self.has_ended())


class Place:
    """A folder of its own, and starts of autofit in it."""

    def __init__(self, storm, play):
        self.storm, self.play = storm, play
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="kill_storm-"))
        self.home = os.path.join(self.folder, "home")
        self.mark = b"AUTOFIT_HOME=" + os.fsencode(self.home)
        self.mounts = mounts()
        self.bystander = Bystander(self.folder, play.status)
        self.starts = []
        self.probes_seen = set()
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith("AUTOFIT")}
        self.environment.update(
            AUTOFIT_HOME=self.home, BYSTANDER=self.bystander.path,
            STORM=os.path.basename(self.folder))
        self.identity = {}
        if play.user != os.geteuid():
            self.identity = {"user": play.user, "group": play.user,
                             "extra_groups": []}
            os.chown(self.folder, play.user, play.user)

    def start(self, bystander=False, options=()):
        start = Start(self, len(self.starts) + 1, bystander, options)
        self.starts.append(start)
        if not until(lambda: start.is_autofit() or start.has_ended(), END_SECONDS):
            raise Wrong("autofit does not start")
        return start

    def probe_id(self):
        """Of the probe under way, as the lock tells."""
        for name in names_in(self.home, "locks"):
            path = os.path.join(self.home, "locks", name)
            for line in read(path).split(b"\n"):
                if line.startswith(b"probe_id=") and len(line) > 9:
                    probe = line[9:].decode()
                    self.probes_seen.add(probe)
                    return probe
        return None

    def journal(self):
        """The probes that need not be repeated, by their logs."""
        done = []
        for name in names_in(self.home, "journals"):
            text = read(os.path.join(self.home, "journals", name))
            for line in text[: text.rfind(b"\n") + 1].splitlines()[1:]:
                done.append(json.loads(line)["log"])
        return done

    def logs(self):
        found = []
        for folder, _, names in os.walk(os.path.join(self.home, "logs")):
            found += [os.path.join(folder, name) for name in names]
        return set(found)

    def no_torn_record(self):
        done = subprocess.run(
            [self.storm.autofit, "show"], env=self.environment, check=False,
            cwd=self.folder, capture_output=True, **self.identity)
        if done.returncode or b"passed over" in done.stdout or done.stderr:
            raise Wrong("a torn record: %s" % done)

    def is_unwritten(self, folder, name):
        """A lease of one that was killed between making and writing it, which
        tells of nobody: the first tuning a minute later takes it away.
        """
        path = os.path.join(self.home, folder, name)
        return ".lease.new." in name and not read(path)

    def leftovers(self):
        """What a start that came to its end may not leave."""
        left = cgroups_left(self.probes_seen)
        left += [line for line in mounts() - self.mounts
                 if os.fsencode(self.folder) in line]
        for name in ("scratch", "leases", "journals"):
            left += [os.path.join(self.home, name, x)
                     for x in names_in(self.home, name)
                     if not self.is_unwritten(name, x)]
        records = names_in(self.home, "records")
        if len(records) != 1 or not records[0].endswith(".ini"):
            left.append("records %s" % records)
        left += [x for x in names_in(self.folder) if x.startswith("written-")]
        left += [x for x in names_in("/dev/shm")
                 if x.startswith(self.environment["STORM"])]
        return left + describe(processes_with(self.mark))

    def nothing_runs(self):
        """Of no environment at all, with mounts of its own or without."""
        pid = self.bystander.pid()
        if not until(lambda: not living_below(os.getpid(), pid), END_SECONDS,
                     COARSE_POLL_SECONDS):
            raise Wrong("still there: %s" % describe(
                living_below(os.getpid(), pid)))

    def remove(self):
        for pid in processes_with(self.mark):
            kill(pid)
        if self.bystander.pid():
            kill(self.bystander.pid())
        with contextlib.suppress(ChildProcessError):
            until(lambda: os.waitpid(-1, os.WNOHANG) == (0, 0), END_SECONDS)
        for name in names_in("/dev/shm"):
            if name.startswith(self.environment["STORM"]):
                os.unlink(os.path.join("/dev/shm", name))
        shutil.rmtree(self.folder)
