# What ranks say to each other is known to all of them.
# SPDX-License-Identifier: MIT
from autofit_phantom.known import KNOWN_MAX

# enum sim_kept.
COPY, ANSWER = 1, 2


class Ranks(object):
    """Wrappers around what hands small things on to other ranks."""

    def __init__(self, known, runtime):
        self.torch = known.torch
        self.known = known
        self.runtime = runtime

    def resize(self, function, name):
        """Of bytes that other ranks are to have, which say more than these."""

        def call(value, *args, **kwargs):
            host = self.known.of(value) if self.known.is_card(value) else None
            result = function(value, *args, **kwargs)
            if host is not None and value.numel() <= KNOWN_MAX:
                longer = self.torch.zeros(value.numel(), dtype=value.dtype)
                both = min(longer.numel(), host.numel())
                longer[:both] = host.reshape(-1)[:both]
                self.known.remember(value, longer.view(value.shape))
            return result

        return call

    def spread(self, function, name):
        def call(*args, **kwargs):
            tensors = self.tensors_in((args, tuple(kwargs.values())))
            for value in tensors:
                self.offer(value)
            result = function(*args, **kwargs)
            for value in tensors:
                self.learn(value)
            return result

        return call

    def tensors_in(self, value):
        if isinstance(value, (tuple, list)):
            return [each for one in value for each in self.tensors_in(one)]
        is_whole = self.known.is_card(value) and value.is_cuda
        return [value] if is_whole and value.is_contiguous() else []

    def offer(self, value):
        """The card knows it, and so does the collective that comes now."""
        host = self.known.of(value)
        if host is not None and host.numel():
            host = host.contiguous()
            size = host.numel() * host.element_size()
            self.runtime.keep(value.data_ptr(), host.data_ptr(), size, COPY)

    def learn(self, value):
        """What another rank has said is known from now on."""
        size = value.numel() * value.element_size()
        host = self.torch.empty(value.shape, dtype=value.dtype, device="cpu")
        if size and self.runtime.kept(
                value.data_ptr(), host.data_ptr(), size) == ANSWER:
            self.known.remember(value, host)
