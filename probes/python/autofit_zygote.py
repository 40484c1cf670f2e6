# Makes this interpreter a zygote: it imports, waits, and forks probes.
# SPDX-License-Identifier: MIT
#
# sitecustomize.py calls serve() where AUTOFIT_ZYGOTE is set, before Python comes
# to the program. The variable names a folder: its file "imports" holds the names
# of the modules to import, "argv" the whole command and "environment" the
# environment, each entry ended by a NUL; beside them lies the library that forks
# (probes/keeper/zygote_serve.c). serve() returns in a probe only, whose
# sys.argv and os.environ it has set, so that Python goes on to run the program
# as it would after a fresh start. In the zygote itself it never returns.
#
# A copy must not differ from a fresh start. So an import that would write a
# file, start a process or open a connection is kept from it and ends the zygote,
# as do threads that are left, and a driver of GPUs that was loaded.
import os
import sys

SOCKET = 927  # CHANNEL_COMMAND_FD of probes/channel/channel.h
REFUSES, TEXT_MAX = 2, 120
LIBRARY = "libautofit_zygote.so"
VARIABLE, MARK = "AUTOFIT_ZYGOTE", "AUTOFIT_PROBE"
# Those of audit events that a fresh start could see the effect of.
EFFECTS = frozenset(
    (
        "os.chmod os.chown os.exec os.fork os.forkpty os.link os.mkdir "
        "os.posix_spawn os.remove os.rename os.rmdir os.symlink os.system "
        "os.truncate os.utime pty.spawn shutil.rmtree socket.bind "
        "socket.connect subprocess.Popen"
    ).split()
)
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
DRIVERS = ("libcuda.so", "libamdhip64.so")


class Refusal(Exception):
    """The zygote cannot stand for a fresh start."""


class Watch(object):
    """Keeps imports from what would be seen outside of this process."""

    def __init__(self):
        self.is_on = False
        self.effect = None

    def __call__(self, event, arguments):
        if not self.is_on:
            return
        if event in EFFECTS or (event == "open" and writes(*arguments)):
            what = arguments[0] if arguments else ""
            self.effect = self.effect or "%s(%r)" % (event, what)
            raise Refusal(self.effect)


def writes(path, mode, flags):
    if path == os.devnull:
        return False
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return bool(flags & WRITES)


def read_list(folder, name):
    with open(os.path.join(folder, name), "rb") as file:
        return [os.fsdecode(each) for each in file.read().split(b"\0")[:-1]]


def program_start(argv):
    """
    Where the program's own arguments begin in the command: behind "-m NAME" or
    at the script, which sys.argv[0] says as well.
    """
    start = len(argv) - len(sys.argv) + 1
    if start < 1 or argv[start:] != sys.argv[1:]:
        raise Refusal("the command's arguments are not Python's")
    return start


def import_all(names):
    import importlib

    watch = Watch()
    sys.addaudithook(watch)
    watch.is_on = True
    try:
        for name in names:
            try:
                importlib.import_module(name)
            except Exception:
                pass
    finally:
        watch.is_on = False
    if watch.effect:
        raise Refusal("an import calls " + watch.effect)


def settle():
    """Threads of libraries that end before a fork have ended then."""
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    if len(os.listdir("/proc/self/task")) != 1:
        raise Refusal("imports have left threads")
    with open("/proc/self/maps") as maps:
        text = maps.read()
    for driver in DRIVERS:
        if driver in text:
            raise Refusal("imports have loaded " + driver)


class Environment(object):
    """
    The environment of this process as others see it in /proc: there autofit
    finds the probe that a process belongs to.
    """

    def __init__(self):
        with open("/proc/self/stat", "rb") as stat:
            fields = stat.read().rsplit(b")", 1)[1].split()
        self.start, self.end = int(fields[47]), int(fields[48])
        self.mark(os.environ[MARK])

    def mark(self, value):
        with open("/proc/self/mem", "r+b", buffering=0) as memory:
            memory.seek(self.start)
            data = b"\0" + memory.read(self.end - self.start)
            entry = b"\0" + MARK.encode() + b"="
            at = data.find(entry)
            size = data.find(b"\0", at + 1) - at - len(entry)
            value = value.encode()
            if at < 0 or size != len(value):
                raise Refusal("its mark cannot be changed")
            memory.seek(self.start + at - 1 + len(entry))
            memory.write(value)


def change_environment(base, wanted):
    """Only what autofit changed: more may have been set meanwhile."""
    base = dict(each.split("=", 1) for each in base if "=" in each)
    wanted = dict(each.split("=", 1) for each in wanted if "=" in each)
    for name in base:
        if name not in wanted:
            os.environ.pop(name, None)
    for name, value in wanted.items():
        if base.get(name) != value:
            os.environ[name] = value


def change_arguments(argv, start):
    sys.argv[1:] = argv[start:]
    original = getattr(sys, "orig_argv", None)
    if original is not None:
        original[len(original) - len(sys.argv) + 1 :] = argv[start:]


def forget_places():
    """The first use of a temporary folder decides on it."""
    tempfile = sys.modules.get("tempfile")
    if tempfile is not None:
        tempfile.tempdir = None


def prepare(folder):
    if sys.version_info < (3, 8):
        raise Refusal("Python %d.%d is too old" % sys.version_info[:2])
    argv = read_list(folder, "argv")
    start = program_start(argv)
    own = Environment()
    import_all(read_list(folder, "imports"))
    # Not imported for this: the program would find it there.
    if "ctypes" not in sys.modules:
        raise Refusal("the program does not import ctypes")
    library = sys.modules["ctypes"].PyDLL(os.path.join(folder, LIBRARY))
    settle()
    return start, own, library


def wait(library):
    """The arguments and the environment of a probe; in it."""
    ctypes = sys.modules["ctypes"]
    function = library.autofit_zygote_serve
    function.restype = ctypes.c_void_p
    function.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_size_t)]
    size = ctypes.c_size_t()
    # As os.fork() does it, which the library does not call.
    ctypes.pythonapi.PyOS_BeforeFork()
    text = function(SOCKET, ctypes.byref(size))
    ctypes.pythonapi.PyOS_AfterFork_Child()
    data = ctypes.string_at(text, size.value).split(b"\0")[:-1]
    count = int(data[0])
    texts = [os.fsdecode(each) for each in data[1:]]
    return texts[:count], texts[count:]


def refuse(reason):
    text = str(reason).encode("ascii", "replace")[: TEXT_MAX - 1]
    head = REFUSES.to_bytes(4, sys.byteorder) + bytes(4)
    os.write(SOCKET, head + text.ljust(TEXT_MAX, b"\0"))


def serve():
    folder = os.environ.pop(VARIABLE)
    try:
        base = read_list(folder, "environment")
        start, own, library = prepare(folder)
        sys.stdout.flush()
        sys.stderr.flush()
        argv, environment = wait(library)
    except BaseException as error:
        try:
            refuse(error)
        finally:
            os._exit(0)
    own.mark(dict(e.split("=", 1) for e in environment if "=" in e)[MARK])
    change_environment(base, environment)
    change_arguments(argv, start)
    forget_places()
