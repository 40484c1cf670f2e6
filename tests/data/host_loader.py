# A DataLoader at rest: four workers, a shared tensor, batches under way.
# SPDX-License-Identifier: MIT
"""Prints the bytes of batches that no process has touched, waits for stdin."""
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

MEGABYTE = 1 << 20
WORKERS = 4
PREFETCH = 2
BATCH = 4


class Samples(Dataset):
    """Items of 4 MiB; every worker keeps 60 MiB of its own."""

    def __init__(self, shared):
        self.shared = shared
        self.private = None

    def __len__(self):
        return 1000

    def __getitem__(self, index):
        if self.private is None:
            self.private = torch.ones(60 * MEGABYTE, dtype=torch.uint8)
        self.shared[::4096].sum()
        return torch.full((4 * MEGABYTE,), index % 256, dtype=torch.uint8)


def under_way(batches):
    """Batches that workers have made and this process has not taken."""
    return batches._worker_result_queue.qsize()


def early(batches):
    """Batches taken out of their order: mapped here, no page touched."""
    return sum(len(info) == 2 for info in batches._task_info.values())


def main():
    """Take one batch, then wait until the workers are as far ahead as they go."""
    torch.set_num_threads(1)
    shared = torch.ones(200 * MEGABYTE, dtype=torch.uint8).share_memory_()
    loader = DataLoader(Samples(shared), batch_size=BATCH, num_workers=WORKERS,
                        prefetch_factor=PREFETCH)
    batches = iter(loader)
    next(batches)
    deadline = time.monotonic() + 60
    while under_way(batches) + early(batches) < WORKERS * PREFETCH:
        if time.monotonic() > deadline:
            sys.exit("the workers did not get ahead")
        time.sleep(0.01)
    print(WORKERS * PREFETCH * BATCH * 4 * MEGABYTE, flush=True)
    sys.stdin.readline()


if __name__ == "__main__":
    main()
