"""Processes that compute together: a group of agents, one for each rank, which a worker or server gives its orders.

    worker ── listens at an address ──┬── starter on each machine (`starter.py`): is told who belongs here, starts agents, and again
                                      │   when one dies
                                      └── agents (`agent.py`): together they are a run of processes (MPI)

All agents get the same orders; their collectives bring them together. When one dies, all are stopped and start anew (a new
attempt); whoever waits for an answer is told that the group was lost.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mindspore.communication.launch import meeting_point
from mindspore_serving import log
from mindspore_serving.engine.channel import Channel, Closed
from mindspore_serving.engine.errors import Lost
from mindspore_serving.engine.introduction import Stranger, admit
from mindspore_serving.engine.values import Value

#: seconds that a request waits for agents which start again
_PATIENCE = 120.0
#: of an agent: what it said, and values
Answer = tuple[dict[str, Any], list[Value]]


@dataclass(frozen=True)
class GroupPlace:
    """`hosts`: the machine of each rank. `wait`: seconds until all agents must be there; 0: any time. `secret`: what agents know."""

    address: str
    hosts: list[str]
    wait: int = 0
    secret: str = ""


class AgentGroup:
    """The side of who gives orders. `settings`: what agents are told; `on_left` is called when agents have left for good."""

    def __init__(self, settings: dict[str, Any], place: GroupPlace, on_left: Callable[[], None]) -> None:
        self._settings, self._place, self._on_left = settings, place, on_left
        self._changed = threading.Condition()
        self._agents: dict[int, Channel] = {}
        self._starters: list[Channel] = []
        self._attempt = 0
        self._closed = False
        self.said: dict[str, Any] = {}  # by rank 0, when it came
        self._host, port = place.address.rsplit(":", 1)
        self._meeting = meeting_point(self._host, len(place.hosts))
        self._listening = socket.create_server((self._host, int(port)))
        threading.Thread(target=self._accept, name="agents", daemon=True).start()

    @property
    def address(self) -> tuple[str, int]:
        """Where agents come to."""
        return self._host, self._listening.getsockname()[1]

    # -- who comes

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:  # closed
                return
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
            if message.get("attempt") != self._attempt or message.get("rank") not in range(self.ranks):
                channel.close()  # of a group that is gone
                return
            self._agents[message["rank"]] = channel
            if message["rank"] == 0:
                self.said = message
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
            with self._changed:
                self._closed, told = True, self._closed
                self._changed.notify_all()
            if not told:
                log.warning("agents have left for good")
                self._on_left()

    def _tell(self, channel: Channel) -> None:
        hosts, port = self._place.hosts, self._meeting.port
        channel.send({"kind": "config", "hosts": hosts, "attempt": self._attempt, "meeting": port, "settings": self._settings})

    def _begin_again(self) -> None:
        self._attempt += 1
        self._meeting = meeting_point(self._host, self.ranks)
        for agent in self._agents.values():
            agent.close()  # those that live end by it
        self._agents = {}
        log.warning(f"an agent has died: the group starts again, attempt {self._attempt}")

    @property
    def ranks(self) -> int:
        return len(self._place.hosts)

    @property
    def _complete(self) -> bool:
        return len(self._agents) == self.ranks

    # -- work

    def wait(self) -> None:
        """Until all agents are there; RuntimeError if they do not come in time."""
        with self._changed:
            self._changed.wait_for(lambda: self._complete or self._closed, self._place.wait or None)
            if not self._complete:
                raise RuntimeError(f"not all agents were ready within {self._place.wait} seconds")

    def call(self, order: dict[str, Any], values: Sequence[Value] = ()) -> dict[int, Answer]:
        """The answers of all ranks, once all agents are there; Lost if one dies meanwhile, RuntimeError if one says that it failed."""
        end = time.monotonic() + _PATIENCE
        with self._changed:
            self._changed.wait_for(lambda: self._complete or self._closed, max(end - time.monotonic(), 0))
            if not self._complete or self._closed:
                raise RuntimeError("not all agents of the model are there")
            agents = dict(self._agents)
        try:
            for agent in agents.values():
                agent.send(order, values)
            answers = {rank: agent.receive() for rank, agent in agents.items()}
        except (Closed, ValueError, OSError):  # ValueError: closed by another thread
            self._wait_for_another(agents)
            raise Lost from None
        for message, _ in answers.values():
            if message["kind"] == "failed":
                raise RuntimeError(message["reason"])
        return answers

    def _wait_for_another(self, agents: dict[int, Channel]) -> None:
        """Until the starter has said that this group is gone."""
        with self._changed:
            self._changed.wait_for(lambda: self._agents != agents or self._closed, _PATIENCE)

    def close(self) -> None:
        """Agents end by it."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            for channel in (*self._agents.values(), *self._starters):
                channel.close()
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()


__all__ = ["AgentGroup", "Answer", "GroupPlace"]
