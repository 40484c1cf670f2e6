#!/usr/bin/env python3
# The documentation as a site: every page is made, and every link leads somewhere.
# SPDX-License-Identifier: MIT
import html.parser
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

SOURCE = os.environ["SOURCE"]
MKDOCS = os.environ.get("MKDOCS", "mkdocs")
PAGES_MIN = 9


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.names = [], {""}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.names.add(value)


def read_pages(folder):
    pages = {}
    for top, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(top, name)
            if name.endswith(".html"):
                with open(path, encoding="utf-8") as file:
                    pages[path] = Page(file.read())
    return pages


def broken(folder, pages):
    for path, page in sorted(pages.items()):
        # Nobody knows below which address this one will be shown.
        if os.path.basename(path) == "404.html":
            continue
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            place = urllib.parse.unquote(parts.path)
            target = os.path.normpath(
                os.path.join(os.path.dirname(path), place)) if place else path
            shown = "%s: %s" % (os.path.relpath(path, folder), link)
            if os.path.isdir(target):
                target = os.path.join(target, "index.html")
            if not os.path.exists(target):
                yield shown + ": no such file"
            elif target in pages and parts.fragment not in \
                    pages[target].names:
                yield shown + ": no such place in it"


def main():
    if not shutil.which(MKDOCS):
        print("skipped: no mkdocs here")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="autofit-site-") as folder:
        done = subprocess.run([os.path.join(SOURCE, "scripts/site"), folder],
                              stdout=subprocess.PIPE, text=True, check=False,
                              stderr=subprocess.STDOUT)
        if done.returncode:
            sys.exit("scripts/site: %d\n%s" % (done.returncode, done.stdout))
        pages = read_pages(folder)
        faults = list(broken(folder, pages))
        links = sum(len(page.links) for page in pages.values())
        print("%d pages, %d links" % (len(pages), links))
        for fault in faults:
            print(fault)
        if len(pages) < PAGES_MIN:
            sys.exit("only %d pages" % len(pages))
        sys.exit(1 if faults else 0)


main()
