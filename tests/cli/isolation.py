#!/usr/bin/env python3
# Trainers that write everywhere: no probe changes a file of the user's.
# SPDX-License-Identifier: MIT
# CTEST COST 200
"""isolation.py [WORD]: with WORD only the checks whose name holds it.

Each kind of helpers/misbehave.py is tuned in a folder of its own in every way
of isolation that works here. All that can be told of the folder - names, types,
modes, owners, times, inodes, contents - is the same afterwards; the real run
finds and leaves what it would have without autofit. A second way to the same
isolation - another user, by an option - plays every third kind by day, and all
of them with AUTOFIT_NIGHTLY=1.
"""
import collections
import concurrent.futures
import ctypes
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # nothing new beside this file
sys.path.append(os.path.join(os.path.dirname(__file__), "helpers"))

import folders  # noqa: E402
import lib  # noqa: E402
import scene  # noqa: E402
import storm  # noqa: E402

HELPERS = os.environ["HELPERS"]
SYSTEM_PYTHON = "/usr/bin/python3"
PYTHON = SYSTEM_PYTHON if os.path.exists(SYSTEM_PYTHON) else sys.executable
JOBS = max(2, min(4, os.cpu_count() or 1))
STEPS = 8
SECOND_WAY = 1 if os.environ.get("AUTOFIT_NIGHTLY") == "1" else 8
OPTIONS = ["--device", "host", "--memory", "256MiB", "--headroom", "32MiB"]
OPTIONS += ["--confirm-steps", "3", "--max-micro", "4"]
REMEDIES = (r"\{out", "--allow-writes")
LANDLOCK_CREATE_RULESET = 444
LANDLOCK_VERSION = 1

# refused: the file that Landlock keeps from being written, as it is named; ""
# where nothing is refused; None where it depends on who is faster. allow: what
# has to be allowed instead.
Row = collections.namedtuple("Row", "kind refused allow")
ROWS = [
    Row("nothing", "", []),
    Row("save", r"ckpt\.pt", ["work"]),
    Row("append", r"train\.log", ["work/train.log"]),
    Row("truncate", r"weights\.bin", ["work/data"]),
    Row("replace", r"ckpt\.pt\.new", ["work"]),
    Row("move-away", r"ckpt\.before\.pt", ["work"]),
    Row("unlink", r"ckpt\.pt", ["work"]),
    Row("remove-folder", r"state|old", ["work"]),
    Row("rename-folder", r"old", ["work"]),
    Row("symbolic-link", r"link\.pt", ["common/target.pt"]),
    Row("linked-folder", r"deep\.pt", ["common"]),
    Row("hard-link", r"hard\.pt", ["work/hard.pt", "common/hard.pt"]),
    Row("parent", r"out/ckpt\.pt", ["out"]),
    Row("elsewhere", r"ckpt\.pt", ["out"]),
    Row("absolute", r"abs/ckpt\.pt", ["abs"]),
    Row("proc-cwd", r"ckpt\.pt", ["work"]),
    Row("proc-root", r"ckpt\.pt", ["work"]),
    Row("grandchild", r"ckpt\.pt", ["work"]),
    Row("daemon", None, ["work"]),
    Row("mode", r"ckpt\.pt", ["work"]),
    Row("times", r"ckpt\.pt", ["work"]),
    Row("attribute", r"ckpt\.pt", ["work"]),
    Row("trees", r"wandb", ["work"]),
    Row("mapped", r"weights\.bin", ["work/data"]),
    Row("link-into", r"linked\.pt", ["work"]),
    Row("sparse", r"big\.bin", ["work/big.bin"]),
    Row("special", r"pipe", ["work"]),
    Row("fixed-temporary", r"/tmp/misbehave-", ["/tmp"]),
    Row("own-temporary", "", []),
    Row("home", r"state", ["user/.misbehave"]),
    Row("cache", "", []),
    Row("project", r"state|misbehave", ["user/.cache/misbehave"]),
    Row("script", r"train\.py", ["work/train.py"]),
    Row("database", r"steps\.db|database", ["work"]),
    Row("many", r"shards", ["work/shards"]),
    Row("output", "", []),
    Row("shared-memory", "", []),
    Row("held-memory", "", []),
    Row("silent", "", []),
    Row("warns", r"ckpt\.pt", ["work"]),
    Row("native", r"ckpt\.pt", ["work"]),
    Row("shell", r"train\.log", ["work/train.log"]),
]
# Landlock knows nothing of these: they are seen, once they are done.
UNSEEN = ("mode", "times", "attribute")

