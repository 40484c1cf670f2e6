# NVML by ctypes: what the driver says of a device, without a context.
# SPDX-License-Identifier: MIT
import ctypes

NOT_AVAILABLE = 0xFFFFFFFFFFFFFFFF
INSUFFICIENT_SIZE = 7
PROCESSES_MAX = 4096


class Memory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong),
                ("used", ctypes.c_ulonglong)]


class Process(ctypes.Structure):
    """Of the _v3 functions."""

    _fields_ = [("pid", ctypes.c_uint), ("used", ctypes.c_ulonglong),
                ("gpu_instance", ctypes.c_uint),
                ("compute_instance", ctypes.c_uint)]


class NvmlError(Exception):
    pass


class Nvml:
    def __init__(self, uuid, library="libnvidia-ml.so.1"):
        try:
            self.library = ctypes.CDLL(library)
        except OSError as error:
            raise NvmlError("cannot load NVML: %s" % error)
        self.call("nvmlInit_v2")
        self.device = ctypes.c_void_p()
        self.call("nvmlDeviceGetHandleByUUID", uuid.encode(),
                  ctypes.byref(self.device))

    def call(self, name, *args):
        try:
            status = getattr(self.library, name)(*args)
        except AttributeError:
            raise NvmlError("%s is not there" % name)
        if status:
            raise NvmlError("%s: error %d" % (name, status))

    def driver(self):
        text = ctypes.create_string_buffer(96)
        self.call("nvmlSystemGetDriverVersion", text,
                  ctypes.c_uint(len(text)))
        return text.value.decode(errors="replace")

    def memory(self):
        """(total, free) bytes of the device."""
        memory = Memory()
        self.call("nvmlDeviceGetMemoryInfo", self.device,
                  ctypes.byref(memory))
        return memory.total, memory.free

    def used(self):
        total, free = self.memory()
        return total - free

    def processes(self):
        """pid: bytes of the compute processes; None where not known."""
        room = 64
        while True:
            count = ctypes.c_uint(room)
            rows = (Process * room)()
            status = self.library.nvmlDeviceGetComputeRunningProcesses_v3(
                self.device, ctypes.byref(count), rows)
            if status != INSUFFICIENT_SIZE or room >= PROCESSES_MAX:
                break
            room *= 4
        if status:
            raise NvmlError("processes: error %d" % status)
        return {
            row.pid: None if row.used == NOT_AVAILABLE else row.used
            for row in rows[:min(count.value, room)]
        }
