# The memory statistics the step hook reads, with fixed numbers, and the error.
# SPDX-License-Identifier: MIT
import os


class Fixed(type):
    def __setattr__(cls, name, value):
        raise TypeError("cannot set attributes of this type")


if "FAKE_OLD" not in os.environ:
    kind = Fixed if "FAKE_FIXED" in os.environ else type
    OutOfMemoryError = kind("OutOfMemoryError", (RuntimeError,), {})


def is_initialized():
    return "FAKE_CUDA" in os.environ


def device_count():
    return 2


def memory_stats(device):
    peak, now = "allocated_bytes.all.peak", "allocated_bytes.all.current"
    return {
        "num_alloc_retries": 2 + device,
        "num_ooms": 4 + device,
        peak: 1000 * (1 + device),
        now: 700 - 100 * device,
        "reserved_bytes.all.peak": 5000 + device,
    }
