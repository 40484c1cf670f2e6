#!/usr/bin/env python3
# The step hook, from outside: counts are right and nothing else changes.
# SPDX-License-Identifier: MIT
# CTEST COST 90
#
# HOOK_PYTHONS (interpreters, separated by colons) names where to look for
# torch; else /usr/bin/python3 and python3. Without any torch the rest runs and
# the result is 77. The import of torch takes longer than any case of it: by day
# most cases are forked from a process that has done it (hook_server.py), as
# autofit's own zygote forks its probes; AUTOFIT_NIGHTLY=1 starts each afresh.
import ast
import concurrent.futures
import contextlib
import fcntl
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # nothing new beside this file

from lib import PATIENCE  # noqa: E402

SOURCE = os.environ.get("SOURCE") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
)
HOOK = os.path.join(SOURCE, "probes", "python")
MODULE = os.path.join(HOOK, "sitecustomize.py")
PACKAGE = os.path.join(HOOK, "autofit_hook")
DATA = os.path.join(SOURCE, "tests", "data")
FAKE = os.path.join(DATA, "hook_fake_torch")
FAKE_KERAS = os.path.join(DATA, "hook_fake_keras")
NIGHTLY = os.environ.get("AUTOFIT_NIGHTLY") == "1"

MAGIC, SLOTS, SLOT, HEADER = 0x31544946545541, 256, 144, 64
PYTHON, TORCH, CUDA, COMPILED, FAILED, OOMS = 1, 2, 4, 8, 16, 32
NEVER_STEPPED, SIZES_DIFFER, IN_ORDER, IDLE, FROZEN = 64, 128, 256, 512, 2048
BATCH_NORM, COMPARES = 4096, 8192
START, TRAIN, EVAL, SAVE = 0, 1, 2, 3
# Another's part of the file follows the slots.
REST = b"\xa5" * 99999
TORCH_CASES = (
    "sgd adam subclass inherited scheduler two_optimizers closure "
    "closure_of_three looked_at_twice failing_step deleted proxy around replaced_on_instance parts "
    "per_parameter copied unpickled_first threads workers imported_only "
    "by_hand by_grad by_grad_and_hand scripted by_hand_first shards few_data "
    "few_steps scaled caught in_order shuffled no_more validated idle"
    " frozen"
).split()
# Always started afresh: the plainest of each kind, what is only seen when a
# process ends that has imported torch itself, and one that starts another.
FRESH = (
    ("hook_cases.py", "sgd"),
    ("hook_cases.py", "imported_only"),
    ("hook_phases.py", "loop"),
    ("hook_phases.py", "oom_child"),
    ("hook_rows.py", "positional"),
)
# Backward passes of programs without an optimizer.
PASSES_BY_HAND = {"by_hand": 5, "by_grad": 5, "by_grad_and_hand": 3}
# Those of an optimizer's step.
PASSES_OF_STEP = {
    "sgd": 1, "shards": 2, "few_data": 4, "few_steps": 4, "scaled": 3,
    "caught": 3, "in_order": 1, "shuffled": 1, "no_more": 1,
    "validated": 1,
    "idle": 0, "frozen": 1, "closure": 1, "closure_of_three": 3,
    "looked_at_twice": 2,
}
DATA_OF = {"no_more": 5, "validated": 20}
LOOP = "start eval start save start" + " train eval train save train" * 2
# Case, exit status, phases seen on the way, then of its slot at the end: the
# phase and the number of out-of-memory errors.
PHASE_CASES = (
    ("loop", 0, LOOP + " train", TRAIN, 0),
    ("parts", 0, "start start start eval eval start eval", EVAL, 0),
    ("loaded", 0, "start eval", EVAL, 0),
    ("modes", 0, "", START, 0),
    ("errors", 0, "save train train save train train", TRAIN, 0),
    ("saver", 0, "", START, 0),
    ("saved_beside", 0, "save train train", TRAIN, 0),
)
OOM_CASES = (
    ("oom_start", 1, "", START, 1),
    ("oom_train", 1, "", TRAIN, 1),
    ("oom_eval", 1, "", EVAL, 1),
    ("oom_save", 1, "", SAVE, 1),
    ("oom_caught", 0, "", TRAIN, 3),
    ("oom_from_c", 1, "", TRAIN, 2),
    ("oom_thread", 0, "", START, 1),
    ("oom_child", 0, "train", TRAIN, 0),
    ("oom_forked", 0, "eval train", TRAIN, 0),
    ("oom_object", 0, "", START, 7),
)
# Case of hook_rows.py, exit status, rows seen. 0: none.
# Of these, after how many looks the inputs still had the same sizes.
SAME_SIZES = {"positional": 7, "keywords": 7, "nested": 7, "an_object": 7,
              "beside_an_object": 0,
              "last_batch": 0, "lengths": 0, "accumulated": 7, "one_step": 0,
              "left_out": 0, "leaves": 7}
# Of these, the second dimension of what goes in; of pictures there is none.
COLUMNS = {"positional": 8, "nested": 8, "an_object": 8, "last_batch": 8,
           "crops": 0, "list_of_pictures": 0}
# Of these the loss compares the samples with each other.
COMPARED = ("compared", "compared_views", "covariances")
# These where torch tells what the nodes of its graph make.
COMPARED_SINCE_2_1 = ("compared_by_einsum", "compared_by_broadcasting",
                      "distances_by_expansion")
ROWS_CASES = (
    ("positional", 0, 5),
    ("keywords", 0, 5),
    ("dictionary", 0, 5),
    ("nested", 0, 5),
    ("too_deep", 0, 5),
    ("encoding", 0, 5),
    ("words_and_pictures", 0, 5),
    ("list_of_dictionaries", 0, 5),
    ("list_of_batches", 0, 5),
    ("list_of_pictures", 0, 5),
    ("crops", 0, 5),
    ("packed", 0, 3),
    ("normed", 0, 5),
    ("normed_before", 0, 5),
    ("compared", 0, 5),
    ("compared_views", 0, 5),
    ("compared_by_einsum", 0, 5),
    ("compared_by_broadcasting", 0, 5),
    ("distances_by_expansion", 0, 5),
    ("as_many_tokens", 0, 5),
    ("covariances", 0, 5),
    ("kept_features", 0, 5),
    ("queue", 0, 5),
    ("classes", 0, 5),
    ("an_object", 0, 5),
    ("beside_an_object", 0, 5),
    ("empty", 0, 5),
    ("images", 0, 5),
    ("teacher", 0, 5),
    ("generator", 0, 5),
    ("last_batch", 0, 5),
    ("closure", 0, 5),
    ("accumulated", 0, 5),
    ("one_step", 0, 0),
    ("lengths", 0, 5),
    ("left_out", 0, 5),
    ("heavy", 0, 5),
    ("leaves", 0, 5000),
    ("leaves_twice", 0, 5000),
    ("one_gradient", 0, 5),
    ("leaves_scores", 0, 5000),
    ("leaves_anew", 0, 5000),
    ("data_parallel", 0, 5),
    ("distributed", 0, 5),
    ("overridden", 0, 5),
    ("overridden_whole", 0, 5),
    ("replaced", 0, 5),
    ("mapped", 0, 0),
    ("scripted", 0, 5),
    ("traced", 0, 5),
    ("checkpointed", 0, 5),
    ("functional", 0, 0),
    ("fails", 1, 5),
    ("fails_once", 0, 3),
    ("profiled", 0, 0),
    ("profiled_later", 0, 0),
    ("forked", 0, 5),
    ("workers", 0, 5),
    ("threads", 0, 5),
)
COMPILED_ROWS_CASES = (
    ("compiled", 0, 5),
    ("compiled_part", 0, 5),
    ("compiled_sizes", 0, 5),
    ("compiled_function", 0, 0),
)
# Of processes that the case starts: the phase and the errors.
CHILDREN = {"oom_child": [(TRAIN, 3)], "oom_forked": [(EVAL, 1)]}

