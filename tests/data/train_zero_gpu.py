#!/usr/bin/env python3
# The training of train_ddp_gpu.py under DeepSpeed's ZeRO.
# SPDX-License-Identifier: MIT
"""The ranks share gradients on the CPU, by gloo, as there; what they take of a
GPU is the driver's."""
import argparse
import os
import sys

sys.path.insert(1, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

import deepspeed  # noqa: E402
import torch  # noqa: E402
from train_ddp_gpu import FEATURES, Device  # noqa: E402


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deepspeed_config")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--heavy-rank", type=int, default=-1)
    parser.add_argument("--heavy-mib", type=int, default=0)
    return parser.parse_args()


def prepare():
    """For gloo of PyTorch 1.13, which has no collectives into one tensor, and
    for a machine that cannot build DeepSpeed's own."""
    backend = sys.modules["deepspeed.comm.torch"]
    backend.build_shm_op = lambda: None
    for name in ("has_all_gather_into_tensor", "has_reduce_scatter_tensor"):
        setattr(backend.TorchBackend, name, lambda self: False)
    deepspeed.init_distributed(dist_backend="gloo")


def main():
    args = parse_arguments()
    torch.set_num_threads(1)
    prepare()
    model = torch.nn.Linear(FEATURES, 1)
    engine, _, _, _ = deepspeed.initialize(
        args=args, model=model, model_parameters=model.parameters())
    micro = engine.train_micro_batch_size_per_gpu()
    rank = torch.distributed.get_rank()
    device = Device(int(os.environ["LOCAL_RANK"]))
    device.take(200 + (args.heavy_mib if rank == args.heavy_rank else 0))
    for _ in range(args.steps * engine.gradient_accumulation_steps()):
        taken = [device.take(100) for _ in range(micro)]
        engine.backward(engine(torch.rand(micro, FEATURES)).square().mean())
        engine.step()
        for pointer in taken:
            device.give(pointer)


if __name__ == "__main__":
    main()
