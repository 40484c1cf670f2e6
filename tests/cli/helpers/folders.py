# All that can be told of folders: to compare them before and after.
# SPDX-License-Identifier: MIT
"""walk() gives {label: Entry}; differences() what two of them do not share."""
import collections
import hashlib
import os
import stat

# Times before this were set by a test: nobody wrote there since.
SET_BY_A_TEST = 1200000000

Entry = collections.namedtuple(
    "Entry", "kind mode owner links size changed modified inode digest more"
)


def digest_of(path, size):
    """Of the data and where they stand; holes cost no time."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        at = 0
        while at < size:
            try:
                at = os.lseek(file.fileno(), at, os.SEEK_DATA)
            except OSError:
                break
            piece = os.pread(file.fileno(), 1 << 20, at)
            if not piece:
                break
            if piece.count(0) != len(piece):
                digest.update(b"%d:" % at + piece)
            at += len(piece)
    return digest.hexdigest()[:12]


def look(path):
    info = os.lstat(path)
    kind = stat.S_IFMT(info.st_mode)
    digest, more = "", ""
    if stat.S_ISREG(info.st_mode):
        digest = digest_of(path, info.st_size)
    if stat.S_ISLNK(info.st_mode):
        more = os.readlink(path)
    else:
        more = sorted(
            (name, os.getxattr(path, name, follow_symlinks=False))
            for name in os.listxattr(path, follow_symlinks=False)
        )
    size = 0 if stat.S_ISDIR(info.st_mode) else info.st_size
    return Entry(
        kind, stat.S_IMODE(info.st_mode), (info.st_uid, info.st_gid),
        info.st_nlink, size, info.st_ctime_ns, info.st_mtime_ns, info.st_ino,
        digest, more,
    )


def walk(roots):
    """Roots are {label: path}; one that is not there has no entry."""
    found = {}
    for label, root in roots.items():
        if not os.path.lexists(root):
            continue
        found[label] = look(root)
        if not stat.S_ISDIR(found[label].kind):
            continue
        for folder, folders, files in os.walk(root):
            inner = label + folder[len(root):]
            for name in folders + files:
                path = os.path.join(folder, name)
                found[os.path.join(inner, name)] = look(path)
    return found


def without_times(found, place):
    """What is the same in a copy at another place that was treated the same."""
    return {
        label: entry._replace(
            changed=0, inode=0, more=str(entry.more).replace(place, ""),
            modified=entry.modified
            if entry.modified < SET_BY_A_TEST * 10**9 else 0)
        for label, entry in found.items()
    }


def differences(before, after):
    """A line for each label that is new, gone or changed."""
    lines = []
    for label in sorted(before.keys() | after.keys()):
        old, new = before.get(label), after.get(label)
        if old == new:
            continue
        if not old or not new:
            lines.append("%s: %s" % (label, "new" if new else "gone"))
            continue
        lines.append("%s: %s" % (label, ", ".join(
            "%s %s, was %s" % (name, b, a)
            for name, a, b in zip(Entry._fields, old, new) if a != b)))
    return lines
