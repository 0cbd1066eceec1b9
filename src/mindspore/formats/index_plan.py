"""Indexing as arithmetic: which flat positions of a tensor an index selects.

The position of an element is the sum of index times stride over the dimensions. Each entry of an index contributes one
part to that sum: a slice a range, an int a number, an index tensor itself; the parts broadcast to the shape of the
selection. File formats that know only simple gathers can so express every index.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from mindspore.prims.arrays import TENSOR_INDEX


class Part(NamedTuple):
    """One summand: `values` (a constant range or number), or index tensor number `tensor` modulo `size`."""

    shape: tuple[int, ...]  # to broadcast with the selection
    stride: int
    size: int
    values: np.ndarray | None
    tensor: int


class Selection(NamedTuple):
    """The parts to sum up, and the shape of the selection."""

    parts: list[Part]
    shape: tuple[int, ...]


def expanded(spec: tuple, rank: int) -> list[Any]:
    """The index with one entry per dimension, and None for each new one."""
    used = sum(s is not None and s is not Ellipsis for s in spec)
    out: list[Any] = []
    for item in spec:
        out += [slice(None)] * (rank - used) if item is Ellipsis else [item]
    return out + [slice(None)] * (rank - sum(s is not None for s in out))


def plan(spec: tuple, shape: tuple[int, ...], tensor_shapes: list[tuple[int, ...]]) -> Selection:
    """How the index `spec` selects from a tensor; index tensors stand where it says TENSOR_INDEX."""
    entries = expanded(spec, len(shape))
    joined = [_joins(s, tensor_shapes) for s in entries]
    block = np.broadcast_shapes(*tensor_shapes) if tensor_shapes else ()
    places = [i for i, j in enumerate(joined) if j]
    written = [i for i, s in enumerate(spec) if _joins(s, tensor_shapes)]  # "..." separates even if it is empty
    at_front = bool(written) and written[-1] - written[0] + 1 != len(written)
    sizes = _sizes(entries, shape)
    layout: list[Any] = [("block",)] if at_front else []  # what each dimension of the selection comes from
    for i, entry in enumerate(entries):
        if joined[i]:
            layout += [("block",)] if not at_front and i == places[0] else []
        elif not isinstance(entry, int):
            layout.append(i)
    final, start = _final_shape(layout, entries, sizes, block)
    parts, tensor = [], 0
    strides = iter(math.prod(shape[d + 1 :]) for d in range(len(shape)))
    for i, entry in enumerate(entries):
        if entry is None:
            continue
        stride = next(strides)
        if entry is TENSOR_INDEX:
            own = tensor_shapes[tensor]
            ones = (1,) * (len(final) - start["block"] - len(block))
            parts.append(Part((*(1,) * (len(block) - len(own)), *own, *ones), stride, sizes[i], None, tensor))
            tensor += 1
        elif isinstance(entry, int):
            parts.append(Part((), stride, sizes[i], np.array((entry % sizes[i]) * stride), -1))
        else:
            values = np.arange(*entry.indices(sizes[i])) * stride
            ones = (1,) * (len(final) - start[i] - 1)
            parts.append(Part((len(values), *ones), stride, sizes[i], values, -1))
    return Selection(parts, final)


def _joins(entry: Any, tensor_shapes: list) -> bool:
    """Whether an entry is one of the index tensors, or an int beside them, which counts as one."""
    return entry is TENSOR_INDEX or (bool(tensor_shapes) and isinstance(entry, int))


def _sizes(entries: list[Any], shape: tuple[int, ...]) -> list[int]:
    """The size of the dimension that each entry is for; 1 for new ones."""
    rest = iter(shape)
    return [1 if entry is None else next(rest) for entry in entries]


def _final_shape(layout: list, entries: list, sizes: list[int], block: tuple) -> tuple[tuple[int, ...], dict]:
    """The shape of the selection and where the dimensions of each entry start in it."""
    final: list[int] = []
    start: dict[Any, int] = {}
    for item in layout:
        key: Any = "block" if isinstance(item, tuple) else item
        start[key] = len(final)
        if key == "block":
            final += block
        else:
            final.append(1 if entries[key] is None else len(range(*entries[key].indices(sizes[key]))))
    return tuple(final), start
