# What a process knows of itself, and the files in which it writes more down.
# SPDX-License-Identifier: MIT
import os
import sys

# Those below the real-time ones.
PLAIN_SIGNALS = (1 << 31) - 1


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


def files_folder(channel_path):
    """Where what is more than numbers is left: beside the page, if nowhere else."""
    folder = os.environ.get("AUTOFIT_HOOK_FILES")
    return os.path.abspath(folder or os.path.dirname(channel_path))


def own_file(folder, name):
    return os.path.join(folder, "%s.%d" % (name, os.getpid()))


def write_more(folder, name, data):
    """Behind what the file of this process holds; few bytes, at once."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    flags |= getattr(os, "O_CLOEXEC", 0)
    fd = os.open(own_file(folder, name), flags, 0o600)
    try:
        os.write(fd, data)
    finally:
        os.close(fd)


def write_down(folder, name, data):
    """Into the file of this process; a reader never finds half of it."""
    name = own_file(folder, name)
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
