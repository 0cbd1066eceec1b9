"""Functions of sparse tensors: element by element on the stored values, products, sums and conversions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindspore.common.sparse import (
    COOTensor,
    CSRTensor,
    RowTensor,
    dense_to_coo,
    dense_to_csr,
    sparse_dense_matmul,
)
from mindspore.common.tensor import Tensor
from mindspore.ops import functional as F
from mindspore.ops.arguments import require_operands, require_tensors

if TYPE_CHECKING:
    from mindspore._base.dtype import DType

_MAKERS = {
    "coo": "ops.make_coo_tensor(Tensor([[0, 1], [1, 0]]), Tensor([{0}, {0}]), (2, 2))",
    "csr": "ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([{0}, {0}]), (2, 2))",
}
_ELEMENTWISE = (
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "exp", "expm1", "floor", "inv",
    "isfinite", "isinf", "isnan", "log", "log1p", "neg", "relu", "relu6", "round", "sigmoid", "sin", "sinh", "softsign",
    "sqrt", "square", "tan", "tanh",
)  # fmt: skip


def _elementwise(kind: str, name: str) -> Callable:
    apply = getattr(F, name)

    def function(x: Any) -> Any:
        if not hasattr(x, "with_values"):
            raise TypeError(f"For '{kind}_{name}', 'x' must be a {kind.upper()}Tensor, but got {type(x).__name__}.")
        return x.with_values(apply(x.values))

    function.__name__ = function.__qualname__ = f"{kind}_{name}"
    function.__doc__ = f"""`{name}` of the stored values.

    Examples:
        >>> x = {_MAKERS[kind].format(2.0 if name == "acosh" else 0.5)}
        >>> (ops.{kind}_{name}(x).values == ops.{name}(x.values)).all().item()
        True
    """
    return function


globals().update({f"{k}_{n}": _elementwise(k, n) for k in ("coo", "csr") for n in _ELEMENTWISE})


def coo_add(x1: COOTensor, x2: COOTensor, thresh: Tensor) -> COOTensor:
    """The sum; results smaller than `thresh` are left out.

    Examples:
        >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]], ms.int64), Tensor([5.0, 6.0]), (2, 2))
        >>> print(ops.coo_add(x, x, Tensor(0.0)).to_dense())
        [[ 0. 10.]
         [12.  0.]]
    """
    return x1.add(x2, thresh)


def coo_concat(sp_input: Any, concat_dim: int = 0) -> COOTensor:
    """Join sparse tensors along a dimension; entries come row by row.

    Examples:
        >>> x = ops.make_coo_tensor(Tensor([[0, 1], [1, 0]], ms.int64), Tensor([5.0, 6.0]), (2, 2))
        >>> ops.coo_concat((x, x), 1).shape
        (2, 4)
    """
    shape = list(sp_input[0].shape)
    _check_concat(sp_input, concat_dim, shape)
    axis, offset, indices = concat_dim % len(shape), 0, []
    for x in sp_input:
        step = [0] * len(shape)
        step[axis] = offset
        indices.append(x.indices + Tensor(step, x.indices.dtype))
        offset += x.shape[axis]
    shape[axis] = offset
    places, entries = F.concat(indices, 0), F.concat([x.values for x in sp_input], 0)
    steps = [math.prod(shape[d + 1 :]) for d in range(len(shape))]
    order = F.argsort((places * Tensor(steps, places.dtype)).sum(1))
    return COOTensor(F.gather(places, order, 0), F.gather(entries, order, 0), tuple(shape))


def _check_concat(inputs: Any, axis: Any, shape: list[int]) -> None:
    if len(inputs) < 2:
        raise ValueError(f"For 'coo_concat', at least two COOTensors must be given, but got {len(inputs)}.")
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise TypeError(f"For 'coo_concat', 'concat_dim' must be an int, but got {axis!r}.")
    if not -len(shape) <= axis < len(shape):
        raise IndexError(f"For 'coo_concat', 'concat_dim' must be in range [{-len(shape)}, {len(shape)}), but got {axis}.")
    for i, x in enumerate(inputs):
        apart = [d for d in range(len(shape)) if d != axis % len(shape) and len(x.shape) == len(shape) and x.shape[d] != shape[d]]
        if len(x.shape) != len(shape) or apart:
            raise RuntimeError(
                f"For 'coo_concat', shapes must agree but for dimension {axis}: the first is {tuple(shape)}, input {i} {tuple(x.shape)}."
            )
        if x.dtype != inputs[0].dtype:
            raise TypeError(f"For 'coo_concat', all values must have one type, but got {inputs[0].dtype} and {x.dtype}.")


def csr_add(a: CSRTensor, b: CSRTensor, alpha: Any, beta: Any) -> CSRTensor:
    """alpha * a + beta * b.

    Examples:
        >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([5.0, 6.0]), (2, 2))
        >>> print(ops.csr_add(x, x, Tensor(1.0), Tensor(10.0)).to_dense())
        [[ 0. 55.]
         [66.  0.]]
    """
    return a.add(b, alpha, beta)


def csr_mul(x: CSRTensor, y: Any) -> CSRTensor:
    """Element by element product with a dense tensor.

    Examples:
        >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([5.0, 6.0]), (2, 2))
        >>> print(ops.csr_mul(x, Tensor([[2.0, 2.0]])).values)
        [10. 12.]
    """
    require_operands("csr_mul", y=y)
    return x * y


def csr_div(x: CSRTensor, y: Any) -> CSRTensor:
    """Element by element quotient with a dense tensor.

    Examples:
        >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([5.0, 6.0]), (2, 2))
        >>> print(ops.csr_div(x, Tensor([[2.0, 2.0]])).values)
        [2.5 3. ]
    """
    require_operands("csr_div", y=y)
    return x / y


def csr_mv(csr_tensor: CSRTensor, dense: Tensor) -> Tensor:
    """The product with a vector.

    Examples:
        >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([5.0, 6.0]), (2, 2))
        >>> print(ops.csr_mv(x, Tensor([[1.0], [10.0]])))
        [[50.]
         [ 6.]]
    """
    require_tensors("csr_mv", dense=dense)
    return csr_tensor.mv(dense)


def csr_mm(
    a: CSRTensor,
    b: Tensor,
    trans_a: bool = False,
    trans_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
) -> Any:
    """The product with a matrix, perhaps transposed.

    Examples:
        >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([5.0, 6.0]), (2, 2))
        >>> print(ops.csr_mm(x, Tensor([[1.0], [10.0]])))
        [[50.]
         [ 6.]]
    """
    require_tensors("csr_mm", b=b)
    if trans_a or adjoint_a or trans_b or adjoint_b:
        return sparse_dense_matmul(a.to_coo(), b, trans_a or adjoint_a, trans_b or adjoint_b)
    return a.mm(b)


def csr_reduce_sum(csr_tensor: CSRTensor, axis: int) -> Tensor:
    """The sums of rows or columns.

    Examples:
        >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([5.0, 6.0]), (2, 2))
        >>> print(ops.csr_reduce_sum(x, 1))
        [[5.]
         [6.]]
    """
    return csr_tensor.sum(axis)


def csr_softmax(logits: CSRTensor, dtype: DType) -> CSRTensor:
    """Exponentials of each row's stored values that add up to 1.

    Examples:
        >>> x = ops.make_csr_tensor(Tensor([0, 2, 3]), Tensor([0, 1, 0]), Tensor([1.0, 1.0, 6.0]), (2, 2))
        >>> print(ops.csr_softmax(x, ms.float32).values)
        [0.5 0.5 1. ]
    """
    rows = logits.rows()
    peak = F.gather(F.unsorted_segment_max(logits.values, rows, logits.shape[0]), rows, 0)
    weights = F.exp(logits.values - peak)
    total = F.gather(F.unsorted_segment_sum(weights, rows, logits.shape[0]), rows, 0)
    return logits.with_values(F.cast(weights / total, dtype))


def csr_gather(indptr: Tensor, indices: Tensor, dense: Tensor, sparse_shape: Any) -> Tensor:
    """The elements of a dense tensor at the places of a CSR tensor.

    Examples:
        >>> print(ops.csr_gather(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([[1.0, 2.0], [3.0, 4.0]]), (2, 2)))
        [2. 3.]
    """
    rows = F.searchsorted(indptr, F.arange(indices.shape[0], dtype=indptr.dtype), right=True) - 1
    return F.gather_nd(dense, F.stack([F.cast(rows, indices.dtype), indices], 1))


def csr_to_coo(tensor: CSRTensor) -> COOTensor:
    """The same matrix by coordinates.

    Examples:
        >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([5.0, 6.0]), (2, 2))
        >>> print(ops.csr_to_coo(x).indices)
        [[0 1]
         [1 0]]
    """
    return tensor.to_coo()


def csr_to_dense(csr_tensor: CSRTensor) -> Tensor:
    """The dense matrix.

    Examples:
        >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([5.0, 6.0]), (2, 2))
        >>> print(ops.csr_to_dense(x))
        [[0. 5.]
         [6. 0.]]
    """
    return csr_tensor.to_dense()


def dense_to_sparse_coo(tensor: Tensor) -> COOTensor:
    """The elements that are not 0, by coordinates.

    Examples:
        >>> print(ops.dense_to_sparse_coo(Tensor([[0.0, 5.0], [6.0, 0.0]])).indices)
        [[0 1]
         [1 0]]
    """
    return dense_to_coo(tensor)


def dense_to_sparse_csr(tensor: Tensor) -> CSRTensor:
    """The elements that are not 0, by compressed rows.

    Examples:
        >>> print(ops.dense_to_sparse_csr(Tensor([[0.0, 5.0], [6.0, 0.0]])).indptr)
        [0 1 2]
    """
    return dense_to_csr(tensor)


def coalesce(x_indices: Tensor, x_values: Tensor, x_shape: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Sorted coordinates (in columns) without repeats, their summed values, and the shape.

    Examples:
        >>> where = Tensor([[0, 0, 1], [1, 1, 2]], ms.int64)
        >>> where, total, shape = ops.coalesce(where, Tensor([1.0, 2.0, 5.0]), Tensor([2, 3], ms.int64))
        >>> print(where, total)
        [[0 1]
         [1 2]] [3. 5.]
    """
    shape = tuple(int(d) for d in x_shape.tolist())
    out = COOTensor(F.transpose(x_indices, (1, 0)), x_values, shape).coalesce()
    return F.transpose(out.indices, (1, 0)), out.values, x_shape


