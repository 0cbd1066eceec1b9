"""The application: routes, pages, errors."""

from __future__ import annotations

import contextlib
import logging
import math
import sqlite3
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import anyio.to_thread
import orjson
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from mindinsight.online.listener import serve
from mindinsight.online.session import Session

# modules that put their routes into the table
from mindinsight.server import (
    board,
    datavisual,
    debugger,
    errors,
    explainer,
    graphs,
    lineage,
    live,
    media,
    optimizer,
    profile_ranks,
    profile_steps,
    profiles,
    studies,
)
from mindinsight.server.calls import API, LONGEST_BODY, Call, Handler, routes
from mindinsight.server.security import Guard
from mindinsight.server.workspace import Settings, Workspace

_WEB = Path(__file__).parent.parent / "web"
_LOGGER = logging.getLogger("mindinsight")
_THREADS = 8
_MODULES = (board, datavisual, debugger, explainer, graphs, lineage, media, optimizer, profile_ranks, profile_steps, profiles, studies)


def reply(data: Any, status: int = 200) -> Response:
    """JSON; numbers that JSON does not know become null."""
    try:
        content = _encoded(data)
    except orjson.JSONEncodeError:  # a damaged file may have integers of any length
        content = _encoded(_within_64_bits(data))
    return Response(content, status, {"Cache-Control": "no-store"}, "application/json")


def _encoded(data: Any) -> bytes:
    return orjson.dumps(data, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS)


def _within_64_bits(data: Any) -> Any:
    """The same with floating-point numbers for larger integers, which is what browsers make of them."""
    if isinstance(data, dict):
        return {_within_64_bits(key): _within_64_bits(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_within_64_bits(value) for value in data]
    if isinstance(data, int) and data.bit_length() > 63:
        return float(data) if data.bit_length() < 1024 else math.inf if data > 0 else -math.inf
    return data


def _endpoint(workspace: Workspace, methods: dict[str, Handler], state: dict[str, Any]) -> Any:
    """Answer requests to one address; handlers run in threads."""

    async def answer(request: Request) -> Response:
        content = b""
        async for piece in request.stream():
            content += piece
            if len(content) > LONGEST_BODY:
                return reply(errors.wrong_value(f"The body has more than {LONGEST_BODY:,} bytes.").body(), 413)
        call = Call(workspace, request.query_params, content, request.path_params, state)
        try:
            result = await run_in_threadpool(methods[request.method.replace("HEAD", "GET")], call)
        except errors.ApiError as error:
            return reply(error.body(), error.status)
        return result if isinstance(result, Response) else reply(result)

    return answer


def _api(workspace: Workspace, state: dict[str, Any]) -> list[BaseRoute]:
    table: dict[str, dict[str, Handler]] = {}
    for method, path, handler in routes():
        table.setdefault(path, {})[method] = handler
    found: list[BaseRoute] = [
        Route(API + path, _endpoint(workspace, methods, state), methods=list(methods)) for path, methods in table.items()
    ]
    found.append(Route(f"{API}/board/live", lambda request: live.stream(workspace, request)))
    found.append(Route(f"{API}/ui-config", lambda request: reply({"enable_debugger": workspace.settings.enable_debugger})))
    return found


async def _http_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    wrong = errors.no_route() if status == 404 else errors.no_method() if status == 405 else None
    if wrong is None:
        wrong = errors.ApiError(errors.GENERAL, 0, f"The request cannot be answered ({status}).", status)
    return reply(wrong.body(), status)


async def _index_error(request: Request, error: Exception) -> Response:
    _LOGGER.error("index: %s", error)
    return reply({"error_code": "INDEX", "error_msg": f"The index cannot be used now: {error}. Is the disk full?"}, 503)


async def _fault(request: Request, error: Exception) -> Response:
    _LOGGER.exception("%s %s", request.method, request.url.path, exc_info=error)
    return reply(errors.ApiError(errors.GENERAL, 0, "System error.", 500).body(), 500)


@contextlib.contextmanager
def _debugger(settings: Settings, state: dict[str, Any]) -> Iterator[None]:
    """Listen for a training, if the debugger is on."""
    if not settings.enable_debugger:
        yield
        return
    state["debugger"] = Session()
    listener = serve(state["debugger"], settings.host, settings.debugger_port)
    try:
        yield
    finally:
        listener.stop(0)


def create_app(settings: Settings, workers: bool = True) -> Starlette:
    """The application for a folder of runs."""
    workspace = Workspace(settings)
    state: dict[str, Any] = {}

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = _THREADS
        if workers:
            workspace.start_workers()
        try:
            with _debugger(settings, state):
                yield
        finally:
            workspace.stop_workers()

    page = FileResponse(_WEB / "index.html", headers={"Cache-Control": "no-cache"})
    inner: list[BaseRoute] = [
        *_api(workspace, state),
        Route("/", lambda request: page),
        Mount("/static", StaticFiles(directory=_WEB), name="static"),
    ]
    prefix = settings.url_path_prefix
    app = Starlette(
        routes=[Mount(prefix, routes=inner)] if prefix else inner,
        middleware=[Middleware(Guard, settings=settings), Middleware(GZipMiddleware, minimum_size=2000, compresslevel=1)],
        exception_handlers={HTTPException: _http_error, sqlite3.OperationalError: _index_error, Exception: _fault},
        lifespan=lifespan,
    )
    app.state.workspace = workspace
    return app
