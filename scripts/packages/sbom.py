#!/usr/bin/env python3
# Says what is in a portable build of autofit: an SBOM in CycloneDX's JSON.
# SPDX-License-Identifier: MIT
"""sbom.py BUILD

The archives that BUILD linked stand in its CMake cache. dpkg says of each which
package it came from, of which source and version, and under which licence.
"""
import hashlib
import json
import os
import re
import subprocess
import sys
import uuid


def read(path):
    with open(path, errors="replace") as file:
        return file.read()


def dpkg(*words):
    return subprocess.run(words, check=True, text=True,
                          stdout=subprocess.PIPE).stdout.strip()


def owner(path):
    """The package of a file; where /lib is a link dpkg knows one name of two."""
    for name in (path, os.path.realpath(path), path.replace("/usr", "", 1)):
        try:
            return dpkg("dpkg-query", "-S", name).split(": ")[0].split(":")[0]
        except subprocess.CalledProcessError:
            pass
    sys.exit("sbom.py: no package of dpkg holds %s" % path)


def licences(package):
    """Short names of a machine-readable copyright file, else one word."""
    path = "/usr/share/doc/%s/copyright" % package
    if not os.path.exists(path):
        return []
    names = re.findall(r"^License: *(\S[^\n]*)", read(path), re.MULTILINE)
    return sorted(set(names)) or ["see " + path]


def component(path):
    package = owner(path)
    source, version, architecture = dpkg(
        "dpkg-query", "-W", "-f",
        "${source:Package}\t${Version}\t${Architecture}", package).split("\t")
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    return {
        "type": "library",
        "bom-ref": package,
        "name": source,
        "version": version,
        "hashes": [{"alg": "SHA-256", "content": digest}],
        "licenses": [{"license": {"name": name}} for name in licences(package)],
        "purl": "pkg:deb/debian/%s@%s?arch=%s" % (package, version,
                                                  architecture),
        "properties": [{"name": "autofit:linked", "value": "static"},
                       {"name": "autofit:file",
                        "value": os.path.basename(path)}],
    }


def main(build):
    cache = read(os.path.join(build, "CMakeCache.txt"))
    archives = re.findall(r"^\w+_ARCHIVE:\w+=(/.*\.a)$", cache, re.MULTILINE)
    version = re.search(r"^CMAKE_PROJECT_VERSION:\w+=(.*)$", cache,
                        re.MULTILINE).group(1)
    if not archives:
        sys.exit("sbom.py: %s is no portable build" % build)
    libraries = sorted((component(path) for path in archives),
                       key=lambda item: item["bom-ref"])
    with open(os.path.join(build, "autofit"), "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    program = {
        "type": "application",
        "bom-ref": "autofit",
        "name": "autofit",
        "version": version,
        "licenses": [{"license": {"id": "MIT"}}],
        "hashes": [{"alg": "SHA-256", "content": digest}],
    }
    json.dump({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": "urn:uuid:%s" % uuid.uuid5(uuid.NAMESPACE_OID, digest),
        "version": 1,
        "metadata": {"component": program},
        "components": libraries,
        "dependencies": [{"ref": "autofit", "dependsOn":
                          [item["bom-ref"] for item in libraries]}],
    }, sys.stdout, indent=2)
    print()


main(*sys.argv[1:])
