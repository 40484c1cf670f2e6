# Steps of torch's optimizers, counted behind each of them.
# SPDX-License-Identifier: MIT
#
# Steps are the largest count of any one optimizer of the process, so a later
# optimizer adds none until it has made more steps than the ones before it. A
# `step` replaced on one instance is counted when it calls the original.
import os
import sys

from autofit_hook.channel import (
    COMPILED, COUNTS_OOMS, CUDA, FIRST32, HOOK_FAILED, LAST64, NEVER_STEPPED,
    OOMS32, PEAK64, RESERVED64, RETRIES64, STEPS64, TORCH,
)
from autofit_hook.comparing import Comparing
from autofit_hook.memory import MAX_DEVICES, Rest, cuda_in_use
from autofit_hook.passes import Passes
from autofit_hook.rows import Rows
from autofit_hook.wrapping import wraps

MAX_COUNTS = 65536
# After these steps it looks at the modules; most are there after the first,
# and what the training imports on its way after the third.
LOOK_AT_STEPS = (1, 3)


class Counter(object):
    """Steps per optimizer. Keeps none of them alive."""

    def __init__(self, channel, modules, phases):
        import atexit
        import threading
        import time
        import weakref

        self.channel = channel
        self.modules = modules
        self.phases = phases
        self.rows = Rows(channel)
        self.rest = Rest(channel, self.rows.differ)
        self.comparing = Comparing(channel)
        self.passes = Passes(channel)
        self.by_hand = None
        self.counts_ooms = self.sees_steps = False
        self.clock = getattr(time, "monotonic", None) or time.time
        self.ref = weakref.ref
        self.local = threading.local()
        self.pid = os.getpid()
        self.counts = {}
        self.published = 0
        atexit.register(self.at_exit)

    def at_exit(self):
        # What a fork inherited is the parent's.
        if self.pid != os.getpid():
            return
        try:
            self.publish_reserved()
        except Exception:
            pass
        if self.published:
            self.modules.publish()
        elif self.sees_steps and has_optimizer():
            self.channel.flag(NEVER_STEPPED)

    def count(self, optimizer):
        """One step was made; never raises."""
        try:
            self.phases.step()
            self.count_step(optimizer)
        except Exception:
            pass

    def count_step(self, optimizer):
        pid = os.getpid()
        if self.pid != pid:
            self.pid = pid
            self.counts = {}
            self.published = 0
        key = (id(optimizer), first_parameter(optimizer))
        ref, steps = self.counts.get(key, (None, 0))
        if ref is None or ref() is not optimizer:
            # Another object lived at this address before.
            self.prune()
            ref, steps = self.ref(optimizer), 0
        steps += 1
        self.counts[key] = (ref, steps)
        self.passes.step(optimizer)
        if steps > self.published:
            # Before the step is seen: the process may be stopped for it.
            if steps in LOOK_AT_STEPS:
                self.modules.publish()
            self.phases.bind()
            # First: of two that look at one call the later one leaves first.
            self.comparing.turn(steps)
            self.rest.turn(steps, optimizer)
            # Other threads may have come further meanwhile.
            self.published = max(self.published, steps)
            self.publish()
            if self.by_hand is not None:
                self.by_hand.stop()
            self.rows.turn(steps)

    def count_pass(self, passes):
        """Of ByHand, as if it were a step."""
        self.phases.step()
        if passes in LOOK_AT_STEPS:
            self.modules.publish()
        self.phases.bind()
        self.rest.turn(passes, None)
        self.publish()
        if self.channel.enter():
            self.channel.put32(FIRST32, min(passes, 0xFFFFFFFF))
        self.rows.turn(passes)

    def prune(self):
        if len(self.counts) >= MAX_COUNTS:
            self.counts = dict(
                item for item in list(self.counts.items()) if item[1][0]()
            )
        if len(self.counts) >= MAX_COUNTS:
            self.counts = {}

    def publish(self):
        channel = self.channel
        if not channel.enter():
            return
        flags = TORCH
        if self.counts_ooms:
            flags |= COUNTS_OOMS
        try:
            flags |= self.publish_cuda()
            flags |= compiled_flag()
        except Exception:
            pass
        channel.flag(flags)
        channel.put(LAST64, int(self.clock() * 1e9))
        # Last: who sees the step sees what belongs to it.
        channel.put(STEPS64, self.published)

    def publish_cuda(self):
        cuda = cuda_in_use()
        if cuda is None:
            return 0
        retries = peak = ooms = 0
        for device in range(min(cuda.device_count(), MAX_DEVICES)):
            stats = cuda.memory_stats(device)
            retries += stats.get("num_alloc_retries", 0)
            peak = max(peak, stats.get("allocated_bytes.all.peak", 0))
            ooms += stats.get("num_ooms", 0)
        self.channel.put(RETRIES64, retries)
        self.channel.put(PEAK64, peak)
        if not self.counts_ooms:
            self.channel.put32(OOMS32, min(ooms, 0xFFFFFFFF))
        return CUDA

    def publish_reserved(self):
        cuda = cuda_in_use()
        if cuda is None or not self.channel.enter():
            return
        self.channel.put(RESERVED64, max(
            cuda.memory_stats(device).get("reserved_bytes.all.peak", 0)
            for device in range(min(cuda.device_count(), MAX_DEVICES))
        ))


