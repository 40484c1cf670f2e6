# The checks of gpu-check; order.py says which comes first.
# SPDX-License-Identifier: MIT
import json
import os
import sys
import tempfile

import figures
import page
import report
import session
from figures import GIB, percent_text, size_text
from report import FAIL, MEASURED, PASS, Outcome
from session import Child, Fault, Skip

ERROR_MAX = 0.01
COST_MAX = 0.01
COST_PAIRS = 3
EFFECTIVE = 256
TUNE_SECONDS = 110
DIRECT_SECONDS = 40
DIRECT_STEPS = 4
OUT_OF_TIME = 124  # autofit's exit code for it


class Check:
    """One function that gives outcomes; alone: nothing else runs meanwhile."""

    def __init__(self, name, function, limit, needs, alone):
        self.name = name
        self.function = function
        self.limit = limit
        self.needs = needs  # seconds without which it is not begun
        self.alone = alone


CHECKS = []


def check(name, limit=60, needs=20, alone=False):
    def note(function):
        CHECKS.append(Check(name, function, limit, needs, alone))
        return function

    return note


def judged(good):
    return PASS if good else FAIL


def reconciled(early, late):
    """(words, good): good is None where NVML could not tell."""
    found = figures.reconcile(early, late)
    if found is None:
        return "NVML does not tell this process's bytes", None
    return (
        "overhead %s, then %s: predicted %s, error %s" % (
            size_text(found["overhead"]), size_text(found["late_overhead"]),
            size_text(found["predicted"]), percent_text(found["error"])),
        found["error"] < ERROR_MAX,
    )


# ------------------------------------------------- what stands at the start


@check("machine", alone=True)
def machine(context):
    """First of all: does NVML name processes as we do?"""
    with Child.work(context, "driver", "machine") as child:
        facts = child.meet("machine")
        try:
            context.by_process = bool(
                context.nvml and child.pid in context.nvml.processes())
        except session.nvml.NvmlError:
            context.by_process = False
    good = facts["maps_libcuda"] and facts["maps_preload"] and facts["memfd"]
    yield Outcome(
        "machine", "the page, /proc/PID/maps and memfd work here",
        "libcuda and the library in maps, memfd there",
        "%s; libcuda %s, library %s, memfd %s; NVML lists processes by our "
        "pids: %s" % (
            facts["system"], facts["maps_libcuda"], facts["maps_preload"],
            facts["memfd"], "yes" if context.by_process else "no"),
        judged(good))


@check("self-test", alone=True)
def self_test(context):
    """What users run themselves: each of its findings is one here."""
    path = os.path.join(context.scratch, "check.json")
    status, _, errors = session.run_autofit(
        context, ["devices", "--check", "--json", path], 60)
    if not os.path.exists(path):
        raise Fault("it ended with %d: %s" % (status, figures.tail(errors)))
    with open(path, encoding="utf-8") as file:
        found = json.load(file)["findings"]
    for number, each in enumerate(found):
        yield Outcome(
            "self-test-%d-%s" % (number, each["name"]),
            "autofit devices --check", "not bad", each["text"],
            judged(each["state"] != "bad"))


@check("hello")
def hello(context):
    with Child.work(context, "torch_memory", "hello", limit=120) as child:
        seen = child.meet("hello")
        errors = child.errors()
    slot = seen["page"].slot(child.pid) or {"flags": 0}
    used = page.CUDA | page.CONTEXT
    good = (slot["flags"] & used == used and
            seen["tracked"] == seen["reserved"] and
            "ld.so" not in errors)
    context_bytes = (None if seen["outside"] is None
                     else seen["outside"] - seen["tracked"])
    yield Outcome(
        "hello", "torch.ones(1).cuda() with the library loaded",
        "it works; tracked = memory_reserved",
        "tracked %s, reserved %s; NVML less tracked (context): %s" % (
            size_text(seen["tracked"]), size_text(seen["reserved"]),
            size_text(context_bytes)),
        judged(good), figures.tail(errors) if not good else "",
        {"context_bytes": context_bytes})


@check("first-lookup")
def first_lookup(context):
    found = []
    for preload in (False, True):
        with Child.work(context, "driver", "first", preload=preload) as child:
            facts = child.meet("first")
            found.append((facts["status"], facts["has_address"]))
    yield Outcome(
        "first-lookup", 'cuGetProcAddress_v2("", version 0) before cuInit',
        "the same with the library and without",
        "status %d, address %s; with the library status %d, address %s" %
        (found[0] + found[1]), judged(found[0] == found[1]))


