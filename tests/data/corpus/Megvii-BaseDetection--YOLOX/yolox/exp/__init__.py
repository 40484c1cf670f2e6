# Stands in for a detector that starts its ranks by itself.
# SPDX-License-Identifier: MIT
from .yolox_base import Exp, get_exp
