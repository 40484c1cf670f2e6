#!/usr/bin/env python3
# Sizes as global variables, that a configurator overrides as nanoGPT's does.
# SPDX-License-Identifier: MIT
"""python3 nanogpt_style.py fast.py --batch_size=2 --max_iters=6

Accumulation is over all ranks: each of two does half of the passes.
"""
import os

import tinylm
from torch import distributed

out_dir = "out"
eval_interval = 2000
eval_iters = 200
log_interval = 1
always_save_checkpoint = True
init_from = "scratch"
wandb_log = False
wandb_project = "owt"
gradient_accumulation_steps = 4
batch_size = 4
learning_rate = 0.1
max_iters = 20
config_keys = [
    name
    for name, value in globals().items()
    if not name.startswith("_") and isinstance(value, (int, float, bool, str))
]
exec(open('configurator.py').read())  # as in nanoGPT, from where one stands

if "RANK" in os.environ:
    distributed.init_process_group("gloo")
    world = distributed.get_world_size()
    assert gradient_accumulation_steps % world == 0
    gradient_accumulation_steps //= world
# From 0 to max_iters.
tinylm.train(
    batch_size, gradient_accumulation_steps, max_iters + 1, learning_rate
)
if "RANK" in os.environ:
    distributed.destroy_process_group()
