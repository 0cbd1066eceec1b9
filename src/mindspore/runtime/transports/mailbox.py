"""Messages between processes over TCP, for transports that have none of their own.

Every process listens at a port of its own. A message is a line of JSON (who, tag, type, shape, a secret) and the bytes; a thread
for each connection puts it into the queue of its sender and tag. Sending never waits for the receiver to ask.
"""

from __future__ import annotations

import json
import queue
import socket
import socketserver
import threading
from collections import defaultdict
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype

_LONGEST_HEADER = 4096


class Mailbox:
    """The messages for one process; `address` is where others reach it."""

    def __init__(self, rank: int, secret: str, host: str):
        self.rank, self.secret = rank, secret
        self._queues: defaultdict[tuple[int, int], queue.Queue[np.ndarray]] = defaultdict(queue.Queue)
        self._lock = threading.Lock()
        self._open: dict[str, socket.socket] = {}
        self._server = _Listener((host, 0), _Reader)
        self._server.mailbox = self
        self.address = f"{host}:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, name="mailbox", daemon=True).start()

    def send(self, address: str, array: np.ndarray, tag: int) -> None:
        data = np.ascontiguousarray(array)
        kind = {"rank": self.rank, "tag": tag, "dtype": mstype.from_numpy(array.dtype).name, "shape": array.shape}
        header = json.dumps({**kind, "secret": self.secret, "bytes": data.nbytes}).encode() + b"\n"
        with self._lock:
            if address not in self._open:
                host, _, port = address.rpartition(":")
                self._open[address] = socket.create_connection((host, int(port)), timeout=60)
                self._open[address].settimeout(None)
            self._open[address].sendall(header)
            self._open[address].sendall(data.reshape(-1).view(np.uint8).data)

    def receive(self, source: int, tag: int, patience: float) -> np.ndarray:
        try:
            return self._box(source, tag).get(timeout=patience)
        except queue.Empty:
            raise TimeoutError(
                f"rank {self.rank} has waited {patience:.0f} s in Receive (tag {tag}) for a message of rank {source}."
            ) from None

    def _box(self, source: int, tag: int) -> queue.Queue[np.ndarray]:
        with self._lock:
            return self._queues[source, tag]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        for connection in self._open.values():
            connection.close()


class _Listener(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    mailbox: Mailbox


class _Reader(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        mailbox: Mailbox = self.server.mailbox  # type: ignore[attr-defined]
        while line := self.rfile.readline(_LONGEST_HEADER):
            header: dict[str, Any] = json.loads(line)
            if header.pop("secret") != mailbox.secret:
                return  # a stranger
            data = np.empty(header["bytes"], np.uint8)
            if self.rfile.readinto(data.data) != len(data):  # type: ignore[attr-defined]
                return
            array = data.view(mstype.to_dtype(header["dtype"]).np).reshape(header["shape"])
            mailbox._box(header["rank"], header["tag"]).put(array)
