# What PyTorch takes of a GPU, in different ways, for the checks of gpu-check.
# SPDX-License-Identifier: MIT
import os
import shutil
import statistics
import sys
import tempfile
import time

import torch

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import train  # noqa: E402
from meet import DEVICE, meet, run, skip  # noqa: E402

MIB = 1 << 20
GIB = 1 << 30
SMALL = ["--batch-size", "16", "--vocabulary", "8192", "--context", "512",
         "--layers", "4", "--device", DEVICE]
STEPS = 10
SPEED_WARM, SPEED_STEPS = 30, 200


def reserved():
    return torch.cuda.memory_reserved() if DEVICE == "cuda" else 0


def settle():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def show(name, **facts):
    settle()
    meet(name, reserved=reserved(), **facts)


def take(size):
    """Bytes filled by a kernel: no library but PyTorch's own is used."""
    return torch.empty(size, dtype=torch.uint8, device=DEVICE).fill_(1)


def hello():
    torch.ones(1, device=DEVICE)
    show("hello")


def elementwise():
    kept = [take(1)]
    show("first")
    kept += [take(size) for size in (512, 3 * MIB, 20 * MIB + 1, GIB)]
    show("taken")
    kept[4] = None
    show("cached")
    if DEVICE == "cuda":
        torch.cuda.empty_cache()
    show("emptied")
    kept.append(take(2 * GIB))
    show("again")


def transformer():
    training = train.Training(train.parse(SMALL))
    show("built")
    a = torch.ones(256, 256, device=DEVICE)
    (a @ a).sum().item()
    show("product")
    for step in range(1, STEPS + 1):
        training.step()
        if step in (1, 2, 3, 5, STEPS):
            show("step", step=step)


def grow():
    """A product, then another GiB: the overhead must not move with it."""
    a = torch.ones(1024, 1024, device=DEVICE)
    (a @ a).sum().item()
    kept = [take(256 * MIB)]
    show("warm")
    kept += [take(256 * MIB) for _ in range(4)]
    show("end", grown=GIB)


def graphs():
    a = torch.ones(1024, 1024, device=DEVICE)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            b = a @ a + 1
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        b = a @ a + 1
        c = torch.empty(64 * MIB, dtype=torch.uint8, device=DEVICE).fill_(1)
    graph.replay()
    show("warm")
    for _ in range(50):
        graph.replay()
    kept = [take(256 * MIB) for _ in range(4)]
    show("end", grown=GIB, kept=len(kept), sum=float(b[0, 0]) + int(c[0]))


def nccl():
    import torch.distributed as dist

    if not dist.is_available() or not dist.is_nccl_available():
        skip("this PyTorch has no NCCL")
    folder = tempfile.mkdtemp()
    dist.init_process_group("nccl", init_method="file://%s/ranks" % folder,
                            rank=0, world_size=1)
    x = take(64 * MIB).float()
    dist.all_reduce(x)
    show("warm")
    kept = [take(256 * MIB) for _ in range(4)]
    dist.all_reduce(x)
    show("end", grown=GIB, kept=len(kept))
    dist.destroy_process_group()
    shutil.rmtree(folder, ignore_errors=True)


def cap():
    """Fill, let PyTorch empty its cache three times, then ask for too much."""
    total = torch.cuda.mem_get_info()[1]
    show("start", total=total,
         properties=torch.cuda.get_device_properties(0).total_memory)
    for _ in range(3):
        # Two halves are cached; one piece of three quarters needs them back.
        halves = [take(total * 3 // 8) for _ in range(2)]
        del halves
        whole = take(total * 3 // 4)
        del whole
        torch.cuda.empty_cache()
    stats = torch.cuda.memory_stats()
    show("retried", retries=stats["num_alloc_retries"])
    kept = []
    try:
        while True:
            kept.append(take(512 * MIB))
    except RuntimeError as error:
        text = str(error)
    stats = torch.cuda.memory_stats()
    show("raised", text=text, retries=stats["num_alloc_retries"],
         ooms=stats["num_ooms"], kept=len(kept),
         free=torch.cuda.mem_get_info()[0])


def speed():
    """The median time of a step, of many small kernels: the worst case."""
    args = train.parse([
        "--batch-size", "4", "--vocabulary", "1024", "--context", "128",
        "--width", "256", "--layers", "6", "--device", DEVICE])
    training = train.Training(args)
    times = []
    for _ in range(SPEED_WARM + SPEED_STEPS):
        settle()
        began = time.perf_counter()
        training.step()
        settle()
        times.append(time.perf_counter() - began)
    meet("speed", seconds=statistics.median(times[SPEED_WARM:]),
         steps=SPEED_STEPS)


run({
    "hello": hello, "elementwise": elementwise, "transformer": transformer,
    "grow": grow, "graphs": graphs, "nccl": nccl, "cap": cap, "speed": speed,
})
