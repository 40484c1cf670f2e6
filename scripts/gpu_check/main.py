# gpu-check: what has to be found out on a machine with a real GPU.
# SPDX-License-Identifier: MIT
"""Started by scripts/gpu-check with a Python that may have PyTorch."""
import argparse
import concurrent.futures
import datetime
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import checks
import figures
import order
import report
import session

SKIPPED = 77
WORKERS = 4
# Kept for the report and for ending what still runs.
RESERVE = 8
# With less than this left, a fault is that of the time.
OVER = 15
TORCH = ("import json, torch; print(json.dumps([torch.__version__, "
         "torch.version.cuda, torch.cuda.is_available()]))")


def parse(argv):
    parser = argparse.ArgumentParser(prog="gpu-check")
    parser.add_argument("--autofit", metavar="PATH",
                        help="the program; default: build/release/autofit, "
                        "else that of PATH")
    parser.add_argument("--preload", metavar="PATH",
                        help="libautofit_preload.so; default: beside autofit, "
                        "else in build/release")
    parser.add_argument("--out", metavar="DIR",
                        help="a folder for gpu-check.json and the page")
    parser.add_argument("--results", metavar="DIR",
                        default=os.path.join(session.SOURCE, "docs",
                                             "measurements"),
                        help="where the dated page goes; default: "
                        "docs/measurements")
    parser.add_argument("--minutes", type=float, default=8,
                        help="no longer than this; default: 8")
    parser.add_argument("--only", metavar="NAMES",
                        help="of these: " + " ".join(
                            each.name for each in checks.CHECKS))
    options = parser.parse_args(argv)
    if options.only:
        options.only = options.only.split(",")
        unknown = set(options.only) - {each.name for each in checks.CHECKS}
        if unknown:
            parser.error("no such check: " + ", ".join(sorted(unknown)))
    return options


def find_tools(options):
    """Paths of both, or a reason why not."""
    built = os.path.join(session.SOURCE, "build", "release")
    if not options.autofit:
        own = os.path.join(built, "autofit")
        options.autofit = (own if os.access(own, os.X_OK)
                           else shutil.which("autofit"))
    if not options.autofit or not os.access(options.autofit, os.X_OK):
        return "no autofit to be run: build it, or give --autofit PATH"
    options.autofit = os.path.abspath(options.autofit)
    if not options.preload:
        name = "libautofit_preload.so"
        beside = os.path.join(os.path.dirname(options.autofit), name)
        options.preload = (beside if os.path.exists(beside)
                           else os.path.join(built, name))
    options.preload = os.path.abspath(options.preload)
    return None


def check_preload(options):
    if not os.path.exists(options.preload):
        return "no %s: give --preload PATH" % options.preload
    # The loader would take what is before them for one path.
    if " " in options.preload or ":" in options.preload:
        return "LD_PRELOAD cannot name %s" % options.preload
    return None


