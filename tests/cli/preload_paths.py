#!/usr/bin/env python3
# What the preload library counts, however a program reaches the driver.
# SPDX-License-Identifier: MIT
import os
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "helpers"))

import lib  # noqa: E402
import preload_page as pages  # noqa: E402
from lib import KIB, MIB, check, equal  # noqa: E402

ONE = "Sim:8G:0:300M"
TWO_GIB = "Sim:2G:0:300M"
# Some of everything; every memory goes back at the end.
BASE = ["--batch-size", "12", "--per-sample-kib", "5120", "--fixed-mib", "100",
        "--steps", "4", "--grad-accum", "2"]
WORK = [*BASE, "--launches", "5", "--spike-mib", "12", "--host-kib", "64",
        "--eval-every", "2", "--eval-kib", "9216", "--save", "--release",
        "--report"]
WAYS = [
    ("dlsym", ["--access", "dlsym"], {}),
    ("dlsym, streams per thread", ["--access", "dlsym", "--per-thread"], {}),
    ("linked with -lcuda", [], {"linked": True}),
    ("linked, and dlsym", ["--access", "dlsym"], {"linked": True}),
    ("linked, and cuGetProcAddress_v2", ["--access", "gpa2"],
     {"linked": True}),
    ("cuGetProcAddress", ["--access", "gpa"], {}),
    ("cuGetProcAddress, streams per thread",
     ["--access", "gpa", "--per-thread"], {}),
    ("cuGetProcAddress_v2", ["--access", "gpa2"], {}),
    ("cuGetProcAddress_v2, streams per thread",
     ["--access", "gpa2", "--per-thread"], {}),
]
KINDS = ["linear", "pitched", "virtual", "async", "pool", "array", "graph",
         "mixed", "node"]


def slot_numbers(slot):
    """All of it but who it is."""
    numbers = {name: getattr(slot, name) for name, _ in pages.Slot._fields_
               if name not in ("pid", "start_time", "devices")}
    for name, _ in pages.Use._fields_:
        numbers[name] = getattr(slot.devices[0], name)
    return numbers


def is_clean(run, ranks=1):
    """It ended well, and nothing of it is left in the page."""
    slots = run.page.known_slots()
    return (run.status == 0 and run.err == "" and len(slots) == ranks and
            all(d.current_bytes == 0 and d.managed_bytes == 0
                for d in run.page.known_devices()) and
            all(s.busy == 0 and s.host_bytes == 0 and not s.flags &
                pages.CROWDED and all(u.current_bytes == u.pending_bytes ==
                                      u.pool_bytes == 0 for u in s.devices)
                for s in slots))


def access_paths(place):
    world = pages.World(place, ONE)
    for kind in ("linear", "mixed"):
        args = [*WORK, "--memory", kind]
        need = pages.need(args)["need"]
        seen = {}
        for name, way, how in WAYS:
            run = world.run([*args, *way], **how)
            title = "%s, %s memory" % (name, kind)
            if not check(title + ": counted, and all given back",
                         is_clean(run), run):
                continue
            device, slot = run.page.devices[0], run.page.known_slots()[0]
            equal(title + ": peak", device.peak_bytes, need)
            seen[title] = slot_numbers(slot)
        check("%s: the same numbers by every way" % kind, len(seen) > 1 and
              len({str(v) for v in seen.values()}) == 1,
              "\n".join("%s: %s" % item for item in seen.items()))
        slot = next(iter(seen.values()), {})
        equal("%s: launches" % kind, slot.get("launches"),
              4 * 5 + {"linear": 0}.get(kind, slot.get("launches", 20) - 20))
        equal("%s: pinned at its peak" % kind, slot.get("host_peak_bytes"),
              64 * KIB)
        equal("%s: a context, of a driver call" % kind,
              (slot.get("contexts"), slot.get("flags")),
              (1, pages.CUDA | pages.CONTEXT))
        equal("%s: bytes to the device, by copies" % kind,
              (slot.get("to_device_bytes"), slot.get("to_host_bytes")),
              (4 * KIB, KIB))


