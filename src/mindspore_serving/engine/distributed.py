"""A model that is cut over several processes: the worker gives every request to its agents, one for each rank.

    worker ── listens at an address ──┬── starter on each machine: is told who belongs here, starts agents, and again when one dies
                                      └── agents: each has the file of its rank; together they are a run of processes (MPI)

All agents get the whole inputs and run their graphs, whose collectives bring them together; rank 0 answers. When one dies, all are
stopped and start anew (a new attempt), and what was under way is computed again. When a starter leaves, so does the worker.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mindspore.communication.launch import meeting_point
from mindspore_serving import log
from mindspore_serving.engine.channel import Channel, Closed
from mindspore_serving.engine.declaration import ModelDeclaration
from mindspore_serving.engine.introduction import Stranger, admit
from mindspore_serving.engine.models import Array, Subgraph, TensorInfo

#: seconds that a request waits for agents which start again
_PATIENCE = 120.0


@dataclass(frozen=True)
class GroupPlace:
    """`hosts`: the machine of each rank. `wait`: seconds until all agents must be there; 0: any time. `secret`: what agents know."""

    address: str
    hosts: list[str]
    wait: int = 0
    secret: str = ""


class AgentGroup:
    """The worker's side."""

    def __init__(self, declaration: ModelDeclaration, place: GroupPlace) -> None:
        if declaration.ranks != len(place.hosts):
            raise RuntimeError(f"the servable has {declaration.ranks} ranks, but the rank table has {len(place.hosts)}")
        self._declaration, self._place = declaration, place
        self._changed = threading.Condition()
        self._agents: dict[int, Channel] = {}
        self._starters: list[Channel] = []
        self._graphs: list[Any] = []
        self._attempt = 0
        self._host, port = place.address.rsplit(":", 1)
        self._meeting = meeting_point(self._host, declaration.ranks)
        self._listening = socket.create_server((self._host, int(port)))
        threading.Thread(target=self._accept, name="agents", daemon=True).start()

    # -- who comes

    def _accept(self) -> None:
        while True:
            connection, _ = self._listening.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._greet, args=(connection,), daemon=True).start()

    def _greet(self, connection: socket.socket) -> None:
        try:
            admit(connection, self._place.secret)
        except Stranger as error:
            log.warning(f"{error}")
            connection.close()
            return
        channel = Channel(connection, shares=False)
        try:
            message, _ = channel.receive()
            if message.get("kind") == "starter":
                self._serve_starter(channel)
            elif message.get("kind") == "agent":
                self._take_in(channel, message)
            else:
                channel.close()
        except Closed:
            channel.close()

    def _take_in(self, channel: Channel, message: dict[str, Any]) -> None:
        with self._changed:
            if message.get("attempt") != self._attempt or message.get("rank") not in range(self._declaration.ranks):
                channel.close()  # of a group that is gone
                return
            self._agents[message["rank"]] = channel
            if message["rank"] == 0:
                self._graphs = message["graphs"]
            if not self._complete:
                return
            self._changed.notify_all()
            for starter in self._starters:
                starter.send({"kind": "ready"})

    def _serve_starter(self, channel: Channel) -> None:
        with self._changed:
            self._starters.append(channel)
            self._tell(channel)
        try:
            while True:
                message, _ = channel.receive()
                with self._changed:
                    if message.get("attempt") == self._attempt:
                        self._begin_again()
                    self._tell(channel)
        except Closed:
            log.warning("agents have left for good: the worker leaves, too")
            os.kill(os.getpid(), signal.SIGTERM)

    def _tell(self, channel: Channel) -> None:
        declaration = self._declaration
        settings = {"with_batch_dim": declaration.with_batch_dim, "without_batch_dim_inputs": declaration.without_batch_dim_inputs}
        hosts, port = self._place.hosts, self._meeting.port
        channel.send({"kind": "config", "hosts": hosts, "attempt": self._attempt, "meeting": port, "settings": settings})

    def _begin_again(self) -> None:
        self._attempt += 1
        self._meeting = meeting_point(self._host, self._declaration.ranks)
        for agent in self._agents.values():
            agent.close()  # those that live end by it
        self._agents = {}
        log.warning(f"an agent has died: the group starts again, attempt {self._attempt}")

    @property
    def _complete(self) -> bool:
        return len(self._agents) == self._declaration.ranks

    # -- work

    def subgraphs(self) -> tuple[Subgraph, ...]:
        """The graphs of the model, once all agents are there."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._complete, self._place.wait or None):
                raise RuntimeError(f"not all agents were ready within {self._place.wait} seconds")
            return tuple(
                RemoteSubgraph(self._declaration, graph, lambda arguments, n=number: self.compute(n, arguments))  # type: ignore[misc]
                for number, graph in enumerate(self._graphs)
            )

    def compute(self, subgraph: int, arguments: list[Array]) -> tuple[Array, ...]:
        """The outputs of a graph; again if an agent dies meanwhile."""
        end = time.monotonic() + _PATIENCE
        while True:
            with self._changed:
                if not self._changed.wait_for(lambda: self._complete, max(end - time.monotonic(), 0)):
                    raise RuntimeError("not all agents of the model are there")
                agents = dict(self._agents)
            try:
                for agent in agents.values():
                    agent.send({"kind": "run", "subgraph": subgraph}, arguments)
                answers = {rank: agent.receive() for rank, agent in agents.items()}
            except (Closed, ValueError, OSError):  # ValueError: closed by another thread
                with self._changed:
                    if agents == self._agents:
                        self._changed.wait(1.0)  # until its starter says so
                continue
            for message, _ in answers.values():
                if message["kind"] == "failed":
                    raise RuntimeError(message["reason"])
            return tuple(value for value in answers[0][1] if not isinstance(value, (str, bytes)))


class RemoteSubgraph(Subgraph):
    """A graph that agents compute."""

    def __init__(
        self, declaration: ModelDeclaration, described: dict[str, Any], compute: Callable[[list[Array]], tuple[Array, ...]]
    ) -> None:
        self._declaration, self._compute = declaration, compute
        self.batch = described["batch"]
        self.inputs, self.outputs = (
            tuple(TensorInfo(name, dtype, tuple(shape)) for name, dtype, shape in described[what]) for what in ("inputs", "outputs")
        )

    def portion(self, count: int) -> int:
        return self.batch

    def _function(self, count: int) -> tuple[int, Callable[..., tuple[Array, ...]]]:
        return self.batch, lambda *arguments: self._compute(list(arguments))


__all__ = ["AgentGroup", "GroupPlace", "RemoteSubgraph"]
