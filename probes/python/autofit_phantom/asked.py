# What a program decides by values that are not known.
# SPDX-License-Identifier: MIT
import os
import sys

# This package: not a place that asks.
HERE = os.path.dirname(__file__) + os.sep
# So many equal questions in a row, without a backward pass between them: the
# program waits for another answer.
WAITS_MAX = 1000
TEXT_MAX = 100
# Files of libraries that only ask whether a step is made (as it is with finite
# numbers), a training saved or ended, a first weight drawn again, or a number
# one that a distribution may have.
HARMLESS = (
    "/grad_scaler.py",
    "/model_checkpoint.py",
    "/early_stopping.py",
    "/nn/init.py",
    "/distributions/distribution.py",
)


class Asked(object):
    """Tells what depends on a value, and ends a program that waits for one."""

    def __init__(self, runtime, torch):
        self.runtime = runtime
        self.inside = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
        self.place = None
        self.times = 0
        self.checks = {}
        from opcode import opmap

        # While a function written in C compares two numbers.
        self.calls = frozenset(opmap[name] for name in opmap if "CALL" in name)

    def note(self, what, answer=None):
        place = self.find(answer)
        if place is None:
            return
        self.times = self.times + 1 if place == self.place else 1
        self.place = place
        text = "%s:%d %s" % (os.path.basename(place[0])[-48:], place[1], what)
        text = text.encode("utf-8", "replace")[:TEXT_MAX]
        if self.times > WAITS_MAX:
            self.runtime.end(text)
        self.runtime.tell(text)

    def passes(self):
        """A backward pass: the program gets on."""
        self.times = 0

    def find(self, answer):
        """
        The line that asks: the user's own, else the nearest not torch's. None:
        a library that takes no more memory, whatever the answer is, or a
        check that holds, without which there would be an error.
        """
        found = None
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.startswith(HERE):
            frame = frame.f_back
        if None not in (frame, answer) and self.is_check(frame, answer):
            return None
        while frame is not None:
            name = frame.f_code.co_filename
            is_inside = name.startswith((HERE, self.inside))
            if not is_inside and not is_installed(name):
                return name, frame.f_lineno
            if name.endswith(HARMLESS):
                return None
            if not is_inside:
                found = found or (name, frame.f_lineno)
            frame = frame.f_back
        return found or ("a library", 0)

    def is_check(self, frame, answer):
        """With the other answer the program would go straight to an error."""
        key = frame.f_code, frame.f_lasti, bool(answer)
        if key not in self.checks:
            try:
                self.checks[key] = raises_else(*key)
            except Exception:
                self.checks[key] = False
        return self.checks[key]


def raises_else(code, at, answer):
    """
    The branch that is not taken behind this place fails an assertion; or, in a
    library, raises an error: a program may go on from its own.
    """
    import dis

    steps = list(dis.get_instructions(code))
    between = ("CACHE", "EXTENDED_ARG", "TO_BOOL", "COMPARE_OP")
    behind = (
        each
        for each in steps
        if each.offset >= at and each.opname not in between
    )
    jump = next(behind)
    if "JUMP" not in jump.opname or not (
        "IF_TRUE" in jump.opname or "IF_FALSE" in jump.opname
    ):
        return False
    if answer != ("IF_TRUE" in jump.opname):
        behind = (each for each in steps if each.offset >= jump.argval)
    is_fatal = is_installed(code.co_filename)
    for each in behind:
        if "ASSERTION" in each.opname or each.argrepr == "AssertionError":
            is_fatal = True
        if each.opname == "RAISE_VARARGS":
            return is_fatal
        if "JUMP" in each.opname or "RETURN" in each.opname:
            break
    return False


def is_installed(name):
    return (
        "/site-packages/" in name
        or "/dist-packages/" in name
        or "/lib/python" in name
        or name.startswith("<")
    )
