# Trains a little with torch, and prints what a program can see of its start.
# SPDX-License-Identifier: MIT
import sys

AT_START = {"modules": sorted(sys.modules)}

import argparse  # noqa: E402
import ctypes  # noqa: E402
import faulthandler  # noqa: E402
import gc  # noqa: E402
import json  # noqa: E402
import locale  # noqa: E402
import multiprocessing  # noqa: E402
import os  # noqa: E402
import resource  # noqa: E402
import signal  # noqa: E402
import socket  # noqa: E402
import tempfile  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402

import torch  # noqa: E402

# The first optimizer of newer versions imports it, with what it changes.
try:
    import torch._dynamo  # noqa: E402
except ImportError:
    pass

WIDTH = 1 << 17
# Of a probe's own, which differ between any two.
OWN = ("AUTOFIT_", "MASTER_PORT")
PR_GET_PDEATHSIG, PR_GET_SUBREAPER = 2, 37


def prctl(option):
    value = ctypes.c_int(-1)
    ctypes.CDLL(None).prctl(option, ctypes.byref(value), 0, 0, 0)
    return value.value


def stream(file):
    return [
        file.name,
        file.mode,
        file.encoding,
        file.errors,
        file.line_buffering,
        file.write_through,
        file.isatty(),
        file.fileno(),
    ]


def descriptors():
    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink("/proc/self/fd/" + name)
        except OSError:
            continue  # that of the listing
        found[int(name)] = target.split(":")[0].split("/")[-1]
    return found


def status(*names):
    with open("/proc/self/status") as file:
        lines = dict(line.split(":\t", 1) for line in file)
    return [lines.get(name, "").split() for name in names]


def read(path):
    with open(path) as file:
        return file.read().strip()


def root_kind():
    """Of its file system: that of a view, or the machine's."""
    with open("/proc/self/mountinfo") as file:
        for line in file:
            fields, rest = line.split(" - ", 1)
            if fields.split()[4] == "/":
                kind = rest.split()[0]
    return kind


def own_scratch(value):
    """Each probe has its own folders."""
    mark = os.environ.get("AUTOFIT_PROBE", "-")
    return str(value).replace(mark, "<probe>")


def observed():
    main = sys.modules["__main__"]
    parent = "/proc/%d/comm" % os.getppid()
    return {
        "argv": sys.argv[3:],
        "argv[0]": sys.argv[0],
        "orig_argv": getattr(sys, "orig_argv", [])[-1:],
        "flags": list(sys.flags),
        # One of its modules is made in a temporary folder of each process.
        "path": [each for each in sys.path
                 if not os.path.basename(each).startswith("tmp")],
        "executable": sys.executable,
        "prefixes": [sys.prefix, sys.base_prefix, sys.exec_prefix],
        "warnoptions": sys.warnoptions,
        "filters": [str(each) for each in warnings.filters],
        "xoptions": getattr(sys, "_xoptions", {}),
        "stdout": stream(sys.stdout),
        "stderr": stream(sys.stderr),
        "stdin": stream(sys.stdin),
        "stdin is empty": sys.stdin.read() == "",
        "folder": os.getcwd(),
        "environment": {
            name: own_scratch(value)
            for name, value in sorted(os.environ.items())
            if not name.startswith(OWN)
        },
        "main": [main.__name__, main.__file__, str(main.__spec__)],
        "main's package": [main.__package__, main.__doc__, main.__cached__],
        "main's loader": type(main.__loader__).__name__,
        "main is ours": main.__dict__ is globals(),
        "main's names": sorted(main.__dict__),
        "builtins": type(__builtins__).__name__,
        "finders": [getattr(f, "__name__", type(f).__name__)
                    for f in sys.meta_path],
        "importers": len(sys.path_hooks),
        "modules at the end": "autofit_zygote" in sys.modules,
        "handlers": [str(signal.getsignal(number)) for number in range(1, 32)],
        "masks": status("SigBlk", "SigIgn", "SigCgt"),
        "privileges": status("NoNewPrivs", "Seccomp", "Uid", "Groups"),
        "umask": status("Umask"),
        "name": read("/proc/self/comm"),
        "parent": read(parent),
        "leads its group": os.getpgrp() == os.getpid(),
        "session": os.getsid(0) == os.getppid(),
        "descriptors": descriptors(),
        "nice": os.nice(0),
        "oom_score_adj": read("/proc/self/oom_score_adj"),
        "dies with": prctl(PR_GET_PDEATHSIG),
        "subreaper": prctl(PR_GET_SUBREAPER),
        "limits": [resource.getrlimit(n) for n in range(16)],
        "processors": sorted(os.sched_getaffinity(0)),
        "threads": [threading.active_count(), len(status("Threads"))],
        "main thread": threading.main_thread() is threading.current_thread(),
        "mark": ("AUTOFIT_PROBE=" + os.environ["AUTOFIT_PROBE"]).encode()
        in open("/proc/self/environ", "rb").read(),
        "host": socket.gethostname(),
        "namespaces": [os.path.exists("/proc/self/ns/" + n) for n in "mnt"],
        "its root is": root_kind(),
        "locale": locale.setlocale(locale.LC_ALL),
        "times": [time.tzname, time.timezone],
        "collector": [gc.isenabled(), gc.get_threshold()],
        "recursion": sys.getrecursionlimit(),
        "switching": sys.getswitchinterval(),
        "tracing": [sys.gettrace(), sys.getprofile()],
        "faults": faulthandler.is_enabled(),
        "start method": multiprocessing.get_start_method(allow_none=True),
        "temporary": own_scratch(tempfile.gettempdir()),
        "torch": [
            torch.get_num_threads(),
            torch.initial_seed(),
            str(torch.get_default_dtype()),
            torch.is_grad_enabled(),
            torch.backends.mkldnn.is_available(),
        ],
        "first number": float(torch.rand(1)),
        "hooks": [sys.excepthook.__name__, sys.displayhook.__name__],
    }


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 1 << 20

    def __getitem__(self, index):
        return torch.ones(WIDTH)


def batches(args):
    """Made by processes of their own, if that is asked for."""
    if not args.workers:
        while True:
            yield torch.ones(args.batch_size, WIDTH)
    yield from torch.utils.data.DataLoader(
        Rows(), batch_size=args.batch_size, num_workers=args.workers)


class Scale(torch.nn.Module):
    """Half a MiB for each row."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(WIDTH))

    def forward(self, rows):
        return (rows * self.weight).sum()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=1)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("words", nargs="*")
    args = parser.parse_args()
    seen = observed()
    seen["environment"].pop("_", None)
    seen["rows"] = args.batch_size
    with open("/dev/stdout", "w") as file:
        file.write("observed %s\n" % json.dumps(seen, default=str))
    model = Scale()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, rows in zip(range(args.steps), batches(args)):
        model(rows).backward()
        optimizer.step()
        optimizer.zero_grad()
        time.sleep(0.02)
        print("step %d/%d" % (step + 1, args.steps), flush=True)


if __name__ == "__main__":
    main()
