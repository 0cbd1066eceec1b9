"""Classes of operations on sets, counts and ragged rows, whose results' sizes depend on values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore.common.random import host_generator
from mindspore.ops import functional as F
from mindspore.ops.arguments import concrete, static_ints
from mindspore.ops.composition import REQUIRED, composition
from mindspore.prims.arrays import Stack
from mindspore.prims.reduction import ReduceMax, ReduceMean
from mindspore.prims.values import from_array

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor
    from mindspore.prims.primitive import Primitive

# -- sets ---------------------------------------------------------------------------------------------------------------
_OPERATIONS = {
    "a-b": lambda a, b: a - b, "b-a": lambda a, b: b - a, "intersection": lambda a, b: a & b, "union": lambda a, b: a | b,
}  # fmt: skip


def _as_sparse(rows: list[set], shape: tuple, dtype: Any) -> tuple:
    """Sets, one per row of `shape`, as (indices, values, shape) with their elements in order."""
    places, values = [], []
    for place, members in zip(np.ndindex(*shape), rows):
        for i, value in enumerate(sorted(members)):
            places.append((*place, i))
            values.append(value)
    longest = max((len(r) for r in rows), default=0)
    indices = np.asarray(places, np.int64).reshape(-1, len(shape) + 1)
    size = np.asarray((*shape, longest), np.int64)
    return from_array(indices), from_array(np.asarray(values, dtype.np)), from_array(size)


def _joined(op: str, operation: str, rows: Any, others: Any, like: Tensor) -> tuple:
    """The operation on sets, one per row of the tensor `like`."""
    join = _OPERATIONS.get(operation.lower())
    if join is None:
        raise ValueError(f"For '{op}', 'set_operation' must be one of {tuple(_OPERATIONS)}, but got {operation!r}.")
    return _as_sparse([join(a, b) for a, b in zip(rows, others)], like.shape[:-1], like.dtype)


def _rows(array: Any) -> list[set]:
    return [set(row.tolist()) for row in array.reshape(-1, array.shape[-1])]


def _dense_sets(self: Any, x1: Tensor, x2: Any) -> tuple:
    op = "DenseToDenseSetOperation"
    return _joined(op, self.set_operation, _rows(concrete(op, x1)), _rows(concrete(op, x2)), x1)


def _sparse_sets(self: Any, x1: Tensor, x2_indices: Tensor, x2_values: Tensor, x2_shape: Tensor) -> tuple:
    op = "DenseToSparseSetOperation"
    shape = static_ints(op, "x2_shape", x2_shape)
    if shape[:-1] != tuple(x1.shape[:-1]):
        raise ValueError(
            f"For '{op}', 'x1' and 'x2' must have the same shape but for the last dimension, "
            f"but got {tuple(x1.shape)} and {shape}."
        )
    others: dict[tuple, set] = {place: set() for place in np.ndindex(*shape[:-1])}
    for place, value in zip(concrete(op, x2_indices).tolist(), concrete(op, x2_values).tolist()):
        if tuple(place[:-1]) not in others:
            raise ValueError(f"For '{op}', 'x2_indices' must lie within {shape}, but got {tuple(place)}.")
        others[tuple(place[:-1])].add(value)
    return _joined(op, self.set_operation, _rows(concrete(op, x1)), others.values(), x1)


DenseToDenseSetOperation = composition(
    "DenseToDenseSetOperation", _dense_sets, """Set operations of rows.

    Examples:
        >>> where, value, shape = ops.DenseToDenseSetOperation("a-b")(Tensor([[1, 2, 3]]), Tensor([[2, 9, 9]]))
        >>> print(value)
        [1 3]
    """, set_operation="a-b", validate_indices=True,
)  # fmt: skip
DenseToSparseSetOperation = composition(
    "DenseToSparseSetOperation", _sparse_sets, """Set operations of rows with those of a sparse tensor.

    Examples:
        >>> union = ops.operations.sparse_ops.DenseToSparseSetOperation("union")
        >>> where, value, shape = union(Tensor([[1, 2], [3, 4]]), Tensor([[0, 0]]), Tensor([9]), Tensor([2, 1]))
        >>> print(value, shape)
        [1 2 9 3 4] [2 3]
    """, set_operation="", validate_indices=True,
)  # fmt: skip


def _set_size(self: Any, set_indices: Any, set_values: Any, set_shape: Any) -> Any:
    shape = static_ints("SetSize", "set_shape", set_shape)[:-1]
    rows: dict[tuple, set] = {}
    for place, value in zip(concrete("SetSize", set_indices).tolist(), concrete("SetSize", set_values).tolist()):
        rows.setdefault(tuple(place[:-1]), set()).add(value)
    sizes = np.zeros(shape, np.int32)
    for place, members in rows.items():
        sizes[place] = len(members)
    return from_array(sizes)


SetSize = composition("SetSize", _set_size, """The number of different values of each row.

    Examples:
        >>> where, value, shape = Tensor([[0, 0], [0, 1], [1, 0]]), Tensor([5, 5, 6]), Tensor([2, 2])
        >>> print(ops.SetSize()(where, value, shape))
        [1 1]
    """, validate_indices=True)


def _count(self: Any, indices: Any, values: Any, dense_shape: Any, weights: Any) -> tuple:
    op = "SparseCountSparseOutput"
    places, found, weight = (concrete(op, v) for v in (indices, values, weights))
    shape = static_ints(op, "dense_shape", dense_shape)
    totals: dict[tuple, Any] = {}
    for i, value in enumerate(found.tolist()):
        if self.maxlength >= 0 and value >= self.maxlength:
            continue
        key = (*(places[i, :1].tolist() if len(shape) > 1 else ()), value)
        totals[key] = 1 if self.binary_output else totals.get(key, 0) + (weight[i] if weight.size else 1)
    keys = sorted(totals)
    width = self.maxlength if self.maxlength >= 0 else max([k[-1] + 1 for k in keys], default=0)
    size = (*shape[:-1], max(width, self.minlength))
    out = np.asarray([totals[k] for k in keys], weight.dtype)
    return from_array(np.asarray(keys, np.int64)), from_array(out), from_array(np.asarray(size, np.int64))


SparseCountSparseOutput = composition(
    "SparseCountSparseOutput", _count, """How often each value occurs in each row.

    Examples:
        >>> where, value, shape = Tensor([[0, 0], [0, 1]]), Tensor([3, 3]), Tensor([1, 2])
        >>> rows, number, _ = ops.SparseCountSparseOutput()(where, value, shape, Tensor([1, 1]))
        >>> print(rows, number)
        [[0 3]] [2]
    """, binary_output=False, minlength=-1,
    maxlength=-1,
)  # fmt: skip


def _ragged_to_sparse(self: Any, rt_nested_splits: Any, rt_dense_values: Any) -> tuple:
    """Rows within rows, given by where each starts, as (indices, values, shape)."""
    levels = [concrete("RaggedTensorToSparse", s) for s in rt_nested_splits]
    places = np.arange(len(levels[0]) - 1)[:, None]
    for splits in levels:
        lengths = np.diff(splits)
        inner = np.concatenate([np.arange(n) for n in lengths]) if len(lengths) else np.zeros(0, np.int64)
        places = np.concatenate([np.repeat(places, lengths, 0), inner[:, None]], 1)
    size = [len(levels[0]) - 1, *(int(np.diff(s).max(initial=0)) for s in levels)]
    return from_array(places.astype(np.int64)), rt_dense_values, from_array(np.asarray(size, np.int64))


RaggedTensorToSparse = composition(
    "RaggedTensorToSparse", _ragged_to_sparse, """Ragged rows as a sparse tensor.

    Examples:
        >>> splits = [Tensor([0, 2, 3], ms.int64)]
        >>> where, value, shape = ops.RaggedTensorToSparse(ms.int64)(splits, Tensor([7, 8, 9]))
        >>> print(where.tolist(), shape)
        [[0, 0], [0, 1], [1, 0]] [2 2]
    """, Tsplits=REQUIRED
)

# -- matrices -----------------------------------------------------------------------------------------------------------
SelfAdjointEig = composition(
    "SelfAdjointEig", lambda self, x: F.eigh(x) if self.compute_v else (F.eigvalsh(x), F.zeros((0,), x.dtype)),
    """Eigenvalues and eigenvectors of symmetric matrices.

    Examples:
        >>> value, vector = ops.SelfAdjointEig()(Tensor([[2.0, 1.0], [1.0, 2.0]]))
        >>> print(value)
        [1. 3.]
    """, compute_v=True,
)  # fmt: skip


def _tridiagonal(self: Any, diagonals: Any, rhs: Any) -> Any:
    """Solve with the matrix whose upper, main and lower diagonals are the rows of `diagonals`."""
    upper, main, lower = (diagonals[..., i, :] for i in range(3))
    n = main.shape[-1]
    matrix = F.diag_embed(main, 0, -2, -1)
    if n > 1:
        matrix = matrix + F.diag_embed(upper[..., : n - 1], 1, -2, -1) + F.diag_embed(lower[..., 1:], -1, -2, -1)
    return F.matrix_solve(matrix, rhs)


TridiagonalSolve = composition(
    "TridiagonalSolve", _tridiagonal, """Solutions of tridiagonal systems.

    Examples:
        >>> diagonals = Tensor([[1.0, 0.0], [2.0, 2.0], [0.0, 1.0]])
        >>> print(ops.TridiagonalSolve()(diagonals, Tensor([[3.0], [3.0]])))
        [[1.]
         [1.]]
    """, partial_pivoting=True
)


# -- windows of random places ---------------------------------------------------------------------------------------------
def _borders(size: int, count: int, pseudo: bool, generator: Any) -> np.ndarray:
    """Where windows begin, and the end: steps of size // count and one more, mixed."""
    if pseudo:
        step, offset = size / count, generator.uniform()
        inner = [int(np.ceil(step * (i + offset))) for i in range(count)]
        return np.clip(np.asarray([0, *inner[1:], size]), 0, size)
    short = size // count
    steps = np.full(count, short)
    steps[: size - short * count] += 1
    return np.concatenate([[0], np.cumsum(generator.permutation(steps))])


