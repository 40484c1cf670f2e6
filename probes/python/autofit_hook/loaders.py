# Torch's data loaders: how far they are, and what they give.
# SPDX-License-Identifier: MIT
import sys

ITERATORS_MAX = 256
# Batches that come later: more than a probe looks at.
LATER_BATCHES = 100


class Loaders(object):
    """The iterators of loaders that are at work when find() is called."""

    def __init__(self):
        import weakref

        self.ref = weakref.ref
        self.iterators = []
        # Rows of a batch and of all data, 0: not known; and whether all of
        # them give the data in their own order, and will for long.
        self.rows = self.data = 0
        self.are_in_order = False

    def find(self):
        import gc

        module = sys.modules.get("torch.utils.data.dataloader")
        base = getattr(module, "_BaseDataLoaderIter", None)
        if base is None:
            return
        kinds = [base] + base.__subclasses__()
        # Not gc.get_objects(): a tensor that is held here for a moment while
        # another thread lets go of it is one that torch complains about.
        # Before Python 3.9 an object does not refer to its class.
        holders = gc.get_referrers(*kinds)
        found = [each for each in holders if type(each) in kinds]
        found = found[:ITERATORS_MAX]
        self.iterators = [self.ref(each) for each in found]
        at_work = [each for each in found if each._num_yielded]
        for each in at_work:
            self.rows = rows_given(each._index_sampler) or self.rows
        # Of training and validation the most: some may be at work for long.
        data = [samples_of(each._index_sampler) for each in at_work]
        self.data = max(data) if data and all(data) else 0
        self.are_in_order = bool(at_work) and all(
            is_in_order(each) for each in at_work
        )

    def yielded(self):
        """Batches so far."""
        total = 0
        for reference in self.iterators:
            total += getattr(reference(), "_num_yielded", 0)
        return total

    def leave(self):
        self.iterators = []


def rows_given(batches):
    """Of a whole batch, where there are as many; 0: not known."""
    size = getattr(batches, "batch_size", None)
    if type(size) is not int or size < 1:
        return 0
    return min(size, samples_of(batches) or size)


def samples_of(batches):
    """All that there are; 0: not known."""
    try:
        return len(batches.sampler)
    except Exception:
        return 0


def is_in_order(iterator):
    """It gives the data as they lie there, and many batches more."""
    batches = iterator._index_sampler
    sampler = getattr(batches, "sampler", batches)
    try:
        return (
            type(sampler).__name__ == "SequentialSampler"
            and len(batches) - iterator._num_yielded > LATER_BATCHES
        )
    except Exception:
        return False
