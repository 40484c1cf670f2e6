#!/usr/bin/env python3
# The .rpm is installed into a root of its own, run and removed.
# SPDX-License-Identifier: MIT
# CTEST FIXTURES_REQUIRED portable_build RESOURCE_LOCK portable_build
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True  # nothing new beside this file

import packages_lib as lib  # noqa: E402
from packages_lib import check, equal, must  # noqa: E402


def main():
    for tool in ("rpmbuild", "rpm"):
        if not shutil.which(tool):
            lib.skip("no %s here" % tool)
    lib.build_portable()
    with tempfile.TemporaryDirectory(prefix="autofit-rpm-") as scratch:
        path = lib.make_packages(os.path.join(scratch, "made"))[".rpm"]
        root = os.path.join(scratch, "root")
        rpm = ["rpm", "--root", root, "--dbpath", "/var/lib/rpm"]
        os.makedirs(root)
        before = lib.listing(root)
        must(*rpm, "--install", "--nodeps", path)
        lib.try_program("rpm", os.path.join(root, "usr/bin/autofit"))
        needs = must("rpm", "--query", "--package", "--requires", path)
        check("rpm: needs glibc alone", all(
            word.startswith(("lib", "ld-linux", "rtld", "rpmlib"))
            for word in needs.split("\n") if word), needs)
        must(*rpm, "--erase", "autofit")
        # The folders of a distribution are no package's, but those of autofit.
        left = {name for name in lib.listing(root) - before
                if not name.startswith("var/lib/rpm") and
                ("autofit" in name or
                 not os.path.isdir(os.path.join(root, name)))}
        equal("rpm: nothing is left", left, set())
    lib.finish()


main()
