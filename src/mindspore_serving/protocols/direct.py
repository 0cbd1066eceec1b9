"""The short way of small requests to infer (`POST /v2/models/…/infer`): from the HTTP parser to the queue and back, in one turn each.

uvicorn's protocol makes a dictionary, an event and a task of every request, and messages of its body and its answer; for a model that
takes microseconds that is most of the work. Requests that are alone on their connection, have a small body of known length, and need
no span are taken here before that begins. All others, and all that is asked for elsewhere, go uvicorn's way to the application
(`http.py`); both ways share what a request means (`v2_rest.Asked`).

A connection has one timer, which is not set anew with each answer: when it goes off, it looks for how long nothing has been asked. It
also ends connections on which a request does not get complete: clients that send a byte now and then would hold them for ever.
"""

from __future__ import annotations

import functools
import re
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from mindspore_serving import log
from mindspore_serving.engine.dispatcher import Answers, Dispatcher
from mindspore_serving.engine.errors import ServingError
from mindspore_serving.engine.values import Instance
from mindspore_serving.protocols.access import Access
from mindspore_serving.protocols.http import Reply
from mindspore_serving.protocols.v2_rest import LENGTH, Asked, refusal

_PATH = re.compile(rb"/v2/models/([\w.-]+)(?:/versions/(\d+))?/infer")
#: bytes of a body that arrives in one piece, as a rule
_SMALL = 1 << 16
#: seconds for a request to arrive, and bytes a second of its body that it may take longer for
_PATIENCE, _SLOWEST = 30.0, 4096
_LINES = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}


class _NoEvent:
    """Nobody waits for parts of the body."""

    def set(self) -> None:
        pass


class _Cycle:
    """What uvicorn wants to know of a request that is being answered; the request; and who waits for its answers."""

    message_event = _NoEvent()

    def __init__(self, protocol: DirectProtocol, model: str, version: str, length: bytes | None, keep_alive: bool) -> None:
        self.protocol, self.model, self.version, self.length, self.keep_alive = protocol, model, version, length, keep_alive
        self.body = b""
        self.response_complete = self.disconnected = False
        self.asked: Asked | None = None
        self.task: Answers | None = None

    def cancelled(self) -> bool:
        return self.disconnected

    def done(self) -> bool:
        return self.disconnected or self.response_complete

    def set_result(self, answers: list[Instance | ServingError]) -> None:
        self.protocol.answered(self, answers)


