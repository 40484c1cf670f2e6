#!/usr/bin/env python3
# How cards that are not there are asked for, and what is refused: no PyTorch.
# SPDX-License-Identifier: MIT
import os
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402

NOT_USED = "the command did not use the phantom card"
OWN_CUDART = os.path.join(os.environ["BUILD"], "helpers", "own_cudart")
TUNE = "tune --device phantom:t4 -- "
# Arguments, exit code, words.
ROWS = [
    ("phantom t4 -- true", 123, NOT_USED),
    ("phantom t4x2 -- true", 123, NOT_USED),
    ("phantom t4 -- false", 123, NOT_USED),
    ("phantom t4 --limit 1G -- python3 -c import\\ json", 123, NOT_USED),
    ("phantom t4 -- " + OWN_CUDART, 123, "carries a CUDA runtime of NVIDIA's"),
    (TUNE + "python3 cpu.py --batch-size 4", 123, NOT_USED + ": that takes a "
     "CUDA build of PyTorch"),
    (TUNE + "python3 fails.py --batch-size 4", 123, NOT_USED +
     " before it failed.*AssertionError: Torch not compiled with CUDA"),
    (TUNE + OWN_CUDART + " --batch-size 4", 123, "carries a CUDA runtime"),
    (TUNE + "/nonexistent --batch-size 4", 127, "cannot run '/nonexistent'"),
    ("phantom t4 -- /nonexistent", 127, "cannot run '/nonexistent'"),
    ("phantom", 125, r"no card given: autofit phantom CARD\[xN\] -- command"),
    ("phantom t4", 125, "no command given"),
    ("phantom t4x17 -- true", 125, "a phantom card: 't4x17' is no GPU model"),
    ("phantom none9 -- true", 125, "a phantom card: 'none9' is no GPU model"),
    ("phantom mi300x -- true", 125, "does not say its compute capability"),
    ("tune --limit 1G --device host -- true", 125,
     "--limit belongs to autofit phantom"),
    ("--device phantom:t4 -- true", 125,
     "answers without a card, and nothing can run on it: autofit tune"),
    ("tune --objective fastest --device phantom:t4 -- true", 125,
     "a phantom card computes nothing"),
    ("tune --device phantom: -- true", 125, "'phantom:' is not auto"),
]


# The calls that PyTorch makes to compile a kernel, load and find it.
COMPILES = """
import ctypes
nvrtc = ctypes.CDLL("libnvrtc.so.12")
major, size = ctypes.c_int(), ctypes.c_size_t()
program, name = ctypes.c_void_p(), ctypes.c_char_p()
nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(ctypes.c_int()))
nvrtc.nvrtcCreateProgram(ctypes.byref(program), b"", None, 0, None, None)
nvrtc.nvrtcAddNameExpression(program, b"a+b")
failed = nvrtc.nvrtcCompileProgram(program, 0, None)
nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
code = ctypes.create_string_buffer(size.value)
nvrtc.nvrtcGetCUBIN(program, code)
nvrtc.nvrtcGetLoweredName(program, b"a+b", ctypes.byref(name))
print(major.value, failed, code.value.split()[3].decode(), name.value.decode(),
      nvrtc.nvrtcDestroyProgram(ctypes.byref(program)))
"""

