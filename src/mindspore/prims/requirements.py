"""What the values of arguments must satisfy, stated once for both modes and every backend.

Inference sees types and shapes; whether an index lies within a table only its values tell. A primitive lists such
conditions in `requirements(*args)`, each a test of one argument and the error to raise:

- With values at hand (PyNative mode, constant folding, the reference machine) `Primitive.enforce` tests them and raises.
- While a graph is built, the Builder adds a `Violation` node per requirement, whose result is reduced to one number, and a
  `Note` node, which keeps the first violation met in a record of two numbers: which requirement, and the offending value.
  The record is state like any other (compiler/reports.py): branches and loops carry it, and when the graph has run, the error
  is raised in the same words, with the user's line, before anything that the graph computed is stored.

A test is a small reduction over what is usually a small tensor of integers, and loops fuse it; gradient rules use the same
indices again and need no second test.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.ir import AbstractTensor, AbstractTuple
from mindspore.prims import checks
from mindspore.prims.active import ACTIVE
from mindspore.prims.elementwise import Cast
from mindspore.prims.factors import DONE, Factors, numbered
from mindspore.prims.primitive import Primitive

if TYPE_CHECKING:
    from mindspore.prims.array_types import Array, Namespace
    from mindspore.prims.values import TensorBase


@dataclass(frozen=True)
class Within:
    """Every element lies in [low, high], or is `ignored`; of coordinates in the last dimension, only number `column` counts."""

    low: float
    high: float
    ignored: int | None = None
    column: int | None = None

    @property
    def is_impossible(self) -> bool:
        return self.low > self.high

    def violation(self, xp: Namespace, x: Array) -> tuple[Any, Any]:
        """(whether there is one, the largest element above the range or else the smallest)."""
        if self.column is not None:
            x = x[..., self.column]
        if self.ignored is not None and np.can_cast(np.min_scalar_type(self.ignored), x.dtype):
            x = xp.where(x == self.ignored, xp.asarray(np.asarray(self.low).astype(x.dtype)), x)
        wide = np.int64 if x.dtype.kind in "iu" else np.float64
        least, most = xp.min(x).astype(wide), xp.max(x).astype(wide)
        above = xp.logical_not(most <= self.high)  # in these words, NaN is a violation
        below = xp.logical_not(least >= self.low)
        return xp.logical_or(above, below), xp.where(above, most, least).astype(np.float64)


@dataclass(frozen=True)
class Holds:
    """Every element is true."""

    is_impossible = False

    def violation(self, xp: Namespace, x: Array) -> tuple[Any, Any]:
        return xp.logical_not(xp.all(x)), xp.zeros((), np.float64)


@dataclass(frozen=True)
class Finite:
    """No element is NaN or infinite."""

    is_impossible = False

    def violation(self, xp: Namespace, x: Array) -> tuple[Any, Any]:
        return xp.logical_not(xp.all(xp.isfinite(x))), xp.zeros((), np.float64)


@dataclass(frozen=True)
class StaysFinite:
    """A result is finite where all that it was computed from is: otherwise the computation has failed."""

    is_impossible = False

    def violation(self, xp: Namespace, result: Any, *sources: Any) -> tuple[Any, Any]:
        failed = xp.logical_not(xp.all(xp.isfinite(result)))
        for source in sources:
            failed = xp.logical_and(failed, xp.all(xp.isfinite(source)))
        return failed, xp.zeros((), np.float64)


class Requirement(NamedTuple):
    """Something that the values of one argument must satisfy."""

    argument: int
    test: Within | Holds | Finite
    error: Callable[[float], BaseException]  # from the offending value

    def enforce(self, values: Array) -> None:
        """Raise unless an array of values passes."""
        if values.size:
            bad, worst = self.test.violation(np, values)
            if bad:
                raise self.error(float(worst))


def demand(subject: TensorBase, test: Within | Holds | Finite, error: Callable[[float], BaseException]) -> None:
    """For functions composed of primitives: a tensor must pass a test, now or when the graph being built runs."""
    requirement = Requirement(0, test, error)
    if ACTIVE.builder is not None:
        ACTIVE.builder.require(requirement, subject)
    else:
        requirement.enforce(np.asarray(subject._data))


# -- the common cases -----------------------------------------------------------------------------------------------------
def index_within(op: str, argument: int, size: int, column: int | None = None) -> Requirement:
    """Positions along a dimension of this size; negative ones count from its end."""
    return Requirement(argument, Within(-size, size - 1, None, column), functools.partial(_bad_index, op, -size, size))


def index_below(op: str, argument: int, size: int, column: int | None = None) -> Requirement:
    """Positions along a dimension of this size, counted from its beginning only."""
    return Requirement(argument, Within(0, size - 1, None, column), functools.partial(_bad_index, op, 0, size))


def label_below(op: str, argument: int, classes: int) -> Requirement:
    """Numbers of classes."""
    return Requirement(argument, Within(0, classes - 1), functools.partial(_bad_label, op, classes))


def demand_labels(op: str, labels: TensorBase, classes: int, ignored: int | None = None) -> None:
    """Numbers of classes, of which one may stand for none."""
    demand(labels, Within(0, classes - 1, ignored), functools.partial(_bad_label, op, classes))


def demand_between(op: str, name: str, values: TensorBase, low: float, high: float) -> None:
    """Every element in [low, high]."""
    demand(values, Within(low, high), functools.partial(_bad_value, op, name, f"in [{low:g}, {high:g}]"))


def demand_at_least(op: str, name: str, values: Any, low: float) -> None:
    """No element less than `low`."""
    demand(values, Within(low, np.inf), functools.partial(_bad_value, op, name, f"at least {low:g}"))


def demand_index_below(op: str, name: str, values: TensorBase, size: int) -> None:
    """Numbers of places, of which negative ones stand for none."""
    demand(values, Within(np.iinfo(np.int64).min, size - 1), functools.partial(_bad_place, op, name, size))


def _bad_place(op: str, name: str, size: int, value: float) -> BaseException:
    return checks.OutOfRangeError(f"For '{op}', every '{name}' must be less than {size}, but got {int(value)}.")


def _bad_value(op: str, name: str, allowed: str, value: float) -> BaseException:
    return ValueError(f"For '{op}', every '{name}' must be {allowed}, but got {value:g}.")


def _bad_index(op: str, low: int, high: int, value: float) -> BaseException:
    return checks.OutOfRangeError(f"For '{op}', every index must be in range [{low}, {high}), but got {int(value)}.")


def _bad_label(op: str, classes: int, value: float) -> BaseException:
    return checks.OutOfRangeError(f"For '{op}', labels must be in range [0, {classes}), but got {int(value)}.")


# -- in graphs --------------------------------------------------------------------------------------------------------------
_CODE, _VALUE = AbstractTensor(mstype.int32, ()), AbstractTensor(mstype.float64, ())


class Violation(Primitive):
    """Whether a tensor, or several together, fail a test, and the offending value."""

    def __init__(self, test: Any):
        super().__init__("Violation", test=test)

    def infer(self, *xs: Any) -> Any:
        return AbstractTuple((AbstractTensor(mstype.bool_, ()), _VALUE))

    def factors(self, *xs: Any) -> Factors | None:
        if len(xs) != 1:
            return None
        names = numbered(len(xs[0].shape))
        return Factors((names,), ((), ()), dict.fromkeys(names, DONE))

    def on_device(self, device: Any, x: Any) -> Any:
        """What any device finds, all know of."""
        bad, worst = device.plain(self, x)
        labels, cast = device.factors.inputs[0], Cast()
        found = device.all_reduce("max", cast(bad, mstype.int32), *labels)
        return cast(found, mstype.bool_), device.all_reduce("max", worst, *labels)

    def eval(self, xp: Namespace, *xs: Any) -> Any:
        return self.test.violation(xp, *xs)


class Note(Primitive):
    """The record (code, value) with a violation entered under a number, unless it holds an earlier one."""

    def __init__(self, number: int):
        super().__init__("Note", number=number)

    def infer(self, code: AbstractTensor, value: AbstractTensor, bad: AbstractTensor, worst: AbstractTensor) -> Any:
        return AbstractTuple((_CODE, _VALUE))

    def eval(self, xp: Namespace, code: Array, value: Array, bad: Array, worst: Array) -> Any:
        first = xp.logical_and(xp.reshape(bad, ()), code == 0)
        return xp.where(first, xp.asarray(np.int32(self.number)), code), xp.where(first, worst, value)
