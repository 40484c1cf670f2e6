# A config file of nanogpt_style.py: Python that sets its variables.
# SPDX-License-Identifier: MIT
batch_size = 2
gradient_accumulation_steps = 4
max_iters = 5
