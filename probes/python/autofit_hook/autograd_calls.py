# Calls of torch.autograd's functions, told before and after.
# SPDX-License-Identifier: MIT
import sys

from autofit_hook.wrapping import wraps


class BackwardCalls(object):
    """
    torch.autograd.backward, replaced by one that tells of its calls, before and
    after. Only of the outermost: checkpointing makes passes of its own within
    one. The first is given their losses. Neither of the two may raise.
    """

    NAME = "backward"

    def __init__(self, before, after):
        self.module = sys.modules["torch.autograd"]
        self.function = self.module.__dict__[self.NAME]
        self.wrapper = wraps(
            self.function, self.wrap(self.function, before, after)
        )
        self.wrapper._torchdynamo_disable = True
        script_as(self.function, self.wrapper)
        setattr(self.module, self.NAME, self.wrapper)

    @staticmethod
    def wrap(function, before, after):
        under_way = []

        def backward(*args, **kwargs):
            if under_way:
                return function(*args, **kwargs)
            under_way.append(None)
            try:
                before(args[0] if args else kwargs.get("tensors"))
                result = function(*args, **kwargs)
            finally:
                under_way.pop()
            after()
            return result

        return backward

    def leave(self):
        """Not where another has replaced it since: that one calls this."""
        if self.module.__dict__.get(self.NAME) is self.wrapper:
            setattr(self.module, self.NAME, self.function)


def script_as(function, wrapper):
    """
    TorchScript knows functions of its own by their addresses, and asks for the
    list of them when it is first used. Never raises.
    """
    try:
        builtins = sys.modules["torch.jit._builtins"]
        for known, name in list(builtins._builtin_ops):
            if known is function:
                builtins._builtin_ops.append((wrapper, name))
                if builtins._builtin_table is not None:
                    builtins._builtin_table[id(wrapper)] = name
    except Exception:
        pass


class GradCalls(BackwardCalls):
    """The same of torch.autograd.grad, where nobody derives the result again."""

    NAME = "grad"

    @staticmethod
    def wrap(function, before, after):
        telling = BackwardCalls.wrap(function, before, after)

        def grad(*args, **kwargs):
            # The fifth argument, if it has no name.
            again = kwargs.get("create_graph") or any(args[4:5])
            return (function if again else telling)(*args, **kwargs)

        return grad


def nothing(*_):
    pass
