# Counts optimizer steps inside a probe and hands on to the user's own module.
# SPDX-License-Identifier: MIT
#
# Python runs this at start because its folder stands first in PYTHONPATH. It
# says hello in the page named by AUTOFIT_CHANNEL (layout: probes/channel.h)
# and, once torch.optim is there, counts the steps of each optimizer. It never
# prints, never raises, imports nothing big, and parses on Python 2.7 to 3.14;
# Python 2 is only handed on. Steps are the largest count of any one optimizer
# of the process, so a later optimizer adds none until it has made more steps
# than the ones before it. A `step` replaced on one instance is counted when
# it calls the original.
import os
import sys

MAGIC = 0x31544946545541
SLOTS = 256
SLOT_BYTES = 64
HEADER_BYTES = 64
SIZE = HEADER_BYTES + SLOTS * SLOT_BYTES

# Where the fields of a slot lie, counted in units of their own size.
PID32, FLAGS32, RANK32 = 0, 1, 12
START64, STEPS64, LAST64, RETRIES64, PEAK64 = 1, 2, 3, 4, 5

PYTHON, TORCH, CUDA, COMPILED, HOOK_FAILED = 1, 2, 4, 8, 16

MAX_DEVICES = 16
MAX_COUNTS = 65536


class Channel(object):
    """This process's slot; a forked child takes its own at first use."""

    def __init__(self, path):
        import mmap

        self.path = path
        fd = os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
        try:
            # mmap refuses a file that is shorter.
            page = memoryview(map_file(mmap, fd))
        finally:
            os.close(fd)
        # Stores through a cast view are whole, those of struct are bytewise.
        self.u64 = page.cast("Q")
        self.u32 = page.cast("I")
        self.i32 = page.cast("i")
        if self.u64[0] != MAGIC or self.u32[2] != SLOTS:
            raise ValueError("not a channel")
        self.pid = 0
        self.slot = None
        self.enter()

    def enter(self):
        """Have a slot that is this process's; False when there is none."""
        pid = os.getpid()
        if self.pid == pid:
            return self.slot is not None
        self.pid = pid
        self.slot = None
        import fcntl

        fd = os.open(self.path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
        try:
            if lock(fcntl, fd):
                self.slot = self.claim(pid)
        finally:
            os.close(fd)
        return self.slot is not None

    def claim(self, pid):
        start = start_time()
        slot = self.find(pid, start)
        if slot is None:
            return None
        at32 = (HEADER_BYTES + slot * SLOT_BYTES) // 4
        at64 = at32 // 2
        for i in range(1, SLOT_BYTES // 4):
            self.u32[at32 + i] = 0
        self.u64[at64 + START64] = start
        try:
            self.i32[at32 + RANK32] = int(os.environ.get("RANK", ""))
        except (ValueError, OverflowError):
            self.i32[at32 + RANK32] = -1
        self.u32[at32 + FLAGS32] = PYTHON
        self.u32[at32 + PID32] = pid
        return slot

    def find(self, pid, start):
        """A slot of this process from before exec, a free one, a dead one."""
        first32 = HEADER_BYTES // 4
        per32 = SLOT_BYTES // 4
        free = None
        for slot in range(SLOTS):
            owner = self.u32[first32 + slot * per32]
            if owner == pid:
                at64 = (first32 + slot * per32) // 2
                if self.u64[at64 + START64] == start:
                    return slot
            if owner == 0 and free is None:
                free = slot
        if free is not None:
            return free
        for slot in range(SLOTS):
            at32 = first32 + slot * per32
            if not self.u64[at32 // 2 + STEPS64] and is_dead(self.u32[at32]):
                return slot
        return None

    def flag(self, bits):
        if self.enter():
            at = HEADER_BYTES // 4 + self.slot * (SLOT_BYTES // 4)
            self.u32[at + FLAGS32] |= bits

    def put(self, field, value):
        at = HEADER_BYTES // 8 + self.slot * (SLOT_BYTES // 8)
        self.u64[at + field] = value


def map_file(mmap, fd):
    try:
        # Keeps no descriptor that a program closing all of them would miss.
        return mmap.mmap(fd, SIZE, trackfd=False)
    except TypeError:
        return mmap.mmap(fd, SIZE)


def lock(fcntl, fd):
    """A stopped process may hold it: give up after a while, not never."""
    import time

    for _ in range(100):
        try:
            fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except (IOError, OSError):
            time.sleep(0.002)
    return False


def start_time():
    with open("/proc/self/stat", "rb") as stat:
        return int(stat.read().rsplit(b")", 1)[1].split()[19])


def is_dead(pid):
    try:
        os.kill(pid, 0)
    except OSError:
        # A live process of another user gives PermissionError.
        return not os.path.exists("/proc/%d" % pid)
    return False


class Counter(object):
    """Steps per optimizer. Keeps none of them alive."""

    def __init__(self, channel):
        import threading
        import time
        import weakref

        self.channel = channel
        self.clock = getattr(time, "monotonic", None) or time.time
        self.ref = weakref.ref
        self.local = threading.local()
        self.pid = os.getpid()
        self.counts = {}
        self.published = 0

    def count(self, optimizer):
        """One step was made; never raises."""
        try:
            self.count_step(optimizer)
        except Exception:
            pass

    def count_step(self, optimizer):
        pid = os.getpid()
        if self.pid != pid:
            self.pid = pid
            self.counts = {}
            self.published = 0
        key = (id(optimizer), first_parameter(optimizer))
        ref, steps = self.counts.get(key, (None, 0))
        if ref is None or ref() is not optimizer:
            # Another object lived at this address before.
            self.prune()
            ref, steps = self.ref(optimizer), 0
        steps += 1
        self.counts[key] = (ref, steps)
        if steps > self.published:
            self.published = steps
            self.publish(steps)

    def prune(self):
        if len(self.counts) >= MAX_COUNTS:
            self.counts = dict(
                item for item in list(self.counts.items()) if item[1][0]()
            )
        if len(self.counts) >= MAX_COUNTS:
            self.counts = {}

    def publish(self, steps):
        channel = self.channel
        if not channel.enter():
            return
        flags = TORCH
        try:
            flags |= self.publish_cuda()
            flags |= compiled_flag()
        except Exception:
            pass
        channel.flag(flags)
        channel.put(LAST64, int(self.clock() * 1e9))
        # Last: who sees the step sees what belongs to it.
        channel.put(STEPS64, steps)

    def publish_cuda(self):
        cuda = getattr(sys.modules.get("torch"), "cuda", None)
        if cuda is None or not cuda.is_initialized():
            return 0
        retries = peak = 0
        for device in range(min(cuda.device_count(), MAX_DEVICES)):
            stats = cuda.memory_stats(device)
            retries += stats.get("num_alloc_retries", 0)
            peak = max(peak, stats.get("allocated_bytes.all.peak", 0))
        self.channel.put(RETRIES64, retries)
        self.channel.put(PEAK64, peak)
        return CUDA


def first_parameter(optimizer):
    """
    What this step worked on. DeepSpeed's ZeRO gives one optimizer a part of
    the parameters at a time and steps it once for each: one step, not many.
    """
    try:
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                return id(parameter)
    except Exception:
        pass
    return 0


def compiled_flag():
    """Optimizers import torch._dynamo by themselves; frames are the proof."""
    utils = sys.modules.get("torch._dynamo.utils")
    counters = getattr(utils, "counters", None) or {}
    return COMPILED if counters.get("frames", {}).get("total") else 0


def hook_global(module, counter):
    """torch 2.0 and later: one hook behind the step of every optimizer."""

    def on_step(optimizer, args, kwargs):
        try:
            nested = is_nested(optimizer, sys._getframe(1))
        except Exception:
            nested = False
        if not nested:
            counter.count(optimizer)

    # A compiled step leaves its graph here as it does for a disabled function;
    # nothing below works on tensors, so none of it is compiled in its turn.
    on_step._torchdynamo_disable = True
    module.register_optimizer_step_post_hook(on_step)


def is_nested(optimizer, frame):
    """
    A step that calls super().step() passes the hook twice: torch's wrapper,
    whose frame this is, then stands on the stack a second time.
    """
    code = frame.f_code
    frame = frame.f_back
    while frame is not None:
        if frame.f_code is code and frame.f_locals.get("self") is optimizer:
            return True
        frame = frame.f_back
    return False


def hook_classes(module, counter):
    """
    Before torch 2.0: subclasses override step without calling the base's, so
    each class has its own step wrapped when its first instance comes to be.
    """
    base = module.Optimizer
    for name in ("__init__", "__setstate__"):
        if name in base.__dict__:
            setattr(base, name, wrap_birth(base.__dict__[name], counter))


def wraps(function, wrapper):
    import functools

    return functools.wraps(function)(wrapper)


def wrap_birth(function, counter):
    def born(self, *args, **kwargs):
        result = function(self, *args, **kwargs)
        try:
            wrap_step(type(self), counter)
        except Exception:
            counter.channel.flag(HOOK_FAILED)
        return result

    return wraps(function, born)


def wrap_step(cls, counter):
    step = cls.step
    if getattr(step, "_autofit_counts", False):
        return
    local = counter.local

    def stepping(self, *args, **kwargs):
        under_way = local.__dict__.setdefault("under_way", [])
        if id(self) in under_way:
            return step(self, *args, **kwargs)
        under_way.append(id(self))
        try:
            result = step(self, *args, **kwargs)
        finally:
            under_way.pop()
        counter.count(self)
        return result

    stepping = wraps(step, stepping)
    stepping._autofit_counts = True
    cls.step = stepping


class Finder(object):
    """
    Finds nothing; sees each import go by. torch.optim imports more modules
    after torch.optim.optimizer, so that one is complete when the next is
    looked for, and no loader has to be replaced for it.
    """

    def __init__(self, channel):
        self.channel = channel

    def find_spec(self, fullname, path=None, target=None):
        # Stays in sys.meta_path: importlib is walking that list right now.
        if self.channel is not None and "torch.optim.optimizer" in sys.modules:
            try:
                self.look(sys.modules["torch.optim.optimizer"])
            except Exception:
                pass
        return None

    def look(self, module):
        spec = getattr(module, "__spec__", None)
        if getattr(spec, "_initializing", False):
            return
        channel, self.channel = self.channel, None
        try:
            counter = Counter(channel)
            if hasattr(module, "register_optimizer_step_post_hook"):
                hook_global(module, counter)
            else:
                hook_classes(module, counter)
            channel.flag(TORCH)
        except Exception:
            channel.flag(HOOK_FAILED)


def start():
    path = os.environ.get("AUTOFIT_CHANNEL")
    if not path or sys.version_info < (3, 4):
        return
    finder = Finder(Channel(path))
    sys.meta_path.insert(0, finder)
    finder.find_spec("")


def step_aside():
    """Leave sys.path and sys.modules as they would be without this module."""
    folder = os.path.dirname(os.path.abspath(__file__))
    others = [entry for entry in sys.path if not is_folder(entry, folder)]
    if len(others) == len(sys.path):
        return None
    sys.path[:] = others
    return sys.modules.pop("sitecustomize", None)


def is_folder(entry, folder):
    try:
        return os.path.abspath(entry) == folder
    except Exception:
        return False


try:
    start()
except Exception:
    pass

# Python 2 empties a module that nobody holds.
this_module = step_aside()
if this_module is not None:
    # The user's own, if any. Its errors, and that there is none, reach the
    # caller as they would without this module.
    import sitecustomize  # noqa: F401
