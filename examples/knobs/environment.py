#!/usr/bin/env python3
# Sizes in variables of the environment only.
# SPDX-License-Identifier: MIT
"""BS=2 ACCUM=4 python3 environment.py"""
import os

import tinylm


def number(name, default):
    return int(os.environ.get(name, default))


tinylm.train(number("BS", 4), number("ACCUM", 4), number("STEPS", 20))
