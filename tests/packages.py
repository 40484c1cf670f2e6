#!/usr/bin/env python3
# Packages are installed, run and removed, and nothing of them is left.
# SPDX-License-Identifier: MIT
# CTEST COST 50 PROCESSORS 2 FIXTURES_REQUIRED portable_build RESOURCE_LOCK portable_build
"""Tarball, wheel and .deb are made twice, and are the same byte for byte; with
AUTOFIT_NIGHTLY=1 so is the program that two builds in two folders make.
"""
import filecmp
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # nothing new beside this file

import packages_lib as lib  # noqa: E402
from packages_lib import BUILD, SOURCE, check, equal, must, run  # noqa: E402

# pkg-config's names, and those of Debian's packages.
LIBRARIES = {
    "libuv": "libuv1-dev",
    "inih": "libinih-dev",
    "jansson": "libjansson-dev",
    "libpcre2-8": "libpcre2-dev",
    "yaml-0.1": "libyaml-dev",
}


def what_is_missing_is_told_at_once(scratch):
    empty = os.path.join(scratch, "empty")
    os.mkdir(empty)
    done = run("cmake", "-S", SOURCE, "-B", os.path.join(scratch, "missing"),
               env=dict(os.environ, PKG_CONFIG_LIBDIR=empty,
                        PKG_CONFIG_PATH=empty))
    wanted = sorted(LIBRARIES.values()) + ["libcmocka-dev"]
    told = re.search(r"apt\s+install\s+([^\n]*(?:\n\s+lib[^\n]*)*)",
                     done.stdout)
    check("no library: it ends", done.returncode != 0, done.stdout)
    equal("no library: every package in one message",
          sorted(told.group(1).split()) if told else done.stdout,
          sorted(wanted))
    equal("no library: one error", done.stdout.count("CMake Error"), 1)


def versions_are_told():
    said = must(os.path.join(lib.PORTABLE, "autofit"), "--version", "-v")
    for name in LIBRARIES:
        version = must("pkg-config", "--modversion", name).strip()
        check("--version -v: %s %s" % (name, version),
              re.search(r"\b%s\b" % re.escape(version), said), said)


def tarball(path, scratch):
    place = os.path.join(scratch, "unpacked")
    os.mkdir(place)
    must("tar", "-xf", path, "-C", place)
    (top,) = os.listdir(place)
    lib.try_program("tarball", os.path.join(place, top, "bin/autofit"))
    module_file(os.path.join(place, top))
    module_load(os.path.join(place, top))
    equal("tarball: one folder to remove", os.listdir(place), [top])


def module_file(top):
    """By a Tcl that knows the words of modules, where there is one."""
    if not shutil.which("tclsh"):
        print("# no tclsh: the module file was not read")
        return
    folder = os.path.join(top, "share/modulefiles/autofit")
    (name,) = os.listdir(folder)
    script = """
        proc module-whatis {words} {}
        proc conflict {name} {}
        proc prepend-path {name value} { puts "$name=$value" }
        set ModulesCurrentModulefile {%s}
        source $ModulesCurrentModulefile
    """ % os.path.join(folder, name)
    said = run("tclsh", input=script).stdout
    equal("module file: what it sets", said.splitlines(), [
        "PATH=%s/bin" % top,
        "MANPATH=%s/share/man" % top,
        "PKG_CONFIG_PATH=%s/lib/pkgconfig" % top,
    ])


def module_command():
    """That of Environment Modules: MODULECMD, or Debian's; None: not here."""
    found = [os.environ.get("MODULECMD", "")]
    found += glob.glob("/usr/lib/*/modulecmd.tcl")
    found += glob.glob("/usr/lib/modulecmd.tcl")
    return next((path for path in found if path and os.path.exists(path)), None)


def module_load(top):
    """What `module load autofit` makes of a shell; and unload, that it was."""
    command = module_command()
    if not command or not shutil.which("tclsh"):
        print("# no Environment Modules: the module was not loaded")
        return
    script = """
        module() { eval "$(tclsh "$MODULECMD" bash "$@")"; }
        module use "$1/share/modulefiles"
        before=$PATH
        module load autofit
        command -v autofit
        autofit --version
        module unload autofit
        [ "$PATH" = "$before" ] && ! command -v autofit && echo unloaded
    """
    done = run("bash", "-c", script, "bash", top, env={
        "PATH": "/usr/bin:/bin", "MODULECMD": command, "HOME": top})
    lines = done.stdout.splitlines()
    equal("module: load, run, unload",
          (lines[:1], lines[1:2] and lines[1].split()[0], lines[2:]),
          ([os.path.join(top, "bin/autofit")], "autofit", ["unloaded"]))


