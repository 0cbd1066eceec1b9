"""Tensors in memory: buffers, and views of them with any strided or blocked layout.

A view lists, per dimension, (extent, stride) pairs from outer to inner. A plain dimension has one pair; a dimension of
64 channels kept in blocks of 16 has two: ((4, s), (16, 1)). Reshapes and transposes of views regroup pairs, so most of
them cost nothing. A layout that pairs cannot express (channels padded to a block) has a oneDNN description alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.backends.cpu import dnnl

if TYPE_CHECKING:
    from mindspore.compiler.fuse.loopir import Value

Pairs = tuple[tuple[int, int], ...]


def numpy_dtype(name: str) -> np.dtype:
    return mstype.type_of_name(name).np  # type: ignore[attr-defined]


def itemsize(name: str) -> int:
    return mstype.type_of_name(name).itemsize  # type: ignore[attr-defined]


@dataclass(eq=False)
class Buffer:
    """A piece of memory. `kind`: "arena", "input" (graph parameter), "output" (graph result) or "constant" (an array)."""

    nbytes: int
    kind: str = "arena"
    source: Any = None  # number of the parameter or result, or the array
    native: bool = False  # in a layout chosen by oneDNN, which readers had better take over
    first: int = -1  # steps between which it is in use
    last: int = -1
    address: int = field(default=0, repr=False)


@dataclass(frozen=True, eq=False)
class View:
    """A tensor within a buffer. `offset` is in elements."""

    buffer: Buffer
    dtype: str
    shape: tuple[int, ...]
    dims: tuple[Pairs, ...] | None
    offset: int = 0
    desc: dnnl.Desc | None = None

    @property
    def byte_offset(self) -> int:
        return self.offset * itemsize(self.dtype)

    @property
    def size(self) -> int:
        n = 1
        for d in self.shape:
            n *= d
        return n


def merge(pairs: Pairs) -> Pairs:
    """Join pairs that are walked through as one; drop extents of 1."""
    result: list[tuple[int, int]] = []
    for extent, stride in pairs:
        if extent == 1:
            continue
        if result and result[-1][1] == stride * extent:
            result[-1] = (result[-1][0] * extent, stride)
        else:
            result.append((extent, stride))
    return tuple(result)


def plain_dims(shape: tuple[int, ...]) -> tuple[Pairs, ...]:
    strides = dnnl.row_major(shape)
    return tuple(((d, s),) if d != 1 else () for d, s in zip(shape, strides))


def plain(buffer: Buffer, dtype: str, shape: tuple[int, ...]) -> View:
    return View(buffer, dtype, shape, plain_dims(shape))


def is_plain(view: View) -> bool:
    """Row-major without gaps."""
    return view.dims is not None and tuple(merge(d) for d in view.dims) == plain_dims(view.shape)


def dense(view: View) -> tuple[Pairs, ...] | None:
    """The same order of elements without gaps; None (row-major) where some elements are seen more than once."""
    places = [
        (stride, extent, d, n) for d, pairs in enumerate(view.dims or ()) for n, (extent, stride) in enumerate(pairs)
    ]
    if any(stride <= 0 for stride, _, _, _ in places):
        return None
    found: dict[tuple[int, int], int] = {}
    step = 1
    for _, extent, d, n in sorted(places):
        found[d, n] = step
        step *= extent
    return tuple(
        merge(tuple((extent, found[d, n]) for n, (extent, _) in enumerate(pairs)))
        for d, pairs in enumerate(view.dims or ())
    )


def strides(view: View) -> tuple[int, ...] | None:
    """One stride per dimension, or None for a blocked view."""
    if view.dims is None:
        return None
    result = []
    for pairs in view.dims:
        merged = merge(pairs)
        if len(merged) > 1:
            return None
        result.append(merged[0][1] if merged else 0)
    return tuple(result)


# -- views of views -----------------------------------------------------------------------------------------------------
def apply(view: View, operation: Value) -> View | None:
    """A view operation of a loop program; None when it needs a copy."""
    if view.dims is None:
        return None
    if operation.op == "transpose":
        return _changed(view, operation.shape, tuple(view.dims[i] for i in operation.attr))
    if operation.op == "broadcast":
        dims = tuple(d if o == n else ((n, 0),) for d, o, n in zip(view.dims, view.shape, operation.shape))
        return _changed(view, operation.shape, dims)
    if operation.op == "slice":
        return _slice(view, operation)
    regrouped = _regroup(view, operation.shape)
    return None if regrouped is None else _changed(view, operation.shape, regrouped)


def _changed(view: View, shape: tuple[int, ...], dims: tuple[Pairs, ...], offset: int = 0) -> View:
    return View(view.buffer, view.dtype, shape, dims, view.offset + offset)


def _slice(view: View, operation: Value) -> View | None:
    if 0 in operation.shape:  # "the last of no elements" would lie before the buffer
        return _changed(view, operation.shape, plain_dims(operation.shape))
    dims: list[Pairs] = []
    offset = 0
    for pairs, old, new, (start, step) in zip(view.dims or (), view.shape, operation.shape, operation.attr):
        if (start, step, new) == (0, 1, old):
            dims.append(pairs)
            continue
        merged = merge(pairs)
        if len(merged) > 1:
            blocks = _whole_blocks(merged, start, step, new)
            if blocks is None:
                return None
            offset += start // math.prod(extent for extent, _ in merged[1:]) * merged[0][1]
            dims.append(blocks)
            continue
        stride = merged[0][1] if merged else 0
        offset += start * stride
        dims.append(((new, stride * step),) if new != 1 else ())
    return _changed(view, operation.shape, tuple(dims), offset)


def _whole_blocks(pairs: Pairs, start: int, step: int, count: int) -> Pairs | None:
    """Some of the blocks of a blocked dimension; None where a slice cuts through blocks."""
    block = math.prod(extent for extent, _ in pairs[1:])
    if step != 1 or start % block or count % block:
        return None
    return merge(((count // block, pairs[0][1]), *pairs[1:]))


def _in_blocks(view: View, axis: int) -> Pairs:
    """The pairs of a dimension; channels that just fill one block of oneDNN's are one block."""
    merged = merge((view.dims or ())[axis])
    if axis == 1 and merged in (((8, 1),), ((16, 1),)) and len(view.shape) > 2:
        return ((1, view.size // view.shape[0] - 1), *merged)  # a stride below that of the images
    return merged


def block_of(view: View, axis: int) -> int:
    """How many elements of a dimension make a block; 1 without blocks."""
    return math.prod(extent for extent, _ in _in_blocks(view, axis)[1:])


def resized(view: View, shape: tuple[int, ...]) -> tuple[Pairs, ...] | None:
    """A dense layout for another shape, blocked and ordered like a view's; None where its blocks do not fit."""
    places = []
    for d, size in enumerate(shape):
        pairs = _in_blocks(view, d)
        if not pairs and size == 1:
            continue
        if not pairs or size % block_of(view, d) or any(stride <= 0 for _, stride in pairs):
            return None
        extents = (size // block_of(view, d), *(extent for extent, _ in pairs[1:]))
        places += [(pairs[n][1], d, n, extent) for n, extent in enumerate(extents)]
    found: dict[tuple[int, int], tuple[int, int]] = {}
    step = 1
    for _, d, n, extent in sorted(places):
        found[d, n] = (extent, step)
        step *= extent
    return tuple(merge(tuple(found[k] for k in sorted(found) if k[0] == d)) for d in range(len(shape)))


def _regroup(view: View, shape: tuple[int, ...]) -> tuple[Pairs, ...] | None:
    if view.size == 0:
        return plain_dims(shape)
    flat = list(merge(tuple(p for pairs in view.dims or () for p in pairs)))
    result: list[Pairs] = []
    for extent in reversed(shape):
        taken: list[tuple[int, int]] = []
        size = 1
        while size < extent:
            count, stride = flat.pop()
            need = extent // size
            if count > need:
                if extent % size or count % need:
                    return None
                flat.append((count // need, stride * need))
                count = need
            taken.append((count, stride))
            size *= count
        if size != extent:
            return None
        result.append(merge(tuple(taken[::-1])))
    return tuple(result[::-1])


# -- oneDNN ---------------------------------------------------------------------------------------------------------------
def from_desc(buffer: Buffer, dtype: str, desc: dnnl.Desc) -> View:
    """The view that a description chosen by oneDNN stands for."""
    shape = desc.shape
    if desc.padded_shape != shape:
        return View(buffer, dtype, shape, None, 0, desc)
    inner: list[list[tuple[int, int]]] = [[] for _ in shape]
    step = 1
    for axis, block in reversed(desc.blocks):
        inner[axis].insert(0, (block, step))
        step *= block
    dims = []
    for extent, stride, pairs in zip(shape, desc.strides, inner):
        for block, _ in pairs:
            extent //= block
        dims.append(merge(((extent, stride), *pairs)))
    return View(buffer, dtype, shape, tuple(dims), 0, desc)


def is_described(view: View, desc: dnnl.Desc) -> bool:
    """Whether a description tells of the same places, if in other words: 16 channels in blocks of 16 are channels last.

    One that has bytes besides its elements (sums of filters, for sources with a sign) tells of more than a view has.
    """
    if view.dims is None or not desc.shape == desc.padded_shape == view.shape or desc.dtype != view.dtype:
        return False
    if desc.has_more_than_elements:
        return False
    described = from_desc(view.buffer, view.dtype, desc).dims or ()
    return tuple(map(merge, described)) == tuple(map(merge, view.dims))


def to_desc(view: View) -> dnnl.Desc | None:
    """The description of a view, or None when oneDNN has no words for it."""
    if view.dtype not in dnnl.DTYPES or 0 in view.shape or not view.shape:
        return None
    if view.desc is not None:
        return view.desc
    simple = strides(view)
    if simple is not None:
        if any(s <= 0 and d != 1 for s, d in zip(simple, view.shape)):
            return None
        try:
            return dnnl.Desc.strided(view.shape, view.dtype, _unit_strides(view.shape, simple))
        except dnnl.DnnlError:  # strides that step into one another's rows
            return None
    return _blocked_desc(view)


def _unit_strides(shape: tuple[int, ...], found: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of dimensions of 1 as if the tensor were row-major, so that equal layouts compare equal."""
    result = list(found)
    step = 1
    for i in reversed(range(len(shape))):
        if shape[i] == 1:
            result[i] = step
        step = max(step, result[i] * shape[i])
    return tuple(result)


def _blocked_desc(view: View) -> dnnl.Desc | None:
    """Layouts such as nChw16c: one dimension in two pairs, the inner one contiguous."""
    merged = [merge(d) for d in view.dims or ()]
    double = [i for i, d in enumerate(merged) if len(d) > 1]
    if len(double) != 1 or len(merged[double[0]]) != 2 or merged[double[0]][1][1] != 1:
        return None
    axis = double[0]
    block = merged[axis][1][0]
    outer = [(d[0][1] if d else 0, i) for i, d in enumerate(merged)]
    letters = [chr(ord("a") + i) for i in range(len(merged))]
    order = _outer_order(outer, view.shape)
    tag = "".join(letters[i].upper() if i == axis else letters[i] for i in order) + f"{block}{letters[axis]}"
    try:
        desc = dnnl.Desc.tagged(view.shape, view.dtype, tag)
    except dnnl.DnnlError:
        return None
    found = from_desc(view.buffer, view.dtype, desc)
    same = found.dims is not None and [merge(d) for d in found.dims] == merged
    return desc if same else None


def _outer_order(outer: list[tuple[int, int]], shape: tuple[int, ...]) -> list[int]:
    """Dimensions from the largest stride down; those of extent 1 keep their place."""
    walking = sorted((i for s, i in outer if shape[i] != 1), key=lambda i: -outer[i][0])
    supply = iter(walking)
    return [next(supply) if shape[i] != 1 else i for i in range(len(shape))]