@check("addresses")
def addresses(context):
    with Child.work(context, "driver", "addresses", preload=False) as child:
        plain = child.meet("addresses")["rows"]
    with Child.work(context, "driver", "addresses") as child:
        hooked = child.meet("addresses")["rows"]
    same = [row["name"] for row in plain if row["same"]]
    other = [row["name"] for row in plain if not row["same"]]
    yield Outcome(
        "addresses", "cuGetProcAddress gives dlsym's address of the name",
        "", "the same for %d of %d names%s" % (
            len(same), len(plain),
            "" if not other else "; not for " + ", ".join(other)),
        MEASURED, details={"rows": plain})
    library = os.path.basename(context.preload)
    missed = [row["name"] for row in hooked if not row["status"] and
              {row["by_lookup"], row["by_name"]} != {library}]
    yield Outcome(
        "addresses-hooked", "both ways lead to the library when it is loaded",
        "all of %d names" % len(hooked),
        "all" if not missed else "not " + ", ".join(missed),
        judged(not missed), details={"rows": hooked})


# ---------------------------------------------------- tracked bytes, overhead


@check("tracked-reserved", limit=90)
def tracked_reserved(context):
    rows = []
    with Child.work(context, "torch_memory", "elementwise") as child:
        for name in ("first", "taken", "cached", "emptied", "again"):
            seen = child.meet(name)
            rows.append((name, seen["tracked"], seen["reserved"]))
            child.go()
    wrong = [row for row in rows if row[1] != row[2]]
    yield Outcome(
        "tracked-reserved",
        "tracked bytes in a program without cuBLAS, cuDNN, NCCL",
        "equal to torch.cuda.memory_reserved() at every look",
        "; ".join("%s %d = %d" % row if row[1] == row[2] else "%s %d, not %d" %
                  row for row in rows), judged(not wrong))


def beside(seen):
    """What others than PyTorch's allocator hold, of what is tracked."""
    return seen["tracked"] - seen["reserved"]


@check("transformer", limit=120)
def transformer(context):
    steps = {}
    with Child.work(context, "torch_memory", "transformer", limit=120) as child:
        built = child.meet("built")
        child.go()
        product = child.meet("product")
        child.go()
        for _ in range(5):
            seen = child.meet("step")
            steps[seen["step"]] = seen
            child.go()
    last = max(steps)
    after = [beside(steps[step]) for step in steps if step >= 3]
    constant = len(set(after)) == 1
    yield Outcome(
        "tracked-transformer", "tracked - memory_reserved of a transformer",
        "attributed, and constant after step 3",
        "model built %s; cuBLAS (first product) %s; by step 1 %s more; "
        "steps 3 to %d: %s" % (
            size_text(beside(built)),
            size_text(beside(product) - beside(built)),
            size_text(beside(steps[1]) - beside(product)), last,
            " ".join(size_text(size) for size in after)),
        judged(constant),
        details={"by_step": {s: beside(steps[s]) for s in steps}})
    words, good = reconciled(steps[3], steps[last])
    if good is None:
        yield Outcome("overhead-predicts", "", status=report.SKIPPED,
                      why=words)
        return
    yield Outcome(
        "overhead-predicts",
        "NVML(pid) - tracked after step 3 predicts NVML(pid) after step %d" %
        last, "within 1%", words, judged(good))


# ------------------------------------------------------------ access paths