# Closed again in a /dev/shm that everybody shares: whose it is nobody knows.
NAMED = ("shared-memory",)

# What keeps the probes, for whom, and how autofit is brought to it.
Mode = collections.namedtuple("Mode", "name isolation uid prefix options")

only = sys.argv[1] if len(sys.argv) > 1 else ""


class Checks(list):
    """Of one scene: lib.check() is called where they can be in order."""

    def __init__(self, name):
        super().__init__()
        self.name = name

    def check(self, what, good, detail=""):
        self.append(("%s: %s" % (self.name, what), good, detail))
        return good

    def equal(self, what, got, wanted):
        return self.check(
            what, got == wanted, "got:    %r\nwanted: %r" % (got, wanted))

    def same(self, what, changes, answer=""):
        return self.check(
            what, not changes, "\n".join(changes) + "\n" + str(answer))


def command_of(kind):
    if kind == "shell":
        words = ["./run.sh", "--kind", "nothing"]
    else:
        words = [PYTHON, "train.py", "--kind", kind]
    words += ["--batch-size", "2", "--grad-accum", "2", "--steps", str(STEPS)]
    if kind == "output":
        words += ["--output-dir", "runs/out"]
    return words


class Stage:
    """Where autofit and its helper can be reached by every user."""

    def __init__(self, folder):
        os.chmod(folder, 0o755)
        self.autofit = shutil.copy(lib.AUTOFIT, folder)
        self.forbid = shutil.copy(os.path.join(HELPERS, "forbid"), folder)
        self.is_root = os.geteuid() == 0
        # One that nobody else has, so that two tests do not meet.
        self.user = 200000 + os.getpid() if self.is_root else os.geteuid()

    def scene(self, mode, state=scene.FULL):
        prefix = [self.forbid, mode.prefix] if mode.prefix else []
        return scene.Scene(self.autofit, PYTHON, mode.uid, prefix, state)

    def as_user(self, uid, argv, folder):
        user = {}
        if self.is_root and uid:
            user = {"user": uid, "group": uid, "extra_groups": []}
        done = subprocess.run(
            argv, cwd=folder, capture_output=True, check=False, **user)
        return done.returncode == 0

    def has_layers(self, uid):
        """By other means than autofit's: can this user have a view at all?"""
        with tempfile.TemporaryDirectory() as folder:
            for name in ("lower", "upper", "work", "merged"):
                os.mkdir(os.path.join(folder, name))
            for name in ("", "lower", "upper", "work", "merged"):
                if self.is_root:
                    os.chown(os.path.join(folder, name), uid, uid)
            script = ("mount -t overlay -o lowerdir=lower,upperdir=upper,"
                      "workdir=work%s x merged && echo x >merged/x" % (
                          ",userxattr" if uid else ""))
            how = ["unshare", "-Urm" if uid else "-m"]
            return self.as_user(uid, [*how, "sh", "-c", script], folder)


def has_landlock():
    libc = ctypes.CDLL(None)
    return libc.syscall(
        LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0),
        LANDLOCK_VERSION) > 0


def find_modes(stage):
    modes = []
    for name, uid in (("root", 0), ("user", stage.user)):
        if uid == 0 and not stage.is_root:
            continue
        if stage.has_layers(uid):
            modes.append(Mode("view, " + name, "view", uid, "", []))
        else:
            print("skipped: no view for " + name)
    if not has_landlock():
        print("skipped: no Landlock")
        return modes
    modes.append(Mode("landlock, no namespaces", "landlock", stage.user,
                      "namespaces", []))
    modes.append(Mode("landlock, as asked", "landlock",
                      0 if stage.is_root else stage.user, "",
                      ["--isolation", "landlock"]))
    return modes


def tune(place, mode, kind, *options):
    return place.run("tune", *mode.options, *OPTIONS, *options, "--",
                     *command_of(kind))


def launch(place, mode, kind, *options):
    return place.run(*mode.options, *OPTIONS, *options, "--",
                     *command_of(kind))


