# Modules of others and their functions, which the hook wraps.
# SPDX-License-Identifier: MIT


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
