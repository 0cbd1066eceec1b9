"""ATen operations that read and write by indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.formats.torch_export.registry import Value, rule
from mindspore.formats.torch_export.writer import AtenWriter as Writer


@rule("embedding")
def _embedding(w: Writer, table: Value, indices: Value, *_: Any) -> str:
    return w.op("Gather", table, indices, axis=0)


@rule("index_select")
def _index_select(w: Writer, x: Value, axis: int, index: Value) -> str:
    return w.op("Gather", x, index, axis=axis % x.rank)


@rule("gather")
def _gather(w: Writer, x: Value, axis: int, index: Value, *_: Any) -> str:
    return w.op("GatherElements", x, index, axis=axis % x.rank)


@rule("take_along_dim")
def _take_along(w: Writer, x: Value, index: Value, axis: int | None = None) -> str:
    if axis is None:
        return w.op("GatherElements", w.op("Reshape", x, np.array([-1])), w.op("Reshape", index, np.array([-1])), axis=0)
    return w.op("GatherElements", x, index, axis=axis % x.rank)


def _beside(w: Writer, source: Value, index: Value) -> str:
    """The part of a source that an index, which may be smaller, refers to."""
    sizes = [(a, index.size(a)) for a in range(index.rank) if index.size(a) != source.size(a)]
    if not sizes:
        return source.name
    axes, ends = (np.array(part, np.int64) for part in zip(*sizes))
    return w.op("Slice", source, np.zeros(len(sizes), np.int64), ends, axes)


@rule("scatter.src")
def _scatter(w: Writer, x: Value, axis: int, index: Value, source: Value) -> str:
    return w.op("ScatterElements", x, index, _beside(w, source, index), axis=axis % x.rank)


@rule("scatter.value")
def _scatter_value(w: Writer, x: Value, axis: int, index: Value, value: Any) -> str:
    filled = w.op("Expand", w.as_type(value, w.dtype), w.shape(index))
    return w.op("ScatterElements", x, index, filled, axis=axis % x.rank)


@rule("scatter_add")
def _scatter_add(w: Writer, x: Value, axis: int, index: Value, source: Value) -> str:
    return w.op("ScatterElements", x, index, _beside(w, source, index), axis=axis % x.rank, reduction="add")


@rule("scatter_reduce.two")
def _scatter_reduce(w: Writer, x: Value, axis: int, index: Value, source: Value, how: str, whole: bool = True) -> str:
    names = {"sum": "add", "prod": "mul", "amax": "max", "amin": "min"}
    if how not in names or not whole:
        raise ValueError(f"scatter_reduce by {how} {'' if whole else 'without its input '}is not supported")
    return w.op("ScatterElements", x, index, _beside(w, source, index), axis=axis % x.rank, reduction=names[how])


def _positions(w: Writer, x: Value, indices: list[Value | None]) -> tuple[list[int], str, int]:
    """The dimensions that are indexed, the indices side by side (…, dimensions), and how many dimensions they span together."""
    axes = [a for a, index in enumerate(indices) if index is not None]
    given = [index for index in indices if index is not None]
    if any(index.dtype in ("bool", "uint8") for index in given):
        raise ValueError("masks as indices are not supported: their number of hits is not known; use torch.where")
    rank = max(index.rank for index in given)
    shape: str | np.ndarray | None = None
    if len(given) > 1:
        total = given[0].name
        for index in given[1:]:
            total = w.op("Add", w.cast(total, "int64"), w.as_type(index, "int64"))
        shape = w.op("Shape", total)
    parts = []
    for index in given:
        name = w.as_type(index, "int64")
        name = name if shape is None else w.op("Expand", name, shape)
        parts.append(w.op("Unsqueeze", name, np.array([rank])))
    return axes, parts[0] if len(parts) == 1 else w.op("Concat", *parts, axis=rank), rank


@rule("index.Tensor", "_unsafe_index")
def _index(w: Writer, x: Value, indices: list[Value | None]) -> str:
    given = [index for index in indices if index is not None]
    if len(given) == 1 and given[0].dtype not in ("bool", "uint8"):
        return w.op("Gather", x, w.as_type(given[0], "int64"), axis=indices.index(given[0]))
    axes, places, rank = _positions(w, x, indices)
    rest = [a for a in range(x.rank) if a not in axes]
    front = w.op("Transpose", x, perm=axes + rest)
    found = w.op("GatherND", front, places)  # the indices' dimensions, then the rest
    if axes == list(range(axes[0], axes[-1] + 1)) and axes[0]:  # side by side: results stand where they stood
        before = axes[0]
        order = [*range(rank, rank + before), *range(rank), *range(rank + before, rank + len(rest))]
        return w.op("Transpose", found, perm=order)
    return found


@rule("index_put", "_unsafe_index_put")
def _index_put(w: Writer, x: Value, indices: list[Value | None], values: Value, add: bool = False) -> str:
    given = [index for index in indices if index is not None]
    if len(given) == 1 and given[0].dtype == "bool" and not values.rank:
        mask, at = given[0], indices.index(given[0])
        wide = w.op("Reshape", mask, np.array([*[0] * mask.rank, *[1] * (x.rank - mask.rank - at)], np.int64))
        return w.op("Where", wide, values, x)
    axes, places, _ = _positions(w, x, indices)
    if axes != list(range(len(axes))):
        raise ValueError("index_put behind dimensions that are not indexed is not supported")
    shape = w.op("Concat", w.op("Slice", w.op("Shape", places), np.array([0]), np.array([-1])),
                 w.op("Slice", w.op("Shape", x), np.array([len(axes)]), np.array([x.rank])), axis=0)  # fmt: skip
    filled = w.op("Expand", w.as_type(values, w.dtype), shape)
    return w.op("ScatterND", x, places, filled, reduction="add" if add else None)


@rule("slice_scatter")
def _slice_scatter(w: Writer, x: Value, source: Value, axis: int = 0, start: Any = None, end: Any = None, step: int = 1) -> str:
    size = x.size(axis)
    if size is None or any(isinstance(v, Value) for v in (start, end)):
        raise ValueError("writing into a slice of a size that is left open is not supported")
    places = np.arange(size)[slice(start, end, step)]
    order = [axis % x.rank, *(a for a in range(x.rank) if a != axis % x.rank)]
    back = [order.index(a) for a in range(x.rank)]
    front, new = (w.op("Transpose", v, perm=order) for v in (x, source))
    return w.op("Transpose", w.op("ScatterND", front, places[:, None].astype(np.int64), new), perm=back)


@rule("select_scatter")
def _select_scatter(w: Writer, x: Value, source: Value, axis: int, index: int) -> str:
    size = x.size(axis)
    if size is None:
        raise ValueError("writing into a size that is left open is not supported")
    mask = (np.arange(size) == index % size).reshape([-1 if a == axis % x.rank else 1 for a in range(x.rank)])
    return w.op("Where", mask, w.op("Unsqueeze", source, np.array([axis % x.rank])), x)


@rule("nonzero")
def _nonzero(w: Writer, x: Value) -> str:
    return w.op("Transpose", w.op("NonZero", x), perm=[1, 0])


@rule("one_hot")
def _one_hot(w: Writer, x: Value, count: int = -1) -> str:
    if count < 0:
        raise ValueError("one_hot needs its number of classes")
    return w.op("OneHot", x, np.array([count]), np.array([0, 1]))


@rule("diagonal", "diagonal_copy")
def _diagonal(w: Writer, x: Value, offset: int = 0, first: int = 0, second: int = 1) -> str:
    first, second = first % x.rank, second % x.rank
    rows, columns = x.size(first), x.size(second)
    if rows is None or columns is None:
        raise ValueError("a diagonal along a size that is left open is not supported")
    count = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    steps = np.arange(count)
    places = np.stack([steps - min(offset, 0), steps + max(offset, 0)], 1)
    rest = [a for a in range(x.rank) if a not in (first, second)]
    found = w.op("GatherND", w.op("Transpose", x, perm=[first, second, *rest]), places.astype(np.int64))
    return w.op("Transpose", found, perm=[*range(1, len(rest) + 1), 0])
