# A workload of gpu-check: started, met, observed, ended in time.
# SPDX-License-Identifier: MIT
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time

import figures
import nvml
import page

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
WORK = os.path.join(HERE, "work")
HOOK = os.path.join(SOURCE, "probes", "python")
TRAIN = os.path.join(HERE, "train.py")
# Settings of the user's that would change what is measured.
FOREIGN = ("AUTOFIT_", "LD_PRELOAD", "PYTORCH_", "XLA_", "CUDA_VISIBLE",
           "CUDA_LAUNCH", "PYTHONPATH", "RANK", "WORLD_SIZE", "MASTER_")
# The tests of gpu-check itself run over a simulated driver, set up by these.
OURS = "AUTOFIT_SIM_"


class Skip(Exception):
    """The check cannot be made here, and why."""


class Fault(Exception):
    """The workload failed, and how."""


class Context:
    """The machine, the tools, and the time that is left."""

    def __init__(self, options, gpu, scratch):
        self.autofit = options.autofit
        self.preload = options.preload
        self.uuid = gpu["uuid"]
        self.gpu = gpu
        self.scratch = scratch
        self.deadline = time.monotonic() + 60 * options.minutes
        try:
            self.nvml = nvml.Nvml(self.uuid)
        except nvml.NvmlError as error:
            self.nvml, self.nvml_problem = None, str(error)
        # True: NVML names processes by the pids that we know.
        self.by_process = False

    def left(self):
        return self.deadline - time.monotonic()

    def device_used(self):
        return self.nvml.used() if self.nvml else None

    def outside(self, pid, baseline):
        """Bytes of the device that the process holds, by NVML; or None."""
        if not self.nvml:
            return None
        if self.by_process:
            try:
                return self.nvml.processes().get(pid)
            except nvml.NvmlError:
                return None
        return max(self.nvml.used() - baseline, 0)

    def environment(self, extra=None):
        env = {name: value for name, value in os.environ.items()
               if name.startswith(OURS) or not name.startswith(FOREIGN)}
        env.update(CUDA_VISIBLE_DEVICES=self.uuid, PYTHONUNBUFFERED="1",
                   PYTHONDONTWRITEBYTECODE="1", LC_ALL="C.UTF-8")
        env.update(extra or {})
        return env


class Child:
    """
    One workload, with a page of its own. `with Child(...) as child:` ends it
    whatever happens.
    """

    def __init__(self, context, argv, preload=True, hook=False, cap=0,
                 limit=60, env=None):
        self.context = context
        self.deadline = time.monotonic() + min(limit, context.left() - 5)
        folder = tempfile.mkdtemp(dir=context.scratch)
        self.page_path = os.path.join(folder, "channel")
        self.error_path = os.path.join(folder, "stderr")
        self.baseline = context.device_used() or 0
        page.make(self.page_path, [(context.uuid, cap, self.baseline)])
        extra = dict(env or {}, AUTOFIT_CHANNEL=self.page_path)
        if preload:
            extra["LD_PRELOAD"] = context.preload
        if hook:
            extra["PYTHONPATH"] = HOOK
        self.buffer = b""
        with open(self.error_path, "wb") as errors:
            self.process = subprocess.Popen(
                argv, env=context.environment(extra), stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=errors, cwd=folder,
                start_new_session=True)
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except OSError:
            pass
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    @classmethod
    def work(cls, context, module, mode, **named):
        path = os.path.join(WORK, module + ".py")
        return cls(context, [sys.executable, path, mode], **named)

    def errors(self):
        with open(self.error_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def line(self):
        """The next one of its output; "" at its end."""
        while b"\n" not in self.buffer:
            left = self.deadline - time.monotonic()
            if left <= 0:
                raise Fault("it took too long")
            ready, _, _ = select.select([self.process.stdout], [], [], left)
            if not ready:
                continue
            data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                return ""
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode(errors="replace") + "\n"

    def meet(self, name=None):
        """Its next meeting, with what is seen of it from here."""
        while True:
            line = self.line()
            if line.startswith("@skip "):
                raise Skip(line[6:].strip())
            if line.startswith("@meet "):
                facts = json.loads(line[6:])
                if name is not None and facts["name"] != name:
                    raise Fault("it came to %r, not to %r" %
                                (facts["name"], name))
                facts.update(self.observe())
                return facts
            if not line:
                status = self.process.wait()
                raise Fault("it ended with status %d: %s" %
                            (status, figures.tail(self.errors())))

    def go(self):
        try:
            self.process.stdin.write(b"\n")
            self.process.stdin.flush()
        except OSError:
            pass  # it has ended; the next meeting says how

    def observe(self):
        """tracked and outside bytes at one moment when nothing changed."""
        for _ in range(100):
            before = page.Page(self.page_path)
            outside = self.context.outside(self.pid, self.baseline)
            after = page.Page(self.page_path)
            if before.header["changes"] == after.header["changes"]:
                break
        device = after.device(self.context.uuid)
        return {"page": after, "tracked": device["current_bytes"],
                "peak": device["peak_bytes"], "outside": outside}

    def look(self):
        """As observe, of a workload that goes on; None: it was changing."""
        before = page.Page(self.page_path)
        outside = self.context.outside(self.pid, self.baseline)
        after = page.Page(self.page_path)
        if (before.header["changes"] != after.header["changes"] or
                outside is None):
            return None
        return outside - after.device(self.context.uuid)["current_bytes"]

    def run_out(self):
        """To its end without meetings: (status, largest overhead seen)."""
        overhead = None
        while self.process.poll() is None:
            if time.monotonic() > self.deadline:
                raise Fault("it took too long")
            seen = self.look()
            if seen is not None and (overhead is None or seen > overhead):
                overhead = seen
            ready, _, _ = select.select([self.process.stdout], [], [], 0.02)
            if ready and not os.read(self.process.stdout.fileno(), 65536):
                time.sleep(0.02)  # it has closed its output, and runs on
        return self.process.returncode, overhead


def run_autofit(context, arguments, limit, env=None):
    """(status, stdout, stderr); it and what it started end in time."""
    process = subprocess.Popen(
        [context.autofit, *arguments], env=context.environment(env),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, start_new_session=True)
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.terminate()
        try:
            out, err = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
        raise Fault("autofit took longer than %d s: %s" %
                    (limit, figures.tail(err.decode(errors="replace"))))
    return (process.returncode, out.decode(errors="replace"),
            err.decode(errors="replace"))
