"""The agents of a group on this machine: started, watched, and started again when one of them dies (`agent_group.py`)."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from mindspore_serving import log
from mindspore_serving.engine.channel import Channel, Closed
from mindspore_serving.engine.environment import child_environment
from mindspore_serving.engine.introduction import introduce

#: seconds in which agents that are killed must be gone
_ENDING = 10.0


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


class Starter:
    """`module`: what agents run; `orders`: what each of this machine's agents is told of its own, from how many there are."""

    def __init__(
        self,
        address: tuple[str, int],
        secret: str,
        module: str,
        orders: Callable[[list[int]], list[dict[str, Any]]],
        restarts: int,
        keeps_process: bool = False,
    ) -> None:
        self._address, self._secret, self._module, self._orders = address, secret, module, orders
        self._left, self._keeps_process = restarts, keeps_process
        self._agents: list[subprocess.Popen[bytes]] = []
        self._ready, self._stopping = threading.Event(), threading.Event()
        self._watching: threading.Thread | None = None
        self._failure = ""
        self._attempt = -1
        self._ranks: list[int] = []
        self._told: list[dict[str, Any]] = []
        host, port = address
        try:
            connection = socket.create_connection(address, 30)
            introduce(connection, secret)
            self._channel = Channel(connection, shares=False)
        except OSError as error:
            raise RuntimeError(f"Failed to get agents config from worker at {host}:{port}: {error}") from None

    def begin(self, rank_start: int | None = None, at_end: Callable[[], None] = lambda: None) -> None:
        """Start the agents of this machine, or of that of a rank, and wait until all of the group are ready; a thread watches them
        from then on, and calls `at_end` when they have ended."""
        self._channel.send({"kind": "starter"})
        config, _ = self._channel.receive()
        hosts = config["hosts"]
        try:
            if rank_start is not None and rank_start >= len(hosts):
                raise RuntimeError(f"Parameter 'rank_start' cannot equal or larger than rank size {len(hosts)}.")
            mine = _local_host(hosts) if rank_start is None else hosts[rank_start]
            self._ranks = [rank for rank, host in enumerate(hosts) if host == mine]
            self._told = self._orders(self._ranks)
        except RuntimeError:
            self._channel.close()
            raise
        self._start(config)
        threading.Thread(target=self._listen, name="distributed worker", daemon=True).start()
        self._watching = threading.Thread(target=self._watch, args=(at_end,), name="watch agents", daemon=not self._keeps_process)
        self._watching.start()
        while not self._ready.wait(0.1):
            if not self._watching.is_alive():
                raise RuntimeError(self._failure or "Fail to start agents because of Ctrl+C")

    def stop(self) -> None:
        """End the agents, and wait for it."""
        self._stopping.set()
        if self._watching is not None:
            self._watching.join(_ENDING)

    def _start(self, config: dict[str, Any]) -> None:
        self._attempt = config["attempt"]
        host, port = self._address
        common = {
            "size": len(config["hosts"]), "host": host, "port": port, "meeting": config["meeting"], "attempt": self._attempt,
            "settings": config["settings"], "secret": self._secret,
        }  # fmt: skip
        for rank, own in zip(self._ranks, self._told):
            agent = subprocess.Popen([sys.executable, "-m", self._module], stdin=subprocess.PIPE, env=self._environment())
            assert agent.stdin is not None
            agent.stdin.write(json.dumps({**common, **own, "rank": rank}).encode())
            agent.stdin.close()
            self._agents.append(agent)

    def _environment(self) -> dict[str, str]:
        """Agents share this machine's cores."""
        cores = max(len(os.sched_getaffinity(0)) // len(self._ranks), 1)
        return {"OMP_NUM_THREADS": str(cores), **child_environment()}

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

    def _watch(self, at_end: Callable[[], None]) -> None:
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
        at_end()

    def _end_agents(self) -> None:
        agents, self._agents = self._agents, []
        for agent in agents:
            agent.kill()
        for agent in agents:
            agent.wait()


__all__ = ["Starter"]