def without(changes, *labels):
    """The lines of differences() that are about nothing below the labels."""
    return [line for line in changes
            if not any(re.match(re.escape(label) + r"[/:]", line)
                       for label in labels)]


def unchanged(checks, place, kind, answer):
    """The promise itself, and that nothing of the probes lives on."""
    changes = place.changes()
    if kind == "cache":
        checks.check("a cache is written for real",
                     "user/.cache/huggingface/hub/state: new" in changes,
                     changes)
        changes = without(changes, "user/.cache")
    checks.same("nothing has changed", changes, answer)
    checks.equal("nothing is left behind", place.left_behind(), [])


def finals(place):
    found = folders.without_times(place.walk(), place.folder)
    # Where probes cannot make them, folders of caches were in it for a while.
    found["user/.cache"] = found["user/.cache"]._replace(modified=0)
    return {label: entry for label, entry in found.items()
            if not re.search(r"/(misbehave-|tmp/tmp)", label)}


# Of the real command without autofit, by kind and by how full its folder was.
Plain = collections.namedtuple("Plain", "resumed found")


def play_plain(stage, kind, state, argv, uid):
    with stage.scene(Mode("", "", uid, "", []), state) as place:
        status, output = place.plain(argv)
        reports = place.reports("run")
        assert status == 0 and len(reports) == 1, (kind, output)
        return Plain(reports[0]["resumed"], finals(place))


def runs_as_without(checks, stage, place, mode, kind, answer):
    """After a launch: the run found, did and left what it does bare."""
    if not checks.equal("launch: exit status", answer.status, 0):
        checks.check("launch: report", False, answer)
        return None
    argv = answer.result["recommended"]["argv"]
    plain = play_plain(stage, kind, place.state, argv, mode.uid)
    reports = place.reports("run")
    checks.equal("launch: one run, from where it would start",
                 [report["resumed"] for report in reports], [plain.resumed])
    checks.same("launch: leaves what it leaves without autofit",
                folders.differences(plain.found, finals(place)), answer)
    checks.equal("launch: nothing else is left", place.left_behind(), [])
    return plain.resumed


def in_force(checks, mode, answer):
    checks.equal("the isolation in force",
                 (answer.result or {}).get("isolation"), mode.isolation)


def tuned(checks, answer):
    outcome = (answer.result or {}).get("outcome")
    return checks.check("tuned", answer.status == 0 and outcome == "tuned",
                        answer)


def refused(checks, place, answer, *patterns):
    """Exit 123 with the words, no run, and everything is as it was."""
    checks.equal("refused: exit status", answer.status, 123)
    flat = re.sub(r"\s+", " ", answer.err)
    missing = [p for p in patterns if not re.search(p, flat)]
    checks.check("refused: says which file, and what to do", not missing,
                 "no %s in:\n%s" % (missing, answer))
    checks.equal("refused: nothing on stdout", answer.out, "")


def play_full(stage, mode, row):
    """Tuned where there is something to resume from, and run there."""
    checks = Checks("%s: %s" % (mode.name, row.kind))
    with stage.scene(mode) as place:
        answer = tune(place, mode, row.kind)
        if tuned(checks, answer):
            in_force(checks, mode, answer)
        unchanged(checks, place, row.kind, answer)
        reports = place.reports("probe")
        checks.check("probes have run", len(reports) >= 2, answer)
        answer = launch(place, mode, row.kind)
        resumed = runs_as_without(
            checks, stage, place, mode, row.kind, answer)
        # Its folder is a fresh one in each probe.
        if resumed is not None and row.kind != "output":
            checks.equal("every probe starts where the run does",
                         {r["resumed"] for r in reports} - {resumed},
                         set())
    return checks


def play_bare(stage, mode, row):
    """Launched where there is nothing to resume from."""
    checks = Checks("%s: %s, bare" % (mode.name, row.kind))
    with stage.scene(mode, scene.BARE) as place:
        answer = launch(place, mode, row.kind)
        tuned(checks, answer)
        runs_as_without(checks, stage, place, mode, row.kind, answer)
    return checks


def allowed_paths(place, row):
    return [place.outside.get(name) or place.path(name) for name in row.allow]


