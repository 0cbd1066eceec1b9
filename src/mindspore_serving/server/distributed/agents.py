"""`startup_agents`: the agents of a distributed servable on this machine, watched by the process that starts them."""

from __future__ import annotations

import base64
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import Any

from mindspore_serving import log
from mindspore_serving.checks import check_int, check_key, check_str
from mindspore_serving.engine.channel import Channel, Closed
from mindspore_serving.engine.introduction import introduce
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

    The process stays: when an agent dies, all of them start anew, at most `max_restarts` times; then agents and server end. Groups
    `secret`: the one of `start_servable`. Groups
    are part of the model files: `group_config_files` are checked and not needed. Agents open no ports: `agent_start_port` has no effect.
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
    starter = _Starter(host, port, files, (dec_key, dec_mode), max_restarts, secret_of_group(secret))
    starter.begin(rank_start)


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


def _local_host(hosts: list[str]) -> str:
    """The machine of the rank table that this is: one whose address can be bound here."""
    for host in dict.fromkeys(hosts):
        try:
            with socket.socket() as probe:
                probe.bind((host, 0))
            return host
        except OSError:
            continue
    raise RuntimeError(f"Get local machine ip failed, rank table ips: {sorted(set(hosts))}")


class _Starter:
    def __init__(
        self, host: str, port: int, files: list[list[str]], decryption: tuple[bytes | None, str], restarts: int, secret: str
    ) -> None:
        self._host, self._port, self._files, self._decryption, self._secret = host, port, files, decryption, secret
        self._left = restarts
        self._agents: list[subprocess.Popen[bytes]] = []
        self._ready, self._stopping = threading.Event(), threading.Event()
        self._failure = ""
        self._attempt = -1
        self._ranks: list[int] = []
        try:
            connection = socket.create_connection((host, port), 30)
            introduce(connection, secret)
            self._channel = Channel(connection, shares=False)
        except OSError as error:
            raise RuntimeError(f"Failed to get agents config from worker at {host}:{port}: {error}") from None

    def begin(self, rank_start: int | None) -> None:
        """Start the agents; a thread watches them from then on."""
        self._channel.send({"kind": "starter"})
        config, _ = self._channel.receive()
        hosts = config["hosts"]
        if rank_start is not None and rank_start >= len(hosts):
            self._channel.close()
            raise RuntimeError(f"Parameter 'rank_start' cannot equal or larger than rank size {len(hosts)}.")
        mine = _local_host(hosts) if rank_start is None else hosts[rank_start]
        self._ranks = [rank for rank, host in enumerate(hosts) if host == mine]
        if len(self._ranks) != len(self._files):
            self._channel.close()
            raise RuntimeError(
                f"Card count {self._ranks} described rank table does not equal to model files size {len(self._files)}, "
                f"model files: {self._files}"
            )
        self._start(config)
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda *_: self._stopping.set())
        threading.Thread(target=self._listen, name="distributed worker", daemon=True).start()
        watching = threading.Thread(target=self._watch, name="agents")  # keeps the process
        watching.start()
        while not self._ready.wait(0.1):
            if not watching.is_alive():
                raise RuntimeError(self._failure or "Fail to start agents because of Ctrl+C")

    def _start(self, config: dict[str, Any]) -> None:
        key, mode = self._decryption
        self._attempt = config["attempt"]
        for rank, files in zip(self._ranks, self._files):
            agent = subprocess.Popen([sys.executable, "-m", "mindspore_serving.engine.agent"], stdin=subprocess.PIPE)
            order = {
                "rank": rank, "size": len(config["hosts"]), "host": self._host, "port": self._port, "meeting": config["meeting"],
                "attempt": self._attempt, "files": files, "settings": config["settings"], "mode": mode,
                "key": base64.b64encode(key).decode() if key else "", "secret": self._secret,
            }  # fmt: skip
            assert agent.stdin is not None
            agent.stdin.write(json.dumps(order).encode())
            agent.stdin.close()
            self._agents.append(agent)

    def _listen(self) -> None:
        """What the worker says."""
        try:
            while True:
                message, _ = self._channel.receive()
                if message["kind"] == "ready":
                    self._ready.set()
                elif message["kind"] == "config":
                    self._start(message)
        except Closed:
            self._failure = self._failure or "Fail to start agents: the worker has gone"
            self._stopping.set()

    def _watch(self) -> None:
        while not self._stopping.is_set():
            if any(agent.poll() is not None for agent in self._agents):
                self._end_agents()
                if not self._ready.is_set() or not self._left:
                    self._failure = "Fail to start agents because of death of one agent"
                    break
                self._left -= 1
                log.warning(f"an agent has died: all start again, {self._left} restarts are left")
                try:
                    self._channel.send({"kind": "again", "attempt": self._attempt})
                except Closed:
                    break
            time.sleep(0.05)
        self._end_agents()
        self._channel.close()

    def _end_agents(self) -> None:
        agents, self._agents = self._agents, []
        for agent in agents:
            agent.kill()
        for agent in agents:
            agent.wait()


__all__ = ["startup_agents"]
