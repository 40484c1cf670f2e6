#!/usr/bin/env python3
# A capped card is as good as a small one: the program cannot tell.
# SPDX-License-Identifier: MIT
import os
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "helpers"))

import lib  # noqa: E402
import preload_page as pages  # noqa: E402
from lib import MIB, check, equal  # noqa: E402

GIB = 1024 * MIB
BIG = 140 * GIB
# A batch size of one costs 2 MiB, the granule of the device.
UNIT = ["--per-sample-kib", "2048", "--fixed-mib", "0", "--steps", "2",
        "--report", "--ask-nvml", "--access", "gpa2"]


def card(total, context, used=0):
    return "Sim:%d:%d:%d" % (total, used, context)


def both(place, cap, context, args, **how):
    """The same on a card of that size, and on a large one under the cap."""
    used = how.pop("used", 0)
    small = pages.World(place, card(cap, context)).run(args, **how)
    capped = pages.World(place, card(BIG, context, used)).run(
        args, page=pages.empty_page([(cap, used)]), **how)
    return small, capped


def same(title, small, capped):
    return equal(title, (capped.status, capped.out, capped.err),
                 (small.status, small.out, small.err))


def table(place):
    """Far too much, just too much, and enough, of every kind of memory."""
    sizes = [(1 * GIB, 300 * MIB), (8 * GIB, 256 * MIB), (24 * GIB, 0),
             (2 * GIB + 6 * MIB, 514 * MIB)]
    kinds = ["linear", "pitched", "virtual", "async", "pool", "array",
             "graph", "mixed"]
    rows = [(*sizes[0], kind, allocator) for kind in kinds
            for allocator in ("caching", "plain")]
    rows += [(*size, kind, "caching") for size in sizes[1:]
             for kind in ("linear", "mixed")]
    for cap, context, kind, allocator in rows:
        room = (cap - context) // (2 * MIB)
        for name, batch in (("enough", room // 3), ("too much", room * 2)):
            args = [*UNIT, "--memory", kind, "--allocator", allocator,
                    "--batch-size", str(batch)]
            small, capped = both(place, cap, context, args)
            title = "%d MiB, context %d MiB, %s, %s, %s" % (
                cap // MIB, context // MIB, kind, allocator, name)
            same(title, small, capped)
            equal(title + ": status", small.status, int(name != "enough"))
            slot = capped.page.known_slots()[0]
            equal(title + ": refused by the cap", slot.capped,
                  capped.numbers().get("refused"))


def exactly_at_the_cap(place):
    """The last granule is granted, and the next one is not."""
    for cap, context in [(1 * GIB, 300 * MIB), (24 * GIB, 514 * MIB)]:
        room = (cap - context) // (2 * MIB)
        for kind in ("linear", "pitched", "virtual", "array", "graph"):
            for more, status in ((0, 0), (1, 1)):
                args = [*UNIT, "--memory", kind, "--batch-size",
                        str(room + more)]
                small, capped = both(place, cap, context, args)
                title = "%d MiB, %s, %d granules %s" % (
                    cap // MIB, kind, room + more,
                    "fit" if not status else "do not")
                same(title, small, capped)
                equal(title + ": status", capped.status, status)
                if not status:
                    equal(title + ": tracked, free",
                          (capped.page.devices[0].peak_bytes,
                           capped.numbers().get("free"),
                           capped.page.devices[0].overhead_bytes),
                          (room * 2 * MIB, 0, context))


def what_is_told(place):
    """cuMemGetInfo, cuDeviceTotalMem and NVML tell of the same card."""
    cap, context = 8 * GIB, 300 * MIB
    for kind in ("linear", "mixed", "async"):
        args = [*UNIT, "--memory", kind, "--batch-size", "500"]
        small, capped = both(place, cap, context, args)
        seen = capped.numbers()
        nvml = capped.numbers("nvml")
        equal("%s: total" % kind,
              (seen.get("total"), seen.get("device_total"),
               nvml.get("total")), (cap, cap, cap))
        equal("%s: free, by both" % kind, seen.get("free"), nvml.get("free"))
        equal("%s: free, as on a small card" % kind, seen.get("free"),
              small.numbers().get("free"))
        equal("%s: used and free are all" % kind,
              nvml.get("used", 0) + nvml.get("free", 0), cap)


def others_on_the_card(place):
    cap, context = 4 * GIB, 300 * MIB
    room = (cap - context) // (2 * MIB)
    for more in (0, 1):
        small, capped = both(place, cap, context,
                             [*UNIT, "--batch-size", str(room + more)],
                             used=10 * GIB)
        same("10 GiB of others, %d granules" % (room + more), small, capped)
    # Less is there than the cap allows: the driver's own answer counts.
    run = pages.World(place, card(12 * GIB, context, 10 * GIB)).run(
        [*UNIT, "--batch-size", str(2 * room)],
        page=pages.empty_page([(cap, 10 * GIB)]))
    slot = run.page.known_slots()[0]
    equal("the card is full before the cap is reached",
          (run.status, slot.capped, slot.failed_device > 0,
           run.page.devices[0].peak_bytes <= 2 * GIB - context,
           run.numbers().get("free", GIB) < 20 * MIB,
           run.numbers().get("total")), (1, 0, True, True, True, cap))


def no_cap(place):
    args = [*UNIT, "--batch-size", "3000"]
    plain = pages.World(place, card(4 * GIB, 300 * MIB)).run(
        args, hooked=False)
    for name, cap in (("no cap", 0), ("a cap above the card", 64 * GIB)):
        run = pages.World(place, card(4 * GIB, 300 * MIB)).run(
            args, page=pages.empty_page([(cap, 0)]))
        same(name + ": as without the library", plain, run)
        equal(name + ": refused by nothing but the driver",
              [s.capped for s in run.page.known_slots()], [0])


def allocators(place):
    """Whoever goes by what is free or by the total gets a small card's."""
    cap, context = 8 * GIB, 300 * MIB
    for name, args, status in [
        ("a pool of 75%", ["--preallocate", "75", "--batch-size", "2000"], 0),
        ("a pool of 75%, too small",
         ["--preallocate", "75", "--batch-size", "4000"], 1),
        ("a pool of 99%", ["--preallocate", "99", "--batch-size", "20"], 1),
        ("expandable segments", ["--expandable", "--batch-size", "5000"], 1),
        ("expandable, enough", ["--expandable", "--batch-size", "3000"], 0),
        ("halved until it fits", ["--catch", "halve", "--batch-size",
                                  "20000"], 0),
        ("halved in silence", ["--catch", "quiet", "--batch-size", "20000"],
         0),
        ("no retry", ["--retry", "none", "--batch-size", "5000"], 1),
        ("a second context", ["--second-context", "--batch-size", "3795"],
         1),
        ("a second context, enough", ["--second-context", "--batch-size",
                                      "3700"], 0),
        ("a cache emptied for a spike", ["--batch-size", "1500",
                                         "--spike-mib", "4500",
                                         "--eval-every", "1", "--eval-kib",
                                         "3000000"], 0),
        ("old API, symbol by symbol", ["--access", "dlsym", "--batch-size",
                                       "5000"], 1),
        ("managed memory is not limited", ["--memory", "managed",
                                           "--batch-size", "5000"], 0),
    ]:
        small, capped = both(place, cap, context, [*UNIT, *args])
        same(name, small, capped)
        equal(name + ": status", small.status, status)


def two_ranks(place):
    """One cap for both, and a context for each."""
    cap, context = 2 * GIB, 300 * MIB
    room = (cap - 2 * context) // (2 * MIB) // 2
    args = ["--per-sample-kib", "2048", "--fixed-mib", "0", "--steps", "2",
            "--ranks", "2", "--one-device"]
    for more in (0, 1):
        small, capped = both(place, cap, context,
                             [*args, "--batch-size", str(room + more)])
        title = "two ranks, %d granules each" % (room + more)
        equal(title, (small.status, capped.status), (more, more))
        peak = capped.page.devices[0].peak_bytes
        check(title + ": the cap holds", peak <= 2 * room * 2 * MIB and
              (more or peak == 2 * room * 2 * MIB), capped)
        equal(title + ": nothing stays counted",
              capped.page.live_bytes(0), 0)
    # A rank that was killed makes room for the other.
    small, capped = both(
        place, cap, context,
        [*args, "--steps", "6", "--batch-size", str(room // 2), "--leak-kib",
         "200000", "--kill-rank", "1", "--kill-step", "2", "--survive",
         "--zombie"])
    same("two ranks, one is killed", small, capped)


def main():
    with lib.Place("preload-cap") as place:
        for test in (
            table, exactly_at_the_cap, what_is_told, others_on_the_card,
            no_cap, allocators, two_ranks,
        ):
            if len(sys.argv) < 2 or test.__name__ in sys.argv[1:]:
                test(place)
    lib.finish()


main()
