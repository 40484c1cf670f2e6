#!/usr/bin/env python3
# Whatever the machine: one card is tuned for, reused and launched on.
# SPDX-License-Identifier: MIT
# CTEST COST 90
"""Made machines: the driver's cards, what /proc lists of them, who is there.

The simulated driver and NVML say what CUDA sees. A folder that is mounted over
/proc/driver in a namespace of its own says what the kernel driver lists: cards
in the order of their bus, also those that are not let through to here. Without
such mounts only machines that list nothing are tried.

AUTOFIT_NIGHTLY=1 makes 200 machines by chance instead of a dozen, some of which
have a driver or an NVML that never answers; SEED=N makes that one alone.
"""
import os
import random
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import MIB, check, equal, holds, lacks  # noqa: E402

SIM = os.path.join(os.environ["BUILD"], "sim")
TRAINER = os.path.join(SIM, "sim_trainer")
NIGHTLY = os.environ.get("AUTOFIT_NIGHTLY") == "1"
MACHINES = 200 if NIGHTLY else 12
GIB = 1 << 30
# The whole list of a driver that is as slow as this one is still awaited.
SLOW = "init_ms=300"
MOUNT = 'mount --bind "$1" /proc/driver && shift && exec "$@"'
UNSHARE = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", MOUNT,
           "sh"]  # fmt: skip


uuid = lib.sim_uuid


def can_mount():
    done = subprocess.run([*UNSHARE, SIM, "true"], capture_output=True,
                          check=False)  # fmt: skip
    return done.returncode == 0


MOUNTS = can_mount()


class Card:
    def __init__(self, name, gib, base=100 * MIB):
        self.name, self.bytes, self.base = name, gib * GIB, base

    @property
    def free(self):
        return self.bytes - self.base

    def __str__(self):
        return "%s:%d:%d:200M" % (self.name, self.bytes, self.base)


class Machine(lib.Place):
    """cards: as CUDA counts them; listed: (name, UUID) as /proc does, or None.
    """

    def __init__(self, cards, listed=None, visible=None, fault=""):
        super().__init__("machine")
        self.cards, self.machines = cards, 0
        self.seen = self.path("seen")
        self.env.update(LD_LIBRARY_PATH=SIM, AUTOFIT_SIM_FAULT=fault)
        self.set_cards(cards)
        if visible is not None:
            self.env["CUDA_VISIBLE_DEVICES"] = visible
        if listed is not None:
            for bus, (name, card) in enumerate(listed):
                self.write(
                    "driver/nvidia/gpus/0000:%02x:00.0/information" % (bus + 1),
                    "Model: \t\t %s\nIRQ:   \t\t 16\nGPU UUID: \t %s\n"
                    % (name, card),
                )
            if "mig" in fault.split(","):
                self.write("driver/nvidia/capabilities/gpu0/mig/gi1/access", "")
            self.prefix = [*UNSHARE, self.path("driver")]
        self.command = self.write(
            "train.sh",
            '#!/bin/sh\necho "${AUTOFIT_PROBE:+probe} $CUDA_VISIBLE_DEVICES" '
            '>>"%s"\n[ -n "$AUTOFIT_PROBE" ] || exit 0\nexec "%s" "$@"\n'
            % (self.seen, TRAINER),
            0o755,
        )

    def set_cards(self, cards):
        self.cards = cards
        self.env["AUTOFIT_SIM_DEVICES"] = ";".join(str(c) for c in cards)
        # Made by whoever comes first, then fixed.
        self.machines += 1
        self.env["AUTOFIT_SIM_STATE"] = self.path("devices%d" % self.machines)

    def launch(self, *options, ranks=1):
        return self.run(
            "--allow-writes", self.folder, "--confirm-steps", "3", *options,
            "--", self.command, "--ranks", str(ranks), "--batch-size", "4", "--grad-accum", "2", "--steps", "30",
            "--step-ms", "5", "--fixed-mib", "1000", "--per-sample-kib",
            "100000")  # fmt: skip

    def starts(self):
        """(is a probe, the card it was on) of each start so far."""
        try:
            with open(self.seen, encoding="utf-8") as file:
                lines = file.read().splitlines()
        except OSError:
            return []
        return [(line.startswith("probe "), self.card_of(line.split(" ", 1)[1]))
                for line in lines]  # fmt: skip

    def card_of(self, words):
        """The number of the first card that CUDA shows a program; None."""
        first = words.split(",")[0]
        if not words:
            first = "0" if "CUDA_VISIBLE_DEVICES" not in self.env else ""
        if first.isdigit():
            return int(first) if int(first) < len(self.cards) else None
        kind = "MIG" if "mig" in self.env["AUTOFIT_SIM_FAULT"] else "GPU"
        found = [n for n in range(len(self.cards))
                 if first and uuid(n, kind).startswith(first)]  # fmt: skip
        return found[0] if found else None


def all_on(machine, card):
    """Every probe and every run so far was on this card."""
    return machine.starts() and all(c == card for _, c in machine.starts())