def access(context, name, what, module, mode, **named):
    """Warm up, take more, and compare; reserved where PyTorch says it."""
    exact = named.pop("exact", False)
    pooled = named.pop("pooled", False)
    with Child.work(context, module, mode, limit=100, **named) as child:
        warm = child.meet("warm")
        child.go()
        late = child.meet("end")
    slot = late["page"].slot(child.pid)
    grown = late["tracked"] - warm["tracked"]
    words, good = reconciled(warm, late)
    problems = []
    if not slot or not slot["flags"] & page.CONTEXT:
        problems.append("no context was seen in it")
    elif slot["flags"] & page.CROWDED:
        problems.append("a table of the library was full")
    if late["tracked"] <= 0:
        problems.append("nothing was tracked")
    if grown < 0.99 * late["grown"] and not pooled:
        problems.append("%s were taken, %s tracked" %
                        (size_text(late["grown"]), size_text(grown)))
    if exact and grown != late["reserved"] - warm["reserved"]:
        problems.append("memory_reserved grew by %s" %
                        size_text(late["reserved"] - warm["reserved"]))
    if good is False:
        problems.append("the error is over 1%")
    return Outcome(
        name, what,
        "coverage, all bytes%s, error under 1%%" %
        (" as memory_reserved" if exact else ""),
        "tracked %s + %s%s; %s%s" % (
            size_text(warm["tracked"]), size_text(grown),
            ", reserved + " + size_text(late["reserved"] - warm["reserved"])
            if "reserved" in late else "", words,
            "; version " + warm["version"] if "version" in warm else ""),
        judged(not problems), "; ".join(problems))


def allocator(setting):
    # Releases differ in which of the two names they read.
    return {"PYTORCH_CUDA_ALLOC_CONF": setting, "PYTORCH_ALLOC_CONF": setting}


@check("access-plain")
def access_plain(context):
    yield access(context, "access-plain", "PyTorch's own allocator",
                 "torch_memory", "grow", exact=True)


@check("access-expandable")
def access_expandable(context):
    yield access(context, "access-expandable", "expandable_segments",
                 "torch_memory", "grow", exact=True,
                 env=allocator("expandable_segments:True"))


@check("access-async")
def access_async(context):
    yield access(context, "access-async", "the cudaMallocAsync backend",
                 "torch_memory", "grow",
                 env=allocator("backend:cudaMallocAsync"))


@check("access-graphs")
def access_graphs(context):
    yield access(context, "access-graphs", "CUDA graphs", "torch_memory",
                 "graphs", exact=True)


@check("access-nccl")
def access_nccl(context):
    yield access(context, "access-nccl", "NCCL, one rank", "torch_memory",
                 "nccl")


@check("access-jax-preallocate")
def access_jax_preallocate(context):
    share = "0.10"
    yield access(context, "access-jax-preallocate",
                 "JAX, 10% of the device preallocated", "other_libraries",
                 "jax", pooled=True,
                 env={"XLA_PYTHON_CLIENT_PREALLOCATE": "true",
                      "XLA_PYTHON_CLIENT_MEM_FRACTION": share,
                      "XLA_CLIENT_MEM_FRACTION": share})


@check("access-jax")
def access_jax(context):
    yield access(context, "access-jax", "JAX, nothing preallocated",
                 "other_libraries", "jax",
                 env={"XLA_PYTHON_CLIENT_PREALLOCATE": "false"})


@check("access-cupy")
def access_cupy(context):
    yield access(context, "access-cupy", "CuPy", "other_libraries", "cupy")


@check("access-triton")
def access_triton(context):
    yield access(context, "access-triton", "a Triton kernel",
                 "other_libraries", "triton")


@check("access-numba")
def access_numba(context):
    yield access(context, "access-numba", "numba", "other_libraries", "numba")


# -------------------------------------------------------------------- steps


def counted(context, mode, what):
    with Child.work(context, "steps", mode, hook=True, limit=150) as child:
        seen = child.meet("steps")
    steps = seen["page"].steps()
    more = "".join(
        ", %s %s" % (words, seen[key])
        for key, words in (("left_out", "left out by the scaler"),
                           ("version", "version")) if key in seen)
    return Outcome(
        "steps-" + mode, what, "%d steps%s" % (seen["steps"], more),
        "%d by the step hook" % steps, judged(steps == seen["steps"]))


@check("steps-plain")
def steps_plain(context):
    yield counted(context, "plain", "optimizer steps of a plain loop")


@check("steps-accumulation")
def steps_accumulation(context):
    yield counted(context, "accumulation", "with gradient accumulation")


@check("steps-amp")
def steps_amp(context):
    yield counted(context, "amp", "with GradScaler, which leaves out some")


@check("steps-compile", limit=150, needs=60)
def steps_compile(context):
    yield counted(context, "compile", "with torch.compile")


@check("steps-trainer", limit=150, needs=40)
def steps_trainer(context):
    yield counted(context, "trainer", "with Trainer of transformers")


