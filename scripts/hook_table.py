#!/usr/bin/env python3
# Writes probes/preload/hook_table.h from hooks.list and a CUDA toolkit.
# SPDX-License-Identifier: MIT
"""hook_table.py INCLUDE_FOLDER STUB_LIBCUDA|- [HOOKS_LIST] >hook_table.h

What the driver exports is read from the toolkit's stub of libcuda, or with -
from cuda.h, which declares the same (as far as it is typed): so that the headers
of a package are enough.

cudaTypedefs.h has one PFN_<base>_v<version> for each function that the driver
exports; in order of their versions those of one base (and of one kind of
stream) are the exports base, base_v2, base_v3. Where that does not come out
one to one, nothing is written: then the toolkit is of a kind not known here.
"""

import os
import re
import subprocess
import sys
import textwrap

# Exported, without a type in cudaTypedefs.h, and nothing to be wrapped.
UNTYPED = {"cuProfilerInitialize", "cuProfilerStart", "cuProfilerStop"}
PLAIN = {
    "void", "char", "int", "size_t", "unsigned int", "unsigned long long",
    "long long", "unsigned char", "unsigned short", "float", "uint64_t",
    "uint32_t",
}
# As wrap.h promises them.
NEUTRAL = {
    "unsigned": "unsigned int",
    "cuuint64_t": "uint64_t",
    "cuuint32_t": "uint32_t",
    "CUdeviceptr_v1": "unsigned int",
    "CUdeviceptr_v2": "cu_pointer",
    "CUresult": "cu_result",
    "CUipcMemHandle_v1": "struct cu_ipc_handle",
    # A function, which is handed on only.
    "CUgraphRecaptureCallback": "void *",
}


def fail(text):
    sys.exit(f"hook_table.py: {text}")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def bare(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"//[^\n]*", " ", text)


