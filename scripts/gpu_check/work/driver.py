# Questions to the CUDA driver API itself, for the checks of gpu-check.
# SPDX-License-Identifier: MIT
import ctypes
import os
import platform
import sys
import time

from meet import meet, run

MIB = 1 << 20
GIB = 1 << 30
# Base name, version, and the ELF name that both should lead to.
NAMES = (
    ("cuMemAlloc", 3020, "cuMemAlloc_v2"),
    ("cuMemAllocPitch", 3020, "cuMemAllocPitch_v2"),
    ("cuMemAllocManaged", 6000, "cuMemAllocManaged"),
    ("cuMemFree", 3020, "cuMemFree_v2"),
    ("cuMemGetInfo", 3020, "cuMemGetInfo_v2"),
    ("cuDeviceTotalMem", 3020, "cuDeviceTotalMem_v2"),
    ("cuMemAllocHost", 3020, "cuMemAllocHost_v2"),
    ("cuMemHostAlloc", 2020, "cuMemHostAlloc"),
    ("cuMemHostRegister", 6050, "cuMemHostRegister_v2"),
    ("cuMemAllocAsync", 11020, "cuMemAllocAsync"),
    ("cuMemAllocFromPoolAsync", 11020, "cuMemAllocFromPoolAsync"),
    ("cuMemFreeAsync", 11020, "cuMemFreeAsync"),
    ("cuMemPoolCreate", 11020, "cuMemPoolCreate"),
    ("cuMemPoolTrimTo", 11020, "cuMemPoolTrimTo"),
    ("cuMemCreate", 10020, "cuMemCreate"),
    ("cuMemRelease", 10020, "cuMemRelease"),
    ("cuMemMap", 10020, "cuMemMap"),
    ("cuMemUnmap", 10020, "cuMemUnmap"),
    ("cuArrayCreate", 3020, "cuArrayCreate_v2"),
    ("cuCtxCreate", 3020, "cuCtxCreate_v2"),
    ("cuDevicePrimaryCtxRetain", 7000, "cuDevicePrimaryCtxRetain"),
    ("cuLaunchKernel", 4000, "cuLaunchKernel"),
    ("cuLaunchKernelEx", 11060, "cuLaunchKernelEx"),
    ("cuGraphLaunch", 10000, "cuGraphLaunch"),
)
RESERVED_MEM_HIGH = 6  # CU_MEMPOOL_ATTR_...
QUERIES = 20000
SIZES = (1, 512, 4096, 64 << 10, MIB, 2 * MIB, 2 * MIB + 1, 3 * MIB, 20 * MIB)
EACH = 32


class DriverError(Exception):
    pass


class Driver:
    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")

    def call(self, name, *args):
        status = getattr(self.library, name)(*args)
        if status:
            raise DriverError("%s: CUDA error %d" % (name, status))

    def start(self):
        """The first device, with its primary context current."""
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        return device

    def free_bytes(self):
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value

    def look_up(self, base, version):
        """(status, address) by cuGetProcAddress_v2."""
        found = ctypes.c_void_p()
        status = self.library.cuGetProcAddress_v2(
            base.encode(), ctypes.byref(found), ctypes.c_int(version),
            ctypes.c_uint64(0), None)
        return status, found.value or 0

    def symbol(self, name):
        try:
            function = getattr(self.library, name)
        except AttributeError:
            return 0
        return ctypes.cast(function, ctypes.c_void_p).value


def file_of(address):
    """The base name of the file that is mapped there; "" when none is."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            words = line.split()
            first, last = (int(x, 16) for x in words[0].split("-"))
            if first <= address < last:
                return os.path.basename(words[5]) if len(words) > 5 else ""
    return ""


def first_lookup():
    """As libcudart begins: no name, version 0, before cuInit."""
    status, address = Driver().look_up("", 0)
    meet("first", status=status, has_address=bool(address))


def addresses():
    driver = Driver()
    rows = []
    for base, version, elf in NAMES:
        status, by_lookup = driver.look_up(base, version)
        by_name = driver.symbol(elf)
        rows.append({
            "name": elf, "status": status, "same": by_lookup == by_name,
            "by_lookup": file_of(by_lookup), "by_name": file_of(by_name),
        })
    meet("addresses", rows=rows)


def nanoseconds(function, *args):
    """The least mean of a hundred runs, of ctypes and the call together."""
    least = float("inf")
    for _ in range(100):
        began = time.perf_counter_ns()
        for _ in range(QUERIES // 100):
            function(*args)
        took = time.perf_counter_ns() - began
        least = min(least, took / (QUERIES // 100))
    return least


def pool_cost():
    driver = Driver()
    device = driver.start()
    pool, pointer = ctypes.c_void_p(), ctypes.c_uint64()
    high, version = ctypes.c_uint64(), ctypes.c_int()
    driver.call("cuDeviceGetDefaultMemPool", ctypes.byref(pool), device)
    driver.call("cuMemAllocAsync", ctypes.byref(pointer),
                ctypes.c_size_t(64 * MIB), None)
    driver.call("cuMemPoolGetAttribute", pool, RESERVED_MEM_HIGH,
                ctypes.byref(high))
    query = nanoseconds(driver.library.cuMemPoolGetAttribute, pool,
                        RESERVED_MEM_HIGH, ctypes.byref(high))
    nothing = nanoseconds(driver.library.cuDriverGetVersion,
                          ctypes.byref(version))
    meet("pool", query_ns=query, call_ns=nothing, high_bytes=high.value)


def rounding():
    driver = Driver()
    driver.start()
    warm = ctypes.c_uint64()
    driver.call("cuMemAlloc_v2", ctypes.byref(warm), ctypes.c_size_t(GIB // 4))
    driver.call("cuMemFree_v2", warm)
    rows = []
    for size in SIZES:
        before = driver.free_bytes()
        pointers = []
        for _ in range(EACH):
            pointer = ctypes.c_uint64()
            driver.call("cuMemAlloc_v2", ctypes.byref(pointer),
                        ctypes.c_size_t(size))
            pointers.append(pointer)
        rows.append({"size": size, "each": EACH,
                     "taken": before - driver.free_bytes()})
        for pointer in pointers:
            driver.call("cuMemFree_v2", pointer)
    meet("rounding", rows=rows)


def machine():
    """What kind of place this is, for channels and for coverage."""
    Driver().start()
    with open("/proc/self/maps", encoding="utf-8") as maps:
        text = maps.read()
    try:
        os.close(os.memfd_create("gpu-check"))
        has_memfd = True
    except (AttributeError, OSError):
        has_memfd = False
    meet("machine", kernel=platform.release(), system=platform.platform(),
         maps_libcuda="libcuda.so" in text,
         maps_preload="libautofit_preload.so" in text, memfd=has_memfd,
         pid=os.getpid(), python=sys.version.split()[0])


run({"first": first_lookup, "addresses": addresses, "pool": pool_cost,
     "rounding": rounding, "machine": machine})
