# What operators make of known values is known as well.
# SPDX-License-Identifier: MIT
from autofit_phantom.known import KNOWN_MAX, version_of

# What makes a tensor of as many elements as it is told.
SIZED = "arange empty full linspace ones rand randint randn zeros".split()
# The answer that finite numbers give.
HEALTH = {"isnan": False, "isinf": False, "isfinite": True}


class Followed(object):
    """Wrappers around what makes tensors, chooses from them, changes them."""

    def __init__(self, known, runtime, asked):
        self.known = known
        self.runtime = runtime
        self.asked = asked

    def follow(self, function, name):
        def call(*args, **kwargs):
            result = function(*args, **kwargs)
            try:
                parts = result if type(result) is tuple else (result,)
                is_small = args and self.known.is_small(parts)
                if is_small and self.known.starts(args[0]):
                    host = self.known.compute(function, args, kwargs)
                    hosts = host if type(host) is tuple else (host,)
                    for part, each in zip(parts, hosts):
                        self.known.remember(part, each)
            except Exception:
                pass
            return result

        return call

    def size(self, function, name):
        """A size that is told by a tensor of the card, which is known."""

        kept = int(name not in SIZED)  # the tensor whose method it is

        def call(*args, **kwargs):
            sizes = map(self.known.told, args[kept:])
            return function(*args[:kept], *sizes, **kwargs)

        return call

    def enlist(self, function, name):
        """
        A list of scalars. With a __getitem__ of Python's own, as it is here, a
        tensor is a sequence to C, also one that has no elements to be had.
        """

        def call(data, *args, **kwargs):
            first = data
            while isinstance(first, (list, tuple)) and first:
                first = first[0]
            is_scalar = isinstance(first, self.known.tensor) and not first.dim()
            if first is data or not is_scalar:
                return function(data, *args, **kwargs)
            if not args:
                kwargs.setdefault("dtype", first.dtype)
            unknown = []
            with self.runtime.unseen:
                data = self.scalars(data, unknown)
            result = function(data, *args, **kwargs)
            if unknown and not result.is_cuda:
                self.asked.note("takes numbers from the card")
            return result

        return call

    def scalars(self, data, unknown):
        if isinstance(data, (list, tuple)):
            return [self.scalars(each, unknown) for each in data]
        if not isinstance(data, self.known.tensor):
            return data
        host = self.known.of(data) if self.known.is_card(data) else data
        if host is None:
            unknown.append(data)
            host = data
        return self.known.tensor.item.__wrapped__(host)

    def make(self, function, name):
        def call(*args, **kwargs):
            result = function(*args, **kwargs)
            try:
                if self.known.is_card(result) and result.numel() <= KNOWN_MAX:
                    kwargs = dict(kwargs, device="cpu", requires_grad=False)
                    host = self.known.compute(function, args, kwargs)
                    self.known.remember(result, host)
            except Exception:
                pass
            return result

        return call

    def fold(self, function, name):
        def call(folder, node):
            result = function(folder, node)
            try:
                if self.known.is_card(result) and self.known.of(result) is None:
                    args, kwargs = folder.fetch_args_kwargs_from_env(node)
                    if node.target is self.known.torch.ops.aten.full.default:
                        # One element stands for all of them.
                        args = (result.shape, args[1])
                    if "device" in kwargs:
                        kwargs = dict(kwargs, device="cpu")
                    host = self.known.compute(node.target, args, kwargs)
                    self.known.remember(result, host)
            except Exception:
                pass
            return result

        return call

    def choose(self, function, name):
        """By the values that are known, with no question to the card."""

        def call(*args, **kwargs):
            # where() with more takes values of two tensors, and is as large.
            if not (name == "where" and len(args) > 1):
                try:
                    if args and self.known.is_card(args[0]):
                        host = self.known.compute(function, args, kwargs)
                        return self.on_card(host, args[0].device)
                except Exception:
                    pass
            return function(*args, **kwargs)

        return call

    def on_card(self, host, device):
        if isinstance(host, tuple):
            return type(host)([each.to(device) for each in host])
        return host.to(device)

    def select(self, function, name):
        """An index by the mask, in the shape that both make."""

        def call(*args, **kwargs):
            host = None
            if len(args) == 2 and not kwargs and self.known.is_card(args[0]):
                host = self.known.of(args[1])
            if host is None:
                return function(*args, **kwargs)
            value = args[0]
            shape = self.known.torch.broadcast_shapes(value.shape, host.shape)
            return value.expand(shape)[self.places(host.expand(shape), value)]

        return call

    def repeat(self, function, name):
        """It is told how large the result is, and asks nobody."""
        quiet = self.runtime.quiet(function, name)

        def call(*args, **kwargs):
            host = self.known.of(args[1]) if len(args) > 1 else None
            if host is None or host.numel() < 2 or not args[1].is_cuda:
                return function(*args, **kwargs)
            return quiet(*args, **dict(kwargs, output_size=int(host.sum())))

        return call

    def point(self, function, name):
        """Indices in place of a mask whose values are known."""

        def call(value, index, *rest):
            try:
                if self.known.is_card(value):
                    index = self.pointed(index)
            except Exception:
                pass
            return function(value, index, *rest)

        return call

    def pointed(self, index):
        found = []
        for each in index if isinstance(index, tuple) else (index,):
            host = self.known.of(each)
            is_known = host is not None and host.dim() > 0
            if is_known and host.dtype is self.known.torch.bool:
                found += self.places(host, each)
            else:
                found.append(each)
        return tuple(found) if len(found) > 1 else found[0]

    def places(self, mask, value):
        """Of what it chooses: an index of each of its dimensions."""
        return mask.nonzero().to(value.device).unbind(1)

    def tell_lengths(self, function, name):
        """It takes lengths of the host as well, and reads them there."""

        def call(logits, targets, *lengths, **kwargs):
            known = [self.known.of(each) for each in lengths[:2]]
            told = [each if host is None else host
                    for each, host in zip(lengths, known)]
            return function(logits, targets, *told, *lengths[2:], **kwargs)

        return call

    def forget(self, function, name):
        """A tensor of inference keeps no version that would tell the change."""

        def call(value, *args, **kwargs):
            if version_of(value) is None:
                value.__dict__.pop("_autofit_known", None)
            return function(value, *args, **kwargs)

        return call

    def scatter(self, function, name):
        """Its gradient is chosen by the mask, and as large as the source."""
        scattering = scatter_class(self.known.torch, function)

        def call(*args, **kwargs):
            if len(args) == 3 and not kwargs and self.known.is_card(args[0]):
                return scattering.apply(*args)
            return function(*args, **kwargs)

        return call

    def health(self, function, name):
        answer = HEALTH[name]

        def call(*args, **kwargs):
            result = function(*args, **kwargs)
            try:
                if self.known.is_card(result):
                    self.known.remember_all(result, answer)
            except Exception:
                pass
            return result

        return call


def scatter_class(torch, function):
    class Scatter(torch.autograd.Function):
        @staticmethod
        def forward(context, target, mask, source):
            context.save_for_backward(mask)
            context.shape = source.shape
            return function(target, mask, source)

        @staticmethod
        def backward(context, gradient):
            (mask,) = context.saved_tensors
            target, _, source = context.needs_input_grad
            return (
                gradient.masked_fill(mask, 0) if target else None,
                None,
                gradient.new_zeros(context.shape) if source else None,
            )

    return Scatter
