# Backward passes that one optimizer step has.
# SPDX-License-Identifier: MIT
import os
import sys

from autofit_hook.autograd_calls import BackwardCalls, nothing
from autofit_hook.channel import (
    BATCHES32, DATA32, FROZEN, IDLE, IN_ORDER, LAST_PASS64, LATER32, LOADER32,
    PASSES32, WORLD32,
)
from autofit_hook.loaders import Loaders

# The passes of so many steps say how many a step has; then no hook is left.
PASSES_STEPS = 8
# So many steps without a gradient are no chance.
IDLE_STEPS = 3
# A smaller part of an optimizer's parameters does not matter to memory.
FROZEN_SHARE = 0.1


class Passes(object):
    """
    How many backward passes one optimizer step has, and how many batches of a
    data loader. The passes are those that reach one parameter of the optimizer
    that stepped first, told by a hook on that parameter, which stands in no
    call and no traceback. Those before a step of another optimizer were that
    one's: a generator's loss reaches the discriminator too. Within a step an
    optimizer may evaluate its loss several times, as LBFGS does: each time
    begins without a gradient, and the one of most passes counts. Loaders are
    asked how far they are. What the first steps usually have is told, and how
    many batches steps of so many passes have. As long as no other optimizer
    steps, each pass after the first step is told when it is made. Where none
    reaches the optimizer's parameters, for these are shards of the model's or
    copies in another precision, the calls of torch.autograd.backward count.
    """

    def __init__(self, channel):
        import time
        import weakref

        self.channel = channel
        self.clock = getattr(time, "monotonic", None) or time.time
        self.ref = weakref.ref
        self.optimizer = None
        self.handle = self.parameter = self.calls = None
        self.pid = os.getpid()
        self.is_over = False
        self.count = self.idle = 0
        self.is_stepping = False
        # Of the evaluation of the loss that is under way.
        self.under_way = 0
        self.later = 0
        self.is_alone = True
        self.loaders = Loaders()
        self.yielded = 0
        self.seen = {}
        self.seen_batches = {}

    def begin_step(self):
        self.is_stepping = True

    def step(self, optimizer):
        """A step is over; never raises."""
        try:
            self.is_stepping = False
            if not self.is_over:
                self.look(optimizer)
        except Exception:
            self.stop()

    def look(self, optimizer):
        if self.pid != os.getpid():
            self.stop()
            self.__init__(self.channel)
        if self.optimizer is None:
            self.start(optimizer)
        elif self.optimizer() is optimizer:
            if not self.count and not self.seen and self.calls is None:
                self.leave_parameter()
                self.calls = BackwardCalls(nothing, self.on_call)
            yielded = self.loaders.yielded()
            self.note(self.seen, self.count)
            batches = self.seen_batches.setdefault(self.count, {})
            self.note(batches, yielded - self.yielded)
            self.count, self.under_way, self.yielded = 0, 0, yielded
            self.publish()
            if sum(self.seen.values()) >= PASSES_STEPS:
                self.stop()
        else:
            self.count = self.under_way = 0
            self.is_alone = False
            if self.channel.enter():
                self.channel.put32(LATER32, 0)

    def start(self, optimizer):
        """The first step: the passes of the next ones are counted."""
        self.loaders.find()
        if self.loaders.are_in_order:
            self.channel.flag(IN_ORDER)
        self.yielded = self.loaders.yielded()
        self.publish()
        parameters = [
            parameter
            for group in optimizer.param_groups
            for parameter in group["params"]
        ]
        if frozen_share(parameters) >= FROZEN_SHARE:
            self.channel.flag(FROZEN)
        for parameter in parameters:
            if parameter.grad is not None and parameter.is_leaf:
                self.handle = parameter.register_hook(self.on_gradient)
                self.parameter = self.ref(parameter)
                self.optimizer = self.ref(optimizer)
                return
        self.idle += any(
            getattr(each, "requires_grad", False) for each in parameters
        )
        if self.idle == IDLE_STEPS:
            self.channel.flag(IDLE)

    def stop(self):
        self.is_over = True
        self.loaders.leave()
        self.leave_parameter()
        if self.calls is not None:
            self.calls.leave()

    def leave_parameter(self):
        handle, self.handle = self.handle, None
        self.parameter = None
        if handle is not None:
            handle.remove()

    def on_call(self):
        if not self.is_over:
            self.on_gradient(None)

    def on_gradient(self, gradient):
        if self.is_stepping and self.is_anew():
            self.under_way = 0
        self.under_way += 1
        if self.under_way > self.count:
            self.count = self.under_way
            self.tell()

    def is_anew(self):
        """Nothing is added up yet of the loss that is evaluated; never raises."""
        try:
            gradient = self.parameter().grad
            return gradient is None or not gradient.any()
        except Exception:
            return True

    def tell(self):
        """One pass more since the first step; never raises."""
        try:
            if not self.is_alone or not self.channel.enter():
                return
            self.later += 1
            self.channel.put(LAST_PASS64, int(self.clock() * 1e9))
            self.channel.put32(LATER32, min(self.later, 0xFFFFFFFF))
        except Exception:
            pass

    @staticmethod
    def note(seen, value):
        if value > 0:
            seen[value] = seen.get(value, 0) + 1

    def undisturbed(self):
        """Not of steps with more batches than passes: some of those failed."""
        return {
            count: times
            for count, times in self.seen.items()
            if usual_count(self.seen_batches.get(count, {})) <= count
        }

    def publish(self):
        if self.channel.enter():
            passes = usual_count(self.undisturbed() or self.seen)
            batches = usual_count(self.seen_batches.get(passes, {}))
            self.channel.put32(PASSES32, min(passes, 0xFFFFFFFF))
            self.channel.put32(BATCHES32, min(batches, 0xFFFFFFFF))
            self.channel.put32(LOADER32, min(self.loaders.rows, 0xFFFFFFFF))
            self.channel.put32(DATA32, min(self.loaders.data, 0xFFFFFFFF))
            self.channel.put32(WORLD32, world_size())


def usual_count(seen):
    """
    The most frequent one; as often the larger. A larger one wins where steps
    are cut short: the last one of an epoch is, which of few data may be every
    other step, and two of three that are counted. Those after steps that were
    left out, by a gradient scaler or as something failed, are fewer.
    """
    if not seen:
        return 0
    total = sum(seen.values())
    usual = max(seen, key=lambda count: (seen[count], count))
    return max(
        count
        for count in seen
        if count == usual
        or count > usual
        and 3 * seen[count] >= total + (count % usual == 0)
    )


def world_size():
    """Ranks that torch.distributed has brought together; 0: it has not."""
    distributed = sys.modules.get("torch.distributed")
    try:
        if distributed.is_available() and distributed.is_initialized():
            return distributed.get_world_size()
    except Exception:
        pass
    return 0


def frozen_share(parameters):
    """How much of them is handed to the optimizer and not trained yet."""
    sizes = [
        (getattr(each, "requires_grad", True), each.numel())
        for each in parameters
        if hasattr(each, "numel")
    ]
    frozen = sum(size for is_trained, size in sizes if not is_trained)
    return frozen / max(1.0, float(sum(size for _, size in sizes)))
