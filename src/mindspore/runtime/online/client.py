"""The training's end of the line: says where it is, and does what it is told."""

from __future__ import annotations

import atexit
from collections.abc import Iterable
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base import flags
from mindspore._base.optional import require
from mindspore.formats.events.graph_messages import DATA_TYPES
from mindspore.prims.statistics import TensorStatistics
from mindspore.runtime.online import messages as m
from mindspore.runtime.watch.rules import Watchpoint
from mindspore.version import __version__

_PIECE = 3 << 20  # of a graph or tensor: what a message may hold
_PATIENCE = 30.0  # seconds for the debugger to be there
#: the protocol's numbers of conditions
_RULES = {2: "tensor_overflow", 13: "tensor_overflow", 14: "weight_initialization", 15: "tensor_too_large", 16: "tensor_too_small",
          17: "tensor_all_zero", 18: "weight_change_too_large", 19: "weight_change_too_small", 20: "weight_not_changed",
          21: "tensor_range"}  # fmt: skip


class Ended(SystemExit):
    """The debugger has ended the training."""


class Debugger:
    """The connection to a debugger, and the values it may ask for."""

    def __init__(self) -> None:
        grpc = require("grpc", "insight", "the online debugger")
        self.address = f"{flags.text('MS_DEBUGGER_HOST', 'localhost')}:{flags.text('MS_DEBUGGER_PORT', '50051')}"
        self._channel = grpc.insecure_channel(self.address)
        self._lost = grpc.RpcError
        self.step = 0
        self.node = ""
        self.now: dict[str, np.ndarray] = {}  # by name and slot
        self.before: dict[str, np.ndarray] = {}
        self._steps = 0  # still to make without asking
        self._stop_at: str | None = None  # the node to stop at; "": the next one
        self._points: dict[int, tuple[Watchpoint, set[str], m.WatchCondition]] = {}
        self._greeted = False

    # -- the line -----------------------------------------------------------------------------------------------------------
    def _call(self, name: str, given: m.Message | Iterable[m.Message], patience: float | None = _PATIENCE) -> m.EventReply:
        path = f"/debugger.EventListener/{name}"
        try:
            if isinstance(given, m.Message):
                data = self._channel.unary_unary(path)(given.encode(), timeout=patience, wait_for_ready=not self._greeted)
            else:
                data = self._channel.stream_unary(path)(iter([one.encode() for one in given]), timeout=patience)
        except self._lost as error:
            raise RuntimeError(
                f"The debugger at {self.address} does not answer ({error.code().name}). Start it by `mindinsight start --enable-debugger "  # type: ignore[attr-defined]
                "True`, or unset ENABLE_MS_DEBUGGER."
            ) from None
        return m.EventReply.decode(data)

    def _metadata(self, done: bool = False) -> m.Metadata:
        return m.Metadata(
            device_name="0", cur_step=self.step, backend="GPU", cur_node=self.node, training_done=done, ms_version=__version__
        )

    def greet(self, graph: bytes) -> None:
        """Say what is trained; then wait for the first command."""
        if self._greeted:
            return
        self._call("SendMetadata", self._metadata())
        self._greeted = True
        atexit.register(self._say_done)
        pieces = [graph[at : at + _PIECE] for at in range(0, len(graph), _PIECE)]
        self._call("SendGraph", [m.Chunk(buffer=p, finished=i == len(pieces) - 1) for i, p in enumerate(pieces)])
        self.wait()

    def _say_done(self) -> None:
        try:
            self._call("SendMetadata", self._metadata(done=True), 2.0)
        except RuntimeError:
            return  # it has gone before us

    def wait(self) -> None:
        """Do what the debugger says until it says: go on."""
        while True:
            reply = self._call("WaitCMD", self._metadata(), None)
            if reply.has("exit"):
                atexit.unregister(self._say_done)
                raise Ended("The training was ended by the debugger.")
            if reply.has("view_cmd"):
                for asked in reply.view_cmd.tensors:
                    self._call("SendTensors", self._pieces(asked))
            elif reply.has("set_cmd"):
                self._watch(reply.set_cmd)
            elif reply.has("run_cmd") and self._go_on(reply.run_cmd):
                return

    def _go_on(self, command: m.RunCommand) -> bool:
        if command.run_level == "recheck":
            self.check()
            return False
        self._stop_at = command.node_name if command.run_level == "node" else None
        self._steps = max(1, command.run_steps) if command.run_level == "step" else 0
        return True

    # -- while a step runs --------------------------------------------------------------------------------------------------
    def begin_step(self) -> None:
        self.before, self.now = self.now, {}

    def made(self, name: str, values: list[tuple[int, np.ndarray]]) -> None:
        """An operation has run."""
        self.now.update({f"{name}:{slot}": value for slot, value in values})
        if self._stop_at is not None and self._stop_at in ("", name):
            self.node = name
            self.wait()

    def end_step(self) -> None:
        self.step += 1
        self.node = ""
        found = self.check()
        self._steps -= 1
        if self._steps <= 0 or found:
            self.wait()

    def _pieces(self, asked: m.TensorMessage) -> list[m.TensorMessage]:
        held = self.before if asked.iter == "prev" else self.now
        value = held.get(_key(asked.node_name, asked.slot, held))
        kind = DATA_TYPES.get(mstype.from_numpy(value.dtype), 0) if value is not None else 0
        if value is not None and value.dtype.name == "bfloat16":
            value, kind = value.astype(np.float32), DATA_TYPES[mstype.float32]
        data = np.ascontiguousarray(value).tobytes() if value is not None else b""
        about: dict[str, Any] = {"node_name": asked.node_name, "slot": asked.slot, "iter": asked.iter, "data_type": kind,
                                 "dims": list(value.shape) if value is not None else []}  # fmt: skip
        cuts = list(range(0, len(data), _PIECE)) or [0]
        return [m.TensorMessage(**about, tensor_content=data[at : at + _PIECE], finished=at == cuts[-1]) for at in cuts]

    # -- watchpoints --------------------------------------------------------------------------------------------------------
    def _watch(self, command: m.SetCommand) -> None:
        if command.delete:
            self._points.pop(command.id, None)
            return
        rule = _RULES.get(command.watch_condition.condition)
        if rule is None:
            return
        given = {p.name: p.value for p in command.watch_condition.params if not p.disabled}
        if "equal_nan" in given:
            given["equal_nan"] = bool(given["equal_nan"])
        nodes = {node.node_name for node in command.watch_nodes}
        self._points[command.id] = (Watchpoint(rule, **given), nodes, command.watch_condition)

    def check(self) -> bool:
        """Tell what watchpoints find in the step; whether they find anything."""
        hits = [hit for number in self._points for hit in self._hits_of(number)]
        if hits:
            self._call("SendWatchpointHits", hits)
        return bool(hits)

    def _hits_of(self, number: int) -> list[m.HitMessage]:
        point, nodes, condition = self._points[number]
        found = []
        for node in sorted(nodes):
            for key in [k for k in self.now if k.rpartition(":")[0] in (node, node.rpartition("/")[2])]:
                values = self._judge(point, key)
                if values:
                    params = [
                        m.ConditionParameter(name=p.name, disabled=p.disabled, value=p.value, hit=p.name in values,
                                             actual_value=float(values.get(p.name, 0.0)))
                        for p in condition.params
                    ]  # fmt: skip
                    about = m.WatchCondition(condition=condition.condition, params=params)
                    tensor = m.TensorMessage(node_name=node, slot=key.rpartition(":")[2])
                    found.append(m.HitMessage(id=number, tensor=tensor, watch_condition=about))
        return found

    def _judge(self, point: Watchpoint, key: str) -> dict[str, float]:
        value, before = self.now[key], self.before.get(key)
        compares = point.compares
        if value.dtype.kind not in "fV" or not value.size or (compares and (before is None or before.shape != value.shape)):
            return {}
        wanted = tuple(dict.fromkeys(point.statistics()))
        with np.errstate(all="ignore"):
            numbers = TensorStatistics(wanted).eval(np, value, before if compares else None)
        return point.judge(dict(zip(wanted, map(float, numbers))), value.size)


def _key(name: str, slot: str, held: dict[str, np.ndarray]) -> str:
    """What a tensor is kept under: the name of its operation, or that of the Parameter, which debuggers put into scopes."""
    key = f"{name}:{slot or '0'}"
    return key if key in held else f"{name.rpartition('/')[2]}:0"
