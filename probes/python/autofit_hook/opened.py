# The files of settings that this process opens to read them.
# SPDX-License-Identifier: MIT
import os
import sys

from autofit_hook.process import write_more
from autofit_hook.wrapping import leave_uncompiled

# In what settings are written. More files of one folder are data.
ENDINGS = (
    ".yaml .yml .json .json5 .jsonc .jsonnet .libsonnet .toml .ini .cfg .conf "
    ".config .gin .hocon .properties .xml .py .env .prototxt .pbtxt .textproto"
)
PER_FOLDER = 8
MAX_PATHS = 64
WRITES = os.O_WRONLY | os.O_RDWR


class Opened(object):
    """
    A file that no word of the command names can decide what the training
    takes. What this process itself has written is none. A copy of it, as
    workers that load data are, only reads data.
    """

    def __init__(self, modules):
        self.modules = modules
        self.pid = os.getpid()
        self.endings = tuple(ENDINGS.split())
        self.known = set()
        self.folders = {}
        self.is_left = False

    def watch(self):
        # Since 3.8.
        if hasattr(sys, "addaudithook"):
            sys.addaudithook(self.see)

    def leave_uncompiled(self):
        """Python itself calls these, wherever an event is told."""
        self.is_left = self.is_left or leave_uncompiled((self.see, self.look))

    def see(self, event, values):
        if event != "open":
            return
        try:
            self.look(*values)
        except Exception:
            pass

    def look(self, path, mode, flags):
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if not isinstance(path, str) or not path.endswith(self.endings):
            return
        path = os.path.abspath(path)
        folder = os.path.dirname(path)
        count = self.folders.get(folder, 0)
        if (
            path in self.known
            or len(self.known) == MAX_PATHS
            or count == PER_FOLDER
            or self.pid != os.getpid()
        ):
            return
        if flags & WRITES:
            self.known.add(path)
            return
        found = self.modules.own_file(path)
        if found:
            self.known.add(path)
            self.folders[folder] = count + 1
            data = os.fsencode(found) + b"\0"
            write_more(self.modules.folder, "opened", data)
