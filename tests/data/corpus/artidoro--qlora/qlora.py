# Stands in for fine-tuning by transformers with defaults of its own.
# SPDX-License-Identifier: MIT
from dataclasses import dataclass, field
from typing import Optional

import transformers
from transformers import Seq2SeqTrainer


@dataclass
class ModelArguments:
    model_name_or_path: Optional[str] = field(default="EleutherAI/pythia-12b")


@dataclass
class TrainingArguments(transformers.Seq2SeqTrainingArguments):
    cache_dir: Optional[str] = field(default=None)
    output_dir: str = field(default="./output", metadata={"help": "output"})
    optim: str = field(default="paged_adamw_32bit")
    per_device_train_batch_size: int = field(default=1, metadata={
        "help": "The training batch size per GPU."})
    gradient_accumulation_steps: int = field(default=16, metadata={
        "help": "How many gradients to accumulate before a step"})
    max_steps: int = field(default=10000)
    learning_rate: float = field(default=0.0002)


def train():
    parser = transformers.HfArgumentParser((ModelArguments,
                                            TrainingArguments))
    model_args, training_args = parser.parse_args_into_dataclasses()
    Seq2SeqTrainer(model=None, args=training_args).train()


if __name__ == "__main__":
    train()
