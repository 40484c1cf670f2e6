# A Triton kernel: its compiler reads it from a file of its own.
# SPDX-License-Identifier: MIT
import torch
import triton
import triton.language as tl


@triton.jit
def add_one(pointer, count, block: tl.constexpr):
    offsets = tl.program_id(0) * block + tl.arange(0, block)
    mask = offsets < count
    x = tl.load(pointer + offsets, mask=mask)
    tl.store(pointer + offsets, x + 1, mask=mask)


def launch(count):
    """A tensor of that many ones, made of zeros by the kernel."""
    tensor = torch.zeros(count, device="cuda")
    add_one[(triton.cdiv(count, 1024),)](tensor, count, block=1024)
    torch.cuda.synchronize()
    return tensor
