# Makes this interpreter a zygote: it imports, waits, and forks probes.
# SPDX-License-Identifier: MIT
#
# sitecustomize.py calls serve() where AUTOFIT_ZYGOTE is set, before Python comes
# to the program. It is started as an earlier probe's interpreter was seen to be,
# without the launchers in front of it. The variable names a folder: its file
# "imports" holds the names of the modules to import, "argv" the whole command
# with its launchers, "environment" what that probe's command was given and
# "traits" what its interpreter had from who started it, each entry ended by a
# NUL; beside them lies the library that forks (probes/keeper/zygote_serve.c).
# serve() returns in a probe only, whose sys.argv and os.environ it has set, so
# that Python goes on to run the program as it would after a fresh start. In the
# zygote itself it never returns.
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
# And of those that a path of one's own makes harmless.
OWN = frozenset(("open", "os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree"))
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
DRIVERS = ("libcuda.so", "libamdhip64.so")


class Refusal(Exception):
    """The zygote cannot stand for a fresh start."""


class Watch(object):
    """
    Keeps imports from what would be seen outside of this process and of the
    folder that is its own.
    """

    def __init__(self, folder):
        self.own = folder + os.sep
        self.is_on = False
        self.effect = None

    def __call__(self, event, arguments):
        if not self.is_on:
            return
        if event in EFFECTS or (event == "open" and writes(*arguments)):
            if self.is_own(event, arguments):
                return
            what = arguments[0] if arguments else ""
            self.effect = self.effect or "%s(%r)" % (event, what)
            raise Refusal(self.effect)

    def is_own(self, event, arguments):
        path = arguments[0] if arguments else None
        return event in OWN and isinstance(path, str) and path.startswith(
            self.own) and ".." not in path


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
    program = sys.argv[0]
    if program in ("-m", "-c"):
        program = own_words()[-len(sys.argv)]
    if os.path.basename(argv[start - 1]) != os.path.basename(program):
        raise Refusal("the command names another program")
    return start


def own_words():
    with open("/proc/self/cmdline", "rb") as file:
        return [os.fsdecode(each) for each in file.read().split(b"\0")[:-1]]


def processors(text):
    found = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def ignore(text):
    """What is ignored when Python starts it leaves so."""
    import _signal

    for number in range(1, 32):
        if int(text, 16) >> (number - 1) & 1:
            _signal.signal(number, _signal.SIG_IGN)


# Launchers such as nice and nohup set these; the rest must be as it is.
CHANGES = {
    "niceness": lambda text: os.setpriority(os.PRIO_PROCESS, 0, int(text)),
    "ignored": ignore,
    "umask": lambda text: os.umask(int(text, 8)),
    "processors": lambda text: os.sched_setaffinity(0, processors(text)),
}


def take_traits(wanted):
    """Those that the probe's interpreter had."""
    from autofit_hook.process import own_traits

    for is_last in (False, True):
        own = [os.fsdecode(each) for each in own_traits()]
        for each in wanted:
            name, _, text = each.partition("=")
            if each in own:
                continue
            if is_last or name not in CHANGES:
                raise Refusal("it is started with other %s" % name)
            CHANGES[name](text)


class TemporaryFiles(object):
    """
    Newer versions of torch make a module in a temporary folder when they are
    imported. It is made in the zygote's own, which is removed with its first
    probe; nobody reads it again. tempfile itself finds its folder by writing a
    file. Of a folder that each probe has for itself the wrong one would be
    kept: then tempfile is left to that, which is refused.
    """

    def __init__(self, folder):
        import tempfile

        self.place = tempfile._sanitize_params
        tempfile._sanitize_params = lambda prefix, suffix, where: self.place(
            prefix, suffix, where or folder)
        for each in tempfile._candidate_tempdir_list():
            if os.environ[MARK] in each:
                return
            if os.path.isdir(each) and os.access(each, os.W_OK | os.X_OK):
                tempfile.tempdir = each
                return

    def end(self):
        tempfile = sys.modules["tempfile"]
        tempfile._sanitize_params = self.place
        # The first use decides on it.
        tempfile.tempdir = None


def import_all(names, folder):
    import importlib

    places = TemporaryFiles(folder) if "tempfile" in names else None
    watch = Watch(folder)
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
        if places:
            places.end()
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


def as_names(environment):
    return dict(each.split("=", 1) for each in environment if "=" in each)


def change_environment(base, wanted):
    """
    Only what autofit changed: more may have been set meanwhile. What a launcher
    has made of a folder of the one probe names that of the other.
    """
    old, new = base[MARK], wanted[MARK]
    for name, value in list(os.environ.items()):
        if name not in wanted and name in base:
            del os.environ[name]
        elif value == base.get(name):
            os.environ[name] = wanted[name]
        elif old in value:
            os.environ[name] = value.replace(old, new)
    for name, value in wanted.items():
        if name not in base:
            os.environ[name] = value


def change_arguments(argv, start):
    sys.argv[1:] = argv[start:]
    original = getattr(sys, "orig_argv", None)
    if original is not None:
        original[len(original) - len(sys.argv) + 1 :] = argv[start:]


def prepare(folder):
    if sys.version_info < (3, 8):
        raise Refusal("Python %d.%d is too old" % sys.version_info[:2])
    start = program_start(read_list(folder, "argv"))
    take_traits(read_list(folder, "traits"))
    own = Environment()
    import_all(read_list(folder, "imports"), folder)
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
        base = as_names(read_list(folder, "environment"))
        start, own, library = prepare(folder)
        sys.stdout.flush()
        sys.stderr.flush()
        argv, environment = wait(library)
    except BaseException as error:
        try:
            refuse(error)
        finally:
            os._exit(0)
    wanted = as_names(environment)
    own.mark(wanted[MARK])
    change_environment(base, wanted)
    change_arguments(argv, start)
