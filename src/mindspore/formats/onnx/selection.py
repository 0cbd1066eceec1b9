"""ONNX operators that pick, place, count and order elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.formats.onnx import types
from mindspore.formats.onnx.registry import P, as_tensor, ints, operator, static, tensor

if TYPE_CHECKING:
    from mindspore.prims.values import TensorBase

_CAST = P.Cast()


# -- gathering and scattering -----------------------------------------------------------------------------------------
def _wrapped(indices: Any, sizes: tuple[int, ...]) -> Any:
    """Negative indices counted from the end; the last dimension of `indices` has one per size."""
    limit = tensor(np.array(sizes, np.int64))
    whole = _CAST(indices, mstype.int64)
    return P.Select()(whole < 0, whole + limit, whole)


@operator("GatherND")
def _gather_nd(x: TensorBase, indices: TensorBase, batch_dims: int = 0) -> Any:
    sizes = tuple(x.shape[batch_dims : batch_dims + indices.shape[-1]])
    places = _wrapped(indices, sizes)
    if batch_dims:
        shape = tuple(indices.shape[:-1])
        own = np.stack(np.meshgrid(*(np.arange(d) for d in shape[:batch_dims]), indexing="ij"), -1)
        spread = own.reshape(*shape[:batch_dims], *(1,) * (len(shape) - batch_dims), batch_dims)
        full = np.ascontiguousarray(np.broadcast_to(spread, (*shape, batch_dims)))
        places = P.Concat(-1)([tensor(full), places])
    return P.GatherNd()(x, places)


@operator("ScatterND")
def _scatter_nd(x: TensorBase, indices: TensorBase, updates: Any, reduction: str = "none") -> Any:
    name = {"none": "Update", "add": "Add", "mul": "Mul", "max": "Max", "min": "Min"}[reduction]
    places = _wrapped(indices, tuple(x.shape[: indices.shape[-1]]))
    return getattr(P, f"TensorScatter{name}")()(x, places, updates)


@operator("ScatterElements", "Scatter")
def _scatter_elements(x: TensorBase, indices: TensorBase, updates: Any, axis: int = 0, reduction: str = "none") -> Any:
    """As ScatterND: the place of every update is that of its index, with the chosen axis replaced."""
    axis = axis % x.ndim
    grids = np.meshgrid(*(np.arange(d) for d in indices.shape), indexing="ij")
    whole = _CAST(indices, mstype.int64)
    own = P.Select()(whole < 0, whole + x.shape[axis], whole)
    parts = [own if i == axis else tensor(np.ascontiguousarray(g)) for i, g in enumerate(grids)]
    return _scatter_nd(x, P.Stack(-1)(parts), updates, reduction)


@operator("TensorScatter", arrays=True)
def _tensor_scatter(past: Any, update: Any, places: Any = None, axis: int = -2, mode: str = "linear") -> Any:
    """Write `update` into a cache along `axis`, at a place of its own for each batch entry."""
    past, update = as_tensor(past), as_tensor(update)
    axis = axis % past.ndim
    starts = [0] * past.shape[0] if places is None else list(ints(places, "places"))
    rows = []
    for batch, start in enumerate(starts):
        at = [(start + i) % past.shape[axis] if mode == "circular" else start + i for i in range(update.shape[axis])]
        source = np.full(past.shape[axis], -1)
        source[at] = np.arange(len(at))
        joined = P.Concat(axis - 1)([past[batch], update[batch]])
        chosen = np.where(source < 0, np.arange(past.shape[axis]), past.shape[axis] + source)
        rows.append(P.Gather()(joined, tensor(chosen), axis - 1))
    return P.Stack(0)(rows)


@operator("Compress", arrays=True)
def _compress(x: Any, condition: Any, axis: int | None = None) -> Any:
    x = as_tensor(x)
    flat = x.reshape(-1) if axis is None else x
    chosen = np.flatnonzero(static(condition, "a condition"))
    return P.Gather()(flat, tensor(chosen), 0 if axis is None else axis)


@operator("NonZero", arrays=True)
def _non_zero(x: Any) -> np.ndarray:
    return np.array(np.nonzero(static(x, "a mask")), np.int64)


@operator("Unique", arrays=True)
def _unique(x: Any, axis: int | None = None, sorted: int = 1) -> tuple:
    values, first, inverse, counts = np.unique(
        static(x, "values"), return_index=True, return_inverse=True, return_counts=True, axis=axis
    )
    inverse = np.asarray(inverse).reshape(-1)
    if not sorted:
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        values = np.take(values, order, 0 if axis is None else axis)
        first, inverse, counts = first[order], rank[inverse], counts[order]
    return values, first.astype(np.int64), inverse.astype(np.int64), counts.astype(np.int64)


@operator("ReverseSequence", arrays=True)
def _reverse_sequence(x: Any, lengths: Any, batch_axis: int = 1, time_axis: int = 0) -> Any:
    x = as_tensor(x)
    steps, batch = x.shape[time_axis], x.shape[batch_axis]
    place = np.tile(np.arange(steps), (batch, 1))
    for row, length in enumerate(ints(lengths, "lengths")):
        place[row, :length] = place[row, :length][::-1]
    shape = [1] * x.ndim
    shape[batch_axis], shape[time_axis] = batch, steps
    index = (place if batch_axis < time_axis else place.T).reshape(shape)
    return P.GatherD()(x, time_axis, tensor(np.ascontiguousarray(np.broadcast_to(index, x.shape))))


@operator("EyeLike")
def _eye_like(x: TensorBase, dtype: int | None = None, k: int = 0) -> np.ndarray:
    kind = types.numpy_type(dtype) if dtype is not None else x.dtype.np
    return np.eye(x.shape[0], x.shape[1], k, kind)


# -- bits -------------------------------------------------------------------------------------------------------------
@operator("BitShift")
def _bit_shift(x: Any, y: Any, direction: str = "LEFT") -> Any:
    return (P.LeftShift if direction == "LEFT" else P.RightShift)()(x, y)


@operator("BitCast", arrays=True)
def _bit_cast(x: Any, to: int = 1) -> Any:
    array = static(x, "a value to reinterpret")
    return np.ascontiguousarray(array).view(types.numpy_type(to)).reshape(array.shape)


# -- order and counting -----------------------------------------------------------------------------------------------
@operator("CumProd", arrays=True)
def _cum_prod(x: Any, axis: Any, exclusive: int = 0, reverse: int = 0) -> Any:
    return P.CumProd(bool(exclusive), bool(reverse))(as_tensor(x), ints(axis, "an axis")[0])


@operator("Det")
def _det(x: Any) -> Any:
    return P.MatrixDeterminant()(x)


@operator("TfIdfVectorizer", arrays=True)
def _tf_idf(
    x: Any, max_gram_length: int = 1, max_skip_count: int = 0, min_gram_length: int = 1, mode: str = "TF",
    ngram_counts: Any = (), ngram_indexes: Any = (), pool_int64s: Any = None, pool_strings: Any = None,
    weights: Any = None,
) -> np.ndarray:  # fmt: skip
    """Counts of the n-grams of a pool, with gaps of equal length allowed inside them."""
    if pool_int64s is None:
        raise ValueError("ONNX TfIdfVectorizer on strings is not supported.")
    rows = np.atleast_2d(static(x, "a sequence"))
    out = np.zeros((len(rows), max(ngram_indexes) + 1), np.float32)
    for number, gram in _grams(list(pool_int64s), list(ngram_counts), min_gram_length, max_gram_length):
        for row, values in enumerate(rows.tolist()):
            skips = range(1, max_skip_count + 2) if len(gram) > 1 else (1,)
            out[row, ngram_indexes[number]] += sum(_occurrences(values, gram, step) for step in skips)
    scale = np.ones(out.shape[1], np.float32)
    if weights is not None:
        scale[list(ngram_indexes)] = weights
    out = out if mode == "TF" else (out > 0) * scale if mode == "IDF" else out * scale
    return (out if static(x, "a sequence").ndim > 1 else out[0]).astype(np.float32)


def _grams(pool: list[int], starts: list[int], shortest: int, longest: int) -> Any:
    number = 0
    for length, (start, end) in enumerate(zip(starts, [*starts[1:], len(pool)]), 1):
        for at in range(start, end, length):
            if shortest <= length <= longest:
                yield number, pool[at : at + length]
            number += 1


def _occurrences(values: list[int], gram: list[int], step: int) -> int:
    span = (len(gram) - 1) * step
    return sum(values[at : at + span + 1 : step] == gram for at in range(len(values) - span))


@operator("LpNormalization")
def _lp_norm(x: Any, axis: int = -1, p: int = 2) -> Any:
    size = P.Sqrt()(P.ReduceSum(True)(x * x, axis)) if p == 2 else P.ReduceSum(True)(P.Abs()(x), axis)
    zero = P.Equal()(size, 0)
    return x / P.Select()(zero, P.OnesLike()(size), size)


@operator("RandomUniformLike", "RandomNormalLike")
def _random_like(
    x: TensorBase,
    dtype: int | None = None,
    seed: float | None = None,
    common_seed: int | None = None,
    **parameters: float,
) -> np.ndarray:
    kind = types.numpy_type(dtype) if dtype is not None else x.dtype.np
    return _random(tuple(x.shape), kind, common_seed if seed is None else seed, parameters)


@operator("RandomUniform", "RandomNormal", arrays=True)
def _random_shape(
    dtype: int = 1, seed: float | None = None, shape: Any = (), common_seed: int | None = None, **parameters: float
) -> np.ndarray:
    return _random(tuple(shape), types.numpy_type(dtype), common_seed if seed is None else seed, parameters)


def _random(shape: tuple, kind: Any, seed: float | None, parameters: dict[str, float]) -> np.ndarray:
    rng = np.random.default_rng(None if seed is None else abs(int(seed)))
    if "mean" in parameters or "scale" in parameters:
        return rng.normal(parameters.get("mean", 0.0), parameters.get("scale", 1.0), shape).astype(kind)
    return rng.uniform(parameters.get("low", 0.0), parameters.get("high", 1.0), shape).astype(kind)


@operator("SpaceToDepth")
def _space_to_depth(x: TensorBase, blocksize: int = 1, mode: str = "DCR") -> Any:
    n, c, h, w = x.shape
    b = blocksize
    split = x.reshape(n, c, h // b, b, w // b, b)
    order = (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
    return P.Transpose()(split, order).reshape(n, c * b * b, h // b, w // b)


@operator("DepthToSpace")
def _depth_to_space(x: TensorBase, blocksize: int = 1, mode: str = "DCR") -> Any:
    n, c, h, w = x.shape
    b = blocksize
    shape, order = ((n, b, b, c // (b * b), h, w), (0, 3, 4, 1, 5, 2)) if mode == "DCR" else (
        (n, c // (b * b), b, b, h, w), (0, 1, 4, 2, 5, 3)
    )  # fmt: skip
    return P.Transpose()(x.reshape(shape), order).reshape(n, c // (b * b), h * b, w * b)
