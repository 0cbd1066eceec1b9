"""The server. Façade: names are found when first asked for, since `servable_config.py` needs `register` alone."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mindspore_serving.server import distributed as distributed
    from mindspore_serving.server import master as master
    from mindspore_serving.server import register as register
    from mindspore_serving.server.config import ServableStartConfig, SSLConfig
    from mindspore_serving.server.starting import start_grpc_server, start_restful_server, start_servables, stop

_HOMES = {
    "SSLConfig": "mindspore_serving.server.config",
    "ServableStartConfig": "mindspore_serving.server.config",
    "start_grpc_server": "mindspore_serving.server.starting",
    "start_restful_server": "mindspore_serving.server.starting",
    "start_servables": "mindspore_serving.server.starting",
    "stop": "mindspore_serving.server.starting",
}


def __getattr__(name: str) -> Any:
    if name in ("distributed", "master", "register"):
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


__all__ = [
    "SSLConfig",
    "ServableStartConfig",
    "distributed",
    "register",
    "start_grpc_server",
    "start_restful_server",
    "start_servables",
    "stop",
]
