# What the comparison asks of each program of programs.py.
# SPDX-License-Identifier: MIT
# The effective batch, and three budgets: MiB above what the imports take.
EFFECTIVE = {
    "transformer": 480,
    "mlp": 512,
    "conv": 384,
    "lengths": 240,
    "by_hand": 512,
}
BUDGETS = {
    "transformer": (500, 900, 1900),
    "mlp": (560, 640, 900),
    "conv": (300, 500, 900),
    "lengths": (500, 900, 1400),
    "by_hand": (300, 380, 500),
}
