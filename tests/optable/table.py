"""The table of operations: what a row says, and the samples rows are made of.

A row names one operation in all its spellings ("add Add() Tensor.add mint.add"), gives an independent definition of it
(NumPy, SciPy or a few lines in float64) and sample inputs, and says by flags what holds for it. `engine.py` runs every
row in every mode; the files `rows_*.py` hold the rows, one family each.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import mindspore as ms
from mindspore import Tensor, mint, nn, ops

FLOAT = "e b f d"  # float16, bfloat16, float32, float64
REAL = FLOAT + " B h i l"  # … and uint8, int16, int32, int64
COMPLEX = "F D"
NUMBER = REAL + " " + COMPLEX
INT = "b1 B h i l"  # int8 to int64
ANY = "? " + NUMBER
TYPES = {
    "e": ms.float16, "b": ms.bfloat16, "f": ms.float32, "d": ms.float64, "b1": ms.int8, "B": ms.uint8, "h": ms.int16,
    "i": ms.int32, "l": ms.int64, "?": ms.bool_, "F": ms.complex64, "D": ms.complex128,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Row:
    """One operation. `call(f, *tensors)` applies spelling f; None means f(*tensors)."""

    spellings: tuple[str, ...]
    oracle: Callable
    inputs: tuple[Any, ...]
    call: Callable | None = None
    dtypes: str = FLOAT
    grad: int = 2  # order up to which gradients are compared with central differences
    vmap: bool = True
    empty: bool | None = None  # also with a first axis of length 0; None: as its family
    graph: bool = True  # also compiled
    keeps: bool = True  # floating results have the element type of the first input
    tolerance: float = 1.0  # how many times the usual one
    family: str = ""

    def function(self, spelling: str | None = None) -> Callable:
        """The operation as a function of tensors."""
        target = resolve(spelling or self.spellings[0])
        call = self.call
        return target if call is None else lambda *xs: call(target, *xs)

    def __str__(self) -> str:
        return self.spellings[0]


def resolve(spelling: str) -> Callable:
    """`ops.` is understood: "Abs()", "add", "Tensor.add", "mint.add"."""
    space = {"ops": ops, "mint": mint, "Tensor": Tensor, "nn": nn, "ms": ms}
    head = re.match(r"\w+", spelling)
    assert head is not None, spelling
    return eval(spelling if head[0] in space else "ops." + spelling, space)


def name_of(spelling: str) -> str:
    """The public name a spelling uses: "ops.Abs" of "Abs()"."""
    name = re.match(r"[\w.]+", spelling)[0]  # type: ignore[index]
    return name if "." in name else "ops." + name


ROWS: list[Row] = []
EMPTY_FAMILIES = ("elementwise", "nn")  # where a first axis of length 0 always has a meaning


def row(spellings: str, oracle: Callable, *inputs: Any, **flags: Any) -> Row:
    """Add a row; `family` is the file it stands in."""
    import inspect

    frame = inspect.currentframe()
    family = frame.f_back.f_globals["__name__"].removeprefix("rows_")  # type: ignore[union-attr]
    if flags.get("empty") is None:
        flags["empty"] = family in EMPTY_FAMILIES and max((np.ndim(x) for x in inputs), default=0) > 0
    made = Row(tuple(spellings.split()), oracle, inputs, family=family, **flags)
    ROWS.append(made)
    return made


def plus(*args: Any, **kwargs: Any) -> Callable:
    """Call a function with further arguments; a primitive, which has been given its settings, without them."""
    return lambda f, *xs: f(*xs) if getattr(f, "attrs", None) else f(*xs, *args, **kwargs)


# -- samples --------------------------------------------------------------------------------------------------------
_GENERATORS: dict[str, np.random.Generator] = {}


def _generator() -> np.random.Generator:
    """One for each file of rows, so that a new row changes the samples of its own family only."""
    import sys

    frame = sys._getframe(2)
    while frame.f_back is not None and not frame.f_globals["__name__"].startswith("rows_"):
        frame = frame.f_back
    name = frame.f_globals["__name__"]
    return _GENERATORS.setdefault(name, np.random.default_rng(zlib.crc32(name.encode())))


def spread(low: float, high: float, *shape: int) -> np.ndarray:
    """Distinct values between low and high, in random order: no two are close, so maxima and sorting are stable.

    Every call begins elsewhere, so that no element of one sample equals one of another.
    """
    rng = _generator()
    count = int(np.prod(shape))
    values = low + (np.arange(count) + rng.uniform(0.2, 0.8)) / max(count, 1) * (high - low)
    return rng.permutation(values).reshape(shape)


def real(*shape: int) -> np.ndarray:
    return spread(-2, 2, *shape)


def positive(*shape: int) -> np.ndarray:
    return spread(0.3, 2.3, *shape)


def unit(*shape: int) -> np.ndarray:
    return spread(-0.9, 0.9, *shape)


def ints(low: int, high: int, *shape: int) -> np.ndarray:
    return _generator().integers(low, high, shape)


class Fixed:
    """An input whose element type the table does not vary."""

    def __init__(self, value: Any):
        self.value = np.asarray(value)


def varied(value: Any, code: str, kind: str) -> np.ndarray:
    """A sample input in the element type `code`; inputs of another kind than `kind` stay as they are."""
    if isinstance(value, Fixed):
        return value.value
    value = np.asarray(value)
    if value.dtype.kind != kind:
        return value
    target = TYPES[code].np
    if kind == "f" and code in ("b1", "B", "h", "i", "l"):
        value = np.round(value * 2)
        value = np.abs(value) if code == "B" else value
    elif code == "?":
        value = value > 0
    with np.errstate(all="ignore"):  # samples may hold infinities
        if code in ("F", "D") and value.dtype.kind != "c":
            value = value + 0.5j * np.roll(value, 1)
        return value.astype(target)
