#!/usr/bin/env python3
# What ended a probe on a GPU is said as it was, in whatever way it came.
# SPDX-License-Identifier: MIT
# CTEST COST 60
"""A tuning per cause, on the simulated driver; the first probe is judged."""
import os
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import MIB, check, equal, holds, lacks  # noqa: E402

SIM = os.path.join(os.environ["BUILD"], "sim")
PROGRAM = os.path.join(SIM, "sim_trainer")
PYTHON = "/usr/bin/python3"
CARD = "Card:24G:300M:500M"
FITS = ("fits", "fits_barely")
FITTING = ("--fixed-mib", "4000", "--per-sample-kib", "200000")
TOO_LARGE = ("--fixed-mib", "4000", "--per-sample-kib", "9000000")


class Gpu(lib.Place):
    def __init__(self, fault="", card=CARD):
        super().__init__("verdicts")
        self.env.update(
            LD_LIBRARY_PATH=SIM,
            AUTOFIT_SIM_STATE=self.path("devices"),
            AUTOFIT_SIM_DEVICES=card,
        )
        if fault:
            self.env["AUTOFIT_SIM_FAULT"] = fault

    def tune(self, command, *options):
        return self.run(
            "tune", "--largest", "--allow-writes", self.folder, "--confirm-steps", "5",
            *options, "--", *command
        )  # fmt: skip


def program(*arguments, prefix=()):
    return [
        *prefix, PROGRAM, "--batch-size", "4", "--grad-accum", "4", "--steps",
        "30", "--step-ms", "15", "--launches", "20", *arguments
    ]  # fmt: skip


# name, fault, arguments, verdict of the first probe, patterns in its why
CAUSES = (
    ("PyTorch's message", "", TOO_LARGE, "oom_device",
     ["out of device memory", "the driver refused 20.0 MiB"]),
    ("a program that tries once, without a word", "",
     [*TOO_LARGE, "--allocator", "plain", "--retry", "none"], "oom_device",
     ["refused .* in cuMemAlloc"]),
    ("expandable segments", "",
     [*TOO_LARGE, "--expandable"], "oom_device", ["in cuMemCreate"]),
    ("the async allocator", "", [*TOO_LARGE, "--memory", "async"],
     "oom_device", []),
    ("no room for a context", "oom_context", FITTING, "oom_device",
     ["context|cuDevicePrimaryCtxRetain"]),
    ("in a launch", "oom_launch=3", FITTING, "oom_device", []),
    ("fragmented", "fail_from=30", FITTING, "oom_device",
     ["fragmented", "expandable_segments"]),
    ("pinned memory", "oom_host=1", [*FITTING, "--host-kib", "4096"],
     "oom_host", []),
    ("caught, and halved with a word", "", [*TOO_LARGE, "--catch", "halve"],
     "oom_device", []),
    ("caught without a word", "", [*TOO_LARGE, "--catch", "quiet"],
     "oom_device", ["caught by the command"]),
    ("the device is lost", "lost=40", FITTING, "failed", []),
    ("cuInit refuses", "", None, "failed", []),
    ("a retry that works", "fail_over=%d" % (20 * MIB - 1), FITTING,
     "fits_barely", ["retry while warming up"]),
    ("a retry at every step", "random=7,1",
     [*FITTING, "--spike-mib", "400", "--steps", "60"], "thrashes",
     ["freed and retried"]),
    # All its steps are seen while it gives back what it cached.
    ("a retry that takes long", "random=7,1",
     [*FITTING, "--spike-mib", "400", "--steps", "60", "--empty-ms", "60"],
     "thrashes", ["freed and retried"]),
    ("managed memory beyond the device", "",
     [*FITTING, "--memory", "managed", "--per-sample-kib", "9000000"],
     "thrashes", ["managed memory"]),
)  # fmt: skip


def causes():
    for name, fault, arguments, verdict, patterns in CAUSES:
        with Gpu(fault) as gpu:
            command = program(*(arguments or FITTING))
            if arguments is None:
                command = [
                    "env", "AUTOFIT_SIM_FAULT=init=803", *command
                ]  # fmt: skip
            # Without headroom nothing is stopped before it runs out.
            answer = gpu.tune(command, "--device", "cuda", "--headroom", "0")
        first = answer.probes[0] if answer.probes else {}
        equal(name + ": verdict", first.get("verdict"), verdict)
        holds(name + ": why", first.get("why") or "", *patterns)


