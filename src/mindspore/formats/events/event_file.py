"""Event files: a run of TFRecord-framed messages, written so that no finished record can be lost.

Every record goes to the operating system in one write before the call returns: a process that is killed leaves all
records it has written, and at most one cut record at the end, which readers skip.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator

from mindspore.formats.events.messages import VERSION, Event

_LENGTH, _CRC = struct.Struct("<Q"), struct.Struct("<I")
_SHORT = 96


def _step_table() -> tuple[int, ...]:
    """What CRC-32C makes of each byte, for short data where NumPy's overhead is more than the work."""
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return tuple(table)


_TABLE = _step_table()


def checksum(data: bytes) -> int:
    """The stored form of the CRC-32C of `data`."""
    if len(data) > _SHORT:
        from mindspore._base.crc32c import crc32c, mask  # a big package, for long records only

        return mask(crc32c(data))
    state, table = 0xFFFFFFFF, _TABLE
    for byte in data:
        state = state >> 8 ^ table[(state ^ byte) & 0xFF]
    crc = state ^ 0xFFFFFFFF
    return (crc >> 15 | crc << 17 & 0xFFFFFFFF) + 0xA282EAD8 & 0xFFFFFFFF


def frame(data: bytes) -> bytes:
    """A record: length, its checksum, data, its checksum."""
    length = _LENGTH.pack(len(data))
    return b"".join((length, _CRC.pack(checksum(length)), data, _CRC.pack(checksum(data))))


def read_records(data: bytes | memoryview) -> Iterator[memoryview]:
    """The records of a file; stops quietly at one that is cut or damaged, as it is after a crash."""
    view, at = memoryview(data), 0
    while at + 12 <= len(view):
        (size,) = _LENGTH.unpack_from(view, at)
        if _CRC.unpack_from(view, at + 8)[0] != checksum(bytes(view[at : at + 8])) or size > len(view) - at - 16:
            return
        body = view[at + 12 : at + 12 + size]
        if _CRC.unpack_from(view, at + 12 + size)[0] != checksum(bytes(body)):
            return
        yield body
        at += 16 + size


class EventFile:
    """A file that records are appended to.

    Args:
        path: the file; created when the first record is written.
        wall_time: when it was begun.
        max_size: stop writing, without an error, when the file would get bigger.
        headed: start with the version record that summary files have and lineage files have not.
    """

    def __init__(self, path: str, wall_time: float, max_size: int | None = None, headed: bool = True):
        self.path = path
        self.max_size = max_size
        self._wall_time = wall_time
        self._headed = headed
        self._handle = -1
        self._size = 0
        self.full = False

    def write(self, data: bytes) -> bool:
        """Append a record; False when the file is full."""
        record = frame(data)
        if self._handle < 0:
            self._open()
        if self.full or (self.max_size is not None and self._size + len(record) > self.max_size):
            self.full = True
            return False
        self._append(record)
        return True

    def _open(self) -> None:
        self._handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        if self._headed:
            self._append(frame(Event(wall_time=self._wall_time, version=VERSION).encode()))

    def _append(self, record: bytes) -> None:
        view = memoryview(record)
        while view:
            view = view[os.write(self._handle, view) :]
        self._size += len(record)

    def flush(self) -> None:
        """Bring what was written to the disk."""
        if self._handle >= 0:
            os.fsync(self._handle)

    def close(self) -> None:
        """Close the file."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
