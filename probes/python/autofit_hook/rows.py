# Rows that go into the model, and the sizes of its inputs.
# SPDX-License-Identifier: MIT
import os
import sys

from autofit_hook.channel import (
    BATCH_NORM, COUNT16_MAX, GROUP32, ROWS32, SAME_SIZES32, SIZES_DIFFER,
)
from autofit_hook.wrapping import leave_uncompiled

# After these steps it looks at what goes into the model: by then the model is
# compiled, if it is. One look takes some microseconds.
ROWS_AFTER_STEPS = (1, 2, 3, 4, 5, 6, 7)
SIZES_MAX = 256
ROWS_DEPTH = 3
ROWS_ITEMS = 64
# The wrappers of data-parallel ranks, which know their group.
GROUP_CLASSES = ("DistributedDataParallel", "FullyShardedDataParallel")
# inspect.CO_VARARGS and CO_VARKEYWORDS.
VAR_POSITIONAL, VAR_KEYWORDS = 4, 8


class Rows(object):
    """
    How many rows go into the model, and whether all of its passes take inputs
    of the same sizes. From a step to the next call of a module
    that is trained this thread's profile function looks on. It stands in no
    call and replaces nothing, so that torch.compile, tracebacks and those who
    replace Module.__call__ themselves meet what they always do.
    """

    def __init__(self, channel):
        self.channel = channel
        self.is_over = True
        self.on_event = None
        self.torch = None
        # Of the first look; and of how many looks they were the same.
        self.sizes = None
        self.rows = self.same = 0
        self.columns = 0

    def turn(self, steps):
        """A step was made, the most so far of any optimizer."""
        self.stop()
        self.is_over = steps not in ROWS_AFTER_STEPS
        # A profiler of the user's stays alone.
        if not self.is_over and sys.getprofile() is None:
            if self.on_event is None:
                self.prepare()
            leave_uncompiled(
                (self.on_event, self.look, self.note, self.note_sizes)
                + (self.stop, self.tell_same, arguments_of, is_trained)
                + (is_normed, add_sizes)
                + (rows_in, rows_of_items, rows_of_list, is_mapped)
            )
            sys.setprofile(self.on_event)

    def stop(self):
        # Not the user's own, started meanwhile.
        if self.on_event and sys.getprofile() is self.on_event:
            sys.setprofile(None)

    def prepare(self):
        self.torch = sys.modules["torch"]
        module = sys.modules["torch.nn.modules.module"].Module
        # Where others have replaced the first, the second is still called.
        outer = module.__dict__["__call__"].__code__
        inner = module.__dict__["_call_impl"].__code__
        look = self.look

        def on_event(frame, event, arg):
            code = frame.f_code
            if (code is outer or code is inner) and event == "call":
                look(frame)

        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.stop)
        self.on_event = on_event

    def look(self, frame):
        """A module is called; never raises."""
        try:
            arguments = arguments_of(frame)
            module = next(arguments)
            if self.is_over:
                self.stop()
            # Neither a teacher, an evaluation, a loss nor a transform.
            elif (
                module.training
                and self.torch.is_grad_enabled()
                and is_trained(module)
            ):
                self.note_group(module)
                if not self.same and is_normed(module):
                    self.channel.flag(BATCH_NORM)
                self.note(tuple(arguments))
        except Exception:
            self.stop()

    def note_group(self, module):
        """How many ranks share the gradients of this module."""
        # Others have classes of these names, and no such member.
        group = getattr(module, "process_group", None)
        for kind in type(module).__mro__ if group is not None else ():
            if kind.__name__ in GROUP_CLASSES and self.channel.enter():
                # Shards in a node, and copies of them on the others.
                copies = getattr(module, "_inter_node_pg", None)
                ranks = group.size() * (copies.size() if copies else 1)
                self.channel.put32(GROUP32, ranks)

    def note(self, arguments):
        # They are a tuple and a dict, in a tuple.
        rows, columns = rows_in(arguments, self.torch.Tensor, ROWS_DEPTH + 2)
        if not rows:
            return
        self.stop()
        self.columns = max(self.columns, min(columns, COUNT16_MAX))
        if self.channel.enter():
            # The last batch of an epoch may be smaller.
            most = max(self.channel.get32(ROWS32), min(rows, 0xFFFFFFFF))
            self.channel.put32(ROWS32, most)
            self.note_sizes(arguments, rows)

    def note_sizes(self, arguments, rows):
        """Those that differed once stay different."""
        sizes = []
        add_sizes(sizes, arguments, self.torch.Tensor, ROWS_DEPTH + 2)
        if self.sizes is None:
            self.sizes, self.rows = sizes, rows
        is_told = None not in sizes
        is_same = is_told and sizes == self.sizes
        if is_told and not is_same and rows == self.rows:
            self.channel.flag(SIZES_DIFFER)
        self.same = self.same + 1 if is_same and self.same >= 0 else -1
        self.tell_same()

    def differ(self):
        """Its steps are not alike, though what goes in may be."""
        self.same = -1
        if self.channel.enter():
            self.tell_same()

    def tell_same(self):
        """Of how many looks more the sizes were those of the first."""
        same = min(max(self.same, 0), COUNT16_MAX)
        self.channel.put32(SAME_SIZES32, self.columns << 16 | same)


