"""`start_servables`, `start_grpc_server`, `start_restful_server`, `stop`: one server for the process, as scripts expect."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec

from mindspore_serving.checks import check_bool, check_int, check_str
from mindspore_serving.engine.dispatcher import MAX_ENQUEUED
from mindspore_serving.server.config import ServableStartConfig, Wanted, check_ssl, merge
from mindspore_serving.server.host import Host

P = ParamSpec("P")


class _Process:
    """The process's server, while there is one."""

    host: Host | None = None
    max_enqueued = MAX_ENQUEUED


def _host() -> Host:
    if _Process.host is None or _Process.host.stopped:
        _Process.host = Host()
        _Process.host.dispatcher.max_enqueued = _Process.max_enqueued
    return _Process.host


def _stop_on_error(function: Callable[P, None]) -> Callable[P, None]:
    """A start that fails leaves nothing running."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            function(*args, **kwargs)
        except BaseException:
            stop()
            raise

    return run


@_stop_on_error
def start_servables(servable_configs: Any, enable_lite: bool = False) -> None:
    """Start the servables of one or several `ServableStartConfig` and wait until they can answer."""
    configs = (servable_configs,) if isinstance(servable_configs, ServableStartConfig) else servable_configs
    if not isinstance(configs, (tuple, list)):
        raise RuntimeError(
            f"Parameter '{servable_configs}' should be ServableStartConfig, list or tuple of ServableStartConfig, but actually "
            f"{type(servable_configs)}"
        )
    check_bool("enable_lite", enable_lite)
    for config in configs:
        if not isinstance(config, ServableStartConfig):
            raise RuntimeError(
                f"The item of parameter '{servable_configs}' should be ServableStartConfig, but actually {type(config)}"
            )
    _host().deploy(merge(configs))


@_stop_on_error
def deploy(wanted: list[Wanted]) -> None:
    """Start versions in the process's server."""
    _host().deploy(wanted)


@_stop_on_error
def start_grpc_server(address: str, max_msg_mb_size: int = 100, ssl_config: Any = None) -> None:
    """Listen on `host:port` or `unix:path` for gRPC clients."""
    check_str("address", address)
    check_int("max_msg_mb_size", max_msg_mb_size, 1, 512)
    check_ssl(ssl_config)
    _host().start_grpc(address, max_msg_mb_size, ssl_config)


@_stop_on_error
def start_restful_server(address: str, max_msg_mb_size: int = 100, ssl_config: Any = None) -> None:
    """Listen on `host:port` for HTTP clients."""
    check_str("address", address)
    check_int("max_msg_mb_size", max_msg_mb_size, 1, 512)
    check_ssl(ssl_config)
    _host().start_http(address, max_msg_mb_size, ssl_config)


def stop() -> None:
    """Stop the server of this process: requests that wait are answered first."""
    host, _Process.host = _Process.host, None
    if host is not None:
        host.stop()


def set_max_enqueued_requests(max_enqueued_requests: int) -> None:
    """How many requests for one version of a servable may wait or run at once."""
    check_int("max_enqueued_requests", max_enqueued_requests, 1)
    _Process.max_enqueued = max_enqueued_requests
    if _Process.host is not None:
        _Process.host.dispatcher.max_enqueued = max_enqueued_requests