def _fractional(name: str, reduce: Primitive, doc: str) -> Any:
    def function(self: Any, x: Tensor) -> tuple:
        generator = np.random.default_rng(self.seed) if self.deterministic or self.seed else host_generator()
        counts = [int(n / r) for n, r in zip(x.shape[1:3], self.pooling_ratio[1:3])]
        rows, columns = (_borders(n, c, self.pseudo_random, generator) for n, c in zip(x.shape[1:3], counts))
        extra = int(self.overlapping)
        cut = lambda ends: [(a, min(b + extra, ends[-1])) for a, b in zip(ends[:-1].tolist(), ends[1:].tolist())]
        grid = [Stack(1)([reduce(x[:, a:b, c:d, :], (1, 2)) for c, d in cut(columns)]) for a, b in cut(rows)]
        return Stack(1)(grid), from_array(rows.astype(np.int64)), from_array(columns.astype(np.int64))

    return composition(
        name, function, doc, pooling_ratio=REQUIRED,
        pseudo_random=False, overlapping=False, deterministic=False, seed=0, seed2=0,
    )  # fmt: skip


FractionalMaxPool = _fractional("FractionalMaxPool", ReduceMax(),
    doc="""Pooling of (N, H, W, C) in windows of drawn sizes, and their borders.

    Examples:
        >>> out = ops.FractionalMaxPool([1.0, 2.0, 2.0, 1.0])(ops.ones((1, 8, 8, 1)))[0]
        >>> out.shape
        (1, 4, 4, 1)
    """)
FractionalAvgPool = _fractional("FractionalAvgPool", ReduceMean(),
    doc="""Pooling of (N, H, W, C) in windows of drawn sizes, and their borders.

    Examples:
        >>> out = ops.FractionalAvgPool([1.0, 2.0, 2.0, 1.0])(ops.ones((1, 8, 8, 1)))[0]
        >>> out.shape
        (1, 4, 4, 1)
    """)

__all__ = [
    "DenseToDenseSetOperation", "DenseToSparseSetOperation", "FractionalAvgPool", "FractionalMaxPool",
    "RaggedTensorToSparse", "SelfAdjointEig", "SetSize", "SparseCountSparseOutput", "TridiagonalSolve",
]  # fmt: skip