def the_first_rank_is_named():
    with Gpu("fail_from=20,only_rank=1", ";".join([CARD] * 2)) as gpu:
        answer = gpu.tune(program(*FITTING, "--ranks", "2"))
    first = answer.probes[0]
    equal("a rank ran out", first["verdict"], "oom_device")
    equal("which", first["rank"], 1)


def what_polling_misses():
    with Gpu() as gpu:
        answer = gpu.tune(program(*FITTING, "--spike-mib", "6000"))
    need = (500 + 4000 + 6000) * MIB + 4 * 200000 * 1024
    peak = answer.probes[0]["peak_bytes"]
    check("a short spike is in the peak", abs(peak - need) < 24 * MIB,
          "%d wanted %d" % (peak, need))  # fmt: skip
    equal("seen exactly", answer.probes[0]["coverage"], "exact")


def the_end_beside_a_look():
    """What was listed before the end is no overhead of nothing after it.

    Ranks do not wait for one another, and the one may be between two steps
    whenever the other is in one: what their steps take is little. A look waits for
    the end of whoever holds its most, so contexts are there alone for a while first.
    """
    for name, processes, sample_kib, more in (
        ("one process", 1, 200000, ()),
        ("one of two", 2, 1000, ("--ranks", "2", "--one-device")),
    ):
        held = 4000 * MIB + 4 * sample_kib * 1024
        need = processes * (500 * MIB + held)
        more = ("--per-sample-kib", str(sample_kib), "--context-ms", "300", *more)
        with Gpu("nvml_outlives=%d" % held) as gpu:
            answer = gpu.tune(program(*FITTING, "--steps", "8", *more),
                              "--max-probes", "1")
        first = answer.probes[0]
        equal(name + " ends beside a look: verdict", first["verdict"], "fits")
        check(name + " ends beside a look: peak",
              abs(first["peak_bytes"] - need) < 32 * MIB, answer)


def coverage():
    with Gpu() as gpu:
        bypassed = gpu.tune(program(*FITTING, prefix=["env", "-u", "LD_PRELOAD"]))
        off = gpu.run(
            "tune", "--largest", "--allow-writes", gpu.folder, "--confirm-steps", "5",
            "--fresh", "--", *program(*FITTING), env={"AUTOFIT_HOOK": "0"},
        )  # fmt: skip
    for name, answer in (("bypassed", bypassed), ("switched off", off)):
        equal(name + ": it is tuned", answer.result["outcome"], "tuned")
        equal(name + ": and says how", answer.result["evidence"]["coverage"],
              "device-wide")  # fmt: skip
        holds(name + ": in words", answer.err, "sampled from outside")
        check(name + ": with more headroom",
              answer.result["evidence"]["headroom_bytes"] >= 1024 * MIB)


def a_pool():
    with Gpu() as gpu:
        answer = gpu.run("--allow-writes", gpu.folder, "--confirm-steps", "5",
                         "--", *program(*FITTING, "--preallocate", "75",
                                        "--sample-us", "20000"))
    equal("a pool: tuned", answer.result["outcome"], "tuned")
    equal("a pool: its need is not known",
          answer.result["evidence"]["peak_bytes"], None)  # fmt: skip
    holds("a pool: said so", answer.err, "divides a pool")


def the_gpu_is_not_used():
    with Gpu() as gpu:
        answer = gpu.tune(
            program("--ignore-gpu", "--host-mib", "60", "--per-sample-kib",
                    "2048", "--fixed-mib", "20"), "--memory", "400M"
        )  # fmt: skip
    equal("host memory it is", answer.result["device_kind"], "host")
    equal("and tuned", answer.result["outcome"], "tuned")


USUAL = """#!/bin/sh
echo "tip: after 'CUDA out of memory. Tried to allocate 2.00 GiB' lower the batch"
exec "$@"
"""


def a_line_that_is_always_there():
    with Gpu() as gpu:
        script = gpu.write("train.sh", USUAL, 0o755)
        answer = gpu.tune(program(*FITTING, prefix=[script]))
    equal("a usual line: tuned", answer.result and answer.result["outcome"],
          "tuned")  # fmt: skip
    check("a usual line: what fits fits",
          any(probe["verdict"] in FITS for probe in answer.probes), answer)


