#!/usr/bin/env python3
# Every argument arrives as it was given: tuned, recorded, resumed and run.
# SPDX-License-Identifier: MIT
"""The command prints what it got, as hex; probes do so in their logs."""
import hashlib
import os
import re
import signal
import sys
import urllib.parse

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import check, equal  # noqa: E402

SCRIPT = """\
import argparse, hashlib, os, sys, time
parser = argparse.ArgumentParser(allow_abbrev=False)
parser.add_argument("--batch-size", type=int, default=8)
parser.add_argument("--grad-accum", type=int, default=1)
args, _ = parser.parse_known_args()
got = [os.fsencode(a) for a in sys.argv[1:]]
print("digests", *(hashlib.sha256(a).hexdigest()[:16] for a in got), flush=True)
held = b"x" * (args.batch_size << 23)
for step in range(1, 31):
    print("step %d/30 loss 1.0" % step, flush=True)
    time.sleep(0.03)
print("got", *(a.hex() or "-" for a in got))
"""

# Neither knobs nor options of the script, whatever they look like.
STRANGE = [
    "two words",
    "",
    " ",
    " begins and ends with blanks ",
    "'single'",
    '"double"',
    "both '\" and \\ and \\\\ and \\'",
    "new\nline",
    "\n",
    "ends with a new line\n",
    "\ttab\t",
    "carriage\rreturn\r\n",
    "\u00fcnic\u00f6de \u65e5\u672c\u8a9e \U0001f525 e\u0301",
    "\u2028\u2029\ufeff\u202ereversed",
    b"not UTF-8: \xff\xfe\xc3(",
    b"\x01\x1b[31m\x7f\x80",
    "$HOME `id` $(id) ${X:-y} *.py ~ !! & | ; < > ( ) # no comment",
    "; no comment either",
    "[section]",
    "key = value",
    "= value",
    "%20%41%%25%",
    "{} {x} {{mic} {micro",
    "-",
    "--=",
    "--text=a 'b' \"c\"\n\u00e9=",
    "a\\nb\\x41\\u0041\\",
    "x" * 159,
    "x" * 160,
    "x" * 161,
    "\u65e5" * 321,
    "%" * 500,
    "ab \n'\"\u00e9\\%" * 400,
    "L" * 100000,
    ("long with blanks, \"quotes\" and \u00e4\n" * 3000)[:100000],
    "--",
    "--after",
    "",
]


def in_bytes(texts):
    return [t if isinstance(t, bytes) else os.fsencode(t) for t in texts]


def command(script, micro, accum):
    knobs = ["--batch-size", str(micro), "--grad-accum", str(accum)]
    return [sys.executable, script, *knobs, *STRANGE]


def digests(micro, accum):
    words = command("", micro, accum)[2:]
    return [hashlib.sha256(w).hexdigest()[:16] for w in in_bytes(words)]


def ran_with(name, answer, micro, accum):
    line = answer.out.splitlines()[-1].split() if answer.out else ["nothing"]
    got = [bytes.fromhex(w.replace("-", "")) for w in line[1:]]
    equal(
        name + ": what the command got",
        [line[0], *got],
        ["got", *in_bytes(command("", micro, accum)[2:])],
    )


def json_holds(name, values, escaped, wanted):
    """A list of arguments in the result, with its exact form beside it."""
    shown = [w.decode("utf-8", "replace") for w in in_bytes(wanted)]
    equal(name + ": to read", values, shown)
    exact = [urllib.parse.unquote_to_bytes(w) for w in escaped or []]
    equal(name + ": exact", exact, in_bytes(wanted))


def probes_got(name, answer):
    """What the probes printed first, from their logs."""
    for probe in answer.probes:
        with open(probe["log"], encoding="utf-8") as file:
            line = next(x for x in file if "digests" in x)
        equal(
            "%s: what the probe of %d got" % (name, probe["micro_batch"]),
            re.sub(r".*digests ", "", line).split(),
            digests(probe["micro_batch"], probe["grad_accum"]),
        )


OPTIONS = (
    ["--device", "host", "--memory", "220MiB"]
    + ["--headroom", "2MiB", "--confirm-steps", "5"]
)


def tuned_and_reused(script, micro):
    # 8 MiB a sample, 16 of them are all: 128 MiB and the interpreter.
    with lib.Place("arguments") as place:
        words = [*OPTIONS, "--", *command(script, 4, 4)]
        first = place.run(*words)
        if not check("tuned", first.status == 0, first):
            return
        equal("tuned: outcome", first.result["outcome"], "tuned")
        ran_with("tuned", first, micro, 16 // micro)
        probes_got("tuned", first)
        best = first.result["recommended"]
        json_holds(
            "tuned: the recommended command",
            best["argv"],
            best["argv_escaped"],
            command(script, micro, 16 // micro),
        )
        again = place.run(*words)
        equal("reused: outcome", again.result["outcome"], "reused")
        equal("reused: no probe", again.err.count("\n"), 1)
        ran_with("reused", again, micro, 16 // micro)
        # This is what was read from the record.
        json_holds(
            "reused: the recorded command",
            again.result["command"],
            again.result["argv_escaped"],
            command(script, 4, 4),
        )
        # One argument differs in one byte: another command, which is checked.
        changed = place.run(*words[:-1], "x")
        equal("changed: grade", changed.result["record"]["grade"], "near")
        equal("changed: one probe", changed.result["probe_count"], 1)
        got = changed.out.split()[-1:]
        equal("changed: what the command got", got, [b"x".hex()])


def steps_in(place, number):
    """Steps in the log of a probe of the only tuning there was; -1: none."""
    logs = place.path("home", "logs")
    for folder in os.listdir(logs) if os.path.isdir(logs) else ():
        path = os.path.join(logs, folder, "probe-%d.log" % number)
        if os.path.exists(path):
            with open(path, encoding="utf-8", errors="replace") as file:
                return file.read().count("step ")
    return -1


def resumed(script, micro):
    with lib.Place("arguments") as place:
        words = [*OPTIONS, "--", *command(script, 4, 4)]
        process = place.start(*words)
        begun = lib.wait_for(lambda: steps_in(place, 2) >= 1)
        check("resumed: the second probe is under way", begun)
        process.send_signal(signal.SIGKILL)
        out, err = process.communicate()
        equal("resumed: nothing was run", out, b"")
        old = os.listdir(place.path("home", "logs"))[0]
        answer = place.run(*words)
        if not check("resumed: ends well", answer.status == 0, answer):
            return
        kept = [p["micro_batch"] for p in answer.probes if old in p["log"]]
        new = [p["micro_batch"] for p in answer.probes if old not in p["log"]]
        check(
            "resumed: %s are kept, %s are new" % (kept, new),
            kept and new and not set(kept) & set(new) - {micro},
            answer.err + err.decode(errors="replace"),
        )
        ran_with("resumed", answer, micro, 16 // micro)
        probes_got("resumed", answer)


def main():
    with lib.Place("arguments") as place:
        script = place.write("a folder/with 'quotes' \u00e9.py", SCRIPT)
        tuned_and_reused(script, 16)
        resumed(script, 16)
    lib.finish()


if __name__ == "__main__":
    main()
