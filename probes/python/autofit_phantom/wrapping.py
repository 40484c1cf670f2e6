# The functions of PyTorch that are watched, and how.
# SPDX-License-Identifier: MIT
import sys

from autofit_phantom.asked import Asked
from autofit_phantom.followed import HEALTH, SIZED, Followed
from autofit_phantom.known import Known
from autofit_phantom.ranks import Ranks
from autofit_phantom.reads import Reads
from autofit_phantom.runtime import Runtime

# How functions of torch.distributed begin that hand small things on to other
# ranks: releases have more and more of them.
COLLECTIVES = ("all_gather", "broadcast")
# Known values are followed through these methods of a tensor, ...
METHODS = (
    "__getitem__ __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ "
    "__truediv__ __rtruediv__ __floordiv__ __mod__ __eq__ __ne__ __lt__ "
    "__le__ __gt__ __ge__ __and__ __or__ __xor__ __invert__ __neg__ "
    "int long bool float double half bfloat16 type"
).split()
# ... through all of the operators that give the same for the same values, but
# for these, which are about its memory, ...
OF_MEMORY = ("as_strided", "backward", "empty", "new_", "resize", "to_")
# ... through functions of torch, ...
FUNCTIONS = (
    "diff any all sum max min eq ne lt le gt ge logical_and logical_or "
    "logical_not cumsum tril triu cat stack where masked_fill clamp gather"
).split()
# ... and those that make a tensor of nothing but their arguments; not zeros():
# kernels write into what it makes, and tell nobody.
FACTORIES = (
    "arange eye ones ones_like tensor tril_indices triu_indices"
).split()
# Operations whose result is as large as the values of their arguments say.
CHOOSING = (
    "nonzero argwhere where unique unique_consecutive bincount "
    "repeat_interleave"
).split()
# What changes a tensor, beside the methods that end in an underscore.
IN_PLACE = (
    "__setitem__ __iadd__ __isub__ __imul__ __itruediv__ __ifloordiv__ "
    "__imod__ __iand__ __ior__ __ixor__"
).split()
# Yes or no, by the values.
QUESTIONS = ["allclose", "equal", "is_nonzero"]