def literal_totals(place):
    """Worked out by hand: the trainer's own count has to be right too."""
    world = pages.World(place, ONE)
    # fixed, activations, and what is short-lived beside them: each in MiB.
    for name, args, wanted in [
        ("linear", BASE, 100 + 60),
        ("plain", [*BASE, "--allocator", "plain"], 100 + 60),
        ("plain, one step", [*BASE, "--allocator", "plain", "--steps", "1"],
         50 + 60),
        ("spike", [*BASE, "--spike-mib", "700"], 100 + 60 + 700),
        ("leak", [*BASE, "--leak-kib", "3072"], 100 + 60 + 4 * 3),
        ("pitched", [*BASE, "--memory", "pitched"], 100 + 60),
        ("array", [*BASE, "--memory", "array"], 100 + 60),
        ("graph", [*BASE, "--memory", "graph"], 100 + 60),
        # A mapping of 5 x 20 + 60, of 2 MiB each; 50 is two of 20 and one
        # of 10.
        ("virtual", [*BASE, "--memory", "virtual"], 100 + 60),
        ("expandable", [*BASE, "--expandable"], 60 + 60 + 60),
        # The simulated pools grow by 32 MiB.
        ("async", [*BASE, "--memory", "async"], 160),
        ("pool", [*BASE, "--memory", "pool"], 160),
        ("pool of 150", [*BASE, "--memory", "pool", "--batch-size", "10"],
         160),
    ]:
        run = world.run([*args, "--release"])
        equal("%s: worked out by hand" % name,
              (run.status, run.page.devices[0].peak_bytes / MIB,
               run.page.devices[0].current_bytes, pages.need(args)["need"]),
              (0, wanted, 0, wanted * MIB))


def memory_kinds(place):
    world = pages.World(place, ONE)
    for kind in KINDS:
        for allocator in ("caching", "plain"):
            args = [*WORK, "--memory", kind, "--allocator", allocator]
            need = pages.need(args)["need"]
            run = world.run([*args, "--access", "gpa2"])
            title = "%s, %s" % (kind, allocator)
            check(title + ": all given back", is_clean(run), run)
            use = run.page.known_slots()[0].devices[0]
            equal(title + ": peak of device and process",
                  (run.page.devices[0].peak_bytes, use.peak_bytes),
                  (need, need))
    run = world.run([*BASE, "--memory", "managed", "--release"])
    device = run.page.devices[0]
    check("managed: all given back", is_clean(run), run)
    equal("managed: apart", (device.managed_peak_bytes, device.peak_bytes),
          (pages.need([*BASE, "--memory", "managed"])["managed"], 0))


def left_at_exit(place):
    """Not given back: gone with the process."""
    world = pages.World(place, ONE)
    for kind in KINDS:
        args = [*BASE, "--memory", kind, "--report"]
        run = world.run(args)
        left = run.numbers().get("current", -1)
        equal("%s: what it held when it ended, and no live bytes" % kind,
              (run.status, run.page.live_bytes(0),
               run.page.devices[0].peak_bytes,
               run.page.known_slots()[0].devices[0].current_bytes
               in (0, left)),
              (0, 0, pages.need(args)["need"], True))


def old_driver(place):
    """Without cuGetProcAddress: symbol by symbol."""
    if not check("a driver of the old API was built",
                 os.path.exists(pages.SIM_OLD), pages.SIM_OLD):
        return
    world = pages.World(place, ONE)
    for kind in ("linear", "pitched", "managed", "array"):
        args = [*BASE, "--memory", kind, "--launches", "2"]
        need = pages.need(args)
        run = world.run([*args, "--release"], old=True)
        device = run.page.devices[0]
        check("old driver, %s: all given back" % kind, is_clean(run), run)
        equal("old driver, %s: peak" % kind,
              (device.peak_bytes, device.managed_peak_bytes),
              (need["need"], need["managed"]))


def several_ranks(place):
    eight = ";".join([ONE] * 8)
    for ranks in (1, 2, 8):
        for name, more in [("", []), (", forked only", ["--no-exec"])]:
            args = [*BASE, "--spike-mib", "40", "--release"]
            need = pages.need(args)["need"]
            args += ["--ranks", str(ranks), *more]
            run = pages.World(place, eight).run([*args, "--one-device"])
            title = "%d ranks on one device%s: " % (ranks, name)
            check(title + "all given back", is_clean(run, ranks), run)
            equal(title + "peak is the sum at one time",
                  run.page.devices[0].peak_bytes, ranks * need)
            equal(title + "each has its slot, rank and peak",
                  sorted((s.rank, s.devices[0].peak_bytes)
                         for s in run.page.known_slots()),
                  [(rank, need) for rank in range(ranks)])
            run = pages.World(place, eight).run(args)
            equal("%d ranks, a device each%s: peaks" % (ranks, name),
                  (run.status, sorted(d.peak_bytes for d in
                                      run.page.known_devices())),
                  (0, [need] * ranks))
            equal("%d ranks, a device each%s: uuids" % (ranks, name),
                  {bytes(d.uuid) for d in run.page.known_devices()},
                  {pages.sim_uuid(i) for i in range(ranks)})


