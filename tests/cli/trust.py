#!/usr/bin/env python3
# Records of others, damaged and hostile ones; and secrets, which stay so.
# SPDX-License-Identifier: MIT
# CTEST COST 40
"""A record that cannot be trusted costs one line and a new tuning."""
import collections
import contextlib
import json
import os
import re
import shutil
import signal
import stat
import sys
import time

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import check, equal  # noqa: E402

sys.path.append(os.path.join(os.path.dirname(__file__), "helpers"))

from starts import Start, read  # noqa: E402

OPTIONS = (
    ["--device", "host", "--memory", "40MiB", "--headroom", "4MiB"]
    + ["--confirm-steps", "3"]
)
COMMAND = (
    [lib.TRAINER, "--batch-size", "2", "--grad-accum", "8", "--steps", "5"]
    + ["--step-ms", "20"]
    + ["--fixed-mib", "1", "--per-sample-kib", "1024"]
)
TUNED = "done: micro 16 accum 1 steps 5"
NOBODY = 65534
DAY = 24 * 3600
IS_ROOT = os.geteuid() == 0

# What is done to the record, what the line says, and whether root is needed.
Row = collections.namedtuple("Row", "name change says root")


def row(name, change, says, root=False):
    return Row(name, change, says, root)


def rewrite(change):
    """A change of the record's text."""

    def apply(path, text):
        changed = change(text)
        if changed == text:
            raise AssertionError("nothing was changed")
        with open(path, "w", encoding="utf-8") as file:
            file.write(changed)

    return apply


def entry(key, value):
    """Another value of an entry; the first of this name is the record's own.
    """
    return rewrite(
        lambda text: re.sub(
            r"(?m)^%s = .*$" % key, "%s = %s" % (key, value), text, count=1
        )
    )


def entries(**values):
    def change(text):
        for key, value in values.items():
            text = re.sub(
                r"(?m)^%s = .*$" % key, "%s = %s" % (key, value), text, count=1
            )
        return text

    return rewrite(change)


def remove(folder):
    shutil.rmtree(folder, ignore_errors=True)


def owned_by(user):
    return lambda path, _: os.chown(path, user, -1)


def mode(bits, group=None):
    def apply(path, _):
        if group is not None:
            os.chown(path, -1, group)
        os.chmod(path, bits)

    return apply


def folder_mode(bits):
    return lambda path, _: os.chmod(os.path.dirname(path), bits)


def folder_of(user):
    return lambda path, _: os.chown(os.path.dirname(path), user, -1)


def cut(share):
    return rewrite(lambda text: text[: int(len(text) * share)])


def replaced_by(make):
    def apply(path, text):
        os.unlink(path)
        make(path, text)

    return apply


def huge(path, _):
    with open(path, "wb") as file:
        file.truncate(1 << 40)


def junk(path, _):
    with open(path, "wb") as file:
        file.write(bytes(range(256)) * 4000)


def link_to_another_users(path, text):
    other = path + ".elsewhere"
    with open(other, "w", encoding="utf-8") as file:
        file.write(text)
    os.chown(other, NOBODY, -1)
    os.symlink(other, path)


FUTURE = str(int(time.time()) + 10 * DAY)
ROWS = (
    row("of another user", owned_by(NOBODY), "owner|belongs|user", True),
    row("world-writable", mode(0o666), "others|writ"),
    row("writable by another group", mode(0o660, NOBODY), "group|writ", True),
    row("a link to another user's", replaced_by(link_to_another_users),
        "owner|belongs|user", True),
    row("in a folder all may write to", folder_mode(0o777), "others|writ"),
    row("empty", rewrite(lambda text: ""), "schema|section|cut|no "),
    row("cut in its middle", cut(0.5), "ini:[0-9]+: "),
    row("cut near its end", cut(0.99), "ini:[0-9]+: "),
    row("no end", rewrite(lambda t: t[: t.rindex("[end]")]), "cut short"),
    row("of the future", entry("created", FUTURE), "future"),
    row("of a later schema", entry("schema", "autofit.record/2"), "later"),
    row("of no schema", entry("schema", "something/1"), "schema"),
    row("junk", replaced_by(junk), "ini:[0-9]+: "),
    row("huge", replaced_by(huge), "larger"),
    row("a pipe", replaced_by(lambda p, _: os.mkfifo(p)), "regular file"),
    row("a folder", replaced_by(lambda p, _: os.mkdir(p)), "regular file"),
    row("a link to itself", replaced_by(lambda p, _: os.symlink(p, p)),
        "link|Too many"),
    row("micro 0", entry("micro_batch", 0), "micro_batch"),
    row("micro below 0", entry("micro_batch", -4), "micro_batch"),
    row("micro beyond any number",
        entry("micro_batch", "9" * 30), "micro_batch"),
    row("micro no number", entry("micro_batch", "16;rm"), "micro_batch"),
    row("accum 0", entry("grad_accum", 0), "grad_accum"),
    row("world 0", entry("world_size", 0), "world_size"),
    row("split that is not E", entry("micro_batch", 1000000), "effective"),
    row("another device kind", entry("device_kind", "3:tpu"), "device_kind"),
    row("a path for a name", entry("id", "13:../../../evil"), "id|bytes"),
    row("a peak that is no number", entry("peak_bytes", "-1"), "peak_bytes"),
)


