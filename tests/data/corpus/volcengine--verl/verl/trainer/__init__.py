# Stands in for fine-tuning and reinforcement learning by Hydra.
# SPDX-License-Identifier: MIT
