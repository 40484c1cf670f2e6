# Waits until PyTorch begins to use the card.
# SPDX-License-Identifier: MIT
import sys

from autofit_phantom.wrapping import Wrapping


class Finder(object):
    """
    Finds nothing; sees each import go by. torch.cuda starts the card with a
    function of its own, from which on all of torch is there.
    """

    def __init__(self):
        self.is_bound = False
        self.wrapping = None

    def find_spec(self, fullname, path=None, target=None):
        try:
            if not self.is_bound and "torch.optim.optimizer" in sys.modules:
                self.is_bound = True
                self.bind(sys.modules["torch.cuda"])
            if self.wrapping is not None:
                self.wrapping.bind_late()
        except Exception:
            pass
        return None

    def bind(self, cuda):
        start = cuda._lazy_init
        begun = []

        def lazy_init():
            if not begun:
                begun.append(None)
                try:
                    torch = sys.modules["torch"]
                    self.wrapping = Wrapping(torch)
                    self.wrapping.bind()
                except Exception:
                    pass
            return start()

        cuda._lazy_init = lazy_init
