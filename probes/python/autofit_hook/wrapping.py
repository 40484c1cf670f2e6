# Modules of others and their functions, which the hook wraps.
# SPDX-License-Identifier: MIT
import sys


def wraps(function, wrapper):
    import functools

    return functools.wraps(function)(wrapper)


def attribute_of(module, name):
    """Asks the module nothing that would make a lazy one load."""
    try:
        return object.__getattribute__(module, "__dict__").get(name)
    except Exception:
        return None


def is_loading(module):
    spec = getattr(module, "__spec__", None)
    return bool(getattr(spec, "_initializing", False))


def never():
    return False


def leave_uncompiled(functions):
    """
    What is called below a compiled function, torch compiles as well, but for
    these. False: it cannot compile yet.
    """
    dynamo = sys.modules.get("torch._dynamo.eval_frame")
    skip = getattr(dynamo, "skip_code", None)
    if skip is None:
        return False
    for function in functions:
        skip(function.__code__)
    return True