def find_gpu(options):
    """(the first CUDA device of autofit's list, None) or (None, why not)."""
    try:
        done = subprocess.run(
            [options.autofit, "devices", "--json", "-"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=60, check=False)
        found = json.loads(done.stdout.decode("utf-8", "replace"))
        gpus = [device for device in found["devices"]
                if device["kind"] == "cuda"]
        problems = found["problems"]
    except (OSError, ValueError, KeyError, TypeError,
            subprocess.TimeoutExpired) as error:
        return None, "autofit devices cannot be read: %s" % error
    if not gpus:
        return None, "no GPU: " + ("; ".join(problems) or
                                   "autofit devices lists none")
    return gpus[0], None


def find_torch():
    """([version, CUDA version], None) or (None, why not)."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", TORCH], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
            check=False)
    except subprocess.TimeoutExpired:
        return None, "import torch takes longer than two minutes"
    text = done.stdout.decode("utf-8", "replace").strip()
    if done.returncode or not text:
        return None, "%s has no PyTorch: give --python PATH" % sys.executable
    version, cuda, available = json.loads(text.splitlines()[-1])
    if not available:
        return None, "PyTorch %s of %s sees no GPU (%s)" % (
            version, sys.executable,
            "built for CUDA %s" % cuda if cuda else "built without CUDA")
    return [version, cuda], None


def output_of(*argv):
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, timeout=30, check=False,
            cwd=session.SOURCE)
    except (OSError, subprocess.TimeoutExpired):
        return "not known"
    return done.stdout.decode("utf-8", "replace").strip() or "not known"


def facts_of(context, torch):
    now = datetime.datetime.now(datetime.timezone.utc)
    driver = "not known"
    if context.nvml:
        try:
            driver = context.nvml.driver()
        except session.nvml.NvmlError:
            pass
    return [
        ("date", now.strftime("%Y-%m-%d")),
        ("GPU", context.gpu["name"]),
        ("memory", figures.size_text(context.gpu["total_bytes"])),
        ("driver", driver),
        ("PyTorch", torch[0]),
        ("CUDA of PyTorch", torch[1] or "not known"),
        ("autofit", "%s, commit %s" % (
            output_of(context.autofit, "--version"),
            output_of("git", "rev-parse", "--short", "HEAD"))),
        ("Python", platform.python_version()),
        ("system", platform.platform()),
    ]


class Run:
    """All checks, their outcomes, and the files, written after each one."""

    def __init__(self, options, context, facts):
        self.options = options
        self.context = context
        self.facts = facts
        self.outcomes = {}
        self.lock = threading.Lock()
        self.checks = [each for each in checks.CHECKS
                       if not options.only or each.name in options.only or
                       each.name == "machine"]

    def make(self, check):
        """One check, which never stops the others."""
        began = time.monotonic()
        found = []
        what = " ".join((check.function.__doc__ or "").split())
        try:
            if self.context.left() < check.needs + RESERVE:
                raise session.Skip("the time was over")
            # What came before a fault stays.
            for outcome in check.function(self.context):
                found.append(outcome)
        except session.Skip as reason:
            found.append(report.Outcome(check.name, what, why=str(reason),
                                        status=report.SKIPPED))
        except Exception as error:  # of whatever kind: it is the result
            if self.context.left() < OVER:
                found.append(report.Outcome(check.name, what,
                                            why="the time was over",
                                            status=report.SKIPPED))
            else:
                found.append(report.Outcome(
                    check.name, what, why="%s: %s" %
                    (type(error).__name__, error), status=report.FAIL))
        seconds = time.monotonic() - began
        with self.lock:
            self.outcomes[check.name] = found
            for outcome in found:
                outcome.seconds = round(seconds, 1)
                print("%-8s %-24s %5.1f s  %s" % (
                    outcome.status, outcome.name, seconds,
                    outcome.why or outcome.measured), flush=True)
            self.write()

    def all_outcomes(self):
        return [outcome for check in self.checks
                for outcome in self.outcomes.get(check.name, ())]

    def write(self):
        outcomes = self.all_outcomes()
        facts = dict(self.facts)
        name = "%s-%s.md" % (facts["date"], figures.slug(facts["GPU"]))
        text = report.page(self.facts, outcomes)
        replace(os.path.join(self.options.results, name), text)
        if self.options.out:
            replace(os.path.join(self.options.out, name), text)
            replace(os.path.join(self.options.out, "gpu-check.json"),
                    report.as_json(self.facts, outcomes))
        self.page = os.path.join(self.options.results, name)

    def everything(self):
        """Batch by batch; the first check says how many run side by side."""
        for batch in order.batches(self.checks):
            # Device-wide figures need the device for themselves.
            many = (not batch[0].alone and self.context.by_process and
                    self.context.gpu["total_bytes"] >= 40 * figures.GIB)
            workers = WORKERS if many else 1
            with concurrent.futures.ThreadPoolExecutor(workers) as pool:
                list(pool.map(self.make, batch))
        return self.all_outcomes()


def replace(path, text):
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".part", path)


def skip(reason):
    print("gpu-check: skipped: %s" % reason, file=sys.stderr)
    return SKIPPED


def main(argv=None):
    options = parse(argv)
    reason = find_tools(options)
    if reason:
        print("gpu-check: %s" % reason, file=sys.stderr)
        return 1
    gpu, reason = find_gpu(options)
    if reason:
        return skip(reason)
    torch, reason = find_torch()
    if reason:
        return skip(reason)
    reason = check_preload(options)
    if reason:
        print("gpu-check: %s" % reason, file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="gpu-check-") as scratch:
        context = session.Context(options, gpu, scratch)
        run = Run(options, context, facts_of(context, torch))
        outcomes = run.everything()
    print("gpu-check: %s" % run.page)
    return report.exit_code(outcomes)


if __name__ == "__main__":
    sys.exit(main())
