# A stand-in with the outline of torch 2, for the step hook's newer way.
# SPDX-License-Identifier: MIT
from . import cuda, optim  # noqa: F401