failures = []


def check(title, good, detail=""):
    if not good:
        failures.append(title)
        print("FAILED %s: %s" % (title, detail))


class Page(object):
    """A page as autofit makes it, in a folder that goes away."""

    def __init__(self, content=None):
        self.folder = tempfile.mkdtemp(prefix="python_hook-")
        self.path = os.path.join(self.folder, "channel")
        with open(self.path, "wb") as file:
            if content is None:
                content = struct.pack("=QII48x", MAGIC, SLOTS, SLOT)
                content += bytes(SLOTS * SLOT) + REST
            file.write(content)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def fill(self, pid):
        with open(self.path, "r+b") as file:
            for slot in range(SLOTS):
                file.seek(HEADER + slot * SLOT)
                file.write(struct.pack("=I", pid))

    def slots(self):
        names = (
            "pid flags start steps last retries peak rank phase ooms rows "
            "passes batches loader world group first rest forward same_sizes "
            "columns later last_pass reserved pass data"
        ).split()
        with open(self.path, "rb") as file:
            data = file.read()
        check("the rest is left alone", data.endswith(REST), data[-9:])
        found = []
        for slot in range(SLOTS):
            at = HEADER + SLOT * slot
            values = struct.unpack_from("=IIQQQQQi9IQQHHIQQQI", data, at)
            if values[0]:
                found.append(dict(zip(names, values)))
        return found


def environment(page, path, extra=None):
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "AUTOFIT_", "RANK"))
    }
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    if page:
        env["AUTOFIT_CHANNEL"] = page
    if path:
        env["PYTHONPATH"] = ":".join(path)
    env.update(extra or {})
    return env


def run(argv, env):
    """(status, stdout, stderr, pid) of a program with nothing on stdin."""
    process = subprocess.Popen(
        argv,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd="/",
        universal_newlines=True,
    )
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err, process.pid


def real_path(name):
    """The interpreter itself, not a script that starts it; None: none."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        code = "import sys; print(sys.executable)"
        status, out, _, _ = run([name, "-c", code], environment(None, []))
        if status == 0:
            return out.strip()
    return None


def own_steps(page, pid):
    return [slot["steps"] for slot in page.slots() if slot["pid"] == pid]


# --- the program is as it would be without the hook


def same_with_hook(title, python, argv, path, channel=None, extra=None):
    """Returns the slots written; the channel is a fresh page by default."""
    with Page() as page:
        where = page.path if channel is None else channel
        plain = run([python] + argv, environment(None, path, extra))
        hooked = run([python] + argv, environment(where, [HOOK] + path, extra))
        status, out, err, pid = hooked
        seen = (status, out, without_own_frame(err))
        check(title, plain[:3] == seen, "%r\nnot %r" % (hooked, plain))
        return [slot for slot in page.slots() if slot["pid"] == pid]


def without_own_frame(err):
    """A traceback through the user's module shows who imported it."""
    lines = err.splitlines(True)
    for i, line in enumerate(lines):
        if line.startswith('  File "%s/' % HOOK):
            end = i + 1
            while end < len(lines) and lines[end].startswith("    "):
                end += 1
            return "".join(lines[:i] + lines[end:])
    return err


LOOK = """
import os, sys
print([p for p in sys.path])
print(getattr(sys.modules.get("sitecustomize"), "__file__", None))
print(getattr(sys.modules.get("usercustomize"), "__file__", None))
try:
    import sitecustomize
    print(getattr(sitecustomize, "MARK", None))
except ImportError as error:
    print(error)
sys.exit(3)
"""

USER_MODULES = {
    "plain": "MARK = 'mine'\n",
    "prints": "import sys\nprint('hello')\nsys.stderr.write('you')\n",
    "value error": "raise ValueError('mine')\n",
    "import error": "import no_such_module_at_all\n",
    "own import error": "raise ImportError('mine', name='sitecustomize')\n",
    "exit": "raise SystemExit(9)\n",
    "syntax": "def:\n",
}


def user_modules(python, is_old):
    for title, text in USER_MODULES.items():
        if is_old and title == "own import error":
            continue
        with Page() as page:
            name = os.path.join(page.folder, "sitecustomize.py")
            with open(name, "w") as file:
                file.write(text)
            slots = same_with_hook(
                "user's: %s, %s" % (title, python),
                python,
                ["-c", LOOK],
                [page.folder],
            )
            check("hello before " + title, is_old or len(slots) == 1, slots)
    with Page() as page:
        for name in ("sitecustomize", "usercustomize"):
            package = os.path.join(page.folder, name)
            os.mkdir(package)
            with open(os.path.join(package, "__init__.py"), "w") as file:
                file.write("MARK = 'package %s'\n" % name)
        argv = ["-c", LOOK]
        same_with_hook("packages, " + python, python, argv, [page.folder])


def options(python, is_old):
    for flags, hello in (
        ([], True),
        (["-S"], False),
        (["-E"], False),
        (["-I"], False),
        (["-s"], True),
        (["-OO"], True),
        (["-W", "error"], True),
    ):
        if is_old and flags == ["-I"]:
            continue
        title = "option %s, %s" % (" ".join(flags), python)
        # Without site, PYTHONPATH stands in sys.path as it was given.
        code = "print(1)" if flags == ["-S"] else LOOK
        slots = same_with_hook(title, python, flags + ["-c", code], [])
        expected = 1 if hello and not is_old else 0
        check(title + ": hello", len(slots) == expected, slots)


