# Stands in for fine-tuning by a YAML that fire takes.
# SPDX-License-Identifier: MIT
from dataclasses import dataclass

from simple_parsing.helpers import Serializable


@dataclass
class TrainArgs(Serializable):
    run_dir: str
    max_steps: int = 100
    # Number of steps to accumulate gradients before calling the optimizer
    num_microbatches: int = 1
    seq_len: int = 2048
    batch_size: int = 1
    log_freq: int = 1
