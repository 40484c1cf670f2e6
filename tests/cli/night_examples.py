#!/usr/bin/env python3
# The examples of nights by the clock, as far as this machine can check them.
# SPDX-License-Identifier: MIT
"""Every call of autofit in them is one that autofit takes, units are verified
by systemd where it is installed, and manifests by Kubernetes' schemas, in an
environment of their own, where that can be made. Kueue's are no package: its
queue is validated where AUTOFIT_KUEUE_CRDS names a folder with the files of
Kueue's config/components/crd/bases.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # nothing new beside this file

import frameworks_pypi  # noqa: E402
import lib  # noqa: E402
from lib import check, equal, holds  # noqa: E402

FOLDER = os.path.join(lib.SOURCE, "examples", "nightly")


def read(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


def calls():
    """The words behind each "autofit nightly", by file."""
    for name in sorted(os.listdir(FOLDER)):
        if name in ("README.md", "kueue-queue.yaml"):
            continue
        for line in read(name).splitlines():
            words = None
            if "command: [" in line:
                words = re.findall('"([^"]*)"', line)
            elif "autofit nightly " in line and not line.startswith("#"):
                words = shlex.split(line[line.index("autofit nightly "):])
            if words:
                yield name, words[1:]


def each_call(place):
    place.write("jobs.ini", "[job a]\ncommand = true\n")
    found = list(calls())
    equal("calls: one in each file that has one", [n for n, _ in found],
          ["autofit-nightly.service", "crontab", "job.yaml", "kueue.yaml",
           "scrontab"])
    for name, words in found:
        process = place.start(words[0], "--dry-run", *words[1:])
        out, err = process.communicate(timeout=lib.PATIENCE)
        equal(name + ": autofit takes its words",
              (process.returncode, err.decode()), (0, ""))


def as_they_stand(place):
    """The line of cron and the command of the Job, with folders of the test:
    each is a night."""
    place.write("jobs.ini", """\
[defaults]
device = host
memory = 60M
headroom = 2M
confirm-steps = 3
[job a]
command = %s --batch-size 4 --grad-accum 8
    --steps 10 --step-ms 5 --per-sample-kib 1024
""" % lib.TRAINER)
    # It is about noon there: --until is hours away.
    env = dict(place.env, TZ="TEST%d" % (time.gmtime().tm_hour - 12),
               PATH=os.path.dirname(lib.AUTOFIT) + ":" + place.env["PATH"])
    line = read("crontab").splitlines()[-1].split(None, 5)[5]
    for old in ("/srv/training", "/var/lib/prometheus/node-exporter"):
        line = line.replace(old, place.folder)
    words = dict(calls())["job.yaml"]
    for name, argv in (("crontab", ["sh", "-c", line]),
                       ("job.yaml", ["autofit", *words])):
        done = subprocess.run(argv, cwd=place.folder, env=env, text=True,
                              capture_output=True, check=False,
                              timeout=lib.PATIENCE, stdin=subprocess.DEVNULL)
        equal(name + ": as it stands it is a night", done.returncode, 0)
        holds(name + ": its line", done.stderr, "a: micro 32 x accum 1")
    check("crontab: its metrics", os.path.exists(place.path("autofit.prom")))


def units(place):
    if not shutil.which("systemd-analyze"):
        print("# units are not verified: no systemd-analyze here")
        return
    for name in ("autofit-nightly.service", "autofit-nightly.timer"):
        text = read(name).replace("/usr/bin/autofit", lib.AUTOFIT)
        place.write("units/" + name, text.replace("/srv/training", "/"))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no",
         place.path("units", "autofit-nightly.timer")],
        capture_output=True, text=True, check=False,
        env=dict(os.environ, SYSTEMD_UNIT_PATH=place.path("units") + ":"))
    ours = [line for line in done.stderr.splitlines() if "autofit" in line]
    equal("units: systemd has nothing to say", ours, [])


# Prints nothing where the manifest is as the schema wants it.
VALIDATE = """\
import sys, yaml, kubernetes_validate
try:
    kubernetes_validate.validate(yaml.safe_load(sys.stdin.read()), "1.29",
                                 strict=True)
except kubernetes_validate.ValidationError as why:
    print(why)
"""


def validate(python, text):
    done = subprocess.run([python, "-c", VALIDATE], input=text, text=True,
                          capture_output=True, check=False)
    return done.stdout + done.stderr


def manifests():
    try:
        python = frameworks_pypi.make_environment(
            os.path.join(os.environ["BUILD"], "kubernetes-venv"),
            os.path.join(lib.DATA, "consumers", "kubernetes.txt"))
    except SystemExit:  # it has said why
        print("# manifests are not validated")
        return
    for name in ("job.yaml", "kueue.yaml"):
        equal(name + ": as the schema wants it", validate(python, read(name)),
              "")
    queue(python)
    wrong = read("job.yaml").replace("backoffLimit: 2", "backOffLimit: 2")
    check("a misspelt key is seen", "backOffLimit" in validate(python, wrong))


# Each object against the schema of its own version. A schema of Kubernetes says
# nothing of keys that it does not know; strict means that they are mistakes.
VALIDATE_QUEUE = """\
import glob, os, sys, jsonschema, yaml

def strict(node):
    if isinstance(node, list):
        for item in node:
            strict(item)
    elif isinstance(node, dict):
        for item in list(node.values()):
            strict(item)
        if node.get("x-kubernetes-int-or-string"):
            node.pop("type", None)
        if isinstance(node.get("properties"), dict):
            node.setdefault("additionalProperties", False)

schemas = {}
for path in glob.glob(os.path.join(sys.argv[1], "kueue*.yaml")):
    crd = yaml.safe_load(open(path))["spec"]
    for version in crd["versions"]:
        schema = version["schema"]["openAPIV3Schema"]
        strict(schema)
        schema["properties"]["metadata"] = {"type": "object"}
        schemas[crd["group"] + "/" + version["name"],
                crd["names"]["kind"]] = schema
for one in yaml.safe_load_all(sys.stdin.read()):
    schema = schemas[one["apiVersion"], one["kind"]]
    for why in jsonschema.Draft7Validator(schema).iter_errors(one):
        print(one["kind"], why.message)
"""


def queue(python):
    """The objects of Kueue, and that the night's label names its queue."""
    folder = os.environ.get("AUTOFIT_KUEUE_CRDS")
    text = read("kueue-queue.yaml")
    holds("kueue.yaml: names the queue", read("kueue.yaml"),
          r"kueue\.x-k8s\.io/queue-name: tuning\b")
    holds("kueue-queue.yaml: has its name", text,
          r"kind: LocalQueue\s+metadata:\s+name: tuning\b")
    if not folder:
        print("# the queue is not validated: no AUTOFIT_KUEUE_CRDS")
        return

    def said(manifest):
        done = subprocess.run([python, "-c", VALIDATE_QUEUE, folder],
                              input=manifest, text=True, capture_output=True,
                              check=False)
        return done.stdout + done.stderr

    equal("kueue-queue.yaml: as Kueue's schemas want it", said(text), "")
    wrong = text.replace("clusterQueue: tuning", "clusterQueues: tuning")
    holds("kueue-queue.yaml: a misspelt key is seen", said(wrong),
          "clusterQueues")


with lib.Place("examples") as here:
    each_call(here)
    as_they_stand(here)
    units(here)
    manifests()
lib.finish()
