# Stands in for fine-tuning under DeepSpeed by a global and a micro batch.
# SPDX-License-Identifier: MIT
import argparse

import deepspeed
import torch


def train(args):
    model = torch.nn.Linear(8, 8)
    config = {
        "train_micro_batch_size_per_gpu": getattr(
            args, "train.micro_batch_size"
        ),
        "train_batch_size": getattr(args, "train.batch_size"),
    }
    engine, *_ = deepspeed.initialize(model=model, config=config)
    data = torch.randn(65536, 8)
    rows = getattr(args, "train.micro_batch_size")
    for x in torch.utils.data.DataLoader(data, rows):
        engine.backward(engine(x).mean())
        engine.step()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--ckpt.output_dir", type=str, default="./ckpt")
    parser.add_argument("--train.micro_batch_size", type=int, default=8,
                        help="batch size per GPU")
    parser.add_argument("--train.batch_size", type=int, default=128,
                        help="Global training batch size")
    parser.add_argument("--ds.zero_stage", type=int, default=2)
    parser.add_argument("--ds.grad_accum_dtype", type=str, default=None,
                        help="Adam grad accum data type")
    parser.add_argument("--data.dataset", type=str, default=None)
    parser.add_argument("--data.max_len", type=int, default=2048)
    parser.add_argument("--actor.model_name_or_path", type=str)
    parser.add_argument("--local_rank", type=int, default=-1)
    train(parser.parse_args())