class DirectProtocol(HttpToolsProtocol):
    """`dispatcher` and `access` are set by `made_for`."""

    dispatcher: Dispatcher
    access: Access
    limit: int
    traced: bool
    _quiet_since = 0.0
    _begun = 0.0  # when the last request began to arrive, or the connection
    _arriving = True  # whether it has not arrived yet
    _received = 0  # bytes of its body
    _common: tuple[list[tuple[bytes, bytes]] | None, bytes] = (None, b"")  # uvicorn's headers, and their bytes

    @classmethod
    def made_for(cls, dispatcher: Dispatcher, access: Access, limit: int, traced: bool) -> type[DirectProtocol]:
        """`traced`: requests leave spans, which the application makes; the short way is closed."""
        settings = {"dispatcher": dispatcher, "access": access, "limit": min(limit, _SMALL), "traced": traced}
        return type("DirectProtocol", (cls,), settings)

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._begun = self.loop.time()
        self.timeout_keep_alive_task = self.loop.call_later(_PATIENCE, self.timeout_keep_alive_handler)

    def on_message_begin(self) -> None:
        self.url, self.headers, self.expect_100_continue = b"", [], False
        self._begun, self._arriving, self._received = self.loop.time(), True, 0

    def on_headers_complete(self) -> None:
        cycle = self._direct()
        if cycle is not None:
            self.cycle = cycle  # type: ignore[assignment]
            return
        url, headers, expects = self.url, self.headers, self.expect_100_continue
        super().on_message_begin()
        self.url, self.expect_100_continue = url, expects
        self.headers += headers  # the same list that the scope has
        super().on_headers_complete()

    def _direct(self) -> _Cycle | None:
        """The request, if it can go the short way."""
        if (self.cycle is not None and not self.cycle.response_complete) or self.flow.write_paused:  # who does not read waits there
            return None
        found = _PATH.fullmatch(self.url)
        if found is None or self.traced or self.dispatcher.residency is not None or self.expect_100_continue:
            return None
        headers = dict(self.headers)
        length = headers.get(b"content-length", b"")
        plain = length.isdigit() and int(length) <= self.limit and b"transfer-encoding" not in headers and b"upgrade" not in headers
        if not plain or self.parser.get_method() != b"POST" or self.parser.get_http_version() != "1.1":
            return None
        if not self.access.allows("", headers.get(b"authorization")):
            return None
        return _Cycle(self, found[1].decode(), (found[2] or b"").decode(), headers.get(LENGTH), self.parser.should_keep_alive())

    def on_body(self, body: bytes) -> None:
        cycle: Any = self.cycle
        self._received += len(body)
        if type(cycle) is _Cycle:
            cycle.body = cycle.body + body if cycle.body else body
        else:
            super().on_body(body)

    def on_message_complete(self) -> None:
        cycle: Any = self.cycle
        self._arriving = False
        if type(cycle) is not _Cycle:
            super().on_message_complete()
            return
        try:
            asked = cycle.asked = Asked(self.dispatcher, cycle.model, cycle.version, cycle.body, cycle.length)
            if not self.dispatcher.queued(cycle, asked.route, *asked.order):
                cycle.task = self.loop.create_task(self.dispatcher.infer(asked.route.spec, *asked.order))
                cycle.task.add_done_callback(functools.partial(self._task_done, cycle))
        except ServingError as error:
            self._send(cycle, refusal(error))
        except Exception as error:  # a mistake of ours, as in `http.Application`
            self._fail(cycle, error)

    def _task_done(self, cycle: _Cycle, task: Answers) -> None:
        if task.cancelled() or cycle.disconnected:
            return
        error = task.exception()
        if error is None:
            self.answered(cycle, task.result())
        elif isinstance(error, ServingError):
            self._send(cycle, refusal(error))
        else:
            self._fail(cycle, error)

    def answered(self, cycle: _Cycle, answers: list[Instance | ServingError]) -> None:
        assert cycle.asked is not None
        try:
            reply = cycle.asked.reply(answers)
        except ServingError as error:
            reply = refusal(error)
        except Exception as error:  # as above
            self._fail(cycle, error)
            return
        self._send(cycle, reply)

    def _fail(self, cycle: _Cycle, error: BaseException) -> None:
        log.error(f"POST {self.url!r}: {type(error).__name__}: {error}")
        self._send(cycle, Reply(b'{"error":"internal error"}', 500))

    def _send(self, cycle: _Cycle, reply: Reply) -> None:
        lines = [_LINES[reply.status], b"content-type: ", reply.kind, b"\r\ncontent-length: ", b"%d" % len(reply.data), b"\r\n"]
        for name, value in reply.headers:
            lines += (name, b": ", value, b"\r\n")
        lines.append(self._common_headers())
        lines += (b"\r\n", reply.data) if cycle.keep_alive else (b"connection: close\r\n\r\n", reply.data)
        self.transport.write(b"".join(lines))
        cycle.response_complete = True
        if not cycle.keep_alive:
            self.transport.close()
        if self.pipeline or not cycle.keep_alive or self.timeout_keep_alive_task is None:
            self.on_response_complete()
            return
        self.server_state.total_requests += 1
        self._quiet_since = self.loop.time()
        self.flow.resume_reading()

    def _common_headers(self) -> bytes:
        """What every answer says; uvicorn makes a new list when the date has changed."""
        headers = self.server_state.default_headers
        made_of, data = self._common
        if made_of is not headers:
            data = b"".join(part for name, value in headers for part in (name, b": ", value, b"\r\n"))
            type(self)._common = (headers, data)
        return data

    def connection_lost(self, exc: Exception | None) -> None:
        cycle: Any = self.cycle
        super().connection_lost(exc)
        self._stop_timer()
        if type(cycle) is _Cycle and cycle.task is not None:
            cycle.task.cancel()  # nobody waits for it

    # -- connections on which nothing happens

    def on_response_complete(self) -> None:
        self._stop_timer()
        self._quiet_since = self.loop.time()
        super().on_response_complete()

    def _stop_timer(self) -> None:
        super()._unset_keepalive_if_required()

    def _unset_keepalive_if_required(self) -> None:
        """uvicorn stops the timer whenever something comes."""

    def timeout_keep_alive_handler(self) -> None:
        self.timeout_keep_alive_task = None
        end = self._end()
        if end is None:
            return  # it is set again with the answer
        left = end - self.loop.time()
        if left > 0:
            self.timeout_keep_alive_task = self.loop.call_later(left, self.timeout_keep_alive_handler)
        else:
            super().timeout_keep_alive_handler()

    def _end(self) -> float | None:
        """When the connection should end; not while a request is being answered."""
        if self._arriving:
            return self._begun + _PATIENCE + self._received / _SLOWEST
        if self.cycle is not None and not self.cycle.response_complete:
            return None
        return self._quiet_since + self.timeout_keep_alive


__all__ = ["DirectProtocol"]