def broken_channels(python):
    header = struct.pack("=QII48x", MAGIC, SLOTS, SLOT)
    for title, content in (
        ("empty", b""),
        ("short", header),
        ("cut", header + bytes(SLOTS * SLOT - 1)),
        ("zero", bytes(HEADER + SLOT * SLOTS)),
        ("noise", b"\xff" * (HEADER + SLOT * SLOTS)),
        ("fewer slots", struct.pack("=QII", MAGIC, 2, SLOT) + bytes(99999)),
    ):
        with Page(content) as page:
            same_with_hook(title, python, ["-c", LOOK], [], page.path)
            with open(page.path, "rb") as file:
                check(title + " is left alone", file.read() == content)
    for title, path in (
        ("missing", "/nonexistent/channel"),
        ("folder", "/tmp"),
        ("no file", "/dev/null"),
        ("no name", ""),
    ):
        same_with_hook(title, python, ["-c", LOOK], [], path)


# --- slots


def full_page(python):
    with Page() as page:
        page.fill(os.getpid())
        run([python, "-c", "pass"], environment(page.path, [HOOK]))
        pids = {slot["pid"] for slot in page.slots()}
        check("live owners keep their slots", pids == {os.getpid()}, pids)
    with Page() as page:
        # No process can have it: PID_MAX_LIMIT is 2^22.
        page.fill(1 << 22)
        pid = run([python, "-c", "pass"], environment(page.path, [HOOK]))[3]
        check("a dead owner's is taken", own_steps(page, pid) == [0])


def slots_are_claimed_once(python):
    with Page() as page:
        env = environment(page.path, [HOOK], {"RANK": "5"})
        argv = [python, "-c", "import sys; sys.stdin.read()"]
        started = [
            subprocess.Popen(argv, env=env, stdin=subprocess.PIPE)
            for _ in range(12)
        ]
        for process in started:
            process.communicate()
        pids = sorted(slot["pid"] for slot in page.slots())
        check("one slot each", pids == sorted(p.pid for p in started), pids)
        check("rank", {slot["rank"] for slot in page.slots()} == {5})
    with Page() as page:
        code = "import os, sys; os.execv(sys.executable, [sys.executable,"
        argv = [python, "-c", code + " '-c', 'pass'])"]
        pid = run(argv, environment(page.path, [HOOK]))[3]
        check("exec keeps the slot", own_steps(page, pid) == [0])


def held_lock(python):
    with Page() as page, open(page.path, "r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        slots = same_with_hook(
            "somebody holds the lock", python, ["-c", LOOK], [], page.path
        )
        check("no slot without the lock", not slots and not page.slots())


def imports_little(python):
    code = "import sys; print(' '.join(sorted(sys.modules)))"
    with Page() as page:
        bare = run([python, "-c", code], environment(None, []))[1]
        more = run([python, "-c", code], environment(page.path, [HOOK]))[1]
    added = set(more.split()) - set(bare.split())
    check("modules added", added <= {"mmap", "fcntl", "time", "atexit"}, added)


# --- the newer way of torch, with a stand-in


def stand_in(python):
    every = PYTHON | TORCH | OOMS
    for title, extra, argv, flags, phase, ooms in (
        ("steps", {}, ["6"], every, TRAIN, 0),
        ("none yet", {}, ["0"], every | NEVER_STEPPED, START, 0),
        ("cuda", {"FAKE_CUDA": "1"}, ["2"], every | CUDA, TRAIN, 0),
        ("xpu", {"FAKE_XPU": "1"}, ["2"], every | CUDA, TRAIN, 0),
        ("compiled", {}, ["2", "compile"], every | COMPILED, TRAIN, 0),
        ("no hook", {"FAKE_BROKEN": "1"}, ["0"], PYTHON | FAILED, START, 0),
        ("saving", {}, ["2", "save"], every, SAVE, 0),
        ("errors", {}, ["2", "error"], every, TRAIN, 2),
        ("rows", {}, ["2", "rows"], every, TRAIN, 0),
        ("fixed", {"FAKE_FIXED": "1"}, ["1", "error"], 3, TRAIN, 0),
        ("fixed, cuda", {"FAKE_FIXED": "1", "FAKE_CUDA": "1"}, ["1"], 7, 1, 9),
        ("old, cuda", {"FAKE_OLD": "1", "FAKE_CUDA": "1"}, ["1"], 7, 1, 9),
    ):
        with Page() as page:
            program = os.path.join(DATA, "hook_fake_training.py")
            env = environment(page.path, [HOOK, FAKE], extra)
            status, out, err, pid = run([python, program] + argv, env)
            title = "stand-in: %s, %s" % (title, python)
            check(title, (status, err) == (0, ""), err)
            check(title + ", output", out == "expect %s\n" % argv[0], out)
            slots = [slot for slot in page.slots() if slot["pid"] == pid]
            seen = [
                (slot["steps"], slot["flags"], slot["phase"], slot["ooms"])
                for slot in slots
            ]
            good = seen == [(int(argv[0]), flags, phase, ooms)]
            check(title + ", slot", good, slots)
            rows = [slot["rows"] for slot in slots]
            good = rows == [7 if "rows" in argv else 0]
            check(title + ", rows", good, slots)
            if "FAKE_CUDA" in extra or "FAKE_XPU" in extra:
                told = (slots[0]["retries"], slots[0]["peak"],
                        slots[0]["reserved"])
                retries = 2 + 3 if "FAKE_CUDA" in extra else 0
                check(title + ", memory", told == (retries, 2000, 5001), told)
                rest = 700 if slots[0]["steps"] > 1 else 0
                check(title + ", at rest", slots[0]["rest"] == rest, slots)


# --- batches of Keras, with a stand-in


def batches_of_fit(python):
    """Whether it calls its callbacks in a thread or not."""
    trained = PYTHON | TORCH
    # Words, variables, what is told, and of each slot: batches, steps, flags.
    for words, extra, told, wanted in (
        ("7", {}, 14, [(7, 0, trained)]),
        ("7", {"FAKE_OLD": "1"}, 14, [(7, 0, trained)]),
        ("0", {}, 0, [(0, 0, PYTHON)]),
        # The optimizer's steps count where there are any.
        ("3 torch", {}, 6, [(0, 1, trained | OOMS)]),
        ("3 fork", {}, 7, [(1, 0, trained), (3, 0, trained)]),
    ):
        with Page() as page:
            program = os.path.join(DATA, "hook_fake_fit.py")
            env = environment(page.path, [HOOK, FAKE, FAKE_KERAS], extra)
            status, out, err, _ = run([python, program] + words.split(), env)
            title = "fit: %s %s, %s" % (words, extra, python)
            check(title, (status, err) == (0, ""), err)
            check(title + ", output", out == "told %d\n" % told, out)
            seen = [
                (slot["first"], slot["steps"], slot["flags"])
                for slot in page.slots()
            ]
            check(title + ", slots", seen == wanted, seen)


# As in the frameworks: module, class, method, the phase while it runs.
CALLS = """
transformers.trainer Trainer evaluate eval
transformers.trainer Trainer predict eval
transformers.trainer Trainer _save_checkpoint save
transformers.trainer Trainer save_model save
transformers.modeling_utils PreTrainedModel save_pretrained save
lightning.pytorch.loops.evaluation_loop _EvaluationLoop run eval
lightning.pytorch.trainer.trainer Trainer save_checkpoint save
pytorch_lightning.loops.evaluation_loop _EvaluationLoop run eval
pytorch_lightning.trainer.trainer Trainer save_checkpoint save
accelerate.accelerator Accelerator save_state save
accelerate.accelerator Accelerator save_model save
""".strip().split("\n")

