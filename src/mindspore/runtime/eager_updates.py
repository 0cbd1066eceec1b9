"""The updates of an optimizer's step in PyNative mode, as one native call.

A network has hundreds of Parameters, most of them small, and an update by itself costs far more than its arithmetic. Within
`together()` update rules only note themselves; at its end all are made. None of them may be about what another one writes:
one that is ends what was gathered before it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from mindspore.prims import values
from mindspore.prims.active import ACTIVE
from mindspore.prims.inplace import update
from mindspore.prims.primitive import Primitive, _Dispatch
from mindspore.prims.values import TensorBase
from mindspore.runtime import eager_kernels


class _Gathered:
    def __init__(self) -> None:
        self.calls: list[tuple[Primitive, tuple]] = []
        self._written: dict[int, TensorBase] = {}  # by id, of tensors that are held here

    def take(self, prim: Primitive, args: tuple) -> bool:
        """Whether an update is made later."""
        if ACTIVE.tapes or ACTIVE.builder is not None:
            return False
        tensors = [a for a in args if isinstance(a, TensorBase)]
        if any(id(t) in self._written for t in tensors):
            self.run()
        self.calls.append((prim, args))
        self._written.update((id(args[argument]), args[argument]) for argument, _ in prim.writes)
        return True

    def run(self) -> None:
        """Make all that were noted, in order."""
        calls, self.calls = self.calls, []
        self._written.clear()
        results = eager_kernels.updates(calls) if len(calls) > 1 else None
        saved, ACTIVE.gather = ACTIVE.gather, None
        try:
            if results is None:
                for prim, args in calls:
                    prim(*args)
                return
        finally:
            ACTIVE.gather = saved
        for (prim, args), found in zip(calls, results):
            for argument, output in prim.writes:
                update(args[argument], values.from_array(found[output]))


@contextlib.contextmanager
def together() -> Iterator[None]:
    """Update rules called within, whose results nobody uses, are made at the end."""
    if ACTIVE.builder is not None or ACTIVE.tapes or _Dispatch.observed or eager_kernels.kernels() is None:
        yield
        return
    gathered = _Gathered()
    saved, ACTIVE.gather = ACTIVE.gather, gathered.take
    try:
        yield
    finally:
        ACTIVE.gather = saved
        gathered.run()
