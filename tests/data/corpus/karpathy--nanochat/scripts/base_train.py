# Stands in for pretraining by a batch per device and a total in tokens.
# SPDX-License-Identifier: MIT
import argparse
import os

import torch

parser = argparse.ArgumentParser(description="Pretrain base model")
parser.add_argument("--run", type=str, default="dummy")
parser.add_argument("--depth", type=int, default=20)
parser.add_argument("--head-dim", type=int, default=128)
parser.add_argument("--max-seq-len", type=int, default=2048,
                    help="max context length")
parser.add_argument("--fp8", action="store_true")
parser.add_argument("--num-iterations", type=int, default=-1)
parser.add_argument("--target-param-data-ratio", type=float, default=10.5)
parser.add_argument("--device-batch-size", type=int, default=32,
                    help="per-device batch size. reduce if you OOM on VRAM.")
parser.add_argument("--total-batch-size", type=int, default=-1,
                    help="total batch size in tokens (-1 = auto-compute)")
parser.add_argument("--eval-every", type=int, default=250)
args = parser.parse_args()

ddp_world_size = int(os.environ.get("WORLD_SIZE", 1))
model = torch.nn.Linear(8, 8)
optimizer = torch.optim.AdamW(model.parameters())
total_batch_size = args.total_batch_size
if total_batch_size == -1:
    total_batch_size = 2 ** round(args.depth ** 0.383 * 6)
tokens_per_fwdbwd = args.device_batch_size * args.max_seq_len
world_tokens_per_fwdbwd = tokens_per_fwdbwd * ddp_world_size
assert total_batch_size % world_tokens_per_fwdbwd == 0
grad_accum_steps = total_batch_size // world_tokens_per_fwdbwd
for step in range(args.num_iterations):
    for micro_step in range(grad_accum_steps):
        x = torch.randn(args.device_batch_size, 8)
        (model(x).mean() / grad_accum_steps).backward()
    optimizer.step()
    optimizer.zero_grad()
