# Stands in for dense retrieval by transformers.
# SPDX-License-Identifier: MIT
from dataclasses import dataclass, field

import transformers
from transformers import HfArgumentParser, TrainingArguments


@dataclass
class TevatronTrainingArguments(TrainingArguments):
    warmup_ratio: float = field(default=0.1)
    grad_cache: bool = field(default=False)
    gc_q_chunk_size: int = field(default=4)
    gc_p_chunk_size: int = field(default=32)


def main():
    parser = HfArgumentParser(TevatronTrainingArguments)
    args, = parser.parse_args_into_dataclasses()
    transformers.Trainer(model=None, args=args).train()


if __name__ == "__main__":
    main()
