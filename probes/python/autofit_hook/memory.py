# Memory that is held between steps, and what a forward pass adds to it.
# SPDX-License-Identifier: MIT
import os
import sys

from autofit_hook.autograd_calls import BackwardCalls, nothing
from autofit_hook.channel import FORWARD64, HOLDS_MORE, PASS64, REST64

# After these steps it looks at the memory that is held between steps: what an
# optimizer keeps is there after the first.
REST_AFTER_STEPS = (2, 3, 4, 5)
# What is held more than a step before is a leak, or data that are kept, from so
# many bytes on: the C library's own count differs by less.
MORE_MIN = 256 << 10
# A backward pass that needs more than this many times what the forward pass
# left (MEMORY_LINE_BACKWARD of search/memory_line.h), and so many bytes beside,
# computes some of it anew: gradient checkpointing.
BACKWARD_TIMES = 3
BACKWARD_NOISE = 16 << 20
# What a pass takes tells of its samples from so many bytes on, and where it is
# so many times the largest parameter.
PASS_MIN = 2 * BACKWARD_NOISE
PASS_TIMES = 6
# What two forward passes leave differs by more than this only where they are
# not alike; the C library's own count differs by less.
VARIES_MIN = 2 << 20
VARIES_SHARE = 0.05
# Of struct mallinfo2; with less in use the memory is another allocator's.
MAPPED, IN_USE, FREE = 4, 7, 8
HEAP_MIN = 1 << 20
MAX_DEVICES = 16


class Rest(object):
    """
    Bytes that stay between two steps whatever the gradients do: parameters,
    what the optimizer keeps, and what the process has beside them. And those
    that a forward pass and the loss leave for the backward pass: a look at the
    entry of torch.autograd.backward, which is replaced for that one call; they
    tell nothing where the first backward pass showed that it computes most of
    it anew. And what its samples take in a whole pass: where a step
    accumulates, the second one begins and ends with the same bytes, and nothing
    of the optimizer's is there yet. And whether each step holds more than the
    one before, which its peak, below what the C library holds free, need not
    show for a while. On a GPU what torch has allocated of the
    fullest one, else the private memory of the process less what its C library
    holds free.
    """

    def __init__(self, channel, on_varying):
        import weakref

        self.channel = channel
        self.on_varying = on_varying
        self.ref = weakref.ref
        self.mallinfo = None
        self.calls = None
        self.parameters = []
        self.rest = self.least = 0
        self.backward = self.taken = self.peak_before = 0

    def before_first_backward(self):
        """Never raises."""
        try:
            self.peak_before = self.peak()
        except Exception:
            pass

    def after_first_backward(self):
        self.backward = self.above_held()

    def after_second_backward(self):
        """What was held before it, gradients and all, is held now."""
        self.taken = self.above_held()

    def above_held(self):
        """How far the peak was above what is held now; 0: it was before the
        backward passes, or is not known. Never raises."""
        try:
            peak = self.peak()
            held = allocated_on_gpus() or self.private()
            if 0 < self.peak_before < peak and held > 0:
                return max(peak - held, 0)
        except Exception:
            pass
        return 0

    def turn(self, steps, optimizer):
        """A step was made; never raises."""
        try:
            self.stop()
            if steps in REST_AFTER_STEPS:
                self.look(optimizer)
        except Exception:
            pass

    def stop(self):
        calls, self.calls = self.calls, None
        if calls is not None:
            calls.leave()
        self.parameters = []

    def look(self, optimizer):
        if optimizer is not None:
            for group in optimizer.param_groups:
                self.parameters += [self.ref(each) for each in group["params"]]
        before, self.rest = self.rest, self.held()
        if self.rest <= 0 or not self.channel.enter():
            return
        if 0 < before <= self.rest - MORE_MIN:
            self.channel.flag(HOLDS_MORE)
        else:
            self.channel.unflag(HOLDS_MORE)
        self.channel.put(REST64, self.rest)
        self.tell_pass()
        if "torch.autograd" in sys.modules:
            self.calls = BackwardCalls(self.on_backward, nothing)

    def tell_pass(self):
        """Unless much of it may be one gradient, before that is added."""
        largest = 0
        for reference in self.parameters:
            parameter = reference()
            if parameter is not None:
                largest = max(
                    largest, parameter.numel() * parameter.element_size()
                )
        if self.taken >= max(PASS_MIN, PASS_TIMES * largest):
            self.channel.put(PASS64, self.taken)

    def on_backward(self, _):
        """The first of a step; never raises."""
        try:
            if self.calls is None:
                return
            forward = self.held() - self.rest
            self.note_varying(forward)
            if (
                self.backward <= BACKWARD_TIMES * forward + BACKWARD_NOISE
                and self.channel.enter()
                and forward > self.channel.get(FORWARD64)
            ):
                self.channel.put(FORWARD64, forward)
            self.stop()
        except Exception:
            pass

    def note_varying(self, forward):
        """
        A step that leaves more than another, as where layers are left out by
        chance, is not like it, whatever went in.
        """
        if forward <= 0:
            return
        self.least = min(self.least or forward, forward)
        if forward - self.least > max(VARIES_MIN, self.least * VARIES_SHARE):
            self.on_varying()

    def held(self):
        """Without the gradients; 0 or less: not known."""
        held = allocated_on_gpus() or self.private()
        for reference in self.parameters:
            gradient = getattr(reference(), "grad", None)
            if gradient is not None and not gradient.is_sparse:
                held -= gradient.numel() * gradient.element_size()
        return held

    def peak(self):
        """The largest so far of what private() and the GPU's allocator say."""
        if cuda_in_use() is not None:
            return allocated_on_gpus("peak")
        with open("/proc/self/status", "rb") as status:
            lines = [line.split() for line in status]
        kib = dict(
            (line[0], int(line[1])) for line in lines if line[-1:] == [b"kB"]
        )
        shared = kib[b"RssFile:"] + kib[b"RssShmem:"]
        return (kib[b"VmHWM:"] - shared) * 1024

    def private(self):
        """0: another allocator is at work, or the library cannot say."""
        if self.mallinfo is None:
            self.mallinfo = mallinfo_of_c()
        numbers = self.mallinfo().numbers
        if numbers[MAPPED] + numbers[IN_USE] < HEAP_MIN:
            return 0
        with open("/proc/self/statm", "rb") as statm:
            words = statm.read().split()
        pages = int(words[1]) - int(words[2])
        return pages * os.sysconf("SC_PAGE_SIZE") - numbers[FREE]


def mallinfo_of_c():
    """mallinfo2 of glibc 2.33 and later."""
    # Not imported for this: see LastError. torch does import it.
    ctypes = sys.modules["ctypes"]

    class Info(ctypes.Structure):
        _fields_ = [("numbers", ctypes.c_size_t * 10)]

    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = Info
    return mallinfo


def cuda_in_use():
    """torch.cuda, or torch.xpu, which counts alike, once the program uses it."""
    torch = sys.modules.get("torch")
    for name in ("cuda", "xpu"):
        device = getattr(torch, name, None)
        if hasattr(device, "memory_stats") and device.is_initialized():
            return device
    return None


def allocated_on_gpus(what="current"):
    cuda = cuda_in_use()
    if cuda is None:
        return 0
    return max(
        cuda.memory_stats(device).get("allocated_bytes.all." + what, 0)
        for device in range(min(cuda.device_count(), MAX_DEVICES))
    )
