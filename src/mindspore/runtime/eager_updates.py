"""The updates of an optimizer's step in PyNative mode, as one native call, or noted as one passage where operations are deferred.

A network has hundreds of Parameters, most of them small, and an update by itself costs far more than its arithmetic. Within
`together()` update rules only note themselves; at its end all are made. None of them may be about what another one writes:
one that is ends what was gathered before it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from mindspore.prims import values
from mindspore.prims.active import ACTIVE
from mindspore.prims.inplace import update
from mindspore.prims.primitive import Primitive, _Dispatch
from mindspore.prims.values import TensorBase
from mindspore.runtime import devices, eager_kernels
from mindspore.runtime.passages import cause_of_calls


class _Gathered:
    def __init__(self) -> None:
        self.calls: list[tuple[Primitive, tuple]] = []
        self._written: dict[int, TensorBase] = {}  # by id, of tensors that are held here

    def take(self, prim: Primitive, args: tuple) -> bool:
        """Whether an update is made later."""
        if ACTIVE.tapes or ACTIVE.builder is not None:
            return False
        if not self._written.keys().isdisjoint([id(a) for a in args if isinstance(a, TensorBase)]):
            self.run()
        self.calls.append((prim, args))
        self._written.update((id(args[argument]), args[argument]) for argument, _ in prim.writes)
        return True

    def run(self) -> None:
        """Make all that were noted, in order."""
        calls, self.calls = self.calls, []
        self._written.clear()
        saved, ACTIVE.gather = ACTIVE.gather, None
        try:
            device = devices.deferring()
            if device is not None and len(calls) > 1:
                _note(device.engine, calls)
            elif device is not None or not _compute(calls):
                _make(calls)
        finally:
            ACTIVE.gather = saved


def _make(calls: list[tuple[Primitive, tuple]]) -> None:
    """One by one."""
    for prim, args in calls:
        prim(*args)


def _compute(calls: list[tuple[Primitive, tuple]]) -> bool:
    """By one native call; False where there is none."""
    results = eager_kernels.updates(calls) if len(calls) > 1 else None
    if results is None:
        return False
    for (prim, args), found in zip(calls, results):
        for argument, output in prim.writes:
            update(args[argument], values.from_array(found[output]))
    return True


def _note(engine: Any, calls: list[tuple[Primitive, tuple]]) -> None:
    """As a passage (runtime/passages.py)."""
    written = [args[argument] for prim, args in calls for argument, _ in prim.writes]
    cause = cause_of_calls(calls)
    found = None if cause is None else engine.passages.again(cause)
    if found is not None:
        for tensor, array in zip(written, found):
            update(tensor, values.from_array(array))
        return
    begin = engine.trace().mark()
    _make(calls)
    if cause is not None:
        engine.passages.learn(cause, begin, [tensor._data for tensor in written])


@contextlib.contextmanager
def together() -> Iterator[None]:
    """Update rules called within, whose results nobody uses, are made at the end."""
    device = devices.deferring()
    gathers = eager_kernels.kernels() is not None if device is None else not device.blocking
    if ACTIVE.builder is not None or ACTIVE.tapes or _Dispatch.observed or not gathers:
        yield
        return
    gathered = _Gathered()
    saved, ACTIVE.gather = ACTIVE.gather, gathered.take
    try:
        yield
    finally:
        ACTIVE.gather = saved
        gathered.run()