def fork_of_who_asked(place):
    """The page is open before the fork: each child gets a slot of its own."""
    args = [*BASE, "--release"]
    need = pages.need(args)["need"]
    run = pages.World(place, ONE).run(
        [*args, "--ranks", "4", "--one-device", "--no-exec", "--ask-nvml"])
    slots = run.page.known_slots()
    equal("forked after a question to NVML: slots of ranks and launcher",
          (run.status, sorted((s.rank, s.devices[0].peak_bytes,
                               bool(s.flags & pages.CONTEXT))
                              for s in slots)),
          (0, [(-1, 0, False)] + [(i, need, True) for i in range(4)]))
    equal("forked after a question to NVML: peak, and nothing left",
          (run.page.devices[0].peak_bytes, run.page.devices[0].current_bytes),
          (4 * need, 0))


def ranks_that_die(place):
    """By SIGKILL: what they held counts no more, reaped or not."""
    args = ["--batch-size", "8", "--per-sample-kib", "5120", "--fixed-mib",
            "100", "--leak-kib", "10240", "--steps", "24"]
    both = 2 * (100 + 40 + 2 * 10) * MIB  # until the third step
    alone = (100 + 40 + 24 * 10) * MIB
    equal("the one that goes on takes more than both had",
          (both < alone, pages.need(args)["need"]),
          (True, alone))
    for name, more in [("reaped", []), ("a zombie", ["--zombie"])]:
        run = pages.World(place, ONE).run(
            [*args, "--ranks", "2", "--one-device", "--kill-rank", "1",
             "--kill-step", "3", "--survive", *more])
        equal("a killed rank, %s: peak, live bytes" % name,
              (run.status, run.page.devices[0].peak_bytes,
               run.page.live_bytes(0)), (0, alone, 0))
    run = pages.World(place, ONE).run(
        [*args, "--ranks", "8", "--one-device", "--kill-rank", "5",
         "--kill-step", "3"])
    equal("the launcher ends all when one is killed: no live bytes",
          (run.status, run.page.live_bytes(0)), (1, 0))


def killed_at_any_moment(place):
    """In the middle of a call, too: the next one finds the sums right."""
    world = pages.World(place, ONE)
    path = place.path("killed-page")
    pages.write_page(path, pages.empty_page())
    for number in range(20):
        victim = world.start(
            ["--threads", "4", "--thread-pairs", "100000000", "--fixed-mib",
             "20", "--memory", ("linear", "virtual", "async")[number % 3]],
            path)
        began = lib.wait_for(lambda: any(
            s.pid == victim.pid and s.frees > 100 * number
            for s in pages.read_page(path).slots))
        victim.kill()
        victim.wait()
        if not check("killed %d: it had begun" % number, began):
            return
    # A call that was cut short may be in one sum and not yet in the other;
    # pools take 32 MiB at once.
    page = pages.read_page(path)
    torn = sum(s.busy for s in page.known_slots()) * 32 * MIB
    check("killed: none of them lives on", abs(page.live_bytes(0)) <= torn,
          (page.live_bytes(0), torn))
    need = pages.need(WORK)["need"]
    run = world.run(WORK, path=path)
    page = pages.read_page(path)
    equal("after 20 were killed: status, peak, current",
          (run.status, page.devices[0].peak_bytes,
           page.devices[0].current_bytes), (0, need, 0))


