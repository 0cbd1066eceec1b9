"""Norms of vectors and matrices, distances, and clipping by norms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import (
    as_tensor,
    cast,
    normal_axes,
    normal_axis,
    require_numbers,
    require_operands,
    require_rank,
    require_tensor,
    require_tensors,
    to_float,
)
from mindspore.ops.older_calls import renamed
from mindspore.prims import checks, values
from mindspore.prims import elementwise as ew
from mindspore.prims.arrays import ExpandDims, Transpose
from mindspore.prims.broadcasting import ReduceSum, Reshape
from mindspore.prims.reduction import ReduceMax, ReduceMin
from mindspore.prims.requirements import Finite, demand
from mindspore.prims.setting_types import setting_types

__all__ = [
    "cdist", "clip_by_global_norm", "clip_by_norm", "cosine_similarity", "dist", "matrix_norm", "norm", "pdist",
    "renorm", "vector_norm",
]  # fmt: skip


# -- norms and distances --------------------------------------------------------------------------------------------
def vector_norm(x: Tensor, ord: Any = 2, axis: Any = None, keepdims: bool = False, *, dtype: Any = None) -> Tensor:
    """The p-norm (`ord`: any number, inf or -inf) over axes of x seen as vectors.

    Examples:
        >>> print(ops.vector_norm(Tensor([3.0, 4.0])))
        5.0
    """
    require_numbers("vector_norm", ord=ord)
    x = cast(to_float(require_tensor("vector_norm", "x", x)), dtype)
    axes = normal_axes("vector_norm", axis, x.ndim)
    size = ew.Abs()(x)
    if ord == math.inf:
        return ReduceMax(keepdims)(size, axes)
    if ord == -math.inf:
        return ReduceMin(keepdims)(size, axes)
    if ord == 0:
        return ReduceSum(keepdims)(cast(ew.NotEqual()(x, 0), size.dtype), axes)
    if ord == 1:
        return ReduceSum(keepdims)(size, axes)
    if ord == 2:
        square = ew.Real()(x * ew.conj(x)) if x.dtype.kind == "c" else ew.Square()(x)
        return _root(ReduceSum(keepdims)(square, axes))
    # powers of the elements relative to the largest neither overflow nor vanish; the norm does not depend on the scale
    peak = ew.StopGradient()(ReduceMax(True)(size, axes)) if x.size else ReduceSum(True)(size, axes)
    peak = ew.Select()(ew.LogicalAnd()(peak > 0, ew.IsFinite()(peak)), peak, ew.ones_like(peak))
    out = ew.Pow()(ReduceSum(True)(ew.Pow()(size / peak, float(ord)), axes), 1.0 / float(ord)) * peak
    return out if keepdims else Reshape()(out, tuple(n for d, n in enumerate(x.shape) if d not in axes))


def _root(total: Tensor) -> Any:
    """sqrt whose gradient at 0 is 0 rather than infinite."""
    zero = ew.Equal()(total, 0)
    safe = ew.Select()(zero, ew.ones_like(total), total)
    return ew.Select()(zero, ew.zeros_like(total), ew.Sqrt()(safe))


def matrix_norm(
    A: Tensor, ord: Any = "fro", axis: Any = (-2, -1), keepdims: bool = False, *, dtype: Any = None
) -> Tensor:
    """A matrix norm over two axes: 'fro', 'nuc', inf, -inf, 1, -1, 2 or -2.

    Examples:
        >>> print(ops.matrix_norm(Tensor([[3.0, 0.0], [0.0, 4.0]])))
        5.0
    """
    A = cast(to_float(require_tensor("matrix_norm", "A", A)), dtype)
    if not isinstance(axis, (tuple, list)) or len(axis) != 2:
        raise ValueError(f"For 'matrix_norm', 'axis' must name two dimensions, but got {axis!r}.")
    a, b = (normal_axis("matrix_norm", v, A.ndim) for v in axis)
    if a == b:
        raise ValueError(f"For 'matrix_norm', 'axis' must name two different dimensions, but got {axis}.")
    if ord == "fro":
        return vector_norm(A, 2, (a, b), keepdims)
    if ord in (1, -1, math.inf, -math.inf):
        inner_axis, outer_axis = (a, b) if abs(ord) == 1 else (b, a)
        sums = ReduceSum(True)(ew.Abs()(A), inner_axis)
        out = (ReduceMax if ord > 0 else ReduceMin)(True)(sums, outer_axis)
    elif ord in (2, -2, "nuc"):
        from mindspore.prims.decompositions import singular_values

        rest = tuple(d for d in range(A.ndim) if d not in (a, b))
        s = singular_values(Transpose()(A, (*rest, a, b)))
        out = ReduceSum()(s, -1) if ord == "nuc" else (ReduceMax if ord == 2 else ReduceMin)()(s, -1)
    else:
        raise ValueError(f"For 'matrix_norm', 'ord' must be 'fro', 'nuc', ±inf, ±1 or ±2, but got {ord!r}.")
    kept = tuple(1 if d in (a, b) else n for d, n in enumerate(A.shape))
    return Reshape()(out, kept if keepdims else tuple(n for d, n in enumerate(A.shape) if d not in (a, b)))


@renamed(input_x="A", x="A", axis="dim", p="ord", keep_dims="keepdim")
def norm(A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """A vector or matrix norm. Without `ord` the 2-norm of all elements (or over `dim`); two dimensions with `ord`
    give a matrix norm.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.norm(Tensor([3.0, 4.0])).item()
        5.0
    """
    require_tensor("norm", "A", A)
    dims = values.static_value(dim)
    if ord is None:
        return vector_norm(A, 2, dims, keepdim, dtype=dtype)
    matrix = (dims is None and A.ndim == 2) or (isinstance(dims, (tuple, list)) and len(dims) == 2)
    if matrix and (isinstance(ord, str) or dims is not None or A.ndim == 2):
        return matrix_norm(A, ord, dims if dims is not None else (-2, -1), keepdim, dtype=dtype)
    if isinstance(ord, str):
        raise ValueError(f"For 'norm', 'ord' {ord!r} needs two dimensions, but got dim={dim} and shape {A.shape}.")
    if dims is None and A.ndim > 2:
        raise ValueError(f"For 'norm' with 'ord', give 'dim' for a tensor of more than 2 dimensions: shape {A.shape}.")
    return vector_norm(A, ord, dims, keepdim, dtype=dtype)


def dist(input: Tensor, other: Any, p: Any = 2) -> Tensor:
    """The p-norm of input - other.

    Examples:
        >>> print(ops.dist(Tensor([1.0, 1.0]), Tensor([4.0, 5.0])))
        5.0
    """
    require_numbers("dist", p=p)
    require_tensors("dist", input=input, other=other)
    return vector_norm(input - other, p)


@setting_types(p=float)
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0) -> Tensor:
    """The p-norm distances between all rows of x1 and all rows of x2.

    Examples:
        >>> print(ops.cdist(Tensor([[0.0, 0.0]]), Tensor([[3.0, 4.0], [0.0, 1.0]])))
        [[5. 1.]]
    """
    require_numbers("cdist", p=p)
    require_rank("cdist", "x2", x2, 2)
    require_rank("cdist", "x1", x1, 2)
    require_tensors("cdist", x1=x1, x2=x2)
    if x1.shape[-1] != x2.shape[-1]:
        raise ValueError(f"For 'cdist', the rows must be equally long, but got shapes {x1.shape} and {x2.shape}.")
    if values.is_number(p) and not p >= 0:
        raise ValueError(f"For 'cdist', 'p' must be at least 0, but got {p}.")
    return vector_norm(ExpandDims()(x1, -2) - ExpandDims()(x2, -3), p, -1)


@setting_types(p=float)
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norm distances between all pairs of rows.

    Examples:
        >>> print(ops.pdist(Tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])))
        [5.        1.        4.2426405]
    """
    require_numbers("pdist", p=p)
    require_rank("pdist", "input", input, 2)
    require_tensors("pdist", input=input)
    from mindspore.prims.gather_scatter import Gather

    first, second = np.triu_indices(input.shape[-2], 1)
    at = input.ndim - 2
    return vector_norm(Gather()(input, Tensor(first), at) - Gather()(input, Tensor(second), at), p, -1)


