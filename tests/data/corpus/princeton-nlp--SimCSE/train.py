# Stands in for sentence embeddings by transformers.
# SPDX-License-Identifier: MIT
from dataclasses import dataclass, field
from typing import Optional

import transformers
from transformers import HfArgumentParser, Trainer, TrainingArguments


@dataclass
class ModelArguments:
    model_name_or_path: Optional[str] = field(default=None)
    temp: float = field(default=0.05)
    pooler_type: str = field(default="cls")


@dataclass
class OurTrainingArguments(TrainingArguments):
    eval_transfer: bool = field(default=False)


def main():
    parser = HfArgumentParser((ModelArguments, OurTrainingArguments))
    model_args, training_args = parser.parse_args_into_dataclasses()
    Trainer(model=None, args=training_args).train()


if __name__ == "__main__":
    main()