# One kernel of that name, as a program's own code launches it.
LAUNCHES = """
import ctypes, sys
class Size(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint) for name in "xyz"]
runtime = ctypes.CDLL("libcudart.so.12")
stub, name, one = ctypes.c_char_p(b"stub"), sys.argv[1].encode(), Size(1, 1, 1)
runtime.__cudaRegisterFunction(None, stub, None, name, 0, *[None] * 5)
memory = ctypes.c_void_p()
print(runtime.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(1 << 20)),
      runtime.cudaLaunchKernel(stub, one, one, None, ctypes.c_size_t(0), None))
"""
# Names of kernels as compilers make them, and whether the size of what they
# write depends on values.
KERNELS = [
    ("_ZN6native17elementwise_kernelE", False),
    ("_ZN3cub6detail6select23DeviceSelectSweepKernelE", True),
    ("_ZN6native24unique_bool_write_outputEi", True),
    ("_ZN3cub6detail13unique_by_key28DeviceUniqueByKeySweepKernelE", False),
    ("_ZN3cub13unique_by_keyI24unique_dim_cuda_templateE", True),
    ("_ZN6native4fillISt10unique_ptrIiEE", False),
]
# What the ranks of a card answer each other: parts are known as one, unless
# some of it is not.
ANSWERS = """
import ctypes
driver = ctypes.CDLL("libcuda.so.1")
address, size = ctypes.c_uint64, ctypes.c_size_t
keep, kept = driver.autofit_phantom_keep, driver.autofit_phantom_kept
copy = driver.autofit_phantom_keep_copy
keep.argtypes = [address, ctypes.c_char_p, size, ctypes.c_int]
kept.argtypes = [address, ctypes.c_void_p, size]
copy.argtypes = [address, address, size]
def read(at, count):
    data = ctypes.create_string_buffer(count)
    kind = kept(at, data, count)
    return "%d%s" % (kind, data.raw.decode() if kind else "")
keep(1000, b"abcd", 4, 2)
keep(1004, b"efgh", 4, 2)
keep(1012, b"mnop", 4, 1)
copy(2000, 1002, 4)
copy(3000, 1006, 4)
print(read(1000, 8), read(1003, 3), read(1000, 9), read(1012, 4),
      read(2000, 4), read(3000, 1))
keep(1008, b"ijkl", 4, 2)
print(read(1000, 16))
"""


def main():
    with lib.Place("phantom") as place:
        place.write("cpu.py", "print('step 1')\n")
        place.write("fails.py", "raise AssertionError("
                    "'Torch not compiled with CUDA enabled')\n")
        for line, code, words in ROWS:
            args = [arg.replace("\0", " ") for arg in
                    line.replace("\\ ", "\0").split()]
            answer = place.ask(*args)
            lib.equal("autofit %s" % line, answer.status, code)
            lib.holds("  says why", answer.err, words)
        found = place.ask("phantom", "4090x2", "--", "sh", "-c",
                          "echo $AUTOFIT_SIM_DEVICES; ls $(dirname "
                          "$AUTOFIT_SIM_STATE)")
        lib.holds("the command is told of both", found.out,
                  "NVIDIA GeForce RTX 4090:[0-9]+:0:[0-9]+:8.9:128;NVIDIA "
                  "GeForce RTX 4090:", r"libcudart\.so\.12", r"libnccl\.so\.2")
        made = place.ask(
            "phantom", "t4", "--", "sh", "-c", "dirname $AUTOFIT_SIM_STATE; "
            "dirname $TORCHINDUCTOR_CACHE_DIR; dirname $TRITON_CACHE_DIR; "
            "dirname $CUPY_CACHE_DIR; echo $USE_PYTORCH_KERNEL_CACHE",
            env={"TORCHINDUCTOR_CACHE_DIR": place.path("mine"),
                 "TRITON_CACHE_DIR": place.path("mine")}).out.split()
        lib.equal("what is compiled for it stays with it", made,
                  made[:1] * 4 + ["0"])
        answer = place.ask("phantom", "t4", "--", "python3", "-c", COMPILES)
        lib.holds("what is compiled there is no code", answer.out,
                  r"12 0 phantom a\+b 0")
        for name, is_doubtful in KERNELS:
            answer = place.ask("phantom", "t4", "--", "python3", "-c",
                               LAUNCHES, name)
            lib.equal("%s is launched" % name, answer.out.split(), ["0", "0"])
            lib.equal("  and doubted", "at least  sizes depend" in answer.err,
                      is_doubtful)
        answer = place.ask("phantom", "t4", "--", "python3", "-c", ANSWERS)
        lib.equal("answers of ranks", answer.out.split(), [
            "2abcdefgh", "2def", "0", "1mnop", "2cdef", "0",
            "1abcdefghijklmnop"])
        left = place.ask("phantom", "t4", "--", "sh", "-c",
                         "dirname $AUTOFIT_SIM_STATE").out.strip()
        lib.check("nothing of it is left", left and not os.path.exists(
            left), left)
    lib.finish()


if __name__ == "__main__":
    main()
