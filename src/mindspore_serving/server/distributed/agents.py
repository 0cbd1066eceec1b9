"""`startup_agents`: the agents of a distributed servable on this machine, watched by the process that starts them."""

from __future__ import annotations

import base64
import os
import signal
import sys
from typing import Any

from mindspore_serving.checks import check_int, check_key, check_str
from mindspore_serving.engine.signals import Handlers
from mindspore_serving.engine.starter import Starter
from mindspore_serving.server.config import split_address
from mindspore_serving.server.distributed.starting import secret_of_group


def startup_agents(
    distributed_address: str,
    model_files: Any,
    group_config_files: Any = None,
    agent_start_port: int = 7000,
    agent_ip: str | None = None,
    rank_start: int | None = None,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    max_restarts: int = 0,
    secret: str | None = None,
) -> None:
    """Start an agent for each of this machine's ranks, with its file of `model_files`; return when all agents of the servable are ready.

    The process stays: when an agent dies, all of them start anew, at most `max_restarts` times; then agents and server end.
    `secret`: the one of `start_servable`. Groups are part of the model files: `group_config_files` are checked and not needed. Agents
    open no ports: `agent_start_port` has no effect.
    """
    check_str("distributed_address", distributed_address)
    check_int("agent_start_port", agent_start_port, 1, 65535 - 7)
    check_int("max_restarts", max_restarts, 0)
    files = _files("model_files", model_files)
    if group_config_files is not None and len(_files("group_config_files", group_config_files)) != len(files):
        raise RuntimeError(
            f"Model files count {len(files)} does not equal to group config files count {len(group_config_files)} when "
            f"group_config_files is not None, model files: {model_files}, group config files: {group_config_files}"
        )
    check_key(dec_key, dec_mode)
    if (agent_ip is None) != (rank_start is None):
        raise RuntimeError(
            "Parameter 'agent_ip' and parameter 'rank_start' must have values at the same time, or both None at the same time."
        )
    host, port = split_address("distributed", distributed_address)
    own = {"key": base64.b64encode(dec_key).decode() if dec_key else "", "mode": dec_mode}

    def orders(ranks: list[int]) -> list[dict[str, Any]]:
        if len(ranks) != len(files):
            raise RuntimeError(
                f"Card count {ranks} described rank table does not equal to model files size {len(files)}, model files: {files}"
            )
        return [{**own, "files": paths} for paths in files]

    starter = Starter((host, port), secret_of_group(secret), "mindspore_serving.engine.agent", orders, max_restarts, True)
    handlers = Handlers((signal.SIGINT, signal.SIGTERM), lambda _: starter.stop())
    try:
        starter.begin(rank_start, handlers.end)
    except BaseException:
        handlers.end()
        raise


def _files(name: str, given: Any) -> list[list[str]]:
    """The files of each agent, as absolute paths; relative ones are beside the script."""
    if not isinstance(given, (tuple, list)) or not given:
        raise RuntimeError(f"Parameter '{name}' should be tuple/list of str, but actually {type(given)}")
    folder = os.path.dirname(os.path.realpath(sys.argv[0]))
    found = []
    for item in given:
        parts = item if isinstance(item, (tuple, list)) else [item]
        for part in parts:
            check_str(name, part)
        paths = [os.path.realpath(os.path.join(folder, part)) for part in parts]
        for path in paths:
            if not os.access(path, os.R_OK):
                raise RuntimeError(f"Cannot access model file '{path}'")
        found.append(paths)
    return found


__all__ = ["startup_agents"]
