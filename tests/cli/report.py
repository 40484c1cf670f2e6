#!/usr/bin/env python3
# Records and nights as curves in the terminal, and as a page of HTML.
# SPDX-License-Identifier: MIT
"""The page is read by a parser, which asks for what a reader with a keyboard,
a screen reader, no network or paper needs. Where Chromium is installed it is
drawn too: in both schemes, on a wide screen and on that of a phone.
"""
import fcntl
import html.parser
import os
import re
import shutil
import struct
import subprocess
import sys
import termios
import zlib

sys.dont_write_bytecode = True  # nothing new beside this file

import lib  # noqa: E402
from lib import check, equal, holds, lacks  # noqa: E402

# Elements that have no end.
VOID = {"meta", "line", "rect", "circle", "link", "img", "br", "hr"}
LIST = """\
[defaults]
device = host
headroom = 4M
confirm-steps = 3
memory = 120M
[job small]
command = %s --batch-size 4 --grad-accum 16 --steps 10
    --step-ms 5 --per-sample-kib %d
[job draft]
command = %s --batch-size 4 --grad-acum '<b>&"'
required = no
"""


class Page(html.parser.HTMLParser):
    """Elements with their attributes, text, and what is not well formed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.faults, self.elements, self.text = [], [], [], []
        self.feed(text)
        self.close()
        self.faults += ["open: " + tag for tag in self.open]

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if len(dict(attrs)) != len(attrs):
            self.faults.append("an attribute twice: " + tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append("end of " + tag)

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.text.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements
                if name == tag]


def of_page(name, text):
    """What every page needs."""
    page = Page(text)
    equal(name + ": well formed", page.faults, [])
    equal(name + ": one heading, in a language", (
        len(page.all("h1")), page.all("html")[0].get("lang")), (1, "en"))
    equal(name + ": nothing from elsewhere", re.findall(
        r"""(?:src|href)=["'](?!#)|url\(|@import|https?:""", text), [])
    equal(name + ": no scripts", page.all("script"), [])
    equal(name + ": it says so to the browser", [
        m.get("content") for m in page.all("meta")
        if m.get("http-equiv") == "Content-Security-Policy"],
        ["default-src 'none';style-src 'unsafe-inline'"])
    check(name + ": fits a phone", [m for m in page.all("meta")
                                    if m.get("name") == "viewport"])
    equal(name + ": every picture has its words", [
        s for s in page.all("svg")
        if s.get("role") != "img" or not s.get("aria-label")], [])
    equal(name + ": every head of a table says whose it is", [
        t for t in page.all("th") if t.get("scope") not in ("col", "row")], [])
    equal(name + ": what scrolls can be reached by keys", [
        d for d in page.all("div") if d.get("class") == "scroll" and (
            d.get("tabindex") != "0" or not d.get("aria-label"))], [])
    equal(name + ": the content can be skipped to", [
        a["href"] for a in page.all("a")], ["#content"])
    holds(name + ": light, dark, and paper", text,
          r"prefers-color-scheme:dark", r"@media print")
    return page


def call(place, *words, env=None):
    process = place.start("report", *words, env=env)
    out, err = process.communicate(timeout=lib.PATIENCE)
    return process.returncode, out.decode(), err.decode()


def of_record(place):
    name = sorted(os.listdir(place.path("home", "records")))[0][:-len(".ini")]
    code, _, err = call(place, "--html", "record.html", name)
    equal("record: exit code", (code, err), (0, ""))
    with open(place.path("record.html"), encoding="utf-8") as file:
        text = file.read()
    page = of_page("record", text)
    said = " ".join(page.text)
    holds("record: its setting, to be pasted", said,
          "micro 64 x accum 1 x 1 rank = 64", "--batch-size 64 --grad-accum 1",
          "largest fit 64")
    equal("record: memory, speed, and the probes in time",
          len(page.all("figure")), 3)
    check("record: points and levels are drawn",
          [c for c in page.all("circle") if c.get("class") == "good"] and
          len([e for e in page.all("line")
               if e.get("class") == "level"]) == 2)
    code, out, _ = call(place, name, "--html", "-")
    equal("record: to stdout", (code, out), (0, text))
    curves(place, name)


