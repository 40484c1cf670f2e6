# The file that the preload library and the step hook write, made and read.
# SPDX-License-Identifier: MIT
"""A mirror of probes/preload/ledger/page.h and probes/channel/channel.h.

The layouts are compared with those headers by tests/cli/gpu_check.py. Python
3.8 and later, no package beside the standard library.
"""
import os
import struct

# probes/channel/channel.h
CHANNEL_MAGIC = 0x31544946545541
CHANNEL_SLOTS = 256
CHANNEL_HEADER = (("magic", "Q"), ("slots", "I"), ("slot_bytes", "I"),
                  ("reserved", "48s"))
CHANNEL_SLOT = (
    ("pid", "I"), ("flags", "I"), ("start_time", "Q"), ("steps", "Q"),
    ("last_step_ns", "Q"), ("alloc_retries", "Q"), ("torch_peak_bytes", "Q"),
    ("rank", "i"), ("phase", "I"), ("ooms", "I"), ("rows", "I"),
    ("passes", "I"), ("batches", "I"), ("loader_rows", "I"), ("world", "I"),
    ("group", "I"), ("first_passes", "I"), ("rest_bytes", "Q"),
    ("forward_bytes", "Q"), ("same_sizes", "H"), ("columns", "H"),
    ("later_passes", "I"), ("last_pass_ns", "Q"),
    ("torch_reserved_bytes", "Q"), ("pass_bytes", "Q"), ("data_rows", "I"),
    ("reserved", "I"),
)
COMPILED = 8

# probes/preload/ledger/page.h
OFFSET = 40960
MAGIC = 0x4D544946545541
VERSION = 1
DEVICES, SLOTS, EVENTS = 16, 128, 256
READY = 2
CUDA, CONTEXT, NVML, CROWDED = 1, 2, 4, 8
REFUSED, RECOVERED, ASKED_FREE = 1, 2, 3
EVENT_NAMES = {REFUSED: "refused", RECOVERED: "granted", ASKED_FREE: "asked"}
HEADER = (
    ("magic", "Q"), ("version", "I"), ("slots", "I"), ("size", "Q"),
    ("event_count", "Q"), ("slots_used", "I"), ("devices_used", "I"),
    ("changes", "Q"), ("reserved", "16s"),
)
DEVICE = (
    ("uuid", "16s"), ("state", "I"), ("reserved", "I"), ("cap_bytes", "Q"),
    ("baseline_bytes", "Q"), ("current_bytes", "Q"), ("peak_bytes", "Q"),
    ("managed_peak_bytes", "Q"), ("overhead_bytes", "Q"),
    ("managed_bytes", "Q"), ("total_bytes", "Q"), ("reserved2", "24s"),
)
EVENT = (
    ("number", "Q"), ("ns", "Q"), ("bytes", "Q"), ("free_bytes", "Q"),
    ("total_bytes", "Q"), ("launches", "Q"), ("pid", "I"), ("tid", "I"),
    ("kind", "H"), ("call", "H"), ("device", "H"), ("reserved", "H"),
)
USE = (
    ("current_bytes", "Q"), ("peak_bytes", "Q"), ("managed_bytes", "Q"),
    ("pool_bytes", "Q"), ("largest_bytes", "Q"), ("pending_bytes", "Q"),
    ("contexts", "I"), ("reserved", "I"),
)
SLOT = (
    ("pid", "I"), ("flags", "I"), ("start_time", "Q"), ("rank", "i"),
    ("busy", "I"), ("allocations", "Q"), ("frees", "Q"), ("launches", "Q"),
    ("synchronizations", "Q"), ("to_device_bytes", "Q"),
    ("to_host_bytes", "Q"), ("host_bytes", "Q"), ("host_peak_bytes", "Q"),
    ("failed_device", "Q"), ("failed_host", "Q"), ("recovered", "Q"),
    ("capped", "Q"), ("reserved", "Q"),
)


def size_of(fields):
    return struct.calcsize("=" + "".join(code for _, code in fields))


def unpack(fields, data, offset):
    values = struct.unpack_from(
        "=" + "".join(code for _, code in fields), data, offset)
    return dict(zip((name for name, _ in fields), values))