@check("steps-lightning", limit=150, needs=40)
def steps_lightning(context):
    yield counted(context, "lightning", "with Lightning")


# ------------------------------------------------------- alone on the device


@check("cap", limit=90, needs=30, alone=True)
def cap(context):
    size = 8 * GIB
    if context.gpu["total_bytes"] < size + 2 * GIB:
        raise Skip("the GPU has no more than the cap")
    with Child.work(context, "torch_memory", "cap", cap=size,
                    limit=80) as child:
        start = child.meet("start")
        child.go()
        retried = child.meet("retried")
        child.go()
        raised = child.meet("raised")
    said = figures.oom_text(raised["text"])
    recovered = retried["page"].total("recovered")
    signature = raised["page"].signature()
    total = said["total"]
    yield Outcome(
        "cap-total", "what a program sees under a cap of 8 GiB",
        "8.00 GiB in the message, in mem_get_info and the properties",
        "message %s, mem_get_info %s, properties %s; %s free said" % (
            size_text(total), size_text(start["total"]),
            size_text(start["properties"]), size_text(said["free"])),
        judged(total is not None and abs(total - size) <= figures.PRINTED and
               start["total"] == size and start["properties"] == size),
        details={"text": raised["text"]})
    yield Outcome(
        "cap-retries", "num_alloc_retries is what the page calls recovered",
        "%d" % retried["retries"], "%d" % recovered,
        judged(recovered == retried["retries"] > 0))
    yield Outcome(
        "cap-signature", "the last events when PyTorch raises",
        "refused, then asked for what is free",
        " ".join(signature[-4:]) or "none",
        judged(signature[-2:] == ["refused", "asked"]))
    peak = raised["page"].device(context.uuid)["peak_bytes"]
    overhead = raised["page"].device(context.uuid)["overhead_bytes"]
    yield Outcome(
        "cap-holds", "peak + overhead under the cap", "at most 8 GiB",
        "%s + %s" % (size_text(peak), size_text(overhead)),
        judged(0 < peak + overhead <= size))


@check("pool-query", alone=True)
def pool_query(context):
    with Child.work(context, "driver", "pool", preload=False) as child:
        facts = child.meet("pool")
    yield Outcome(
        "pool-query", "cost of reading RESERVED_MEM_HIGH of a pool", "",
        "%.0f ns more than cuDriverGetVersion (%.0f and %.0f ns by ctypes)" % (
            facts["query_ns"] - facts["call_ns"], facts["query_ns"],
            facts["call_ns"]), MEASURED, details={
                name: facts[name]
                for name in ("query_ns", "call_ns", "high_bytes")})


