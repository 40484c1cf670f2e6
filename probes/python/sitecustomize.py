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

# After these steps it looks at the modules; most are there after the first,
# and what the training imports on its way after the third.
LOOK_AT_STEPS = (1, 3)
MAX_PATHS = 2000
MAX_PATH = 4096
FRAMEWORKS = (
    "torch transformers accelerate deepspeed lightning pytorch_lightning peft "
    "trl bitsandbytes flash_attn xformers apex timm datasets"
).split()
LIBRARIES = (
    "lib/python lib64/python local/lib/python local/lib64/python lib/pypy"
).split()
VERSION_MODULES = ("version", "_version", "__version__", "__about__")
# Packages; and code that torch, triton and extension builders write: it
# follows from the rest, and differs with the batch size.
FOREIGN_PARTS = (
    "/site-packages/ /dist-packages/ /torchinductor_ /.triton/ "
    "/torch_extensions/"
).split()
GENERATED_VARIABLES = (
    "TORCHINDUCTOR_CACHE_DIR",
    "TRITON_CACHE_DIR",
    "TORCH_EXTENSIONS_DIR",
)


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


class Modules(object):
    """
    The files of this process's modules. __main__ may have a relative path, so
    the folder that it was started in is kept.
    """

    def __init__(self, channel_path):
        self.folder = os.path.dirname(os.path.abspath(channel_path))
        try:
            self.start_folder = os.getcwd()
        except OSError:
            self.start_folder = "/"
        self.main = []

    def publish(self):
        """Never raises, and leaves no half-written file under its name."""
        try:
            self.write(b"".join(name + b"\0" for name in self.paths()))
        except Exception:
            pass

    def write(self, data):
        name = os.path.join(self.folder, "modules.%d" % os.getpid())
        # Threads may step at the same time.
        temporary = "%s.%d" % (name, id(data))
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        fd = os.open(temporary, flags | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            try:
                while data:
                    data = data[os.write(fd, data) :]
            finally:
                os.close(fd)
            os.rename(temporary, name)
        except Exception:
            os.unlink(temporary)
            raise

    def paths(self):
        modules = dict(list(sys.modules.items()))
        found = []
        if sys.executable:
            found.append(os.path.realpath(sys.executable))
        for name in FRAMEWORKS:
            if name in modules:
                found.append(version_file(modules, name))
        # At exit __main__ has lost its name.
        names = ["__main__", "__mp_main__"]
        self.main = self.local(modules, names) or self.main
        found += self.main + sorted(self.local(modules, list(modules)))
        return once(found)

    def local(self, modules, names):
        foreign = self.foreign_folders()
        found = []
        for name in names:
            path = file_of(modules.get(name))
            if path is None:
                continue
            # Cheap first: most modules are of the interpreter or a package.
            if is_foreign(path, foreign):
                continue
            path = os.path.abspath(os.path.join(self.start_folder, path))
            path = os.path.realpath(source_of(path))
            if not is_foreign(path, foreign) and os.path.isfile(path):
                found.append(path)
        return found

    def foreign_folders(self):
        """Where neither the user's modules are nor any that stay."""
        roots = {sys.prefix, sys.exec_prefix}
        roots.update([sys.base_prefix, sys.base_exec_prefix])
        roots.update([os.path.realpath(root) for root in roots])
        found = [os.path.join(r, lib) for r in roots for lib in LIBRARIES]
        folders = [self.folder, os.path.dirname(os.path.abspath(__file__))]
        if getattr(os, "__file__", None):
            folders.append(os.path.dirname(os.__file__))
        folders += [os.environ.get(name) for name in GENERATED_VARIABLES]
        for folder in folders:
            if folder:
                found.append(os.path.abspath(folder) + "/")
                found.append(os.path.realpath(folder) + "/")
        return tuple(found)


def file_of(module):
    """Its file; asks the module nothing that would make a lazy one load."""
    try:
        path = object.__getattribute__(module, "__dict__").get("__file__")
    except Exception:
        return None
    return path if isinstance(path, str) and path else None


def version_file(modules, name):
    """The file that changes with the version, of the modules there are."""
    for last in VERSION_MODULES:
        path = file_of(modules.get(name + "." + last))
        if path is not None:
            break
    else:
        path = file_of(modules[name])
    return os.path.realpath(source_of(path)) if path else ""


def source_of(path):
    if not path.endswith(".pyc"):
        return path
    folder, name = os.path.split(path)
    if os.path.basename(folder) == "__pycache__":
        source = os.path.dirname(folder) + "/" + name.split(".")[0] + ".py"
    else:
        source = path[:-1]
    return source if os.path.isfile(source) else path


def is_foreign(path, folders):
    if path.startswith(folders):
        return True
    for part in FOREIGN_PARTS:
        if part in path:
            return True
    return False


def once(paths):
    """As bytes, absolute, each once, in order, and not too many."""
    seen = set()
    found = []
    for path in paths:
        name = os.fsencode(path)
        if name.startswith(b"/") and len(name) < MAX_PATH and name not in seen:
            seen.add(name)
            found.append(name)
    return found[:MAX_PATHS]


class Counter(object):
    """Steps per optimizer. Keeps none of them alive."""

    def __init__(self, channel, modules):
        import atexit
        import threading
        import time
        import weakref

        self.channel = channel
        self.modules = modules
        self.clock = getattr(time, "monotonic", None) or time.time
        self.ref = weakref.ref
        self.local = threading.local()
        self.pid = os.getpid()
        self.counts = {}
        self.published = 0
        atexit.register(self.at_exit)

    def at_exit(self):
        # What a fork inherited is the parent's.
        if self.published and self.pid == os.getpid():
            self.modules.publish()

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
            # Before the step is seen: the process may be stopped for it.
            if steps in LOOK_AT_STEPS:
                self.modules.publish()
            # Other threads may have come further meanwhile.
            self.published = max(self.published, steps)
            self.publish()

    def prune(self):
        if len(self.counts) >= MAX_COUNTS:
            self.counts = dict(
                item for item in list(self.counts.items()) if item[1][0]()
            )
        if len(self.counts) >= MAX_COUNTS:
            self.counts = {}

    def publish(self):
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
        channel.put(STEPS64, self.published)

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
        self.modules = Modules(channel.path)

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
            counter = Counter(channel, self.modules)
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