METHOD = """
    def {1}(self, act, *rest, **more):
        "Runs act."
        act()
        return rest, more
"""

CALLER = """
import importlib, sys
import hook_slot, torch
optimizer = torch.optim.SGD([object()])
calls = [line.split(":") for line in sys.argv[2:]]
classes = [getattr(importlib.import_module(c[0]), c[1]) for c in calls]
if sys.argv[1] == "step":
    optimizer.step()
if sys.argv[1] == "train":
    torch.nn.Module().train()
if sys.argv[1] == "import":
    import colorsys
for owner, (_, _, name) in zip(classes, calls):
    class Own(owner):
        pass
    def own(self, *args, **more):
        return getattr(owner, name)(self, *args, **more)
    setattr(Own, name, own)
    for cls in (owner, Own):
        print(getattr(cls(), name)(hook_slot.note, 1, two=2))
        hook_slot.note()
    print(getattr(owner, name).__doc__, getattr(owner, name).__qualname__)
"""

NESTED = """
import hook_slot, torch
from transformers.trainer import Trainer
optimizer = torch.optim.SGD([object()])
optimizer.step()
note = hook_slot.note

class Weight(object):
    requires_grad = True

model = torch.nn.Module([Weight()])

def fail(text):
    raise RuntimeError(text)

def inner(text):
    model.eval().train()
    try:
        torch.save(lambda: fail(text))
    except RuntimeError:
        note()

for text in ("disk full", "CUDA out of memory."):
    Trainer().evaluate(lambda: inner(text))
    note()
    try:
        Trainer().evaluate(lambda: fail(text))
    except RuntimeError:
        note()
    torch.save(note)
    note()
    optimizer.step()
    note()
Trainer().evaluate(optimizer.step)
note()
"""


def frameworks(folder):
    """Modules of the names in CALLS, below the folder."""
    methods = {}
    for line in CALLS:
        module, owner, name, _ = line.split()
        methods.setdefault((module, owner), []).append(name)
    for (module, owner), names in methods.items():
        parts = module.split(".")
        for end in range(1, len(parts)):
            package = os.path.join(folder, *parts[:end])
            os.makedirs(package, exist_ok=True)
            with open(os.path.join(package, "__init__.py"), "w"):
                pass
        with open(os.path.join(folder, *parts) + ".py", "w") as file:
            file.write("class %s(object):\n" % owner)
            file.write("".join(METHOD.format(owner, name) for name in names))


def phases_of(out):
    return [x[6:] for x in out.split("\n") if x.startswith("phase ")]


def without_phases(out):
    lines = out.splitlines(True)
    return "".join(x for x in lines if not x.startswith("phase "))


def framework_calls(python):
    with tempfile.TemporaryDirectory(prefix="python_hook-") as folder:
        frameworks(folder)
        path = [FAKE, DATA, folder]
        argv = [":".join(line.split()[:3]) for line in CALLS]
        for way in ("import", "train", "step"):
            _, plain, phases, _ = with_page(
                "frameworks, %s, %s" % (way, python),
                [python, "-c", CALLER, way] + argv,
                path,
            )
            outside = "train" if way == "step" else "start"
            expected = []
            for line in CALLS:
                expected += [line.split()[3], outside] * 2
            title = "frameworks, %s, %s" % (way, python)
            check(title + ": phases", phases == expected, phases)
            check(title + ": ran", plain.count("{'two': 2}") == 22, plain)
        title = "nested calls, " + python
        phases = with_page(title, [python, "-c", NESTED], path)[2]
        expected = "eval train eval save eval train".split()
        expected += "save train eval save eval train train".split()
        check(title + ": phases", phases == expected, phases)


def with_page(title, argv, path):
    """
    The same with the hook and without, but for the phases that were seen:
    (status, output, the phases, the slots by pid, its own under None).
    """
    with Page() as page:
        plain = run(argv, environment(None, path))
        hooked = run(argv, environment(page.path, [HOOK] + path))
        return compared(title, plain, hooked, page.slots())


def compared(title, plain, hooked, slots):
    """Of the two runs of with_page(): what it returns."""
    status, out, err, pid = hooked
    seen = (status, without_phases(out), without_own_frame(err))
    check(title, plain[:3] == seen, "%r\nnot %r" % (hooked, plain))
    slots = {slot["pid"]: slot for slot in slots}
    slots[None] = slots.pop(pid, None)
    return status, plain[1], phases_of(out), slots


# --- the modules it tells of


def modules_of(page, pid, name="modules"):
    """The paths in modules.<pid>; None: there is no such file."""
    try:
        path = os.path.join(page.folder, "%s.%d" % (name, pid))
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return None
    check("modules: each ends with a NUL", data[-1:] == b"\0", data[-99:])
    return [os.fsdecode(name) for name in data.split(b"\0")[:-1]]


