"""A store of keys and values that processes share over TCP.

One process serves; all, the server included, are clients. A message is a list of byte strings, each after its length.
Requests: `set key value`, `get key`, `add key amount`, `delete key`, `join`, `count`; a reply is `ok` or `no`, and a value.
"""

from __future__ import annotations

import contextlib
import socket
import socketserver
import struct
import threading
import time
from datetime import timedelta
from typing import Any

_MAX_PART = 1 << 30  # bytes of one key or value
_MAX_PARTS = 4


def _send(connection: socket.socket, *parts: bytes) -> None:
    packed = [struct.pack("<I", len(parts))]
    for part in parts:
        packed += (struct.pack("<Q", len(part)), part)
    connection.sendall(b"".join(packed))


def _receive(connection: socket.socket) -> list[bytes]:
    (count,) = struct.unpack("<I", _exactly(connection, 4))
    if count > _MAX_PARTS:
        raise ConnectionError("the other side does not speak the protocol of TCPStore")
    parts = []
    for _ in range(count):
        (size,) = struct.unpack("<Q", _exactly(connection, 8))
        if size > _MAX_PART:
            raise ConnectionError("a value is larger than a TCPStore takes")
        parts.append(_exactly(connection, size))
    return parts


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        piece = connection.recv(min(size - len(data), 1 << 20))
        if not piece:
            raise ConnectionError("the other side closed the connection")
        data += piece
    return bytes(data)