def exports(path):
    text = subprocess.run(["nm", "-D", "--defined-only", path], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    names = {line.split()[-1].split("@")[0] for line in text.splitlines()}
    return {name for name in names if re.match(r"cu[A-Z]", name)}


def declared(text):
    """What cuda.h says that the driver exports: its newest functions by the
    names that it defines them to, the older ones where it declares them for
    itself, and their twins for per-thread streams."""
    plain, names = {}, set()
    for name, meaning in re.findall(
            r"^[ \t]*#[ \t]*define[ \t]+(cu[A-Z]\w+)[ \t]+(\S+)[ \t]*$", text,
            re.M):
        twin = re.fullmatch(r"__CUDA_API_PT([DS][SZ])\((\w+)\)", meaning)
        if twin:
            names.add(twin[2] + "_pt" + twin[1].lower())
            meaning = twin[2]
        plain.setdefault(name, meaning)
    newest, _, older = text.rpartition(
        "#if defined(__CUDA_API_VERSION_INTERNAL)")
    for name in re.findall(r"CUDAAPI\s+(cu[A-Z]\w+)\s*\(", newest):
        while plain.get(name, name) != name and re.match(
                r"cu[A-Z]", plain[name]):
            name = plain[name]
        names.add(name)
    names.update(re.findall(r"CUDAAPI\s+(cu[A-Z]\w+)\s*\(", older))
    # Its define has the form of a twin, and it has none.
    names.discard("cuGetProcAddress_v2_ptsz")
    return names | UNTYPED | {"cuGetProcAddress_v2"}


class Types:
    """What cuda.h means by a name, in neutral types."""

    def __init__(self, text):
        self.text = text
        self.known = {}
        for match in re.finditer(r"\btypedef\b([^;{]*?)\b(\w+)\s*;", text):
            self.known.setdefault(match[2], " ".join(match[1].split()))
        for match in re.finditer(r"\btypedef\s+(struct|union|enum)\b[^;{}]*{",
                                 text):
            end, depth = match.end(), 1
            while depth:
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
            name = re.match(r"\s*(\w+)\s*;", text[end:])
            if name:
                self.known[name[1]] = match[1]

    def neutral(self, name, pointed):
        if name in NEUTRAL:
            return NEUTRAL[name]
        if name in PLAIN:
            return name
        meaning = self.known.get(name)
        if meaning is None:
            fail(f"what is {name}?")
        if meaning == "enum":
            return "unsigned int"
        if meaning in ("struct", "union"):
            if not pointed:
                fail(f"{name} is passed by value")
            return "void"
        if re.fullmatch(r"struct \w+ ?\*", meaning):
            return "void *"
        return self.neutral(meaning, pointed)

    def parameter(self, text):
        text = text.strip()
        if text == "void":
            return "void"
        match = re.fullmatch(
            r"(const )?((?:unsigned |long )*\w+)((?:\s*(?:\*|const\b))*)"
            r"\s*\b(\w+)(\[\w*\])?", " ".join(text.split()))
        if not match:
            fail(f"no parameter: {text}")
        const, name, stars, own, array = match.groups()
        stars = re.sub(r"\s|const", "", stars) + ("*" if array else "")
        neutral = self.neutral(name, bool(stars))
        if neutral.endswith("*"):
            neutral, stars = neutral[:-2], "*" + stars
            if const and len(stars) > 1:
                const, stars = None, "*const " + stars[1:]
        if const:
            neutral = "const " + neutral
        return f"{neutral} {stars}{snake(own)}"


def snake(name):
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()
    return {"free": "free_bytes", "total": "total_bytes"}.get(name, name)


def typedefs(text):
    """(base, stream suffix) -> {version: (result, parameters)}"""
    found = {}
    for match in re.finditer(
            r"typedef\s+(\w+)\s*\(CUDAAPI \*PFN_(\w+?)_v(\d+)(_pt[ds][sz])?\)"
            r"\s*\(([^;]*)\);", text):
        result, base, version, suffix, parameters = match.groups()
        versions = found.setdefault((base, suffix or ""), {})
        if int(version) in versions:
            fail(f"{base} has version {version} twice")
        versions[int(version)] = (result, parameters)
    return found


def pair(found, names):
    """ELF name -> (base, version, suffix, result, parameters)"""
    left = set(names)
    table = {}
    for (base, suffix), versions in found.items():
        pattern = re.compile(re.escape(base) + r"(_v(\d+))?" + suffix)
        mine = []
        for name in names:
            match = pattern.fullmatch(name)
            if match:
                mine.append((int(match[2] or 1), name))
        if len(mine) != len(versions):
            fail(f"{base}{suffix} has {len(versions)} types and is exported "
                 f"as {sorted(mine)}")
        for (_, name), version in zip(sorted(mine), sorted(versions)):
            table[name] = (base, version, suffix, *versions[version])
            left.discard(name)
    if left != UNTYPED:
        fail(f"without a type: {sorted(left ^ UNTYPED)}")
    return table


def read_list(path):
    wanted, extra = [], {}
    for line in read(path).splitlines():
        line = line.strip()
        if not line or line[0] in "#[":
            continue
        name, _, kind = line.partition(" ")
        if name in wanted or name in extra:
            fail(f"{name} is listed twice")
        if kind:
            extra[name] = kind
        else:
            wanted.append(name)
    return wanted, extra


def check_whole(wanted, table):
    """Else a wrapper would stand in for a function of another type."""
    lowest = {}
    for name in wanted:
        if name not in table:
            fail(f"the driver has no {name}")
        base, version = table[name][:2]
        lowest[base] = min(version, lowest.get(base, version))
    for name, row in table.items():
        base, version = row[:2]
        if version >= lowest.get(base, version + 1) and name not in wanted:
            fail(f"{name} must be listed, as others of {base} are")


def wrapped(result, name, parameters):
    # Lines break between parameters only.
    whole = ", ".join(text.strip().replace(" ", "~") for text in parameters)
    head = f"typedef {result} fn_{name}(".replace(" ", "~")
    text = textwrap.fill(f"{head}{whole});", 79, subsequent_indent="    ",
                         break_long_words=False, break_on_hyphens=False)
    return text.replace("~", " ")


HEAD = """\
/* Which functions the preload library wraps, and their types. */
/* SPDX-License-Identifier: MIT */
/* Written by scripts/hook_table.py from hooks.list and CUDA {version}. */
#ifndef AUTOFIT_PROBES_PRELOAD_HOOK_TABLE_H
#define AUTOFIT_PROBES_PRELOAD_HOOK_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* clang-format off */
/* NOLINTBEGIN(readability-identifier-naming): the names are the driver's. */

/* Functions and versions after it are not known here. */
#define HOOK_TABLE_VERSION {version}

typedef unsigned int cu_result;
typedef uint64_t cu_pointer;

struct cu_ipc_handle {{
\tchar bytes[{ipc}];
}};
"""


def write(wanted, extra, table, cuda):
    version = re.search(r"#define CUDA_VERSION (\d+)", cuda)[1]
    ipc = re.search(r"#define CU_IPC_HANDLE_SIZE (\d+)", cuda)[1]
    types = Types(bare(cuda))
    names = sorted(wanted + list(extra))
    out = [HEAD.format(version=version, ipc=ipc)]
    out.append("/* In order of strcmp: ROW(elf, base, version, stream). */")
    out.append("#define HOOK_ROWS(ROW) \\")
    for name in names:
        base, number, suffix = table.get(name, ("", 0, ""))[:3]
        out.append(f'\tROW({name}, "{base}", {number}, '
                   f'{2 if suffix else 0}) \\')
    out.append("\t/* the end */\n")
    out.append("/* Later headers give base's name to a function of other: "
               "ROW(base, other). */")
    out.append("#define HOOK_RENAMES(ROW) \\")
    for base, other in re.findall(r"^#define\s+(cu\w+)\s+(cu\w+)\s*$", cuda,
                                  flags=re.M):
        plain = re.sub(r"_v\d+$", "", other)
        if plain != base and base in (table[n][0] for n in wanted):
            out.append(f'\tROW("{base}", "{plain}") \\')
    out.append("\t/* the end */\n")
    out.append("enum hook {")
    out += [f"\tHOOK_{name}," for name in names]
    out.append("\tHOOK_COUNT\n};\n")
    for name in names:
        if name in extra:
            result, parameters = re.fullmatch(r"(.*?) ?\((.*)\)",
                                              extra[name]).groups()
        else:
            result, parameters = table[name][3:]
            result = types.neutral(result, False)
            parameters = ",".join(types.parameter(text)
                                  for text in parameters.split(","))
        out.append(wrapped(result, name, parameters.split(",")))
    out.append("\n#define HOOK_DECLARE(elf, base, version, stream) \\")
    out.append('\textern fn_##elf elf __attribute__((visibility("default")));')
    out.append("HOOK_ROWS(HOOK_DECLARE)")
    out.append("#undef HOOK_DECLARE\n")
    out.append("/* NOLINTEND(readability-identifier-naming) */")
    out.append("/* clang-format on */\n\n#endif")
    print("\n".join(out))


def main(arguments):
    if len(arguments) not in (2, 3):
        sys.exit(__doc__)
    folder, stub = arguments[:2]
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        "../probes/preload/hooks.list")
    wanted, extra = read_list(arguments[2] if arguments[2:] else path)
    found = typedefs(bare(read(os.path.join(folder, "cudaTypedefs.h"))))
    cuda = read(os.path.join(folder, "cuda.h"))
    table = pair(found, declared(bare(cuda)) if stub == "-" else exports(stub))
    check_whole(wanted, table)
    write(wanted, extra, table, cuda)


main(sys.argv[1:])
