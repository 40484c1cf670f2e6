# Which tensors of the card have values that are known, and their values.
# SPDX-License-Identifier: MIT
# Of so many elements at most the values are kept.
KNOWN_MAX = 1 << 20
# What takes no more than the shape of its last argument from it.
SHAPED = ("expand_as", "reshape_as", "view_as", "ones_like")


class Unknown(Exception):
    """A value of the card that did not come from the host."""


class Known(object):
    """Values of tensors, kept on the host with the tensors themselves."""

    def __init__(self, torch):
        self.torch = torch
        self.tensor = torch.Tensor
        self.kinds = (torch.Tensor, torch.nn.Parameter)
        self.taken = taken_class(torch)
        self.has_memory = {self.taken: False}

    def is_card(self, value):
        """A tensor of the card itself, or of values that were taken there."""
        kind = type(value)
        if self.is_whole(kind):
            return value.is_cuda and not self.is_traced()
        return kind is self.taken

    def is_whole(self, kind):
        """Tensors of this class have memory, and stand for no others."""
        found = self.has_memory.get(kind)
        if found is None:
            found = self.has_memory[kind] = (
                issubclass(kind, self.tensor)
                and kind.__torch_dispatch__ is self.tensor.__torch_dispatch__
            )
        return found

    def is_traced(self):
        """Somebody else looks at each operation: nothing is added to them."""
        return bool(self.torch._C._len_torch_dispatch_stack())

    def of(self, value):
        # Other classes hand what stands in their objects on to results.
        if type(value) not in self.kinds:
            return None
        entry = value.__dict__.get("_autofit_known")
        if entry is None or entry[1] != version_of(value):
            return None
        return entry[0] if entry[0].shape == value.shape else None

    def remember(self, value, host):
        if host.numel() <= KNOWN_MAX and host.shape == value.shape:
            value._autofit_known = (host, version_of(value))

    def remember_all(self, value, answer):
        """One answer for each element: of any number of them."""
        host = self.torch.tensor(answer).expand(value.shape)
        value._autofit_known = (host, version_of(value))

    def in_shape(self, value):
        """In place of a tensor of which only shape and type matter."""
        one = self.torch.empty(1, dtype=value.dtype, device="cpu")
        return one.expand(value.shape)

    def on_host(self, value):
        """An argument with known values in place of those of the card."""
        if isinstance(value, self.tensor):
            is_plain = type(value) in self.kinds
            if is_plain and not value.is_cuda:
                return value
            host = self.of(value) if is_plain else None
            if host is None:
                raise Unknown
            return host
        if isinstance(value, (tuple, list)):
            return type(value)([self.on_host(each) for each in value])
        return value

    def compute(self, function, args, kwargs):
        if getattr(function, "__name__", "").endswith(SHAPED):
            args = args[:-1] + (self.in_shape(args[-1]),)
        args = [self.on_host(each) for each in args]
        kwargs = {key: self.on_host(kwargs[key]) for key in kwargs}
        with self.torch.no_grad():
            return function(*args, **kwargs)

    def is_small(self, parts):
        return self.is_card(parts[0]) and parts[0].numel() <= KNOWN_MAX

    def starts(self, value):
        """Cheap: most of what a program computes is not known."""
        if type(value) in self.kinds:
            return not value.is_cuda or self.of(value) is not None
        return True

    def told(self, value):
        if type(value) in (tuple, list):
            return type(value)([self.told(each) for each in value])
        host = self.of(value)
        is_size = host is not None and host.dim() == 0 and value.is_cuda
        if not is_size or host.dtype is self.torch.bool:
            return value
        return value if host.dtype.is_floating_point else int(host)


def taken_class(torch):
    """A tensor of the host whose values came from the card."""

    class Taken(torch.Tensor):
        def __reduce_ex__(self, protocol):
            return self.as_subclass(torch.Tensor).__reduce_ex__(protocol)

    return Taken


def version_of(value):
    try:
        return value._version
    except RuntimeError:
        return None  # of inference: it keeps none
