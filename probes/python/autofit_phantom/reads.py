# What leaves the card for the host: copies, questions, numbers.
# SPDX-License-Identifier: MIT
from autofit_phantom.known import KNOWN_MAX, Unknown
from autofit_phantom.number import number_class, numbers_in


class Reads(object):
    """Wrappers around what a program reads: known, or told to autofit."""

    def __init__(self, known, runtime, asked):
        self.known = known
        self.runtime = runtime
        self.asked = asked
        self.number = number_class(asked)

    def move(self, function, name):
        def call(*args, **kwargs):
            source = args[0]
            if self.known.is_card(source):
                return self.move_from(function, source, args, kwargs)
            result = function(*args, **kwargs)
            try:
                if self.known.is_card(result) and source.numel() <= KNOWN_MAX:
                    host = source.detach().clone().to(result.dtype)
                    self.known.remember(result, host)
            except Exception:
                pass
            return result

        return call

    def move_from(self, function, source, args, kwargs):
        with self.runtime.unseen:
            result = function(*args, **kwargs)
        host = self.known.of(source)
        if result is source or type(result) is not self.known.tensor:
            return result
        if host is not None:
            host = host.to(result.dtype)
            if result.is_cuda:
                self.known.remember(result, host)
            elif result.shape == host.shape:
                with self.known.torch.no_grad():
                    result.copy_(host)
        elif not result.is_cuda and not self.is_big(result):
            if not result.dtype.is_floating_point:
                self.asked.note("takes whole numbers from the card")
            elif not result.requires_grad:
                return result.as_subclass(self.known.taken)
        return result

    def is_big(self, value):
        """Weights and activations that are put aside are no questions."""
        return value.dtype.is_floating_point and value.numel() > 1024

    def copy(self, function, name):
        def call(target, source, *args, **kwargs):
            known = None
            if self.known.is_card(source) and not target.is_cuda:
                known = self.known.of(source)
                if known is None and not source.dtype.is_floating_point:
                    self.asked.note("takes whole numbers from the card")
                with self.runtime.unseen:
                    function(target, source, *args, **kwargs)
                return target if known is None else function(target, known)
            return function(target, source, *args, **kwargs)

        return call

    def question(self, function, name):
        def call(value, *args, **kwargs):
            if not self.known.is_card(value):
                return function(value, *args, **kwargs)
            try:
                host = self.known.compute(function, (value,) + args, kwargs)
            except Unknown:
                pass
            else:
                return host
            with self.runtime.unseen:
                answer = function(value, *args, **kwargs)
            self.asked.note("asks the card a question", answer)
            return answer

        return call

    def read(self, function, name):
        def call(value, *args, **kwargs):
            if not self.known.is_card(value):
                return function(value, *args, **kwargs)
            host = self.known.of(value)
            if host is not None:
                return function(host, *args, **kwargs)
            if not value.dtype.is_floating_point:
                self.asked.note("reads a whole number from the card")
            with self.runtime.unseen:
                result = function(value, *args, **kwargs)
            return numbers_in(result, self.number)

        return call

    def leave(self, function, name):
        def call(value):
            if not self.known.is_card(value):
                return function(value)
            host = self.known.of(value)
            if host is not None:
                return function(host)
            self.asked.note("takes a number from the card")
            with self.runtime.unseen:
                return function(value)

        return call