def named_once(checks, place, answer):
    """By one line, if it is left; a probe that is seen to hold it leaves none:
    autofit removes what its probes held."""
    path = place.outside["/dev/shm"]
    runs = place.reports("run")
    is_left = runs[0]["resumed"] > 0 if runs else os.path.exists(path)
    lines = re.findall("^autofit: .*" + re.escape(path) + r"\b.*real",
                       answer.err, re.MULTILINE)
    checks.check("one line names what is left in shared memory",
                 len(lines) == is_left, answer)
    # The real run asks whether TMPDIR can be written.
    checks.same("and nothing else is",
                without(place.changes(), "/dev/shm", "tmp"), answer)


def play_landlock(stage, mode, row):
    """Refused and nothing run; allowed, it is done for real."""
    checks = Checks("%s: %s" % (mode.name, row.kind))
    with stage.scene(mode) as place:
        answer = launch(place, mode, row.kind)
        if row.refused == "":
            tuned(checks, answer)
            in_force(checks, mode, answer)
            if row.kind in NAMED:
                named_once(checks, place, answer)
            else:
                runs_as_without(checks, stage, place, mode, row.kind, answer)
        elif row.refused or answer.status:
            refused(checks, place, answer, row.refused or r"ckpt\.pt",
                    *REMEDIES)
            checks.equal("refused: no run", place.reports("run"), [])
            if row.kind not in UNSEEN:
                unchanged(checks, place, row.kind, answer)
    if not row.allow:
        return checks
    checks.name += ", allowed"
    with stage.scene(mode) as place:
        options = []
        for path in allowed_paths(place, row):
            options += ["--allow-writes", path]
        answer = tune(place, mode, row.kind, *options)
        tuned(checks, answer)
        changes = place.changes()
        if row.refused is not None:
            checks.check("written for real", changes, answer)
        checks.same("and nothing else is", without(changes, *row.allow))
        checks.equal("nothing is left behind", place.left_behind(), [])
    return checks


COMPARE = (("forbidden", "namespaces,landlock", []),
           ("as asked", "", ["--isolation", "compare"]))


def play_compare(stage, mode):
    """No namespaces, no Landlock: nothing but looking before and after."""
    checks = Checks(mode.name + ", a checkpoint is there")
    with stage.scene(mode) as place:
        answer = launch(place, mode, "save")
        refused(checks, place, answer, r"\.pt", *REMEDIES)
        checks.equal("no probe was started", place.reports("probe"), [])
        checks.equal("nor in the result", answer.probes, [])
        unchanged(checks, place, "save", answer)
    for kind, named in (
        ("save", r"work/ckpt\.pt"), ("append", r"work/train\.log"),
        ("trees", "work/(runs|wandb)"), ("script", r"work/train\.py"),
        ("sparse", r"work/big\.bin"), ("link-into", r"work/(data|linked)"),
        ("hard-link", r"work/hard\.pt"), ("warns", r"work/ckpt\.pt"),
    ):
        checks.name = "%s: %s" % (mode.name, kind)
        with stage.scene(mode, scene.CLEAN) as place:
            answer = launch(place, mode, kind)
            refused(checks, place, answer, named, *REMEDIES)
            checks.equal("after the first probe",
                         len(place.reports("probe")), 1)
            checks.equal("nothing is left behind", place.left_behind(), [])
    for kind in ("nothing", "output", "own-temporary", "cache",
                 "shared-memory"):
        checks.name = "%s: %s" % (mode.name, kind)
        with stage.scene(mode, scene.CLEAN) as place:
            answer = tune(place, mode, kind)
            tuned(checks, answer)
            in_force(checks, mode, answer)
            if kind in NAMED:
                named_once(checks, place, answer)
            checks.equal("nothing is left behind", place.left_behind(), [])
            checks.same("no file of the working folder has changed",
                        [line for line in place.changes()
                         if line.startswith("work")], answer)
    return checks