class Project(object):
    """
    A training of the user's own modules: FILES below its folder. Modules in
    lib/site-packages and in the folder of the interpreter are not his.
    """

    FILES = {
        "train.py": """
import os, sys
sys.path[1:1] = [os.path.join(sys.path[0], "lib", "site-packages")]
import helper, package.part, other, linked, old, nothing
import late_finder
os.chdir("/")
import torch, transformers, trl
weights = [object()]
optimizer = torch.optim.SGD(weights)
for step in range(int(sys.argv[1])):
    optimizer.step()
    if step == 1:
        import late
if len(sys.argv) > 2:
    pid = os.fork()
    if pid == 0:
        sys.exit(0)
    os.waitpid(pid, 0)
    os.kill(os.getpid(), int(sys.argv[2])) if sys.argv[2] != "0" else None
""",
        "helper.py": "",
        "late.py": "",
        "never.py": "",
        "late_finder.py": """
import sys, types
class Lazy(types.ModuleType):
    def __getattribute__(self, name):
        raise SystemExit("somebody asked for " + name)
sys.modules["lazy_one"] = Lazy("lazy_one")
class Odd(object):
    __file__ = 5
sys.modules["odd_one"] = Odd()
sys.modules["none_one"] = None
sys.modules["relative_one"] = types.ModuleType("relative_one")
sys.modules["relative_one"].__file__ = "gone.py"
sys.modules["compiled_one"] = types.ModuleType("compiled_one")
sys.modules["compiled_one"].__file__ = "/tmp/torchinductor_me/ab/cd.py"
""",
        "package/__init__.py": "",
        "package/part.py": "",
        "nothing/text": "a package without a file",
        "other-\u00e9/other.py": "",
        "real/linked.py": "",
        "lib/site-packages/installed.py": "",
        "lib/site-packages/transformers/__init__.py": "from . import _version",
        "lib/site-packages/transformers/_version.py": "",
        "lib/site-packages/trl/__init__.py": "import installed",
    }
    LOCAL = (
        "train.py helper.py late_finder.py package/__init__.py "
        "package/part.py real/linked.py old.py"
    ).split() + ["other-\u00e9/other.py"]

    def __init__(self, folder):
        self.folder = os.path.join(os.path.realpath(folder), "project")
        for name, text in self.FILES.items():
            path = os.path.join(self.folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text)
        os.symlink("real/linked.py", os.path.join(self.folder, "linked.py"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, python, page, words):
        extra = {"LC_ALL": "C.UTF-8"}
        self.compile_old(python)
        path = [HOOK, FAKE, self.path("other-\u00e9")]
        env = environment(page.path, path, extra)
        process = subprocess.Popen(
            [python, "train.py"] + words,
            cwd=self.folder,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        out = process.communicate(timeout=PATIENCE)[0]
        return process.returncode, out, process.pid

    def compile_old(self, python):
        """A module whose source stands beside a .pyc that is loaded."""
        with open(self.path("old.py"), "w"):
            pass
        code = "import py_compile as p; p.compile('old.py', 'old.pyc')"
        subprocess.check_call([python, "-c", code], cwd=self.folder)

    def expected(self, python, late):
        code = "import os, sys; print(os.path.realpath(sys.executable))"
        found = [run([python, "-c", code], environment(None, []))[1].strip()]
        found += [self.path(name) for name in self.LOCAL]
        found += [self.path("late.py")] if late else []
        for name in ("transformers/_version.py", "trl/__init__.py"):
            found.append(self.path("lib/site-packages/" + name))
        for folder, _, names in os.walk(os.path.join(FAKE, "torch")):
            found += [os.path.join(folder, name) for name in names]
        return {path for path in found if "_dynamo" not in path}


def modules(python):
    with tempfile.TemporaryDirectory(prefix="python_hook-") as folder:
        project = Project(folder)
        code = "import sys; sys.exit(sys.version_info < (3, 8))"
        is_new = run([python, "-c", code], environment(None, []))[0] == 0
        for title, words, late in (
            ("no step", ["0"], None),
            ("one step", ["1"], False),
            ("one step, killed", ["1", "9"], False),
            ("two steps, killed", ["2", "9"], True),
            ("two steps", ["2"], True),
            ("three steps, killed", ["3", "9"], True),
            ("four, and a fork that ends", ["4", "0"], True),
        ):
            with Page() as page:
                status, out, pid = project.run(python, page, words)
                title = "modules: %s, %s" % (title, python)
                check(title, status in (0, -9) and not out, (status, out))
                found = modules_of(page, pid)
                names = set(os.listdir(page.folder))
                # Sources that were not compiled before: see opened_files().
                names.discard("opened.%d" % pid)
                expected = {"channel", "modules.%d" % pid}
                if late is not None:
                    # By these a zygote is made.
                    expected.update(name + ".%d" % pid
                                    for name in ("imports", "start")
                                    if is_new)
                check(title + ", files", names == expected, names)
                expected = project.expected(python, late)
                if late is None:
                    # Nothing but what is looked for when it is imported.
                    wanted = {project.path(name) for name in project.LOCAL}
                    wanted.remove(project.path("train.py"))
                    check(title + ", the user's own",
                          wanted <= set(found or []) <= expected,
                          (found, wanted))
                    continue
                ours = {
                    path
                    for path in found or []
                    if not path.endswith(".pyc")
                }
                check(title + ", paths", ours == expected, ours ^ expected)
                check(title + ", once", len(found) == len(set(found)), found)


def hostile_places(python):
    """Where no file can be written the program does not notice."""
    program = os.path.join(DATA, "hook_fake_training.py")
    for title in ("read-only", "in the way"):
        with Page() as page:
            if title == "read-only":
                os.chmod(page.folder, 0o500)
            path = [HOOK, FAKE]
            code = (
                "import os, sys; os.mkdir(sys.argv[2] + '/modules.%d' % "
                "os.getpid()); exec(open(sys.argv[3]).read())"
            )
            argv = [python, program, "5"]
            if title == "in the way":
                argv = [python, "-c", code, "5", page.folder, program]
            status, out, err, _ = run(argv, environment(page.path, path))
            title = "modules, %s, %s" % (title, python)
            check(title, (status, err) == (0, ""), (status, err))
            check(title + ", output", out == "expect 5\n", out)
            left = [n for n in os.listdir(page.folder) if n.count(".") > 1]
            check(title + ", nothing left", not left, left)
            os.chmod(page.folder, 0o700)


def many_modules(python):
    """Bounded, and the framework's version is among what stays."""
    code = (
        "import os, sys, types, time\n"
        "folder = sys.argv[1]\n"
        "for i in range(3000):\n"
        "    name = 'many%04d' % i\n"
        "    module = sys.modules[name] = types.ModuleType(name)\n"
        "    module.__file__ = os.path.join(folder, name + '.py')\n"
        "    open(module.__file__, 'w').close()\n"
        "long = types.ModuleType('long')\n"
        "long.__file__ = '/' + 'x' * 5000\n"
        "sys.modules['long'] = long\n"
        "import torch\n"
        "optimizer = torch.optim.SGD([object()])\n"
        "optimizer.step()\n"
    )
    with Page() as page, tempfile.TemporaryDirectory() as folder:
        env = environment(page.path, [HOOK, FAKE])
        status, _, err, pid = run([python, "-c", code, folder], env)
        check("many modules", (status, err) == (0, ""), err)
        found = modules_of(page, pid) or []
        check("many modules: 2000", len(found) == 2000, len(found))
        check("many: torch", os.path.join(FAKE, "torch/__init__.py") in found)


OPENED = """
import io, os, pathlib, sys
os.chdir(sys.argv[1])
def touch(name, mode):
    open(name, mode).close()
touch("net.yaml", "r")
touch(os.path.abspath("net.yaml"), "rb")
pathlib.Path("sub/rate.toml").read_text()
os.close(os.open(b"bytes.ini", os.O_RDONLY))
touch("link.json", "r")
for mode in "wr":
    touch("own.json", mode)
touch("state.json", "r+")
touch("state.json", "r")
touch("weights.bin", "r")
touch("lib/site-packages/a.json", "r")
try:
    touch("missing.json", "r")
except OSError:
    pass
io.open("net.yaml").close()
if os.fork() == 0:
    touch("worker.json", "r")
    os._exit(0)
os.wait()
for number in range(100):
    touch("data/%d.json" % number, "r")
with open("a.py") as program:
    exec(program.read())
"""


def opened_files(python):
    """
    Of settings, and only those that were read, each once: the real path. Not
    before 3.8, and of one folder not many.
    """
    code = "import sys; sys.exit(sys.version_info < (3, 8))"
    is_new = run([python, "-c", code], environment(None, []))[0] == 0
    read = ["net.yaml", "sub/rate.toml", "bytes.ini", "real.json", "a.py"]
    title = "opened files, " + python
    with Page() as page, tempfile.TemporaryDirectory() as folder:
        for place in ("sub", "data", "lib/site-packages"):
            os.makedirs(os.path.join(folder, place))
        for name in read + ["state.json", "worker.json", "weights.bin",
                            "lib/site-packages/a.json"] + [
                                "data/%d.json" % n for n in range(100)]:
            open(os.path.join(folder, name), "w").close()
        os.symlink("real.json", os.path.join(folder, "link.json"))
        plain = run([python, "-c", OPENED, folder], environment(None, []))
        hooked = run([python, "-c", OPENED, folder],
                     environment(page.path, [HOOK]))
        check(title + ": ran", plain[:3] == hooked[:3] == (0, "", ""), hooked)
        found = modules_of(page, hooked[3], "opened") or []
        real = os.path.realpath(folder) + "/"
        found = [path[len(real):] for path in found if path.startswith(real)]
        read[4:4] = ["data/%d.json" % number for number in range(8)]
        check(title, found == (read if is_new else []), found)


# --- the exception that ends a process

RAISE = "import traceback\n%s\nraise ValueError('no column')\n"
OWN_HOOK = """
def own(kind, value, trace):
    sys.stderr.write("own hook\\n")
sys.excepthook = own
"""
CHAINED_HOOK = """
before = sys.excepthook
def own(kind, value, trace):
    sys.stderr.write("own hook\\n")
    before(kind, value, trace)
sys.excepthook = own
"""
BAD_TEXT = """
class Bad(Exception):
    def __str__(self):
        sys.exit("no text")
raise Bad()
"""
# Title, what comes before the raise (a whole program where it raises), and how
# its file begins after the time; None: there is none.
ERROR_CASES = (
    ("raised", "", b"-1 ValueError: no column\nTraceback "),
    ("in a rank", "RANK=3", b"3 ValueError: no column\nTraceback "),
    ("odd rank", "RANK=x", b"-1 ValueError: no column\nTraceback "),
    ("too large a rank", "RANK=99999999999", b"-1 ValueError: no column\n"),
    ("own hook", OWN_HOOK, b"-1 ValueError: no column\nTraceback "),
    ("chained hook", CHAINED_HOOK, b"-1 ValueError: no column\nTraceback "),
    (
        "hook put back",
        "sys.excepthook = sys.__excepthook__",
        b"-1 ValueError: no column\nTraceback ",
    ),
    ("hooks are the same", "print(sys.excepthook is sys.__excepthook__)", b"-1 "),
    ("hook deleted", "del sys.excepthook", b"-1 ValueError: no column\n"),
    ("hook that fails", "sys.excepthook = 7", b"-1 ValueError: no column\n"),
    ("exit", "sys.exit(4)", None),
    ("exit with words", "sys.exit('no such column')", None),
    ("interrupted", "raise KeyboardInterrupt", b"-1 KeyboardInterrupt\nTrace"),
    ("ended by os", "os._exit(3)", None),
    ("caught", "sys.exit(bool(traceback.format_exc()))", None),
    ("no traceback module", "sys.modules['traceback'] = None", None),
    ("its text exits", BAD_TEXT, None),
    (
        "a message of lines",
        "raise KeyError('a', 'x\\ny')",
        b"-1 KeyError: ('a', 'x\\ny')\nTraceback ",
    ),
    ("no message", "raise KeyError", b"-1 KeyError\nTraceback "),
    (
        "no letter of any coding",
        "raise ValueError('\\udcff \\u00e9')",
        b"-1 ValueError: \\udcff \xc3\xa9\nTraceback ",
    ),
)


def errors_of(page):
    """What the files error.<pid> hold, without the time, by pid."""
    found = {}
    for name in os.listdir(page.folder):
        if name.startswith("error."):
            with open(os.path.join(page.folder, name), "rb") as file:
                time, rest = file.read().split(b" ", 1)
            check("error: time", time.isdigit() and int(time) > 0, time)
            found[int(name[6:])] = rest
    return found


def error_case(python, case):
    title, before, expected = case
    title = "error: %s, %s" % (title, python)
    extra = {}
    if before.startswith("RANK="):
        extra["RANK"], before = before[5:], ""
    code = "import os, sys\n" + RAISE % before
    plain = run([python, "-c", code], environment(None, [], extra))
    with Page() as page:
        env = environment(page.path, [HOOK], extra)
        hooked = run([python, "-c", code], env)
        check(title + ": same", plain[:3] == hooked[:3], (plain, hooked))
        found = errors_of(page)
        if expected is None:
            check(title, not found, found)
            return
        text = found.pop(hooked[3], b"")
        check(title, text.startswith(expected), text)
        check(title + ": alone", not found, found)


def error_shapes(python):
    """Deep, long, chained, in a thread, in a child, twice."""
    code = RAISE % "sys = __import__('sys')\n%s"
    deep = "def f(n):\n    f(n + 1)\nf(0)"
    long = "raise ValueError('x' * 10000000 + 'the end')"
    lines = "raise ValueError('x\\n' * 1000000 + 'the end')"
    chain = "try:\n    {}['a']\nexcept KeyError:\n    raise OSError('b')"
    thread = (
        "import threading\n"
        "thread = threading.Thread(target=lambda: {}['a'])\n"
        "thread.start()\nthread.join()"
    )
    twice = "sys.excepthook(KeyError, KeyError('a'), None)"
    fork = (
        "import os\nchild = os.fork()\n"
        "if child == 0:\n    raise KeyError('child')\nos.waitpid(child, 0)"
    )
    for title, before, words, files in (
        ("deep", deep, [b"RecursionError: maximum", b"in f\n"], 1),
        ("long", long, [b"ValueError: xxx", b"the end\n"], 1),
        ("many lines", lines, [b"ValueError: x\n", b"the end\n"], 1),
        ("chain", chain, [b"KeyError: 'a'\n\nDuring", b"OSError: b\n"], 1),
        ("thread", thread, [b"-1 ValueError: no column\nTrace"], 1),
        ("twice", twice, [b"-1 ValueError: no column\nTrace"], 1),
        ("fork", fork, [b"no column\n", b"KeyError: 'child'\n"], 2),
    ):
        title = "error: %s, %s" % (title, python)
        argv = [python, "-c", code % before]
        plain = run(argv, environment(None, []))
        with Page() as page:
            hooked = run(argv, environment(page.path, [HOOK]))
            check(title + ": same", plain[:3] == hooked[:3])
            found = errors_of(page)
            text = b"".join(found.values())
            check(title + ": files", len(found) == files, found)
            check(title + ": bounded", len(text) < 17000 * files, len(text))
            for word in words:
                check(title, word in text, (word, text))


def errors(python):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda case: error_case(python, case), ERROR_CASES))
    error_shapes(python)
    with Page() as page:
        os.chmod(page.folder, 0o500)
        env = environment(page.path, [HOOK])
        code = RAISE % ""
        status, _, err, _ = run([python, "-c", code], env)
        good = status == 1 and err.endswith("\nValueError: no column\n")
        check("error: no place for its file, " + python, good, err)
        os.chmod(page.folder, 0o700)