def words_do_not_excuse_refusals():
    """A tip in every output, and a batch that is halved without a word."""
    with Gpu() as gpu:
        script = gpu.write("train.sh", USUAL, 0o755)
        some = gpu.tune(program(*TOO_LARGE, "--catch", "quiet", prefix=[script]),
                        "--headroom", "0", "--device", "cuda")  # fmt: skip
        # Then one for which no size is small enough.
        none = gpu.tune(
            program(*FITTING, "--per-sample-kib", "22000000", "--catch",
                    "quiet", "--curve", "step", prefix=[script]),
            "--headroom", "0", "--device", "cuda",
        )  # fmt: skip
    fitting = {p["micro_batch"] for p in some.probes if p["verdict"] in FITS}
    equal("a tip and refusals: what fits", max(fitting, default=0), 2)
    equal("a tip and refusals: nothing fits", none.status, 120)
    equal("a tip and refusals: no size is asked again",
          {probe["verdict"] for probe in none.probes}, {"oom_device"})  # fmt: skip


def no_room_for_a_context():
    with Gpu("oom_context") as gpu:
        answer = gpu.tune(program(*FITTING))
    equal("no context: a GPU's misfit", answer.result["device_kind"], "cuda")
    equal("no context: nothing fits", answer.status, 120)
    # Without the library, and without NVML, there are only its words.
    with Gpu("oom_context,nvml=missing") as gpu:
        answer = gpu.tune(program(*FITTING, prefix=["env", "-u", "LD_PRELOAD"]))
    equal("no context, by its words", answer.result["device_kind"], "cuda")


def without_nvml():
    with Gpu("nvml=missing") as gpu:
        answer = gpu.tune(program(*FITTING, "--spike-mib", "6000"), "--device",
                          "cuda", "--memory", "16G")  # fmt: skip
    # 300 of others are in it: nobody can tell them apart.
    need = (300 + 500 + 4000 + 6000) * MIB + 4 * 200000 * 1024
    peak = answer.probes[0]["peak_bytes"]
    check("without NVML: the context is in the peak of a capped probe",
          abs(peak - need) < 24 * MIB, "%d wanted %d" % (peak, need))  # fmt: skip
    equal("without NVML: not exact", answer.probes[0]["coverage"], "device-wide")
    holds("without NVML: said so", answer.err, "NVML is not there")


# The second starts when the first, which is bypassed, has made a step.
BOTH = (
    'rm -f ready; mkfifo ready; env -u LD_PRELOAD "$0" "$@" | '
    '{ read -r _; : >ready; cat; } & : <ready; "$0" "$@"; wait'
)
FIRST = (
    '"$0" --steps 1 --launches 20 --fixed-mib 10; '
    'exec env -u LD_PRELOAD "$0" "$@"'
)


def some_are_bypassed():
    with Gpu("nvml=hidden") as gpu:
        answer = gpu.tune(
            program("--fixed-mib", "2000", "--per-sample-kib", "100000",
                    prefix=["sh", "-c", BOTH]), "--device", "cuda"
        )  # fmt: skip
    check("one of two bypassed, and NVML hides both: never exact",
          all(probe["coverage"] == "device-wide" for probe in answer.probes
              if probe["verdict"] in FITS), answer)  # fmt: skip
    with Gpu() as gpu:
        answer = gpu.tune(
            program(*FITTING, "--steps", "3000",
                    prefix=["sh", "-c", FIRST]), "--device", "cuda"
        )  # fmt: skip
    equal("kernels of another process: steps are counted",
          {probe["verdict"] in FITS and probe["seconds"] < 20
           for probe in answer.probes[:2]}, {True})  # fmt: skip


def a_tenant_moves_between_probes():
    with Gpu("tenant_grows=4G@100") as gpu:
        answer = gpu.tune(program(*FITTING), "--device", "cuda", "--shared")
    second = answer.probes[1]
    need = (500 + 4000) * MIB + second["micro_batch"] * 200000 * 1024
    check("a tenant moved: its bytes are not the next probe's",
          abs(second["peak_bytes"] - need) < 24 * MIB,
          "%d wanted %d" % (second["peak_bytes"], need))  # fmt: skip
    check("a tenant moved: the share is less",
          answer.result["devices"][0]["budget_bytes"] < 18000 * MIB)
    holds("a tenant moved: said so", answer.err, "others on the GPU moved")


