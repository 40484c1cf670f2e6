# Counts optimizer steps inside a probe and hands on to the user's own module.
# SPDX-License-Identifier: MIT
#
# Python runs this at start because its folder stands first in PYTHONPATH. It
# says hello in the page named by AUTOFIT_CHANNEL (layout: probes/channel/channel.h)
# and, once torch.optim is there, counts the steps of each optimizer and tells
# the phase, the rows of a batch, the passes and ranks of a step, and torch's
# out-of-memory errors. Of Keras, whatever it runs on, it counts the batches
# that fit() has trained on. It writes
# down the exception that ends the process. It never prints, never raises,
# imports nothing big, and parses on Python 2.7 to 3.14;
# Python 2 is only handed on. Steps are the largest count of any one optimizer
# of the process, so a later optimizer adds none until it has made more steps
# than the ones before it. A `step` replaced on one instance is counted when it
# calls the original.
import os
import sys

MAGIC = 0x31544946545541
SLOTS = 256
SLOT_BYTES = 128
HEADER_BYTES = 64
SIZE = HEADER_BYTES + SLOTS * SLOT_BYTES

# Where the fields of a slot lie, counted in units of their own size.
PID32, FLAGS32, RANK32, PHASE32, OOMS32, ROWS32 = 0, 1, 12, 13, 14, 15
PASSES32, BATCHES32, LOADER32, WORLD32, GROUP32 = 16, 17, 18, 19, 20
FIRST32, SAME_SIZES32, LATER32 = 21, 26, 27
# Two counts share the word of SAME_SIZES32.
COUNT16_MAX = 0xFFFF
START64, STEPS64, LAST64, RETRIES64, PEAK64 = 1, 2, 3, 4, 5
REST64, FORWARD64, LAST_PASS64, RESERVED64 = 11, 12, 14, 15

PYTHON, TORCH, CUDA, COMPILED, HOOK_FAILED, COUNTS_OOMS = 1, 2, 4, 8, 16, 32
NEVER_STEPPED, SIZES_DIFFER, IN_ORDER, IDLE = 64, 128, 256, 512

# enum phase of base/trial.h.
START, TRAIN, EVAL, SAVE = 0, 1, 2, 3
HF_MODELS = "transformers.modeling_utils"
LIGHTNING, LIGHTNING_OLD = "lightning.pytorch.", "pytorch_lightning."
# Module, class ("": a function of the module), name, the phase while it runs.
PHASE_CALLS = (
    ("torch.serialization", "", "save", SAVE),
    ("transformers.trainer", "Trainer", "evaluate", EVAL),
    ("transformers.trainer", "Trainer", "predict", EVAL),
    ("transformers.trainer", "Trainer", "_save_checkpoint", SAVE),
    ("transformers.trainer", "Trainer", "save_model", SAVE),
    (HF_MODELS, "PreTrainedModel", "save_pretrained", SAVE),
    (LIGHTNING + "loops.evaluation_loop", "_EvaluationLoop", "run", EVAL),
    (LIGHTNING + "trainer.trainer", "Trainer", "save_checkpoint", SAVE),
    (LIGHTNING_OLD + "loops.evaluation_loop", "_EvaluationLoop", "run", EVAL),
    (LIGHTNING_OLD + "trainer.trainer", "Trainer", "save_checkpoint", SAVE),
    ("accelerate.accelerator", "Accelerator", "save_state", SAVE),
    ("accelerate.accelerator", "Accelerator", "save_model", SAVE),
)
# Where torch has kept the class since 1.13; before, there was none.
OOM_NAMES = (
    ("torch", "OutOfMemoryError"),
    ("torch.cuda", "OutOfMemoryError"),
    ("torch._C", "OutOfMemoryError"),
    ("torch._C", "_OutOfMemoryError"),
)

# After these steps it looks at what goes into the model: by then the model is
# compiled, if it is. One look takes some microseconds.
ROWS_AFTER_STEPS = (1, 2, 3, 4, 5, 6, 7)
SIZES_MAX = 256
# After these steps it looks at the memory that is held between steps: what an
# optimizer keeps is there after the first.
REST_AFTER_STEPS = (2, 3, 4, 5)
# A backward pass that needs more than this many times what the forward pass
# left (MEMORY_LINE_BACKWARD of search/memory_line.h), and so many bytes beside,
# computes some of it anew: gradient checkpointing.
BACKWARD_TIMES = 3
BACKWARD_NOISE = 16 << 20
ROWS_DEPTH = 3
ROWS_ITEMS = 64
# The wrappers of data-parallel ranks, which know their group.
GROUP_CLASSES = ("DistributedDataParallel", "FullyShardedDataParallel")
# The passes of so many steps say how many a step has; then no hook is left.
PASSES_STEPS = 8
LOADER_ITERATORS_MAX = 256
# Batches of a loader that come later: more than a probe looks at.
LATER_BATCHES = 100
# So many steps without a gradient are no chance.
IDLE_STEPS = 3
# inspect.CO_VARARGS and CO_VARKEYWORDS.
VAR_POSITIONAL, VAR_KEYWORDS = 4, 8

# Of the exception that ends the process: frames of each of its chain, bytes
# at each end of the whole text, and of the line by which autofit finds it in
# the output.
ERROR_FRAMES = 6
ERROR_END_BYTES = 8192
ERROR_KEY_LENGTH = 60

# Of struct mallinfo2; with less in use the memory is another allocator's.
MAPPED, IN_USE, FREE = 4, 7, 8
HEAP_MIN = 1 << 20

# Those below the real-time ones.
PLAIN_SIGNALS = (1 << 31) - 1

MAX_DEVICES = 16
MAX_COUNTS = 65536

