# The peak of a process, by other means than autofit's: to compare with.
# SPDX-License-Identifier: MIT
"""One process, no children: /proc/PID/status is read as fast as it goes.

Its anonymous and shared pages, and what the kernel's own high-water mark
leaves when the most file pages that were ever seen are taken from it.
"""
import os
import re
import subprocess
import time

FIELDS = re.compile(r"^(RssAnon|RssShmem|RssFile|VmHWM):\s*(\d+) kB$", re.M)
EVERY_SECONDS = 0.004


class Sampler:
    def __init__(self, pid):
        self.fd = os.open("/proc/%d/status" % pid, os.O_RDONLY)
        self.held = 0
        self.marked = 0
        self.files = 0

    def look(self):
        """False once the process is gone."""
        try:
            text = os.pread(self.fd, 8192, 0).decode()
        except ProcessLookupError:
            return False
        seen = {name: int(kib) << 10 for name, kib in FIELDS.findall(text)}
        if len(seen) < 4:  # it has ended, and waits to be reaped
            return False
        self.held = max(self.held, seen["RssAnon"] + seen["RssShmem"])
        self.marked = max(self.marked, seen["VmHWM"])
        self.files = max(self.files, seen["RssFile"])
        return True

    @property
    def peak(self):
        return max(self.held, self.marked - self.files)


def peak_of(argv, **popen):
    """Runs the command to its end: (status, peak in bytes)."""
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, **popen)
    sampler = Sampler(process.pid)
    try:
        while sampler.look():
            time.sleep(EVERY_SECONDS)
    finally:
        os.close(sampler.fd)
    return process.wait(), sampler.peak
