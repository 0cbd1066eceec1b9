"""A Ray Serve application: replicas of this server behind Ray's proxy, which starts, scales and restarts them.

    from mindspore_serving.ray_app import application
    ray.serve.run(application(path="model.mindir"), route_prefix="/")

or `serve run mindspore_serving.ray_app:application path=model.mindir`. Each replica has its own workers or language model and speaks
all HTTP protocols of `mindspore-serving serve`. Needs `ray[serve]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindspore_serving import cli
from mindspore_serving.server.host import Host

#: bytes of a request
_LIMIT = 100 << 20


class _Process:
    """The server of a replica's process, while there is one."""

    host: Host | None = None


class Front:
    """The ASGI application that Ray calls in a replica's process."""

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if _Process.host is None:
            raise RuntimeError("there is no server in this process")
        await _Process.host.answer(scope, receive, send, _LIMIT)


def application(args: dict[str, str] | None = None, *, path: str = "", options: Sequence[str] = (), replicas: int = 1) -> Any:
    """The application for a path that `mindspore-serving serve` takes, with its further options; `args`: as `serve run` gives them."""
    try:
        from ray import serve
    except ImportError:
        raise ImportError("mindspore_serving.ray_app needs Ray Serve: pip install 'ray[serve]'") from None
    given = args or {}
    command = ["serve", given.get("path", path), *(given["options"].split() if "options" in given else options)]
    if not command[1]:
        raise ValueError("the application needs the 'path' of what is to be served")

    class Replica:
        def __init__(self) -> None:
            _Process.host = cli.prepared(command)

        def check_health(self) -> None:
            if _Process.host is None or not _Process.host.dispatcher.ready:
                raise RuntimeError("not all models can answer")

        def __del__(self) -> None:
            if _Process.host is not None:
                _Process.host.stop()

    deployed: Any = serve.deployment(name="mindspore_serving", num_replicas=int(given.get("replicas", replicas)))
    return deployed(serve.ingress(Front())(Replica)).bind()


__all__ = ["Front", "application"]