class Wrapping(object):
    """Puts wrappers around what a program calls of PyTorch."""

    def __init__(self, torch):
        self.torch = torch
        self.tensor = torch.Tensor
        self.runtime = Runtime(torch)
        self.asked = Asked(self.runtime, torch)
        known = Known(torch)
        self.followed = Followed(known, self.runtime, self.asked)
        self.reads = Reads(known, self.runtime, self.asked)
        self.ranks = Ranks(known, self.runtime)
        self.folder = None

    def bind(self):
        from torch.utils import _device

        # It keeps a list of the functions that make tensors, as they are now.
        _device._device_constructors()
        torch, tensor = self.torch, self.tensor
        followed, reads, quiet = self.followed, self.reads, self.runtime.quiet
        methods = dir(tensor)
        # What comes later sees what a program does first.
        for holder, names, wrap in (
            (tensor, METHODS, followed.follow),
            (torch, FUNCTIONS, followed.follow),
            (torch._C._nn, ["pad"], followed.follow),
            (torch, SIZED, followed.size),
            (torch, ["as_tensor", "tensor"], followed.enlist),
            (torch, FACTORIES, followed.make),
            (tensor, CHOOSING, followed.choose),
            (torch, CHOOSING, followed.choose),
            (tensor, ["masked_select"], followed.select),
            (torch, ["masked_select"], followed.select),
            (tensor, ["repeat_interleave"], followed.repeat),
            (torch, ["repeat_interleave"], followed.repeat),
            (tensor, ["histc"], quiet),
            (torch, ["histc"], quiet),
            (torch.nn.functional, ["one_hot"], followed.choose),
            (tensor, ["__getitem__", "__setitem__"], followed.point),
            (tensor, ["masked_scatter"], followed.scatter),
            (torch, ["masked_scatter"], followed.scatter),
            (torch, ["ctc_loss"], followed.tell_lengths),
            (tensor, HEALTH, followed.health),
            (torch, HEALTH, followed.health),
            (tensor, ["to", "cuda", "cpu"], reads.move),
            (tensor, ["__bool__"] + QUESTIONS, reads.question),
            (torch, QUESTIONS, reads.question),
            (tensor, ["item", "tolist"], reads.read),
            (tensor, ["__int__", "__index__", "__float__"], reads.leave),
            (tensor, ["copy_"], reads.copy),
            (tensor, ["__repr__"], quiet),
            (torch, ["save"], quiet),
            (torch.autograd, ["backward"], self.passes),
            (tensor, filter(self.is_pure, methods), followed.follow),
            (tensor, filter(self.takes_sizes, methods), followed.size),
            (tensor, filter(self.changes_it, methods), followed.forget),
            (tensor, IN_PLACE, followed.forget),
        ):
            for name in names:
                self.replace(holder, name, wrap)
        self.bind_ranks()
        self.bind_late()

    def forms(self, name):
        """Of an operator that is a method as well."""
        if name.endswith("_") or not callable(getattr(self.tensor, name)):
            return []
        packet = getattr(self.torch.ops.aten, name, None)
        if packet is None:
            return []
        return [getattr(packet, each) for each in packet.overloads()]

    def is_pure(self, name):
        if name.startswith(OF_MEMORY):
            return False
        if hasattr(getattr(self.tensor, name), "__wrapped__"):
            return False
        forms = self.forms(name)
        seeded = self.torch.Tag.nondeterministic_seeded
        return any(not each._schema.is_mutable for each in forms) and not any(
            seeded in each.tags for each in forms
        )

    def takes_sizes(self, name):
        return any("SymInt" in str(each._schema) for each in self.forms(name))

    def changes_it(self, name):
        is_operator = hasattr(self.torch.ops.aten, name)
        return name.endswith("_") and name[:2] != "__" and is_operator

    def bind_late(self):
        """What may be imported once the card is in use."""
        self.bind_folding()
        # What a card computes is zeros here, and no real run may find it.
        datasets = sys.modules.get("datasets")
        forget = getattr(datasets, "disable_caching", None)
        if forget is not None:
            forget()

    def bind_folding(self):
        """Inductor computes constants on the card, and writes them into code."""
        place = sys.modules.get("torch._inductor.fx_passes.joint_graph")
        folder = getattr(place, "UniformValueConstantFolder", None)
        if folder is not None and folder is not self.folder:
            self.folder = folder
            self.replace(folder, "_deduce_value", self.followed.fold)

    def bind_ranks(self):
        place = sys.modules.get("torch.distributed.distributed_c10d")
        if place is None:
            return
        self.replace(self.tensor, "resize_", self.ranks.resize)
        for name, function in list(vars(place).items()):
            if name.startswith(COLLECTIVES) and callable(function):
                self.replace(place, name, self.ranks.spread)
                setattr(self.torch.distributed, name, getattr(place, name))

    def replace(self, holder, name, wrap):
        function = getattr(holder, name, None)
        if function is None:
            return
        call = wrap(function, name)
        for attribute in ("__name__", "__qualname__", "__doc__", "__module__"):
            try:
                setattr(call, attribute, getattr(function, attribute))
            except (AttributeError, TypeError):
                pass
        call.__wrapped__ = function
        setattr(holder, name, call)
        if holder is not self.tensor:
            self.register(function, call)

    def register(self, function, call):
        """TorchScript and Dynamo know operators by the functions themselves."""
        builtins = self.torch.jit._builtins
        operator = builtins._find_builtin(function)
        if operator:
            builtins._register_builtin(call, operator)
        rules = sys.modules.get("torch._dynamo.trace_rules")
        if rules is not None:
            known = rules.get_torch_obj_rule_map()
            if function in known:
                known[call] = known[function]

    def passes(self, function, name):
        def call(*args, **kwargs):
            self.asked.passes()
            return function(*args, **kwargs)

        return call
