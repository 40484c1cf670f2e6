# What a program does with the values of a phantom card, which are zeros there.
# SPDX-License-Identifier: MIT
#
# Python runs this at start: autofit puts it as sitecustomize.py into a folder
# of its own, first in PYTHONPATH of a command on a phantom card. Nothing is
# changed before PyTorch begins to use the card. Then (package autofit_phantom):
#
# - Values that came from the host are known: a tensor that was copied to the
#   card keeps its values here, and so does what small operations make of it.
#   A question about them (has a mask zeros, how long is the longest row) gets
#   the answer that a real card would give, and so does an operation whose
#   result is as large as they say (rows that a mask chooses).
# - Numbers of a healthy training are finite: isnan() and its like are known.
# - What else decides what the program does next is told to autofit, with its
#   line: a question (`if error < limit`), a whole number (it may be a size), a
#   number that is compared after item(). A number that is only printed or
#   added up is none of that.
# - A loop that waits for a value would never end: the process does.
#
# It never prints, and leaves results as they are; an error in here leaves the
# program to itself, and its reads count as unseen (docs/phantom.md).
import os
import sys


def watch():
    from autofit_phantom.finder import Finder

    finder = Finder()
    sys.meta_path.insert(0, finder)
    finder.find_spec("")


def step_aside():
    """As the hook of probes does (sitecustomize.py): the user's own is next."""
    for name in list(sys.modules):
        if name.split(".")[0] == "autofit_phantom":
            del sys.modules[name]
    folder = os.path.dirname(os.path.abspath(__file__))
    others = [entry for entry in sys.path if os.path.abspath(entry) != folder]
    if len(others) == len(sys.path):
        return None
    sys.path[:] = others
    return sys.modules.pop("sitecustomize", None)


try:
    if sys.version_info >= (3, 8) and os.environ.get("AUTOFIT_SIM_STATE"):
        watch()
except Exception:
    pass

this_module = step_aside()
if this_module is not None:
    import sitecustomize  # noqa: F401
