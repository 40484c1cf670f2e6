# Stands in for a detector that starts its ranks by itself.
# SPDX-License-Identifier: MIT
from .launch import launch
