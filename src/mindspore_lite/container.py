"""The `.ms` file: named sections behind a table, each with a checksum.

    file    = "MSLT" version:u32 count:u32 checksum:u32 { entry } { section }
    entry   = name:char[8] offset:u64 size:u64 checksum:u32 kind:u32       (32 bytes; the head's checksum covers all entries)
    section = bytes, at an offset divisible by 64

| section | content |
|---|---|
| `meta` | JSON: what the model takes and gives, where it comes from |
| `arrays` | JSON: a row per array (arrays.py) |
| `data` | the arrays' bytes, each at an offset divisible by 64 |
| `graph` | JSON: the optimised graph for the shapes in `meta` (graph_records.py) |
| `source` | the model's messages (ONNX or MindIR) without large arrays, to build graphs for other shapes |
| `code` | machine code of the graph's kernels, for the CPU the model was converted on (stored_code.py) |
| `plans` | the compiled graph, for the machine the model was converted on (plans.py) |

Numbers are little-endian. A checksum of kind 0 is the CRC-32 of the bytes. That of large sections (kind 1) is the CRC-32 of sums: the bytes
are 64-bit numbers in rows of 1,024, and the sums of columns and of rows, modulo 2^64, are followed by the bytes left over. It is as quick
as memory is, and every change of a byte or of an order that leaves rows or columns as they were is still noticed by the other sums.
Files of version 1 have kind 0 only. Unknown sections are passed over. A file may be encrypted as a whole. It is mapped, not read: sections
that nobody asks for cost nothing but their checksum.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from mindspore._base.files import map_file, write_parts

MAGIC, VERSION, ALIGN = b"MSLT", 2, 64
_LARGE, _ROW = 1 << 20, 1024
_HEAD = struct.Struct("<4sIII")
_ENTRY = struct.Struct("<8sQQII")
_MOST_SECTIONS = 64


class BadModelError(ValueError):
    """The bytes are no `.ms` model, or are damaged."""


class NeedsValuesError(ValueError):
    """A graph can only be built when the values of some inputs are known."""


def padded(size: int) -> int:
    return size + -size % ALIGN


def _sums(content: bytes | memoryview) -> int:
    """The checksum of large sections."""
    size = len(content) // (8 * _ROW) * 8 * _ROW
    table = np.frombuffer(content[:size], "<u8").reshape(-1, _ROW)
    found = zlib.crc32(table.sum(axis=0, dtype=np.uint64).tobytes())
    return zlib.crc32(content[size:], zlib.crc32(table.sum(axis=1, dtype=np.uint64).tobytes(), found))


_CHECKSUMS = (zlib.crc32, _sums)  # by their kinds


def pack(sections: Mapping[str, bytes]) -> list[bytes]:
    """The parts of a file, in order."""
    at = padded(_HEAD.size + _ENTRY.size * len(sections))
    entries = b""
    parts: list[bytes] = []
    for name, content in sections.items():
        kind = int(len(content) >= _LARGE)
        entries += _ENTRY.pack(name.encode("ascii"), at, len(content), _CHECKSUMS[kind](content), kind)
        parts += [content, b"\0" * (padded(len(content)) - len(content))]
        at += padded(len(content))
    head = _HEAD.pack(MAGIC, VERSION, len(sections), zlib.crc32(entries)) + entries
    return [head, b"\0" * (padded(len(head)) - len(head)), *parts]


def save(path: str, sections: Mapping[str, bytes], key: bytes | None = None) -> None:
    """Write a model file; readers see all of it or nothing."""
    parts = pack(sections)
    if key is not None:
        from mindspore.formats import encryption

        parts = list(encryption.encrypt(b"".join(parts), key))
    write_parts(path, parts)


class Container:
    """The sections of a file."""

    def __init__(self, content: memoryview):
        if len(content) < _HEAD.size or bytes(content[:4]) != MAGIC:
            raise BadModelError("it does not begin as a .ms model does")
        _, version, count, checksum = _HEAD.unpack_from(content)
        if not 1 <= version <= VERSION:
            raise BadModelError(f"its format has version {version}, this library reads up to {VERSION}; convert the model again")
        end = _HEAD.size + _ENTRY.size * count
        if count > _MOST_SECTIONS or len(content) < end or zlib.crc32(content[_HEAD.size : end]) != checksum:
            raise BadModelError("its table of sections is damaged")
        self._content = content
        self._entries: dict[str, tuple[int, int, tuple[int, int]]] = {}  # where, how many bytes, checksum and its kind
        for place in range(count):
            name, offset, size, crc, kind = _ENTRY.unpack_from(content, _HEAD.size + place * _ENTRY.size)
            if kind >= len(_CHECKSUMS):
                raise BadModelError("its table of sections is damaged")
            if offset + size > len(content):
                raise BadModelError("it is cut off")
            self._entries[name.rstrip(b"\0").decode("ascii", "replace")] = (offset, size, (crc, kind))

    @classmethod
    def open(cls, path: str, key: bytes | None = None, mode: str = "AES-GCM") -> Container:
        """Map a file, decrypting it if a key is given."""
        content = map_file(path)
        if key is not None:
            from mindspore.formats import encryption

            try:
                content = memoryview(encryption.decrypt(content, key, mode))
            except encryption.WrongKeyError as error:
                raise BadModelError(f"it cannot be decrypted with this key ({error})") from None
        elif bytes(content[:4]) != MAGIC:
            from mindspore.formats import encryption

            if encryption.is_encrypted(content):
                raise BadModelError("it is encrypted; give its key")
        return cls(content)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def section(self, name: str) -> memoryview:
        """The bytes of a section, after a look at its checksum."""
        if name not in self._entries:
            raise BadModelError(f"it has no section '{name}'")
        offset, size, (checksum, kind) = self._entries[name]
        content = self._content[offset : offset + size]
        if _CHECKSUMS[kind](content) != checksum:
            raise BadModelError(f"its section '{name}' is damaged")
        return content

    def check(self) -> None:
        """Look at the checksums of all sections; BadModelError if one is damaged."""
        for name in self._entries:
            self.section(name)

    def json(self, name: str) -> Any:
        try:
            return json.loads(bytes(self.section(name)))
        except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
            raise BadModelError(f"its section '{name}' is damaged") from None

    def size(self, name: str) -> int:
        return self._entries[name][1]


def is_container(path: str) -> bool:
    with open(path, "rb") as stream:
        return stream.read(4) == MAGIC or os.fspath(path).endswith(".ms")


def as_json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
