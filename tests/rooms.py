#!/usr/bin/env python3
# The rooms of the house: who may use whom, and how large things may become.
# SPDX-License-Identifier: MIT
# CTEST COST 30
"""Prints the arrow table of all rooms and fails where the house is broken.

A room is a folder with C files. It uses another room when one of its files
includes a header of it or calls a function of it; the objects of the build
tell the calls. ROOMS lists the rooms from the top down: an arrow may only
point to a room further down, so that there is no circle. The names of
functions and types stand once, and docs/architecture.md names what there is.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

# From the top down. The first word of a path is the big room.
ROOMS = """
launcher
launcher/pages
launcher/doctor
launcher/nightly
launcher/nightly/executor
launcher/nightly/jobs
launcher/survey
launcher/tuning
launcher/tuning/effect
launcher/tuning/zygote
launcher/tuning/start
launcher/tuning/setup
launcher/tuning/plan
launcher/tuning/isolation
launcher/admission
launcher/guard
launcher/estimate
launcher/devices
launcher/records
launcher/report
launcher/phantom
launcher/request
launcher/options
launcher/command
launcher/command/rewrite
launcher/command/knobs
launcher/command/ranks
launcher/command/modules
launcher/command/parts
launcher/command/wrappers
launcher/command/shell
launcher/command/shell/words
launcher/command/files
launcher/command/text
probes
probes/nodes
probes/keeper
probes/locks
probes/verdict
probes/observers/selftest
probes/observers/gpu
probes/observers/host
probes/isolation
probes/isolation/compare
probes/leaving
probes/output
probes/phantom
probes/phantom/loader
probes/phantom/runtime
probes/phantom/maths
probes/phantom/driver
probes/phantom/device
probes/channel
probes/preload/wrap
probes/preload
probes/preload/ledger
probes/process
configs/models
configs/models/config
configs/presets
configs/launchers
configs/records
configs/identity
configs/profiles
configs/signatures
configs/settings
configs/secrets
configs/files
search
estimator
estimator/profiles
estimator/nets
base
""".split()

# What a big room may use beside itself: not everything that lies below it.
BIG_ROOMS = {
    "base": "",
    "search": "base",
    "estimator": "base",
    "configs": "base",
    "probes": "base configs",
    "launcher": "base search estimator configs probes",
}

# Files that call each other, with the reason; at most six, of four files.
CIRCLES_MAX, CIRCLE_FILES_MAX = 6, 4
SHELL = "launcher/command/shell/words/shell"
CIRCLES = {
    f"{SHELL}.c {SHELL}_skip.c":
        "$( ) inside a word holds whole commands, so words end by tokens, and "
        "tokens by words",
    f"{SHELL}_expand.c {SHELL}_parameter.c {SHELL}_scope.c":
        "${NAME:-word} holds words, and a word in NAME=word holds parameters",
}

FILES_MAX = 30  # sources and headers of one folder
PAGE = "docs/architecture.md"
LINES_MAX = 60  # of a function

# Exported for programs of others: see estimator/estimator.h.
PUBLIC = re.compile(r"^(estimate|model_facts|parameters)_")

# NVIDIA's names: the preload library's hook and a phantom card's function. And
# macros that make functions, which ctags takes for some.
NVIDIAS = re.compile(r"^((cu|nvml|cuda|cublas|cudnn|cusparse|nccl)[A-Z]|"
                     r"[A-Z_]+$)")


def files_below(root):
    """All C files of the rooms, by their path."""
    found = []
    for big in BIG_ROOMS:
        for folder, _, names in os.walk(os.path.join(root, big)):
            found += [os.path.relpath(os.path.join(folder, name), root)
                      for name in names if name.endswith((".c", ".h"))]
    return sorted(found)


def includes_of(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', file.read(),
                          re.MULTILINE)


class Symbols:
    """What each file defines for others and takes from others."""

    def __init__(self, root, build):
        self.defined, self.used = {}, {}
        for path, source, is_product in self.objects(root, build):
            names = subprocess.run(["nm", "-P", path], check=True, text=True,
                                   capture_output=True).stdout.splitlines()
            for name, kind in (line.split()[:2] for line in names):
                if kind in "Uw":
                    self.used.setdefault(source, set()).add(name)
                elif kind in "TDRBVWC" and is_product:
                    self.defined[name] = source

    @staticmethod
    def objects(root, build):
        """Of the program, and of its tests, which are users too: by day the
        unit tests are only in the tree with sanitizers. The preload library is
        a program of its own: it shares no names."""
        sanitized = os.path.join(os.path.dirname(build), "dev")
        paths = [(tree, os.path.join(folder, name))
                 for tree, part in ((build, ""), (sanitized, "tests"))
                 for folder, _, names in os.walk(os.path.join(tree, part))
                 for name in names]
        for tree, path in paths:
            match = re.match(r"(.*?)CMakeFiles/([^/]+)\.dir/(.+\.c)\.o$",
                             os.path.relpath(path, tree))
            source = match[1] + match[3] if match else ""
            # An object may be left of a file that is gone.
            if match and match[2] != "autofit_preload" and (
                    os.path.exists(os.path.join(root, source))):
                yield path, source, match[2] in BIG_ROOMS

    def calls(self):
        """{file: {other file: names}}"""
        table = collections.defaultdict(lambda: collections.defaultdict(set))
        for source, names in self.used.items():
            for name in names:
                other = self.defined.get(name, source)
                if other != source:
                    table[source][other].add(name)
        return table

    def without_user(self):
        used = set().union(*self.used.values())
        return sorted((source, name) for name, source in self.defined.items()
                      if name not in used and not PUBLIC.match(name) and
                      source != "launcher/main.c")


def arrows_of(root, files, calls):
    """{room: {other room: [(file, what)]}}"""
    table = collections.defaultdict(lambda: collections.defaultdict(list))
    known = set(files)
    for path in files:
        others = [(name, "includes " + name)
                  for name in includes_of(root, path) if name in known]
        others += [(other, "calls %s of %s" % (", ".join(sorted(names)), other))
                   for other, names in calls.get(path, {}).items()
                   if other in known]
        for other, what in others:
            room, used = os.path.dirname(path), os.path.dirname(other)
            if room != used:
                table[room][used].append((path, what))
    return table


def wrong_arrows(arrows):
    level = {room: i for i, room in enumerate(ROOMS)}
    for room in arrows:
        if room not in level:
            yield "%s: no room of the list" % room
            continue
        big = room.split("/")[0]
        for used, reasons in arrows[room].items():
            other = used.split("/")[0]
            if level.get(used, -1) > level[room] and (
                    other == big or other in BIG_ROOMS[big].split()):
                continue
            for path, what in reasons:
                yield "%s: %s must not use %s: it %s" % (path, room, used, what)


def circles_of(graph):
    """Strongly connected files, by Tarjan's algorithm without recursion."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []

    def visit(start):
        work = [(start, iter(sorted(graph.get(start, ()))))]
        while work:
            node, others = work[-1]
            if node not in index:
                index[node] = low[node] = len(index)
                stack.append(node)
                on_stack.add(node)
            for other in others:
                if other not in index:
                    work.append((other, iter(sorted(graph.get(other, ())))))
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    circle = set()
                    while node not in circle:
                        circle.add(stack.pop())
                    on_stack.difference_update(circle)
                    if len(circle) > 1:
                        found.append(frozenset(circle))

    for node in list(graph):
        if node not in index:
            visit(node)
    return found


