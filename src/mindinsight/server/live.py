"""The live channel: one stream of server-sent events for each open page.

The index has a revision that grows with each change, whoever made it. The stream looks at it a few times a second and says
which runs changed; pages then ask for what they show.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import StreamingResponse

from mindinsight.server.workspace import Workspace

_INTERVAL = 0.5
_SILENCE = 15.0


def _look(workspace: Workspace, since: int, trouble: str) -> dict[str, Any] | None:
    """What has changed; None if nothing has."""
    revision, now = workspace.store.revision(), workspace.trouble()
    if revision == since and now == trouble:
        return None
    read, size, damaged = workspace.store.progress()
    runs = workspace.store.changed(since)
    return {"revision": revision, "runs": runs, "read": read, "size": size, "damaged": damaged, "trouble": now}


async def _changes(workspace: Workspace, since: int, request: Request) -> AsyncIterator[bytes]:
    silence, trouble = 0.0, ""
    yield b"retry: 2000\n\n"
    while not await request.is_disconnected():
        change = await run_in_threadpool(_look, workspace, since, trouble)
        if change is not None:
            since, silence, trouble = change["revision"], 0.0, change["trouble"]
            yield b"id: %d\ndata: %s\n\n" % (since, orjson.dumps(change))
        elif silence >= _SILENCE:
            silence = 0.0
            yield b": still here\n\n"
        silence += _INTERVAL
        await asyncio.sleep(_INTERVAL)


def stream(workspace: Workspace, request: Request) -> StreamingResponse:
    """The changes from the revision that the page knows on."""
    known = request.headers.get("last-event-id") or request.query_params.get("since", "0")
    since = int(known) if known.isdigit() else 0
    return StreamingResponse(_changes(workspace, since, request), media_type="text/event-stream",
                             headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})  # fmt: skip
