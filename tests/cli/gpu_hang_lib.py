# A driver or an NVML that never answers, and how long an end takes then.
# SPDX-License-Identifier: MIT
"""The simulated libraries hang; whoever hangs holds a FIFO open.

Its other end is opened once somebody hangs, and ends when he is gone: neither
is guessed by the clock.
"""
import collections
import os
import select
import subprocess
import threading
import time

import lib

SIM = os.path.join(os.environ["BUILD"], "sim")
TRAINER = os.path.join(SIM, "sim_trainer")
LIMIT_SECONDS = 8

# Not of the simulated driver's words: the command itself, on its way in.
IGNORES = "ignores"
# Where it hangs: the fault for autofit's own questions, and for the probe's.
PLACES = {
    "the driver's list": ("hang", ""),
    "NVML's list": ("nvml=hang", ""),
    "NVML's look during a probe": ("nvml_hang_after=6", ""),
    "the driver in the probe": ("", "hang"),
    "a probe that ignores signals": ("", IGNORES),
}

End = collections.namedtuple("End", "seconds status hung_is_gone words")


def start(place, where, options):
    fault, of_probe = PLACES[where]
    fifo = place.path("hangs")
    os.mkfifo(fifo)
    place.env.update(
        LD_LIBRARY_PATH=SIM, AUTOFIT_SIM_STATE=place.path("devices"),
        AUTOFIT_SIM_DEVICES="Card:24G:300M:300M", AUTOFIT_SIM_FAULT=fault,
        AUTOFIT_SIM_HANGS=fifo)  # fmt: skip
    begin = "AUTOFIT_SIM_FAULT=%s" % of_probe
    if of_probe == IGNORES:
        begin = "trap '' HUP INT QUIT TERM\nexec 8>\"$AUTOFIT_SIM_HANGS\"\n"
    command = place.write(
        "train.sh", '#!/bin/sh\n%s exec "%s" "$@"\n' % (begin, TRAINER),
        0o755)  # fmt: skip
    # No step ends it: it runs until it is ended.
    process = place.start(
        "tune", "--allow-writes", place.folder, "--probe-steps", "100000",
        *options, "--", command, "--batch-size", "4", "--steps", "100000",
        "--step-ms", "20", "--fixed-mib", "100")  # fmt: skip
    return process, fifo


def wait_for_hang(process, path):
    """The reader's end of the FIFO, once somebody hangs or nobody will."""

    def watch():
        process.wait()
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            pass  # its reader is gone: nobody waits

    threading.Thread(target=watch, daemon=True).start()
    return os.open(path, os.O_RDONLY)


def end(where, number):
    """By the signal once it hangs, or without one by --time-limit."""
    options = [] if number else ["--time-limit", "%ds" % LIMIT_SECONDS]
    with lib.Place("hang") as place:
        began = time.monotonic()
        process, path = start(place, where, options)
        fifo = wait_for_hang(process, path)
        if number:
            began = time.monotonic()
            process.send_signal(number)
        else:
            began += LIMIT_SECONDS
        try:
            _, words = process.communicate(timeout=lib.PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            _, words = process.communicate()
        seconds = time.monotonic() - began
        # At its end nobody holds it open any more.
        gone = bool(select.select([fifo], [], [], lib.PATIENCE)[0])
        os.close(fifo)
    return End(seconds, process.returncode, gone, words.decode(errors="replace"))