def make_row_tensor(indices: Tensor, values: Tensor, dense_shape: Any) -> RowTensor:
    """A RowTensor.

    Examples:
        >>> x = ops.make_row_tensor(Tensor([1]), Tensor([[5.0, 6.0]]), (3, 2))
        >>> x.dense_shape
        (3, 2)
    """
    return RowTensor(indices, values, dense_shape)


def make_sparse_tensor(indices: Tensor, values: Tensor, dense_shape: Any) -> COOTensor:
    """A COOTensor.

    Examples:
        >>> x = ops.make_sparse_tensor(Tensor([[0, 1]]), Tensor([5.0]), (2, 3))
        >>> x.shape
        (2, 3)
    """
    return COOTensor(indices, values, dense_shape)


def make_coo_tensor(indices: Tensor, values: Tensor, dense_shape: Any) -> COOTensor:
    """A COOTensor.

    Examples:
        >>> x = ops.make_coo_tensor(Tensor([[0, 1]]), Tensor([5.0]), (2, 3))
        >>> print(x.to_dense())
        [[0. 5. 0.]
         [0. 0. 0.]]
    """
    return COOTensor(indices, values, dense_shape)


def make_csr_tensor(indptr: Tensor, indices: Tensor, values: Tensor, dense_shape: Any) -> CSRTensor:
    """A CSRTensor.

    Examples:
        >>> x = ops.make_csr_tensor(Tensor([0, 1, 2]), Tensor([1, 0]), Tensor([5.0, 6.0]), (2, 2))
        >>> print(x.to_dense())
        [[0. 5.]
         [6. 0.]]
    """
    return CSRTensor(indptr, indices, values, dense_shape)


