# Another optimizer; looking for it is the first import after the base.
# SPDX-License-Identifier: MIT
from .optimizer import Optimizer


class Adam(Optimizer):
    def step(self, closure=None):
        pass