# Where versions of Keras have the class that tells callbacks of each batch.
KERAS_CALLBACKS = (
    "keras.src.callbacks.callback_list",
    "keras.src.callbacks",
    "keras.callbacks",
    "tf_keras.src.callbacks",
    "tensorflow.python.keras.callbacks",
)
# Its methods for a batch that was trained on: the first may only ask another
# thread to call the second, which waits for what was computed.
KERAS_BATCH_ENDS = ("_on_train_batch_end", "on_train_batch_end")

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
INSTALLED_PARTS = "/site-packages/ /dist-packages/".split()
FOREIGN_PARTS = INSTALLED_PARTS + (
    "/torchinductor_ /.triton/ /torch_extensions/"
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
        self.i32[at32 + RANK32] = own_rank()
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

    def get(self, field):
        at = HEADER_BYTES // 8 + self.slot * (SLOT_BYTES // 8)
        return self.u64[at + field]

    def get32(self, field):
        at = HEADER_BYTES // 4 + self.slot * (SLOT_BYTES // 4)
        return self.u32[at + field]

    def put32(self, field, value):
        at = HEADER_BYTES // 4 + self.slot * (SLOT_BYTES // 4)
        self.u32[at + field] = value

    def has_stepped(self):
        at = (HEADER_BYTES + self.slot * SLOT_BYTES) // 8
        return self.u64[at + STEPS64] > 0


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


def own_rank():
    """As torchrun and others set it; -1: not known."""
    try:
        rank = int(os.environ.get("RANK", ""))
    except ValueError:
        return -1
    return rank if 0 <= rank < 1 << 31 else -1


def is_dead(pid):
    try:
        os.kill(pid, 0)
    except OSError:
        # A live process of another user gives PermissionError.
        return not os.path.exists("/proc/%d" % pid)
    return False


def write_down(folder, name, data):
    """Into the file of this process; a reader never finds half of it."""
    name = os.path.join(folder, "%s.%d" % (name, os.getpid()))
    # Threads may write at the same time.
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


class LastError(object):
    """
    The exception that ends this process, as Python would print it: autofit
    reads of each rank what the ranks' mixed output may not tell.

    sys.excepthook is wrapped, so that it is known at once. Where the program
    puts a hook of its own in its place, Python leaves the exception in
    sys.last_value, which is looked at when the process ends. The traceback
    module is used where the program has imported it, and never imported for
    this: a module of the user's may have the name of one that it needs.
    Otherwise autofit reads the output alone; of a guarded run, whose output
    it does not read, the exception without its frames is written.
    """

    def __init__(self, folder, is_probe=True):
        self.is_probe = is_probe
        self.folder = folder
        self.written = None

    def watch(self):
        import atexit

        hook = sys.excepthook

        def excepthook(kind, value, trace):
            self.write(kind, value, trace)
            hook(kind, value, trace)

        # Some look whether the one is still the other.
        if sys.__excepthook__ is hook:
            sys.__excepthook__ = excepthook
        sys.excepthook = excepthook
        atexit.register(self.at_exit)

    def at_exit(self):
        value = getattr(sys, "last_value", None)
        if value is not None and id(value) != self.written:
            self.write(sys.last_type, value, sys.last_traceback)

    def write(self, kind, value, trace):
        """Never raises, whatever the exception's own methods do."""
        try:
            import time

            text = ["%s: %s" % (kind.__name__, value)]
            if self.is_probe or "traceback" in sys.modules:
                formatter = sys.modules["traceback"].format_exception
                text = formatter(kind, value, trace, limit=-ERROR_FRAMES)
            head = (int(time.monotonic() * 1e9), own_rank(), key_of(value))
            data = as_bytes("%d %d %s\n" % head)
            data += both_ends(as_bytes("".join(text)))
            write_down(self.folder, "error", data)
            # No reference: it would keep all of its frames alive.
            self.written = id(value)
        except BaseException:
            pass


def key_of(value):
    """The beginning of the line that names it, without its module."""
    line = "%s: %s" % (type(value).__name__, value)
    return line.split("\n")[0].rstrip(": ")[:ERROR_KEY_LENGTH]


def as_bytes(text):
    return text.encode("utf-8", "backslashreplace")


def both_ends(data):
    """Of one that is too long; what is cut out is cut out of lines."""
    if len(data) <= 2 * ERROR_END_BYTES:
        return data
    return data[:ERROR_END_BYTES] + b"\n" + data[-ERROR_END_BYTES:]


def own_traits():
    """What a process has of who starts it, beside words and environment."""
    with open("/proc/self/stat", "rb") as stat:
        fields = stat.read().rsplit(b")", 1)[1].split()
    with open("/proc/self/status", "rb") as status:
        lines = dict(line.split(b":", 1) for line in status if b":" in line)
    with open("/proc/self/limits", "rb") as limits:
        # One of them is autofit's mark of a probe.
        limits = b"".join(each for each in limits if b"realtime t" not in each)
    return [
        b"folder=" + os.getcwdb(),
        b"interpreter=" + os.fsencode(sys.executable or ""),
        b"niceness=" + fields[16],
        b"policy=" + fields[38],
        b"blocked=%x" % (int(lines[b"SigBlk"], 16) & PLAIN_SIGNALS),
        b"ignored=%x" % (int(lines[b"SigIgn"], 16) & PLAIN_SIGNALS),
        b"umask=" + lines.get(b"Umask", b"").strip(),
        b"processors=" + lines.get(b"Cpus_allowed_list", b"").strip(),
        b"limits=" + limits,
    ]


def own_start():
    """
    How this process was started: how many traits and how many words follow,
    these, and the environment, each ended by a NUL. None: it cannot be told.
    """
    if sys.version_info < (3, 8):
        return None
    try:
        with open("/proc/self/cmdline", "rb") as words:
            words = words.read()
        with open("/proc/self/environ", "rb") as environment:
            environment = environment.read()
        traits = own_traits()
    except Exception:
        return None
    head = b"%d\0%d\0" % (len(traits), words.count(b"\0"))
    return head + b"".join(e + b"\0" for e in traits) + words + environment


class Modules(object):
    """
    The files of this process's modules. __main__ may have a relative path, so
    the folder that it was started in is kept.
    """

    def __init__(self, folder):
        self.folder = folder
        try:
            self.start_folder = os.getcwd()
        except OSError:
            self.start_folder = "/"
        self.main = []
        # Nothing but the program's words had changed the environment when it
        # imported torch, and it is no rank of others: another process may
        # import the same beforehand.
        self.are_plain = False
        self.start = own_start()

    def publish(self):
        """Never raises, and leaves no half-written file under its name."""
        try:
            data = b"".join(name + b"\0" for name in self.paths())
            write_down(self.folder, "modules", data)
            if self.are_plain and self.start:
                data = "".join(name + "\0" for name in self.installed())
                write_down(self.folder, "start", self.start)
                write_down(self.folder, "imports", data.encode("ascii"))
        except Exception:
            pass

    def installed(self):
        """Names of Python's modules and of packages, in their order."""
        places = tuple(self.installed_folders())
        found = []
        for name, module in list(sys.modules.items()):
            spec = spec_of(module)
            path = getattr(spec, "origin", None)
            if not isinstance(path, str) or spec.name != name:
                continue
            if path.startswith(places) or has_part(path, INSTALLED_PARTS):
                found.append(name)
        return found

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

    def installed_folders(self):
        roots = {sys.prefix, sys.exec_prefix}
        roots.update([sys.base_prefix, sys.base_exec_prefix])
        roots.update([os.path.realpath(root) for root in roots])
        found = [os.path.join(r, lib) for r in roots for lib in LIBRARIES]
        if getattr(os, "__file__", None):
            found.append(os.path.dirname(os.path.abspath(os.__file__)) + "/")
            found.append(os.path.dirname(os.path.realpath(os.__file__)) + "/")
        return found

    def foreign_folders(self):
        """Where neither the user's modules are nor any that stay."""
        found = self.installed_folders()
        folders = [self.folder, os.path.dirname(os.path.abspath(__file__))]
        folders += [os.environ.get(name) for name in GENERATED_VARIABLES]
        for folder in folders:
            if folder:
                found.append(os.path.abspath(folder) + "/")
                found.append(os.path.realpath(folder) + "/")
        return tuple(found)


def file_of(module):
    path = attribute_of(module, "__file__")
    return path if isinstance(path, str) and path else None


def spec_of(module):
    return attribute_of(module, "__spec__")


def attribute_of(module, name):
    """Asks the module nothing that would make a lazy one load."""
    try:
        return object.__getattribute__(module, "__dict__").get(name)
    except Exception:
        return None


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
    return path.startswith(folders) or has_part(path, FOREIGN_PARTS)


def has_part(path, parts):
    for part in parts:
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

    def __init__(self, channel, modules, phases):
        import atexit
        import threading
        import time
        import weakref

        self.channel = channel
        self.modules = modules
        self.phases = phases
        self.rows = Rows(channel)
        self.rest = Rest(channel)
        self.passes = Passes(channel)
        self.by_hand = None
        self.counts_ooms = self.sees_steps = False
        self.clock = getattr(time, "monotonic", None) or time.time
        self.ref = weakref.ref
        self.local = threading.local()
        self.pid = os.getpid()
        self.counts = {}
        self.published = 0
        atexit.register(self.at_exit)

    def at_exit(self):
        # What a fork inherited is the parent's.
        if self.pid != os.getpid():
            return
        try:
            self.publish_reserved()
        except Exception:
            pass
        if self.published:
            self.modules.publish()
        elif self.sees_steps and has_optimizer():
            self.channel.flag(NEVER_STEPPED)

    def count(self, optimizer):
        """One step was made; never raises."""
        try:
            self.phases.step()
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
        self.passes.step(optimizer)
        if steps > self.published:
            # Before the step is seen: the process may be stopped for it.
            if steps in LOOK_AT_STEPS:
                self.modules.publish()
            self.phases.bind()
            self.rest.turn(steps, optimizer)
            # Other threads may have come further meanwhile.
            self.published = max(self.published, steps)
            self.publish()
            if self.by_hand is not None:
                self.by_hand.stop()
            self.rows.turn(steps)

    def count_pass(self, passes):
        """Of ByHand, as if it were a step."""
        self.phases.step()
        if passes in LOOK_AT_STEPS:
            self.modules.publish()
        self.phases.bind()
        self.rest.turn(passes, None)
        self.publish()
        if self.channel.enter():
            self.channel.put32(FIRST32, min(passes, 0xFFFFFFFF))
        self.rows.turn(passes)

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
        if self.counts_ooms:
            flags |= COUNTS_OOMS
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
        cuda = cuda_in_use()
        if cuda is None:
            return 0
        retries = peak = ooms = 0
        for device in range(min(cuda.device_count(), MAX_DEVICES)):
            stats = cuda.memory_stats(device)
            retries += stats.get("num_alloc_retries", 0)
            peak = max(peak, stats.get("allocated_bytes.all.peak", 0))
            ooms += stats.get("num_ooms", 0)
        self.channel.put(RETRIES64, retries)
        self.channel.put(PEAK64, peak)
        if not self.counts_ooms:
            self.channel.put32(OOMS32, min(ooms, 0xFFFFFFFF))
        return CUDA

    def publish_reserved(self):
        cuda = cuda_in_use()
        if cuda is None or not self.channel.enter():
            return
        self.channel.put(RESERVED64, max(
            cuda.memory_stats(device).get("reserved_bytes.all.peak", 0)
            for device in range(min(cuda.device_count(), MAX_DEVICES))
        ))


def cuda_in_use():
    """torch.cuda, or torch.xpu, which counts alike, once the program uses it."""
    torch = sys.modules.get("torch")
    for name in ("cuda", "xpu"):
        device = getattr(torch, name, None)
        if hasattr(device, "memory_stats") and device.is_initialized():
            return device
    return None


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


def has_optimizer():
    """
    Was any optimizer made? The first of each class has the step of its class
    replaced by one that says so.
    """
    try:
        module = sys.modules["torch.optim.optimizer"]
        classes = [module.Optimizer]
        for one in classes:
            if getattr(one.__dict__.get("step"), "hooked", False):
                return True
            classes += one.__subclasses__()
    except Exception:
        pass
    return False


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

    def before_step(optimizer, args, kwargs):
        counter.passes.begin_step()

    before_step._torchdynamo_disable = True
    module.register_optimizer_step_pre_hook(before_step)


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
        counter.passes.begin_step()
        try:
            result = step(self, *args, **kwargs)
        finally:
            under_way.pop()
        counter.count(self)
        return result

    stepping = wraps(step, stepping)
    stepping._autofit_counts = True
    cls.step = stepping


class Passes(object):
    """
    How many backward passes one optimizer step has, and how many batches of a
    data loader. The passes are those that reach one parameter of the optimizer
    that stepped first, told by a hook on that parameter, which stands in no
    call and no traceback. Those before a step of another optimizer were that
    one's: a generator's loss reaches the discriminator too. An optimizer that evaluates its loss several times
    within a step (LBFGS, or a step that runs the passes itself) counts as one
    pass there. Loaders are asked how far they are. What the first steps
    usually have is told, and how many batches steps of so many passes have. As long as no other optimizer
    steps, each pass after the first step is told when it is made. Where none
    reaches the optimizer's parameters, for these are shards of the model's or
    copies in another precision, the calls of torch.autograd.backward count.
    """

    def __init__(self, channel):
        import time
        import weakref

        self.channel = channel
        self.clock = getattr(time, "monotonic", None) or time.time
        self.ref = weakref.ref
        self.optimizer = None
        self.handle = self.calls = None
        self.pid = os.getpid()
        self.is_over = False
        self.count = self.idle = 0
        self.is_stepping = False
        self.count_before = 0
        self.later = 0
        self.is_alone = True
        self.iterators = []
        self.yielded = 0
        self.seen = {}
        self.seen_batches = {}
        self.loader_size = 0

    def begin_step(self):
        self.is_stepping = True
        self.count_before = self.count

    def step(self, optimizer):
        """A step is over; never raises."""
        try:
            self.is_stepping = False
            if not self.is_over:
                self.look(optimizer)
        except Exception:
            self.stop()

    def look(self, optimizer):
        if self.pid != os.getpid():
            self.stop()
            self.__init__(self.channel)
        if self.optimizer is None:
            self.start(optimizer)
        elif self.optimizer() is optimizer:
            if not self.count and not self.seen and self.calls is None:
                self.leave_parameter()
                self.calls = BackwardCalls(nothing, self.on_call)
            yielded = self.all_yielded()
            self.note(self.seen, self.count)
            batches = self.seen_batches.setdefault(self.count, {})
            self.note(batches, yielded - self.yielded)
            self.count, self.yielded = 0, yielded
            self.publish()
            if sum(self.seen.values()) >= PASSES_STEPS:
                self.stop()
        else:
            self.count = 0
            self.is_alone = False
            if self.channel.enter():
                self.channel.put32(LATER32, 0)

    def start(self, optimizer):
        """The first step: the passes of the next ones are counted."""
        self.find_loaders()
        self.yielded = self.all_yielded()
        self.publish()
        parameters = [
            parameter
            for group in optimizer.param_groups
            for parameter in group["params"]
        ]
        for parameter in parameters:
            if parameter.grad is not None and parameter.is_leaf:
                self.handle = parameter.register_hook(self.on_gradient)
                self.optimizer = self.ref(optimizer)
                return
        self.idle += any(
            getattr(each, "requires_grad", False) for each in parameters
        )
        if self.idle == IDLE_STEPS:
            self.channel.flag(IDLE)

    def stop(self):
        self.is_over = True
        self.iterators = []
        self.leave_parameter()
        if self.calls is not None:
            self.calls.leave()

    def leave_parameter(self):
        handle, self.handle = self.handle, None
        if handle is not None:
            handle.remove()

    def on_call(self):
        if not self.is_over:
            self.on_gradient(None)

    def on_gradient(self, gradient):
        if not self.is_stepping or self.count == self.count_before:
            self.count += 1
            self.tell()

    def tell(self):
        """One pass more since the first step; never raises."""
        try:
            if not self.is_alone or not self.channel.enter():
                return
            self.later += 1
            self.channel.put(LAST_PASS64, int(self.clock() * 1e9))
            self.channel.put32(LATER32, min(self.later, 0xFFFFFFFF))
        except Exception:
            pass

    def find_loaders(self):
        """Iterators of data loaders that are at work, and the size of their
        batches."""
        import gc

        module = sys.modules.get("torch.utils.data.dataloader")
        base = getattr(module, "_BaseDataLoaderIter", None)
        if base is None:
            return
        kinds = [base] + base.__subclasses__()
        # Not gc.get_objects(): a tensor that is held here for a moment while
        # another thread lets go of it is one that torch complains about.
        # Before Python 3.9 an object does not refer to its class.
        holders = gc.get_referrers(*kinds)
        found = [each for each in holders if type(each) in kinds]
        found = found[:LOADER_ITERATORS_MAX]
        self.iterators = [self.ref(each) for each in found]
        at_work = [each for each in found if each._num_yielded]
        for each in at_work:
            size = rows_given(each._index_sampler)
            if size > 0:
                self.loader_size = size
        if at_work and all(is_in_order(each) for each in at_work):
            self.channel.flag(IN_ORDER)

    def all_yielded(self):
        total = 0
        for reference in self.iterators:
            total += getattr(reference(), "_num_yielded", 0)
        return total

    @staticmethod
    def note(seen, value):
        if value > 0:
            seen[value] = seen.get(value, 0) + 1

    def undisturbed(self):
        """Not of steps with more batches than passes: some of those failed."""
        return {
            count: times
            for count, times in self.seen.items()
            if usual_count(self.seen_batches.get(count, {})) <= count
        }

    def publish(self):
        if self.channel.enter():
            passes = usual_count(self.undisturbed() or self.seen)
            batches = usual_count(self.seen_batches.get(passes, {}))
            self.channel.put32(PASSES32, min(passes, 0xFFFFFFFF))
            self.channel.put32(BATCHES32, min(batches, 0xFFFFFFFF))
            self.channel.put32(LOADER32, min(self.loader_size, 0xFFFFFFFF))
            self.channel.put32(WORLD32, world_size())


class BackwardCalls(object):
    """
    torch.autograd.backward, replaced by one that tells of its calls, before and
    after. Only of the outermost: checkpointing makes passes of its own within
    one. Neither of the two may raise.
    """

    def __init__(self, before, after):
        self.module = sys.modules["torch.autograd"]
        self.function = self.module.__dict__["backward"]
        self.wrapper = wraps(
            self.function, self.wrap(self.function, before, after)
        )
        self.wrapper._torchdynamo_disable = True
        self.module.backward = self.wrapper

    @staticmethod
    def wrap(function, before, after):
        under_way = []

        def backward(*args, **kwargs):
            if under_way:
                return function(*args, **kwargs)
            under_way.append(None)
            try:
                before()
                result = function(*args, **kwargs)
            finally:
                under_way.pop()
            after()
            return result

        return backward

    def leave(self):
        """Not where another has replaced it since: that one calls this."""
        if self.module.__dict__.get("backward") is self.wrapper:
            self.module.backward = self.function


def rows_given(batches):
    """Of a whole batch, where there are as many; 0: not known."""
    size = getattr(batches, "batch_size", None)
    if type(size) is not int:
        return 0
    try:
        return min(size, len(batches.sampler))
    except Exception:
        return size


def is_in_order(iterator):
    """Does it give its data in the order in which they lie there, and many
    batches more?"""
    batches = iterator._index_sampler
    sampler = getattr(batches, "sampler", batches)
    try:
        return (
            type(sampler).__name__ == "SequentialSampler"
            and len(batches) - iterator._num_yielded > LATER_BATCHES
        )
    except Exception:
        return False


def nothing():
    pass


def usual_count(seen):
    """
    The most frequent one; as often the larger. A larger one wins where steps
    are cut short: the last one of an epoch is, which of few data may be every
    other step, and two of three that are counted. Those after steps that were
    left out, by a gradient scaler or as something failed, are fewer.
    """
    if not seen:
        return 0
    total = sum(seen.values())
    usual = max(seen, key=lambda count: (seen[count], count))
    return max(
        count
        for count in seen
        if count == usual
        or count > usual
        and 3 * seen[count] >= total + (count % usual == 0)
    )


def world_size():
    """Ranks that torch.distributed has brought together; 0: it has not."""
    distributed = sys.modules.get("torch.distributed")
    try:
        if distributed.is_available() and distributed.is_initialized():
            return distributed.get_world_size()
    except Exception:
        pass
    return 0


class ByHand(object):
    """
    Backward passes that torch.autograd.backward tells: of a program that
    updates its parameters by itself all of them, of one that makes an optimizer
    those before its first step.
    """

    def __init__(self, counter):
        self.counter = counter
        self.is_first = self.has_begun = False
        self.calls = None
        self.pid = os.getpid()
        self.passes = self.first = 0

    def bind(self):
        self.counter.by_hand = self
        self.calls = BackwardCalls(self.begin, self.end)

    def begin(self):
        self.is_first, self.has_begun = not self.has_begun, True
        if self.is_first:
            self.counter.rest.before_first_backward()

    def end(self):
        if self.is_first:
            self.counter.rest.after_first_backward()
        self.count()

    def stop(self):
        """A step was made, and is told: those count now; never raises."""
        try:
            self.counter.by_hand = None
            self.calls.leave()
            if self.counter.channel.enter():
                self.counter.channel.put32(FIRST32, min(self.first, MAX_COUNTS))
        except Exception:
            pass

    def count(self):
        """A pass was made; never raises."""
        try:
            if self.pid != os.getpid():
                self.pid, self.passes, self.first = os.getpid(), 0, 0
            if has_optimizer():
                self.leave_to_optimizer()
                return
            self.passes += 1
            self.counter.count_pass(self.passes)
        except Exception:
            pass

    def leave_to_optimizer(self):
        self.first += 1
        if self.passes and self.counter.channel.enter():
            self.counter.channel.put32(FIRST32, 0)
        self.passes = 0


class Batches(object):
    """
    Batches that fit() of Keras has trained on: its list of callbacks hears of
    each, whether a bar is printed or not. They count as passes that are made
    by hand do, for none of its optimizers is one of torch's. Where torch makes
    the passes, those are counted instead.
    """

    def __init__(self, channel, modules):
        self.channel = channel
        self.modules = modules
        self.pending = list(KERAS_CALLBACKS)
        self.pid = os.getpid()
        self.trained = 0

    def bind(self):
        """Wrap what was imported meanwhile; cheap when nothing was."""
        for name in self.pending:
            module = sys.modules.get(name)
            if module is not None and not is_loading(module):
                # The list that is walked stays as it is.
                self.pending = [n for n in self.pending if n != name]
                self.bind_list(attribute_of(module, "CallbackList"))

    def bind_list(self, holder):
        for name in KERAS_BATCH_ENDS:
            function = getattr(holder, "__dict__", {}).get(name)
            if type(function) is type(never):
                if not hasattr(function, "_autofit_counts"):
                    setattr(holder, name, self.wrap(function))
                return

    def wrap(self, function):
        def batch_end(*args, **kwargs):
            result = function(*args, **kwargs)
            self.count()
            return result

        batch_end = wraps(function, batch_end)
        batch_end._autofit_counts = True
        return batch_end

    def count(self):
        """A batch was trained on; never raises."""
        try:
            channel = self.channel
            if not channel.enter():
                return
            if self.pid != os.getpid():
                self.pid, self.trained = os.getpid(), 0
            if channel.has_stepped():
                return
            # Another count than the own one is that of torch's passes.
            if channel.get32(FIRST32) != self.trained:
                return
            self.trained = min(self.trained + 1, 0xFFFFFFFF)
            if self.trained in LOOK_AT_STEPS:
                self.modules.publish()
            channel.put32(PHASE32, TRAIN)
            channel.flag(TORCH)
            channel.put32(FIRST32, self.trained)
        except Exception:
            pass


class Rest(object):
    """
    Bytes that stay between two steps whatever the gradients do: parameters,
    what the optimizer keeps, and what the process has beside them. And those
    that a forward pass and the loss leave for the backward pass: a look at the
    entry of torch.autograd.backward, which is replaced for that one call; they
    tell nothing where the first backward pass showed that it computes most of
    it anew. On a GPU what torch has allocated of the fullest one, else the
    private memory of the process less what its C library holds free.
    """

    def __init__(self, channel):
        import weakref

        self.channel = channel
        self.ref = weakref.ref
        self.mallinfo = None
        self.calls = None
        self.parameters = []
        self.rest = 0
        self.backward = self.peak_before = 0

    def before_first_backward(self):
        """Never raises."""
        try:
            self.peak_before = self.peak()
        except Exception:
            pass

    def after_first_backward(self):
        """Was the peak in it, and how far above what is held now?"""
        try:
            peak = self.peak()
            held = allocated_on_gpus() or self.private()
            if 0 < self.peak_before < peak and held > 0:
                self.backward = peak - held
        except Exception:
            pass

    def turn(self, steps, optimizer):
        """A step was made; never raises."""
        try:
            self.stop()
            if steps in REST_AFTER_STEPS:
                self.look(optimizer)
        except Exception:
            pass

    def stop(self):
        calls, self.calls = self.calls, None
        if calls is not None:
            calls.leave()
        self.parameters = []

    def look(self, optimizer):
        if optimizer is not None:
            for group in optimizer.param_groups:
                self.parameters += [self.ref(each) for each in group["params"]]
        self.rest = self.held()
        if self.rest <= 0 or not self.channel.enter():
            return
        self.channel.put(REST64, self.rest)
        if "torch.autograd" in sys.modules:
            self.calls = BackwardCalls(self.on_backward, nothing)

    def on_backward(self):
        """The first of a step; never raises."""
        try:
            if self.calls is None:
                return
            forward = self.held() - self.rest
            if (
                self.backward <= BACKWARD_TIMES * forward + BACKWARD_NOISE
                and self.channel.enter()
                and forward > self.channel.get(FORWARD64)
            ):
                self.channel.put(FORWARD64, forward)
            self.stop()
        except Exception:
            pass

    def held(self):
        """Without the gradients; 0 or less: not known."""
        held = allocated_on_gpus() or self.private()
        for reference in self.parameters:
            gradient = getattr(reference(), "grad", None)
            if gradient is not None and not gradient.is_sparse:
                held -= gradient.numel() * gradient.element_size()
        return held

    def peak(self):
        """The largest so far of what private() and the GPU's allocator say."""
        if cuda_in_use() is not None:
            return allocated_on_gpus("peak")
        with open("/proc/self/status", "rb") as status:
            lines = [line.split() for line in status]
        kib = dict(
            (line[0], int(line[1])) for line in lines if line[-1:] == [b"kB"]
        )
        shared = kib[b"RssFile:"] + kib[b"RssShmem:"]
        return (kib[b"VmHWM:"] - shared) * 1024

    def private(self):
        """0: another allocator is at work, or the library cannot say."""
        if self.mallinfo is None:
            self.mallinfo = mallinfo_of_c()
        numbers = self.mallinfo().numbers
        if numbers[MAPPED] + numbers[IN_USE] < HEAP_MIN:
            return 0
        with open("/proc/self/statm", "rb") as statm:
            words = statm.read().split()
        pages = int(words[1]) - int(words[2])
        return pages * os.sysconf("SC_PAGE_SIZE") - numbers[FREE]


def mallinfo_of_c():
    """mallinfo2 of glibc 2.33 and later."""
    # Not imported for this: see LastError. torch does import it.
    ctypes = sys.modules["ctypes"]

    class Info(ctypes.Structure):
        _fields_ = [("numbers", ctypes.c_size_t * 10)]

    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = Info
    return mallinfo


def allocated_on_gpus(what="current"):
    cuda = cuda_in_use()
    if cuda is None:
        return 0
    return max(
        cuda.memory_stats(device).get("allocated_bytes.all." + what, 0)
        for device in range(min(cuda.device_count(), MAX_DEVICES))
    )


class Rows(object):
    """
    How many rows go into the model, and whether all of its passes take inputs
    of the same sizes. From a step to the next call of a module
    that is trained this thread's profile function looks on. It stands in no
    call and replaces nothing, so that torch.compile, tracebacks and those who
    replace Module.__call__ themselves meet what they always do.
    """

    def __init__(self, channel):
        self.channel = channel
        self.is_over = True
        self.on_event = None
        self.torch = None
        # Of the first look; and of how many looks they were the same.
        self.sizes = None
        self.rows = self.same = 0
        self.columns = 0

    def turn(self, steps):
        """A step was made, the most so far of any optimizer."""
        self.stop()
        self.is_over = steps not in ROWS_AFTER_STEPS
        # A profiler of the user's stays alone.
        if not self.is_over and sys.getprofile() is None:
            if self.on_event is None:
                self.prepare()
            self.leave_uncompiled()
            sys.setprofile(self.on_event)

    def stop(self):
        # Not the user's own, started meanwhile.
        if self.on_event and sys.getprofile() is self.on_event:
            sys.setprofile(None)

    def prepare(self):
        self.torch = sys.modules["torch"]
        module = sys.modules["torch.nn.modules.module"].Module
        # Where others have replaced the first, the second is still called.
        outer = module.__dict__["__call__"].__code__
        inner = module.__dict__["_call_impl"].__code__
        look = self.look

        def on_event(frame, event, arg):
            code = frame.f_code
            if (code is outer or code is inner) and event == "call":
                look(frame)

        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.stop)
        self.on_event = on_event

    def leave_uncompiled(self):
        """What is called below a compiled function, torch compiles as well."""
        dynamo = sys.modules.get("torch._dynamo.eval_frame")
        skip = getattr(dynamo, "skip_code", None)
        if skip is not None:
            for function in (
                (self.on_event, self.look, self.note, self.note_sizes)
                + (self.stop, arguments_of, is_trained, add_sizes)
                + (rows_in, rows_of_items, rows_of_list)
            ):
                skip(function.__code__)

    def look(self, frame):
        """A module is called; never raises."""
        try:
            arguments = arguments_of(frame)
            module = next(arguments)
            if self.is_over:
                self.stop()
            # Neither a teacher, an evaluation, a loss nor a transform.
            elif (
                module.training
                and self.torch.is_grad_enabled()
                and is_trained(module)
            ):
                self.note_group(module)
                self.note(tuple(arguments))
        except Exception:
            self.stop()

    def note_group(self, module):
        """How many ranks share the gradients of this module."""
        # Others have classes of these names, and no such member.
        group = getattr(module, "process_group", None)
        for kind in type(module).__mro__ if group is not None else ():
            if kind.__name__ in GROUP_CLASSES and self.channel.enter():
                # Shards in a node, and copies of them on the others.
                copies = getattr(module, "_inter_node_pg", None)
                ranks = group.size() * (copies.size() if copies else 1)
                self.channel.put32(GROUP32, ranks)

    def note(self, arguments):
        # They are a tuple and a dict, in a tuple.
        rows, columns = rows_in(arguments, self.torch.Tensor, ROWS_DEPTH + 2)
        if not rows:
            return
        self.stop()
        self.columns = max(self.columns, min(columns, COUNT16_MAX))
        if self.channel.enter():
            # The last batch of an epoch may be smaller.
            most = max(self.channel.get32(ROWS32), min(rows, 0xFFFFFFFF))
            self.channel.put32(ROWS32, most)
            self.note_sizes(arguments, rows)

    def note_sizes(self, arguments, rows):
        """Those that differed once stay different."""
        sizes = []
        add_sizes(sizes, arguments, self.torch.Tensor, ROWS_DEPTH + 2)
        if self.sizes is None:
            self.sizes, self.rows = sizes, rows
        is_told = None not in sizes
        is_same = is_told and sizes == self.sizes
        if is_told and not is_same and rows == self.rows:
            self.channel.flag(SIZES_DIFFER)
        self.same = self.same + 1 if is_same and self.same >= 0 else -1
        same = min(max(self.same, 0), COUNT16_MAX)
        self.channel.put32(SAME_SIZES32, self.columns << 16 | same)