def sparse_segment_mean(x: Tensor, indices: Tensor, segment_ids: Tensor) -> Tensor:
    """The means of the rows `indices` of x, by (sorted) segment.

    Examples:
        >>> print(ops.sparse_segment_mean(Tensor([[1.0], [3.0], [8.0]]), Tensor([0, 1, 2]), Tensor([0, 0, 1])))
        [[2.]
         [8.]]
    """
    require_operands("sparse_segment_mean", indices=indices)
    from mindspore.ops.operations.math_ops import SegmentMean

    return SegmentMean()(F.gather(x, indices, 0), segment_ids)


def sparse_tensor_dense_matmul(
    indices: Tensor,
    values: Tensor,
    sparse_shape: Any,
    dense: Tensor,
    adjoint_st: bool = False,
    adjoint_dt: bool = False,
) -> Tensor:
    """The product of a sparse matrix, given by its parts, with a dense one.

    Examples:
        >>> print(ops.sparse_tensor_dense_matmul(Tensor([[0, 1]]), Tensor([5.0]), (2, 2), Tensor([[1.0], [10.0]])))
        [[50.]
         [ 0.]]
    """
    require_tensors("sparse_tensor_dense_matmul", dense=dense)
    shape = tuple(int(d) for d in (sparse_shape.tolist() if isinstance(sparse_shape, Tensor) else sparse_shape))
    return sparse_dense_matmul(COOTensor(indices, values, shape), dense, adjoint_st, adjoint_dt)


if not TYPE_CHECKING:  # mypy takes a list that it cannot read for an empty one
    __all__ = [
        n
        for n in list(globals())
        if n.startswith(("coo_", "csr_", "make_", "dense_to_sparse", "sparse_segment", "sparse_tensor"))
    ] + ["coalesce"]
