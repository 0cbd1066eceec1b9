"""The HTTP side: requests to handlers by path. Plain ASGI, since a router's layers cost more than small models do.

A handler is `async (Exchange) -> None`. It is found by the first part of the path. What it raises as ServingError is
answered in the words of its protocol.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any, NamedTuple, TypeVar

import orjson

from mindspore_serving import log
from mindspore_serving.engine.errors import Kind, ServingError
from mindspore_serving.protocols.access import Access
from mindspore_serving.protocols.tracing import Tracing

JSON = b"application/json"
T = TypeVar("T")
Handler = Callable[["Exchange"], Awaitable[None]]


class TooLarge(ServingError):
    def __init__(self, limit: int) -> None:
        super().__init__(f"http message is bigger than {limit}", Kind.INVALID)


class Disconnected(Exception):
    """The client left."""


class Reply(NamedTuple):
    """An answer that is sent at once."""

    data: bytes
    status: int = 200
    kind: bytes = JSON
    headers: list[tuple[bytes, bytes]] = []


class Exchange:
    """One request and its answer."""

    def __init__(self, scope: dict[str, Any], receive: Any, send: Any, limit: int) -> None:
        self._receive, self._send, self._limit = receive, send, limit
        self.method: str = scope["method"]
        self.path: str = scope["path"].removeprefix(scope.get("root_path", ""))  # behind a proxy that has a prefix for us
        self._raw_headers: list[tuple[bytes, bytes]] = scope["headers"]
        self.size = 0  # bytes of the body, once it is read as JSON
        self.administers = False  # whether models may be loaded and unloaded
        self.status = 0  # of the answer, once it is begun

    @property
    def started(self) -> bool:
        return self.status > 0

    def headers(self) -> dict[str, str]:
        return {key.decode("latin-1"): value.decode("latin-1") for key, value in self._raw_headers}

    def header(self, name: bytes) -> bytes | None:
        return next((value for key, value in self._raw_headers if key == name), None)

    async def body(self) -> bytes:
        length = self.header(b"content-length")
        if length is not None and length.isdigit() and int(length) > self._limit:
            raise TooLarge(self._limit)
        message = await self._receive()
        if not message.get("more_body"):
            data: bytes = message.get("body", b"")
            if len(data) > self._limit:
                raise TooLarge(self._limit)
            return data
        parts = [message.get("body", b"")]
        size = len(parts[0])
        while message.get("more_body"):
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise Disconnected
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._limit:
                raise TooLarge(self._limit)
        return b"".join(parts)

    async def json(self) -> Any:
        data = await self.body()
        self.size = len(data)
        try:
            return orjson.loads(data)
        except orjson.JSONDecodeError as error:
            raise ServingError(f"Illegal JSON format.{error}") from None

    async def left(self) -> None:
        """Returns when the client has left."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def while_there(self, work: Awaitable[T]) -> T:
        """What work gives; if the client leaves before that, it is cancelled: Disconnected."""
        task, left = asyncio.ensure_future(work), asyncio.ensure_future(self.left())
        both: set[asyncio.Future[Any]] = {task, left}
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise Disconnected
            return task.result()
        finally:
            task.cancel()
            left.cancel()

    async def answer(
        self, data: bytes, status: int = 200, kind: bytes = JSON, headers: list[tuple[bytes, bytes]] | None = None
    ) -> None:
        self.status = status
        await self._send(
            {
                "type": "http.response.start",
                "status": status,
                "headers": [(b"content-type", kind), (b"content-length", str(len(data)).encode()), *(headers or [])],
            }
        )
        await self._send({"type": "http.response.body", "body": data})

    async def reply(self, reply: Reply) -> None:
        await self.answer(*reply)

    async def answer_json(self, value: Any, status: int = 200, headers: list[tuple[bytes, bytes]] | None = None) -> None:
        await self.answer(orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY), status, JSON, headers)

    async def stream(self, events: AsyncGenerator[bytes], kind: bytes = b"text/event-stream") -> None:
        """Send parts as they come."""
        self.status = 200
        headers = [(b"content-type", kind), (b"cache-control", b"no-cache")]
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        left = asyncio.ensure_future(self.left())
        try:
            async for event in events:
                if left.done():
                    return  # nobody listens; the events' own `finally` gives up what they need
                await self._send({"type": "http.response.body", "body": event, "more_body": True})
        finally:
            left.cancel()
            await events.aclose()
        await self._send({"type": "http.response.body", "body": b""})


def retry_after(error: ServingError) -> list[tuple[bytes, bytes]]:
    """Headers for an error that passes."""
    return [(b"retry-after", b"1")] if error.kind in (Kind.OVERLOADED, Kind.UNAVAILABLE) else []


class Application:
    """The ASGI application: `routes` by first part of the path, `other` for the rest."""

    def __init__(self, routes: dict[str, Handler], other: Handler, limit: int, access: Access) -> None:
        self._routes, self._other, self._limit, self._access = routes, other, limit, access
        self._tracing = Tracing.if_set_up()
        self.active = 0

    @property
    def access(self) -> Access:
        return self._access

    @property
    def traces(self) -> bool:
        """Whether requests leave spans."""
        return self._tracing is not None

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        exchange = Exchange(scope, receive, send, self._limit)
        shown = exchange.header(b"authorization")
        exchange.administers = self._access.administers(shown)
        if not self._access.allows(exchange.path, shown):
            await exchange.answer_json({"error": "a key is needed: Authorization: Bearer …"}, 401)
            return
        if self._tracing is None:
            await self._handle(exchange)
            return
        attributes = {"http.request.method": exchange.method, "url.path": exchange.path}
        with self._tracing.span(f"{exchange.method} /{exchange.path.split('/', 2)[1]}", exchange.headers(), attributes) as span:
            await self._handle(exchange)
            self._tracing.end_http(span, exchange.status)

    async def _handle(self, exchange: Exchange) -> None:
        self.active += 1
        try:
            await self._routes.get(exchange.path.split("/", 2)[1], self._other)(exchange)
        except Disconnected:
            pass
        except Exception as error:  # a mistake of ours: the client gets an answer, the log the details
            log.error(f"{exchange.method} {exchange.path}: {type(error).__name__}: {error}")
            if exchange.started:
                raise
            await exchange.answer_json({"error": "internal error"}, 500)
        finally:
            self.active -= 1
