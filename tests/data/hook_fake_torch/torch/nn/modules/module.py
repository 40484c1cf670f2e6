# The base of all modules: switches its children with itself, can be called.
# SPDX-License-Identifier: MIT


class Module(object):
    training = True

    def __init__(self, parameters=(), children=()):
        self.own = list(parameters)
        self.children = list(children)

    def parameters(self):
        found = list(self.own)
        for child in self.children:
            found += child.parameters()
        return found

    def train(self, mode=True):
        self.training = mode
        for child in self.children:
            child.train(mode)
        return self

    def eval(self):
        return self.train(False)

    def _call_impl(self, *input, **kwargs):
        pass

    __call__ = _call_impl
