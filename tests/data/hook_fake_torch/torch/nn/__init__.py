# Imports as torch.nn does.
# SPDX-License-Identifier: MIT
from .modules.module import Module  # noqa: F401
