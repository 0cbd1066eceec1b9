"""Who may ask.

A server on the loopback address can be reached by every web page that the user's browser shows, so the browser is not
trusted: the Host header must name this machine (against DNS rebinding), and requests that change something must come from
our own pages (against cross-site requests). A server on another address wants a token instead, from everyone.
"""

from __future__ import annotations

import hmac
from http.cookies import SimpleCookie
from urllib.parse import parse_qs, urlencode, urlsplit

import orjson
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mindinsight.server.workspace import Settings

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_COOKIE = "mindinsight_token"
_HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; script-src 'self'; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'self' http://localhost:* http://127.0.0.1:*",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
}


class Guard:
    """Lets requests through that may pass."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._token = settings.token
        self._hosts = {*LOOPBACK, settings.host, *settings.allowed_hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin1").lower(): value.decode("latin1") for name, value in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal:
            await _answer(send, *refusal)
            return
        cookie = self._token and self._given(scope) == self._token

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                extra = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
                if cookie:
                    extra.append((b"set-cookie", f"{_COOKIE}={self._token}; HttpOnly; SameSite=Strict; Path=/".encode()))
                message["headers"] = [*message["headers"], *extra]
            await send(message)

        await self._app(scope, receive, with_headers)

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if self._token:
            if not self._has_token(scope, headers):
                return 401, "This server wants a token: open the address that it printed when it was started."
        elif _name(host) not in self._hosts:
            return 403, f"The host {host!r} is not known here; name it with --allowed-host if it is yours."
        if scope["method"] not in ("GET", "HEAD", "OPTIONS"):
            origin = headers.get("origin")
            if (origin and urlsplit(origin).netloc != host) or headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
                return 403, "Requests from other sites may not change anything here."
        return None

    @staticmethod
    def _given(scope: Scope) -> str:
        return str(parse_qs(scope.get("query_string", b"").decode("latin1")).get("token", [""])[0])

    def _has_token(self, scope: Scope, headers: dict[str, str]) -> bool:
        cookie = SimpleCookie(headers.get("cookie", "")).get(_COOKIE)
        offered = (self._given(scope), cookie.value if cookie else "", headers.get("authorization", "").removeprefix("Bearer "))
        return any(hmac.compare_digest(one.encode(), self._token.encode()) for one in offered if one)


def _name(host: str) -> str:
    """The name in a Host header."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def address(settings: Settings) -> str:
    """What to open in a browser."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    token = "/?" + urlencode({"token": settings.token}) if settings.token else ""
    return f"http://{host}:{settings.port}{settings.url_path_prefix}{token}"


async def _answer(send: Send, status: int, text: str) -> None:
    body = orjson.dumps({"error_code": str(status), "error_msg": text})
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": body})
