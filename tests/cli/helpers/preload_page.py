# The page of the preload library, and a simulated world to load it in.
# SPDX-License-Identifier: MIT
"""The layout is probes/preload/ledger/page.h, written down once more.

Its numbers are compared with those of the header when this is imported.
"""
import ctypes
import os
import re
import subprocess
import sys

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import lib  # noqa: E402

BUILD = os.environ["BUILD"]
SIM = os.path.join(BUILD, "sim")
SIM_OLD = os.path.join(BUILD, "sim_old")
PRELOAD = os.path.join(BUILD, "libautofit_preload.so")
PATIENCE = 600

OFFSET = 40960
MAGIC = 0x4D544946545541
VERSION = 1
DEVICES = 16
SLOTS = 128
EVENTS = 256
READY = 2
CUDA, CONTEXT, NVML, CROWDED = 1, 2, 4, 8
REFUSED, RECOVERED, ASKED_FREE = 1, 2, 3
KINDS = {REFUSED: "refused", RECOVERED: "recovered", ASKED_FREE: "asked"}
CALLS = [
    "none", "linear", "managed", "async", "virtual", "array", "graph", "host",
    "context", "module", "launch", "other",
]

U16, U32, U64 = ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64


class Header(ctypes.Structure):
    _fields_ = [
        ("magic", U64), ("version", U32), ("slots", U32), ("size", U64),
        ("event_count", U64), ("slots_used", U32), ("devices_used", U32),
        ("changes", U64), ("reserved", U64 * 2),
    ]


class Device(ctypes.Structure):
    _fields_ = [
        ("uuid", ctypes.c_ubyte * 16), ("state", U32), ("reserved", U32),
        ("cap_bytes", U64), ("baseline_bytes", U64), ("current_bytes", U64),
        ("peak_bytes", U64), ("managed_peak_bytes", U64),
        ("overhead_bytes", U64), ("managed_bytes", U64), ("total_bytes", U64),
        ("reserved2", U64 * 3),
    ]


class Use(ctypes.Structure):
    _fields_ = [
        ("current_bytes", U64), ("peak_bytes", U64), ("managed_bytes", U64),
        ("pool_bytes", U64), ("largest_bytes", U64), ("pending_bytes", U64),
        ("contexts", U32), ("reserved", U32),
    ]


class Slot(ctypes.Structure):
    _fields_ = [
        ("pid", U32), ("flags", U32), ("start_time", U64),
        ("rank", ctypes.c_int32), ("busy", U32), ("allocations", U64),
        ("frees", U64), ("launches", U64), ("synchronizations", U64),
        ("to_device_bytes", U64), ("to_host_bytes", U64), ("host_bytes", U64),
        ("host_peak_bytes", U64), ("failed_device", U64),
        ("failed_host", U64), ("recovered", U64), ("capped", U64),
        ("reserved", U64), ("devices", Use * DEVICES),
    ]


class Event(ctypes.Structure):
    _fields_ = [
        ("number", U64), ("ns", U64), ("bytes", U64), ("free_bytes", U64),
        ("total_bytes", U64), ("launches", U64), ("pid", U32), ("tid", U32),
        ("kind", U16), ("call", U16), ("device", U16), ("reserved", U16),
    ]

    @property
    def what(self):
        """"refused linear", "asked": as the tables of the tests name it."""
        kind = KINDS.get(self.kind, "?")
        if self.kind == ASKED_FREE or self.call >= len(CALLS):
            return kind
        return "%s %s" % (kind, CALLS[self.call])


class Page(ctypes.Structure):
    _fields_ = [
        ("header", Header), ("devices", Device * DEVICES),
        ("events", Event * EVENTS), ("slots", Slot * SLOTS),
    ]

    def known_devices(self):
        return [d for d in self.devices if d.state == READY]

    def known_slots(self):
        return [s for s in self.slots if s.pid]

    def known_events(self):
        """In the order of their numbers; those that were overwritten lack."""
        return sorted((e for e in self.events if e.number),
                      key=lambda e: e.number)

    def live_bytes(self, index):
        """Of a device, without what processes had that are gone."""
        gone = sum(s.devices[index].current_bytes for s in self.known_slots()
                   if start_time(s.pid) != s.start_time)
        return self.devices[index].current_bytes - gone


FILE_BYTES = OFFSET + ctypes.sizeof(Page)


def compare_with_header():
    path = os.path.join(os.environ["SOURCE"], "probes", "preload", "ledger",
                        "page.h")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    numbers = dict(re.findall(r"#define PRELOAD_(\w+) (\d+)$", text, re.M))
    here = {"PAGE_OFFSET": OFFSET, "VERSION": VERSION, "DEVICES": DEVICES,
            "SLOTS": SLOTS, "EVENTS": EVENTS}
    assert {name: int(value) for name, value in numbers.items()} == here
    assert "UINT64_C(0x%x)" % MAGIC in text
    sizes = dict(re.findall(r"sizeof\(struct preload_(\w+)\) == (\d+)", text))
    for name, kind in (("header", Header), ("device", Device),
                       ("event", Event), ("use", Use)):
        assert int(sizes[name]) == ctypes.sizeof(kind), name
    assert ctypes.sizeof(Slot) == int(sizes["slot"]) + DEVICES * int(
        sizes["use"])