def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-08) -> Tensor:
    """The cosine of the angle between vectors along `dim`.

    Examples:
        >>> print(ops.cosine_similarity(Tensor([[1.0, 0.0]]), Tensor([[1.0, 1.0]]), dim=1))
        [0.70710677]
    """
    require_numbers("cosine_similarity", eps=eps)
    require_operands("cosine_similarity", x1=x1, x2=x2)
    product = ReduceSum()(x1 * x2, dim)
    sizes = [ew.Maximum()(ReduceSum()(ew.Square()(x), dim), eps * eps) for x in (x1, x2)]
    return product / ew.Sqrt()(sizes[0] * sizes[1])


# -- clipping by norm -----------------------------------------------------------------------------------------------
def clip_by_norm(x: Any, max_norm: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False) -> Any:
    """Scale tensors down together so that their common norm is at most `max_norm`.

    Examples:
        >>> print(ops.clip_by_norm(Tensor([3.0, 4.0]), max_norm=1.0))
        [0.5999999  0.79999983]
    """
    require_numbers("clip_by_norm", max_norm=max_norm, norm_type=norm_type)
    require_tensors("clip_by_norm", x=x)
    tensors = [x] if isinstance(x, Tensor) else list(x)
    total = vector_norm(_stack_norms(tensors, norm_type), norm_type)
    if error_if_nonfinite:
        demand(total, Finite(), lambda _: RuntimeError("For 'clip_by_norm', the total norm is not finite."))
    scale = ew.Minimum()(max_norm / (total + 1e-6), 1.0)
    tensors = [to_float(t) for t in tensors]
    out = [t * cast(scale, t.dtype) for t in tensors]
    return out[0] if isinstance(x, Tensor) else type(x)(out)


