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


def less_than_a_granule(place):
    """The driver gives out whole granules, also where less is asked for."""
    cap, context = 1025 * MIB, 300 * MIB  # the last MiB is of no use
    args = [word.replace("2048", "512") for word in UNIT]
    for batch, status in ((1448, 0), (1449, 1)):
        small, capped = both(place, cap, context,
                             [*args, "--batch-size", str(batch)])
        title = "%d x 512 KiB of %d MiB" % (batch, (cap - context) // MIB)
        same(title, small, capped)
        equal(title + ": status", small.status, status)
    # 200 allocations of 10 KiB are 400 MiB for the driver.
    for steps, status in ((200, 0), (400, 1)):
        small, capped = both(place, cap, context,
                             ["--batch-size", "0", "--fixed-mib", "0",
                              "--leak-kib", "10", "--report", "--steps",
                              str(steps)])
        same("%d x 10 KiB" % steps, small, capped)
        equal("%d x 10 KiB: status" % steps, small.status, status)


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
        ("a second context", ["--second-context", "--batch-size", "3797"],
         1),
        ("a second context, enough", ["--second-context", "--batch-size",
                                      "3796"], 0),
        ("a cache emptied for a spike", ["--batch-size", "1500",
                                         "--spike-mib", "4500",
                                         "--eval-every", "1", "--eval-kib",
                                         "3000000"], 0),
        ("symbol by symbol", ["--access", "dlsym", "--batch-size", "5000"],
         1),
        ("cuGetProcAddress", ["--access", "gpa", "--batch-size", "5000"], 1),
        ("managed memory is not limited", ["--memory", "managed",
                                           "--batch-size", "5000"], 0),
    ]:
        small, capped = both(place, cap, context, [*UNIT, *args])
        same(name, small, capped)
        equal(name + ": status", small.status, status)


def ways(place):
    """Other programs and another driver, under the same cap."""
    cap, context = 8 * GIB, 300 * MIB
    for name, access, how in [
        ("linked with -lcuda", "link", {"linked": True}),
        ("a driver of the old API", "dlsym", {"old": True}),
    ]:
        for batch, status in ((3946, 0), (3947, 1)):
            small, capped = both(
                place, cap, context,
                [*UNIT[:-4], "--report", "--access", access, "--batch-size",
                 str(batch)], **how)
            same("%s, %d granules" % (name, batch), small, capped)
            equal("%s, %d granules: status" % (name, batch), small.status,
                  status)


def code_is_charged(place):
    """What the driver takes for code counts, as on a small card."""
    cap = 2 * GIB
    words = "%d:0:300M:module=64M:grow=32M@4"
    args = [*UNIT, "--batch-size", "100", "--launches", "3", "--steps", "40",
            "--leak-kib", "61440"]
    small = pages.World(place, "Sim:" + words % cap).run(args)
    capped = pages.World(place, "Sim:" + words % BIG).run(
        args, page=pages.empty_page([(cap, 0)]))
    same("code, and more of it later", small, capped)
    equal("code: the last step does not fit", small.status, 1)


def side_by_side(place):
    """Who asks for too much takes nothing from who asks for little."""
    cap, context = 8 * GIB, 300 * MIB
    args = ["--fixed-mib", "0", "--steps", "0", "--threads", "3",
            "--thread-pairs", "20000", "--thread-kib", "2048", "--greedy"]
    small, capped = both(place, cap, context, args)
    same("one thread is refused, three are not", small, capped)
    equal("all of them were granted",
          [(s.allocations, s.frees, s.recovered)
           for s in capped.page.known_slots()], [(60000, 60000, 0)])


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
    # A rank that was killed makes room for the other: with what both held,
    # the last steps of the one that goes on would not fit.
    args = ["--per-sample-kib", "2048", "--batch-size", "81", "--fixed-mib",
            "400", "--leak-kib", "204800", "--allocator", "plain", "--steps",
            "6", "--ranks", "2", "--one-device", "--kill-rank", "1",
            "--kill-step", "2", "--survive"]
    for name, more in (("reaped", []), ("a zombie", ["--zombie"])):
        small, capped = both(place, cap, context, [*args, *more])
        same("two ranks, one is killed, %s" % name, small, capped)
        equal("the other goes on, %s" % name,
              (capped.status, capped.page.devices[0].peak_bytes),
              (0, (400 + 6 * 200) * MIB))


def main():
    with lib.Place("preload-cap") as place:
        for test in (
            table, exactly_at_the_cap, less_than_a_granule,
            what_is_told, others_on_the_card,
            no_cap, allocators, ways,
            code_is_charged, side_by_side, two_ranks,
        ):
            if len(sys.argv) < 2 or test.__name__ in sys.argv[1:]:
                test(place)
    lib.finish()


main()