def wrong_circles(graph):
    allowed = {frozenset(files.split()) for files in CIRCLES}
    if len(allowed) > CIRCLES_MAX or any(
            len(circle) > CIRCLE_FILES_MAX for circle in allowed):
        yield "CIRCLES: at most %d of at most %d files" % (
            CIRCLES_MAX, CIRCLE_FILES_MAX)
    found = circles_of(graph)
    for circle in found:
        if circle not in allowed:
            ties = ["%s -> %s (%s)" % (a, b, ", ".join(sorted(graph[a][b])))
                    for a in sorted(circle) for b in sorted(graph[a])
                    if b in circle]
            yield "call each other: %s\n  %s" % (
                " ".join(sorted(circle)), "\n  ".join(ties))
    for circle in allowed.difference(found):
        yield "CIRCLES: no such circle: %s" % " ".join(sorted(circle))


def wrong_folders(root, files):
    for room, count in sorted(collections.Counter(
            os.path.dirname(path) for path in files).items()):
        if count > FILES_MAX:
            yield "%s: %d files in one folder" % (room, count)
        if not os.path.exists(os.path.join(root, room, "README.md")):
            yield "%s: no README.md says what it is for" % room


def tags_of(root, files):
    """Functions, structs and enums: kind, name, file, first line, last."""
    tags = subprocess.run(
        ["ctags", "-L", "-", "-o", "-", "--languages=C", "--langmap=C:.c.h",
         "--kinds-C=fsg", "--fields=+neK"], input="\n".join(files), cwd=root,
        check=True, text=True, capture_output=True).stdout
    for line in tags.splitlines():
        if line.startswith("!") or line.startswith("__anon"):
            continue
        name, path = line.split("\t")[:2]
        first, last = (int((re.search(r"\t%s:(\d+)" % key, line) or [0, 0])[1])
                       for key in ("line", "end"))
        kind = re.search(r";\"\t(\w+)", line)[1]
        # It takes "enum place places[] = {" for one.
        if kind == "function" or "%s %s {" % (kind, name) in line:
            yield kind, name, path, first, last


