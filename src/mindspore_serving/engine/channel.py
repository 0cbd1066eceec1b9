"""Messages between the server and a worker process: frames over a Unix socket, large arrays in shared memory.

    frame = u32 length of head │ u32 length of inline data │ u8 has segment │ head (JSON) │ inline data

The head says what the message is and describes its values: [type, shape, size] each, in order. Their bytes follow one after
another (8-byte aligned), inline when they are few, else in an anonymous memory file (`memfd`) whose descriptor travels
with the frame. The kernel frees it with its last user, so a process that is killed leaves nothing behind. The receiver's
arrays are views of the mapping: nothing is copied.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import socket
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson

from mindspore_serving.engine.values import Value

_HEAD = struct.Struct("<IIB")
#: bytes of values from which on shared memory is cheaper than the socket; what is smaller fits into a socket's buffer
SHARED_FROM = 128 * 1024
_MAX_FRAME = 1 << 31


class Closed(ConnectionError):
    """The other side is gone."""


class Channel:
    """One end of the connection. Used by one thread at a time. `shares`: both ends are on one machine, by a Unix socket."""

    def __init__(self, connection: socket.socket, shares: bool = True) -> None:
        self._socket = connection
        self._shares = shares

    def send(self, message: dict[str, Any], values: Sequence[Value] = ()) -> None:
        described, parts, size = _describe(values)
        shared = self._shares and size >= SHARED_FROM
        head = orjson.dumps({**message, "values": described}, option=orjson.OPT_SERIALIZE_NUMPY)
        frame = [_HEAD.pack(len(head), 0 if shared else size, shared), head]
        try:
            if shared:
                descriptor = _segment(parts, size)
                try:
                    data = b"".join(frame)
                    sent = socket.send_fds(self._socket, [data], [descriptor])
                    self._socket.sendall(memoryview(data)[sent:])
                finally:
                    os.close(descriptor)
            else:
                self._socket.sendall(b"".join(frame + parts))
        except OSError as error:
            raise Closed(str(error)) from error

    def receive(self) -> tuple[dict[str, Any], list[Value]]:
        """The next message and its values; Closed when there is none."""
        try:
            first, descriptors, _, _ = socket.recv_fds(self._socket, _HEAD.size, 1)
            if not first:
                raise Closed("the connection was closed")
            head_size, size, shared = _HEAD.unpack(first + self._read(_HEAD.size - len(first)))
            if head_size + size > _MAX_FRAME:
                raise Closed(f"a frame of {head_size + size} bytes")
            rest = memoryview(self._read(head_size + size))
        except OSError as error:
            raise Closed(str(error)) from error
        message = orjson.loads(rest[:head_size])
        data = memoryview(_mapped(descriptors)) if shared else rest[head_size:]
        return message, _values(message.pop("values"), data)

    def _read(self, size: int) -> bytearray:
        data = bytearray(size)
        view, at = memoryview(data), 0
        while at < size:
            got = self._socket.recv_into(view[at:])
            if not got:
                raise Closed("the connection was closed within a frame")
            at += got
        return data

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        """End the connection; a thread that waits in `receive` gets Closed."""
        with contextlib.suppress(OSError):  # the other side may have been first
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


def _describe(values: Sequence[Value]) -> tuple[list[Any], list[Any], int]:
    described, parts, size = [], [], 0
    for value in values:
        data: Any
        if isinstance(value, str):
            data = value.encode()
            described.append(["str", None, len(data)])
        elif isinstance(value, bytes):
            data = value
            described.append(["bytes", None, len(data)])
        else:
            small = value.nbytes < SHARED_FROM  # then a copy is cheaper than a view of it
            data = value.tobytes() if small else np.ascontiguousarray(value).reshape(-1).view(np.uint8)
            described.append([value.dtype.str, value.shape, value.nbytes])
        parts.append(data)
        length = len(data)
        size += length
        if length % 8:
            parts.append(bytes(8 - length % 8))
            size += 8 - length % 8
    return described, parts, size


def _segment(parts: Sequence[Any], size: int) -> int:
    descriptor = os.memfd_create("mindspore_serving", os.MFD_CLOEXEC)
    os.ftruncate(descriptor, size)
    with mmap.mmap(descriptor, size) as memory:
        at = 0
        for part in parts:
            memory[at : at + len(part)] = bytes(part) if isinstance(part, bytes) else part.tobytes()
            at += len(part)
    return descriptor


def _mapped(descriptors: Sequence[int]) -> mmap.mmap:
    if len(descriptors) != 1:
        raise Closed("a frame without its memory")
    try:
        return mmap.mmap(descriptors[0], 0)
    finally:
        os.close(descriptors[0])


def _values(described: Sequence[Any], view: memoryview) -> list[Value]:
    values: list[Value] = []
    at = 0
    for kind, shape, size in described:
        if kind == "str":
            values.append(str(view[at : at + size], "utf-8"))
        elif kind == "bytes":
            values.append(bytes(view[at : at + size]))
        else:
            values.append(np.frombuffer(view[at : at + size], kind).reshape(shape))
        at += (size + 7) // 8 * 8
    return values