def forks_and_threads(place):
    world = pages.World(place, ONE)
    need = pages.need(WORK)["need"]
    run = world.run([*WORK, "--fork", "6"])
    check("workers without CUDA: no slots, no bytes", is_clean(run), run)
    equal("workers without CUDA: peak", run.page.devices[0].peak_bytes, need)
    # The driver refuses them; what it holds for the parent stays counted.
    run = world.run([*WORK, "--fork", "6", "--misuse"])
    mine = [s for s in run.page.known_slots() if s.devices[0].contexts]
    equal("workers that try CUDA: bytes, of the parent alone",
          (run.status, run.err, run.page.devices[0].peak_bytes,
           run.page.devices[0].current_bytes,
           [s.devices[0].peak_bytes for s in mine]), (0, "", need, 0, [need]))
    check("workers that try CUDA: none took the parent's slot",
          mine and mine[0].allocations == mine[0].frees > 0, run)
    run = world.run([*WORK, "--exec-after", "2"])
    check("exec in the same process: all given back", is_clean(run), run)
    equal("exec in the same process: peak", run.page.devices[0].peak_bytes,
          need)
    # A driver's page count of 16 threads would be 32 MiB at most.
    for kind in ("linear", "virtual"):
        run = world.run(["--threads", "8", "--thread-pairs", "10000",
                         "--thread-kib", "2048", "--fixed-mib", "0", "--steps",
                         "0", "--release", "--memory", kind])
        check("8 threads, 10000 pairs each, %s: nothing is left" % kind,
              is_clean(run), run)
        slot = run.page.known_slots()[0]
        peak = run.page.devices[0].peak_bytes
        check("8 threads, %s: a peak of 1 to 8 at once" % kind,
              2 * MIB <= peak <= 8 * 2 * MIB and peak % (2 * MIB) == 0, peak)
        equal("8 threads, %s: every call counted" % kind,
              (slot.allocations, slot.frees), (80000, 80000))


def events(place):
    """name, devices, fault script, trainer's options, status, events,
    (failed_device, failed_host, recovered)."""
    for name, devices, fault, args, status, wanted, counts in [
        ("none", ONE, "", [], 0, [], (0, 0, 0)),
        ("retried", ONE, "fail_alloc=5", [], 0,
         ["refused linear", "recovered linear"], (1, 0, 1)),
        ("retried twice", ONE, "fail_alloc=2,fail_alloc=7", [], 0,
         ["refused linear", "recovered linear"] * 2, (2, 0, 2)),
        ("retried, pitched", ONE, "fail_alloc=5", ["--memory", "pitched"], 0,
         ["refused linear", "recovered linear"], (1, 0, 1)),
        ("retried, virtual", ONE, "fail_alloc=5", ["--memory", "virtual"], 0,
         ["refused virtual", "recovered virtual"], (1, 0, 1)),
        ("retried, expandable", ONE, "fail_alloc=5", ["--expandable"], 0,
         ["refused virtual", "recovered virtual"], (1, 0, 1)),
        ("retried, async", ONE, "fail_alloc=5", ["--memory", "async"], 0,
         ["refused async", "recovered async"], (1, 0, 1)),
        ("retried, pool", ONE, "fail_alloc=5", ["--memory", "pool"], 0,
         ["refused async", "recovered async"], (1, 0, 1)),
        ("retried, array", ONE, "fail_alloc=5", ["--memory", "array"], 0,
         ["refused array", "recovered array"], (1, 0, 1)),
        ("retried, managed", ONE, "fail_alloc=5", ["--memory", "managed"], 0,
         ["refused managed", "recovered managed"], (1, 0, 1)),
        # No allocator tries a graph again: that is no recovery.
        ("graph", ONE, "fail_alloc=5", ["--memory", "graph"], 0,
         ["refused graph"], (1, 0, 0)),
        ("graph, raised", ONE, "fail_from=5", ["--memory", "graph"], 1,
         ["refused graph", "refused graph", "asked"], (2, 0, 0)),
        ("raised", ONE, "fail_from=5", [], 1,
         ["refused linear", "refused linear", "asked"], (2, 0, 0)),
        ("raised, no retry", ONE, "fail_from=5", ["--retry", "none"], 1,
         ["refused linear", "asked"], (1, 0, 0)),
        ("raised, expandable", ONE, "fail_from=5", ["--expandable"], 1,
         ["refused virtual", "refused virtual", "asked"], (2, 0, 0)),
        ("raised for want of memory", TWO_GIB, "", ["--batch-size", "4000"],
         1, ["refused linear", "refused linear", "asked"], (2, 0, 0)),
        ("caught", ONE, "fail_alloc=5,fail_alloc=6", ["--catch", "quiet"], 0,
         ["refused linear", "refused linear", "asked", "recovered linear"],
         (2, 0, 1)),
        ("pinned host memory", ONE, "oom_host=2", ["--host-kib", "64"], 1,
         ["refused host"], (0, 1, 0)),
        ("context", ONE, "oom_context", [], 1, ["refused context"],
         (1, 0, 0)),
        ("module", ONE, "oom_module=1", ["--launches", "3"], 1,
         ["refused module"], (1, 0, 0)),
        ("code that is loaded late", ONE, "oom_function", ["--launches", "3"],
         1, ["refused module"], (1, 0, 0)),
        ("launch", ONE, "oom_launch=7", ["--launches", "3"], 1,
         ["refused launch"], (1, 0, 0)),
    ]:
        args = [*BASE, *args, "--access", "gpa2"]
        run = pages.World(place, devices).run(
            args, env={"AUTOFIT_SIM_FAULT": fault} if fault else {})
        seen = [event.what for event in run.page.known_events()]
        equal("events, %s" % name,
              (run.status, seen,
               [(s.failed_device, s.failed_host, s.recovered)
                for s in run.page.known_slots()]), (status, wanted, [counts]))