def play_allowed_view(stage, mode):
    """What is allowed is written for real, and what lies beside it is not."""
    checks = Checks(mode.name + ", one file allowed")
    with stage.scene(mode) as place:
        answer = tune(place, mode, "append", "--allow-writes", "train.log")
        tuned(checks, answer)
        in_force(checks, mode, answer)
        changes = place.changes()
        checks.check("written for real", changes, answer)
        checks.same("and nothing else is", without(changes, "work/train.log"))
    checks.name = mode.name + ", a folder allowed"
    with stage.scene(mode) as place:
        answer = tune(place, mode, "many", "--allow-writes", "../work/shards")
        tuned(checks, answer)
        changes = place.changes()
        checks.check("written for real", changes, answer)
        checks.same("and nothing else is", without(changes, "work/shards"))
    checks.name = mode.name + ", allowed beside what is not"
    with stage.scene(mode) as place:
        answer = tune(place, mode, "save", "--allow-writes",
                      place.path("out"))
        tuned(checks, answer)
        unchanged(checks, place, "save", answer)
    checks.name = mode.name + ", what is allowed is not there"
    with stage.scene(mode) as place:
        answer = tune(place, mode, "save", "--allow-writes", "nowhere")
        checks.check("one line about it", answer.status == 125
                     and "nowhere" in answer.err, answer)
        unchanged(checks, place, "save", answer)
    return checks


# Under such names nobody knows a checkpoint.
NAMES = ("weights.h5", "params.npz", "policy.pkl", "model.bin", "agent.zip",
         "model.joblib", "results.db", "state", "deep/er/best", "empty")

DAMAGE = """
import os, shutil
os.utime("weights.h5", (1, 1))
with open("params.npz", "r+b") as file:
    file.truncate(3)
os.unlink("policy.pkl")
os.rename("model.bin", "model.bak")
os.chmod("agent.zip", 0)
with open("new", "w") as file:
    file.write("another file")
os.rename("new", "model.joblib")
with open("results.db", "ab") as file:
    file.write(b"more")
os.unlink("state")
os.mkdir("state")
shutil.rmtree("deep")
with open("empty", "w") as file:
    file.write("no more")
os.unlink("link")
os.symlink("/", "link")
with open("holes", "r+b") as file:
    file.seek(1 << 20)
    file.write(b"in a hole")
for step in range(4):
    print("step %d" % step, flush=True)
"""


def play_put_back(stage, mode):
    """What a probe does to files in folders that are compared is undone."""
    checks = Checks(mode.name + ", put back")
    command = [PYTHON, "damage.py", "--batch-size", "2"]
    with stage.scene(mode, scene.CLEAN) as place:
        for number, name in enumerate(NAMES):
            place.write("work/" + name, "old %d\n" % number
                        if name != "empty" else "", 0o600 + number)
        with open(place.path("work/holes"), "wb") as file:
            file.truncate(1 << 32)
            file.seek(1 << 31)
            file.write(b"in the middle")
        os.symlink("state", place.path("work/link"))
        place.write("work/damage.py", DAMAGE)
        place.hand_over()
        before = folders.walk({"work": place.path("work")})
        answer = place.run(*mode.options, *OPTIONS, "--", *command)
        refused(checks, place, answer, "work/holes", "put back", *REMEDIES)
        after = folders.walk({"work": place.path("work")})
        checks.equal("new is what is new", sorted(after.keys() - before.keys()),
                     ["work/model.bak"])
        for label, old in before.items():
            new = after.get(label, old._replace(kind="gone"))
            same = old._replace(changed=0, inode=0, links=0)
            if old.kind != stat.S_IFREG:
                same = same._replace(modified=0)
            checks.equal(label, new._replace(
                changed=0, inode=0, links=0,
                modified=new.modified if same.modified else 0), same)
    checks.name = mode.name + ", too much to keep"
    with stage.scene(mode, scene.CLEAN) as place:
        with open(place.path("work/data.bin"), "wb") as file:
            for _ in range(257):
                file.write(os.urandom(1 << 20))
        place.hand_over()
        answer = launch(place, mode, "nothing")
        refused(checks, place, answer, "256 MiB", *REMEDIES)
        checks.equal("no probe was started", place.reports("probe"), [])
        answer = tune(place, mode, "nothing", "--allow-writes",
                      place.path("work/data.bin"))
        tuned(checks, answer)
    return checks


# Changes a file and waits for ever, as does a child that hides.
HANGS = """
import os, subprocess, time
with open("weights.h5", "r+b") as file:
    file.write(b"broken")
subprocess.Popen(["/bin/sleep", "%d"], env={}, start_new_session=True)
print("changed", flush=True)
time.sleep(1000)
"""


