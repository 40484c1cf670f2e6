# A trainer that writes where a probe must not: one kind of it per --kind.
# SPDX-License-Identifier: MIT
"""train.py --kind NAME [--batch-size N] [--grad-accum N] [--steps N]

It holds 3 MiB a sample. Each kind resumes from what it wrote before, writes at
its start and after every step, and leaves the same behind whenever it starts
from the same. $MISBEHAVE_TAG makes names outside its folders its own. What it
found is sent to UDP port $MISBEHAVE_PORT, which no layer on files holds back.
"""
import argparse
import ctypes
import json
import mmap
import os
import shutil
import signal
import socket
import sqlite3
import sys
import tempfile
import time

TAG = os.environ.get("MISBEHAVE_TAG", "untagged")
CHECKPOINT = "ckpt.pt"
OLD_SECONDS = 1000000000
STEP_SECONDS = 0.004


def put(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def number_in(path):
    """The last number there; 0 without a file."""
    try:
        with open(path, encoding="ascii") as file:
            words = file.read().replace("\0", " ").split()
        return int(words[-1])
    except (OSError, IndexError):
        return 0


class Kind:
    """One way to save. The state is the number of the last step."""

    path = CHECKPOINT

    def __init__(self, args):
        self.args = args

    def load(self):
        return number_in(self.path)

    def begin(self, step):
        self.save(step)

    def save(self, step):
        put(self.path, "%d\n" % step)

    def end(self, step):
        pass


class Nothing(Kind):
    def load(self):
        return 0

    def save(self, step):
        pass


class Append(Kind):
    path = "train.log"

    def save(self, step):
        with open(self.path, "a", encoding="ascii") as file:
            file.write("step %d\n" % step)


class Truncate(Kind):
    path = "data/weights.bin"

    def save(self, step):
        os.makedirs("data", exist_ok=True)
        with open(self.path, "a", encoding="ascii"):
            pass
        os.truncate(self.path, 0)
        super().save(step)


class Replace(Kind):
    def save(self, step):
        put(self.path + ".new", "%d\n" % step)
        os.replace(self.path + ".new", self.path)


class MoveAway(Kind):
    def save(self, step):
        if os.path.exists(self.path):
            os.rename(self.path, "ckpt.before.pt")
        super().save(step)


class Unlink(Kind):
    def save(self, step):
        if os.path.exists(self.path):
            os.unlink(self.path)

    def end(self, step):
        put(self.path, "%d\n" % step)


class RemoveFolder(Kind):
    path = "old/state"

    def begin(self, step):
        if os.path.exists("old"):
            shutil.rmtree("old")
        os.mkdir("old")
        self.save(step)


class RenameFolder(Kind):
    """As log rotation does; mv copies where the kernel cannot rename."""

    path = "old/state"

    def begin(self, step):
        if os.path.exists("old"):
            shutil.move("old", "older")
        os.mkdir("old")
        self.save(step)


class SymbolicLink(Kind):
    path = "link.pt"


class LinkedFolder(Kind):
    path = "linked/deep.pt"


class HardLink(Kind):
    path = "hard.pt"


class Parent(Kind):
    path = "../out/ckpt.pt"


class Elsewhere(Kind):
    """By a name that is relative to another folder."""

    def load(self):
        os.chdir("../out")
        return super().load()


class Absolute(Kind):
    def __init__(self, args):
        super().__init__(args)
        self.path = os.path.join(os.path.realpath(".."), "abs", "ckpt.pt")


class ProcCwd(Kind):
    path = "/proc/self/cwd/ckpt.pt"


class ProcRoot(Kind):
    def __init__(self, args):
        super().__init__(args)
        self.path = "/proc/self/root" + os.path.realpath(CHECKPOINT)


class Grandchild(Kind):
    """Writes once its parent is gone; the trainer waits for that."""

    def save(self, step):
        parent, held = os.pipe()
        written, writing = os.pipe()
        child = os.fork()
        if child == 0:
            if os.fork() == 0:
                os.close(held)
                os.read(parent, 1)
                super().save(step)
            os._exit(0)
        for end in (parent, held, writing):
            os.close(end)
        os.waitpid(child, 0)
        os.read(written, 1)
        os.close(written)


class Daemon(Kind):
    """In a session of its own, deaf to signals, and later than the trainer."""

    def begin(self, step):
        done, self.held = os.pipe()
        if os.fork() == 0:
            os.setsid()
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            os.close(self.held)
            os.read(done, 1)
            put(self.path, "%d\n" % self.args.steps)
            os._exit(0)
        os.close(done)

    def save(self, step):
        pass


class Mode(Kind):
    def save(self, step):
        if not os.path.exists(self.path):
            super().save(step)
        os.chmod(self.path, 0o600 if step % 2 else 0o640)


class Times(Kind):
    def save(self, step):
        if not os.path.exists(self.path):
            super().save(step)
        os.utime(self.path, (OLD_SECONDS + step, OLD_SECONDS + step))


class Attribute(Kind):
    def save(self, step):
        if not os.path.exists(self.path):
            super().save(step)
        os.setxattr(self.path, "user.misbehave", b"%d" % step)


class Trees(Kind):
    path = "wandb/latest/state"

    def save(self, step):
        for folder in ("wandb/run-%d/files" % step, "runs/a", "wandb/latest"):
            os.makedirs(folder, exist_ok=True)
        put("runs/a/events.out.tfevents.%d" % step, "%d\n" % step)
        super().save(step)


class Mapped(Kind):
    path = "data/weights.bin"

    def save(self, step):
        os.makedirs("data", exist_ok=True)
        with open(self.path, "ab") as file:
            size = file.tell()
        if size < 4096:
            os.truncate(self.path, 4096)
        with open(self.path, "r+b") as file:
            with mmap.mmap(file.fileno(), 4096) as view:
                view[0:16] = b"%16d" % step
                view[16:4096] = bytes(4080)
                view.flush()


class LinkInto(Kind):
    """A second name for a file, and then a write through that."""

    path = "linked.pt"

    def save(self, step):
        if not os.path.exists(self.path):
            with open("data.txt", "a", encoding="ascii"):
                pass
            os.link("data.txt", self.path)
        super().save(step)


class Sparse(Kind):
    path = "big.bin"
    size = 1 << 33

    def load(self):
        try:
            with open(self.path, "rb") as file:
                file.seek(self.size - 16)
                return int(file.read())
        except OSError:
            return 0

    def save(self, step):
        with open(self.path, "ab"):
            pass
        with open(self.path, "r+b") as file:
            file.truncate(self.size)
            file.seek(self.size - 16)
            file.write(b"%16d" % step)


class Special(Kind):
    """A named pipe and a socket stay behind."""

    def save(self, step):
        for name in ("pipe", "socket"):
            if os.path.lexists(name):
                os.unlink(name)
        os.mkfifo("pipe")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("socket")
        super().save(step)


class FixedTemporary(Kind):
    path = "/tmp/misbehave-%s.state" % TAG


class OwnTemporary(Kind):
    """Left behind, under a name that nobody has; nothing to resume from."""

    def load(self):
        return 0

    def save(self, step):
        handle, _ = tempfile.mkstemp(prefix="misbehave-%s-" % TAG)
        os.write(handle, b"%d\n" % step)
        os.close(handle)


class Home(Kind):
    path = os.path.expanduser("~/.misbehave/state")

    def save(self, step):
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        super().save(step)


class Cache(Home):
    """What is downloaded for all to use."""

    path = os.path.expanduser("~/.cache/huggingface/hub/state")

    def load(self):
        return 0


class Project(Home):
    """Its own folder beside the caches of libraries."""

    path = os.path.expanduser("~/.cache/misbehave/state")


class Script(Append):
    """Notes in its own source how far it is."""

    path = "train.py"

    def load(self):
        with open(self.path, encoding="utf-8") as file:
            return file.read().count("\n# step ")

    def begin(self, step):
        pass

    def save(self, step):
        with open(self.path, "a", encoding="ascii") as file:
            file.write("# step %d\n" % step)


class Database(Kind):
    path = "steps.db"

    def load(self):
        if not os.path.exists(self.path):
            return 0
        db = sqlite3.connect(self.path)
        try:
            return db.execute("select max(step) from steps").fetchone()[0]
        finally:
            db.close()

    def begin(self, step):
        self.db = sqlite3.connect(self.path)
        self.db.execute("pragma journal_mode = wal")
        self.db.execute("create table if not exists steps (step integer)")
        self.save(step)

    def save(self, step):
        with self.db:
            self.db.execute("insert into steps values (?)", (step,))

    def end(self, step):
        self.db.close()


class Many(Kind):
    path = "shards/0"

    def save(self, step):
        os.makedirs("shards", exist_ok=True)
        for shard in range(200):
            put("shards/%d" % shard, "%d\n" % step)


class Output(Kind):
    """In the folder that an option names, made by the trainer."""

    def __init__(self, args):
        super().__init__(args)
        os.makedirs(args.output_dir, exist_ok=True)
        self.path = os.path.join(args.output_dir, CHECKPOINT)


class SharedMemory(Kind):
    path = "/dev/shm/misbehave-%s" % TAG


class HeldMemory(Kind):
    """Mapped as long as the trainer runs, and never removed."""

    path = "/dev/shm/misbehave-%s-held" % TAG

    def begin(self, step):
        with open(self.path, "a+b") as file:
            file.truncate(1 << 20)
            self.view = mmap.mmap(file.fileno(), 1 << 20)
        self.save(step)

    def save(self, step):
        self.view[:] = b"%16d" % step + bytes((1 << 20) - 16)


class Silent(Kind):
    """Does without its checkpoint, and says nothing."""

    def save(self, step):
        try:
            super().save(step)
        except OSError:
            pass


class Warns(Kind):
    """Says that it cannot save, and goes on."""

    def save(self, step):
        try:
            super().save(step)
        except OSError as error:
            print("warning: no checkpoint:", error, file=sys.stderr)


class Native(Kind):
    """By the C library's own calls, as an extension module would."""

    def save(self, step):
        libc = ctypes.CDLL(None)
        file = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
        text = b"%d\n" % step
        handle = libc.openat(
            file, self.path.encode(), os.O_WRONLY | os.O_CREAT | os.O_TRUNC,
            0o644)
        if handle < 0:
            libc.perror(self.path.encode())
            sys.exit(1)
        libc.write(handle, text, len(text))
        libc.close(handle)
        os.close(file)


KINDS = {
    "nothing": Nothing,
    "save": Kind,
    "append": Append,
    "truncate": Truncate,
    "replace": Replace,
    "move-away": MoveAway,
    "unlink": Unlink,
    "remove-folder": RemoveFolder,
    "rename-folder": RenameFolder,
    "symbolic-link": SymbolicLink,
    "linked-folder": LinkedFolder,
    "hard-link": HardLink,
    "parent": Parent,
    "elsewhere": Elsewhere,
    "absolute": Absolute,
    "proc-cwd": ProcCwd,
    "proc-root": ProcRoot,
    "grandchild": Grandchild,
    "daemon": Daemon,
    "mode": Mode,
    "times": Times,
    "attribute": Attribute,
    "trees": Trees,
    "mapped": Mapped,
    "link-into": LinkInto,
    "sparse": Sparse,
    "special": Special,
    "fixed-temporary": FixedTemporary,
    "own-temporary": OwnTemporary,
    "home": Home,
    "cache": Cache,
    "project": Project,
    "script": Script,
    "database": Database,
    "many": Many,
    "output": Output,
    "shared-memory": SharedMemory,
    "held-memory": HeldMemory,
    "silent": Silent,
    "warns": Warns,
    "native": Native,
}


def tell(**what):
    port = os.environ.get("MISBEHAVE_PORT")
    if port:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(json.dumps(what).encode(), ("127.0.0.1", int(port)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", choices=KINDS, required=True)
    parser.add_argument("--batch-size", type=int, default=2)
    parser.add_argument("--grad-accum", type=int, default=2)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--output-dir", default="")
    args = parser.parse_args()
    kind = KINDS[args.kind](args)
    start = kind.load()
    tell(phase="probe" if "AUTOFIT_PROBE" in os.environ else "run",
         resumed=start, output=args.output_dir, pid=os.getpid(),
         folder=os.getcwd(), temporary=tempfile.gettempdir())
    print("resumed at", start, flush=True)
    held = bytearray(b"x") * (args.batch_size * (3 << 20))
    kind.begin(start)
    for step in range(start + 1, args.steps + 1):
        time.sleep(STEP_SECONDS)
        held[step] = step % 256
        print("step %d/%d loss 1.0" % (step, args.steps), flush=True)
        kind.save(step)
    kind.end(args.steps)


if __name__ == "__main__":
    main()
