"""The registry of operations that are lowered whole: `handles(class, …)` decorates the function that emits their steps.

A handler gets the lowering, the opaque call, the operands' views and the result values that somebody uses. It emits
steps and records where the results are, or raises `Unsupported` before that.
"""

from __future__ import annotations

from collections.abc import Callable

from mindspore.backends.cpu.layout import View
from mindspore.backends.cpu.lowering import Lowering
from mindspore.compiler.fuse.loopir import Value
from mindspore.prims.primitive import Primitive

Handler = Callable[[Lowering, Value, list[View], list[Value]], None]
HANDLERS: dict[type[Primitive], Handler] = {}


def handles(*primitives: type[Primitive]) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        for primitive in primitives:
            HANDLERS[primitive] = handler
        return handler

    return register