# --- real torch


class Server(object):
    """A process that has imported torch, with the hook or without."""

    def __init__(self, python, page):
        self.page = page
        self.folder = tempfile.mkdtemp(prefix="python_hook-")
        path = page.path if page else None
        self.process = subprocess.Popen(
            [python, os.path.join(DATA, "hook_server.py")],
            env=environment(path, [HOOK] if page else []),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd="/",
            universal_newlines=True,
        )

    def output(self, name):
        with open(os.path.join(self.folder, name)) as file:
            return file.read()

    def send(self, script, name):
        self.seen = self.page.slots() if self.page else []
        files = [os.path.join(self.folder, n) for n in ("out", "err")]
        print(script, name, *files, file=self.process.stdin, flush=True)

    def answer(self):
        """As run(); the slots of this one and of those that it started."""
        pid, status = map(int, self.process.stdout.readline().split())
        status = os.waitstatus_to_exitcode(status)
        slots = self.page.slots() if self.page else []
        slots = [slot for slot in slots if slot not in self.seen]
        return (status, self.output("out"), self.output("err"), pid), slots

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=PATIENCE)
        self.process.stdout.close()
        shutil.rmtree(self.folder)


class Torch(object):
    """
    An interpreter that has torch: runs the scripts of tests/data with it.
    `facts` are what ask_torch() told of it.
    """

    def __init__(self, python, facts):
        self.python = python
        self.facts = facts
        self.page = Page()
        self.plain = Server(python, None)
        self.hooked = Server(python, self.page)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.plain.close()
        self.hooked.close()
        self.page.__exit__()

    def run(self, script, name, compare):
        """
        What it left with the hook, and the slots. With `compare` the same is
        run without the hook, whose outcome comes last.
        """
        path = os.path.join(DATA, script)
        if NIGHTLY or (script, name) in FRESH:
            argv = [self.python, path, name]
            with Page() as page:
                hooked = run(argv, environment(page.path, [HOOK]))
                slots = page.slots()
            plain = run(argv, environment(None, [])) if compare else None
            return hooked, slots, plain
        self.hooked.send(path, name)
        if compare:
            self.plain.send(path, name)
        hooked, slots = self.hooked.answer()
        return hooked, slots, self.plain.answer()[0] if compare else None