def arguments_of(frame):
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & VAR_POSITIONAL)
    count += bool(code.co_flags & VAR_KEYWORDS)
    values = frame.f_locals
    for name in code.co_varnames[:count]:
        yield values[name]


def rows_in(value, tensor, depth):
    """
    The first dimension of the first tensor in it, and the second, where it may
    be time or features: not of pictures. 0: there is none.
    """
    if isinstance(value, tensor):
        shape = value.shape
        # While something is compiled it may be a symbol: to ask it for a
        # number would fix it.
        if len(shape) not in (2, 3) or type(shape[1]) is not int:
            return shape[0] if len(shape) and type(shape[0]) is int else 0, 0
        return (shape[0], shape[1]) if type(shape[0]) is int else (0, 0)
    if depth == 0:
        return 0, 0
    if isinstance(value, (list, tuple)):
        rows = rows_of_list(value, tensor)
        return (rows, 0) if rows else rows_of_items(value, tensor, depth)
    if isinstance(value, dict) or hasattr(type(value), "items"):
        items = dict(value.items())
        # Of a model that sees, pictures are counted by their pieces.
        first = [items["input_ids"]] if "input_ids" in items else []
        return rows_of_items(first + list(items.values()), tensor, depth)
    return 0, 0


def add_sizes(sizes, value, tensor, depth):
    """
    Of all tensors in it. Whole numbers and texts count as well, for they may
    be lengths; None stands for what cannot be told.
    """
    if len(sizes) >= SIZES_MAX:
        sizes[-1] = None
    elif isinstance(value, tensor):
        sizes += [n if type(n) is int else None for n in value.shape]
    elif type(value) is int:
        sizes.append(value)
    elif isinstance(value, (str, bytes)):
        sizes.append(len(value))
    elif value is None or isinstance(value, (bool, float)):
        pass
    elif isinstance(value, (list, tuple, dict)) or hasattr(
        type(value), "items"
    ):
        items = value
        if not isinstance(value, (list, tuple)):
            items = list(dict(value.items()).values())
        sizes.append(len(items) if depth else None)
        for each in items[:SIZES_MAX] if depth else ():
            add_sizes(sizes, each, tensor, depth - 1)
    else:
        sizes.append(None)


