# What the comparison asks of each program of programs.py.
# SPDX-License-Identifier: MIT
# The effective batch, and three budgets in MiB.
EFFECTIVE = {
    "transformer": 480,
    "mlp": 512,
    "conv": 384,
    "lengths": 240,
    "by_hand": 512,
}
BUDGETS = {
    "transformer": (640, 1024, 2048),
    "mlp": (704, 768, 1024),
    "conv": (448, 640, 1024),
    "lengths": (640, 1024, 1536),
    "by_hand": (448, 512, 640),
}
