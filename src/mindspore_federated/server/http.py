"""An HTTP service in a thread: POST bodies of bounded size to functions from bytes to bytes, over uvicorn.

A peer that asks too often gets 429, one that sends too much 413, one that stops in the middle of its body 408. Bodies and
answers take a bounded part of the memory however many peers there are: see `limits.py` and `uploads.py`.
"""
from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from math import ceil
from typing import Any

from mindspore_federated import log
from mindspore_federated.server.limits import Rate, Room
from mindspore_federated.server.traffic import Traffic
from mindspore_federated.server.uploads import Reply, Stated, Upload, Uploads, stated

_THREADS = 4
_START_SECONDS = 20.0
_SILENT_SECONDS = 30.0                   # between two pieces of a body
_PRESSED_SECONDS = 3.0                   # the same while others wait for room
_SLOWEST = 4096                          # bytes a second that a body has to come with in the long run
_ROOM_BYTES = 256 << 20                  # for all bodies together
_PIECE = 1 << 18                         # of an answer: the next one follows when the peer has taken the last


Route = Callable[[memoryview], Reply]
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
                 tls: ssl.SSLContext | None = None, max_connections: int = 10000, rate: float = 0.0,
                 traffic: Traffic | None = None) -> None:
        self._routes = dict(routes)
        self._traffic = traffic or Traffic("", address)
        self._max_body = max_body
        self._rate = Rate(rate)
        self._room = Room(max(_ROOM_BYTES, 2 * max_body))
        self._uploads = Uploads(size=_ROOM_BYTES)
        self._receiving: dict[asyncio.Timeout, float] = {}  # bodies that are coming, and when each was heard of last
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
        headers = [(b"content-type", reply.kind.encode()), (b"content-length", str(reply.size).encode())]
        if reply.retry_after:
            headers.append((b"retry-after", str(ceil(reply.retry_after)).encode()))
        if reply.offset is not None:
            headers.append((b"upload-offset", str(reply.offset).encode()))
        self._traffic.add(sent=reply.size)
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        for part in reply.parts:
            for at in range(0, len(part), _PIECE):
                await send({"type": "http.response.body", "body": part[at:at + _PIECE], "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def _answer(self, scope: dict[str, Any], receive: Receive) -> Reply:
        route = self._routes.get(scope["path"])
        if route is None:
            return _text("no such path", 404)
        if scope["method"] not in ("POST", "GET"):
            return _text("use POST", 405)
        wait = self._rate.wait(scope["client"][0] if scope["client"] else "")
        if wait:
            return Reply(b"too many requests", status=429, kind="text/plain", retry_after=wait)
        try:
            body = stated(scope["headers"], self._max_body)
        except ValueError as error:
            return _text(str(error), 400)
        if body.asks:
            return self._uploads.ask(body.name)
        if body.length > self._max_body:
            return self._too_large()
        if not self._room.free(body.length):
            self._press()
        taken = await self._room.take(body.length)
        try:
            return await self._take_in(body, route, receive)
        finally:
            self._room.give(taken)

    async def _take_in(self, body: Stated, route: Route, receive: Receive) -> Reply:
        """Receive a body, or the rest of one, and answer it."""
        upload = self._uploads.begin(body)
        if isinstance(upload, Reply):
            return upload
        turn = upload.turn
        problem = await self._receive(upload, receive)
        if problem is None and body.name and upload.size < upload.length:
            problem = Reply(status=202, offset=upload.size)
        if problem is not None:
            self._uploads.keep(body.name, upload, turn)
            return problem
        upload.complete = True
        view = upload.body()
        try:
            reply = await asyncio.get_running_loop().run_in_executor(self._pool, route, view)
        finally:
            with contextlib.suppress(BufferError):          # a route that kept a part of the body keeps its buffer
                view.release()
        return self._uploads.done(body.name, upload, reply)

    def _press(self) -> None:
        """Somebody has to wait: those who have stopped sending get less time."""
        for silence, heard in self._receiving.items():
            if not silence.expired():
                silence.reschedule(heard + _PRESSED_SECONDS)

    def _too_large(self) -> Reply:
        return _text(f"a body may have at most {self._max_body} bytes", 413)

    async def _receive(self, upload: Upload, receive: Receive) -> Reply | None:
        """Put a body in its place; what to answer where that does not work."""
        clock, turn = asyncio.get_running_loop().time, upload.turn
        began, before, silence = clock(), upload.size, asyncio.timeout(_SILENT_SECONDS)
        try:
            async with silence:
                while True:
                    self._receiving[silence] = now = clock()
                    patience = _PRESSED_SECONDS if self._room.pressed else _SILENT_SECONDS
                    late = began + _SILENT_SECONDS + (upload.size - before) / _SLOWEST
                    silence.reschedule(min(now + patience, late))
                    message = await receive()
                    if message["type"] != "http.request":
                        return _text("the peer went away", 400)
                    if upload.turn != turn:
                        return _text("another connection goes on with this upload", 409)
                    part = message.get("body", b"")
                    self._traffic.add(received=len(part))
                    if not upload.add(part):
                        return self._too_large()
                    if not message.get("more_body"):
                        return None
        except TimeoutError:
            return _text("the body did not come", 408)
        finally:
            self._receiving.pop(silence, None)


def _text(text: str, status: int) -> Reply:
    return Reply(text.encode(), status=status, kind="text/plain")


def _bind(address: str, what: str) -> socket.socket:
    host, port = parse_address(address, what)
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):                 # connections inherit it: who takes no answer is let go
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(1000 * _SILENT_SECONDS))
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
