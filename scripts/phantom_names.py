#!/usr/bin/env python3
# The names that a PyTorch release takes from NVIDIA's libraries.
# SPDX-License-Identifier: MIT
"""phantom_names.py FOLDER: FOLDER is torch/lib of an installed CUDA build.

Prints one line for each name that its libraries import: the file name of the
library it is asked of, the version node it must have there ("-": none), and
the name. The libraries of a phantom card are built from such a list
(probes/phantom/phantom.cmake); only `nm` is run, nothing is loaded.

Most of NVIDIA's libraries give their symbols a version that is their own file
name, so the import tells where it belongs. The others are told by how their
names begin.
"""
import pathlib
import re
import subprocess
import sys

# Of libraries without version nodes, or with one of another name.
BEGINNINGS = {
    "cuFile": ("libcufile.so.0", "-"),
    "cusparseLt": ("libcusparseLt.so.0", "-"),
    "nccl": ("libnccl.so.2", "-"),
    "nvshmem": ("libnvshmem_host.so.3", "NVSHMEM"),
}
NODE = re.compile(r"^lib(cu|nv)[A-Za-z]+\.so\.\d+$")
# The driver's own functions are in probes/phantom/driver.
DRIVER = re.compile(r"^libcuda\.so\.1$")


def imports(library):
    """Pairs of a name and its version, or ""."""
    text = subprocess.run(["nm", "-D", "--undefined-only", library], check=True,
                          text=True, capture_output=True).stdout
    for line in text.splitlines():
        symbol = line.split()[-1]
        name, _, version = symbol.partition("@")
        yield name, version.lstrip("@")


def place_of(name, version):
    """Library and version node, or None for what is not NVIDIA's."""
    for start, place in BEGINNINGS.items():
        # "cusparseLt" must not take what "cusparse" has.
        if re.match(start + "[A-Z_a-z]", name) and not NODE.match(version):
            return place
    if NODE.match(version) and not DRIVER.match(version):
        return version, version
    return None


def needed(folder):
    """Libraries named as needed, also those no name is taken from."""
    found = set()
    for library in sorted(folder.glob("*.so*")):
        text = subprocess.run(["readelf", "-dW", library], check=True,
                              text=True, capture_output=True).stdout
        found.update(re.findall(r"\(NEEDED\).*\[(lib(?:cu|nv|nccl)[^\]]+)\]",
                                text))
    return {name for name in found if not DRIVER.match(name)}


def main():
    if len(sys.argv) != 2 or not pathlib.Path(sys.argv[1]).is_dir():
        sys.exit("usage: phantom_names.py .../torch/lib")
    folder = pathlib.Path(sys.argv[1])
    rows = set()
    for library in sorted(folder.glob("*.so*")):
        for name, version in imports(library):
            place = place_of(name, version)
            if place:
                rows.add((*place, name))
    if len(rows) < 100:
        sys.exit("phantom_names.py: no CUDA build of PyTorch in %s" % folder)
    for library in sorted(needed(folder) - {row[0] for row in rows}):
        rows.add((library, library, "-"))
    for row in sorted(rows):
        print(*row)


if __name__ == "__main__":
    main()