def first_parameter(optimizer):
    """
    What this step worked on. DeepSpeed's ZeRO gives one optimizer a part of
    the parameters at a time and steps it once for each: one step, not many.
    """
    try:
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                return id(parameter)
    except Exception:
        pass
    return 0


def has_optimizer():
    """
    Was any optimizer made? The first of each class has the step of its class
    replaced by one that says so.
    """
    try:
        module = sys.modules["torch.optim.optimizer"]
        classes = [module.Optimizer]
        for one in classes:
            if getattr(one.__dict__.get("step"), "hooked", False):
                return True
            classes += one.__subclasses__()
    except Exception:
        pass
    return False


def compiled_flag():
    """Optimizers import torch._dynamo by themselves; frames are the proof."""
    utils = sys.modules.get("torch._dynamo.utils")
    counters = getattr(utils, "counters", None) or {}
    return COMPILED if counters.get("frames", {}).get("total") else 0


def hook_global(module, counter):
    """torch 2.0 and later: one hook behind the step of every optimizer."""

    def on_step(optimizer, args, kwargs):
        try:
            nested = is_nested(optimizer, sys._getframe(1))
        except Exception:
            nested = False
        if not nested:
            counter.count(optimizer)

    # A compiled step leaves its graph here as it does for a disabled function;
    # nothing below works on tensors, so none of it is compiled in its turn.
    on_step._torchdynamo_disable = True
    module.register_optimizer_step_post_hook(on_step)

    def before_step(optimizer, args, kwargs):
        counter.passes.begin_step()

    before_step._torchdynamo_disable = True
    module.register_optimizer_step_pre_hook(before_step)


def is_nested(optimizer, frame):
    """
    A step that calls super().step() passes the hook twice: torch's wrapper,
    whose frame this is, then stands on the stack a second time.
    """
    code = frame.f_code
    frame = frame.f_back
    while frame is not None:
        if frame.f_code is code and frame.f_locals.get("self") is optimizer:
            return True
        frame = frame.f_back
    return False


def hook_classes(module, counter):
    """
    Before torch 2.0: subclasses override step without calling the base's, so
    each class has its own step wrapped when its first instance comes to be.
    """
    base = module.Optimizer
    for name in ("__init__", "__setstate__"):
        if name in base.__dict__:
            setattr(base, name, wrap_birth(base.__dict__[name], counter))


def wrap_birth(function, counter):
    def born(self, *args, **kwargs):
        result = function(self, *args, **kwargs)
        try:
            wrap_step(type(self), counter)
        except Exception:
            counter.channel.flag(HOOK_FAILED)
        return result

    return wraps(function, born)


def wrap_step(cls, counter):
    step = cls.step
    if getattr(step, "_autofit_counts", False):
        return
    local = counter.local

    def stepping(self, *args, **kwargs):
        under_way = local.__dict__.setdefault("under_way", [])
        if id(self) in under_way:
            return step(self, *args, **kwargs)
        under_way.append(id(self))
        counter.passes.begin_step()
        try:
            result = step(self, *args, **kwargs)
        finally:
            under_way.pop()
        counter.count(self)
        return result

    stepping = wraps(step, stepping)
    stepping._autofit_counts = True
    cls.step = stepping
