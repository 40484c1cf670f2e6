# The base of all modules: switches its children with itself.
# SPDX-License-Identifier: MIT


class Module(object):
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
