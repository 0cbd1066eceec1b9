"""Sizes that are not fixed when a network is exported.

Networks are traced with fixed shapes. For free sizes they are traced twice, with different sizes; where the two models
differ, a number depends on a free size. Which size it is, times what and plus what, follows from the two values, so the
constant can be replaced by a computation on the shape of the input. What cannot be explained so is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mindspore.compiler.parse.entry import tensors_in
from mindspore.prims import values

#: sizes that hardly occur by chance, for the first axes (batch, sequence) and for images, which want many halvings
_FIRST = ((37, 53), (29, 23))
_IMAGES = ((224, 288), (352, 416), (480, 608))


class FreeSize(NamedTuple):
    """A size that is not fixed: its value in both traces, and where it can be read."""

    values: tuple[int, int]
    input: int
    axis: int


def dynamic_shape(value: Any) -> tuple[int, ...] | None:
    """The shape of an input with -1 for sizes that are not fixed, or None when all are."""
    return getattr(value, "_dynamic_shape", None)


def has_free_sizes(inputs: tuple) -> bool:
    return any(dynamic_shape(t) is not None for t in tensors_in(inputs))


def free_sizes(inputs: tuple) -> list[FreeSize]:
    """One for each axis that is free somewhere: free sizes of equal axes are taken to be equal."""
    found: dict[int, FreeSize] = {}
    for place, tensor in enumerate(tensors_in(inputs)):
        for axis, size in enumerate(dynamic_shape(tensor) or ()):
            if size == -1 and axis not in found:
                found[axis] = FreeSize(_values(axis), place, axis)
    return list(found.values())


def _values(axis: int) -> tuple[int, int]:
    if axis < len(_FIRST):
        return _FIRST[axis]
    return _IMAGES[min(axis - len(_FIRST), len(_IMAGES) - 1)]


def with_sizes(value: Any, trace: int) -> Any:
    """The inputs for trace 0 or 1."""
    if isinstance(value, (tuple, list)):
        return type(value)(with_sizes(v, trace) for v in value)
    shape = dynamic_shape(value)
    if shape is None:
        return value
    sizes = tuple(_values(axis)[trace] if d == -1 else d for axis, d in enumerate(shape))
    return values.from_array(np.zeros(sizes, value.dtype.np))


class Expression(NamedTuple):
    """factor · size · size' + offset"""

    sizes: tuple[FreeSize, ...]
    factor: int
    offset: int


def explain(first: int, second: int, sizes: Sequence[FreeSize]) -> Expression | None:
    """How a number that was `first` in one trace and `second` in the other depends on the free sizes."""
    choices = [(s,) for s in sizes] + [(s, t) for i, s in enumerate(sizes) for t in sizes[i:]]
    explained = []
    for chosen in choices:
        a, b = (int(np.prod([s.values[trace] for s in chosen])) for trace in (0, 1))
        factor, rest = divmod(first - second, a - b)
        if rest == 0 and factor:
            explained.append(Expression(chosen, factor, first - factor * a))
    return min(explained, key=lambda e: (abs(e.offset), len(e.sizes)), default=None)


def refusal(what: str) -> str:
    """The words for what cannot be explained."""
    return f"{what} depends on a size that is not fixed in a way that cannot be exported; export with fixed sizes."


def is_range(array: np.ndarray) -> bool:
    """Whether an array holds whole numbers in equal steps."""
    return array.ndim == 1 and array.dtype.kind == "i" and len(array) > 1 and len(set(np.diff(array).tolist())) == 1


def is_filled(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether both arrays hold one and the same value throughout."""
    return bool(first.size) and first.tobytes() == np.full_like(first, first.flat[0]).tobytes() and bool(
        (second == first.flat[0]).all()
    )  # fmt: skip
