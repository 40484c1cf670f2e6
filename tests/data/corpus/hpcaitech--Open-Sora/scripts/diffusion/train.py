# Stands in for video generation in buckets.
# SPDX-License-Identifier: MIT
import torch
from opensora.utils.config import parse_configs


def main():
    cfg = parse_configs()
    accumulation_steps = int(cfg.get("accumulation_steps", 1))
    rows = cfg.get("batch_size", None)
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.AdamW(model.parameters())
    for step, x in enumerate(cfg.bucket_loader(rows)):
        (model(x).mean() / accumulation_steps).backward()
        if (step + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