def wheel(path, scratch):
    place = os.path.join(scratch, "venv")
    done = run(sys.executable, "-m", "venv", place)
    if done.returncode:
        print("# no venv here: the wheel was not installed: " + done.stdout)
        return
    pip = [os.path.join(place, "bin/python"), "-m", "pip",
           "--disable-pip-version-check", "--no-cache-dir"]
    before = lib.listing(place)
    must(*pip, "install", "--no-index", "--no-deps", path)
    lib.try_program("wheel", os.path.join(place, "bin/autofit"))
    shown = must(*pip, "show", "--files", "autofit-launcher")
    check("wheel: pip knows its files", "bin/autofit" in shown, shown)
    must(*pip, "uninstall", "--yes", "autofit-launcher")
    left = {name for name in lib.listing(place) - before
            if not os.path.isdir(os.path.join(place, name))}
    equal("wheel: nothing is left", left, set())


def deb(path, scratch):
    """Into a root of its own: nothing of this machine changes."""
    root = os.path.join(scratch, "root")
    admin = os.path.join(root, "var/lib/dpkg")
    os.makedirs(os.path.join(admin, "updates"))
    os.makedirs(os.path.join(admin, "info"))
    for name in ("status", "available"):
        open(os.path.join(admin, name), "w").close()
    dpkg = ["dpkg", "--root=" + root, "--log=/dev/null", "--force-not-root",
            "--force-depends", "--force-bad-path"]
    needs = must("dpkg-deb", "--field", path, "Depends")
    check("deb: needs glibc alone", re.fullmatch(r"libc6 \(>= [\d.]+\)\n",
                                                 needs), needs)
    before = lib.listing(root)
    must(*dpkg, "--install", path)
    lib.try_program("deb", os.path.join(root, "usr/bin/autofit"))
    check("deb: the manual page is there",
          os.path.exists(os.path.join(root, "usr/share/man/man1/autofit.1")))
    must(*dpkg, "--purge", "autofit")
    left = {name for name in lib.listing(root) - before
            if not name.startswith("var/lib/dpkg")}
    equal("deb: nothing is left", left, set())


def sbom(path):
    with open(path) as file:
        told = json.load(file)
    equal("sbom: its kind", (told["bomFormat"], told["specVersion"]),
          ("CycloneDX", "1.5"))
    found = {item["bom-ref"]: item["version"] for item in told["components"]}
    wanted = {
        package: must("dpkg-query", "-W", "-f", "${Version}", package)
        for package in LIBRARIES.values()
    }
    equal("sbom: what is linked, by dpkg", found, wanted)
    check("sbom: each with a licence", all(
        item["licenses"] for item in told["components"]), told)


def spack():
    """There is no Spack here: at least it is Python, and names what CMake
    asks for."""
    path = os.path.join(SOURCE, "scripts/packages/spack/packages/autofit",
                        "package.py")
    with open(path) as file:
        text = file.read()
    compile(text, path, "exec")
    named = set(re.findall(r'depends_on\("([a-z0-9]+)"\)', text))
    equal("spack: the libraries", named,
          {"libuv", "inih", "jansson", "pcre2", "libyaml"})


def two_builds(scratch):
    """Of two folders, without a cache: the same program."""
    if os.environ.get("AUTOFIT_NIGHTLY") != "1":
        print("# two whole builds: with AUTOFIT_NIGHTLY=1")
        return
    programs = []
    for name in ("built", "built-with-a-longer-name"):
        source = os.path.join(scratch, name)
        shutil.copytree(SOURCE, source, symlinks=True,
                        ignore=shutil.ignore_patterns("build*", ".git"))
        env = dict(os.environ, CCACHE_DISABLE="1")
        must("cmake", "--preset", "portable", "-DBUILD_TESTING=OFF",
             cwd=source, env=env)
        must("cmake", "--build", "--preset", "portable", "-j", "2",
             "--target", "autofit", cwd=source, env=env)
        programs.append(os.path.join(source, "build/portable/autofit"))
    check("two builds: one program", filecmp.cmp(*programs, shallow=False))


def main():
    if not shutil.which("dpkg-deb"):
        lib.skip("no dpkg here, which the packages are made and named with")
    lib.build_portable()
    with tempfile.TemporaryDirectory(prefix="autofit-packages-") as scratch:
        first = lib.make_packages(os.path.join(scratch, "first"))
        second = lib.make_packages(os.path.join(scratch, "second"))
        for end in (".tar.gz", ".whl", ".deb", ".cdx.json"):
            check("made twice: the same " + end,
                  end in first and end in second and
                  filecmp.cmp(first[end], second[end], shallow=False), first)
        must("sha256sum", "-c", "SHA256SUMS",
             cwd=os.path.join(scratch, "first"))
        tarball(first[".tar.gz"], scratch)
        wheel(first[".whl"], scratch)
        deb(first[".deb"], scratch)
        sbom(first[".cdx.json"])
        spack()
        versions_are_told()
        what_is_missing_is_told_at_once(scratch)
        two_builds(scratch)
    lib.finish()


main()