class Recorded:
    """A place with one sound record of COMMAND, to be had again and again."""

    def __init__(self, place):
        self.place = place
        answer = place.run(*OPTIONS, "--", *COMMAND)
        check("a record", answer.status == 0, answer)
        self.path = answer.result["record"]["path"]
        self.text = read(self.path)

    def restore(self):
        """Nothing but the record."""
        remove(self.place.path("home"))
        os.makedirs(os.path.dirname(self.path), 0o700)
        os.chmod(self.place.path("home"), 0o700)
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(self.text)
        os.chmod(self.path, 0o600)

    def run(self, *options):
        return self.place.run(*OPTIONS, *options, "--", *COMMAND)


def lines_about_records(answer):
    """Of stderr, each as one line, however it is wrapped."""
    flat = re.sub(r"\n +", " ", answer.err)
    return [
        x for x in flat.splitlines() if re.search(r"records? passed over", x)
    ]


def sound(recorded):
    recorded.restore()
    answer = recorded.run()
    equal("sound: used", answer.result["outcome"], "reused")
    equal("sound: no probe", answer.result["probe_count"], 0)
    equal("sound: not a word of it", lines_about_records(answer), [])


def refused(recorded, about):
    if about.root and not IS_ROOT:
        print("%s: left out, only root can make it" % about.name)
        return
    recorded.restore()
    about.change(recorded.path, recorded.text)
    answer = recorded.run()
    name = about.name + ": "
    if not check(name + "autofit works", answer.status == 0, answer):
        return
    equal(name + "tunes", answer.result["outcome"], "tuned")
    check(name + "with probes", answer.result["probe_count"] > 0)
    equal(name + "the run", answer.out.splitlines()[-1:], [TUNED])
    told = lines_about_records(answer)
    check(
        name + "one clear line",
        len(told) == 1 and re.search(about.says, told[0]),
        "\n".join(told) or answer.err,
    )


# The file is sound, yet its numbers do not answer what is asked.
UNUSABLE = (
    ("another effective batch",
     entries(micro_batch=64, grad_accum=1, effective_batch=64)),
    ("an effective batch of billions",
     entries(micro_batch=10**12, grad_accum=1, effective_batch=10**12)),
    ("another world",
     entries(micro_batch=4, grad_accum=2, world_size=2, effective_batch=16)),
    ("no peak", entries(peak_bytes=0)),
)


def unusable(recorded):
    for name, change in UNUSABLE:
        recorded.restore()
        change(recorded.path, recorded.text)
        answer = recorded.run()
        check(
            name + ": only probes decide",
            answer.status == 0
            and answer.result["outcome"] == "tuned"
            and answer.result["probe_count"] > 0,
            answer,
        )
        equal(name + ": the run", answer.out.splitlines()[-1:], [TUNED])


def peak_beyond_memory(recorded):
    """Needs more than there is: a smaller tested split, or a tuning."""
    recorded.restore()
    entries(peak_bytes=1 << 40)(recorded.path, recorded.text)
    answer = recorded.run()
    check("a peak of 1 TiB: works", answer.status == 0, answer)
    best = answer.result["recommended"]
    check(
        "a peak of 1 TiB: not that split without a probe",
        answer.result["probe_count"] > 0 or best["micro_batch"] < 16,
        answer,
    )


