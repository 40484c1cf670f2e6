#!/usr/bin/env python3
# A program on a card that is not there may ask for functions that nobody wrote.
# SPDX-License-Identifier: MIT
"""A program's library asks NVIDIA's for names that are in no phantom library: it
is loaded, and what only computes does nothing; what hands something back ends
the program with its name. The libraries here are made with the C compiler, as a
framework's are: by run paths, one needing the other, one loaded later."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402

# NVIDIA's, to be linked against only: file name, version node, functions.
THEIRS = (
    ("libcublas.so.12", "libcublas.so.12", ("cublasNewThing",)),
    ("libcudart.so.12", "libcudart.so.12", ("cudaNewThing",)),
    ("libcufft.so.99", "libcufft.so.99", ("cufftNewThing", "cufftGetThing")),
    ("libnccl.so.2", "", ("ncclNewThing",)),
    ("libcurand.so.7", "libcurand.so.7", ("curandNewThing",)),
)
INNER = """
#include <dlfcn.h>
int cublasNewThing(void); int cudaNewThing(void); int cufftNewThing(void);
int cufftGetThing(void); int ncclNewThing(void);
int (*of_which_the_address_is_taken)(void) = cublasNewThing;
int compute(void) { return cublasNewThing() + cufftNewThing() + ncclNewThing(); }
int give(void) { return cufftGetThing(); }
int run(void) { return cudaNewThing(); }
int later(void)
{
	void *library = dlopen("liblater.so", RTLD_NOW);
	int (*function)(void) = library ? dlsym(library, "late") : 0;

	return function ? function() : -1;
}
"""
OUTER = "int %s(void); int outer_%s(void) { return %s(); }\n"
LATE = "int curandNewThing(void); int late(void) { return 40 + curandNewThing(); }\n"
ASKS = ("import ctypes, sys\n"
        "print(getattr(ctypes.CDLL(sys.argv[1]), 'outer_' + sys.argv[2])())\n")
# What is called, and the exit code, output and words of that.
ROWS = (
    ("compute", 0, "0", ""),
    ("later", 0, "40", ""),
    ("give", 123, "", "a phantom card has no cufftGetThing, which the program "
     "calls: only a real card can tell"),
    ("run", 123, "", "a phantom card has no cudaNewThing"),
)


def compile_library(place, path, source, *words):
    subprocess.run(["cc", "-shared", "-fPIC", "-o", path, "-x", "c",
                    place.write("source.c", source), "-x", "none", *words],
                   check=True)


def make_theirs(place, folder):
    for name, node, functions in THEIRS:
        words = ["-Wl,-soname," + name]
        if node:
            words.append("-Wl,--version-script=" + place.write(
                "map", "%s { global: *; };\n" % node))
        compile_library(place, os.path.join(folder, name), "".join(
            "int %s(void) { return 9; }\n" % each for each in functions),
                        *words)


def make_program(place, theirs):
    inner = place.path("program", "lib", "libinner.so")
    os.makedirs(os.path.dirname(inner))
    own = ["-Wl,-rpath,$ORIGIN:$ORIGIN/lib", "-Wl,--no-as-needed"]
    compile_library(place, inner, INNER, *own, *[
        os.path.join(theirs, name) for name, *_ in THEIRS[:4]])
    compile_library(place, os.path.join(os.path.dirname(inner), "liblater.so"),
                    LATE, *own, os.path.join(theirs, "libcurand.so.7"))
    outer = place.path("program", "outer.so")
    compile_library(place, outer, "".join(
        OUTER % (name, name, name) for name, *_ in ROWS), *own, inner)
    return outer


def main():
    with lib.Place("phantom-loader") as place:
        theirs = place.path("theirs")
        os.makedirs(theirs)
        make_theirs(place, theirs)
        outer = make_program(place, theirs)
        # Where they are found, nothing of them may be used.
        with_theirs = {"LD_LIBRARY_PATH": theirs}
        bare = subprocess.run(
            [sys.executable, "-c", ASKS, outer, "compute"],
            env=dict(os.environ, **with_theirs), capture_output=True)
        lib.equal("the libraries are as a framework's", bare.stdout, b"27\n")
        for env in {}, with_theirs:
            for name, status, out, words in ROWS:
                answer = place.ask("phantom", "t4", "--", sys.executable, "-c",
                                   ASKS, outer, name, env=env)
                lib.equal("%s: the exit code" % name, answer.status, 123)
                lib.equal("  the output", answer.out.strip(), out)
                lib.holds("  words", answer.err, words if status else
                          "did not use the phantom card")
    lib.finish()


if __name__ == "__main__":
    main()