def curves(place, name):
    """The same in a terminal, 60 columns wide, and without UTF-8."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    done = subprocess.run([lib.AUTOFIT, "report", name], env=place.env,
                          stdout=subprocess.PIPE, stderr=theirs, check=False)
    os.close(ours)
    os.close(theirs)
    out = done.stdout.decode()
    equal("curves: exit code", done.returncode, 0)
    holds("curves: axes and levels", out, "Memory against micro-batch",
          r"MiB \|", "limit", "Samples per second", "micro-batch")
    check("curves: points", re.search(r"\|.*o", out), out)
    check("curves: braille", re.search("[\u2801-\u28ff]", out), out)
    lines = out.splitlines()
    equal("curves: no line is longer than the terminal",
          [l for l in lines if len(l) > 60], [])
    code, out, _ = call(place, name, env={"LC_ALL": "C"})
    check("curves: ASCII alone in another locale", out.isascii() and
          re.search(r"\|.*\..*\.", out), out)


def of_nights(place):
    code, out, _ = call(place, "--nightly", "nightly")
    equal("nights: exit code", code, 0)
    holds("nights: history", out, "small: micro .* micro by night: 64 32",
          "draft: fails.* micro by night: - -")
    code, _, _ = call(place, "--nightly", "nightly", "--html", "nights.html")
    with open(place.path("nights.html"), encoding="utf-8") as file:
        page = of_page("nights", file.read())
    labels = [s["aria-label"] for s in page.all("svg")]
    equal("nights: history in words", labels,
          ["micro-batch by night: 64 32", "micro-batch by night: - -"])
    holds("nights: the cause", " ".join(page.text),
          "argument --per-sample-kib 2500, was 1024")
    heads = [t for t in page.all("th") if t["scope"] == "col"]
    equal("nights: why, in a row of its own below each job", [
        t.get("colspan") for t in page.all("td") if t.get("colspan")],
          [str(len(heads))] * 2)


def mistakes(place):
    code, _, err = call(place)
    equal("nothing given", code, 125)
    holds("nothing given: the remedy", err, "autofit show lists them")
    code, _, err = call(place, "no-such-name")
    equal("no record", code, 125)
    code, _, err = call(place, "--nightly", "gone")
    equal("no night", code, 125)
    holds("no night: which", err, "gone/summary.json")
    code, _, err = call(place, "--nightly", "nightly", "--html", "gone/x.html")
    equal("no folder for the page", code, 125)
    holds("no folder for the page: which", err, "--html: .*gone")


def hostile(place):
    """Text of a record is never markup, nor moves the terminal."""
    names = os.listdir(place.path("home", "records"))
    path = place.path("home", "records", sorted(names)[0])
    with open(path, encoding="utf-8") as file:
        text = file.read()
    evil = "<script>alert(1)</script>\"'&%1b[31m"
    text = re.sub(r"(?m)^host = .*$", "host = %d:%s" % (len(evil) - 2, evil),
                  text)
    place.write("evil/records/" + sorted(names)[0], text, 0o600)
    os.chmod(place.path("evil", "records"), 0o700)
    env = {"AUTOFIT_HOME": place.path("evil")}
    name = sorted(names)[0][:-len(".ini")]
    code, out, err = call(place, name, "--html", "-", env=env)
    equal("hostile: exit code", (code, err), (0, ""))
    page = of_page("hostile", out)
    holds("hostile: it is text", " ".join(page.text),
          r"<script>alert\(1\)</script>\"'&")
    code, out, _ = call(place, name, env=env)
    lacks("hostile: the terminal sees no escape", out, "\x1b")


def pixels(path):
    """The lines of an 8-bit PNG, each of (red, green, blue)."""
    with open(path, "rb") as file:
        data = file.read()
    at, packed, size = 8, b"", None
    while at < len(data):
        length = int.from_bytes(data[at:at + 4], "big")
        kind, body = data[at + 4:at + 8], data[at + 8:at + 8 + length]
        at += 12 + length
        if kind == b"IHDR":
            size = (int.from_bytes(body[:4], "big"), {2: 3, 6: 4}[body[9]])
        elif kind == b"IDAT":
            packed += body
    raw, (width, depth) = zlib.decompress(packed), size
    stride, before, lines = width * depth, bytes(width * depth), []
    for start in range(0, len(raw), stride + 1):
        before = unfilter(raw[start], raw[start + 1:start + 1 + stride],
                          before, depth)
        lines.append([tuple(before[i:i + 3])
                      for i in range(0, stride, depth)])
    return lines


def unfilter(kind, line, above, depth):
    out = bytearray(line)
    for i, value in enumerate(line):
        left = out[i - depth] if i >= depth else 0
        corner = above[i - depth] if i >= depth else 0
        guess = left + above[i] - corner
        paeth = min((left, above[i], corner), key=lambda n: abs(guess - n))
        out[i] = value + (0, left, above[i], (left + above[i]) // 2,
                          paeth)[kind] & 255
    return bytes(out)


# Chromium draws no window that is as narrow as a phone; a frame is.
FRAME = """\
<!doctype html><meta name="color-scheme" content="light dark">
<style>body{margin:0}iframe{border:0;width:%dpx;height:1400px}</style>
<iframe src="%s"></iframe>
"""
DARK = ("--force-dark-mode", "--blink-settings=preferredColorScheme=0")
SCHEMES = (("light", (), (255, 255, 255)), ("dark", DARK, (13, 17, 23)))


def drawn(place):
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        print("# not drawn: no chromium here")
        return
    for page in ("record.html", "nights.html"):
        for width in (900, 390):
            place.write("frame.html", FRAME % (width, page))
            for scheme, more, ground in SCHEMES:
                picture = place.path("%s-%s-%d.png" % (page, scheme, width))
                subprocess.run(
                    [chromium, "--headless=new", "--no-sandbox",
                     "--disable-gpu", "--hide-scrollbars", *more,
                     "--user-data-dir=" + place.path("chromium"),
                     "--window-size=900,1400", "--screenshot=" + picture,
                     "file://" + place.path("frame.html")], check=False,
                    capture_output=True, timeout=lib.PATIENCE)
                look_at(picture, width, ground)


def look_at(picture, width, ground):
    name = os.path.basename(picture)[:-len(".png")]
    if not check(name + ": it is drawn", os.path.exists(picture)):
        return
    lines = pixels(picture)
    equal(name + ": the ground", lines[2][2], ground)
    used = {pixel for line in lines for pixel in line[:width]}
    check(name + ": something stands on it", len(used) > 50, len(used))
    equal(name + ": nothing runs out of the page on the right",
          {line[width - 3] for line in lines[:1390]}, {ground})


with lib.Place("report") as here:
    for kib in (1024, 2500):
        here.write("jobs.ini", LIST % (lib.TRAINER, kib, lib.TRAINER))
        here.start("nightly", "jobs.ini").communicate(timeout=lib.PATIENCE)
    # The one of the first night, by its sizes.
    records = here.path("home", "records")
    for one in os.listdir(records):
        with open(os.path.join(records, one), encoding="utf-8") as ini:
            if "micro_batch = 64" not in ini.read().split("\n\n")[0]:
                os.remove(os.path.join(records, one))
    of_record(here)
    of_nights(here)
    hostile(here)
    mistakes(here)
    drawn(here)
lib.finish()
