# The base as in torch 2: each class's step is wrapped, hooks run behind it.
# SPDX-License-Identifier: MIT
import functools
import os

hooks = []
hooks_before = []


class Optimizer(object):
    def __init__(self, params):
        self.param_groups = [{"params": list(params)}]
        cls = type(self)
        # An heir of a wrapped class is not wrapped again.
        if not getattr(cls.step, "hooked", None):
            cls.step = self.profile_hook_step(cls.step)
            cls.step.hooked = True

    @staticmethod
    def profile_hook_step(func):
        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            self, *_ = args
            for hook in hooks_before:
                hook(self, args, kwargs)
            result = func(*args, **kwargs)
            for hook in hooks:
                hook(self, args, kwargs)
            return result

        return wrapper


def register_optimizer_step_post_hook(hook):
    if "FAKE_BROKEN" in os.environ:
        raise RuntimeError("no hooks today")
    hooks.append(hook)


def register_optimizer_step_pre_hook(hook):
    hooks_before.append(hook)