def argv_is_never_run(recorded):
    """Argv, logs and paths of a record are for reading only."""
    place = recorded.place
    marker = place.path("marker")
    evil = place.write("evil.sh", "#!/bin/sh\ntouch %s\n" % marker, 0o755)
    text = "%d:%s" % (len(evil), evil)

    def hostile(recorded_text):
        changed = re.sub(r"(?m)^argv = .*\n(  .*\n)*", "", recorded_text)
        return re.sub(r"(?m)^identity = ", "argv = %s\nidentity = " % text,
                      changed, count=1)

    for name, options in (
        ("exact", []),
        ("hint", ["--max-micro", "8"]),
        ("--from", ["--from", recorded.path]),
        ("--trust-record", ["--trust-record"]),
        ("--no-probe", ["--no-probe"]),
    ):
        recorded.restore()
        rewrite(hostile)(recorded.path, recorded.text)
        answer = recorded.run(*options)
        check(
            "another argv, %s: the user's own runs" % name,
            answer.status == 0 and answer.out.splitlines()[-1:] and re.match(
                r"done: micro \d+ accum \d+ steps 5",
                answer.out.splitlines()[-1]),
            answer,
        )
        check("another argv, %s: never run" % name, not os.path.exists(marker))
    record = os.path.basename(recorded.path)[: -len(".ini")]
    for words in (
        ["show"],
        ["show", record],
        ["export", "json", record],
        ["export", "args", record],
        ["export", "command", record],
        ["lower", record],
        ["forget", record],
    ):
        recorded.restore()
        rewrite(hostile)(recorded.path, recorded.text)
        process = place.start(*words)
        process.communicate(timeout=lib.PATIENCE)
        check(
            "another argv, %s: never run" % " ".join(words),
            not os.path.exists(marker),
        )


