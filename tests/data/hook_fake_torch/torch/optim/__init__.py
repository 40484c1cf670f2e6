# Imports as torch.optim does: each optimizer imports the base.
# SPDX-License-Identifier: MIT
from .sgd import SGD, Nested  # noqa: F401
from .adam import Adam  # noqa: F401