def play_killed_in_compare(stage, mode):
    """Autofit, and its keeper too, is killed when a file has been changed."""
    checks = Checks(mode.name + ", killed")
    for both in (False, True):
        checks.name = "%s, killed%s" % (mode.name, ", and the keeper" * both)
        seconds = 3 * 10 ** 8 + os.getpid()
        with stage.scene(mode, scene.CLEAN) as place:
            path = place.write("work/weights.h5", "before\n")
            place.write("work/hangs.py", HANGS % seconds)
            place.hand_over()
            before = folders.walk({"work": place.path("work")})
            process = place.start("tune", *mode.options, *OPTIONS, "--",
                                  PYTHON, "hangs.py", "--batch-size", "2")
            hidden = [b"/bin/sleep", b"%d" % seconds]
            checks.check("a probe changes it", lib.wait_for(
                lambda: storm.read(path) == b"broken\n"
                and storm.processes_of(hidden)))
            keeper = storm.keeper_of(process.pid)
            if both:
                os.kill(keeper, signal.SIGSTOP)
            process.kill()
            if both:
                os.kill(keeper, signal.SIGKILL)
            _, err = process.communicate()
            checks.check("it is put back", lib.wait_for(
                lambda: storm.read(path) == b"before\n"), err)
            checks.check("it is said", b"is put back" in err, err)
            # Without a keeper its scratch folder is the next start's.
            checks.check("nothing of it lives", lib.wait_for(
                lambda: not storm.processes_of(hidden)
                and (both or not place.left_behind())), place.left_behind())
            after = folders.walk({"work": place.path("work")})
            checks.same("nothing else has changed", folders.differences(
                folders.without_times(before, place.folder),
                folders.without_times(after, place.folder)))
    return checks


def play_caches(stage, mode):
    """New files alone, and in the known folders alone."""
    checks = Checks(mode.name + ", a file of a shared cache is overwritten")
    for options in ((), ("--otherwise", "run")):
        with stage.scene(mode, scene.CLEAN) as place:
            place.write("user/.cache/huggingface/hub/state", "20\n")
            place.hand_over()
            answer = launch(place, mode, "cache", *options)
            refused(checks, place, answer, "hub/state", "nothing more is")
            checks.equal("nothing is run", place.reports("run"), [])
            checks.equal("nothing is left", place.left_behind(), [])
    checks.name = mode.name + ", a file that another is writing to a cache"
    with stage.scene(mode, scene.CLEAN) as place:
        state = place.write("user/.cache/huggingface/hub/state", "20\n")
        place.hand_over()
        # Whatever time autofit takes to come that far.
        os.utime(state, (time.time() + 3600,) * 2)
        tuned(checks, tune(place, mode, "cache"))
    checks.name = mode.name + ", output beside a cache"
    with stage.scene(mode) as place:
        place.env["HF_HOME"] = place.path("abs")
        answer = tune(place, mode, "absolute")
        if mode.isolation == "view":
            tuned(checks, answer)
            unchanged(checks, place, "absolute", answer)
        else:
            refused(checks, place, answer, r"abs/ckpt\.pt", *REMEDIES)
    return checks


WORDS = {"view": "copy-on-write", "landlock": "Landlock",
         "compare": "compared"}


def play_explain(stage, mode):
    checks = Checks(mode.name + ": explain")
    with stage.scene(mode, scene.CLEAN) as place:
        answer = place.run("explain", *mode.options, *OPTIONS, "--",
                           *command_of("save"))
        checks.check("names the isolation",
                     WORDS[mode.isolation] in answer.err + answer.out, answer)
        checks.equal("starts nothing", place.reports("probe"), [])
        unchanged(checks, place, "save", answer)
    return checks


def play_scratch(stage, mode):
    checks = Checks(mode.name + ": --scratch")
    with stage.scene(mode) as place:
        folder = place.path("elsewhere")
        os.mkdir(folder)
        os.chown(folder, mode.uid, mode.uid)
        answer = tune(place, mode, "output", "--scratch", folder)
        tuned(checks, answer)
        outputs = [r["output"] for r in place.reports("probe")]
        checks.check("probes write there",
                     outputs and all(x.startswith(folder) for x in outputs),
                     outputs)
        unchanged(checks, place, "output", answer)
        checks.equal("it is empty again", os.listdir(folder)
                     if os.path.isdir(folder) else [], [])
    return checks


