#!/usr/bin/env python3
# Makes a wheel of an installed tree, so that pip can install autofit.
# SPDX-License-Identifier: MIT
"""wheel.py TREE VERSION FOLDER

The wheel holds what TREE holds: the program among the scripts, all else below
share. There is no Python in it, so every Python 3 takes it; the platform is the
oldest glibc that has all symbols that the program asks for. Times are those of
SOURCE_DATE_EPOCH, and names are sorted: equal trees give equal wheels.
"""
import base64
import hashlib
import os
import platform
import re
import subprocess
import sys
import time
import zipfile

PROJECT = "autofit-launcher"
NAME = PROJECT.replace("-", "_")
# pip puts these where a user's shells and man look below its prefix.
SHARED = ("share/man", "share/doc", "share/bash-completion", "share/zsh",
          "share/fish")


def glibc_needed(program):
    """The newest version of a glibc symbol that the program names."""
    table = subprocess.run(["objdump", "-T", program], check=True, text=True,
                           stdout=subprocess.PIPE).stdout
    versions = {tuple(map(int, found.split(".")))
                for found in re.findall(r"GLIBC_(\d+\.\d+)", table)}
    if not versions:
        sys.exit("wheel.py: %s names no symbol of glibc" % program)
    return max(versions)


def metadata(version, readme):
    return "\n".join([
        "Metadata-Version: 2.1",
        "Name: " + PROJECT,
        "Version: " + version,
        "Summary: batch-size autotuner and launcher wrapper",
        "License: MIT",
        "Platform: linux",
        "Classifier: Operating System :: POSIX :: Linux",
        "Classifier: Environment :: GPU",
        "Requires-Python: >=3.7",
        "Description-Content-Type: text/markdown",
        "",
        readme,
    ])


def entries(tree, version, tag):
    """(name in the wheel, bytes, is a program), without RECORD."""
    data = "%s-%s.data" % (NAME, version)
    info = "%s-%s.dist-info" % (NAME, version)

    def read(path):
        with open(os.path.join(tree, path), "rb") as file:
            return file.read()

    yield data + "/scripts/autofit", read("bin/autofit"), True
    for top in SHARED:
        for folder, _, names in os.walk(os.path.join(tree, top)):
            for name in names:
                path = os.path.relpath(os.path.join(folder, name), tree)
                yield "%s/data/%s" % (data, path), read(path), False
    readme = read("share/doc/autofit/README.md").decode()
    yield info + "/METADATA", metadata(version, readme).encode(), False
    yield (info + "/WHEEL",
           ("Wheel-Version: 1.0\nGenerator: autofit\nRoot-Is-Purelib: false\n"
            "Tag: %s\n" % tag).encode(), False)
    yield info + "/LICENSE", read("share/doc/autofit/LICENSE"), False
    yield (info + "/sboms/autofit.cdx.json",
           read("share/doc/autofit/sbom.cdx.json"), False)


def record_line(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
    return "%s,sha256=%s,%d\n" % (name, digest.rstrip(b"=").decode(),
                                  len(content))


def main(tree, version, folder):
    tag = "py3-none-manylinux_%d_%d_%s" % (
        *glibc_needed(os.path.join(tree, "bin/autofit")), platform.machine())
    when = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
    path = os.path.join(folder, "%s-%s-%s.whl" % (NAME, version, tag))
    files = sorted(entries(tree, version, tag))
    record = "%s-%s.dist-info/RECORD" % (NAME, version)
    lines = "".join(record_line(name, content) for name, content, _ in files)
    files.append((record, (lines + record + ",,\n").encode(), False))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED,
                         compresslevel=9) as wheel:
        for name, content, is_program in files:
            entry = zipfile.ZipInfo(name, when)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            wheel.writestr(entry, content)
    print(path)


main(*sys.argv[1:])
