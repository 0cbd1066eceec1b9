"""Static libraries (`.a`, GNU's form of ar): members, and the index by which linkers find symbols.

    archive = "!<arch>\\n" { head content [newline] }        head = name:16 date:12 owner:6 group:6 mode:8 size:10 "`\\n"
    "/"  the index: count, the offset of the member that defines each symbol (big-endian), names       "//"  long names
"""

from __future__ import annotations

import struct
from typing import NamedTuple

_MAGIC, _HEAD = b"!<arch>\n", 60


class BadArchiveError(ValueError):
    """The bytes are no static library."""


class Member(NamedTuple):
    name: str
    head: bytes
    content: bytes


class Archive(NamedTuple):
    """`symbols`: (name, the member that defines it)."""

    members: list[Member]
    symbols: list[tuple[bytes, int]]


def read(content: bytes) -> Archive:
    """The members of a library, and which of them defines what."""
    if not content.startswith(_MAGIC):
        raise BadArchiveError("it does not begin as a static library does")
    at, names, index = len(_MAGIC), b"", b""
    members: list[Member] = []
    places: dict[int, int] = {}
    while at < len(content):
        head = content[at : at + _HEAD]
        if len(head) < _HEAD or head[58:] != b"`\n" or not head[48:58].strip().isdigit():
            raise BadArchiveError("one of its members has a damaged head")
        size = int(head[48:58])
        body = content[at + _HEAD : at + _HEAD + size]
        if len(body) != size:
            raise BadArchiveError("it is cut off")
        label = head[:16].rstrip()
        if label == b"/":
            index = body
        elif label == b"//":
            names = body
        else:
            places[at] = len(members)
            members.append(Member(_name(label, names), head, body))
        at += _HEAD + size + size % 2
    return Archive(members, _symbols(index, places))


def _name(label: bytes, names: bytes) -> str:
    if label[:1] == b"/" and label[1:].isdigit():
        start = int(label[1:])
        return names[start : names.index(b"\n", start)].rstrip(b"/").decode("utf-8", "replace")
    return label.rstrip(b"/").decode("utf-8", "replace")


def _symbols(index: bytes, places: dict[int, int]) -> list[tuple[bytes, int]]:
    if len(index) < 4:
        return []
    (count,) = struct.unpack_from(">I", index)
    if 4 + 4 * count > len(index):
        raise BadArchiveError("its index is damaged")
    offsets = struct.unpack_from(f">{count}I", index, 4)
    names = index[4 + 4 * count :].split(b"\0")
    return [(name, places[offset]) for name, offset in zip(names, offsets) if offset in places]


def write(archive: Archive, kept: set[int]) -> bytes:
    """The bytes of a library of some of the members."""
    chosen = [n for n in range(len(archive.members)) if n in kept]
    symbols = [(name, member) for name, member in archive.symbols if member in kept]
    long = b"".join(archive.members[n].name.encode() + b"/\n" for n in chosen if len(archive.members[n].name.encode()) > 15)
    size = 4 + 4 * len(symbols) + sum(len(name) + 1 for name, _ in symbols)
    at = len(_MAGIC) + _HEAD + size + size % 2 + (_HEAD + len(long) + len(long) % 2 if long else 0)
    parts: list[bytes] = []
    places: dict[int, int] = {}
    behind = 0
    for n in chosen:
        member = archive.members[n]
        name, places[n] = member.name.encode(), at
        label = name + b"/" if len(name) <= 15 else b"/%d" % behind
        behind += len(name) + 2 if len(name) > 15 else 0
        parts += [label.ljust(16), member.head[16:], member.content, b"\n" * (len(member.content) % 2)]
        at += _HEAD + len(member.content) + len(member.content) % 2
    table = struct.pack(f">I{len(symbols)}I", len(symbols), *(places[m] for _, m in symbols))
    table += b"".join(name + b"\0" for name, _ in symbols)
    first = [_MAGIC, _head(b"/", table), table, b"\n" * (len(table) % 2)]
    if long:
        first += [_head(b"//", long), long, b"\n" * (len(long) % 2)]
    return b"".join([*first, *parts])


def _head(label: bytes, content: bytes) -> bytes:
    date, owner, group, mode = b"0".ljust(12), b"0".ljust(6), b"0".ljust(6), b"0".ljust(8)
    return label.ljust(16) + date + owner + group + mode + str(len(content)).encode().ljust(10) + b"`\n"
