# Torch's out-of-memory errors, counted as they are made.
# SPDX-License-Identifier: MIT
import sys

from autofit_hook.channel import OOMS32
from autofit_hook.wrapping import wraps

# Where torch has kept the class since 1.13; before, there was none.
OOM_NAMES = (
    ("torch", "OutOfMemoryError"),
    ("torch.cuda", "OutOfMemoryError"),
    ("torch._C", "OutOfMemoryError"),
    ("torch._C", "_OutOfMemoryError"),
)


def is_oom(error):
    text = str(error)
    return "out of memory" in text or "allocate memory" in text


def count_ooms(channel):
    """
    Torch's C++ makes no instance of its error; Python does, once somebody
    handles it, by the class's __init__. Returns whether that could be hooked.
    """
    hooked = []
    for name, attribute in OOM_NAMES:
        error = getattr(sys.modules.get(name), "__dict__", {}).get(attribute)
        if isinstance(error, type) and error not in hooked:
            try:
                error.__init__ = wrap_error(error.__init__, channel)
            except TypeError:
                return False
            hooked.append(error)
    return bool(hooked)


def wrap_error(function, channel):
    def init(self, *args, **kwargs):
        try:
            if channel.enter():
                ooms = channel.get32(OOMS32)
                channel.put32(OOMS32, min(ooms + 1, 0xFFFFFFFF))
        except Exception:
            pass
        function(self, *args, **kwargs)

    return wraps(function, init)
