"""New tensors: constants, ranges, identity, triangles, diagonals and windows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import (
    as_tensor,
    cast,
    normal_axis,
    require_operands,
    require_rank,
    require_tensor,
    require_tensors,
    static_ints,
)
from mindspore.ops.gather_scatter import diagonal, diagonal_index
from mindspore.ops.joining import pad_pairs
from mindspore.prims import checks, values
from mindspore.prims import elementwise as ew
from mindspore.prims.arrays import Fill, SetItem, Transpose
from mindspore.prims.broadcasting import ReduceSum, Reshape
from mindspore.prims.creation import Eye, Range, Tril, Triu
from mindspore.prims.setting_types import setting_types
from mindspore.prims.valueless import Valueless

if TYPE_CHECKING:
    from mindspore._base.dtype import DType

__all__ = [
    "arange", "bartlett_window", "blackman_window", "diag", "diag_embed", "diagflat", "empty", "eye", "fill",
    "fills", "frombuffer", "full", "full_like", "hamming_window", "hann_window", "kaiser_window", "linspace", "logspace",
    "matrix_band_part", "matrix_diag", "matrix_diag_part", "matrix_set_diag", "ones", "ones_like", "range", "trace",
    "tril", "tril_indices", "triu", "triu_indices", "vander", "zeros", "zeros_like",
]  # fmt: skip


def _shape(op: str, shape: Any) -> tuple[int, ...]:
    dims = static_ints(op, "shape", shape)
    if any(d < 0 for d in dims):
        raise ValueError(f"For '{op}', the dimensions must not be negative, but got {dims}.")
    return dims


def zeros(size: Any, dtype: DType | None = None) -> Tensor:
    """Zeros of the given shape; float32 unless told otherwise.

    Examples:
        >>> from mindspore import ops
        >>> ops.zeros((2, 2)).tolist()
        [[0.0, 0.0], [0.0, 0.0]]
    """
    return Fill()(mstype.float32 if dtype is None else dtype, _shape("zeros", size), 0)


def ones(shape: Any, dtype: DType | None = None) -> Tensor:
    """Ones of the given shape; float32 unless told otherwise.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import ops
        >>> ops.ones((2, 2), ms.int32).tolist()
        [[1, 1], [1, 1]]
    """
    return Fill()(mstype.float32 if dtype is None else dtype, _shape("ones", shape), 1)


def empty(*size: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor of the given shape; its elements are 0. On the device "meta" it has none (`DeviceCtx`).

    Examples:
        >>> ops.empty(2, 3, dtype=ms.float16).shape
        (2, 3)
    """
    dims = tuple(size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size)
    if device is not None and checks.is_meta("empty", device):
        return values.from_array(Valueless(_shape("empty", dims), mstype.to_dtype(dtype or mstype.float32).np))
    return zeros(dims, dtype)


def full(size: Any, fill_value: Any, *, dtype: DType | None = None) -> Tensor:
    """One number, repeated.

    Examples:
        >>> print(ops.full((2, 2), 7))
        [[7 7]
         [7 7]]
    """
    if dtype is None:
        dtype = fill_value.dtype if isinstance(fill_value, Tensor) else values.default_dtype(fill_value)
    return Fill()(dtype, _shape("full", size), fill_value)


def fill(type: Any, shape: Any, value: Any) -> Tensor:
    """One number of a given type, repeated.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore import ops
        >>> ops.fill(ms.float32, (2,), 3).tolist()
        [3.0, 3.0]
    """
    if type is None:
        type = value.dtype if isinstance(value, Tensor) else values.default_dtype(value)
    return Fill()(type, _shape("fill", shape), value)


def fills(x: Tensor, value: Any) -> Tensor:
    """A tensor like x with every element `value`.

    Examples:
        >>> print(ops.fills(Tensor([1.0, 2.0]), 9))
        [9. 9.]
    """
    require_tensors("fills", x=x)
    return Fill()(x.dtype, x.shape, value)


def zeros_like(input: Tensor, *, dtype: Any = None) -> Tensor:
    """Zeros in the shape of the input.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.zeros_like(Tensor([1.0, 2.0])).tolist()
        [0.0, 0.0]
    """
    return cast(ew.ZerosLike()(require_tensor("zeros_like", "input", input)), dtype)