@check("rounding", alone=True)
def rounding(context):
    with Child.work(context, "driver", "rounding", preload=False) as child:
        rows = child.meet("rounding")["rows"]
    yield Outcome(
        "rounding", "what cuMemAlloc takes for each allocation, of %d" %
        rows[0]["each"], "",
        "; ".join("%s: %s" % (size_text(row["size"]),
                              size_text(row["taken"] // row["each"]))
                  for row in rows), MEASURED, details={"rows": rows})


# ------------------------------------------------- tuning against a sweep


def direct(context, micro, cap_bytes):
    """The training itself at that size, under the same cap; its peak."""
    argv = [sys.executable, session.TRAIN, "--batch-size", str(micro),
            "--grad-accum", str(min(2, EFFECTIVE // micro)),
            "--steps", str(DIRECT_STEPS)]
    with Child(context, argv, cap=cap_bytes, limit=DIRECT_SECONDS) as child:
        status, overhead = child.run_out()
        tracked = page.Page(child.page_path).device(
            context.uuid)["peak_bytes"]
        errors = child.errors()
    if status and "out of memory" not in errors:
        raise Fault("micro %d ended with %d: %s" %
                    (micro, status, figures.tail(errors)))
    return {"micro": micro, "ran": status == 0, "tracked": tracked,
            "overhead": overhead,
            "peak": None if overhead is None else tracked + overhead}


def tune(context, name, what, options, capped):
    """autofit's answer, then direct runs of it and of its neighbours."""
    folder = tempfile.mkdtemp(dir=context.scratch)
    path = os.path.join(folder, "result.json")
    limit = min(TUNE_SECONDS, context.left() - 10)
    status, _, errors = session.run_autofit(
        context,
        ["tune", "--device", "cuda", *options, "--tolerance", "10%",
         "--confirm-steps", "5", "--time-limit", "%ds" % (limit - 15),
         "--json", path, "--", sys.executable, session.TRAIN, "--batch-size",
         "4", "--grad-accum", str(EFFECTIVE // 4), "--steps", "1000"],
        limit, env={"AUTOFIT_HOME": os.path.join(folder, "home")})
    if status not in (0, OUT_OF_TIME):
        raise Fault("autofit tune ended with %d: %s" %
                    (status, figures.tail(errors)))
    with open(path, encoding="utf-8") as file:
        result = json.load(file)
    if not result["recommended"]:
        raise Fault("autofit found no answer in %d s" % limit)
    answer = result["recommended"]["micro_batch"]
    evidence = result["evidence"]
    device = result["devices"][0]
    runs = []
    for micro in figures.to_sweep(EFFECTIVE, answer):
        if runs and context.left() < DIRECT_SECONDS:
            break
        runs.append(direct(context, micro,
                           device["budget_bytes"] if capped else 0))
    right, words = figures.judge_sweep(answer, runs, evidence["limit_bytes"])
    mine = next((run for run in runs if run["micro"] == answer), None)
    error = (figures.share_of_error(evidence["peak_bytes"], mine["peak"])
             if mine and mine["peak"] else None)
    return Outcome(
        name, what,
        "the largest exact split of %d under the limit; coverage exact" %
        EFFECTIVE,
        "micro %d x accum %d in %d probes, %.0f s; limit %s, peak %s (%s); "
        "largest %s; run directly: %s; its peak %s%s%s" % (
            answer, result["recommended"]["grad_accum"],
            result["probe_count"], result["seconds"],
            size_text(evidence["limit_bytes"]),
            size_text(evidence["peak_bytes"]), evidence["coverage"],
            result.get("largest_micro_batch"), words,
            size_text(mine["peak"] if mine else None),
            "" if error is None else ", %s off" % percent_text(error),
            "; emulated as " + device["emulated_as"]
            if device.get("emulated_as") else ""),
        judged(right is not False and evidence["coverage"] == "exact"),
        "" if status == 0 else "not confirmed: its time limit was reached",
        details={"result": result, "runs": runs})


def needs_room(context, size):
    free = context.gpu["total_bytes"] - (context.device_used() or 0)
    if free < size + GIB:
        raise Skip("the GPU has not that much free: %s" % size_text(free))


@check("tune-8g", limit=190, needs=80, alone=True)
def tune_8g(context):
    needs_room(context, 8 * GIB)
    yield tune(context, "tune-8g", "autofit tune --memory 8G",
               ["--memory", "8G"], True)


@check("cost", limit=120, needs=60, alone=True)
def cost(context):
    """Alternately with and without: what drifts, drifts for both."""
    times = {True: [], False: []}
    for pair in range(COST_PAIRS):
        if pair and context.left() < 40:
            break
        for preload in (pair % 2 == 0, pair % 2 == 1):
            with Child.work(context, "torch_memory", "speed",
                            preload=preload) as child:
                seen = child.meet("speed")
            times[preload].append(seen["seconds"])
    found = figures.extra_cost(times[True], times[False])
    yield Outcome(
        "cost", "what the library adds to a step of many small kernels",
        "under 1%",
        "%s: median step %.3f ms with, %.3f ms without, %d runs of %d steps "
        "each" % (percent_text(found["share"]), 1e3 * found["with"],
                  1e3 * found["without"], len(times[True]), seen["steps"]),
        judged(found["share"] < COST_MAX), details={
            "with": times[True], "without": times[False]})


@check("tune-24g", limit=190, needs=80, alone=True)
def tune_24g(context):
    needs_room(context, 24 * GIB)
    yield tune(context, "tune-24g", "autofit tune --memory 24G",
               ["--memory", "24G"], True)


@check("tune-whole", limit=190, needs=80, alone=True)
def tune_whole(context):
    yield tune(context, "tune-whole", "autofit tune on the whole card", [],
               False)


@check("tune-as", limit=190, needs=80, alone=True)
def tune_as(context):
    needs_room(context, 24 * GIB)
    yield tune(context, "tune-as", "autofit tune --as rtx4090",
               ["--as", "rtx4090"], True)