def rows_of_items(values, tensor, depth):
    for value in values[:ROWS_ITEMS]:
        rows = rows_in(value, tensor, depth - 1)
        if rows[0]:
            return rows
    return 0, 0


def rows_of_list(values, tensor):
    """
    A list of one dict, or one picture, for each sample; else 0: so where each
    dict is a batch of texts, as queries and their answers are.
    """
    if type(values) is not list or not values:
        return 0
    first = values[0]
    if isinstance(first, dict):
        if len(getattr(first.get("input_ids"), "shape", ())) > 1:
            return 0
        return len(values) if rows_in(first, tensor, 1)[0] else 0
    if isinstance(first, tensor) and len(first.shape) == 3:
        return len(values) if first.shape[0] in (1, 3) else 0
    return 0


class Phases(object):
    """
    What this process does: starts, trains, evaluates, saves. A step says
    train; Module.train() and the calls of PHASE_CALLS say the rest. Python's
    threads share the one phase.
    """

    def __init__(self, channel):
        import threading
        import weakref

        self.channel = channel
        self.local = threading.local()
        self.ref = weakref.ref
        # The module last put into train mode, and what is trained of it.
        self.root = None
        self.root_parameters = None
        # Raised by who changes the phase for good, not for a call.
        self.moves = 0
        self.is_compiling = [never]
        # What to do with a module once it is there.
        self.pending = {
            "torch.nn.modules.module": [self.bind_train],
            "torch.compiler": [self.bind_compiler],
        }
        for module, owner, name, phase in PHASE_CALLS:
            binders = self.pending.setdefault(module, [])
            binders.append(self.call_binder(owner, name, phase))

    def bind(self):
        """Wrap what was imported meanwhile; cheap when nothing was."""
        for name in list(self.pending):
            module = sys.modules.get(name)
            if module is None or is_loading(module):
                continue
            for bind in self.pending.pop(name, ()):
                try:
                    bind(module)
                except Exception:
                    pass

    def bind_train(self, module):
        function = module.Module.__dict__["train"]
        module.Module.train = wraps(function, self.wrap_train(function))

    def bind_compiler(self, module):
        self.is_compiling[0] = module.is_compiling

    def call_binder(self, owner, name, phase):
        def bind(module):
            holder = module.__dict__.get(owner) if owner else module
            # Not what it inherits: that is others' as well.
            function = holder.__dict__.get(name)
            # Neither static nor a property, nor replaced by something.
            if type(function) is not type(never):
                return
            call = wraps(function, self.wrap_call(function, phase))
            setattr(holder, name, call)
            package = sys.modules.get(module.__name__.rpartition(".")[0])
            if not owner and getattr(package, name, None) is function:
                setattr(package, name, call)

        return bind

    def wrap_call(self, function, phase):
        def call(*args, **kwargs):
            before = self.enter(phase)
            try:
                result = function(*args, **kwargs)
            except BaseException as error:
                self.leave(before, error)
                raise
            self.leave(before, None)
            return result

        call._torchdynamo_disable = True
        return call

    def enter(self, phase):
        try:
            self.local.depth = self.depth() + 1
            if not self.channel.enter():
                return None
            before = self.channel.get32(PHASE32)
            self.channel.put32(PHASE32, phase)
            return before, self.moves, self.channel.pid
        except Exception:
            return None

    def leave(self, before, error):
        """
        Back to the phase before, unless others have moved it. Where an error
        is on its way out, the phase that it came from stays readable.
        """
        try:
            self.local.depth = self.depth() - 1
            if error is not None and (not self.depth() or is_oom(error)):
                return
            if before and self.channel.enter():
                if before[1:] == (self.moves, self.channel.pid):
                    self.channel.put32(PHASE32, before[0])
        except Exception:
            pass

    def depth(self):
        return getattr(self.local, "depth", 0)

    def wrap_train(self, function):
        """
        Module.train; eval() calls it, and it calls itself on every child.
        torch.compile takes is_compiling() for true and so leaves out the rest.
        """
        under_way = []
        is_compiling = self.is_compiling

        def train(self_, mode=True):
            if under_way or is_compiling[0]():
                return function(self_, mode)
            under_way.append(None)
            try:
                self.turn(self_, mode)
                return function(self_, mode)
            finally:
                under_way.pop()

        return train

    def turn(self, module, mode):
        """The outermost call of Module.train()."""
        try:
            self.bind()
            if self.depth() or not self.channel.enter():
                return
            phase = self.channel.get32(PHASE32)
            if mode:
                if self.is_root(module) and phase in (EVAL, SAVE):
                    stepped = self.channel.has_stepped()
                    self.move(TRAIN if stepped else START)
            elif phase != EVAL and self.is_whole(module):
                if not loads_model(sys._getframe(2)):
                    self.move(EVAL)
        except Exception:
            pass

    def is_root(self, module):
        if self.root is None or self.root() is not module:
            if not is_trained(module):
                return False
            self.root = self.ref(module)
            self.root_parameters = None
        return True

    def is_whole(self, module):
        """
        Not a part of what is trained, whose statistics are to stay as they
        are, nor a teacher beside it.
        """
        root = self.root() if self.root is not None else None
        if root is module:
            return True
        if root is None:
            return is_trained(module) and "Norm" not in type(module).__name__
        if self.root_parameters is None:
            self.root_parameters = {
                id(each) for each in root.parameters() if each.requires_grad
            }
        own = {id(each) for each in module.parameters()}
        return self.root_parameters <= own

    def move(self, phase):
        self.moves += 1
        self.channel.put32(PHASE32, phase)

    def step(self):
        if self.channel.enter() and self.channel.get32(PHASE32) != TRAIN:
            self.move(TRAIN)


