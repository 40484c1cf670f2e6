# The exception that ends this process, written down for autofit.
# SPDX-License-Identifier: MIT
import sys

from autofit_hook.process import own_rank, write_down

# Of the exception that ends the process: frames of each of its chain, bytes
# at each end of the whole text, and of the line by which autofit finds it in
# the output.
ERROR_FRAMES = 6
ERROR_END_BYTES = 8192
ERROR_KEY_LENGTH = 60


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