compare_with_header()


def start_time(pid):
    """Field 22 of its stat; None: it is gone, or a zombie."""
    try:
        with open("/proc/%d/stat" % pid, encoding="latin-1") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def sim_uuid(ordinal):
    """Of a simulated device."""
    return bytes.fromhex(lib.sim_uuid(ordinal)[4:].replace("-", ""))


def empty_page(caps=()):
    """As autofit leaves it; caps: (cap, baseline) of the first devices."""
    page = Page()
    page.header.magic = MAGIC
    page.header.version = VERSION
    page.header.slots = SLOTS
    page.header.size = ctypes.sizeof(Page)
    page.header.devices_used = len(caps)
    for ordinal, (cap, baseline) in enumerate(caps):
        device = page.devices[ordinal]
        device.uuid[:] = sim_uuid(ordinal)
        device.cap_bytes, device.baseline_bytes = cap, baseline
        device.state = READY
    return page


def write_page(path, page):
    with open(path, "wb") as file:
        file.truncate(OFFSET)
        file.seek(OFFSET)
        file.write(bytes(page))


def read_page(path):
    with open(path, "rb") as file:
        file.seek(OFFSET)
        return Page.from_buffer_copy(file.read())


class Run:
    """What a trainer left."""

    def __init__(self, done, page):
        self.status = done.returncode
        self.out = done.stdout
        self.err = done.stderr
        self.page = page

    def numbers(self, word="report"):
        """name=number of the line of standard output that begins so."""
        for line in self.out.splitlines():
            if line.startswith(word + " "):
                return {k: int(v) for k, v in re.findall(r"(\w+)=(-?\d+)",
                                                         line)}
        return {}

    def __str__(self):
        text = "status %d\n%s%s" % (self.status, self.out, self.err)
        if not self.page:
            return text
        for device in self.page.known_devices():
            text += "device %s\n" % {
                name: getattr(device, name) for name, _ in Device._fields_[3:]}
        for slot in self.page.known_slots():
            text += "slot %s %s\n" % (
                {name: getattr(slot, name) for name, _ in Slot._fields_[:-2]},
                [{name: getattr(u, name) for name, _ in Use._fields_[:-1]}
                 for u in slot.devices if u.peak_bytes or u.contexts])
        for event in self.page.known_events():
            text += "event %s %s\n" % (event.what, {
                name: getattr(event, name) for name, _ in Event._fields_[:-1]})
        return text


def need(args):
    """What the trainer with these arguments asks for, by its own count."""
    done = subprocess.run(
        [os.path.join(SIM, "sim_trainer"), *args, "--print-need"],
        capture_output=True, text=True, check=True, timeout=PATIENCE)
    words = done.stdout.split()
    return {words[i]: int(words[i + 1]) for i in range(0, len(words), 2)}


class World:
    """Simulated devices in a place; each run finds them empty."""

    def __init__(self, place, devices):
        self.place = place
        self.devices = devices

    def environment(self, folder):
        self.place.count += 1
        return dict(
            self.place.env, LD_LIBRARY_PATH=folder,
            AUTOFIT_SIM_DEVICES=self.devices,
            AUTOFIT_SIM_STATE=self.place.path("sim-%d" % self.place.count))

    def start(self, args, path):
        """A trainer that goes on, over the page in the file at path."""
        env = dict(self.environment(SIM), LD_PRELOAD=PRELOAD,
                   AUTOFIT_CHANNEL=path)
        return subprocess.Popen(
            [os.path.join(SIM, "sim_trainer"), *args], env=env,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def run(self, args, page=None, hooked=True, **how):
        """The trainer under the library, with a page of its own.

        page: its bytes, made if not given. how: linked, old (drivers of that
        kind), env (more variables), path (the channel's, instead of a file
        with the page), pass_fds.
        """
        env = self.environment(SIM_OLD if how.get("old") else SIM)
        path = how.get("path") or self.place.path(
            "page-%d" % self.place.count)
        if hooked:
            env.update(LD_PRELOAD=PRELOAD, AUTOFIT_CHANNEL=path)
        if hooked and "path" not in how:
            write_page(path, page or empty_page())
        env.update(how.get("env", {}))
        name = "sim_trainer_linked" if how.get("linked") else "sim_trainer"
        done = subprocess.run(
            [os.path.join(SIM, name), *args], env=env, text=True,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE,
            check=False, pass_fds=how.get("pass_fds", ()))
        seen = read_page(path) if hooked and "path" not in how else None
        return Run(done, seen)
