"""Statistics of a tensor, for watchpoints: a few numbers that a compiled graph computes beside its results.

Each is a sum, minimum or maximum over all elements, so that backends fuse those of one tensor into one pass over it and, where
they can, into the loop that makes it. Numbers that are not finite count in "bad" and are left out of the others.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.ir import AbstractTensor, AbstractTuple
from mindspore.prims.primitive import Primitive

_NUMBER = AbstractTensor(mstype.float32, ())


class TensorStatistics(Primitive):
    """`prim(x)` or `prim(x, before)`: one number for each statistic in `wanted`.

    ("bad",) NaN and infinities; ("zeros",); ("sum",), ("abs_sum",), ("min",), ("max",) of finite elements;
    ("inside", low, high) elements in a range; and, against the tensor of the step before, ("moved",) the sum of |x - before|,
    ("before",) the sum of |before|, ("apart", rtol, atol, equal_nan) elements that are not as good as equal.
    """

    def __init__(self, wanted: tuple[tuple, ...]):
        super().__init__("TensorStatistics", wanted=wanted)

    def infer(self, x: Any, before: Any = None) -> Any:
        return AbstractTuple((_NUMBER,) * len(self.wanted))

    def eval(self, xp: Any, x: Any, before: Any = None) -> Any:
        x = x.astype(np.float32) if x.dtype != np.float32 else x
        if before is not None and before.dtype != np.float32:
            before = before.astype(np.float32)
        return tuple(_STATISTICS[name](xp, x, before, *details) for name, *details in self.wanted)


class BadCount(Primitive):
    """How many elements of some tensors of one shape are NaN or infinite: one reduction for all."""

    def __init__(self) -> None:
        super().__init__("BadCount")

    def infer(self, *xs: Any) -> Any:
        return _NUMBER

    def eval(self, xp: Any, *xs: Any) -> Any:
        return xp.sum(functools.reduce(operator.add, [_bad(xp, x.astype(np.float32)) for x in xs]))


class ScalarVector(Primitive):
    """Scalars as one vector, so that one result has to be looked at."""

    def __init__(self) -> None:
        super().__init__("ScalarVector")

    def infer(self, *numbers: Any) -> Any:
        return AbstractTensor(mstype.float32, (len(numbers),))

    def eval(self, xp: Any, *numbers: Any) -> Any:
        return xp.stack([xp.reshape(n, ()) for n in numbers])


def _bad(xp: Any, x: Any) -> Any:
    """1 where an element is NaN or infinite, 0 elsewhere."""
    return xp.where(xp.isfinite(x), xp.asarray(np.float32(0)), xp.asarray(np.float32(1)))


def _count(xp: Any, flags: Any) -> Any:
    return xp.sum(xp.where(flags, xp.asarray(np.float32(1)), xp.asarray(np.float32(0))))


def _finite(xp: Any, x: Any, otherwise: float) -> Any:
    return xp.where(xp.isfinite(x), x, xp.asarray(np.float32(otherwise)))


def _apart(xp: Any, x: Any, before: Any, rtol: float, atol: float, equal_nan: bool) -> Any:
    near = xp.abs(x - before) <= xp.abs(before) * np.float32(rtol) + np.float32(atol)
    near = xp.logical_or(near, x == before)  # infinities
    if equal_nan:
        near = xp.logical_or(near, xp.logical_and(xp.isnan(x), xp.isnan(before)))
    return _count(xp, xp.logical_not(near))


_STATISTICS: dict[str, Any] = {
    "bad": lambda xp, x, _: xp.sum(_bad(xp, x)),
    "zeros": lambda xp, x, _: _count(xp, x == 0),
    "sum": lambda xp, x, _: xp.sum(_finite(xp, x, 0)),
    "abs_sum": lambda xp, x, _: xp.sum(xp.abs(_finite(xp, x, 0))),
    "min": lambda xp, x, _: xp.min(_finite(xp, x, np.inf)),
    "max": lambda xp, x, _: xp.max(_finite(xp, x, -np.inf)),
    "inside": lambda xp, x, _, low, high: _count(xp, xp.logical_and(x >= np.float32(low), x <= np.float32(high))),
    "moved": lambda xp, x, before: xp.sum(xp.abs(x - before)),
    "before": lambda xp, x, before: xp.sum(xp.abs(before)),
    "apart": _apart,
}