def torch_case(torch, name):
    hooked, slots, _ = torch.run("hook_cases.py", name, False)
    status, out, err, pid = hooked
    title = "%s, %s" % (name, torch.python)
    check(title, status == 0 and "sitecustomize" not in err, err)
    expected = [int(word) for word in out.split("expect")[-1:]]
    own = [slot for slot in slots if slot["pid"] == pid]
    check(title, [slot["steps"] for slot in own] == expected, slots)
    wanted = [PASSES_BY_HAND.get(name, 0)]
    by_hand = [0 if slot["steps"] else slot["first"] for slot in own]
    good = by_hand == wanted
    check(title + ": by hand", good, slots)
    if name in PASSES_OF_STEP:
        passes = PASSES_OF_STEP[name]
        seen = [(slot["passes"], slot["batches"] or passes) for slot in own]
        check(title + ": passes", seen == [(passes, passes)], slots)
        sizes = [slot["loader"] for slot in own if name == "no_more"]
        check(title + ": of its loader", sizes in ([], [5]), slots)
        if name in DATA_OF:
            data = [slot["data"] for slot in own]
            check(title + ": its data", data == [DATA_OF[name]], slots)
        idle = [bool(slot["flags"] & IDLE) for slot in own]
        check(title + ": idle", idle == [name == "idle"], slots)
        frozen = [bool(slot["flags"] & FROZEN) for slot in own]
        check(title + ": frozen", frozen == [name == "frozen"], slots)
        orders = [bool(slot["flags"] & IN_ORDER) for slot in own]
        check(title + ": in order", orders == [name == "in_order"], slots)
    others = [slot for slot in slots if slot["pid"] != pid]
    return own, others


def with_torch(torch, title, script, name):
    """As with_page()."""
    hooked, slots, plain = torch.run(script, name, True)
    return compared(title, plain, hooked, slots)


def phase_case(torch, case):
    name, status, phases, phase, ooms = case
    title = "%s, %s" % (name, torch.python)
    left, _, seen, slots = with_torch(torch, title, "hook_phases.py", name)
    check(title + ": status", left == status, left)
    check(title + ": phases", seen == phases.split(), seen)
    own = slots.pop(None)
    told = (own["phase"], own["ooms"], own["flags"] & FAILED)
    check(title + ": at the end", told == (phase, ooms, 0), own)
    # Not the helpers of multiprocessing.
    others = [s for s in slots.values() if s["flags"] & TORCH or s["ooms"]]
    others = [(s["phase"], s["ooms"]) for s in others]
    check(title + ": others", others == CHILDREN.get(name, []), slots)


def phase_cases(torch):
    cases = list(PHASE_CASES)
    if torch.facts["has_error"]:
        cases += OOM_CASES
    if torch.facts["compiles"]:
        cases.append(("compiled", 0, "", EVAL, 0))
    for case in cases:
        phase_case(torch, case)


def rows_case(torch, case):
    name, status, rows = case
    title = "rows: %s, %s" % (name, torch.python)
    left, _, _, slots = with_torch(torch, title, "hook_rows.py", name)
    check(title + ": status", left == status, left)
    own = slots.pop(None)
    check(title, own["rows"] == rows, own)
    if name in SAME_SIZES:
        good = own["same_sizes"] == SAME_SIZES[name]
        check(title + ": of the same sizes", good, own)
        # Of the last batch of an epoch only the rows are others.
        differ = bool(own["flags"] & SIZES_DIFFER)
        check(title + ": or of others", differ == (name == "lengths"), own)
    normed = bool(own["flags"] & BATCH_NORM)
    check(title + ": statistics", normed == (name == "normed"), own)
    compares = bool(own["flags"] & COMPARES)
    wanted = name in COMPARED or (
        name in COMPARED_SINCE_2_1 and torch.facts["tells_shapes"])
    check(title + ": samples are compared", compares == wanted, own)
    if name in COLUMNS:
        good = own["columns"] == COLUMNS[name]
        check(title + ": the second dimension", good, own)
    others = [slot for slot in slots.values() if slot["rows"]]
    check(title + ": others", not others, others)
    return name, own