def reused_on(name, machine, card, *options):
    """Tuned and started, then started again by the record."""
    first = machine.launch(*options)
    equal(name + ": tuned", first.result and first.result["outcome"], "tuned")
    count = len(machine.starts())
    second = machine.launch(*options)
    equal(name + ": reused", second.result and second.result["outcome"],
          "reused")  # fmt: skip
    equal(name + ": one start", len(machine.starts()), count + 1)
    check(name + ": all on one card", all_on(machine, card),
          "%s\n%s" % (machine.starts(), second))  # fmt: skip


def mixed_cards():
    """The faster card is CUDA's first, on the later bus."""
    cards = [Card("RTX 4090", 24), Card("GTX 1080 Ti", 11)]
    listed = [("GTX 1080 Ti", uuid(1)), ("RTX 4090", uuid(0))]
    with Machine(cards, listed) as machine:
        reused_on("mixed cards", machine, 0, "--device", "cuda:0")
        other = machine.launch("--device", "cuda:1")
        check("mixed cards: a record is of its own model",
              other.result["outcome"] != "reused" or
              other.result["record"]["grade"] != "exact", other)  # fmt: skip


def a_card_of_a_container():
    """One of three is let through; /proc lists them all."""
    listed = [("A100", uuid(n)) for n in (0x70, 0x71, 0)]
    with Machine([Card("A100", 40)], listed) as machine:
        reused_on("container", machine, 0, "--device", "cuda:0")
        torchrun = machine.write("torchrun", "#!/bin/sh\n", 0o755)
        told = machine.run("explain", "--", torchrun, "--nproc-per-node=gpu",
                           machine.command, "--batch-size", "4")  # fmt: skip
        equal("container: ranks are the cards it has",
              told.result["plan"]["world_size"], 1)  # fmt: skip


def nothing_in_proc():
    """WSL, a Jetson: the second card is the user's first."""
    cards = [Card("RTX A", 24), Card("RTX A", 24)]
    for words in ("1", "1,0", uuid(1)):
        with Machine(cards, visible=words) as machine:
            reused_on("CUDA_VISIBLE_DEVICES=%s" % words, machine, 1,
                      "--device", "cuda:0")  # fmt: skip
    with Machine(cards, visible="1,0") as machine:
        reused_on("the second word", machine, 0, "--device", "cuda:1")


def a_slice():
    with Machine([Card("A100 MIG 3g.20gb", 20)] * 2, visible=uuid(1, "MIG"),
                 fault="mig") as machine:  # fmt: skip
        reused_on("a slice", machine, 1, "--device", "cuda:0")


def a_card_that_is_gone():
    cards = [Card("RTX A", 24), Card("RTX A", 24)]
    with Machine(cards) as machine:
        machine.launch("--device", "cuda:1")
        count = len(machine.starts())
        machine.set_cards(cards[:1])
        answer = machine.launch("--device", "cuda:1")
        equal("gone: refused", answer.status, 125)
        holds("gone: in words", answer.err, "no such GPU")
        equal("gone: nothing is started", len(machine.starts()), count)


def cards_that_changed_places():
    cards = [Card("RTX A", 24), Card("RTX B", 12)]
    with Machine(cards) as machine:
        machine.launch("--device", "cuda:0")
        machine.set_cards(cards[::-1])
        answer = machine.launch("--device", "cuda:0")
        check("renumbered: not by the record of another model",
              answer.result["outcome"] != "reused", answer)  # fmt: skip


def a_full_card_beside():
    """Only what the command uses bounds it, and what bounds it is named."""
    cards = [Card("RTX A", 24), Card("RTX A", 24, 20 * GIB)]
    # A display may hold any part of what is used.
    with Machine(cards, fault="display=1") as machine:
        answer = machine.launch("--largest")
        check("an unused card bounds nothing",
              (answer.result["largest_micro_batch"] or 0) > 100,
              answer)  # fmt: skip
        lacks("an unused card is not named", answer.err, "bounds the budget")
        ranks = machine.launch("--fresh", ranks=2)
        equal("a card in use bounds", ranks.result["devices"][1]["budget_bytes"],
              cards[1].free)  # fmt: skip
        holds("a card in use is named", ranks.err,
              "GPU 1 .RTX A. bounds the budget")  # fmt: skip


def a_command_that_chooses_itself():
    """What it chooses nobody looked at: who is there, what is free."""
    with Machine([Card("RTX A", 24)] * 2, visible="0") as machine:
        machine.command = machine.write(
            "own.sh", '#!/bin/sh\nexport CUDA_VISIBLE_DEVICES=1\nexec "%s" "$@"\n'
            % TRAINER, 0o755)  # fmt: skip
        answer = machine.launch()
        equal("a card of its own choice: refused", answer.status, 121)
        holds("a card of its own choice: which", answer.err,
              "went to %s by itself" % uuid(1))  # fmt: skip


# Of NVML or the driver; each is waited for, so that few have them by day.
FAULTS = ["", "nvml=missing", "nvml=old", "nvml=wide", "nvml=hidden",
          "reserved=561M", SLOW, "nvml_ms=30", "nvml_ms=150"]  # fmt: skip
