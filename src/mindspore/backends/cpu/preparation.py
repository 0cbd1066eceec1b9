"""What a graph computes from its weights alone: done once, and again when the weights change.

Filters in the layout that a convolution wants, filters scaled by a normalisation: in inference these depend on nothing but
Parameters. Such steps go into a table of their own; what the others read of their results is kept in memory that
belongs to the graph's instance. It is valid while the Parameters hold the same arrays, nobody else refers to these, and
nobody has touched them (`_base/watch.py`).
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from mindspore._base import watch
from mindspore.backends.cpu.arena import Arena
from mindspore.backends.cpu.layout import Buffer
from mindspore.backends.cpu.steps import CallStep, CompareStep, HostStep, Step

_WORTH_KEEPING = 4096  # bytes; less is computed faster than looked after


def split(steps: list[Step], weights: frozenset[int]) -> tuple[list[Step], list[Step], tuple[int, ...]]:
    """(steps that depend on weights alone, the other steps, the inputs that the former read)."""
    rewritten = _written_again(steps)
    ready: set[int] = set()  # buffers with values that come from weights
    first: list[Step] = []
    others: list[Step] = []
    for step in steps:
        if depends_on_weights_alone(step, weights, ready) and not any(id(v.buffer) in rewritten for v in step.writes):
            first.append(step)
            ready.update(id(v.buffer) for v in step.writes)
        else:
            others.append(step)
    kept = {id(v.buffer): v.buffer for s in others for v in s.reads if id(v.buffer) in ready}
    if sum(b.nbytes for b in kept.values()) < _WORTH_KEEPING:
        return [], steps, ()
    for buffer in kept.values():
        buffer.kind = "kept"
    _set_lifetimes([*first, *others])
    inputs = sorted({v.buffer.source for s in first for v in s.reads if v.buffer.kind == "input"})
    return first, others, tuple(inputs)


def _written_again(steps: list[Step]) -> set[int]:
    """Buffers that more than one step writes."""
    once: set[int] = set()
    again: set[int] = set()
    for step in steps:
        mine = {id(v.buffer) for v in step.writes}
        again |= once & mine
        once |= mine
    return again


def depends_on_weights_alone(step: Step, weights: frozenset[int], ready: set[int]) -> bool:
    if isinstance(step, (HostStep, CallStep, CompareStep)) or any(v.buffer.kind != "arena" for v in step.writes):
        return False
    sources = [v.buffer for v in step.reads if v.buffer.kind != "constant"]
    return bool(sources) and all(id(b) in ready or (b.kind == "input" and b.source in weights) for b in sources)


def _set_lifetimes(steps: list[Step]) -> None:
    """Tell the buffers anew when they are in use, now that the steps are in another order."""
    for step in steps:
        for view in step.views:
            view.buffer.first = -1
    for number, step in enumerate(steps):
        if step.scratch is not None:
            step.scratch.first = step.scratch.last = number
        for view in step.views:
            if view.buffer.first < 0:
                view.buffer.first = number
            view.buffer.last = number


#: bytes that all graphs together may keep; beyond, those unused for longest give their memory back
LIMIT = max(256 << 20, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 8)
_LOCK = threading.RLock()  # a collection of garbage may come at any time, also while it is held
_FILLED: dict[int, weakref.ref[Kept]] = {}  # in order of use


class Kept:
    """Memory for kept values, and whether they are still right. `with kept:` while a graph reads them."""

    def __init__(self, buffers: Sequence[Buffer], places: dict[int, int]):
        """Enters the buffers' addresses in `places`."""
        self._watch: watch.Watch | None = None
        self._busy = False
        self.nbytes = sum(_room(b) for b in buffers)
        self._memory = Arena(self.nbytes) if buffers else None
        address = self._memory.address if self._memory else 0
        for buffer in buffers:
            places[id(buffer)] = address
            address += _room(buffer)

    def __enter__(self) -> Kept:
        with _LOCK:
            self._busy = True
            _FILLED.pop(id(self), None)
            _FILLED[id(self)] = weakref.ref(self)
        return self

    def __exit__(self, *_: Any) -> None:
        self._busy = False

    def are_valid(self, weights: Sequence[Any]) -> bool:
        return self._watch is not None and self._watch.holds(weights)

    def were_made(self, weights: Sequence[Any], own: bool) -> None:
        """They have just been computed from these arrays, which may be relied on if nobody else refers to them."""
        if own and all(a.base is None for a in weights):
            self._watch = watch.Watch(weights)

    def forget(self) -> None:
        """They are no longer right."""
        if self._watch is not None:
            self._watch.end()
            self._watch = None

    def give_back(self) -> None:
        """Let the memory go until the values are computed again."""
        self.forget()
        _FILLED.pop(id(self), None)
        if self._memory is not None:
            self._memory.release()

    def __del__(self, finalizing: Callable = sys.is_finalizing) -> None:  # bound here: modules are emptied at the end
        if not finalizing():
            self.forget()
            _FILLED.pop(id(self), None)


def make_room() -> None:
    """Keep within the limit."""
    with _LOCK:
        filled = [kept for reference in _FILLED.values() if (kept := reference()) is not None]
        total = sum(kept.nbytes for kept in filled)
        for kept in filled:
            if total <= LIMIT:
                return
            if not kept._busy:
                kept.give_back()
                total -= kept.nbytes


def _room(buffer: Buffer) -> int:
    return -(-buffer.nbytes // 64) * 64