def ones_like(input: Tensor, *, dtype: Any = None) -> Tensor:
    """Ones in the shape of the input.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.ones_like(Tensor([3.0])).tolist()
        [1.0]
    """
    return cast(ew.OnesLike()(require_tensor("ones_like", "input", input)), dtype)


def full_like(input: Tensor, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """One number, repeated, in the shape of the input.

    Examples:
        >>> print(ops.full_like(Tensor([1, 2, 3]), 5))
        [5 5 5]
    """
    require_tensors("full_like", input=input)
    return Fill()(input.dtype if dtype is None else dtype, input.shape, fill_value)


def arange(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: DType | None = None) -> Tensor:
    """start, start + step, … before end; `arange(n)` counts from 0.

    Examples:
        >>> from mindspore import ops
        >>> ops.arange(1, 7, 2).tolist()
        [1, 3, 5]
    """
    if end is None:
        start, end = 0, start
    return Range(dtype=dtype)(start, end, step)


def range(start: Any, end: Any, step: Any, maxlen: int = 1000000) -> Tensor:
    """start, start + step, … before end.

    Examples:
        >>> print(ops.range(0, 10, 4))
        [0 4 8]
    """
    return Range(maxlen)(start, end, step)


def linspace(start: Any, end: Any, steps: int) -> Tensor:
    """`steps` evenly spaced numbers from start to end, both included.

    Examples:
        >>> print(ops.linspace(0, 1, 5))
        [0.   0.25 0.5  0.75 1.  ]
    """
    count = checks.integer("linspace", "steps", values.static_number(steps), 1)
    if values.is_number(start) and values.is_number(end):
        return Tensor(np.linspace(start, end, count), mstype.float32)
    first, last = as_tensor(start, mstype.float32), as_tensor(end, mstype.float32)
    dtype = first.dtype if first.dtype.kind == "f" else mstype.float32
    first, last = (Reshape()(cast(v, dtype), (*v.shape, 1)) for v in (first, last))
    i = cast(Range()(0, count, 1), dtype)
    step = (last - first) / max(count - 1, 1)
    out = ew.Select()(ew.Less()(i, count / 2), first + step * i, last - step * (count - 1 - i))
    return out if count > 1 else first + ew.zeros_like(out)


def logspace(start: Any, end: Any, steps: int, base: int = 10, *, dtype: DType = mstype.float32) -> Tensor:
    """base to the power of evenly spaced exponents.

    Examples:
        >>> print(ops.logspace(0, 3, 4))
        [   1.   10.  100. 1000.]
    """
    count = checks.integer("logspace", "steps", steps, 0)
    if count == 0:
        return Tensor(np.zeros(0), dtype)
    return cast(ew.Pow()(float(base), linspace(start, end, count)), dtype)


def eye(n: int, m: int | None = None, dtype: DType | None = None) -> Tensor:
    """Ones on the main diagonal of an n by m matrix.

    Examples:
        >>> print(ops.eye(2, 3, ms.int32))
        [[1 0 0]
         [0 1 0]]
    """
    return Eye()(n, n if m is None else m, mstype.float32 if dtype is None else dtype)


def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """The lower triangle of the last two dimensions, zeros elsewhere.

    Examples:
        >>> print(ops.tril(Tensor([[1, 2], [3, 4]])))
        [[1 0]
         [3 4]]
    """
    return Tril(diagonal)(input)


def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """The upper triangle of the last two dimensions, zeros elsewhere.

    Examples:
        >>> print(ops.triu(Tensor([[1, 2], [3, 4]])))
        [[1 2]
         [0 4]]
    """
    return Triu(diagonal)(input)


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: DType = mstype.int64) -> Tensor:
    """The coordinates of the lower triangle: rows first, then columns.

    Examples:
        >>> print(ops.tril_indices(2, 2))
        [[0 1 1]
         [0 0 1]]
    """
    checks.integer("tril_indices", "offset", offset)
    checks.integer("tril_indices", "col", col)
    checks.integer("tril_indices", "row", row)
    return Tensor(np.stack(np.tril_indices(row, offset, col)), dtype)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: DType = mstype.int64) -> Tensor:
    """The coordinates of the upper triangle: rows first, then columns.

    Examples:
        >>> print(ops.triu_indices(2, 2))
        [[0 0 1]
         [0 1 1]]
    """
    checks.integer("triu_indices", "offset", offset)
    checks.integer("triu_indices", "col", col)
    checks.integer("triu_indices", "row", row)
    return Tensor(np.stack(np.triu_indices(row, offset, col)), dtype)


