# The page in which this process tells autofit what it sees.
# SPDX-License-Identifier: MIT
#
# Autofit maps a file, named by AUTOFIT_CHANNEL, with a slot for each process of
# a probe; the layout is that of probes/channel/channel.h.
import os

from autofit_hook.process import own_rank, start_time

MAGIC = 0x31544946545541
SLOTS = 256
SLOT_BYTES = 144
HEADER_BYTES = 64
SIZE = HEADER_BYTES + SLOTS * SLOT_BYTES
# Where the fields of a slot lie, counted in units of their own size.
PID32, FLAGS32, RANK32, PHASE32, OOMS32, ROWS32 = 0, 1, 12, 13, 14, 15
PASSES32, BATCHES32, LOADER32, WORLD32, GROUP32 = 16, 17, 18, 19, 20
FIRST32, SAME_SIZES32, LATER32, DATA32 = 21, 26, 27, 34
# Two counts share the word of SAME_SIZES32.
COUNT16_MAX = 0xFFFF
START64, STEPS64, LAST64, RETRIES64, PEAK64 = 1, 2, 3, 4, 5
REST64, FORWARD64, LAST_PASS64, RESERVED64, PASS64 = 11, 12, 14, 15, 16
PYTHON, TORCH, CUDA, COMPILED, HOOK_FAILED, COUNTS_OOMS = 1, 2, 4, 8, 16, 32
NEVER_STEPPED, SIZES_DIFFER, IN_ORDER, IDLE = 64, 128, 256, 512
HOLDS_MORE, FROZEN, BATCH_NORM, COMPARES = 1024, 2048, 4096, 8192
# enum phase of base/trial.h.
START, TRAIN, EVAL, SAVE = 0, 1, 2, 3


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

    def unflag(self, bits):
        self.put32(FLAGS32, self.get32(FLAGS32) & ~bits)

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


def is_dead(pid):
    try:
        os.kill(pid, 0)
    except OSError:
        # A live process of another user gives PermissionError.
        return not os.path.exists("/proc/%d" % pid)
    return False
