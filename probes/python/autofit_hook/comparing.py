# Does the loss compare the samples of a batch with each other?
# SPDX-License-Identifier: MIT
import sys

from autofit_hook.autograd_calls import BackwardCalls, nothing
from autofit_hook.channel import COMPARES, LOADER32, ROWS32, WORLD32

# By then the rows of a pass are known.
LOOK_AFTER_STEP = 2
# So near to the loss a comparison stands.
NODES_MAX = 200
# So many transpositions and casts stand between a product and what it is of.
VIEWS_MAX = 4
PRODUCTS = ("MmBackward0", "BmmBackward0")
DISTANCES = ("CdistBackward0",)
COLUMN, ROW = "(n, 1, ...)", "(1, n, ...)"


class Comparing(object):
    """
    A contrastive loss makes something of each pair of samples: a product of two
    matrices that both come from the batch, whose result has the batch in both
    of its dimensions, as similarities do, or is a sum over the batch, as
    covariances are; or the batch stands in a row and in a column, and what has
    both is computed from them by broadcasting. Of a linear layer none is so. The
    graph behind one loss is looked at, at the entry of its backward pass; no
    tensor that it keeps is touched, for those may be packed away.
    """

    def __init__(self, channel):
        self.channel = channel
        self.calls = None

    def turn(self, steps):
        """A step was made; never raises."""
        try:
            if steps == LOOK_AFTER_STEP and self.channel.get32(ROWS32) > 1:
                self.calls = BackwardCalls(self.on_backward, nothing)
        except Exception:
            pass

    def on_backward(self, losses):
        """The next one; never raises."""
        try:
            calls, self.calls = self.calls, None
            if calls is None:
                return
            calls.leave()
            first = losses if hasattr(losses, "grad_fn") else losses[0]
            if not self.channel.enter():
                return
            world = max(1, self.channel.get32(WORLD32))
            # Two views of each, and those of all ranks.
            sizes = {
                self.channel.get32(rows) * views * ranks
                for rows in (ROWS32, LOADER32)
                for views in (1, 2)
                for ranks in (1, world)
            } - {0, 1}
            if compares(first.grad_fn, sizes, world == 1):
                self.channel.flag(COMPARES)
        except Exception:
            pass


def compares(loss, sizes, is_alone):
    """Is there a product of the batch with itself, near behind the loss?"""
    level, seen = [loss], {loss}
    while level and len(seen) < NODES_MAX:
        behind = []
        for node in level:
            if compares_in(node, sizes, is_alone):
                return True
            for each, _ in node.next_functions:
                if each is not None and each not in seen:
                    seen.add(each)
                    behind.append(each)
        level = behind
    return False


def compares_in(node, sizes, is_alone):
    operands = node.next_functions[:2]
    if len(operands) < 2 or any(
        each is None or is_weight(each) or is_alone and is_of_passes(each)
        for each, _ in operands
    ):
        return False
    if node.name() in PRODUCTS + DISTANCES:
        return is_of_pairs(node, operands, sizes)
    return any(
        {side_of(*each, size) for each in operands} == {COLUMN, ROW}
        for size in sizes
    )


def is_of_pairs(node, operands, sizes):
    first, second = shapes_of(node, operands)
    if len(first) < 2 or any(count != 1 for count in first[:-2]):
        return False
    rows, inner = first[-2:]
    columns = second[-2 if node.name() in DISTANCES else -1]
    return (
        rows in sizes and columns in sizes
        or node.name() in PRODUCTS and inner in sizes and rows == columns
    )


def side_of(node, output, size):
    """The samples stand in a column or in a row, before they are expanded."""
    for _ in range(VIEWS_MAX):
        shape = shape_of(node, output)[:2]
        if shape != (size, size) or not node.next_functions:
            break
        node, output = node.next_functions[0]
        if node is None:
            return None
    sides = {(size, 1): COLUMN, (1, size): ROW}
    return None if is_weight(node) else sides.get(shape)


def is_weight(node):
    """As in a linear layer; features that are cut off are leaves as well."""
    leaf = getattr(origin_of(node), "variable", None)
    return isinstance(leaf, sys.modules["torch.nn.parameter"].Parameter)


def is_of_passes(node):
    """
    Features of other passes, without a gradient, beside those of this one: they
    are kept for a step, which compares as many whatever a pass has. (Those of
    other ranks come so as well: this is asked of one rank alone.)
    """
    node = origin_of(node)
    return node.name() == "CatBackward0" and None in (
        each for each, _ in node.next_functions
    )


def origin_of(node):
    """What it is a view or a cast of."""
    for _ in range(VIEWS_MAX):
        if node.name() == "CatBackward0" or len(node.next_functions) != 1:
            break
        if node.next_functions[0][0] is None:
            break
        node = node.next_functions[0][0]
    return node


def shapes_of(node, operands):
    if node.name() == "MmBackward0":
        return node._saved_self_sym_sizes, node._saved_mat2_sym_sizes
    return [shape_of(*each) for each in operands]


def shape_of(node, output):
    """Of what it makes; before torch 2.1 no node tells it: ()."""
    told = getattr(node, "_input_metadata", None)
    return tuple(told[output].shape) if told else ()