def vander(x: Tensor, N: int | None = None) -> Tensor:
    """The matrix of falling powers of each element.

    Examples:
        >>> print(ops.vander(Tensor([1.0, 2.0, 3.0]), 3))
        [[1. 1. 1.]
         [4. 2. 1.]
         [9. 3. 1.]]
    """
    require_tensors("vander", x=x)
    count = x.shape[-1] if N is None else checks.integer("vander", "N", N, 0)
    x = cast(x, mstype.int64) if x.dtype.kind in "bui" else x
    powers = Range(dtype=x.dtype)(count - 1, -1, -1)
    return ew.Pow()(Reshape()(x, (*x.shape, 1)), powers)


# -- diagonals ------------------------------------------------------------------------------------------------------
def diag(input: Tensor) -> Tensor:
    """A tensor with the input on its diagonal: rank k becomes rank 2k.

    Examples:
        >>> print(ops.diag(Tensor([1, 2])))
        [[1 0]
         [0 2]]
    """
    require_tensor("diag", "input", input)
    n = input.size
    matrix = Eye()(n, n, mstype.bool_)
    flat = ew.Select()(matrix, Reshape()(input, (n, 1)), Fill()(input.dtype, (), 0))
    return Reshape()(flat, input.shape * 2)


def diagflat(input: Any, offset: int = 0) -> Tensor:
    """A matrix with the flattened input on a diagonal.

    Examples:
        >>> print(ops.diagflat(Tensor([[7], [8]])))
        [[7 0]
         [0 8]]
    """
    require_operands("diagflat", input=input)
    return diag_embed(Reshape()(as_tensor(input), (-1,)), offset)


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices, in dimensions dim1 and dim2, with the last dimension of the input on a diagonal.

    Examples:
        >>> print(ops.diag_embed(Tensor([5, 6]), offset=1))
        [[0 5 0]
         [0 0 6]
         [0 0 0]]
    """
    checks.integer("diag_embed", "offset", offset)
    require_rank("diag_embed", "input", input, 1)
    require_tensor("diag_embed", "input", input)
    n = input.shape[-1] + abs(offset)
    rank = input.ndim + 1
    a, b = normal_axis("diag_embed", dim1, rank, "dim1"), normal_axis("diag_embed", dim2, rank, "dim2")
    zero = Fill()(input.dtype, (*input.shape[:-1], n, n), 0)
    spec, index, _ = diagonal_index("diag_embed", (n, n), offset, 0, 1)
    out = SetItem(spec)(zero, input, *index)
    order = [d for d in np.arange(rank).tolist() if d not in (a, b)]
    where = {old: new for new, old in enumerate([*order, a, b])}
    return Transpose()(out, tuple(where[d] for d in np.arange(rank).tolist()))


def trace(input: Tensor) -> Tensor:
    """The sum of the main diagonal of a matrix.

    Examples:
        >>> print(ops.trace(Tensor([[1.0, 2.0], [3.0, 4.0]])))
        5.0
    """
    return ReduceSum()(diagonal(input), ())


def matrix_diag(
    x: Tensor, k: Any = 0, num_rows: int = -1, num_cols: int = -1, padding_value: Any = 0, align: str = "RIGHT_LEFT"
) -> Tensor:
    """Matrices with the given diagonals (see `matrix_diag_part` for k and align) and `padding_value` elsewhere.

    Examples:
        >>> print(ops.matrix_diag(Tensor([1, 2]), 0))
        [[1 0]
         [0 2]]
    """
    require_rank("matrix_diag", "x", x, 1)
    require_tensors("matrix_diag", x=x)
    low, high = _band(k)
    rows, cols = values.static_number(num_rows), values.static_number(num_cols)
    longest = x.shape[-1]
    lead = x.shape[:-1] if low == high else x.shape[:-2]
    least = longest - min(high, 0), longest + max(low, 0)  # rows and columns that hold the diagonals
    if rows == cols == -1:
        rows = cols = max(least)
    rows, cols = least[0] if rows == -1 else rows, least[1] if cols == -1 else cols
    x = Reshape()(x, (*lead, high - low + 1, longest))
    base = Fill()(x.dtype, (*lead, rows, cols), values.static_value(padding_value))
    return _write_diagonals(base, x, low, high, align)


def matrix_set_diag(x: Tensor, diagonal: Tensor, k: Any = 0, align: str = "RIGHT_LEFT") -> Tensor:
    """A copy with diagonals replaced (see `matrix_diag_part` for k and align).

    Examples:
        >>> print(ops.matrix_set_diag(ops.zeros((2, 2)), Tensor([5.0, 6.0])))
        [[5. 0.]
         [0. 6.]]
    """
    require_rank("matrix_set_diag", "diagonal", diagonal, 1)
    require_rank("matrix_set_diag", "x", x, 2)
    require_tensors("matrix_set_diag", x=x, diagonal=diagonal)
    low, high = _band(k)
    longest = diagonal.shape[-1]
    return _write_diagonals(x, Reshape()(diagonal, (*x.shape[:-2], high - low + 1, longest)), low, high, align)


def matrix_diag_part(x: Tensor, k: Tensor, padding_value: Any, align: str = "RIGHT_LEFT") -> Tensor:
    """The diagonals k (a number, or lowest and highest), one row each from the highest down; short ones are padded.

    `align` says on which side superdiagonals and subdiagonals stand: 'RIGHT_LEFT', 'LEFT_RIGHT', 'LEFT_LEFT' or
    'RIGHT_RIGHT'.

    Examples:
        >>> print(ops.matrix_diag_part(Tensor([[1, 2], [3, 4]]), 1, Tensor(0)))
        [2]
    """
    require_rank("matrix_diag_part", "x", x, 2)
    require_tensors("matrix_diag_part", x=x)
    low, high = _band(k)
    longest = max(_diagonal_length(x.shape[-2:], d) for d in _numbers(low, high))
    parts = []
    for d in reversed(_numbers(low, high)):
        part = diagonal(x, d, -2, -1)
        before, after = _gap(longest - part.shape[-1], d, align)
        parts.append(pad_pairs(part, ((0, 0),) * (part.ndim - 1) + ((before, after),), "constant", padding_value))
    if low == high:
        return parts[0]
    from mindspore.prims.arrays import Stack

    return Stack(-2)(parts)


def _numbers(low: int, high: int) -> list[int]:
    return np.arange(low, high + 1).tolist()


def _band(k: Tensor | float) -> tuple[int, int]:
    bounds = static_ints("matrix_diag", "k", k)
    low, high = (bounds[0], bounds[0]) if len(bounds) == 1 else bounds
    if low > high:
        raise ValueError(f"For 'matrix_diag', the lowest diagonal must not be above the highest, but got {bounds}.")
    return low, high


def _diagonal_length(shape: tuple, offset: int) -> int:
    rows, cols = shape
    return max(0, min(rows, cols - offset) if offset >= 0 else min(rows + offset, cols))


def _gap(missing: int, offset: int, align: str) -> tuple[int, int]:
    """How much padding a short diagonal gets before and after."""
    checks.one_of("matrix_diag", "align", align, ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"))
    above, below = align.split("_")
    side = above if offset >= 0 else below
    return (missing, 0) if side == "RIGHT" else (0, missing)


def _write_diagonals(base: Tensor, rows: Tensor, low: int, high: int, align: str) -> Tensor:
    for place, d in enumerate(reversed(_numbers(low, high))):
        length = _diagonal_length(base.shape[-2:], d)
        before, _ = _gap(rows.shape[-1] - length, d, align)
        spec, index, _ = diagonal_index("matrix_diag", base.shape[-2:], d, 0, 1)
        base = SetItem(spec)(base, rows[..., place, before : before + length], *index)
    return base


def matrix_band_part(x: Tensor, lower: Any, upper: Any) -> Tensor:
    """Keep `lower` subdiagonals and `upper` superdiagonals (all when negative) and the main one; zeros elsewhere.

    Examples:
        >>> print(ops.matrix_band_part(ops.ones((3, 3)), 1, 0))
        [[1. 0. 0.]
         [1. 1. 0.]
         [0. 1. 1.]]
    """
    lower, upper = values.static_value(lower), values.static_value(upper)
    out = x if lower < 0 else Triu(-lower)(x)
    return out if upper < 0 else Tril(upper)(out)


# -- windows --------------------------------------------------------------------------------------------------------
def _window(op: str, length: Any, periodic: bool, dtype: DType | None, shape: Callable) -> Tensor:
    """A window sampled at n points; a periodic one leaves out the last of n + 1."""
    n = checks.integer(op, "window_length", values.static_number(length), 0)
    checks.boolean(op, "periodic", periodic)
    if n <= 1:
        return Tensor(np.ones(n), mstype.float32 if dtype is None else dtype)
    points = n + 1 if periodic else n
    return Tensor(shape(points)[:n], mstype.float32 if dtype is None else dtype)


def bartlett_window(window_length: Any, periodic: bool = True, *, dtype: Any = None) -> Tensor:
    """A triangle.

    Examples:
        >>> print(ops.bartlett_window(5, periodic=False))
        [0.  0.5 1.  0.5 0. ]
    """
    return _window("bartlett_window", window_length, periodic, dtype, np.bartlett)


def blackman_window(window_length: Any, periodic: bool = True, *, dtype: Any = None) -> Tensor:
    """Blackman's window of three cosines.

    Examples:
        >>> print(ops.blackman_window(5, periodic=False).round(decimals=2))
        [-0.    0.34  1.    0.34 -0.  ]
    """
    return _window("blackman_window", window_length, periodic, dtype, np.blackman)


def hann_window(window_length: int, periodic: bool = True, *, dtype: Any = None) -> Tensor:
    """A raised cosine.

    Examples:
        >>> print(ops.hann_window(5, periodic=False).round(decimals=4))
        [0.  0.5 1.  0.5 0. ]
    """
    return _window("hann_window", window_length, periodic, dtype, np.hanning)


@setting_types(alpha=float, beta=float)
def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *, dtype: Any = None
) -> Tensor:
    """alpha - beta * cos, one period.

    Examples:
        >>> print(ops.hamming_window(5, periodic=False))
        [0.08 0.54 1.   0.54 0.08]
    """

    def shape(n: int) -> np.ndarray:
        return alpha - beta * np.cos(2 * math.pi * np.arange(n) / (n - 1))

    return _window("hamming_window", window_length, periodic, dtype, shape)


def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: Any = None) -> Tensor:
    """Kaiser's window with shape parameter beta.

    Examples:
        >>> print(ops.kaiser_window(5, periodic=False).round(decimals=4))
        [1.000e-04 2.157e-01 1.000e+00 2.157e-01 1.000e-04]
    """
    return _window("kaiser_window", window_length, periodic, dtype, lambda n: np.kaiser(n, beta))


def frombuffer(buffer: Any, dtype: Any, count: int = -1, offset: int = 0) -> Tensor:
    """The elements in a buffer as a tensor of one dimension, which shares its memory.

    Args:
        buffer: bytes, a bytearray, an array, or whatever else shows its memory.
        dtype: the type of the elements.
        count: how many elements; -1: all there are.
        offset: where they begin, in bytes.

    Examples:
        >>> import mindspore as ms
        >>> ms.frombuffer(bytearray([1, 2, 3, 4]), ms.uint8, 2, 1).tolist()
        [2, 3]
    """
    kind = mstype.to_dtype(dtype)
    size = memoryview(buffer).nbytes
    width = kind.np.itemsize
    if count == 0 or count < -1 or not 0 <= offset < size:
        raise RuntimeError(
            f"For 'frombuffer', 'count' must be -1 or positive and 'offset' from 0 to {size - 1}, but got {count} and {offset}."
        )
    if (size - offset) % width if count == -1 else count * width > size - offset:
        raise RuntimeError(
            f"For 'frombuffer', {size - offset} bytes hold no {'whole number of' if count == -1 else count} {kind} elements."
        )
    return values.from_array(np.frombuffer(buffer, kind.np, count, offset))
