# Imports torch once and runs many programs, each in a fork of its own.
# SPDX-License-Identifier: MIT
#
# Usage: hook_server.py < requests. A request is a line "SCRIPT NAME OUT ERR":
# the script is run with that one argument as python would run it, its output
# goes to the two files. Each is answered by a line "PID STATUS" of waitpid().
# Before the fork nothing but the import has been done. A fork ends as Python
# does, but for taking apart its modules: with torch that takes longer than the
# program.
import atexit
import os
import runpy
import sys
import threading

import torch  # noqa: F401


def become(script, name, out, err):
    """A process that has just started to run the script."""
    for fd, path in enumerate((os.devnull, out, err)):
        new = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(new, fd)
        os.close(new)
    sys.argv[:] = [script, name]
    # After a fresh start the hook, if there is one, has its slot already.
    for finder in sys.meta_path:
        phases = getattr(finder, "phases", None)
        if phases is not None:
            phases.channel.enter()


def serve():
    """Returns in a fork, to run its script; None: there are no more."""
    while True:
        # A buffer would be read on by the fork.
        line = b""
        while not line.endswith(b"\n"):
            byte = os.read(0, 1)
            if not byte:
                return None
            line += byte
        words = os.fsdecode(line).split()
        pid = os.fork()
        if pid == 0:
            become(*words)
            return words[0]
        _, status = os.waitpid(pid, 0)
        os.write(1, b"%d %d\n" % (pid, status))


def run(script):
    """The exit status of what ends well or by an exception."""
    try:
        runpy.run_path(script, run_name="__main__")
    except Exception:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def end(status):
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    this_script = serve()
    if this_script is not None:
        end(run(this_script))