def arguments_of(frame):
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & VAR_POSITIONAL)
    count += bool(code.co_flags & VAR_KEYWORDS)
    values = frame.f_locals
    for name in code.co_varnames[:count]:
        yield values[name]


def rows_in(value, tensor, depth):
    """
    The first dimension of the first tensor in it, and the second, where it may
    be time or features: not of pictures. 0: there is none.
    """
    if isinstance(value, tensor):
        if is_mapped(value):
            return 0, 0
        shape = value.shape
        # While something is compiled it may be a symbol: to ask it for a
        # number would fix it.
        if len(shape) not in (2, 3) or type(shape[1]) is not int:
            return shape[0] if len(shape) and type(shape[0]) is int else 0, 0
        return (shape[0], shape[1]) if type(shape[0]) is int else (0, 0)
    if depth == 0:
        return 0, 0
    if isinstance(value, (list, tuple)):
        rows = rows_of_list(value, tensor)
        return (rows, 0) if rows else rows_of_items(value, tensor, depth)
    if isinstance(value, dict) or hasattr(type(value), "items"):
        items = dict(value.items())
        # Of a model that sees, pictures are counted by their pieces.
        first = [items["input_ids"]] if "input_ids" in items else []
        return rows_of_items(first + list(items.values()), tensor, depth)
    return 0, 0


def add_sizes(sizes, value, tensor, depth):
    """
    Of all tensors in it. Whole numbers and texts count as well, for they may
    be lengths; None stands for what cannot be told.
    """
    if len(sizes) >= SIZES_MAX:
        sizes[-1] = None
    elif isinstance(value, tensor):
        sizes += [n if type(n) is int else None for n in value.shape]
    elif type(value) is int:
        sizes.append(value)
    elif isinstance(value, (str, bytes)):
        sizes.append(len(value))
    elif value is None or isinstance(value, (bool, float)):
        pass
    elif isinstance(value, (list, tuple, dict)) or hasattr(
        type(value), "items"
    ):
        items = value
        if not isinstance(value, (list, tuple)):
            items = list(dict(value.items()).values())
        sizes.append(len(items) if depth else None)
        for each in items[:SIZES_MAX] if depth else ():
            add_sizes(sizes, each, tensor, depth - 1)
    else:
        sizes.append(None)


def rows_of_items(values, tensor, depth):
    for value in values[:ROWS_ITEMS]:
        rows = rows_in(value, tensor, depth - 1)
        if rows[0]:
            return rows
    return 0, 0


def rows_of_list(values, tensor):
    """
    A list of one dict, or one picture, for each sample; else 0: so where each
    dict is a batch of texts, as queries and their answers are.
    """
    if type(values) is not list or not values:
        return 0
    first = values[0]
    if isinstance(first, dict):
        if len(getattr(first.get("input_ids"), "shape", ())) > 1:
            return 0
        return len(values) if rows_in(first, tensor, 1)[0] else 0
    if isinstance(first, tensor) and len(first.shape) == 3:
        return len(values) if first.shape[0] in (1, 3) else 0
    return 0


def is_mapped(value):
    """Below vmap a tensor has the shape of one sample, and not that of all."""
    own = getattr(sys.modules["torch"], "_C", None)
    transforms = getattr(own, "_functorch", None)
    while transforms and transforms.is_functorch_wrapped_tensor(value):
        if transforms.is_batchedtensor(value):
            return True
        value = transforms.get_unwrapped(value)
    return False


def is_trained(module):
    """A teacher or a metric that is frozen says nothing of the training."""
    for parameter in module.parameters():
        if parameter.requires_grad:
            return True
    return False


def is_normed(module):
    """A part of it takes its statistics from the batch."""
    norms = sys.modules.get("torch.nn.modules.batchnorm")
    kind = getattr(norms, "_BatchNorm", ())
    for part in module.modules() if kind else ():
        if isinstance(part, kind) and part.training:
            return True
    return False
