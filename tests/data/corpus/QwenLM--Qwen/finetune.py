# Stands in for fine-tuning by shell scripts.
# SPDX-License-Identifier: MIT
from dataclasses import dataclass, field
from typing import Optional

import transformers
from transformers import Trainer


@dataclass
class ModelArguments:
    model_name_or_path: Optional[str] = field(default="Qwen/Qwen-7B")


@dataclass
class TrainingArguments(transformers.TrainingArguments):
    cache_dir: Optional[str] = field(default=None)
    model_max_length: int = field(default=8192)
    use_lora: bool = False


def train():
    parser = transformers.HfArgumentParser((ModelArguments,
                                            TrainingArguments))
    model_args, training_args = parser.parse_args_into_dataclasses()
    Trainer(model=None, args=training_args).train()


if __name__ == "__main__":
    train()
