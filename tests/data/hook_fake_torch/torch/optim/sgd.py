# An optimizer, and one that calls its base's step.
# SPDX-License-Identifier: MIT
from .optimizer import Optimizer


class SGD(Optimizer):
    def step(self, closure=None):
        if closure is not None:
            closure()


class Nested(SGD):
    def step(self, closure=None):
        return super().step(closure)