def play_killed(stage, mode):
    """Autofit is killed in the middle of a probe that writes."""
    checks = Checks(mode.name + ": autofit is killed")
    with stage.scene(mode) as place:
        process = place.start(
            "tune", *mode.options, *OPTIONS, "--probe-steps", "10000",
            "--confirm-steps", "10000", "--", PYTHON, "train.py",
            "--kind", "replace" if mode.isolation == "view" else "nothing",
            "--batch-size", "2", "--steps", "100000")
        reports = []
        lib.wait_for(lambda: reports.extend(place.reports("probe"))
                     or reports)
        checks.check("a probe runs", reports)
        process.kill()
        process.communicate()
        lib.wait_for(lambda: not place.left_behind())
        unchanged(checks, place, "replace", "")
    return checks


TORCH = ["--device", "host", "--memory", "2GiB", "--confirm-steps", "3",
         "--max-micro", "2"]


def torch_launch(place, mode, *words):
    return place.run(
        *mode.options, *TORCH, "--", SYSTEM_PYTHON, "torch_train.py",
        "--batch-size", "2", "--grad-accum", "1", "--steps", str(STEPS),
        *words)


def play_torch(stage, mode):
    """torch.save and two loading workers, with a checkpoint that is there."""
    checks = Checks(mode.name + ": torch")
    with stage.scene(mode, scene.CLEAN) as place:
        def bare(*words):
            return place.plain([SYSTEM_PYTHON, "torch_train.py", "--steps",
                                str(scene.STEP), *words])

        words = ["--output-dir", "runs/out"]
        status, output = bare(*words)
        status, output = (status, output) if status else bare()
        checks.check("trains without autofit", status == 0, output)
        place.reports("run")
        place.before = place.walk()
        answer = torch_launch(place, mode)
        if mode.isolation == "landlock":
            refused(checks, place, answer, r"ckpt\.pt", *REMEDIES)
            unchanged(checks, place, "torch", answer)
            answer = torch_launch(place, mode, *words)
        tuned(checks, answer)
        in_force(checks, mode, answer)
        checks.equal("the run starts from the checkpoint that was there",
                     [r["resumed"] for r in place.reports("run")],
                     [scene.STEP])
        checks.equal("nothing is left behind", place.left_behind(), [])
    return checks


def plays_of(stage, modes):
    """(what it is called, function, arguments) of each."""
    plays = []
    views = [mode for mode in modes if mode.isolation == "view"]
    locks = [mode for mode in modes if mode.isolation == "landlock"]
    compares = [Mode("compare, " + name, "compare", stage.user, prefix, words)
                for name, prefix, words in COMPARE]
    if lib.has_modules(SYSTEM_PYTHON, "torch"):
        plays += [("torch", play_torch, stage, mode)
                  for mode in views[-1:] + locks[:1]]
    else:
        print("skipped: no torch for " + SYSTEM_PYTHON)
    plays += [("compare", play_compare, stage, mode) for mode in compares]
    plays += [("put back", play_put_back, stage, mode) for mode in compares]
    plays += [("killed", play_killed_in_compare, stage, compares[-1])]
    plays += [("allowed", play_allowed_view, stage, mode) for mode in views]
    for mode in modes:
        play = play_full if mode in views else play_landlock
        is_second = mode in views[:-1] or mode in locks[1:]
        rows = ROWS[:: SECOND_WAY if is_second else 1]
        plays += [(row.kind, play, stage, mode, row) for row in rows]
        plays += [("scratch", play_scratch, stage, mode),
                  ("killed", play_killed, stage, mode),
                  ("caches", play_caches, stage, mode)]
    plays += [(row.kind, play_bare, stage, mode, row)
              for mode in views[:1] for row in ROWS]
    plays += [("explain", play_explain, stage, mode)
              for mode in modes + compares]
    return [play for play in plays
            if only in "%s: %s" % (play[3].name, play[0])]


def main():
    with tempfile.TemporaryDirectory(prefix="autofit-stage-") as folder:
        stage = Stage(folder)
        modes = find_modes(stage)
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            for play in pool.map(lambda p: p[1](*p[2:]),
                                 plays_of(stage, modes)):
                for name, good, detail in play:
                    lib.check(name, good, detail)
    lib.finish()


if __name__ == "__main__":
    main()
