#!/usr/bin/env python3
# A file system that never answers holds no end up: Ctrl-C, SIGTERM, --time-limit.
# SPDX-License-Identifier: MIT
# CTEST COST 15
"""Who reads there waits in the kernel, where not even SIGKILL ends him, as with a
file server that is gone. The file system is FUSE's, in mounts of this test's own; the
test is its server, and answers until somebody looks for a file.

A time that is compared here is far from both what is right and what is wrong.
"""
import ctypes
import os
import signal
import struct
import sys
import threading
import time

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import check, equal, holds  # noqa: E402

sys.path.insert(1, os.path.join(os.environ["SOURCE"], "tests", "cli", "helpers"))
import storm  # noqa: E402

# What a try of an isolation may take, and more than that is wrong.
TRY_SECONDS = 8
LIMIT_SECONDS = 4
CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 1 << 18
GETATTR, INIT, INTERRUPT = 3, 26, 36
LIBC = ctypes.CDLL(None, use_errno=True)


def own_mounts():
    """None of what is mounted from here on shows outside."""
    return LIBC.unshare(CLONE_NEWNS) == 0 and LIBC.mount(
        b"none", b"/", None, MS_REC | MS_PRIVATE, None) == 0


class Hanging(threading.Thread):
    """A file system at path, until it is ended."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.asked = path, threading.Event()
        os.mkdir(path)
        self.fd = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        options = "fd=%d,rootmode=40755,user_id=%d,group_id=%d" % (
            self.fd, os.getuid(), os.getgid())
        if LIBC.mount(b"hang", os.fsencode(path), b"fuse", 0, options.encode()):
            raise OSError(ctypes.get_errno(), "mount of FUSE")
        self.start()

    def answer(self, unique, data):
        os.write(self.fd, struct.pack("=IiQ", 16 + len(data), 0, unique) + data)

    def run(self):
        while True:
            try:
                request = os.read(self.fd, 1 << 17)
            except OSError:  # it is unmounted
                return
            code, unique = struct.unpack_from("=IQ", request, 4)
            if code == INIT:
                self.answer(unique, struct.pack(
                    "=IIIIHHI", 7, 31, 1 << 16, 0, 12, 9, 1 << 16).ljust(64, b"\0"))
            elif code == GETATTR:  # of the folder itself
                self.answer(unique, struct.pack(
                    "=QII6Q10I", 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0o40755, 2,
                    os.getuid(), os.getgid(), 0, 4096, 0))
            elif code != INTERRUPT:
                self.asked.set()

    def end(self):
        """All that waits there gets an error."""
        LIBC.umount2(os.fsencode(self.path), 2 | 1)


def ended(place, files, number, isolation):
    """The answer to the signal once somebody waits, or without one to the time
    limit; seconds until then."""
    script = place.write("train.sh", '#!/bin/sh\ncat "%s/data"\n' % files.path, 0o755)
    options = [] if number else ["--time-limit", "%ds" % LIMIT_SECONDS]
    began = time.monotonic() + LIMIT_SECONDS
    process = place.start(
        "tune", "--device", "host", "--memory", "1G", "--isolation", isolation,
        *options, "--", script, "--batch-size", "4", "--grad-accum", "2")
    files.asked.wait(lib.PATIENCE)
    if number:
        began = time.monotonic()
        process.send_signal(number)
    _, words = process.communicate(timeout=lib.PATIENCE)
    return process.returncode, time.monotonic() - began, words.decode()


def in_a_probe(number):
    with lib.Place("hang") as place:
        files = Hanging(place.path("files"))
        status, seconds, words = ended(place, files, number, "landlock")
        name = "a probe waits for a file, %s: " % (
            number.name if number else "--time-limit")
        print("# %s%.2f s" % (name, seconds))
        equal(name + "status", status, -number if number else 124)
        holds(name + "it is said", words, "a process of the probe does not end")
        mark = b"AUTOFIT_HOME=" + os.fsencode(place.path("home"))
        check(name + "it is still there", storm.processes_with(mark))
        files.end()
        check(name + "once it can be ended, it is", lib.wait_for(
            lambda: not storm.processes_with(mark)), storm.processes_with(mark))
        check(name + "and nothing is left", lib.wait_for(
            lambda: not os.listdir(place.path("home", "scratch"))))


def in_a_try(number):
    """Of the isolation: a view looks at all that is mounted."""
    with lib.Place("hang") as place:
        files = Hanging(place.path("files"))
        status, seconds, words = ended(place, files, number, "view")
        name = "the try of a view waits for a file, %s: " % number.name
        print("# %s%.2f s" % (name, seconds))
        equal(name + "status", status, -number)
        check(name + "ends at once", seconds < TRY_SECONDS, (seconds, words))
        files.end()


if not os.path.exists("/dev/fuse") or not os.access("/dev/fuse", os.R_OK | os.W_OK):
    lib.skip("/dev/fuse cannot be used here")
if not own_mounts():
    lib.skip("no mounts of our own here")
for one in (signal.SIGINT, signal.SIGTERM, None):
    in_a_probe(one)
in_a_try(signal.SIGTERM)
lib.finish()