def never():
    return False


def is_loading(module):
    spec = getattr(module, "__spec__", None)
    return bool(getattr(spec, "_initializing", False))


def is_trained(module):
    """A teacher or a metric that is frozen says nothing of the training."""
    for parameter in module.parameters():
        if parameter.requires_grad:
            return True
    return False


def loads_model(frame):
    """Libraries hand out what they loaded in eval mode."""
    while frame is not None:
        if frame.f_code.co_name == "from_pretrained":
            return True
        frame = frame.f_back
    return False


def is_oom(error):
    text = str(error)
    return "out of memory" in text or "allocate memory" in text


def count_ooms(channel):
    """
    Torch's C++ makes no instance of its error; Python does, once somebody
    handles it, by the class's __init__. Returns whether that could be hooked.
    """
    hooked = []
    for name, attribute in OOM_NAMES:
        error = getattr(sys.modules.get(name), "__dict__", {}).get(attribute)
        if isinstance(error, type) and error not in hooked:
            try:
                error.__init__ = wrap_error(error.__init__, channel)
            except TypeError:
                return False
            hooked.append(error)
    return bool(hooked)


def wrap_error(function, channel):
    def init(self, *args, **kwargs):
        try:
            if channel.enter():
                ooms = channel.get32(OOMS32)
                channel.put32(OOMS32, min(ooms + 1, 0xFFFFFFFF))
        except Exception:
            pass
        function(self, *args, **kwargs)

    return wraps(function, init)


