"""The short way of small requests to infer (`POST /v2/models/…/infer`): from the HTTP parser to the queue and back, in one turn each.

uvicorn's protocol makes a dictionary, an event and a task of every request, and messages of its body and its answer; for a model that
takes microseconds that is most of the work. Requests that are alone on their connection, have a small body of known length, and need
no span are taken here before that begins. All others, and all that is asked for elsewhere, go uvicorn's way to the application
(`http.py`); both ways share what a request means (`v2_rest.Asked`).
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
from mindspore_serving.protocols.access import Access
from mindspore_serving.protocols.http import Reply
from mindspore_serving.protocols.v2_rest import LENGTH, Asked, refusal

_PATH = re.compile(rb"/v2/models/([\w.-]+)(?:/versions/(\d+))?/infer")
#: bytes of a body that arrives in one piece, as a rule
_SMALL = 1 << 16
_LINES = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}


class _NoEvent:
    """Nobody waits for parts of the body."""

    def set(self) -> None:
        pass


class _Cycle:
    """What uvicorn wants to know of a request that is being answered; and the request."""

    def __init__(self, model: str, version: str, keep_alive: bool) -> None:
        self.model, self.version, self.keep_alive = model, version, keep_alive
        self.body = b""
        self.message_event = _NoEvent()
        self.response_complete = self.disconnected = False
        self.answers: Answers | None = None


class DirectProtocol(HttpToolsProtocol):
    """`dispatcher` and `access` are set by `made_for`."""

    dispatcher: Dispatcher
    access: Access
    limit: int

    @classmethod
    def made_for(cls, dispatcher: Dispatcher, access: Access, limit: int) -> type[DirectProtocol]:
        return type("DirectProtocol", (cls,), {"dispatcher": dispatcher, "access": access, "limit": min(limit, _SMALL)})

    def on_message_begin(self) -> None:
        self.url, self.headers, self.expect_100_continue = b"", [], False

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
        if found is None or self.dispatcher.residency is not None or self.expect_100_continue:
            return None
        headers = dict(self.headers)
        length = headers.get(b"content-length", b"")
        plain = length.isdigit() and int(length) <= self.limit and b"transfer-encoding" not in headers and b"upgrade" not in headers
        if not plain or self.parser.get_method() != b"POST" or self.parser.get_http_version() != "1.1":
            return None
        if not self.access.allows("", headers.get(b"authorization")):
            return None
        return _Cycle(found[1].decode(), (found[2] or b"").decode(), self.parser.should_keep_alive())

    def on_body(self, body: bytes) -> None:
        cycle: Any = self.cycle
        if type(cycle) is _Cycle:
            cycle.body = cycle.body + body if cycle.body else body
        else:
            super().on_body(body)

    def on_message_complete(self) -> None:
        cycle: Any = self.cycle
        if type(cycle) is not _Cycle:
            super().on_message_complete()
            return
        try:
            asked = Asked(self.dispatcher, cycle.model, cycle.version, cycle.body, dict(self.headers).get(LENGTH))
            cycle.answers = self.dispatcher.ask(*asked.order)
        except ServingError as error:
            self._send(cycle, refusal(error))
        except Exception as error:  # a mistake of ours, as in `http.Application`
            self._fail(cycle, error)
        else:
            cycle.answers.add_done_callback(functools.partial(self._answered, cycle, asked))

    def _answered(self, cycle: _Cycle, asked: Asked, answers: Answers) -> None:
        if answers.cancelled() or cycle.disconnected:
            return
        try:
            reply = asked.reply(answers.result())
        except ServingError as error:
            reply = refusal(error)
        except Exception as error:  # as above
            self._fail(cycle, error)
            return
        self._send(cycle, reply)

    def _fail(self, cycle: _Cycle, error: Exception) -> None:
        log.error(f"POST {self.url!r}: {type(error).__name__}: {error}")
        self._send(cycle, Reply(b'{"error":"internal error"}', 500))

    def _send(self, cycle: _Cycle, reply: Reply) -> None:
        lines = [_LINES[reply.status], b"content-type: ", reply.kind, b"\r\ncontent-length: ", b"%d" % len(reply.data), b"\r\n"]
        for name, value in (*self.server_state.default_headers, *reply.headers):
            lines += (name, b": ", value, b"\r\n")
        lines += (b"\r\n", reply.data) if cycle.keep_alive else (b"connection: close\r\n\r\n", reply.data)
        self.transport.write(b"".join(lines))
        cycle.response_complete = True
        if not cycle.keep_alive:
            self.transport.close()
        self.on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        cycle: Any = self.cycle
        super().connection_lost(exc)
        if type(cycle) is _Cycle and cycle.answers is not None:
            cycle.answers.cancel()  # nobody waits for them


__all__ = ["DirectProtocol"]
