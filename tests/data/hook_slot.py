# What the page at AUTOFIT_CHANNEL says of this process now.
# SPDX-License-Identifier: MIT
import os
import struct

NAMES = "start train eval save".split()

# Bytes: probes/channel/channel.h.
HEADER, SLOT = 64, 144


def phase():
    """Its number; None: there is no page, or no slot of this process."""
    path = os.environ.get("AUTOFIT_CHANNEL")
    if path:
        with open(path, "rb") as file:
            data = file.read(HEADER + SLOT * 256)
        for at in range(HEADER, len(data), SLOT):
            if struct.unpack_from("=I", data, at)[0] == os.getpid():
                return struct.unpack_from("=I", data, at + 52)[0]
    return None


def note():
    number = phase()
    if number is not None:
        print("phase " + NAMES[number])
