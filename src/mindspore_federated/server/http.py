"""An HTTP service in a thread: POST bodies of bounded size to functions from bytes to bytes, over uvicorn.

A peer that asks too often gets 429, one that sends too much 413, one that stops in the middle of its body 408.
"""
from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import ceil
from typing import Any

from mindspore_federated import log
from mindspore_federated.server.limits import Rate, Room

_THREADS = 4
_START_SECONDS = 20.0
_SILENT_SECONDS = 30.0                   # between two pieces of a body
_ROOM_BYTES = 256 << 20                  # for all bodies together


@dataclass(frozen=True)
class Reply:
    """An answer to a request."""
    body: bytes
    status: int = 200
    kind: str = "application/octet-stream"
    retry_after: float = 0.0


Route = Callable[[bytes], Reply]
Receive = Callable[[], Awaitable[dict[str, Any]]]


def parse_address(address: str, what: str) -> tuple[str, int]:
    """Host and port of `ip:port`."""
    host, colon, port = address.rpartition(":")
    try:
        if host != "localhost":
            ipaddress.ip_address(host.strip("[]"))
        number = int(port)
    except ValueError:
        number = -1
    if not colon or not 0 <= number <= 65535:
        raise RuntimeError(f"Failed to start {what} http server, invalid server address: {address}. It should be "
                           "ip:port, with a port up to 65535")
    return host.strip("[]"), number


class HttpService:
    """Serves `routes` (path to function) at `address` from `start` to `stop`."""

    def __init__(self, address: str, what: str, routes: Mapping[str, Route], *, max_body: int,
                 tls: ssl.SSLContext | None = None, max_connections: int = 10000, rate: float = 0.0) -> None:
        self._routes = dict(routes)
        self._max_body = max_body
        self._rate = Rate(rate)
        self._room = Room(max(_ROOM_BYTES, 2 * max_body))
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="federated-http")
        self._socket = _bind(address, what)
        self._server = _uvicorn_server(self._app, tls, max_connections)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)

    @property
    def port(self) -> int:
        """The port that is served."""
        return int(self._socket.getsockname()[1])

    def start(self) -> None:
        """Begin to serve; returns when requests are taken."""
        self._thread.start()
        deadline = time.monotonic() + _START_SECONDS
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > deadline:
                raise RuntimeError("Failed to start the http server, see the log")
            time.sleep(0.005)

    def stop(self) -> None:
        """Finish the requests under way and end."""
        self._server.should_exit = True
        if self._thread.ident is not None:
            self._thread.join(timeout=5)
        self._socket.close()
        self._pool.shutdown(wait=False)

    async def _app(self, scope: dict[str, Any], receive: Receive,
                   send: Callable[[dict[str, Any]], Awaitable[None]]) -> None:
        if scope["type"] != "http":
            return
        reply = await self._answer(scope, receive)
        headers = [(b"content-type", reply.kind.encode()), (b"content-length", str(len(reply.body)).encode())]
        if reply.retry_after:
            headers.append((b"retry-after", str(ceil(reply.retry_after)).encode()))
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": reply.body})

    async def _answer(self, scope: dict[str, Any], receive: Receive) -> Reply:
        route = self._routes.get(scope["path"])
        if route is None:
            return Reply(b"no such path", 404, "text/plain")
        if scope["method"] not in ("POST", "GET"):
            return Reply(b"use POST", 405, "text/plain")
        wait = self._rate.wait(scope["client"][0] if scope["client"] else "")
        if wait:
            return Reply(b"too many requests", 429, "text/plain", wait)
        stated = _stated_size(scope)
        if stated is not None and stated > self._max_body:
            return self._too_large()
        taken = await self._room.take(self._max_body if stated is None else stated)
        try:
            body = await self._body(receive)
            if isinstance(body, Reply):
                return body
            return await asyncio.get_running_loop().run_in_executor(self._pool, route, body)
        finally:
            self._room.give(taken)

    def _too_large(self) -> Reply:
        return Reply(f"a body may have at most {self._max_body} bytes".encode(), 413, "text/plain")

    async def _body(self, receive: Receive) -> bytes | Reply:
        parts, size = [], 0
        clock = asyncio.get_running_loop().time
        try:
            async with asyncio.timeout(_SILENT_SECONDS) as silence:
                while True:
                    message = await receive()
                    if message["type"] != "http.request":
                        return Reply(b"the peer went away", 400, "text/plain")
                    part = message.get("body", b"")
                    size += len(part)
                    if size > self._max_body:
                        return self._too_large()
                    parts.append(part)
                    if not message.get("more_body"):
                        return parts[0] if len(parts) == 1 else b"".join(parts)
                    silence.reschedule(clock() + _SILENT_SECONDS)
        except TimeoutError:
            return Reply(b"the body did not come", 408, "text/plain")


def _stated_size(scope: dict[str, Any]) -> int | None:
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() else None
    return None


def _bind(address: str, what: str) -> socket.socket:
    host, port = parse_address(address, what)
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise RuntimeError(f"Failed to start {what} http server at {address}: {error}") from None
    return listener


def _uvicorn_server(app: Any, tls: ssl.SSLContext | None, max_connections: int) -> Any:
    import uvicorn

    config = uvicorn.Config(app, interface="asgi3", log_config=None, access_log=False, lifespan="off",
                            limit_concurrency=max_connections, proxy_headers=False,
                            timeout_graceful_shutdown=2, timeout_keep_alive=30, ws="none", backlog=4096)
    config.load()
    if tls is not None:
        config.ssl = tls
    log.debug("http service configured, tls %s", tls is not None)
    return uvicorn.Server(config)
