# Spack recipe: `spack repo add scripts/packages/spack`, then
# `spack dev-build autofit@main` in the source folder.
# SPDX-License-Identifier: MIT
from spack.package import *


class Autofit(CMakePackage):
    """Batch-size autotuner and launcher wrapper: finds the largest batch size
    of a training command that is safe in memory, by short probes of it."""

    license("MIT")

    version("main")

    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("libuv")
    depends_on("inih")
    depends_on("jansson")
    depends_on("pcre2")
    depends_on("libyaml")

    def cmake_args(self):
        return [self.define("BUILD_TESTING", False)]
