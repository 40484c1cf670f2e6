#!/usr/bin/env python3
# The training of train_ddp_gpu.py under DeepSpeed's ZeRO.
# SPDX-License-Identifier: MIT
"""The ranks share gradients and weights on the CPU, by gloo, as there; what they
take of a GPU is the driver's."""
import os
import sys

sys.path.insert(1, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

import deepspeed  # noqa: E402
import torch  # noqa: E402
import train_ddp_gpu as ddp  # noqa: E402


def parse_arguments():
    parser = ddp.parser_of_ranks(__doc__)
    parser.add_argument("--deepspeed_config")
    return parser.parse_args()


def train(args):
    # A machine that tests need not be able to build DeepSpeed's own.
    sys.modules["deepspeed.comm.torch"].build_shm_op = lambda: None
    deepspeed.init_distributed(dist_backend="gloo")
    model = torch.nn.Linear(ddp.FEATURES, 1)
    engine, _, _, _ = deepspeed.initialize(
        args=args, model=model, model_parameters=model.parameters())
    micro = engine.train_micro_batch_size_per_gpu()
    device = ddp.own_device(args)
    for step in range(args.steps):
        ddp.die_if_asked(args, step)
        for _ in range(engine.gradient_accumulation_steps()):
            taken = [device.take(100) for _ in range(micro)]
            x = torch.rand(micro, ddp.FEATURES)
            engine.backward(engine(x).square().mean())
            engine.step()
            for pointer in taken:
                device.give(pointer)


if __name__ == "__main__":
    ddp.take_part(parse_arguments(), train)
