# Watches a probe's Python from inside, and hands on to the user's own module.
# SPDX-License-Identifier: MIT
#
# Python runs this at start because its folder stands first in PYTHONPATH. It
# says hello in the page named by AUTOFIT_CHANNEL and, once torch.optim is
# there, counts the steps of each optimizer and tells the phase, the rows of a
# batch, the passes and ranks of a step, and torch's out-of-memory errors. Of
# Keras, whatever it runs on, it counts the batches that fit() has trained on.
# It writes down the exception that ends the process. All that is done by the
# package autofit_hook beside this file, which is loaded before the program
# begins: it never prints, never raises, imports nothing big, and leaves no
# module of its own behind. This file parses on Python 2.7 to 3.14, and hands
# Python 2 on at once.
import os
import sys


def become_zygote():
    """Returns in a probe only, and leaves no module of its own."""
    import autofit_zygote

    autofit_zygote.serve()
    del sys.modules["autofit_zygote"]


def watch_probe(path):
    from autofit_hook.channel import Channel
    from autofit_hook.finder import Finder
    from autofit_hook.process import files_folder

    finder = Finder(Channel(path))
    sys.meta_path.insert(0, finder)
    finder.find_spec("")
    watch_end(files_folder(path), is_probe=True)


def watch_end(folder, is_probe):
    from autofit_hook.last_error import LastError

    # Before 3.5 the last frames alone cannot be asked for.
    if sys.version_info >= (3, 5):
        LastError(folder, is_probe).watch()


def start():
    if os.environ.get("AUTOFIT_ZYGOTE"):
        # Its folder may be gone when a probe is forked.
        from autofit_hook import finder, last_error  # noqa: F401

        become_zygote()
    path = os.environ.get("AUTOFIT_CHANNEL")
    folder = os.environ.get("AUTOFIT_LAST_ERRORS")
    if not path and folder:
        # A real run that is guarded: its last words, and nothing else.
        watch_end(os.path.abspath(folder), is_probe=False)
    if path:
        watch_probe(path)


def step_aside():
    """Leave sys.path and sys.modules as they would be without this module."""
    for name in list(sys.modules):
        if name.split(".")[0] == "autofit_hook":
            del sys.modules[name]
    folder = os.path.dirname(os.path.abspath(__file__))
    others = [entry for entry in sys.path if not is_folder(entry, folder)]
    if len(others) == len(sys.path):
        return None
    sys.path[:] = others
    return sys.modules.pop("sitecustomize", None)


def is_folder(entry, folder):
    try:
        return os.path.abspath(entry) == folder
    except Exception:
        return False


try:
    if sys.version_info >= (3, 4):
        start()
except Exception:
    pass

# Python 2 empties a module that nobody holds.
this_module = step_aside()
if this_module is not None:
    # The user's own, if any. Its errors, and that there is none, reach the
    # caller as they would without this module.
    import sitecustomize  # noqa: F401
