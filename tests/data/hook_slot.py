# What the page at AUTOFIT_CHANNEL says of this process now.
# SPDX-License-Identifier: MIT
import os
import struct

NAMES = "start train eval save".split()


def phase():
    """Its number; None: there is no page, or no slot of this process."""
    path = os.environ.get("AUTOFIT_CHANNEL")
    if path:
        with open(path, "rb") as file:
            data = file.read(64 + 128 * 256)
        for at in range(64, len(data), 128):
            if struct.unpack_from("=I", data, at)[0] == os.getpid():
                return struct.unpack_from("=I", data, at + 52)[0]
    return None


def note():
    number = phase()
    if number is not None:
        print("phase " + NAMES[number])