def given_file(recorded):
    """--from asks for that very file: what is wrong with it ends the call."""
    recorded.restore()
    text, given = recorded.text, recorded.place.path("given.ini")
    rows = [
        ("world-writable", lambda: os.chmod(given, 0o666)),
        ("cut", lambda: os.truncate(given, len(text) // 2)),
        ("gone", lambda: os.unlink(given)),
        ("a pipe", lambda: (os.unlink(given), os.mkfifo(given))),
    ]
    if IS_ROOT:
        rows.append(("another user's", lambda: os.chown(given, NOBODY, -1)))
    for name, change in rows:
        remove(recorded.place.path("home"))
        if os.path.lexists(given):
            os.unlink(given)
        recorded.place.write("given.ini", text, 0o600)
        change()
        answer = recorded.run("--from", given)
        equal("--from, %s: exit" % name, answer.status, 125)
        equal("--from, %s: nothing runs" % name, answer.out, "")
        lib.holds("--from, %s: names it" % name, answer.err, "given.ini")


def site_records(recorded):
    """Of the site's owner or root: used. Of others: not."""
    if not IS_ROOT:
        print("site: left out, only root can make it")
        return
    place = recorded.place
    site = place.path("site")
    records = os.path.join(site, "records")
    name = os.path.basename(recorded.path)
    for title, site_owner, owner, bits, used in (
        ("of root", 0, 0, 0o644, True),
        ("of the site's owner", NOBODY, NOBODY, 0o644, True),
        ("of root in another's site", NOBODY, 0, 0o644, True),
        ("of another than the site's owner", 0, NOBODY, 0o644, False),
        ("that all may write to", 0, 0, 0o666, False),
    ):
        remove(place.path("home"))
        remove(site)
        os.makedirs(records, 0o755)
        path = place.write("site/records/" + name, recorded.text, bits)
        os.chown(site, site_owner, -1)
        os.chown(records, site_owner, -1)
        os.chown(path, owner, -1)
        answer = place.run(
            *OPTIONS, "--", *COMMAND, env={"AUTOFIT_SITE": site}
        )
        wanted = "reused" if used else "tuned"
        check(
            "site, a record %s: %s" % (title, wanted),
            answer.status == 0 and answer.result["outcome"] == wanted,
            answer,
        )
        equal(
            "site, a record %s: lines" % title,
            len(lines_about_records(answer)),
            0 if used else 1,
        )
        check("site: it is as it was", read(path) == recorded.text)


# ---------------------------------------------------------------- secrets

API_KEY = "sk-8x4Qe7VerySecret"
PASSWORD = "hunter2hunter2"
HF_TOKEN = "hf_QwErTy0123456789"
JOINED = "tok+en/with=signs&more"
SECRETS = (API_KEY, PASSWORD, HF_TOKEN, JOINED)
SECRET_OPTIONS = (
    ["--device", "host", "--memory", "80MiB", "--headroom", "4MiB"]
    + ["--confirm-steps", "3"]
)
SECRET_SCRIPT = """\
import argparse, os, sys, time
parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=8)
parser.add_argument("--grad-accum", type=int, default=1)
parser.add_argument("--api_key")
parser.add_argument("--auth-token")
parser.add_argument("--url")
args = parser.parse_args()
secrets = (args.api_key, args.auth_token, args.url, os.environ["HF_TOKEN"])
for text in secrets:
    print("I have", text, flush=True)
    half = len(text) // 2
    for part in (text[:half], text[half:]):
        sys.stdout.write(part)
        sys.stdout.flush()
        time.sleep(0.01)
    if os.environ.get("AUTOFIT_PROBE"):
        sys.stderr.write("\\nheader: Bearer %s\\r\\n" % text)
if os.environ.get("FAIL") and os.environ.get("AUTOFIT_PROBE"):
    raise ValueError("401 for %s with %s" % (args.url, args.api_key))
held = b"x" * (args.batch_size << 20)
for step in range(1, 9):
    print("step %d/8 key %s" % (step, args.api_key), flush=True)
    time.sleep(0.03)
print("got", *secrets)
"""


# How a folder that scratch lies in is, whether through a link, root is needed,
# and what is said; None: it is used.
PARENTS = (
    ("as it should be", 0o700, 0, False, None),
    ("open to read", 0o755, 0, False, None),
    ("open to all", 0o777, 0, False, "others may write"),
    ("open to all, through a link", 0o777, 0, True, "others may write"),
    ("sticky", 0o1777, 0, False, None),
    ("of another", 0o755, NOBODY, False, "another user"),
    ("of another, through a link", 0o755, NOBODY, True, "another user"),
    ("sticky, of another", 0o1777, NOBODY, False, "another user"),
)


def scratch_can_be_replaced():
    """Who can rename a folder on the way runs what he likes as the user."""
    for name, bits, owner, through_link, says in PARENTS:
        if owner and not IS_ROOT:
            continue
        for depth in ("", "deep/er"):
            with lib.Place("trust") as place:
                parent = place.path("parent")
                os.makedirs(os.path.join(parent, depth), 0o700)
                folder = os.path.join(parent, depth, "scratch")
                if through_link:
                    os.symlink(os.path.join(parent, depth), place.path("link"))
                    folder = place.path("link", "scratch")
                if owner:
                    os.chown(parent, owner, owner)
                os.chmod(parent, bits)
                answer = place.run("tune", *OPTIONS, "--scratch", folder,
                                   "--", *COMMAND)
                about = "scratch %s %s: " % (name, depth)
                check(about + "exit", answer.status == (123 if says else 0),
                      answer)
                if says:
                    lib.holds(about + "says so", answer.err, says,
                              r"--scratch\s+DIR")


def secret_command(script):
    return (
        [sys.executable, script, "--batch-size", "2", "--grad-accum", "8"]
        + ["--api_key", API_KEY, "--auth-token=" + JOINED]
        + ["--url", "https://me:%s@example.org/data?x=1" % PASSWORD]
    )


def files_with_secrets(folder):
    found = []
    for parent, folders, names in os.walk(folder):
        for name in names + folders:
            path = os.path.join(parent, name)
            text = name.encode()
            # The keeper may be cleaning up.
            with contextlib.suppress(FileNotFoundError):
                if stat.S_ISREG(os.lstat(path).st_mode):
                    with open(path, "rb") as file:
                        text += b"\n" + file.read()
            found += [
                "%s: %s" % (path, secret)
                for secret in SECRETS
                if secret.encode() in text
            ]
    return found


def no_secret(name, text):
    found = [secret for secret in SECRETS if secret in text]
    check(name, not found, "%s in:\n%s" % (found, text))


def log_texts(place):
    """Logs of probes, all in one."""
    text = ""
    for parent, _, names in os.walk(place.path("home", "logs")):
        for name in names:
            text += read(os.path.join(parent, name))
    return text


def secrets_stay():
    options = SECRET_OPTIONS
    with lib.Place("trust") as place:
        place.env["HF_TOKEN"] = HF_TOKEN
        command = secret_command(place.write("train.py", SECRET_SCRIPT))
        # In the middle of a tuning: journal, lock, lease, log, scratch.
        start = Start(place, *options, "--", *command, json_of=False)
        logged = lib.wait_for(lambda: "step 3/" in log_texts(place))
        check("secrets: a probe is under way", logged, start.err())
        waiter = Start(place, *options, "--", *command, json_of=False)
        check("secrets: another waits", lib.wait_for(waiter.is_waiting))
        for each in (waiter, start):
            each.send(signal.SIGKILL)
            each.process.wait()
        equal(
            "secrets: in no file under way",
            files_with_secrets(place.path("home")),
            [],
        )
        no_secret("secrets: not on stderr", start.err() + waiter.err())
        # The lock names the command for who waits for the device.
        answer = place.run(*options, "-v", "--", *command)
        if not check("secrets: tuned", answer.status == 0, answer):
            return
        equal("secrets: outcome", answer.result["outcome"], "tuned")
        last = answer.out.splitlines()[-1:]
        check(
            "secrets: the command gets them",
            last and all(secret in last[0] for secret in SECRETS),
            answer.out,
        )
        equal(
            "secrets: in no file", files_with_secrets(place.path("home")), []
        )
        check(
            "secrets: logs tell that something was there",
            "I have ***" in log_texts(place),
            log_texts(place)[:2000],
        )
        no_secret("secrets: not on stderr", answer.err)
        no_secret("secrets: not in JSON", json.dumps(answer.result))
        again = place.run(*options, "--", *command)
        equal("secrets: reused", again.result["outcome"], "reused")
        no_secret("secrets: not in JSON of a reuse", json.dumps(again.result))
        check(
            "secrets: the command gets them again",
            all(secret in again.out for secret in SECRETS),
        )
        # Another key is the same command.
        other = [x.replace(API_KEY, "sk-another-key-1") for x in command]
        third = place.run(*options, "--", *other)
        equal("secrets: another key, no probe",
              [third.result["outcome"], third.result["probe_count"]],
              ["reused", 0])
        secrets_in_words(place, options, command)


def secrets_in_words(place, options, command):
    name = os.path.basename(
        os.listdir(place.path("home", "records"))[0])[: -len(".ini")]
    for words in (
        ["show"],
        ["show", name],
        ["show", *options, "--", *command],
        ["export", "json", name],
        ["export", "record", name],
        ["export", "args", name],
        ["explain", *options, "--", *command],
        ["explain", *options, "--json", "-", "--", *command],
        ["explain", "--fresh", *options, "--", *command],
    ):
        process = place.start(*words)
        out, err = process.communicate(timeout=lib.PATIENCE)
        text = (out + err).decode(errors="replace")
        shown = " ".join(words[: 1 + words[0].count("export")])
        check("secrets: %s says something" % shown, text)
        no_secret("secrets: not in %s" % shown, text)


def secrets_in_errors():
    """The first error of a command that fails is shown, without them."""
    with lib.Place("trust") as place:
        place.env.update(HF_TOKEN=HF_TOKEN, FAIL="1")
        command = secret_command(place.write("train.py", SECRET_SCRIPT))
        answer = place.run(*SECRET_OPTIONS, "--", *command)
        equal("secrets, a failure: exit", answer.status, 121)
        lib.holds("secrets, a failure: shown", answer.err, "401 for")
        no_secret("secrets, a failure: not on stderr", answer.err)
        no_secret("secrets, a failure: not in JSON", json.dumps(answer.result))
        equal("secrets, a failure: in no file",
              files_with_secrets(place.path("home")), [])


def main():
    with lib.Place("trust") as place:
        recorded = Recorded(place)
        sound(recorded)
        for about in ROWS:
            refused(recorded, about)
        unusable(recorded)
        peak_beyond_memory(recorded)
        argv_is_never_run(recorded)
        given_file(recorded)
        site_records(recorded)
    scratch_can_be_replaced()
    secrets_stay()
    secrets_in_errors()
    lib.finish()


if __name__ == "__main__":
    main()
