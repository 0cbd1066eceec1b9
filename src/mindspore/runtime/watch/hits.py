"""What a watchpoint has found, and the watch that collects it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mindspore._base import keys
from mindspore.ir import Location
from mindspore.runtime.dump.session import Session
from mindspore.runtime.watch.rules import Watchpoint, checked_action

_LIBRARY = str(Path(__file__).resolve().parents[2]) + os.sep
#: hits kept; a rule that hits at every step must not fill the memory
MOST_HITS = 1000
#: hits of one watchpoint that are reported by warnings, or dumped
MOST_REPORTS = 20


class Subject(NamedTuple):
    """A tensor that is watched."""

    name: str  #: the full name of its operation, or of the Parameter
    slot: int
    kind: str
    size: int
    locations: tuple[Location, ...] = ()
    backward: bool = False

    @property
    def location(self) -> Location | None:
        """The innermost line of the user's own program; where there is none, of the library."""
        own = (l for l in self.locations if not l.file.startswith(_LIBRARY))
        return next(own, None) or next(iter(self.locations), None)


class Hit(NamedTuple):
    """A watchpoint passed by a tensor."""

    watchpoint: Watchpoint
    tensor: Subject
    step: int
    rank: int
    values: dict[str, float]  #: the measures, by the thresholds they pass; "overflow" counts NaN and infinities
    inputs: dict[str, np.ndarray]  #: what the operation was given: of the first bad one of a step
    folder: str = ""  #: where the step was dumped

    @property
    def thresholds(self) -> dict[str, float]:
        """The bounds that were passed."""
        return {name: bound for name, bound in self.watchpoint.thresholds.items() if name in self.values}

    @property
    def line(self) -> str:
        """The user's line, as "file:line"."""
        line = self.tensor.location
        return f"{line.file}:{line.line}" if line is not None else ""

    def __str__(self) -> str:
        found = ", ".join(
            f"{int(value)} of {self.tensor.size} elements are NaN or infinite" if name == "overflow"
            else "not changed since the step before" if name == "unchanged"
            else f"{name.rpartition('_')[0]} is {value:g} ({name}: {self.thresholds[name]:g})"
            for name, value in self.values.items()
        )  # fmt: skip
        given = "".join(f"\n    {name}: {_described(array)}" for name, array in self.inputs.items())
        line = self.tensor.location
        stack = f"\n{line.excerpt()}" if line is not None else ""
        way = "\n    (in the backward pass of this line)" if self.tensor.backward else ""
        return (
            f"{self.watchpoint.rule}: {self.tensor.kind} {self.tensor.name} (output {self.tensor.slot}), step {self.step} (the first "
            f"is 0), rank {self.rank}: {found}.{stack}{way if stack else ''}" + (f"\n  It was given:{given}" if given else "")
            + (f"\n  The step's tensors are in {self.folder}." if self.folder else "")
        )  # fmt: skip


def _described(array: np.ndarray) -> str:
    text = f"{array.dtype.name}{list(array.shape)}"
    if array.dtype.kind not in "fV" and array.dtype.name != "bfloat16":
        return text
    wide = np.asarray(array, np.float64)
    finite = wide[np.isfinite(wide)]
    inner = f" from {finite.min():g} to {finite.max():g}" if finite.size else ""
    bad = wide.size - finite.size
    return text + inner + (f", {bad} NaN or infinite" if bad else "")


class WatchpointError(RuntimeError):
    """A watchpoint whose action is "stop" has hit. `hits` are all those of the step, the first one made first."""

    def __init__(self, hits: Sequence[Hit]):
        others = f"\n({len(hits) - 1} more in this step)" if len(hits) > 1 else ""
        super().__init__(f"{hits[0]}{others}")
        self.hits = list(hits)


class Watch:
    """The watchpoints of a program and what they have found.

    Used as a context manager it ends with the block.
    """

    def __init__(
        self, points: Sequence[Watchpoint], parameters: Sequence[Any] | None, action: Any, path: str, end: Callable[[], None]
    ):
        """`parameters`: those of the network watched, None for any; `end`: ends this watch."""
        self.points = list(points)
        self.action = checked_action(action) or "stop"
        self.path = path
        self.hits: list[Hit] = []
        self.key = object()  #: graphs compiled for one watch serve no other
        self.step = 0  #: steps begun: runs of graphs that are watched, or calls of a Cell from outside in PyNative mode
        self._parameters = None if parameters is None else [keys.ByIdentity(p) for p in parameters]
        self._end = end
        self._unread: list[Callable[[], None]] = []  # looks at what accelerators have not told yet
        self._reported: dict[int, int] = {}
        self._dumps: Session | None = None

    def concerns(self, parameters: Sequence[Any]) -> bool:
        """Whether a graph with these Parameters is one to watch."""
        return self._parameters is None or not set(self._parameters).isdisjoint(map(keys.ByIdentity, parameters))

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is not None:  # what went wrong is said already
            self._unread.clear()
        self._end()

    def look(self) -> None:
        """Wait for accelerators and judge what they have not told yet."""
        for look in self._unread:
            look()

    def note_unread(self, look: Callable[[], None]) -> None:
        """Have `look` called when the watch ends."""
        self._unread.append(look)

    def points_for(self, kind: str, name: str, locations: Any = ()) -> list[Watchpoint]:
        return [p for p in self.points if p.looks_at(kind, name, locations)]

    def begin_step(self) -> int:
        self.step += 1
        return self.step - 1

    def judge(
        self, step: int, subject: Subject, points: Sequence[Watchpoint], found: dict[Any, float], first_step: bool
    ) -> list[Hit]:
        """The hits of one tensor."""
        rank = int(os.environ.get("RANK_ID", "0") or 0)
        judged = ((p, p.judge(found, subject.size)) for p in points if first_step or not p.first_step)
        return [Hit(p, subject, step, rank, values, {}) for p, values in judged if values]

    def act(self, hits: list[Hit], inputs: Callable[[Hit], dict], dump: Callable[[], str]) -> None:
        """Do what the watchpoints of a step's hits say. The first hit gets what its operation was given."""
        if not hits:
            return
        first = hits[0]._replace(inputs=inputs(hits[0]))
        hits = [first, *hits[1:]]
        actions = [self.action if h.watchpoint.action is None else h.watchpoint.action for h in hits]
        stops, dumped = "stop" in actions, None
        if "dump" in actions and self._may_report(hits[actions.index("dump")].watchpoint):
            folder = dump()
            hits = [h._replace(folder=folder) for h in hits]
            dumped = hits[actions.index("dump")]  # the one that is told of
        self.hits += hits[: max(0, MOST_HITS - len(self.hits))]
        for hit, action in zip(hits, actions):
            if callable(action):
                action(hit)
            elif not stops and (hit is dumped or (action == "report" and self._may_report(hit.watchpoint))):
                warnings.warn(str(hit), stacklevel=2)
        if stops:
            raise WatchpointError(hits)

    def dumps(self) -> Session:
        """Where steps are dumped to."""
        if self._dumps is None:
            self._dumps = Session.everything(self.path)
        return self._dumps

    def _may_report(self, point: Watchpoint) -> bool:
        number = self.points.index(point)
        self._reported[number] = self._reported.get(number, 0) + 1
        return self._reported[number] <= MOST_REPORTS