def event_details(place):
    world = pages.World(place, TWO_GIB)
    run = world.run([*BASE, "--batch-size", "4000", "--launches", "2"])
    seen = run.page.known_events()
    if not equal("raised: three events", len(seen), 3):
        return
    slot = run.page.known_slots()[0]
    free = 2048 * MIB - 300 * MIB - slot.devices[0].peak_bytes
    first, second, asked = seen
    equal("refused: bytes, device, who",
          [(e.bytes, e.device, e.pid, e.tid, e.launches)
           for e in (first, second)],
          [(20 * MIB, 0, slot.pid, slot.pid, 0)] * 2)
    check("refused: in the order of time",
          0 < first.ns <= second.ns <= asked.ns, run)
    check("asked: what is free, and the total",
          asked.free_bytes <= 20 * MIB and abs(asked.free_bytes - free) <
          2 * MIB and asked.total_bytes == 2048 * MIB, run)
    # One of the threads is refused again and again until the others are done,
    # more often than the ring has room for. All of them come to their end.
    many = world.run([*BASE, "--fixed-mib", "0", "--threads", "4", "--greedy",
                      "--thread-pairs", "10000", "--steps", "0"])
    equal("a program that is refused and goes on", many.status, 0)
    equal("the ring of events holds the last ones",
          [event.number for event in many.page.known_events()],
          [*range(1, many.page.header.event_count + 1)][-pages.EVENTS:])


def as_without(name, run, plain, *more):
    """The program did not notice."""
    return equal(name, (run.status, run.out, run.err, *more),
                 (plain.status, plain.out, plain.err, *(True for _ in more)))


def without_a_page(place):
    """Output and status are those without the library."""
    args = [*WORK, "--memory", "mixed"]
    bad = [*BASE, "--batch-size", "4000"]
    plain = {}
    for devices, words in ((ONE, args), (TWO_GIB, bad)):
        plain[devices] = pages.World(place, devices).run(words, hooked=False)
    equal("the plain runs", [r.status for r in plain.values()], [0, 1])

    whole = bytes(pages.OFFSET) + bytes(pages.empty_page())
    paths = {"missing": place.path("missing", "page")}
    for name, content, mode in [
        ("empty", b"", 0o600),
        ("too short", whole[:-1], 0o600),
        ("without its part", whole[:pages.OFFSET], 0o600),
        ("read-only", whole, 0o400),
        ("not to be read", whole, 0),
        ("zeros", bytes(len(whole)), 0o600),
        ("garbage", os.urandom(len(whole)), 0o600),
        ("of another version", whole[:pages.OFFSET + 8] + b"\2\0\0\0" +
         whole[pages.OFFSET + 12:], 0o600),
        # Only the header is right: every count and every state is absurd.
        ("garbage behind its header", whole[:pages.OFFSET + 24] +
         b"\xff" * (len(whole) - pages.OFFSET - 24), 0o600),
    ]:
        paths[name] = place.path(name.replace(" ", "-"))
        with open(paths[name], "wb") as file:
            file.write(content)
        os.chmod(paths[name], mode)
    paths["a folder"] = place.path()
    paths["a device"] = "/dev/null"
    paths["a pipe"] = place.path("pipe")
    os.mkfifo(paths["a pipe"])
    for name, path in paths.items():
        for devices, words in ((ONE, args), (TWO_GIB, bad)):
            run = pages.World(place, devices).run(words, path=path)
            as_without("page %s: as without the library, status %d" %
                       (name, plain[devices].status), run, plain[devices])
    run = pages.World(place, ONE).run(args)
    as_without("with a page: the same output", run, plain[ONE])


