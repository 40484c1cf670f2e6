#!/usr/bin/env python3
# What autofit declares of NVIDIA's libraries is what NVIDIA's headers declare.
# SPDX-License-Identifier: MIT
# CTEST COST 20
"""Every function that the libraries of a phantom card define takes and gives
what its declaration in the public headers says, as the compiler passes it on
this machine; structs and numbers are laid out and counted as there.

The headers are those of a toolkit in /usr/local/cuda, of the folders that
AUTOFIT_NVIDIA_HEADERS names (site-packages/nvidia; several with colons), or with
AUTOFIT_NIGHTLY=1 those of the PyPI packages for CUDA 12, and the runtime's for CUDA
13 (1.7 GB are fetched, of which only the headers are kept). Nothing of them is loaded
or run. Takes clang."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
import phantom_lib  # noqa: E402

PHANTOM = os.path.join(lib.SOURCE, "probes", "phantom")
TOOLKIT = "/usr/local/cuda/include"
RUNTIME = "cuda_runtime_api.h"
PACKAGES = {
    "12": ("nvidia-cuda-runtime-cu12==12.8.90", "nvidia-nccl-cu12==2.27.5",
           "nvidia-cublas-cu12==12.8.4.1", "nvidia-cudnn-cu12==9.10.2.21"),
    "13": ("nvidia-cuda-runtime==13.0.96", "nvidia-cuda-crt==13.0.88"),
}
# Our sources, and the headers that declare what they define.
LIBRARIES = (
    ("runtime/*.c", ("cuda_runtime_api.h",)),
    ("driver/*.c", ("cuda.h",)),
    ("maths/libcublas.c", ("cublas_v2.h",)),
    ("maths/libcublasLt.c", ("cublasLt.h",)),
    ("maths/libcudnn.c", ("cudnn.h",)),
    ("maths/libnccl.c", ("nccl.h",)),
)
# Not in public headers: what nvcc's own output calls, and autofit's own.
INTERNAL = re.compile(r"__cuda|autofit_|.*_ptsz$|.*_ptds$")
# Source, header, our struct, theirs, our fields and theirs; no fields: size.
LAYOUTS = (
    ("runtime/runtime_device.c", "cuda_runtime_api.h",
     "struct runtime_properties", "struct cudaDeviceProp",
     "name name uuid uuid luid_node_mask luidDeviceNodeMask total_bytes "
     "totalGlobalMem shared_per_block sharedMemPerBlock registers_per_block "
     "regsPerBlock warp_size warpSize pitch_max memPitch threads_per_block "
     "maxThreadsPerBlock block_max maxThreadsDim grid_max maxGridSize "
     "clock_rate clockRate constant_bytes totalConstMem major major minor "
     "minor texture_alignment textureAlignment multiprocessors "
     "multiProcessorCount integrated integrated can_map_host "
     "canMapHostMemory concurrent_kernels concurrentKernels ecc ECCEnabled "
     "bus pciBusID device pciDeviceID domain pciDomainID tcc tccDriver "
     "unified_addressing unifiedAddressing memory_clock_rate "
     "memoryClockRate memory_bus_width memoryBusWidth l2_bytes l2CacheSize "
     "threads_per_multiprocessor maxThreadsPerMultiProcessor "
     "shared_per_multiprocessor sharedMemPerMultiprocessor "
     "registers_per_multiprocessor regsPerMultiprocessor managed "
     "managedMemory cooperative_launch cooperativeLaunch "
     "shared_per_block_optin sharedMemPerBlockOptin "
     "blocks_per_multiprocessor maxBlocksPerMultiProcessor "
     "shared_reserved_per_block reservedSharedMemPerBlock memory_pools "
     "memoryPoolsSupported cluster_launch clusterLaunch unified_functions "
     "unifiedFunctionPointers"),
    ("runtime/runtime_launch.c", "cuda_runtime_api.h",
     "struct runtime_function_attributes", "struct cudaFuncAttributes",
     "shared_bytes sharedSizeBytes constant_bytes constSizeBytes local_bytes "
     "localSizeBytes threads_max maxThreadsPerBlock registers numRegs "
     "ptx_version ptxVersion binary_version binaryVersion cache_mode "
     "cacheModeCA dynamic_shared_max maxDynamicSharedSizeBytes carveout "
     "preferredShmemCarveout"),
    ("runtime/runtime_launch.c", "cuda_runtime_api.h", "struct runtime_size",
     "dim3", "x x y y z z"),
    # The first fields of a launch; attributes follow there.
    ("runtime/runtime_launch.c", "cuda_runtime_api.h", "struct call_shape",
     "cudaLaunchConfig_t", "! grid gridDim block blockDim shared_bytes "
     "dynamicSmemBytes stream stream"),
    ("runtime/runtime_memory.c", "cuda_runtime_api.h",
     "struct runtime_pointer", "struct cudaPointerAttributes",
     "! kind type device device device_pointer devicePointer host_pointer "
     "hostPointer"),
    ("driver/sim_cuda_launch.c", "cuda.h", "struct configuration",
     "CUlaunchConfig", "shape gridDimX shared_bytes sharedMemBytes stream "
     "hStream attributes attrs attribute_count numAttrs"),
    ("maths/libcublasLt.c", "cublasLt.h", "struct lt_algorithm",
     "cublasLtMatmulHeuristicResult_t", "algorithm algo workspace_bytes "
     "workspaceSize status state waves wavesCount reserved reserved"),
    ("maths/libnccl.c", "nccl.h", "struct unique_id", "ncclUniqueId", ""),
)
# Fields that CUDA 13 left out.
ONLY_12 = {"clock_rate", "memory_clock_rate"}
# Source, header, our numbers and theirs.
NUMBERS = (
    ("runtime/runtime_start.c", "cuda_runtime_api.h",
     "RUNTIME_OK cudaSuccess RUNTIME_INVALID_VALUE cudaErrorInvalidValue "
     "RUNTIME_NO_DRIVER cudaErrorInsufficientDriver RUNTIME_INVALID_DEVICE "
     "cudaErrorInvalidDevice RUNTIME_NOT_SUPPORTED cudaErrorNotSupported"),
    ("runtime/runtime_memory.c", "cuda_runtime_api.h",
     "HOST_TO_HOST cudaMemcpyHostToHost HOST_TO_DEVICE "
     "cudaMemcpyHostToDevice DEVICE_TO_HOST cudaMemcpyDeviceToHost "
     "DEVICE_TO_DEVICE cudaMemcpyDeviceToDevice BY_POINTERS "
     "cudaMemcpyDefault KIND_HOST cudaMemoryTypeHost KIND_DEVICE "
     "cudaMemoryTypeDevice"),
    ("runtime/runtime_memory.c", "cuda.h",
     "ATTRIBUTE_TYPE CU_POINTER_ATTRIBUTE_MEMORY_TYPE ATTRIBUTE_ORDINAL "
     "CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL"),
    ("driver/sim_cuda_attributes.c", "cuda.h",
     "INVALID_VALUE CUDA_ERROR_INVALID_VALUE OUT_OF_MEMORY "
     "CUDA_ERROR_OUT_OF_MEMORY NOT_INITIALIZED CUDA_ERROR_NOT_INITIALIZED "
     "NO_DEVICE CUDA_ERROR_NO_DEVICE INVALID_HANDLE CUDA_ERROR_INVALID_HANDLE"),
    ("maths/libcudnn.c", "cudnn.h",
     "CONVOLUTION CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR TYPE_HANDLE "
     "CUDNN_TYPE_HANDLE TYPE_BOOLEAN CUDNN_TYPE_BOOLEAN TYPE_INT64 "
     "CUDNN_TYPE_INT64 TYPE_DOUBLE CUDNN_TYPE_DOUBLE TYPE_POINTER "
     "CUDNN_TYPE_VOID_PTR TYPE_DESCRIPTOR CUDNN_TYPE_BACKEND_DESCRIPTOR "
     "TYPE_CHAR CUDNN_TYPE_CHAR TYPE_FRACTION CUDNN_TYPE_FRACTION "
     "BAD_PARAMETER CUDNN_STATUS_BAD_PARAM 202 "
     "CUDNN_ATTR_ENGINEHEUR_RESULTS 300 CUDNN_ATTR_ENGINECFG_ENGINE 303 "
     "CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE 402 "
     "CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE 802 "
     "CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT 1301 "
     "CUDNN_ATTR_ENGINE_GLOBAL_INDEX"),
    ("maths/libnccl.c", "nccl.h",
     "MATHS_OK ncclSuccess 3 ncclInternalError 1 ncclUint8 3 ncclUint32 5 "
     "ncclUint64 6 ncclFloat16 7 ncclFloat32 8 ncclFloat64 9 ncclBfloat16 10 "
     "ncclFloat8e4m3"),
    ("maths/libcublas.c", "cublas_v2.h",
     "MATHS_OK CUBLAS_STATUS_SUCCESS 7 CUBLAS_STATUS_INVALID_VALUE"),
)
# Device attributes that a phantom card answers, by their numbers.
ATTRIBUTES = (
    "16 MULTIPROCESSOR_COUNT 18 INTEGRATED 33 PCI_BUS_ID 39 "
    "MAX_THREADS_PER_MULTIPROCESSOR 75 COMPUTE_CAPABILITY_MAJOR 76 "
    "COMPUTE_CAPABILITY_MINOR 81 MAX_SHARED_MEMORY_PER_MULTIPROCESSOR 97 "
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN 106 MAX_BLOCKS_PER_MULTIPROCESSOR 120 "
    "CLUSTER_LAUNCH 10 WARP_SIZE 83 MANAGED_MEMORY 102 "
    "VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED 115 MEMORY_POOLS_SUPPORTED 111 "
    "RESERVED_SHARED_MEMORY_PER_BLOCK 38 L2_CACHE_SIZE").split()


def fetch(folder, packages):
    """The packages' headers alone, into the folder."""
    with tempfile.TemporaryDirectory() as wheels:
        status, words = phantom_lib.pip(
            sys.executable, "download", "--no-deps", "--quiet", "--dest",
            wheels, *packages)
        if status:
            lib.skip("the packages of the headers cannot be had: " + words)
        for name in os.listdir(wheels):
            with zipfile.ZipFile(os.path.join(wheels, name)) as wheel:
                wheel.extractall(folder, [each for each in wheel.namelist()
                                          if "/include/" in each])


