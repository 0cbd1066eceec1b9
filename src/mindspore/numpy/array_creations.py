"""New arrays with NumPy's names, arguments and default types."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as onp

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.numpy.arguments import tensor
from mindspore.ops import functional as F
from mindspore.ops.arguments import cast, static_ints, to_float
from mindspore.prims.broadcasting import Reshape

if TYPE_CHECKING:
    import numpy as np

    from mindspore.numpy.arguments import ArrayLike, DTypeLike

__all__ = [
    "arange", "array", "asarray", "asfarray", "bartlett", "blackman", "copy", "diag", "diag_indices", "diagflat",
    "diagonal", "empty", "empty_like", "eye", "full", "full_like", "geomspace", "hamming", "hanning", "histogram",
    "histogram2d", "histogram_bin_edges", "histogramdd", "identity", "indices", "ix_", "linspace", "logspace",
    "meshgrid", "mgrid", "ogrid", "ones", "ones_like", "pad", "rand", "randint", "randn", "trace", "tri", "tril",
    "tril_indices", "tril_indices_from", "triu", "triu_indices", "triu_indices_from", "vander", "zeros",
    "zeros_like",
]  # fmt: skip


def array(obj: Any, dtype: DTypeLike = None, copy: bool = True, ndmin: int = 0) -> Tensor:
    """A tensor from anything array-like, with at least `ndmin` dimensions.

    Examples:
        >>> import mindspore.numpy as np
        >>> np.array([1, 2, 3]).dtype
        mindspore.int32
    """
    out = tensor(obj, dtype)
    if out is obj and copy:
        out = out.copy()
    return Reshape()(out, (1,) * (ndmin - out.ndim) + out.shape) if out.ndim < ndmin else out


def asarray(a: ArrayLike, dtype: DTypeLike = None) -> Tensor:
    """A tensor; tensors are passed through.

    Examples:
        >>> print(mnp.asarray([1, 2]))
        [1 2]
    """
    return tensor(a, dtype)


def asfarray(a: ArrayLike, dtype: DTypeLike = mstype.float32) -> Tensor:
    """A tensor of floats.

    Examples:
        >>> print(mnp.asfarray([1, 2]))
        [1. 2.]
    """
    kind = mstype.to_dtype(dtype) if dtype is not None else mstype.float32
    return tensor(a, kind if kind.kind == "f" else mstype.float32)


def copy(a: ArrayLike) -> Tensor:
    """A tensor with its own data.

    Examples:
        >>> print(mnp.copy(mnp.array([1, 2])))
        [1 2]
    """
    out = tensor(a)
    return out.copy() if out is a else out


def zeros(shape: Any, dtype: Any = mstype.float32) -> Tensor:
    """Zeros.

    Examples:
        >>> print(mnp.zeros((2, 2)))
        [[0. 0.]
         [0. 0.]]
    """
    return F.zeros(shape, dtype)


def ones(shape: Any, dtype: Any = mstype.float32) -> Tensor:
    """Ones.

    Examples:
        >>> print(mnp.ones((2, 2)))
        [[1. 1.]
         [1. 1.]]
    """
    return F.ones(shape, dtype)


def empty(shape: Any, dtype: Any = mstype.float32) -> Tensor:
    """A tensor of the given shape; its elements are 0.

    Examples:
        >>> mnp.empty((2, 3)).shape
        (2, 3)
    """
    return F.zeros(shape, dtype)


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    """One value, repeated and broadcast.

    Examples:
        >>> print(mnp.full((2, 2), 7))
        [[7 7]
         [7 7]]
    """
    value = tensor(fill_value, dtype)
    return F.broadcast_to(value, static_ints("full", "shape", shape))


def _like(a: ArrayLike, dtype: DTypeLike, shape: Any) -> tuple[Any, Any]:
    a = tensor(a)
    return (a.shape if shape is None else static_ints("like", "shape", shape)), dtype or a.dtype


def zeros_like(a: ArrayLike, dtype: DTypeLike = None, shape: Any = None) -> Tensor:
    """Zeros in the shape of another array.

    Examples:
        >>> print(mnp.zeros_like(mnp.array([1, 2])))
        [0 0]
    """
    return F.zeros(*_like(a, dtype, shape))


def ones_like(a: ArrayLike, dtype: DTypeLike = None, shape: Any = None) -> Tensor:
    """Ones in the shape of another array.

    Examples:
        >>> print(mnp.ones_like(mnp.array([1, 2])))
        [1 1]
    """
    return F.ones(*_like(a, dtype, shape))


def empty_like(prototype: Any, dtype: DTypeLike = None, shape: Any = None) -> Tensor:
    """A tensor in the shape of another array; its elements are 0.

    Examples:
        >>> mnp.empty_like(mnp.array([[1, 2]])).shape
        (1, 2)
    """
    return F.zeros(*_like(prototype, dtype, shape))


def full_like(a: Any, fill_value: Any, dtype: DTypeLike = None, shape: Any = None) -> Tensor:
    """One value, repeated, in the shape of another array.

    Examples:
        >>> print(mnp.full_like(mnp.array([1, 2]), 5))
        [5 5]
    """
    dims, kind = _like(a, dtype, shape)
    return full(dims, fill_value, kind)


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Tensor:
    """Evenly spaced numbers before `stop`; ints are int32.

    Examples:
        >>> print(mnp.arange(2, 10, 3))
        [2 5 8]
    """
    if stop is None:
        start, stop = 0, start
    step = 1 if step is None else step
    kind = dtype
    if dtype is None and all(isinstance(v, int) for v in (start, stop, step)):
        kind = mstype.int32
    return F.arange(start, stop, step, dtype=kind)


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike = None,
    axis: int = 0,
) -> Any:
    """`num` evenly spaced numbers from start to stop; arrays are spaced along `axis`.

    Examples:
        >>> print(mnp.linspace(0, 1, 5))
        [0.   0.25 0.5  0.75 1.  ]
    """
    low, high = to_float(tensor(start)), to_float(tensor(stop))
    parts = num - 1 if endpoint else num
    shape = F.broadcast_shapes(low.shape, high.shape)
    step = (high - low) / builtins.max(parts, 1)
    ramp = Reshape()(F.arange(num, dtype=low.dtype), (num,) + (1,) * len(shape))
    out = F.broadcast_to(low + step * ramp, (num, *shape))
    if endpoint and num > 1:
        out = F.concat((out[:-1], F.broadcast_to(high, (1, *shape))), 0)
    out = cast(F.moveaxis(out, 0, axis) if shape else out, dtype)
    return (out, step) if retstep else out


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: float = 10.0,
    dtype: DTypeLike = None,
    axis: int = 0,
) -> Tensor:
    """base to the power of evenly spaced exponents.

    Examples:
        >>> print(mnp.logspace(0, 3, 4))
        [   1.   10.  100. 1000.]
    """
    return cast(F.pow(float(base), linspace(start, stop, num, endpoint, axis=axis)), dtype)


def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: DTypeLike = None, axis: int = 0
) -> Tensor:
    """Numbers with a constant ratio.

    Examples:
        >>> print(mnp.geomspace(1, 8, 4).round(decimals=3))
        [1. 2. 4. 8.]
    """
    low, high = to_float(tensor(start)), to_float(tensor(stop))
    exponents = linspace(F.log2(F.abs(low)), F.log2(F.abs(high)), num, endpoint, axis=axis)
    sign = F.sign(low)
    if exponents.ndim > 1:  # the new axis stands among those of the bounds
        sign = F.expand_dims(F.broadcast_to(sign, F.broadcast_shapes(low.shape, high.shape)), axis)
    return cast(sign * F.exp2(exponents), dtype)


def eye(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = mstype.float32) -> Tensor:
    """Ones on a diagonal.

    Examples:
        >>> print(mnp.eye(2, 3))
        [[1. 0. 0.]
         [0. 1. 0.]]
    """
    return Tensor(onp.eye(N, M, k), dtype)


def identity(n: int, dtype: Any = mstype.float32) -> Tensor:
    """The identity matrix.

    Examples:
        >>> print(mnp.identity(2))
        [[1. 0.]
         [0. 1.]]
    """
    return F.eye(n, n, dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = mstype.float32) -> Tensor:
    """Ones on and below a diagonal.

    Examples:
        >>> print(mnp.tri(2, 3))
        [[1. 0. 0.]
         [1. 1. 0.]]
    """
    return Tensor(onp.tri(N, M, k), dtype)


def tril(m: ArrayLike, k: int = 0) -> Tensor:
    """The lower triangle.

    Examples:
        >>> print(mnp.tril(mnp.array([[1, 2], [3, 4]])))
        [[1 0]
         [3 4]]
    """
    return F.tril(tensor(m), k)


def triu(m: ArrayLike, k: int = 0) -> Tensor:
    """The upper triangle.

    Examples:
        >>> print(mnp.triu(mnp.array([[1, 2], [3, 4]])))
        [[1 2]
         [0 4]]
    """
    return F.triu(tensor(m), k)


def diag(v: ArrayLike, k: int = 0) -> Tensor:
    """A matrix with a given diagonal, or the diagonal of a matrix.

    Examples:
        >>> print(mnp.diag(mnp.array([5, 6])))
        [[5 0]
         [0 6]]
    """
    x = tensor(v)
    if x.ndim not in (1, 2):
        raise ValueError(f"For 'diag', the array must have 1 or 2 dimensions, but its shape is {x.shape}.")
    return F.diag_embed(x, k) if x.ndim == 1 else F.diagonal(x, k)


def diagflat(v: ArrayLike, k: int = 0) -> Tensor:
    """A matrix with the flattened array on a diagonal.

    Examples:
        >>> print(mnp.diagflat(mnp.array([[7], [8]])))
        [[7 0]
         [0 8]]
    """
    return F.diagflat(tensor(v), k)


def diagonal(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """A diagonal of the plane of two axes.

    Examples:
        >>> print(mnp.diagonal(mnp.array([[1, 2, 3], [4, 5, 6]]), offset=1))
        [2 6]
    """
    return F.diagonal(tensor(a), offset, axis1, axis2)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Tensor:
    """The sum of a diagonal.

    Examples:
        >>> print(mnp.trace(mnp.array([[1, 2], [3, 4]])))
        5
    """
    x = tensor(a)
    return F.sum(F.diagonal(x, offset, axis1, axis2), -1, dtype=dtype or x.dtype)


def vander(x: ArrayLike, N: int | None = None, increasing: bool = False) -> Tensor:
    """The matrix of powers of each element.

    Examples:
        >>> print(mnp.vander(mnp.array([1.0, 2.0, 3.0])))
        [[1. 1. 1.]
         [4. 2. 1.]
         [9. 3. 1.]]
    """
    out = F.vander(tensor(x), N)
    return F.flip(out, (1,)) if increasing else out


def meshgrid(*xi: Any, sparse: bool = False, indexing: str = "xy") -> list[Tensor]:
    """Coordinate grids; sparse ones keep size 1 where they do not vary.

    Examples:
        >>> [part.tolist() for part in mnp.meshgrid(mnp.array([1, 2]), mnp.array([7, 8]))]
        [[[1, 2], [1, 2]], [[7, 7], [8, 8]]]
    """
    if indexing not in ("xy", "ij"):
        raise TypeError(f"For 'meshgrid', 'indexing' must be 'xy' or 'ij', but got {indexing!r}.")
    arrays = [Reshape()(tensor(x), (-1,)) for x in xi]
    if not sparse:
        return list(F.meshgrid(*arrays, indexing=indexing))
    n = len(arrays)
    places = list(range(n))
    if indexing == "xy" and n > 1:
        places[0], places[1] = 1, 0
    return [Reshape()(a, tuple(-1 if d == p else 1 for d in range(n))) for a, p in zip(arrays, places)]


def indices(dimensions: Any, dtype: DTypeLike = mstype.int32, sparse: bool = False) -> list[Tensor]:
    """The coordinates of every place of a grid.

    Examples:
        >>> [part.tolist() for part in mnp.indices((2, 2))]
        [[[0, 0], [1, 1]], [[0, 1], [0, 1]]]
    """
    return meshgrid(*(arange(d, dtype=dtype) for d in dimensions), sparse=sparse, indexing="ij")


class _Grid:
    """Grids by slicing: `mgrid[0:2, 0:3]`; an imaginary step is a count of points."""

    def __init__(self, sparse: bool):
        self.sparse = sparse

    def __getitem__(self, keys: Any) -> Any:
        single = not isinstance(keys, tuple)
        axes = []
        for key in (keys,) if single else keys:
            start, step = key.start or 0, 1 if key.step is None else key.step
            if isinstance(step, complex):
                axes.append(linspace(start, key.stop, int(abs(step))))
            else:
                axes.append(arange(start, key.stop, step))
        if single:
            return axes[0]
        grids = meshgrid(*axes, sparse=self.sparse, indexing="ij")
        return list(grids) if self.sparse else F.stack(list(grids))


mgrid, ogrid = _Grid(False), _Grid(True)


def _pair(found: Any) -> tuple[Tensor, Tensor]:
    return tuple(Tensor(i, mstype.int32) for i in found)  # type: ignore[return-value]


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, Tensor]:
    """The coordinates of the lower triangle.

    Examples:
        >>> [part.tolist() for part in mnp.tril_indices(2)]
        [[0, 1, 1], [0, 0, 1]]
    """
    return _pair(onp.tril_indices(n, k, m))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, Tensor]:
    """The coordinates of the upper triangle.

    Examples:
        >>> [part.tolist() for part in mnp.triu_indices(2)]
        [[0, 0, 1], [0, 1, 1]]
    """
    return _pair(onp.triu_indices(n, k, m))


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Tensor, Tensor]:
    """The coordinates of the lower triangle of an array.

    Examples:
        >>> [part.tolist() for part in mnp.tril_indices_from(mnp.ones((2, 2)))]
        [[0, 1, 1], [0, 0, 1]]
    """
    return tril_indices(arr.shape[0], k, arr.shape[1])


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Tensor, Tensor]:
    """The coordinates of the upper triangle of an array.

    Examples:
        >>> [part.tolist() for part in mnp.triu_indices_from(mnp.ones((2, 2)))]
        [[0, 0, 1], [0, 1, 1]]
    """
    return triu_indices(arr.shape[0], k, arr.shape[1])


def diag_indices(n: int, ndim: int = 2) -> tuple[Tensor, ...]:
    """The coordinates of the main diagonal.

    Examples:
        >>> [part.tolist() for part in mnp.diag_indices(2)]
        [[0, 1], [0, 1]]
    """
    return (arange(n),) * ndim


def ix_(*args: Any) -> tuple[Tensor, ...]:
    """Index tensors that select the product of several index lists.

    Examples:
        >>> [part.shape for part in mnp.ix_(mnp.array([0, 1]), mnp.array([2]))]
        [(2, 1), (1, 1)]
    """
    n = len(args)
    return tuple(Reshape()(tensor(a), tuple(-1 if d == i else 1 for d in range(n))) for i, a in enumerate(args))


def bartlett(M: int) -> Tensor:
    """A triangular window.

    Examples:
        >>> print(mnp.bartlett(5))
        [0.  0.5 1.  0.5 0. ]
    """
    return Tensor(onp.bartlett(M), mstype.float32)


def blackman(M: int) -> Tensor:
    """Blackman's window.

    Examples:
        >>> print(mnp.blackman(3).round(decimals=4))
        [-0.  1. -0.]
    """
    return Tensor(onp.blackman(M), mstype.float32)


def hamming(M: int) -> Tensor:
    """Hamming's window.

    Examples:
        >>> print(mnp.hamming(3))
        [0.08 1.   0.08]
    """
    return Tensor(onp.hamming(M), mstype.float32)


def hanning(M: int) -> Tensor:
    """A raised cosine.

    Examples:
        >>> print(mnp.hanning(5))
        [0.  0.5 1.  0.5 0. ]
    """
    return Tensor(onp.hanning(M), mstype.float32)


def rand(*shape: Any, dtype: DTypeLike = mstype.float32) -> Tensor:
    """Uniform numbers in [0, 1).

    Examples:
        >>> mnp.rand(2, 3).shape
        (2, 3)
    """
    return F.rand(*shape, dtype=dtype)


def randn(*shape: Any, dtype: DTypeLike = mstype.float32) -> Tensor:
    """Standard normal numbers.

    Examples:
        >>> mnp.randn(2, 3).shape
        (2, 3)
    """
    return F.randn(*shape, dtype=dtype)


def randint(minval: int, maxval: int | None = None, shape: Any = None, dtype: DTypeLike = mstype.int32) -> Tensor:
    """Uniform integers in [minval, maxval).

    Examples:
        >>> mnp.randint(5, 8, (2, 3)).shape
        (2, 3)
    """
    low, high = (0, minval) if maxval is None else (minval, maxval)
    return F.randint(low, high, () if shape is None else shape, dtype=dtype)


def pad(
    arr: ArrayLike, pad_width: Any, mode: Any = "constant", stat_length: Any = None, constant_values: Any = 0,
    end_values: Any = 0, reflect_type: str = "even", **kwargs: Any,
) -> Tensor:  # fmt: skip
    """Surround an array; all of NumPy's modes, and functions.

    Examples:
        >>> print(mnp.pad(mnp.array([1, 2]), (1, 2), constant_values=9))
        [9 1 2 9 9]
    """
    x = tensor(arr)
    pairs = onp.broadcast_to(onp.asarray(pad_width), (x.ndim, 2)).tolist()
    if any(width < 0 for pair in pairs for width in pair):
        raise ValueError(f"For 'pad', 'pad_width' must not be negative, but got {pad_width}.")
    simple = {"reflect": "reflect", "symmetric": "symmetric", "edge": "replicate", "wrap": "circular"}
    from mindspore.ops.joining import pad_pairs

    if mode == "empty":
        return pad_pairs(x, pairs, "constant", 0)
    if mode in simple and reflect_type == "even":
        return pad_pairs(x, pairs, simple[mode])
    if mode == "constant":
        return _pad_sides(x, pairs, onp.broadcast_to(onp.asarray(constant_values), (x.ndim, 2)), _constant)
    if mode == "linear_ramp":
        return _pad_sides(x, pairs, onp.broadcast_to(onp.asarray(end_values), (x.ndim, 2)), _ramp)
    statistics = {"maximum": F.amax, "minimum": F.amin, "mean": F.mean}
    if mode in statistics or mode == "median":
        lengths = onp.broadcast_to(onp.asarray(-1 if stat_length is None else stat_length), (x.ndim, 2))
        return _pad_sides(x, pairs, lengths, lambda *a: _statistic(statistics.get(mode), *a))
    if callable(mode) and not isinstance(mode, str):
        return Tensor(onp.pad(x.asnumpy(), pairs, mode, **kwargs))
    raise ValueError(f"For 'pad', there is no mode {mode!r} with reflect_type {reflect_type!r}.")


def _pad_sides(x: Any, pairs: list, settings: np.ndarray, border: Callable) -> Any:
    """Build each border from a rule: `border(x, axis, width, setting, before)`."""
    for axis, (before, after) in enumerate(pairs):
        parts = [x]
        if before:
            parts.insert(0, border(x, axis, before, settings[axis][0], True))
        if after:
            parts.append(border(x, axis, after, settings[axis][1], False))
        x = F.concat([cast(p, x.dtype) for p in parts], axis) if len(parts) > 1 else x
    return x


def _constant(x: Any, axis: int, width: int, value: Any, before: bool) -> Any:
    return F.full(x.shape[:axis] + (width,) + x.shape[axis + 1 :], value.item(), dtype=x.dtype)


def _ramp(x: Any, axis: int, width: int, end: Any, before: bool) -> Any:
    lead = (slice(None),) * axis
    edge = to_float(x[(*lead, slice(0, 1) if before else slice(-1, None))])
    steps = onp.arange(width) if before else onp.arange(width - 1, -1, -1)
    ramp = Tensor((steps / width).reshape((-1,) + (1,) * (x.ndim - axis - 1)), edge.dtype)
    return end.item() + (edge - end.item()) * ramp


def _statistic(reduce: Any, x: Any, axis: int, width: int, length: Any, before: bool) -> Any:
    lead = (slice(None),) * axis
    n = x.shape[axis] if length < 0 else builtins.min(int(length), x.shape[axis])
    part = x[(*lead, slice(0, n) if before else slice(x.shape[axis] - n, None))]
    value = F.quantile(to_float(part), 0.5, axis, True) if reduce is None else reduce(part, axis, True)
    return F.broadcast_to(value, x.shape[:axis] + (width,) + x.shape[axis + 1 :])


# -- histograms -----------------------------------------------------------------------------------------------------
def histogram_bin_edges(a: ArrayLike, bins: Any = 10, range: Any = None, weights: ArrayLike | None = None) -> Tensor:
    """The edges of equal bins, or the given ones.

    Examples:
        >>> print(mnp.histogram_bin_edges(mnp.array([1.0, 4.0]), bins=3))
        [1. 2. 3. 4.]
    """
    if not isinstance(bins, int):
        return tensor(bins)
    x = to_float(tensor(a))
    low, high = (float(x.min()), float(x.max())) if range is None else range
    if low == high:
        low, high = low - 0.5, high + 0.5
    return linspace(Tensor(float(low), x.dtype), Tensor(float(high), x.dtype), bins + 1)


def histogram(
    a: ArrayLike, bins: Any = 10, range: Any = None, weights: ArrayLike | None = None, density: bool = False
) -> tuple:
    """(counts or weights per bin, bin edges); the last bin includes its right edge.

    Examples:
        >>> [part.tolist() for part in mnp.histogram(mnp.array([1.0, 2.0, 2.5, 4.0]), bins=3)]
        [[1.0, 2.0, 1.0], [1.0, 2.0, 3.0, 4.0]]
    """
    x = Reshape()(to_float(tensor(a)), (-1,))
    edges = histogram_bin_edges(a, bins, range)
    w = None if weights is None else Reshape()(to_float(tensor(weights)), (-1,))
    counts = _count([x], [edges], w)
    if density:
        counts = counts / (F.sum(counts) * (edges[1:] - edges[:-1]))
    return counts, edges


def _count(columns: list, edges: list, weights: Any) -> Any:
    """The weight in every cell of a grid of bins."""
    shape = tuple(e.shape[0] - 1 for e in edges)
    flat, inside = None, None
    for x, e, n in zip(columns, edges, shape):
        place = F.searchsorted(cast(e, x.dtype), x, right=True) - 1
        place = F.where(F.equal(x, e[-1]), n - 1, place)
        within = F.logical_and(F.greater_equal(place, 0), F.less(place, n))
        flat = place if flat is None else flat * n + place
        inside = within if inside is None else F.logical_and(inside, within)
    size = math.prod(shape)
    index = F.where(inside, flat, size)
    w = F.ones(index.shape, mstype.float32) if weights is None else weights
    total = F.tensor_scatter_add(F.zeros((size + 1,), w.dtype), Reshape()(index, (-1, 1)), w)[:size]
    return Reshape()(total, shape)


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, weights: ArrayLike | None = None, density: bool = False
) -> tuple:
    """The histogram of points in several dimensions: (counts, edges per dimension).

    Examples:
        >>> print(mnp.histogramdd(mnp.array([[0.0, 0.0], [1.0, 1.0]]), bins=2)[0])
        [[1. 0.]
         [0. 1.]]
    """
    if isinstance(sample, (list, tuple)):
        columns = [Reshape()(to_float(tensor(s)), (-1,)) for s in sample]
    else:
        points = to_float(tensor(sample))
        columns = [points[:, i] for i in onp.arange(points.shape[1]).tolist()]
    each = [bins] * len(columns) if isinstance(bins, int) else list(bins)
    ranges = [None] * len(columns) if range is None else list(range)
    edges = [histogram_bin_edges(c, b, r) for c, b, r in zip(columns, each, ranges)]
    counts = _count(columns, edges, None if weights is None else to_float(tensor(weights)))
    if density:
        counts = counts / F.sum(counts)
        for axis, e in enumerate(edges):
            counts = counts / Reshape()(e[1:] - e[:-1], (-1,) + (1,) * (len(edges) - axis - 1))
    return counts, edges


def histogram2d(
    x: ArrayLike,
    y: ArrayLike,
    bins: Any = 10,
    range: Any = None,
    weights: ArrayLike | None = None,
    density: bool = False,
) -> tuple:
    """The histogram of points in two dimensions: (counts, x edges, y edges).

    Examples:
        >>> print(mnp.histogram2d(mnp.array([0.0, 1.0]), mnp.array([0.0, 1.0]), bins=2)[0])
        [[1. 0.]
         [0. 1.]]
    """
    counts, edges = histogramdd([x, y], bins, range, weights, density)
    return counts, edges[0], edges[1]
