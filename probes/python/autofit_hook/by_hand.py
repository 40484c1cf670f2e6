# Backward passes of programs that make no optimizer of torch's.
# SPDX-License-Identifier: MIT
import os

from autofit_hook.autograd_calls import BackwardCalls, GradCalls, nothing
from autofit_hook.channel import FIRST32
from autofit_hook.steps import MAX_COUNTS, has_optimizer


class ByHand(object):
    """
    Backward passes that torch.autograd.backward tells: of a program that
    updates its parameters by itself all of them, of one that makes an optimizer
    those before its first step. Of a program that never calls that one, the
    calls of torch.autograd.grad.
    """

    def __init__(self, counter):
        self.counter = counter
        self.begun = 0
        self.calls = self.grads = None
        self.pid = os.getpid()
        self.passes = self.first = 0

    def bind(self):
        self.counter.by_hand = self
        self.calls = BackwardCalls(self.begin, self.end)
        self.grads = GradCalls(nothing, self.on_grad)

    def begin(self, _):
        self.leave_grads()
        self.begun += 1
        if self.begun == 1:
            self.counter.rest.before_first_backward()

    def end(self):
        if self.begun == 1:
            self.counter.rest.after_first_backward()
        elif self.begun == 2 and has_optimizer():
            self.counter.rest.after_second_backward()
        self.count()

    def on_grad(self):
        if self.grads is not None:
            self.count()

    def leave_grads(self):
        """They count no more, nor do those that have counted."""
        grads, self.grads = self.grads, None
        if grads is not None:
            grads.leave()
            self.passes = 0

    def stop(self):
        """A step was made, and is told: those count now; never raises."""
        try:
            self.counter.by_hand = None
            self.calls.leave()
            self.leave_grads()
            if self.counter.channel.enter():
                self.counter.channel.put32(FIRST32, min(self.first, MAX_COUNTS))
        except Exception:
            pass

    def count(self):
        """A pass was made; never raises."""
        try:
            if self.pid != os.getpid():
                self.pid, self.passes, self.first = os.getpid(), 0, 0
            if has_optimizer():
                self.leave_to_optimizer()
                return
            self.passes += 1
            self.counter.count_pass(self.passes)
        except Exception:
            pass

    def leave_to_optimizer(self):
        self.first += 1
        if self.passes and self.counter.channel.enter():
            self.counter.channel.put32(FIRST32, 0)
        self.passes = 0
