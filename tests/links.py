#!/usr/bin/env python3
# Every link in the texts of this repository leads to a file, and to a place in it.
# SPDX-License-Identifier: MIT
"""Needs no generator of sites: links of Markdown are read as GitHub reads them,
whose addresses of headings these are. tests/site.py looks at the pages made.
"""
import os
import re
import sys
import urllib.parse

SOURCE = os.environ["SOURCE"]
SKIPPED = ("build", ".git")
LINKS_MIN = 30

LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)(?:\s+\"[^\"]*\")?\)")


def without_code(text):
    """Blocks of code hold no links; what is between backquotes neither."""
    text = re.sub(r"(?ms)^( *)```.*?^\1``` *$", "", text)
    text = re.sub(r"(?m)^ {4,}\S.*$", "", text)
    return re.sub(r"`[^`\n]*`", "", text)


def places(text):
    """What headings are called in an address."""
    found = set()
    text = re.sub(r"(?ms)^( *)```.*?^\1``` *$", "", text)
    for title in re.findall(r"(?m)^#{1,6} +(.+?) *#*$", text):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower()
        name = re.sub(r"[^\w\- ]", "", title).replace(" ", "-")
        number, free = 0, name
        while free in found:
            number += 1
            free = "%s-%d" % (name, number)
        found.add(free)
    return found | set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def faults_of(path, text):
    """Links of one text that lead nowhere, and how many links it has."""
    faults, count = [], 0
    for link in LINK.findall(without_code(text)):
        parts = urllib.parse.urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        count += 1
        target = os.path.normpath(os.path.join(
            os.path.dirname(path), urllib.parse.unquote(parts.path))) \
            if parts.path else path
        if target != path and not os.path.exists(target):
            faults.append("%s: no such file" % link)
        elif parts.fragment and parts.fragment not in places(
                text if target == path else read(target)):
            faults.append("%s: no such heading in it" % link)
    return faults, count


def main():
    planted = "# A (b) c\n[a](nowhere.md) [b](#a-b-c) [c](#d) `[e](f)`\n"
    if faults_of(os.path.join(SOURCE, "planted.md"), planted) != (
            ["nowhere.md: no such file", "#d: no such heading in it"], 3):
        sys.exit("blind to planted mistakes")
    bad, links = 0, 0
    for top, folders, names in os.walk(SOURCE):
        folders[:] = [name for name in folders if name not in SKIPPED]
        for name in names:
            if not name.endswith(".md"):
                continue
            path = os.path.join(top, name)
            faults, count = faults_of(path, read(path))
            links += count
            for fault in faults:
                bad += 1
                print("%s: %s" % (os.path.relpath(path, SOURCE), fault))
    print("%d links" % links)
    if links < LINKS_MIN:
        sys.exit("only %d links were found" % links)
    sys.exit(1 if bad else 0)


main()