class Finder(object):
    """
    Finds nothing; sees each import go by. torch.optim imports more modules
    after torch.optim.optimizer, so that one is complete when the next is
    looked for, and no loader has to be replaced for it.
    """

    def __init__(self, channel):
        self.channel = channel
        self.modules = Modules(files_folder(channel.path))
        self.phases = None
        self.batches = Batches(channel, self.modules)
        self.environment = dict(os.environ)

    def find_spec(self, fullname, path=None, target=None):
        if fullname == "torch" and self.environment is not None:
            self.modules.are_plain = (
                self.environment == dict(os.environ) and own_rank() < 0
            )
            self.environment = None
        try:
            self.batches.bind()
        except Exception:
            pass
        # Stays in sys.meta_path: importlib is walking that list right now.
        if self.channel is not None and "torch.optim.optimizer" in sys.modules:
            try:
                self.look(sys.modules["torch.optim.optimizer"])
            except Exception:
                pass
        elif self.phases is not None:
            try:
                self.phases.bind()
            except Exception:
                pass
        return None

    def look(self, module):
        if is_loading(module):
            return
        channel, self.channel = self.channel, None
        self.phases = Phases(channel)
        try:
            counter = Counter(channel, self.modules, self.phases)
            if hasattr(module, "register_optimizer_step_post_hook"):
                hook_global(module, counter)
            else:
                hook_classes(module, counter)
            counter.sees_steps = True
            channel.flag(TORCH)
        except Exception:
            channel.flag(HOOK_FAILED)
            return
        if "torch.autograd" in sys.modules:
            ByHand(counter).bind()
        self.phases.bind()
        counter.counts_ooms = count_ooms(channel)
        if counter.counts_ooms:
            channel.flag(COUNTS_OOMS)


def become_zygote():
    """Returns in a probe only, and leaves no module of its own."""
    import autofit_zygote

    autofit_zygote.serve()
    del sys.modules["autofit_zygote"]


def start():
    if os.environ.get("AUTOFIT_ZYGOTE"):
        become_zygote()
    path = os.environ.get("AUTOFIT_CHANNEL")
    folder = os.environ.get("AUTOFIT_LAST_ERRORS")
    if not path and folder and sys.version_info >= (3, 5):
        # A real run that is guarded: its last words, and nothing else.
        LastError(os.path.abspath(folder), is_probe=False).watch()
    if not path or sys.version_info < (3, 4):
        return
    finder = Finder(Channel(path))
    sys.meta_path.insert(0, finder)
    finder.find_spec("")
    # Before 3.5 the last frames alone cannot be asked for.
    if sys.version_info >= (3, 5):
        LastError(files_folder(path)).watch()


def files_folder(channel_path):
    """Where what is more than numbers is left: beside the page, if nowhere else."""
    folder = os.environ.get("AUTOFIT_HOOK_FILES")
    return os.path.abspath(folder or os.path.dirname(channel_path))


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
