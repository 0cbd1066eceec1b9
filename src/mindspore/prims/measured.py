"""Results whose shape only their values tell: the places where a mask holds, the distinct elements of a tensor.

Such an operation is a function of NumPy arrays. It has no inference rule; a graph that contains one is made for the
shapes it gave on the arguments at hand, and runs in stages around it (compiler/staging.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore.prims import values
from mindspore.prims.active import ACTIVE
from mindspore.prims.primitive import Primitive
from mindspore.prims.values import SizeUnknownError

if TYPE_CHECKING:
    from mindspore.prims.array_types import Namespace


class Measured(Primitive):
    """`function(*arrays)`, a tuple of arrays, computed on the host between two stages of a graph."""

    def __init__(self, name: str, function: Callable[..., tuple]):
        super().__init__(name, function=function)

    def infer(self, *args: Any) -> Any:
        raise SizeUnknownError(
            f"the shape of the result of '{self.name}' depends on values that are only known when the compiled graph runs. "
            "Move it out of the compiled function (or out of the loop or branch it is in), or run in PYNATIVE_MODE."
        )

    def eval(self, xp: Namespace, *args: Any) -> tuple:
        return tuple(np.asarray(a) for a in self.function(*map(np.asarray, args)))


def measure(name: str, function: Callable[..., tuple], *tensors: Any) -> tuple:
    """The tensors that `function` finds in the values of others: now, or when the graph being built runs."""
    if ACTIVE.builder is not None and any(map(ACTIVE.builder.is_variable, tensors)):
        return Measured(name, function)(*tensors)
    found = function(*(np.asarray(t._data) for t in tensors))
    return tuple(values.from_array(np.asarray(a)) for a in found)