class _Server(socketserver.ThreadingTCPServer):
    """Keeps the values; one thread for each client."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, address: tuple[str, int]):
        self.values: dict[bytes, bytes] = {}
        self.joined = 0
        self.lock = threading.Lock()
        super().__init__(address, _Handler)

    def answer(self, kind: bytes, *arguments: bytes) -> tuple[bytes, ...]:
        with self.lock:
            return getattr(self, f"_{kind.decode('ascii', 'replace')}_request", self._unknown)(*arguments)

    def _unknown(self, *_: bytes) -> tuple[bytes, ...]:
        return (b"no", b"unknown request")

    def _set_request(self, key: bytes, value: bytes) -> tuple[bytes, ...]:
        self.values[key] = value
        return (b"ok", b"")

    def _get_request(self, key: bytes) -> tuple[bytes, ...]:
        return (b"ok", self.values[key]) if key in self.values else (b"no", b"")

    def _add_request(self, key: bytes, amount: bytes) -> tuple[bytes, ...]:
        try:
            total = int(self.values.get(key, b"0")) + int(amount)
        except ValueError:
            return (b"no", b"the value of the key is not a number")
        self.values[key] = str(total).encode()
        return (b"ok", self.values[key])

    def _delete_request(self, key: bytes) -> tuple[bytes, ...]:
        return (b"ok" if self.values.pop(key, None) is not None else b"no", b"")

    def _join_request(self) -> tuple[bytes, ...]:
        self.joined += 1
        return (b"ok", b"")

    def _count_request(self) -> tuple[bytes, ...]:
        return (b"ok", str(self.joined).encode())


class _Handler(socketserver.BaseRequestHandler):
    server: _Server

    def handle(self) -> None:
        with contextlib.suppress(OSError, TypeError, IndexError):  # clients leave, or send nonsense
            while True:
                kind, *arguments = _receive(self.request)
                _send(self.request, *self.server.answer(kind, *arguments))


class TCPStore:
    """Keys and values shared by processes.

    >>> store = TCPStore("127.0.0.1", 1234, is_master=True)
    >>> store.set("key", "value")
    >>> store.get("key")
    b'value'

    Port 0 lets the system choose one; `store.port` tells which.
    """

    def __init__(
        self,
        host_name: str,
        port: int,
        world_size: int | None = None,
        is_master: bool = False,
        timeout: timedelta = timedelta(seconds=300),
        wait_for_workers: bool = True,
        multi_tenant: bool = False,
        master_listen_fd: int | None = None,
        use_libuv: bool = True,
    ):
        _typed("host_name", host_name, str)
        _typed("port", port, int)
        _typed("is_master", is_master, bool)
        _typed("timeout", timeout, timedelta)
        _typed("wait_for_workers", wait_for_workers, bool)
        if world_size is not None and _typed("world_size", world_size, int) <= 0:
            raise ValueError(f"For 'TCPStore', the argument 'world_size' must be legal, but got {world_size}.")
        if not 0 <= port <= 65535:
            raise ValueError(f"For 'TCPStore', the argument 'port' must be legal, but got {port}.")
        self.host, self.timeout = host_name, timeout.total_seconds()
        self._lock = threading.Lock()
        self._server = _start_server(host_name, port) if is_master else None
        self.port = self._server.server_address[1] if self._server is not None else port
        self._connection = self._connect()
        self._ask(b"join")
        if is_master and wait_for_workers and world_size is not None:
            self._wait_for(world_size)

    def set(self, key: str, value: str | bytes) -> None:
        """Store a value under a key."""
        if not isinstance(value, (str, bytes)):
            raise TypeError(f"For 'TCPStore.set', the argument 'value' must be string or bytes, but got {type(value)}.")
        self._ask(b"set", self._key("set", key), value.encode() if isinstance(value, str) else value)

    def get(self, key: str) -> bytes:
        """The value of a key; waits for it until the timeout."""
        name, deadline = self._key("get", key), time.monotonic() + self.timeout
        while True:
            found, value = self._ask(b"get", name)
            if found == b"ok":
                return value
            if time.monotonic() >= deadline:
                raise RuntimeError(f"The key '{key}' was not set within {self.timeout} seconds.")
            time.sleep(0.01)

    def add(self, key: str, amount: int) -> int:
        """Add to the number under a key (0 if there is none); returns the sum."""
        if isinstance(amount, bool) or not isinstance(amount, int):
            raise TypeError(f"For 'TCPStore.add', the argument 'amount' must be type of int, but got {type(amount)}.")
        done, value = self._ask(b"add", self._key("add", key), str(amount).encode())
        if done != b"ok":
            raise RuntimeError(f"The value of '{key}' is not a number.")
        return int(value)

    def delete_key(self, key: str) -> bool:
        """Remove a key; whether it was there."""
        return self._ask(b"delete", self._key("delete_key", key))[0] == b"ok"

    def close(self) -> None:
        """Close the connection; the server stops serving."""
        self._connection.close()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def __del__(self) -> None:
        if "_connection" in self.__dict__:
            self.close()

    # -----------------------------------------------------------------------------------------------------------------
    def _key(self, function: str, key: Any) -> bytes:
        if not isinstance(key, str):
            raise TypeError(
                f"For 'TCPStore.{function}', the argument 'key' must be type of string, but got {type(key)}."
            )
        return key.encode()

    def _connect(self) -> socket.socket:
        deadline = time.monotonic() + self.timeout
        while True:
            try:
                return socket.create_connection((self.host, self.port), timeout=self.timeout)
            except OSError as error:
                if time.monotonic() >= deadline:
                    raise RuntimeError(f"No TCPStore answers at {self.host}:{self.port} ({error}).") from None
                time.sleep(0.05)

    def _ask(self, *request: bytes) -> tuple[bytes, bytes]:
        with self._lock:
            _send(self._connection, *request)
            status, value = _receive(self._connection)
        return status, value

    def _wait_for(self, world_size: int) -> None:
        deadline = time.monotonic() + self.timeout
        while int(self._ask(b"count")[1]) < world_size:
            if time.monotonic() >= deadline:
                self.close()
                raise RuntimeError(f"Not all of {world_size} processes joined within {self.timeout} seconds.")
            time.sleep(0.01)


def _typed(name: str, value: Any, kind: type) -> Any:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
        raise TypeError(
            f"For 'TCPStore', the argument '{name}' must be type of {kind.__name__}, but got {type(value)}."
        )
    return value


def _start_server(host: str, port: int) -> _Server:
    try:
        server = _Server((host, port))
    except OSError as error:
        raise RuntimeError(f"A TCPStore cannot serve at {host}:{port}: {error}.") from None
    threading.Thread(target=server.serve_forever, daemon=True, kwargs={"poll_interval": 0.05}).start()
    return server