def wrong_functions(tags):
    for kind, name, path, first, last in tags:
        if kind == "function" and last - first >= LINES_MAX:
            yield "%s: %s has %d lines" % (path, name, last - first + 1)


def wrong_names(tags):
    """A search for a name finds one thing."""
    places = collections.defaultdict(set)
    for kind, name, path, _, _ in tags:
        places["function" if kind == "function" else "type", name].add(path)
    for (kind, name), paths in sorted(places.items()):
        if len(paths) > 1 and name != "main" and not NVIDIAS.match(name):
            yield "%s %s stands in %s" % (kind, name, " ".join(sorted(paths)))


def wrong_page(root, tags):
    """docs/architecture.md names functions and files that there are."""
    with open(os.path.join(root, PAGE), encoding="utf-8") as file:
        text = file.read()
    functions = {tag[1] for tag in tags if tag[0] == "function"}
    for name in sorted(set(re.findall(r"`(\w+)\(\)`", text)) - functions):
        yield "%s: there is no function %s" % (PAGE, name)
    for path in sorted(set(re.findall(r"`([a-z_]+/[a-z0-9_/.]*)`", text))):
        if not os.path.exists(os.path.join(root, path)):
            yield "%s: there is no %s" % (PAGE, path)


def print_arrows(arrows):
    print("Rooms from the top down, and the rooms that each uses:")
    for room in ROOMS:
        print("  %-28s %s" % (room, " ".join(
            sorted(arrows.get(room, ()), key=ROOMS.index)) or "-"))


def expect(wanted, found):
    if wanted != found:
        sys.exit("rooms.py: blind\nwanted: %r\nfound:  %r" % (wanted, found))


def check_itself():
    """A check that finds nothing must be known to find something."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in (("base/up.c", '#include "search/a.h"\n'
                            "static int twice(void) { return 0; }\n"),
                           ("search/a.h", "int a(void);\n"),
                           ("search/long.c", "int fits(void)\n{\n%s}\n"
                            "static int twice(void) { return 1; }\n" %
                            ("\n" * 57)),
                           (PAGE, "`fits()` and `gone()` in `search/long.c` "
                            "and `search/gone.c`\n"),
                           ("search/longer.c", "int a(void)\n{\n%s}\n" %
                            ("\n" * 58)),
                           ("search/README.md", "Search.\n")):
            os.makedirs(os.path.dirname(os.path.join(root, path)),
                        exist_ok=True)
            with open(os.path.join(root, path), "w",
                      encoding="utf-8") as file:
                file.write(text)
        files = files_below(root)
        calls = {"search/long.c": {"base/up.c": {"up"}}}
        arrows = arrows_of(root, files, calls)
        expect(["base/up.c: base must not use search: it includes search/a.h"],
               list(wrong_arrows(arrows)))
        expect({"search": ["base"], "base": ["search"]},
               {room: list(used) for room, used in arrows.items()})
        expect(["base: no README.md says what it is for"],
               list(wrong_folders(root, files)))
        tags = list(tags_of(root, files))
        expect(["search/longer.c: a has 61 lines"],
               list(wrong_functions(tags)))
        expect(["function twice stands in base/up.c search/long.c"],
               list(wrong_names(tags)))
        expect(["docs/architecture.md: there is no function gone",
                "docs/architecture.md: there is no search/gone.c"],
               list(wrong_page(root, tags)))
    expect([frozenset("bcd"), frozenset("ef")], sorted(circles_of(
        {"a": {"b": 1}, "b": {"c": 1}, "c": {"d": 1}, "d": {"b": 1, "e": 1},
         "e": {"f": 1}, "f": {"e": 1}, "g": {"a": 1}}), key=sorted))


def main():
    root, build = os.environ["SOURCE"], os.environ["BUILD"]
    check_itself()
    files = files_below(root)
    symbols = Symbols(root, build)
    calls = symbols.calls()
    arrows = arrows_of(root, files, calls)
    print_arrows(arrows)
    tags = list(tags_of(root, files))
    wrong = [*wrong_arrows(arrows), *wrong_circles(calls),
             *wrong_folders(root, files), *wrong_functions(tags),
             *wrong_names(tags), *wrong_page(root, tags)]
    wrong += ["%s: %s has no user in another file" % pair
              for pair in symbols.without_user()]
    if not files or not calls:
        wrong.append("no files, or no objects of a build")
    for line in wrong:
        print(line)
    print("%d rooms, %d files, %d faults" % (len(ROOMS), len(files),
                                             len(wrong)))
    sys.exit(1 if wrong else 0)


main()