def a_check_that_sees_less():
    """A near record: its sizes are those of how exactly it was seen."""
    with Gpu() as gpu:
        answers = []
        for prefix in ("env", "env -u LD_PRELOAD", "env"):
            script = gpu.write(
                "train.sh", "#!/bin/sh\n# %d\nexec %s \"$@\"\n"
                % (len(answers), prefix), 0o755
            )  # fmt: skip
            answers.append(gpu.tune(program(*FITTING, prefix=[script]),
                                    "--device", "cuda"))  # fmt: skip
    exact, outside, again = [answer.result for answer in answers]
    equal("a check that sees less: tuned anew", outside["outcome"], "tuned")
    check("a check that sees less: a smaller largest size",
          outside["largest_micro_batch"] < exact["largest_micro_batch"], outside)
    check("a check that sees less: said so", outside["caveats"], outside)
    equal("a check that sees more: holds", again["outcome"], "reused")
    equal("a check that sees more: exact", again["evidence"]["coverage"],
          "exact")  # fmt: skip
    equal("a check that sees more: no caveat is left", again["caveats"], [])


REFUSES = """#!/bin/sh
[ -z "$LD_PRELOAD" ] && exec "$@"
echo "==7==ASan runtime does not come first in initial library list; you" \\
    "should either link runtime to your application or manually preload it" \\
    "with LD_PRELOAD." >&2
exit 1
"""


def a_program_that_takes_no_preload():
    with Gpu() as gpu:
        script = gpu.write("train.sh", REFUSES, 0o755)
        answer = gpu.tune(program(*FITTING, prefix=[script]), "--device", "cuda")
    equal("takes no preload: tuned without it",
          answer.result and answer.result["outcome"], "tuned")  # fmt: skip
    equal("takes no preload: the first failed", answer.probes[0]["verdict"],
          "failed")  # fmt: skip
    equal("takes no preload: and says how it saw",
          answer.result["evidence"]["coverage"], "device-wide")  # fmt: skip


EVALUATION = """
import sys, torch
micro = int(sys.argv[sys.argv.index("--batch-size") + 1])
model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(2):
    model(torch.zeros(micro, 8)).sum().backward()
    optimizer.step()
model.eval()
raise RuntimeError(
    "[enforce fail at alloc_cpu.cpp:66] . DefaultCPUAllocator: can't allocate "
    "memory: you tried to allocate 1099511627776 bytes. Error code 12 (Cannot "
    "allocate memory)")
"""


def evaluation():
    with Gpu() as gpu:
        script = gpu.write("train.py", EVALUATION)
        answer = gpu.tune([
            PYTHON, script, "--batch-size", "8", "--grad-accum", "2",
            "--eval_batch_size", "64"
        ], "--device", "host", "--memory", "2G")  # fmt: skip
    equal("evaluation: the phase",
          {probe["phase"] for probe in answer.probes}, {"eval"})  # fmt: skip
    equal("evaluation: two probes tell", len(answer.probes), 2)
    holds("evaluation: whose flag", answer.err, "evaluation",
          "lower --eval_batch_size")  # fmt: skip


def a_typo_is_not_memory():
    """Refusals that were survived, and then another error."""
    with Gpu("fail_over=%d" % (20 * MIB - 1)) as gpu:
        script = gpu.write(
            "train.sh", '#!/bin/sh\n"$@" --steps 2 || exit\necho "NameError: typo" >&2\n'
            "exit 1\n", 0o755
        )  # fmt: skip
        answer = gpu.tune(program(*FITTING, prefix=[script]))
    equal("a typo: failed", answer.probes[0]["verdict"], "failed")
    lacks("a typo: no word of memory", answer.probes[0]["why"], "memory")


causes()
the_first_rank_is_named()
what_polling_misses()
the_end_beside_a_look()
coverage()
a_pool()
the_gpu_is_not_used()
a_line_that_is_always_there()
words_do_not_excuse_refusals()
no_room_for_a_context()
without_nvml()
some_are_bypassed()
a_tenant_moves_between_probes()
a_check_that_sees_less()
a_program_that_takes_no_preload()
evaluation()
a_typo_is_not_memory()
lib.finish()
