# A PyTorch training that resumes from its checkpoint and saves it all the time.
# SPDX-License-Identifier: MIT
"""torch_train.py [--batch-size N] [--grad-accum N] [--steps N] [--output-dir D]

Batches come from two workers. What it found is sent to $MISBEHAVE_PORT.
"""
import argparse
import json
import os
import socket
import tempfile

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def tell(**what):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        port = int(os.environ["MISBEHAVE_PORT"])
        sender.sendto(json.dumps(what).encode(), ("127.0.0.1", port))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=2)
    parser.add_argument("--grad-accum", type=int, default=1)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--output-dir", default=".")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Linear(64, 64)
    optimizer = torch.optim.AdamW(model.parameters())
    os.makedirs(args.output_dir, exist_ok=True)
    path = os.path.join(args.output_dir, "ckpt.pt")
    start = torch.load(path)["step"] if os.path.exists(path) else 0
    tell(phase="probe" if "AUTOFIT_PROBE" in os.environ else "run",
         resumed=start, output=args.output_dir,
         temporary=tempfile.gettempdir())
    data = DataLoader(
        TensorDataset(torch.randn(
            args.batch_size * args.grad_accum * args.steps, 64)),
        batch_size=args.batch_size, num_workers=2)
    torch.save({"step": start, "model": model.state_dict()}, path)
    for number, (batch,) in enumerate(data):
        model(batch).square().mean().backward()
        if (number + 1) % args.grad_accum:
            continue
        optimizer.step()
        optimizer.zero_grad()
        step = start + (number + 1) // args.grad_accum
        print("step %d loss 1.0" % step, flush=True)
        torch.save({"step": step, "model": model.state_dict()}, path)


if __name__ == "__main__":
    main()
