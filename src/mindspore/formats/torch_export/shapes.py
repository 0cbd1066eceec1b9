"""ATen operations that make, reshape, cut and join tensors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore.formats.torch_export.registry import RULES, Value, rule, type_name
from mindspore.formats.torch_export.writer import AtenWriter as Writer

_END = np.iinfo(np.int64).max


@rule("view.default", "reshape", "_unsafe_view", "_reshape_copy", "view_copy.default", "_reshape_alias")
def _view(w: Writer, x: Value, sizes: list[Any], *_: Any) -> str:
    return w.op("Reshape", x, w.sizes(sizes), allowzero=1 if 0 in sizes else None)


@rule("view_as", "reshape_as")
def _view_as(w: Writer, x: Value, other: Value) -> str:
    return w.op("Reshape", x, w.shape(other))


@rule("flatten")
def _flatten(w: Writer, x: Value, first: int = 0, last: int = -1) -> str:
    if not x.rank:
        return w.op("Reshape", x, np.array([1], np.int64))
    first, last = first % x.rank, last % x.rank
    sizes = [x.size(a) for a in range(x.rank)]
    kept = [0] * first + [-1] + [sizes[a] for a in range(last + 1, x.rank)]
    if None in kept or 0 in sizes:
        shape = w.op("Shape", x)
        front, back = _part(w, shape, 0, first), _part(w, shape, last + 1, _END)
        return w.op("Reshape", x, w.op("Concat", front, np.array([-1], np.int64), back, axis=0))
    return w.op("Reshape", x, np.array(kept, np.int64))


@rule("unflatten")
def _unflatten(w: Writer, x: Value, axis: int, sizes: list[Any]) -> str:
    shape = w.op("Shape", x)
    front, back = _part(w, shape, 0, axis % x.rank), _part(w, shape, axis % x.rank + 1, _END)
    return w.op("Reshape", x, w.op("Concat", front, w.sizes(sizes), back, axis=0))


def _part(w: Writer, shape: str, start: int, end: int) -> str:
    return w.op("Slice", shape, np.array([start], np.int64), np.array([end], np.int64))


@rule("permute", "permute_copy")
def _permute(w: Writer, x: Value, order: list[int]) -> str:
    return w.op("Transpose", x, perm=[a % x.rank for a in order]) if x.rank else x.name


@rule("transpose.int", "transpose_copy", "swapaxes", "swapdims")
def _transpose(w: Writer, x: Value, first: int, second: int) -> str:
    if not x.rank:
        return x.name
    order = list(range(x.rank))
    order[first], order[second] = order[second], order[first]
    return w.op("Transpose", x, perm=order)


@rule("t", "numpy_T", "mT")
def _t(w: Writer, x: Value) -> str:
    return w.op("Transpose", x, perm=[1, 0]) if x.rank == 2 else x.name


@rule("movedim")
def _movedim(w: Writer, x: Value, source: Any, target: Any) -> str:
    sources, targets = ([v] if isinstance(v, int) else list(v) for v in (source, target))
    order: list[int | None] = [None] * x.rank
    for start, end in zip(sources, targets):
        order[end % x.rank] = start % x.rank
    rest = iter(a for a in range(x.rank) if a not in order)
    return w.op("Transpose", x, perm=[next(rest) if a is None else a for a in order])


@rule("unsqueeze", "unsqueeze_copy")
def _unsqueeze(w: Writer, x: Value, axis: int) -> str:
    return w.op("Unsqueeze", x, np.array([axis % (x.rank + 1)], np.int64))


@rule("squeeze", "squeeze_copy")
def _squeeze(w: Writer, x: Value, axes: Any = None) -> str:
    chosen = range(x.rank) if axes is None else [axes] if isinstance(axes, int) else axes
    ones = [a % x.rank for a in chosen if x.rank and x.size(a) == 1]
    return w.op("Squeeze", x, np.array(ones, np.int64)) if ones else x.name


@rule("expand", "expand_copy", "broadcast_to")
def _expand(w: Writer, x: Value, sizes: list[Any], *_: Any) -> str:
    wanted = [1 if isinstance(s, int) and s == -1 else s for s in sizes]
    return w.op("Expand", x, w.sizes(wanted)) if wanted else x.name


@rule("expand_as")
def _expand_as(w: Writer, x: Value, other: Value) -> str:
    return w.op("Expand", x, w.shape(other))


@rule("copy")
def _copy(w: Writer, x: Value, source: Value, *_: Any) -> str:
    return w.op("Expand", w.as_type(source, w.dtype), w.shape(x))


@rule("repeat")
def _repeat(w: Writer, x: Value, counts: list[Any]) -> str:
    wide = x.name if len(counts) == x.rank else w.op("Unsqueeze", x, np.arange(len(counts) - x.rank))
    return w.op("Tile", wide, w.sizes(counts))


@rule("tile")
def _tile(w: Writer, x: Value, counts: list[Any]) -> str:
    return _repeat(w, x, [1] * (x.rank - len(counts)) + list(counts))


@rule("repeat_interleave.self_int")
def _repeat_interleave(w: Writer, x: Value, count: int, axis: int | None = None, *_: Any) -> str:
    if axis is None:
        flat = w.op("Reshape", x, np.array([-1, 1], np.int64))
        return w.op("Reshape", w.op("Tile", flat, np.array([1, count])), np.array([-1]))
    at = axis % x.rank + 1
    wide = w.op("Tile", w.op("Unsqueeze", x, np.array([at])), np.array([count if a == at else 1 for a in range(x.rank + 1)]))
    shape = [0 if a < at - 1 else -1 if a == at - 1 else x.size(a) for a in range(x.rank)]
    if None in shape:
        raise ValueError("repeat_interleave with sizes behind its axis that are left open is not supported")
    return w.op("Reshape", wide, np.array(shape, np.int64))


@rule("cat", "concat", "concatenate")
def _cat(w: Writer, parts: list[Value], axis: int = 0) -> str:
    parts = [p for p in parts if not (p.rank == 1 and p.size(0) == 0)] or parts[:1]  # PyTorch joins anything with an empty tensor
    return w.op("Concat", *(w.as_type(p, w.dtype) for p in parts), axis=axis % max(parts[0].rank, 1))


@rule("stack")
def _stack(w: Writer, parts: list[Value], axis: int = 0) -> str:
    at = np.array([axis % (parts[0].rank + 1)], np.int64)
    return w.op("Concat", *(w.op("Unsqueeze", w.as_type(p, w.dtype), at) for p in parts), axis=int(at[0]))


@rule("split_with_sizes", "split.sizes", "split_with_sizes_copy")
def _split_with_sizes(w: Writer, x: Value, sizes: list[Any], axis: int = 0) -> list[str]:
    return w.ops("Split", len(sizes), x, w.sizes(sizes), axis=axis % x.rank)


@rule("split.Tensor", "split_copy", "unsafe_split")
def _split(w: Writer, x: Value, size: int, axis: int = 0) -> list[str]:
    sizes = [part.shape[axis] for part in w.fake]
    if not all(isinstance(s, int) for s in sizes):
        raise ValueError("a split along a size that is left open is not supported")
    return w.ops("Split", len(sizes), x, np.array(sizes, np.int64), axis=axis % x.rank)


@rule("chunk", "unsafe_chunk", "tensor_split.sections")
def _chunk(w: Writer, x: Value, count: int, axis: int = 0) -> list[str]:
    return _split(w, x, count, axis)


@rule("unbind")
def _unbind(w: Writer, x: Value, axis: int = 0) -> list[str]:
    parts = w.ops("Split", len(w.fake), x, axis=axis % x.rank, num_outputs=len(w.fake))
    return [w.op("Squeeze", part, np.array([axis % x.rank])) for part in parts]


@rule("slice", "slice_copy")
def _slice(w: Writer, x: Value, axis: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    if (start is None or start == 0) and (end is None or (isinstance(end, int) and end == _END)) and step == 1:
        return x
    first, last = w.sizes([0 if start is None else start]), w.sizes([_END if end is None else end])
    return w.op("Slice", x, first, last, np.array([axis % x.rank]), np.array([step]))


@rule("narrow")
def _narrow(w: Writer, x: Value, axis: int, start: Any, length: Any) -> str:
    first = w.sizes([start])
    last = w.op("Add", first, w.sizes([length]))
    return w.op("Slice", x, first, last, np.array([axis % x.rank]))


@rule("select.int", "select_copy")
def _select(w: Writer, x: Value, axis: int, index: Any) -> str:
    place = index.name if isinstance(index, Value) else np.array(index, np.int64)
    return w.op("Gather", x, place, axis=axis % x.rank)


@rule("flip")
def _flip(w: Writer, x: Value, axes: list[int]) -> str:
    many = len(axes)
    starts, ends, steps = np.full(many, -1), np.full(many, np.iinfo(np.int64).min), np.full(many, -1)
    return w.op("Slice", x, starts, ends, np.array([a % x.rank for a in axes]), steps) if many else x.name


@rule("roll")
def _roll(w: Writer, x: Value, shifts: list[int], axes: list[int]) -> str:
    flat = not axes
    name = w.op("Reshape", x, np.array([-1])) if flat else x.name
    for shift, axis in zip(shifts, axes or [0]):
        size = x.size(axis) if not flat else math.prod(x.fake.shape)
        if size is None:
            raise ValueError("roll along a size that is left open is not supported")
        if size and shift % size:
            at, along = np.array([size - shift % size]), np.array([axis])
            parts = w.op("Slice", name, at, np.array([_END]), along), w.op("Slice", name, np.array([0]), at, along)
            name = w.op("Concat", *parts, axis=axis)
    return w.op("Reshape", name, w.shape(x)) if flat else name


@rule("constant_pad_nd")
def _constant_pad(w: Writer, x: Value, pads: list[Any], value: Any = 0) -> str:
    return _padded(w, x, pads, "constant", value)


@rule("pad")
def _pad(w: Writer, x: Value, pads: list[Any], mode: str = "constant", value: Any = None) -> str:
    return _padded(w, x, pads, {"replicate": "edge", "circular": "wrap"}.get(mode, mode), value or 0)


def _padded(w: Writer, x: Value, pads: list[Any], mode: str, value: Any = 0) -> str:
    """PyTorch's pairs begin with the last dimension."""
    before, after = [0] * x.rank, [0] * x.rank
    for place in range(len(pads) // 2):
        before[-1 - place], after[-1 - place] = pads[2 * place], pads[2 * place + 1]
    fill = w.number(value, w.dtype) if mode == "constant" else None
    return w.op("Pad", x, w.sizes([*before, *after]), fill, mode=mode)


for _dims in ("1d", "2d", "3d"):
    RULES[f"reflection_pad{_dims}"] = lambda w, x, pads: _padded(w, x, pads, "reflect")
    RULES[f"replication_pad{_dims}"] = lambda w, x, pads: _padded(w, x, pads, "edge")


@rule("pixel_shuffle")
def _pixel_shuffle(w: Writer, x: Value, factor: int) -> str:
    return w.op("DepthToSpace", x, blocksize=factor, mode="CRD")


@rule("tril")
def _tril(w: Writer, x: Value, diagonal: int = 0) -> str:
    return w.op("Trilu", x, np.array(diagonal, np.int64), upper=0)


@rule("triu")
def _triu(w: Writer, x: Value, diagonal: int = 0) -> str:
    return w.op("Trilu", x, np.array(diagonal, np.int64), upper=1)


@rule("unfold")
def _unfold(w: Writer, x: Value, axis: int, size: int, step: int) -> str:
    """Windows along an axis, as a new last dimension."""
    length = x.size(axis)
    if length is None:
        raise ValueError("windows along a size that is left open are not supported")
    starts = np.arange(0, length - size + 1, step)
    places = starts[:, None] + np.arange(size)
    windows = w.op("Gather", x, places.astype(np.int64), axis=axis % x.rank)  # the window stands behind its place
    axis %= x.rank
    order = [*range(axis + 1), *range(axis + 2, x.rank + 1), axis + 1]
    return w.op("Transpose", windows, perm=order)


# -- tensors from nothing -------------------------------------------------------------------------------------------
def _filled(w: Writer, sizes: Any, value: Any, dtype: str) -> str:
    shape = w.sizes(sizes) if isinstance(sizes, list) else sizes
    if isinstance(shape, np.ndarray) and not isinstance(value, Value) and shape.prod() <= 1024:
        return w.writer.constant(np.full(tuple(shape), value).astype(w.writer.onnx.helper.tensor_dtype_to_np_dtype(_code(w, dtype))))
    return w.op("Expand", w.as_type(value, dtype), shape)


def _code(w: Writer, dtype: str) -> int:
    from mindspore.formats.torch_export.registry import numpy_type

    return int(w.writer.onnx.helper.np_dtype_to_tensor_dtype(numpy_type(dtype)))


@rule("full.default")
def _full(w: Writer, sizes: list[Any], value: Any, *_: Any) -> str:
    return _filled(w, sizes, value, w.dtype)


@rule("zeros.default", "empty.memory_format")
def _zeros(w: Writer, sizes: list[Any], *_: Any) -> str:
    return _filled(w, sizes, 0, w.dtype)


@rule("ones.default")
def _ones(w: Writer, sizes: list[Any], *_: Any) -> str:
    return _filled(w, sizes, 1, w.dtype)


@rule("full_like")
def _full_like(w: Writer, x: Value, value: Any, *_: Any) -> str:
    return _filled(w, w.shape(x), value, w.dtype)


@rule("zeros_like", "empty_like")
def _zeros_like(w: Writer, x: Value, *_: Any) -> str:
    return _filled(w, w.shape(x), 0, w.dtype)


@rule("ones_like")
def _ones_like(w: Writer, x: Value, *_: Any) -> str:
    return _filled(w, w.shape(x), 1, w.dtype)


@rule("new_full")
def _new_full(w: Writer, x: Value, sizes: list[Any], value: Any, *_: Any) -> str:
    return _filled(w, sizes, value, w.dtype)


@rule("new_zeros", "new_empty")
def _new_zeros(w: Writer, x: Value, sizes: list[Any], *_: Any) -> str:
    return _filled(w, sizes, 0, w.dtype)


@rule("new_ones")
def _new_ones(w: Writer, x: Value, sizes: list[Any], *_: Any) -> str:
    return _filled(w, sizes, 1, w.dtype)


@rule("fill")
def _fill(w: Writer, x: Value, value: Any) -> str:
    return _filled(w, w.shape(x), value, w.dtype)


@rule("scalar_tensor", "tensor")
def _scalar_tensor(w: Writer, value: Any, *_: Any) -> str:
    return w.as_type(value, w.dtype)


@rule("arange.default")
def _arange(w: Writer, end: Any, *_: Any) -> str:
    return _range(w, 0, end, 1)


@rule("arange.start")
def _arange_start(w: Writer, start: Any, end: Any, *_: Any) -> str:
    return _range(w, start, end, 1)


@rule("arange.start_step")
def _range(w: Writer, start: Any, end: Any, step: Any = 1, *_: Any) -> str:
    if not any(isinstance(v, Value) for v in (start, end, step)) and w.dtype in ("int64", "float32"):
        return w.writer.constant(np.arange(start, end, step).astype(w.dtype))
    kind = w.dtype if w.dtype in ("int32", "int64", "float32", "float64") else "float32"
    found = w.op("Range", *(w.as_type(v, kind) for v in (start, end, step)))
    return found if kind == w.dtype else w.cast(found, w.dtype)


@rule("eye")
def _eye(w: Writer, rows: int, columns: Any = None, *_: Any) -> str:
    columns = columns if isinstance(columns, int) and not isinstance(columns, bool) else rows
    return w.writer.constant(np.eye(rows, columns).astype(type_name(w.dtype)))


@rule("linspace")
def _linspace(w: Writer, start: float, end: float, steps: int, *_: Any) -> str:
    return w.writer.constant(np.linspace(start, end, steps).astype(w.dtype))