def _stack_norms(tensors: list, p: Any) -> Any:
    from mindspore.prims.arrays import Stack

    wide = mstype.float64 if any(t.dtype is mstype.float64 for t in tensors) else mstype.float32
    return Stack(0)([cast(vector_norm(cast(to_float(t), wide), p), wide) for t in tensors])


def clip_by_global_norm(x: Any, clip_norm: Any = 1.0, use_norm: Any = None) -> Any:
    """Scale tensors down together so that their global 2-norm is at most `clip_norm`.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> [t.shape for t in ops.clip_by_global_norm((Tensor([3.0]), Tensor([4.0])), 1.0)]
        [(1,), (1,)]
    """
    if not isinstance(x, (tuple, list)) or not x:
        raise TypeError(
            f"For 'clip_by_global_norm', a tuple or list of tensors is needed, but got {checks.describe(x)}."
        )
    for each in x:
        require_tensor("clip_by_global_norm", "x", each)
    if values.is_number(clip_norm) and not clip_norm > 0:
        raise ValueError(f"For 'clip_by_global_norm', 'clip_norm' must be positive, but got {clip_norm}.")
    total = vector_norm(_stack_norms(list(x), 2)) if use_norm is None else as_tensor(use_norm)
    scale = clip_norm / ew.Maximum()(total, clip_norm)
    return type(x)(t * cast(scale, t.dtype) for t in x)


@setting_types(maxnorm=float)
def renorm(input: Tensor, p: Any, axis: int, maxnorm: float) -> Tensor:
    """Scale each slice along `axis` down so that its p-norm is at most `maxnorm`.

    Examples:
        >>> print(ops.renorm(Tensor([[3.0, 4.0], [0.3, 0.4]]), 2, 0, 1.0).round(decimals=4))
        [[0.6 0.8]
         [0.3 0.4]]
    """
    require_tensors("renorm", input=input)
    at = normal_axis("renorm", axis, input.ndim)
    rest = tuple(d for d in range(input.ndim) if d != at)
    size = vector_norm(input, p, rest, True)
    scale = ew.Select()(ew.Greater()(size, maxnorm), maxnorm / (size + 1e-7), ew.ones_like(size))
    return input * scale