def pack(fields, **values):
    codes = "=" + "".join(code for _, code in fields)
    return struct.pack(codes, *(
        values.get(name, b"" if code.endswith("s") else 0)
        for name, code in fields))


SLOT_SIZE = size_of(SLOT) + DEVICES * size_of(USE)
PAGE_SIZE = (size_of(HEADER) + DEVICES * size_of(DEVICE) +
             EVENTS * size_of(EVENT) + SLOTS * SLOT_SIZE)
DEVICES_AT = OFFSET + size_of(HEADER)
EVENTS_AT = DEVICES_AT + DEVICES * size_of(DEVICE)
SLOTS_AT = EVENTS_AT + EVENTS * size_of(EVENT)
FILE_SIZE = OFFSET + PAGE_SIZE


def uuid_bytes(text):
    """The 16 bytes of "GPU-..." or "MIG-..."."""
    digits = text[4:].replace("-", "")
    if text[:4] not in ("GPU-", "MIG-") or len(digits) != 32:
        raise ValueError("no uuid: %r" % text)
    return bytes.fromhex(digits)


def make(path, targets=()):
    """An empty file; targets: (uuid text, cap bytes, baseline bytes)."""
    data = bytearray(FILE_SIZE)
    channel = pack(CHANNEL_HEADER, magic=CHANNEL_MAGIC, slots=CHANNEL_SLOTS,
                   slot_bytes=size_of(CHANNEL_SLOT))
    data[:len(channel)] = channel
    header = pack(HEADER, magic=MAGIC, version=VERSION, slots=SLOTS,
                  size=PAGE_SIZE, devices_used=len(targets))
    data[OFFSET:DEVICES_AT] = header
    for i, (uuid, cap, baseline) in enumerate(targets[:DEVICES]):
        at = DEVICES_AT + i * size_of(DEVICE)
        data[at:at + size_of(DEVICE)] = pack(
            DEVICE, uuid=uuid_bytes(uuid), state=READY, cap_bytes=cap,
            baseline_bytes=baseline)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


class Page:
    """What stands in the file at one moment."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read(FILE_SIZE)
        data += bytes(FILE_SIZE - len(data))
        self.header = unpack(HEADER, data, OFFSET)
        self.devices = [
            device for device in (
                unpack(DEVICE, data, DEVICES_AT + i * size_of(DEVICE))
                for i in range(DEVICES))
            if device["state"] == READY
        ]
        self.slots = self.read_slots(data)
        self.events = self.read_events(data)
        self.channel = self.read_channel(data)

    @staticmethod
    def read_slots(data):
        slots = []
        for i in range(SLOTS):
            at = SLOTS_AT + i * SLOT_SIZE
            slot = unpack(SLOT, data, at)
            slot["devices"] = [
                unpack(USE, data, at + size_of(SLOT) + k * size_of(USE))
                for k in range(DEVICES)
            ]
            if slot["pid"]:
                slots.append(slot)
        return slots

    @staticmethod
    def read_events(data):
        events = [unpack(EVENT, data, EVENTS_AT + i * size_of(EVENT))
                  for i in range(EVENTS)]
        return sorted((event for event in events if event["number"]),
                      key=lambda event: event["number"])

    @staticmethod
    def read_channel(data):
        slots = (unpack(CHANNEL_SLOT, data, size_of(CHANNEL_HEADER) +
                        i * size_of(CHANNEL_SLOT))
                 for i in range(CHANNEL_SLOTS))
        return [slot for slot in slots if slot["pid"]]

    def device(self, uuid):
        """The row of that device, or one of zeros."""
        for device in self.devices:
            if device["uuid"] == uuid_bytes(uuid):
                return device
        return unpack(DEVICE, bytes(size_of(DEVICE)), 0)

    def slot(self, pid):
        for slot in self.slots:
            if slot["pid"] == pid:
                return slot
        return None

    def total(self, counter):
        return sum(slot[counter] for slot in self.slots)

    def steps(self):
        """Optimizer steps that the hook counted in the process with most."""
        return max((slot["steps"] for slot in self.channel), default=0)

    def signature(self):
        """The kinds of its events in order, repeated ones once."""
        kinds = []
        for event in self.events:
            name = EVENT_NAMES.get(event["kind"], "other")
            if not kinds or kinds[-1] != name:
                kinds.append(name)
        return kinds
