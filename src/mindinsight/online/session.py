"""One training under the debugger: its state, the commands it has still to be told, what it has told.

    pending ──SendMetadata──▶ receive graph ──SendGraph, WaitCMD──▶ waiting ◀──WaitCMD── running
       ▲                                                          │                   ▲
       └──────────── exit, training done ─────────────────────────┴──▶ sending ───────┘ (a command is on its way)

The training asks for a command after every step (`wait`), and is kept waiting until there is one. "continue 5 steps" is five
commands of one step each, so that it can be paused between two.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from mindinsight import __version__
from mindinsight.events.wire import Malformed
from mindinsight.online import messages
from mindinsight.online.conditions import CONDITIONS
from mindinsight.online.graphs import Graph, Graphs
from mindinsight.online.tensors import Shelf
from mindinsight.online.watching import Watchpoint
from mindinsight.server import errors

PENDING, RECEIVING, WAITING, RUNNING, MISMATCH, SENDING = "pending", "receive graph", "waiting", "running", "mismatch", "sending"
#: between two steps of a training that runs without end: the time in which it may be told to pause
_BREATH = 0.005
_PATIENCE = 0.5  # between two looks whether the training is still there
_MOST_EVENTS = 1000
_LARGEST_GRAPH = 1 << 30


class Session:
    """The training that is connected, if any."""

    def __init__(self) -> None:
        self.lock = threading.Condition()
        self._clear()
        self._generation = 0  # trainings that have come
        self.events: deque[tuple[int, dict[str, Any]]] = deque(maxlen=_MOST_EVENTS)
        self._position = 0

    def _clear(self) -> None:
        self.state = PENDING
        self.about = messages.Metadata()
        self.peer = ""
        self.graphs = Graphs([])
        self.shelf = Shelf()
        self.watchpoints: dict[int, Watchpoint] = {}
        self.hits: list[messages.Hit] = []
        self.recommended = False  #: whether the user was asked about recommended watchpoints
        self._deleted: list[int] = []
        self._last_id = 0
        self._commands: deque[bytes] = deque()
        self._left = 0  # steps still to make; -1: without end
        self._goal = ""  # the node that it is to run to
        self._has_run = False
        self._views: deque[tuple[dict[str, Any], int]] = deque()  # what tensors were asked for, and how many have still to come

    # -- the training's side ------------------------------------------------------------------------------------------------
    def hello(self, data: bytes, peer: str) -> bytes:
        """A training says what it is, or that it is done."""
        with self.lock:
            about = messages.metadata(data)
            self._clear()
            if not about.training_done:
                self._generation += 1  # one that still waits here is told to end
                self.events.clear()
                self.about, self.peer, self.state = about, peer, RECEIVING
                if about.ms_version.split(".")[0] != __version__.split(".")[0]:
                    self.state = MISMATCH
            self._tell({"metadata": self.metadata()})
            return messages.mismatch() if self.state == MISMATCH else messages.OK

    def receive_graphs(self, pieces: list[bytes]) -> bytes:
        """The graphs of the training, in pieces."""
        graphs, content = [], b""
        for piece in pieces:
            part, last = messages.chunk(piece)
            content += part
            if len(content) > _LARGEST_GRAPH:
                raise Malformed("the graph is too large")
            if last:
                graphs.append(Graph.of(content))
                content = b""
        if content:
            graphs.append(Graph.of(content))
        with self.lock:
            self.graphs = Graphs(graphs)
        return messages.OK

    def receive_tensors(self, pieces: list[bytes]) -> bytes:
        """Tensors, each in one or several pieces."""
        content, come = b"", 0
        for piece in pieces:
            part = messages.tensor(piece)
            content += part.content
            if len(content) > messages.LARGEST_TENSOR:
                raise Malformed("the tensor is too large")
            if not part.finished:
                continue
            part.content, content = content, b""
            value = part.array()
            if value is not None:
                with self.lock:
                    self.shelf.put(f"{part.node}:{part.slot or '0'}", part.iteration, value)
            come += 1
        with self.lock:
            self._answer_views(come)
        return messages.OK

    def _answer_views(self, come: int) -> None:
        """Tell those who have asked for tensors; `come` of them have."""
        while self._views and come:
            about, left = self._views.popleft()
            if come < left:
                self._views.appendleft((about, left - come))
                return
            come -= left
            self._tell({"receive_tensor": about})

    def receive_hits(self, pieces: list[bytes]) -> bytes:
        """What watchpoints have found; the training stops at it."""
        with self.lock:
            self.hits = [messages.hit(piece) for piece in pieces]
            self._left, self._goal = 0, ""
            self._tell({"receive_watchpoint_hits": True})
        return messages.OK

    def wait(self, data: bytes, alive: Callable[[], bool]) -> bytes:
        """The training has stopped: give it the next command."""
        about = messages.metadata(data)
        with self.lock:
            mismatched = self.state == MISMATCH
            self._answer_views(sum(left for _, left in self._views) if not self._commands else 0)  # no more of them will come
            moved, self.about = about.cur_node != self.about.cur_node, about
            self.shelf.move_to(about.cur_step)
            endless = self._left < 0 and not self._commands
            generation = self._generation
        if endless:
            time.sleep(_BREATH)
        with self.lock:
            if self._goal and not self._commands:
                if moved and about.cur_node != self._goal:  # it stopped on the way
                    self.state = RUNNING
                    return messages.run_command("node", node=self._goal)
                self._goal = ""
            if self._left and not self._commands:
                self._left -= self._left > 0
                self.state = RUNNING
                return messages.run_command("step", 1)
            if not self._commands:
                self.state = MISMATCH if mismatched else WAITING
                self._tell({"metadata": self.metadata()})
            while not self._commands:
                if generation != self._generation:
                    return messages.exit_command()
                if not alive():
                    self._clear()
                    return messages.OK
                self.lock.wait(_PATIENCE)
            if generation != self._generation:
                return messages.exit_command()
            command = self._commands.popleft()
            if command == messages.exit_command():
                self._clear()
                self._tell({"metadata": self.metadata()})
            elif self.state == SENDING and not self._commands:
                self.state = RUNNING
            return command

    # -- the user's side ----------------------------------------------------------------------------------------------------
    def metadata(self) -> dict[str, Any]:
        """Where the training is."""
        graph, node = self.graphs.where(self.about.cur_node) if self.graphs.names else ("", "")
        single = len(self.graphs.names) == 1
        known = self.state != PENDING
        versions = {"mi": __version__, "ms": self.about.ms_version} if known else {}
        return {
            "state": self.state, "step": self.about.cur_step, "device_name": self.about.device_name, "ip": self.peer,
            "node_name": node if self.about.cur_node else "", "backend": self.about.backend,
            "enable_recheck": self.may_recheck, "graph_name": graph if self.about.cur_node or single else "",
            "recommendation_confirmed": self.recommended, "debugger_version": versions, "data_version": {}, "pos": str(self._position),
        }  # fmt: skip

    def short_metadata(self) -> dict[str, Any]:
        """What changes by a command."""
        return {"metadata": {"state": self.state, "enable_recheck": self.may_recheck}}

    @property
    def may_recheck(self) -> bool:
        """Whether watchpoints have changed since the step was checked."""
        changed = bool(self._deleted) or any(w.changed for w in self.watchpoints.values())
        return self.state == WAITING and self._has_run and changed

    def devices(self) -> list[dict[str, Any]]:
        """The devices of the training."""
        return [{"rank_id": 0, "server_ip": self.peer, "device_id": self.about.device_name, "graph_names": self.graphs.names}]

    def go_on(self, level: str, steps: int, node: str) -> None:
        """Make steps (-1: without end), or go to a node ("": the next one), or check the step again."""
        self._require(WAITING)
        self._send_watchpoints()
        if level == "node":
            self.shelf.forget()  # the step has the same number, but other values
            self._goal = node
            self._commands.append(messages.run_command("node", node=node))
        elif level == "recheck":
            self._commands.append(messages.run_command("recheck"))
        else:
            self._left = steps if steps < 0 else steps - 1
            self._commands.append(messages.run_command("step", 1))
        self.hits = []
        self._has_run = True
        self.state = SENDING
        self.lock.notify_all()

    def pause(self) -> None:
        """Stop after the step under way."""
        self._require(RUNNING)
        self._left, self._goal = 0, ""
        self.state = SENDING

    def terminate(self) -> None:
        """End the training."""
        if self.state == PENDING:
            raise refused("There is no training to end.")
        self._left, self._goal = 0, ""
        self._commands.append(messages.exit_command())
        self.state = SENDING
        self.lock.notify_all()

    def ask_for(self, tensors: list[tuple[str, str, str]], about: dict[str, Any]) -> None:
        """Have tensors sent: (full name, slot, "" or "prev"); `about` is told when they are there."""
        if tensors and self.state == WAITING:
            self._commands.append(messages.view_command(tensors))
            self._views.append((about, len(tensors)))
            self.lock.notify_all()

    def _send_watchpoints(self) -> None:
        self._commands.extend(messages.delete_command(number) for number in self._deleted)
        self._deleted.clear()
        for number, watch in self.watchpoints.items():
            if watch.changed:
                nodes = [(graph_node[1], kind, graph_node[0]) for graph_node, kind in watch.targets(self.graphs)]
                self._commands.append(messages.set_command(number, nodes, CONDITIONS[watch.condition].number, watch.protocol_params()))
                watch.changed = False

    def add_watchpoint(self, watch: Watchpoint) -> int:
        """Watch from the next step on."""
        self._last_id += 1
        self.watchpoints[self._last_id] = watch
        return self._last_id

    def drop_watchpoint(self, number: int | None) -> None:
        """Watch no longer; None: nothing at all."""
        if number is not None and number not in self.watchpoints:
            raise refused(f"There is no watchpoint {number}.")
        for one in [number] if number is not None else list(self.watchpoints):
            watch = self.watchpoints.pop(one)
            if not watch.is_new:
                self._deleted.append(one)
            self.hits = [hit for hit in self.hits if hit.watchpoint != one]

    def _require(self, state: str) -> None:
        if self.state != state:
            raise refused(f"The training is {self.state}, not {state}.")

    # -- news ---------------------------------------------------------------------------------------------------------------
    def _tell(self, event: dict[str, Any]) -> None:
        self._position += 1
        self.events.append((self._position, event))
        self.lock.notify_all()

    def poll(self, position: int, patience: float = 2.0) -> dict[str, Any]:
        """The newest event after a position; waits for one."""
        with self.lock:
            self.lock.wait_for(lambda: not self._views and any(at > position for at, _ in self.events), patience)
            found = [e for at, e in self.events if at > position]
            if not found:
                return {"metadata": {"pos": str(self._position)}}
            newest: dict[str, Any] = {}
            for event in found:
                newest.update(event)
            return {**newest, "metadata": {**newest.get("metadata", {}), "pos": str(self._position)}}


def refused(detail: str) -> errors.ApiError:
    """A command that does not fit the state of things."""
    return errors.ApiError(errors.DEBUGGER, 2, detail)