def find_headers():
    """For each CUDA that is at hand, the folders of its headers."""
    roots = [each for each in os.environ.get(
        "AUTOFIT_NVIDIA_HEADERS", "").split(":") if each]
    if not roots and phantom_lib.is_night():
        for major, packages in PACKAGES.items():
            kept = os.path.join(os.environ["BUILD"], "phantom-headers", major)
            if not os.path.exists(kept):
                fetch(kept, packages)
            roots.append(kept)
    if os.path.exists(os.path.join(TOOLKIT, RUNTIME)):
        roots.append(TOOLKIT)
    if not roots:
        lib.skip("there is no toolkit in /usr/local/cuda, AUTOFIT_NVIDIA_HEADERS "
                 "names no folder of headers, and 1.7 GB are fetched for them "
                 "by night only")
    return [[root] + glob.glob(os.path.join(root, "**", "include"),
                               recursive=True) for root in roots]


class Compiler:
    """Of C into the compiler's own language, which names types as passed."""

    def __init__(self, clang, folder, headers):
        self.clang, self.folder = clang, folder
        self.headers = [word for each in headers for word in ("-isystem", each)]
        if not self.has(RUNTIME):
            sys.exit("there is no %s in %s" % (RUNTIME, headers[0]))
        self.major = 12  # until the headers have said which
        self.major = constants(self, includes([RUNTIME]),
                               ["CUDART_VERSION"])[0] // 1000

    def run(self, text, *options):
        source = os.path.join(self.folder, "source.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run(
            [self.clang, "-w", "-D_GNU_SOURCE", "-O0",
             "-DPHANTOM_MAJOR=%d" % self.major, "-I", lib.SOURCE, *self.headers, *options, source, "-o", "-"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
            text=True)
        if done.returncode:
            sys.exit("clang: %s\n%s" % (done.stderr[:4000], text[:2000]))
        return done.stdout

    def ir(self, text):
        return self.run(text, "-S", "-emit-llvm")

    def has(self, header):
        return any(os.path.exists(os.path.join(each, header))
                   for each in self.headers)


def plain(types):
    """As they are passed: pointers are one type, whatever they lead to."""
    words = []
    depth, word = 0, ""
    for char in types:
        depth += (char in "([{<") - (char in ")]}>")
        if char == "," and not depth:
            words.append(word)
            word = ""
        else:
            word += char
    words.append(word)
    kinds = []
    for word in words:
        word = re.sub(r"\b(noundef|nonnull|signext|zeroext|noalias|dso_local|"
                      r"nocapture|readonly|hidden|local_unnamed_addr)\b", "",
                      word).strip()
        if "byval" in word:
            kinds.append("struct")
        elif "*" in word or word.startswith("ptr"):
            kinds.append("ptr")
        else:
            kinds.append(word.split(" ")[0])
    return [kind for kind in kinds if kind]


def functions(ir, keyword):
    found = {}
    for line in ir.splitlines():
        match = re.match(keyword + r" (.*?)@([\w.]+)\((.*)\)", line)
        if match and "internal" not in match[1]:
            types = re.sub(r"%(struct|union)\.[\w.]+", "struct", match[3])
            types = re.sub(r" %[\w.]+(?=,|$)", "", types)
            found[match[2]] = (plain(match[1]), plain(types))
    return found


def includes(names):
    return "#include <stddef.h>\n" + "".join(
        "#include <%s>\n" % name for name in names)


def source_of(path):
    return '#include "%s"\n' % os.path.join(PHANTOM, path)


def compare_functions(compiler, pattern, headers):
    if not all(map(compiler.has, headers)):
        print("left out: %s is not among the headers" % ", ".join(headers))
        return 0
    ours = {}
    for path in sorted(glob.glob(os.path.join(PHANTOM, pattern))):
        ours.update(functions(compiler.ir(source_of(path)), "define"))
    seen = compiler.run(includes(headers), "-E")
    names = [name for name in sorted(ours) if re.search(
        r"\b%s\s*\(" % re.escape(name), seen)]
    theirs = functions(compiler.ir(includes(headers) + "void *all[] = {\n" +
                                   "".join("(void *)&%s,\n" % name
                                           for name in names) + "};\n"),
                       "declare")
    wrong = ["%s: ours %s, theirs %s" % (name, ours[name], theirs[name])
             for name in names if name in theirs and
             ours[name] != theirs[name]]
    unknown = [name for name in ours if name not in theirs and
               not INTERNAL.match(name) and re.match(r"(cu|nccl)[a-zA-Z]+",
                                                     name)]
    lib.check("%s: %d functions as in %s" % (pattern, len(theirs),
                                             headers[0]),
              theirs and not wrong, "\n".join(wrong))
    if unknown:
        print("    not in these headers: " + " ".join(unknown))
    return len(theirs)


def constants(compiler, text, items):
    ir = compiler.ir(text + "const unsigned long seen[] = {\n" + "".join(
        "(unsigned long)(%s),\n" % item for item in items) + "};\n")
    line = re.search(r"@seen = .*\[(.*)\]", ir)
    if re.search(r"@seen = .*zeroinitializer", ir):
        return [0] * len(items)
    return [int(n) for n in re.findall(r"i64 (\d+)", line[1])]


def places(kind, fields):
    return ["sizeof(%s)" % kind] + [
        word % (kind, field) for field in fields
        for word in ("offsetof(%s, %s)", "sizeof(((%s *)0)->%s)")]


def compare_layout(compiler, source, header, our, their, fields):
    words = fields.split()
    only_first = bool(words) and words[0] == "!"
    words = words[1:] if only_first else words
    pairs = [pair for pair in zip(words[::2], words[1::2])
             if compiler.major < 13 or pair[0] not in ONLY_12]
    mine = constants(compiler, source_of(source),
                     places(our, [pair[0] for pair in pairs]))
    nvidia = constants(compiler, includes([header]),
                       places(their, [pair[1] for pair in pairs]))
    if only_first:  # the size may be larger there
        mine[0] = nvidia[0] if mine[0] <= nvidia[0] else -1
    if our == "struct configuration":  # its shape is six of their fields
        mine[2] = nvidia[2]
    wrong = [names for names, one, other in zip(
        ["size"] + [pair[0] for pair in pairs for _ in "ab"], mine, nvidia)
        if one != other]
    lib.check("%s is laid out as %s" % (our, their), not wrong, wrong)


def compare_numbers(compiler, source, header, text):
    words = text.split()
    mine = constants(compiler, source_of(source), words[::2])
    nvidia = constants(compiler, includes([header]), words[1::2])
    lib.equal("%s: numbers as in %s" % (source, header),
              [pair for pair in zip(words[::2], mine, nvidia)
               if pair[1] != pair[2]], [])


def compare_attributes(compiler):
    names = ["CU_DEVICE_ATTRIBUTE_" + name for name in ATTRIBUTES[1::2]]
    lib.equal("attributes of a device", constants(
        compiler, includes(["cuda.h"]), names),
        [int(n) for n in ATTRIBUTES[::2]])
    with open(os.path.join(PHANTOM, "driver", "sim_cuda_attributes.c"),
              encoding="utf-8") as file:
        text = file.read()
    lib.equal("and are those that it answers", [
        n for n in ATTRIBUTES[::2] if not re.search(
            r"\{ %s,|== %s\b" % (n, n), text)], [])


def compare(compiler):
    print("headers of CUDA %d" % compiler.major)
    for pattern, headers in LIBRARIES:
        compare_functions(compiler, pattern, headers)
    for row in LAYOUTS:
        if compiler.has(row[1]):
            compare_layout(compiler, *row)
    for row in NUMBERS:
        if compiler.has(row[1]):
            compare_numbers(compiler, *row)
    if compiler.has("cuda.h"):
        compare_attributes(compiler)


def main():
    clang = shutil.which("clang")
    if not clang:
        lib.skip("there is no clang")
    with tempfile.TemporaryDirectory() as folder:
        for headers in find_headers():
            compare(Compiler(clang, folder, headers))
    lib.finish()


if __name__ == "__main__":
    main()