HANGS = ["hang", "nvml=hang", "nvml_hang_after=1", "nvml_hang_after=5"]
# Whose bytes are not known is a tenant, a small one is not.
TENANTS = ("tenant_bytes=2G", "tenant_bytes=200M", "")


def cards_by_chance(chance):
    models = [Card("Model %d" % n, chance.choice((4, 8, 24)))
              for n in range(chance.randint(1, 2))]  # fmt: skip
    cards = []
    for _ in range(chance.randint(1, 8)):
        model = chance.choice(models)
        cards.append(Card(model.name, model.bytes // GIB,
                          chance.choice((0, 100, 400, 3000)) * MIB))  # fmt: skip
    return cards


class Chance:
    """A machine by a seed: what is told of it, and what is true."""

    def __init__(self, seed):
        chance = random.Random(seed)
        self.name = "seed %d" % seed
        self.cards = cards_by_chance(chance)
        self.fault = [chance.choice(FAULTS)]
        if NIGHTLY and chance.random() < 0.15:
            self.fault = [chance.choice(HANGS)]
        self.is_mig = chance.random() < 0.2
        if self.is_mig:
            self.fault.append("mig")
        self.listed = self.listed_by(chance)
        self.visible = None
        if chance.random() < 0.6:
            words = chance.sample(range(len(self.cards)),
                                  chance.randint(1, len(self.cards)))  # fmt: skip
            kind = "MIG" if self.is_mig else "GPU"
            self.visible = ",".join(
                chance.choice((str(n), uuid(n, kind))) for n in words)  # fmt: skip
        self.tenant_on, self.tenant = None, ""
        if chance.random() < 0.4 and self.nvml_tells():
            self.tenant_on = chance.randrange(len(self.cards))
            self.tenant = chance.choice(TENANTS)
            self.fault += ["tenant=%d" % os.getpid(), self.tenant,
                           "tenant_on=%d" % self.tenant_on]  # fmt: skip
        self.fault = ",".join(word for word in self.fault if word)
        shown = (range(len(self.cards)) if self.visible is None
                 else self.visible.split(","))  # fmt: skip
        self.index = chance.randrange(len(shown))
        self.word = str(shown[self.index])

    def listed_by(self, chance):
        """What /proc has: the cards, by bus; also those of others."""
        if not MOUNTS or chance.random() >= 0.7:
            return None
        listed = [(c.name, uuid(n)) for n, c in enumerate(self.cards)]
        if chance.random() < 0.4:
            listed += [(self.cards[0].name, uuid(n)) for n in (0x80, 0x81)]
        chance.shuffle(listed)
        return listed

    def nvml_tells(self):
        return not any(word in ("nvml=hidden", "nvml=missing") or "hang" in word
                       for word in self.fault)  # fmt: skip

    def is_taken(self, card):
        """By somebody who is listed, or by nobody who is."""
        listed = card == self.tenant_on and self.tenant != "tenant_bytes=200M"
        return listed or self.cards[card].base > 1500 * MIB

    def story(self, card):
        return "%s: %s, listed %s, visible %s, %s, cuda:%d is %d" % (
            self.name, [str(c) for c in self.cards], self.listed, self.visible,
            self.fault, self.index, card)  # fmt: skip


def by_chance(seed):
    """Where it is not refused, one card is used, within what it has free."""
    made = Chance(seed)
    name = made.name
    options = ["--device", "cuda:%d" % made.index]
    with Machine(made.cards, made.listed, made.visible, made.fault) as machine:
        card = machine.card_of(made.word)
        story = made.story(card)
        if "hang" in made.fault.split(","):
            first = machine.launch("--time-limit", "2s", *options)
            equal(name + ": no driver, no answer", first.status, 124)
            holds(name + ": what is awaited", first.err, "the NVIDIA driver")
            equal(name + ": nothing was started", machine.starts(), [])
            return
        first = machine.launch(*options)
        if made.is_taken(card):
            equal(name + ": an occupied card is left alone", first.status, 123)
            holds(name + ": why", first.err, "--shared")
            equal(name + ": nothing was started", machine.starts(), [])
            return
        if not check(name + ": tuned", first.result and
                     first.result["outcome"] == "tuned",
                     story + "\n%s" % first):  # fmt: skip
            return
        budget = first.result["devices"][0]["budget_bytes"]
        check(name + ": within what is free", budget <= made.cards[card].free,
              story)  # fmt: skip
        second = machine.launch(*options)
        equal(name + ": reused", second.result["outcome"], "reused")
        check(name + ": all on one card", all_on(machine, card),
              "%s\n%s" % (story, machine.starts()))  # fmt: skip


if os.environ.get("SEED"):
    by_chance(int(os.environ["SEED"]))
    lib.finish()
nothing_in_proc()
a_slice()
a_card_that_is_gone()
cards_that_changed_places()
a_full_card_beside()
a_command_that_chooses_itself()
if MOUNTS:
    mixed_cards()
    a_card_of_a_container()
for number in range(MACHINES):
    by_chance(number)
lib.finish()