def switched_off(place):
    page = bytes(pages.empty_page())
    plain = pages.World(place, ONE).run(WORK, hooked=False)
    run = pages.World(place, ONE).run(WORK, env={"AUTOFIT_HOOK": "0"})
    as_without("AUTOFIT_HOOK=0: nothing is written", run, plain,
               bytes(run.page) == page)
    run = pages.World(place, ONE).run([*WORK, "--ask-nvml"])
    equal("who asked NVML is known", run.page.known_slots()[0].flags,
          pages.CUDA | pages.CONTEXT | pages.NVML)
    run = pages.World(place, ONE).run(WORK, env={"AUTOFIT_HOOK": "1"})
    check("AUTOFIT_HOOK=1: counted", is_clean(run) and
          run.page.devices[0].peak_bytes == pages.need(WORK)["need"], run)


def by_descriptor(place):
    for name, path in [("path missing", place.path("no", "page")),
                       ("path empty", "")]:
        file = place.path("by-descriptor")
        pages.write_page(file, pages.empty_page())
        with open(file, "r+b") as opened:
            run = pages.World(place, ONE).run(
                [*WORK, "--ranks", "2", "--one-device"], path=path,
                pass_fds=(opened.fileno(),),
                env={"AUTOFIT_CHANNEL_FD": str(opened.fileno())})
        run.page = pages.read_page(file)
        check("by descriptor, %s: counted" % name, is_clean(run, 2) and
              run.page.devices[0].peak_bytes == 2 * pages.need(WORK)["need"],
              run)
    plain = pages.World(place, ONE).run(WORK, hooked=False)
    for number in ("77", "-1", "x", "99999999999999999999", ""):
        run = pages.World(place, ONE).run(
            WORK, path="", env={"AUTOFIT_CHANNEL_FD": number})
        as_without("descriptor %r: as without the library" % number, run,
                   plain)


def no_slot_left(place):
    plain = pages.World(place, ONE).run(WORK, hooked=False)
    page = pages.empty_page()
    for slot in page.slots:  # all are this process's, which lives
        slot.pid, slot.start_time = os.getpid(), pages.start_time(os.getpid())
    page.header.slots_used = pages.SLOTS
    run = pages.World(place, ONE).run(WORK, page=page)
    as_without("all slots taken: as without the library", run, plain,
               run.page.devices[0].current_bytes == 0,
               any(s.flags & pages.CROWDED for s in run.page.slots))
    # One of a process that is gone: its slot and its bytes are free.
    gone = subprocess.Popen(["true"])
    born = pages.start_time(gone.pid)
    gone.wait()
    page.slots[9].pid, page.slots[9].start_time = gone.pid, born or 1
    run = pages.World(place, ONE).run(WORK, page=page)
    check("the slot of a dead process is taken", run.status == 0 and
          run.page.slots[9].pid not in (0, gone.pid) and
          run.page.devices[0].peak_bytes == pages.need(WORK)["need"], run)


def no_device_left(place):
    plain = pages.World(place, ONE).run(WORK, hooked=False)
    page = pages.empty_page()
    for number, device in enumerate(page.devices):
        device.uuid[:] = bytes([0xEE] * 15 + [number])
        device.state = pages.READY
    page.header.devices_used = pages.DEVICES
    run = pages.World(place, ONE).run(WORK, page=page)
    as_without("all devices taken: as without the library", run, plain,
               all(d.current_bytes == d.peak_bytes == 0
                   for d in run.page.devices),
               any(s.flags & pages.CROWDED for s in run.page.slots))


def main():
    with lib.Place("preload-paths") as place:
        for test in (
            literal_totals, access_paths, memory_kinds, left_at_exit,
            old_driver, several_ranks, fork_of_who_asked,
            ranks_that_die, killed_at_any_moment, forks_and_threads, events,
            event_details, without_a_page, switched_off, by_descriptor,
            no_slot_left, no_device_left,
        ):
            if len(sys.argv) < 2 or test.__name__ in sys.argv[1:]:
                test(place)
    lib.finish()


main()