def constants():
    """The hook has two figures of the search."""
    with open(os.path.join(SOURCE, "search", "memory_line.h")) as file:
        header = file.read()
    with open(os.path.join(PACKAGE, "memory.py")) as file:
        hook = file.read()
    for name, theirs in (
        ("TIMES = 3\n", "BACKWARD 3\n"),
        ("NOISE = 16 << 20\n", "NOISE_BYTES (UINT64_C(16) << 20)\n"),
    ):
        good = "BACKWARD_" + name in hook and "MEMORY_LINE_" + theirs in header
        check("as in the search: " + name.strip(), good)


def rows_cases(torch):
    python = torch.python
    cases = list(ROWS_CASES)
    if torch.facts["compiles"]:
        cases += COMPILED_ROWS_CASES
        if torch.facts["compiles_modules"]:
            cases.append(("compiled_in_place", 0, 5))
    slots = dict(rows_case(torch, case) for case in cases)
    rest = {name: slot["rest"] for name, slot in slots.items()}
    # The gradients are not among them.
    held = (rest["heavy"] - rest["positional"]) / (3 * 4096 * 2048 * 4)
    check("at rest: " + python, 0.95 < held < 1.2, rest)
    check("at rest, after one step: " + python, not rest["one_step"], rest)
    left = slots["leaves"]["forward"] / (5000 * 2048 * 4)
    check("a forward pass leaves: " + python, 0.98 < left < 1.1, left)
    # Scores of 2000 classes, and what the loss makes of them.
    left = slots["leaves_scores"]["forward"] / (5000 * 2000 * 4)
    check("the loss leaves: " + python, 0.98 < left < 2.1, left)
    left = slots["leaves_anew"]["forward"]
    check("nothing to tell from: " + python, not left, left)
    # The rectifier's result, its gradient, and for a while another one.
    taken = slots["leaves_twice"]["pass"] / (5000 * 2048 * 4)
    check("a pass takes: " + python, 1.9 < taken < 3.3, taken)
    taken = [slots[name]["pass"] for name in ("leaves", "one_gradient")]
    check("no pass to tell from: " + python, taken == [0, 0], taken)
    first = [slots[name]["first"] for name in ("leaves", "leaves_anew")]
    check("passes within one: " + python, first == [1, 1], first)


ASK = """
import json, os, sys, torch, torch.version
print(json.dumps({
    "has_error": hasattr(torch.cuda, "OutOfMemoryError"),
    "compiles": hasattr(torch, "compile"),
    "tells_shapes": hasattr(
        torch.ones(1, requires_grad=True).exp().grad_fn, "_input_metadata"),
    "compiles_modules": hasattr(torch.nn.Module, "compile"),
    "modules": [os.path.realpath(each)
                for each in (sys.executable, torch.version.__file__)],
}))
"""


def ask_torch(python):
    """What there is of torch; None: it cannot be imported."""
    status, out, _, _ = run([python, "-c", ASK], environment(None, []))
    return json.loads(out) if status == 0 else None


def torch_modules(torch):
    """Of a real torch: its version, the interpreter, the script: no more."""
    script = os.path.join(DATA, "hook_cases.py")
    with Page() as page:
        env = environment(page.path, [HOOK])
        pid = run([torch.python, script, "sgd"], env)[3]
        found = set(modules_of(page, pid) or [])
        expected = set(torch.facts["modules"] + [os.path.realpath(script)])
        check("modules with torch, " + torch.python, found == expected, found)


def torch_cases(torch):
    with torch:
        for name in TORCH_CASES:
            own, others = torch_case(torch, name)
            steps = [slot["steps"] for slot in others]
            check("%s: others stand still" % name, not any(steps), others)
            if name == "sgd":
                check("torch is flagged", own[0]["flags"] & TORCH, own)
                check("no cuda", not own[0]["flags"] & (CUDA | FAILED), own)
        _, others = torch_case(torch, "forked")
        steps = [slot["steps"] for slot in others]
        check("a forked child counts its own", steps == [7], others)
        torch_modules(torch)
        phase_cases(torch)
        rows_cases(torch)
        if torch.facts["compiles"]:
            own, _ = torch_case(torch, "compiled")
            check("compiled is flagged", own[0]["flags"] & COMPILED, own)


# --- the language


NEWER_THAN_2_7 = (
    "JoinedStr Nonlocal AnnAssign YieldFrom NamedExpr AsyncFunctionDef Await "
    "AsyncFor AsyncWith MatMult Match TryStar TypeAlias"
).split()


def parses_everywhere():
    parts = [os.path.join(PACKAGE, name) for name in os.listdir(PACKAGE)]
    for path in [MODULE] + [each for each in parts if each.endswith(".py")]:
        parses_old(path)


def parses_old(path):
    with open(path, "rb") as file:
        text = file.read().decode("ascii")
    for node in ast.walk(ast.parse(text)):
        kind = type(node).__name__
        check("language: " + kind, kind not in NEWER_THAN_2_7, kind)
        if isinstance(node, ast.arguments):
            good = not (node.kwonlyargs or getattr(node, "posonlyargs", []))
            notes = [a.annotation for a in node.args]
            check("language: arguments", good and not any(notes))
        if isinstance(node, (ast.Tuple, ast.List)):
            stars = [n for n in node.elts if isinstance(n, ast.Starred)]
            check("language: stars", not stars)
        if isinstance(node, ast.Raise):
            check("language: raise from", node.cause is None)
        if isinstance(node, ast.ClassDef):
            check("language: class keywords", not node.keywords)
        if isinstance(node, ast.FunctionDef):
            check("language: returns", node.returns is None)


def wanted():
    names = os.environ.get("HOOK_PYTHONS") or "/usr/bin/python3:python3"
    return names.split(":")


def interpreters():
    """Each path once; python2.7 and others where they are installed."""
    names = wanted() + ["python3", "python2.7"]
    names += ["python3.%d" % minor for minor in range(4, 16)]
    found = {}
    for name in names:
        path = real_path(name)
        # Not by the real path: a virtual environment is a link.
        if path and os.path.dirname(path) not in found:
            found[os.path.dirname(path)] = path
    return list(found.values())


def main():
    python = real_path("/usr/bin/python3") or sys.executable
    parses_everywhere()
    constants()
    broken_channels(python)
    full_page(python)
    slots_are_claimed_once(python)
    held_lock(python)
    imports_little(python)
    many_modules(python)
    every = interpreters()
    for each in every:
        code = "import sys; sys.exit(sys.version_info[0] != 2)"
        is_old = run([each, "-c", code], environment(None, []))[0] == 0
        user_modules(each, is_old)
        options(each, is_old)
        if not is_old:
            errors(each)
            stand_in(each)
            batches_of_fit(each)
            framework_calls(each)
            modules(each)
            opened_files(each)
            hostile_places(each)
    paths = [real_path(name) for name in wanted()]
    asked = {each: ask_torch(each) for each in every if each in paths}
    for each, facts in asked.items():
        if facts:
            torch_cases(Torch(each, facts))
    if failures:
        print("%d checks failed" % len(failures))
        return 1
    if not any(asked.values()):
        print("skipped: no interpreter with torch")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
