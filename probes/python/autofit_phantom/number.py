# Numbers that were read from the card.
# SPDX-License-Identifier: MIT
import sys


def number_class(asked):
    """A number read from the card: the same, and comparing it is told."""

    class Number(float):
        __slots__ = ()

        def __reduce_ex__(self, protocol):
            return float, (float.__add__(self, 0.0),)

        def __hash__(self):
            return float.__hash__(self)

    def computes(plain):
        def method(self, *others):
            result = plain(self, *others)
            return Number(result) if type(result) is float else result

        return method

    def decides(plain, what):
        def method(self, *others):
            answer = plain(self, *others)
            # What is not itself is not a number: a check of health.
            if not others or others[0] is not self:
                asked.note(what, answer)
            return answer

        return method

    def orders(plain, what):
        noted = decides(plain, what)

        def method(self, other):
            # max() and sorted() give numbers back, which are watched as well.
            frame = sys._getframe().f_back
            if frame and frame.f_code.co_code[frame.f_lasti] in asked.calls:
                return plain(self, other)
            return noted(self, other)

        return method

    for name in (
        "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod "
        "rmod pow rpow neg pos abs round"
    ).split():
        name = "__%s__" % name
        setattr(Number, name, computes(getattr(float, name)))
    for name in "lt gt le ge eq ne bool".split():
        watch = orders if name in ("lt", "gt") else decides
        name = "__%s__" % name
        method = watch(getattr(float, name), "compares a number of the card")
        setattr(Number, name, method)
    for name in "int trunc floor ceil".split():
        name = "__%s__" % name
        if hasattr(float, name):
            method = decides(getattr(float, name), "makes it a whole number")
            setattr(Number, name, method)
    return Number


def numbers_in(value, number):
    """Of tolist(): lists of lists of numbers."""
    if type(value) is list:
        return [numbers_in(each, number) for each in value]
    return number(value) if type(value) is float else value
