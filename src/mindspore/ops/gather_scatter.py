"""Picking by index, writing by index, segments and one-hot codes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import (
    as_tensor,
    cast,
    largest,
    measured,
    normal_axis,
    require_operands,
    require_rank,
    require_tensor,
    require_tensors,
    static_ints,
)
from mindspore.prims import checks, values
from mindspore.prims import elementwise as ew
from mindspore.prims import gather_scatter as gs
from mindspore.prims.arrays import TENSOR_INDEX, Fill, GetItem, SetItem
from mindspore.prims.broadcasting import BroadcastTo, ReduceSum, Reshape
from mindspore.prims.creation import Range
from mindspore.prims.inplace import update
from mindspore.prims.requirements import Within, demand, demand_index_below
from mindspore.prims.setting_types import setting_types
from mindspore.prims.state import kept_by

if TYPE_CHECKING:
    from mindspore._base.dtype import DType

__all__ = [
    "batch_to_space_nd", "diag_part", "diagonal", "diagonal_scatter", "embedding_lookup", "fill_diagonal", "gather",
    "gather_d", "gather_elements", "gather_nd", "index_add", "index_copy", "index_fill", "index_select",
    "inplace_add", "inplace_index_add", "inplace_sub", "inplace_update", "invert_permutation", "list_difference",
    "masked_scatter", "masked_select", "one_hot", "reverse_sequence", "scatter", "scatter_add", "scatter_div",
    "scatter_max", "scatter_min", "scatter_mul", "scatter_nd", "scatter_nd_add", "scatter_nd_div", "scatter_nd_max",
    "scatter_nd_min", "scatter_nd_mul", "scatter_nd_sub", "scatter_nd_update", "scatter_sub", "scatter_update",
    "select_scatter", "sequence_mask", "slice_scatter", "space_to_batch_nd", "take", "tensor_scatter_add",
    "tensor_scatter_div", "tensor_scatter_elements", "tensor_scatter_max", "tensor_scatter_min",
    "tensor_scatter_mul", "tensor_scatter_sub", "tensor_scatter_update", "unravel_index", "unsorted_segment_max",
    "unsorted_segment_min", "unsorted_segment_prod", "unsorted_segment_sum",
]  # fmt: skip


# -- picking --------------------------------------------------------------------------------------------------------
def gather(input_params: Tensor, input_indices: Any, axis: Any, batch_dims: int = 0) -> Tensor:
    """Slices along `axis`, picked by an index tensor.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.gather(Tensor([10, 20, 30]), Tensor([2, 0]), 0).tolist()
        [30, 10]
    """
    require_operands("gather", input_indices=input_indices)
    return gs.Gather(batch_dims)(input_params, as_tensor(input_indices), axis)


def gather_d(x: Tensor, dim: int, index: Any) -> Tensor:
    """One position along `dim` per place of `index`.

    Examples:
        >>> print(ops.gather_d(Tensor([[1, 2], [3, 4]]), 1, Tensor([[1], [0]])))
        [[2]
         [3]]
    """
    return gs.GatherD()(x, dim, index)


def gather_elements(input: Tensor, dim: int, index: Any) -> Tensor:
    """One position along `dim` per place of `index`.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.gather_elements(Tensor([[1, 2], [3, 4]]), 1, Tensor([[1], [0]])).tolist()
        [[2], [3]]
    """
    return gs.GatherD()(input, dim, index)


def gather_nd(input_x: Tensor, indices: Tensor) -> Tensor:
    """Elements or slices at the coordinates in the last dimension of `indices`.

    Examples:
        >>> print(ops.gather_nd(Tensor([[1, 2], [3, 4]]), Tensor([[0, 1], [1, 0]])))
        [2 3]
    """
    return gs.GatherNd()(input_x, indices)


def index_select(input: Tensor, axis: int, index: Tensor) -> Tensor:
    """Slices along `axis`, picked by a 1-D index tensor.

    Examples:
        >>> print(ops.index_select(Tensor([[1, 2, 3], [4, 5, 6]]), 1, Tensor([2, 0])))
        [[3 1]
         [6 4]]
    """
    require_tensor("index_select", "index", index)
    if index.ndim > 1:
        raise ValueError(f"For 'index_select', 'index' must be 1-D, but its shape is {index.shape}.")
    return gs.Gather()(input, Reshape()(index, (-1,)) if index.ndim == 0 else index, axis)


def take(input: Tensor, index: Any) -> Tensor:
    """Elements of the flattened tensor.

    Examples:
        >>> print(ops.take(Tensor([[10, 20], [30, 40]]), Tensor([3, 0])))
        [40 10]
    """
    return gs.Gather()(Reshape()(input, (-1,)), index, 0)


def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where the mask holds, in one dimension. Its length depends on the mask's values.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.masked_select(Tensor([1, 2, 3]), Tensor([True, False, True])).tolist()
        [1, 3]
    """
    require_tensor("masked_select", "input", input)
    require_tensor("masked_select", "mask", mask)
    if mask.dtype is not mstype.bool_:
        raise TypeError(f"For 'masked_select', 'mask' must be of bool type, but got {mask.dtype}.")
    shape = checks.broadcast("masked_select", input.shape, mask.shape)
    spread = BroadcastTo(shape)(input) if shape != input.shape else input
    (flat,) = measured("masked_select", lambda hold: (np.flatnonzero(np.broadcast_to(hold, shape)),), mask)
    return gs.Gather()(Reshape()(spread, (-1,)), flat, 0)


def embedding_lookup(input_params: Tensor, input_indices: Tensor, offset: int) -> Tensor:
    """Rows at `input_indices - offset`; zeros for indices outside.

    Examples:
        >>> print(ops.embedding_lookup(Tensor([[1.0], [2.0], [3.0]]), Tensor([5, 7, 9], ms.int32), 5))
        [[1.]
         [3.]
         [0.]]
    """
    checks.integer("embedding_lookup", "offset", offset)
    require_rank("embedding_lookup", "input_params", input_params, 1)
    require_operands("embedding_lookup", input_indices=input_indices)
    require_tensors("embedding_lookup", input_params=input_params)
    index = input_indices - offset
    inside = ew.LogicalAnd()(ew.GreaterEqual()(index, 0), ew.Less()(index, input_params.shape[0]))
    rows = gs.Gather()(input_params, ew.Select()(inside, index, 0), 0)
    mask = Reshape()(inside, inside.shape + (1,) * (rows.ndim - inside.ndim))
    return ew.Select()(mask, rows, ew.zeros_like(rows))


# -- tensors with scattered updates ---------------------------------------------------------------------------------
def _tensor_scatter(reduction: str, name: str, doc: str) -> Any:
    prim = gs.TENSOR_SCATTERS[reduction]

    def function(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
        return prim()(input_x, indices, updates)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


tensor_scatter_update = _tensor_scatter("none", "tensor_scatter_update", """A copy with the indexed slices replaced.

    Examples:
        >>> print(ops.tensor_scatter_update(Tensor([8.0, 9.0]), Tensor([[1]]), Tensor([2.0])))
        [8. 2.]
    """)
tensor_scatter_add = _tensor_scatter("add", "tensor_scatter_add", """A copy with updates added; duplicates add up.

    Examples:
        >>> print(ops.tensor_scatter_add(ops.zeros(4), Tensor([[1], [3], [1]]), Tensor([1.0, 2.0, 3.0])))
        [0. 4. 0. 2.]
    """)
tensor_scatter_sub = _tensor_scatter("sub", "tensor_scatter_sub", """A copy with updates subtracted.

    Examples:
        >>> print(ops.tensor_scatter_sub(Tensor([8.0, 9.0]), Tensor([[1]]), Tensor([2.0])))
        [8. 7.]
    """)
tensor_scatter_mul = _tensor_scatter("mul", "tensor_scatter_mul", """A copy with the indexed slices multiplied.

    Examples:
        >>> print(ops.tensor_scatter_mul(Tensor([8.0, 9.0]), Tensor([[1]]), Tensor([2.0])))
        [ 8. 18.]
    """)
tensor_scatter_div = _tensor_scatter("div", "tensor_scatter_div", """A copy with the indexed slices divided.

    Examples:
        >>> print(ops.tensor_scatter_div(Tensor([8.0, 9.0]), Tensor([[1]]), Tensor([3.0])))
        [8. 3.]
    """)
tensor_scatter_max = _tensor_scatter("max", "tensor_scatter_max", """A copy with the larger of old and new values.

    Examples:
        >>> print(ops.tensor_scatter_max(Tensor([8.0, 9.0]), Tensor([[0], [1]]), Tensor([10.0, 1.0])))
        [10.  9.]
    """)
tensor_scatter_min = _tensor_scatter("min", "tensor_scatter_min", """A copy with the smaller of old and new values.

    Examples:
        >>> print(ops.tensor_scatter_min(Tensor([8.0, 9.0]), Tensor([[0], [1]]), Tensor([10.0, 1.0])))
        [8. 1.]
    """)


def tensor_scatter_elements(
    input_x: Tensor, indices: Tensor, updates: Tensor, axis: int = 0, reduction: str = "none"
) -> Tensor:
    """A copy combined with `updates` at one position along `axis` per place; reduction 'none', 'add', 'mul' …

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.tensor_scatter_elements(Tensor([1, 2, 3]), Tensor([2]), Tensor([9])).tolist()
        [1, 2, 9]
    """
    require_operands("tensor_scatter_elements", updates=updates)
    require_tensors("tensor_scatter_elements", input_x=input_x)
    return gs.TensorScatterElements(axis, reduction)(input_x, indices, updates)


def scatter(input: Tensor, axis: int, index: Any, src: Tensor) -> Tensor:
    """A copy with `src` (a tensor or number) written at one position along `axis` per place of `index`.

    Examples:
        >>> print(ops.scatter(ops.zeros((2, 3)), 1, Tensor([[2], [0]]), Tensor([[5.0], [6.0]])))
        [[0. 0. 5.]
         [6. 0. 0.]]
    """
    require_operands("scatter", src=src)
    require_tensors("scatter", input=input, index=index)
    return scatter_along(input, axis, index, src, "none")


def scatter_add_ext(input: Tensor, dim: int, index: Any, src: Any) -> Tensor:
    """A copy with `src` added at one position along `dim` per place of `index`."""
    return scatter_along(input, dim, index, src, "add")


def scatter_along(input: Tensor, axis: int, index: Tensor, src: Any, reduction: str) -> Tensor:
    """A copy with elements set, or combined, at positions along an axis."""
    require_operands("scatter", src=src)
    require_tensors("scatter", input=input, index=index)
    if isinstance(src, Tensor) and src.ndim and src.shape != index.shape:
        if src.ndim != index.ndim or any(a < b for a, b in zip(src.shape, index.shape)):
            raise ValueError(
                f"For 'scatter', 'src' must be at least as large as 'index', but got {src.shape} and {index.shape}."
            )
        src = GetItem(tuple(slice(0, n) for n in index.shape))(src)
    return gs.TensorScatterElements(axis, reduction)(input, index, src)


def scatter_nd(indices: Tensor, updates: Tensor, shape: Any) -> Tensor:
    """Zeros of the given shape with `updates` added at the indexed slices.

    Examples:
        >>> print(ops.scatter_nd(Tensor([[0], [2], [0]]), Tensor([1.0, 2.0, 3.0]), (4,)))
        [4. 0. 2. 0.]
    """
    require_tensors("scatter_nd", updates=updates)
    zero = Fill()(updates.dtype, static_ints("scatter_nd", "shape", shape), 0)
    return gs.TensorScatterAdd()(zero, indices, updates)


def index_fill(x: Tensor, axis: int, index: Any, value: Any) -> Tensor:
    """A copy with `value` in all slices along `axis` that `index` names.

    Examples:
        >>> print(ops.index_fill(Tensor([[1, 2], [3, 4]]), 1, Tensor([0]), -1))
        [[-1  2]
         [-1  4]]
    """
    require_tensors("index_fill", x=x)
    at = normal_axis("index_fill", axis, x.ndim)
    index = Reshape()(index, (-1,))
    return SetItem((slice(None),) * at + (TENSOR_INDEX,))(x, value, index)


def index_copy(input: Tensor, dim: int, index: Any, tensor: Tensor) -> Tensor:
    """A copy with the slices of `tensor` along `dim` at the places `index` names.

    Examples:
        >>> print(ops.index_copy(ops.zeros((2, 3)), 1, Tensor([2, 0]), Tensor([[1.0, 2.0], [3.0, 4.0]])))
        [[2. 0. 1.]
         [4. 0. 3.]]
    """
    require_tensors("index_copy", input=input, index=index)
    at = normal_axis("index_copy", dim, input.ndim)
    return SetItem((slice(None),) * at + (TENSOR_INDEX,))(input, tensor, index)


def select_scatter(input: Tensor, src: Tensor, axis: int, index: int) -> Tensor:
    """A copy with `src` as the slice `index` of dimension `axis`.

    Examples:
        >>> print(ops.select_scatter(ops.zeros((2, 2)), Tensor([5.0, 6.0]), 1, 0))
        [[5. 0.]
         [6. 0.]]
    """
    require_tensors("select_scatter", input=input)
    at = normal_axis("select_scatter", axis, input.ndim)
    return SetItem((slice(None),) * at + (checks.integer("select_scatter", "index", index),))(input, src)


def slice_scatter(
    input: Tensor, src: Tensor, axis: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Tensor:
    """A copy with `src` in the part [start:end:step] of dimension `axis`.

    Examples:
        >>> print(ops.slice_scatter(ops.zeros(5), Tensor([7.0, 8.0]), start=1, end=5, step=2))
        [0. 7. 0. 8. 0.]
    """
    require_tensors("slice_scatter", input=input)
    at = normal_axis("slice_scatter", axis, input.ndim)
    return SetItem((slice(None),) * at + (slice(start, end, step),))(input, src)


def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A copy with `src` as a diagonal of the plane of two dimensions.

    Examples:
        >>> print(ops.diagonal_scatter(ops.zeros((2, 2)), Tensor([5.0, 6.0])))
        [[5. 0.]
         [0. 6.]]
    """
    require_tensors("diagonal_scatter", input=input)
    spec, index, order = diagonal_index("diagonal_scatter", input.shape, offset, dim1, dim2)
    from mindspore.prims.arrays import Transpose

    moved = Transpose()(input, order)
    out = SetItem(spec)(moved, src, *index)
    return Transpose()(out, tuple(int(i) for i in np.argsort(order)))


def diagonal_index(op: str, shape: tuple, offset: int, dim1: int, dim2: int) -> tuple[tuple, list, tuple]:
    """How to index a diagonal: the static index, the index tensors, and the order that brings its plane last."""
    checks.integer(op, "offset", offset)
    a, b = normal_axis(op, dim1, len(shape), "dim1"), normal_axis(op, dim2, len(shape), "dim2")
    if a == b:
        raise ValueError(f"For '{op}', 'dim1' and 'dim2' must differ, but both are {dim1}.")
    rows, columns = shape[a], shape[b]
    length = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    steps = np.arange(length)
    index = [Tensor(steps - min(offset, 0)), Tensor(steps + max(offset, 0))]
    order = (*(d for d in range(len(shape)) if d not in (a, b)), a, b)
    return (Ellipsis, TENSOR_INDEX, TENSOR_INDEX), index, order


def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A diagonal of the plane of two dimensions; it becomes the last dimension.

    Examples:
        >>> print(ops.diagonal(Tensor([[1, 2, 3], [4, 5, 6]]), offset=1))
        [2 6]
    """
    require_tensor("diagonal", "input", input)
    if input.ndim < 2:
        raise ValueError(f"For 'diagonal', 'input' must have at least 2 dimensions, but its shape is {input.shape}.")
    spec, index, order = diagonal_index("diagonal", input.shape, offset, dim1, dim2)
    from mindspore.prims.arrays import Transpose

    return GetItem(spec)(Transpose()(input, order), *index)


def masked_scatter(input: Tensor, mask: Tensor, tensor: Tensor) -> Tensor:
    """A copy in which the places where the mask holds take the elements of `tensor` in order.

    Examples:
        >>> print(ops.masked_scatter(ops.zeros(4), Tensor([True, False, True, False]), Tensor([7.0, 8.0])))
        [7. 0. 8. 0.]
    """
    require_tensors("masked_scatter", input=input, mask=mask, tensor=tensor)
    checks.dtype_in("masked_scatter", "mask", mask.dtype, "b")
    shape = input.shape
    if checks.broadcast("masked_scatter", shape, mask.shape) != shape:
        raise ValueError(f"For 'masked_scatter', a mask of shape {mask.shape} does not fit an input of shape {shape}.")
    hold = BroadcastTo(shape)(mask) if mask.shape != shape else mask
    from mindspore.prims.scan import CumSum

    flat = cast(Reshape()(hold, (-1,)), mstype.int64)
    enough, size = Within(0, tensor.size), tensor.size
    demand(ReduceSum()(flat, ()), enough, lambda places: ValueError(
        f"For 'masked_scatter', 'tensor' must have an element for each place where the mask holds, but got {size} for {int(places)}."
    ))  # fmt: skip
    rank = ew.Minimum()(CumSum()(flat, 0) - flat, tensor.size - 1)
    dealt = Reshape()(gs.Gather()(Reshape()(tensor, (-1,)), rank, 0), shape)
    return ew.Select()(hold, cast(dealt, input.dtype), input)


# -- parameters updated in place ------------------------------------------------------------------------------------
def _check_updates(op: str, target: Tensor, updates: Tensor) -> None:
    camel = "".join(word.capitalize() for word in op.split("_"))
    kept_by(camel, "x", values.dtype_of(target), values.dtype_of(updates))


def _written(target: Tensor, value: Tensor) -> Tensor:
    """Hand `value` to the Parameter; the result of the call is a tensor, not the Parameter itself."""
    update(target, value)
    return value


def _rows_scatter(reduction: str, name: str, doc: str) -> Any:
    """input_x[indices] = input_x[indices] (op) updates, along the first dimension, in place."""

    def function(input_x: Tensor, indices: Tensor, updates: Any) -> Tensor:
        require_tensors(name, input_x=input_x, indices=indices)
        require_operands(name, updates=updates)
        if not isinstance(updates, Tensor):
            updates = BroadcastTo(indices.shape + input_x.shape[1:])(as_tensor(updates, input_x.dtype))
        depth = Reshape()(indices, (*indices.shape, 1))
        _check_updates(name, input_x, updates)
        return _written(input_x, gs.TENSOR_SCATTERS[reduction]()(input_x, depth, updates))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _nd_scatter(reduction: str, name: str, doc: str) -> Any:
    @setting_types(use_locking=bool)
    def function(input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Tensor:
        require_tensors(name, input_x=input_x, indices=indices, updates=updates)
        _check_updates(name, input_x, updates)
        if indices.ndim < 2:
            raise ValueError(
                f"For '{name}', the dimension of 'indices' must be greater than or equal to 2, but its shape is {indices.shape}."
            )
        return _written(input_x, gs.TENSOR_SCATTERS[reduction]()(input_x, indices, updates))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


scatter_update = _rows_scatter("none", "scatter_update", """Replace rows of a Parameter in place.

    Examples:
        >>> table = Parameter(Tensor([[1.0, 2.0], [3.0, 4.0]]), name="table")
        >>> _ = ops.scatter_update(table, Tensor([1], ms.int32), Tensor([[7.0, 8.0]]))
        >>> print(table.asnumpy())
        [[1. 2.]
         [7. 8.]]
    """)
scatter_add = _rows_scatter("add", "scatter_add", """Add to rows of a Parameter in place.

    Examples:
        >>> table = Parameter(ops.zeros((3, 2)), name="table")
        >>> _ = ops.scatter_add(table, Tensor([0, 2, 0], ms.int32), ops.ones((3, 2)))
        >>> print(table.asnumpy())
        [[2. 2.]
         [0. 0.]
         [1. 1.]]
    """)
scatter_sub = _rows_scatter("sub", "scatter_sub", """Subtract from rows of a Parameter in place.

    Examples:
        >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
        >>> _ = ops.scatter_sub(table, Tensor([0], ms.int32), Tensor([2.0]))
        >>> print(table.asnumpy())
        [6. 9.]
    """)
scatter_mul = _rows_scatter("mul", "scatter_mul", """Multiply rows of a Parameter in place.

    Examples:
        >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
        >>> _ = ops.scatter_mul(table, Tensor([1, 1], ms.int32), Tensor([2.0, 3.0]))
        >>> print(table.asnumpy())
        [ 8. 54.]
    """)
scatter_div = _rows_scatter("div", "scatter_div", """Divide rows of a Parameter in place.

    Examples:
        >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
        >>> _ = ops.scatter_div(table, Tensor([0], ms.int32), Tensor([2.0]))
        >>> print(table.asnumpy())
        [4. 9.]
    """)
scatter_max = _rows_scatter("max", "scatter_max", """Raise rows of a Parameter to at least the updates, in place.

    Examples:
        >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
        >>> _ = ops.scatter_max(table, Tensor([0, 1], ms.int32), Tensor([10.0, 1.0]))
        >>> print(table.asnumpy())
        [10.  9.]
    """)
scatter_min = _rows_scatter("min", "scatter_min", """Lower rows of a Parameter to at most the updates, in place.

    Examples:
        >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
        >>> _ = ops.scatter_min(table, Tensor([0, 1], ms.int32), Tensor([10.0, 1.0]))
        >>> print(table.asnumpy())
        [8. 1.]
    """)
scatter_nd_update = _nd_scatter("none", "scatter_nd_update", """Replace indexed slices of a Parameter in place.

    Examples:
        >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
        >>> _ = ops.scatter_nd_update(table, Tensor([[1]], ms.int32), Tensor([2.0]))
        >>> print(table.asnumpy())
        [8. 2.]
    """)
scatter_nd_add = _nd_scatter("add", "scatter_nd_add", """Add to indexed slices of a Parameter in place.

    Examples:
        >>> table = Parameter(ops.zeros(4), name="table")
        >>> _ = ops.scatter_nd_add(table, Tensor([[1], [3], [1]], ms.int32), Tensor([1.0, 2.0, 3.0]))
        >>> print(table.asnumpy())
        [0. 4. 0. 2.]
    """)
scatter_nd_sub = _nd_scatter("sub", "scatter_nd_sub", """Subtract from indexed slices of a Parameter in place.

    Examples:
        >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
        >>> _ = ops.scatter_nd_sub(table, Tensor([[1]], ms.int32), Tensor([2.0]))
        >>> print(table.asnumpy())
        [8. 7.]
    """)
scatter_nd_mul = _nd_scatter("mul", "scatter_nd_mul", """Multiply indexed slices of a Parameter in place.

    Examples:
        >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
        >>> _ = ops.scatter_nd_mul(table, Tensor([[1]], ms.int32), Tensor([2.0]))
        >>> print(table.asnumpy())
        [ 8. 18.]
    """)
scatter_nd_div = _nd_scatter("div", "scatter_nd_div", """Divide indexed slices of a Parameter in place.

    Examples:
        >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
        >>> _ = ops.scatter_nd_div(table, Tensor([[1]], ms.int32), Tensor([3.0]))
        >>> print(table.asnumpy())
        [8. 3.]
    """)
scatter_nd_max = _nd_scatter("max", "scatter_nd_max", """Raise indexed slices of a Parameter in place.

    Examples:
        >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
        >>> _ = ops.scatter_nd_max(table, Tensor([[0], [1]], ms.int32), Tensor([10.0, 1.0]))
        >>> print(table.asnumpy())
        [10.  9.]
    """)
scatter_nd_min = _nd_scatter("min", "scatter_nd_min", """Lower indexed slices of a Parameter in place.

    Examples:
        >>> table = Parameter(Tensor([8.0, 9.0]), name="table")
        >>> _ = ops.scatter_nd_min(table, Tensor([[0], [1]], ms.int32), Tensor([10.0, 1.0]))
        >>> print(table.asnumpy())
        [8. 1.]
    """)


def index_add(
    x: Any, indices: Tensor, y: Any, axis: int, use_lock: bool = True, check_index_bound: bool = True
) -> Tensor:
    """Add the slices of y along `axis` to those of x that `indices` names; a Parameter is updated in place.

    Examples:
        >>> total = Parameter(ops.zeros((3, 2)), name="total")
        >>> _ = ops.index_add(total, Tensor([0, 2], ms.int32), ops.ones((2, 2)), axis=0)
        >>> print(total.asnumpy())
        [[1. 1.]
         [0. 0.]
         [1. 1.]]
    """
    require_tensors("index_add", x=x, indices=indices, y=y)
    out = added_along(x, indices, y, axis)
    return _written(x, out) if isinstance(x, values.parameter_class()) else out


def added_along(x: Tensor, indices: Tensor, y: Tensor, axis: int) -> Any:
    """A copy with slices added at positions along an axis."""
    require_tensors("index_add", x=x, indices=indices, y=y)
    at = normal_axis("index_add", axis, x.ndim)
    if y.ndim != x.ndim or indices.ndim != 1 or y.shape[at] != indices.shape[0]:
        raise ValueError(
            "For 'index_add', 'indices' must be 1-D with one entry per slice of 'y' along 'axis', but got shapes "
            f"{x.shape}, {indices.shape} and {y.shape} with axis {axis}."
        )
    return SetItem((slice(None),) * at + (TENSOR_INDEX,), accumulate=True)(x, y, indices)


def inplace_index_add(var: Tensor, indices: Tensor, updates: Tensor, axis: int) -> Tensor:
    """Add slices along `axis` to a Parameter in place.

    Examples:
        >>> total = Parameter(ops.zeros((3, 2)), name="total")
        >>> _ = ops.inplace_index_add(total, Tensor([0, 2], ms.int32), ops.ones((2, 2)), axis=0)
        >>> print(total.asnumpy())
        [[1. 1.]
         [0. 0.]
         [1. 1.]]
    """
    require_tensors("inplace_index_add", indices=indices, updates=updates)
    return _written(var, added_along(var, indices, updates, axis))


def _rows_tensor(indices: Any) -> Tensor:
    return indices if isinstance(indices, Tensor) else Tensor(np.atleast_1d(np.asarray(indices, np.int64)))


def inplace_update(x: Tensor, v: Any, indices: Any) -> Tensor:
    """A copy of x with the rows `indices` replaced by those of v.

    Examples:
        >>> print(ops.inplace_update(Tensor([[1.0], [2.0], [3.0]]), Tensor([[10.0]]), (1,)))
        [[ 1.]
         [10.]
         [ 3.]]
    """
    require_tensors("inplace_update", x=x)
    return SetItem((TENSOR_INDEX,))(x, v, _rows_tensor(indices))


def inplace_add(x: Tensor, v: Any, indices: Any) -> Tensor:
    """A copy of x with the rows of v added to its rows `indices`.

    Examples:
        >>> print(ops.inplace_add(Tensor([[1.0], [2.0], [3.0]]), Tensor([[10.0]]), (1,)))
        [[ 1.]
         [12.]
         [ 3.]]
    """
    require_tensors("inplace_add", x=x)
    return SetItem((TENSOR_INDEX,), accumulate=True)(x, v, _rows_tensor(indices))


def inplace_sub(x: Tensor, v: Any, indices: Any) -> Tensor:
    """A copy of x with the rows of v subtracted from its rows `indices`.

    Examples:
        >>> print(ops.inplace_sub(Tensor([[1.0], [2.0], [3.0]]), Tensor([[10.0]]), (1,)))
        [[ 1.]
         [-8.]
         [ 3.]]
    """
    require_operands("inplace_sub", v=v)
    require_tensors("inplace_sub", x=x)
    return SetItem((TENSOR_INDEX,), accumulate=True)(x, -v, _rows_tensor(indices))


# -- segments -------------------------------------------------------------------------------------------------------
def _segment_reduce(op: str, x: Tensor, segment_ids: Tensor, num_segments: Any, reduction: str, empty: Any) -> Tensor:
    """Combine the slices of x with equal ids; negative ids go to a segment that is dropped."""
    count = checks.integer(op, "num_segments", values.static_number(num_segments), 0)
    if segment_ids.shape != x.shape[: segment_ids.ndim]:
        raise ValueError(
            f"For '{op}', the shape of 'segment_ids' must start that of 'x', but got {segment_ids.shape} and {x.shape}."
        )
    demand_index_below(op, "segment_ids", segment_ids, count)
    start = Fill()(x.dtype, (count + 1, *x.shape[segment_ids.ndim :]), empty)
    outside = ew.Less()(segment_ids, 0)
    index = Reshape()(ew.Select()(outside, count, segment_ids), (*segment_ids.shape, 1))
    out = gs.TENSOR_SCATTERS[reduction]()(start, index, x)
    return GetItem((slice(0, count),))(out)


def _extreme(dtype: DType, lowest: bool) -> Any:
    if dtype.kind == "b":
        return not lowest
    if dtype.kind in "ui":
        limits = np.iinfo(dtype.np)
    else:
        from mindspore.ops.elementwise import _finfo

        limits = _finfo(dtype)
    return (
        float(limits.min if lowest else limits.max) if dtype.kind == "f" else int(limits.min if lowest else limits.max)
    )


def unsorted_segment_sum(input_x: Tensor, segment_ids: Tensor, num_segments: Any) -> Tensor:
    """The sum of the slices of each segment.

    Examples:
        >>> print(ops.unsorted_segment_sum(Tensor([1.0, 5.0, 2.0]), Tensor([0, 0, 1], ms.int32), 2))
        [6. 2.]
    """
    require_tensors("unsorted_segment_sum", input_x=input_x, segment_ids=segment_ids)
    return _segment_reduce("unsorted_segment_sum", input_x, segment_ids, num_segments, "add", 0)


def unsorted_segment_prod(x: Tensor, segment_ids: Tensor, num_segments: Any) -> Tensor:
    """The product of the slices of each segment; 1 for empty ones.

    Examples:
        >>> print(ops.unsorted_segment_prod(Tensor([1.0, 5.0, 2.0]), Tensor([0, 0, 1], ms.int32), 2))
        [5. 2.]
    """
    require_tensors("unsorted_segment_prod", x=x, segment_ids=segment_ids)
    return _segment_reduce("unsorted_segment_prod", x, segment_ids, num_segments, "mul", 1)


def unsorted_segment_max(x: Tensor, segment_ids: Tensor, num_segments: Any) -> Tensor:
    """The maximum of each segment; the smallest value of the type for empty ones.

    Examples:
        >>> print(ops.unsorted_segment_max(Tensor([1.0, 5.0, 2.0]), Tensor([0, 0, 1], ms.int32), 2))
        [5. 2.]
    """
    require_tensors("unsorted_segment_max", x=x, segment_ids=segment_ids)
    return _segment_reduce("unsorted_segment_max", x, segment_ids, num_segments, "max", _extreme(x.dtype, True))


def unsorted_segment_min(x: Tensor, segment_ids: Tensor, num_segments: Any) -> Tensor:
    """The minimum of each segment; the largest value of the type for empty ones.

    Examples:
        >>> print(ops.unsorted_segment_min(Tensor([1.0, 5.0, 2.0]), Tensor([0, 0, 1], ms.int32), 2))
        [1. 2.]
    """
    require_tensors("unsorted_segment_min", x=x, segment_ids=segment_ids)
    return _segment_reduce("unsorted_segment_min", x, segment_ids, num_segments, "min", _extreme(x.dtype, False))


def one_hot(indices: Any, depth: int, on_value: Any = 1, off_value: Any = 0, axis: int = -1) -> Tensor:
    """`on_value` at each index along a new dimension of size `depth`, `off_value` elsewhere.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.one_hot(Tensor([0, 2]), 3).tolist()
        [[1, 0, 0], [0, 0, 1]]
    """
    require_operands("one_hot", indices=indices)
    indices = as_tensor(indices)
    if indices.dtype.kind not in "ui":
        raise TypeError(f"For 'one_hot', 'indices' must be of an integer type, but got {indices.dtype}.")
    depth = checks.integer("one_hot", "depth", values.static_number(depth), 0)
    at = normal_axis("one_hot", axis, indices.ndim + 1)
    from mindspore.prims.arrays import ExpandDims

    steps = Reshape()(Range(dtype=indices.dtype)(0, depth, 1), (-1,) + (1,) * (indices.ndim - at))
    hit = ew.Equal()(ExpandDims()(indices, at), steps)
    return ew.Select()(hit, on_value, off_value)


def sequence_mask(lengths: Tensor, maxlen: int | None = None) -> Tensor:
    """Whether each position along a new last dimension lies before the given length.

    Examples:
        >>> print(ops.sequence_mask(Tensor([1, 3]), 3))
        [[ True False False]
         [ True  True  True]]
    """
    require_tensors("sequence_mask", lengths=lengths)
    if maxlen is None:
        maxlen = max(largest("sequence_mask", lengths, 0), 0)
    steps = Range(dtype=lengths.dtype)(0, checks.integer("sequence_mask", "maxlen", values.static_number(maxlen), 0), 1)
    return ew.Less()(steps, Reshape()(lengths, (*lengths.shape, 1)))


def reverse_sequence(x: Tensor, seq_lengths: Tensor, seq_dim: int, batch_dim: int = 0) -> Tensor:
    """Reverse the first `seq_lengths[i]` elements along `seq_dim` of each batch entry.

    Examples:
        >>> print(ops.reverse_sequence(Tensor([[1, 2, 3], [4, 5, 6]]), Tensor([2, 3]), seq_dim=1))
        [[2 1 3]
         [6 5 4]]
    """
    require_tensors("reverse_sequence", x=x, seq_lengths=seq_lengths)
    s, b = normal_axis("reverse_sequence", seq_dim, x.ndim), normal_axis("reverse_sequence", batch_dim, x.ndim)
    if s == b:
        raise ValueError(f"For 'reverse_sequence', 'seq_dim' and 'batch_dim' must differ, but both are {seq_dim}.")
    if seq_lengths.shape != (x.shape[b],):
        raise ValueError(
            f"For 'reverse_sequence', 'seq_lengths' must have one entry per batch entry ({x.shape[b]}), but its shape is "
            f"{seq_lengths.shape}."
        )
    steps = Reshape()(Range(dtype=mstype.int64)(0, x.shape[s], 1), tuple(-1 if d == s else 1 for d in range(x.ndim)))
    lengths = Reshape()(cast(seq_lengths, mstype.int64), tuple(-1 if d == b else 1 for d in range(x.ndim)))
    index = ew.Select()(ew.Less()(steps, lengths), lengths - 1 - steps, steps)
    return gs.GatherD()(x, s, BroadcastTo(x.shape)(index))


def space_to_batch_nd(input_x: Tensor, block_size: Any, paddings: Any) -> Tensor:
    """Pad the dimensions from 1 on, then move blocks of them into the batch dimension (the first).

    Examples:
        >>> x = Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
        >>> ops.space_to_batch_nd(x, [2, 2], [[0, 0], [0, 0]]).shape
        (4, 1, 1, 1)
    """
    require_tensors("space_to_batch_nd", input_x=input_x)
    return _space_to_batch("space_to_batch_nd", input_x, block_size, paddings, 1)


def _block_sizes(op: str, name: str, given: Any, count: int) -> tuple[int, ...]:
    """The sizes of blocks in so many dimensions; one stands for all."""
    sizes = tuple(static_ints(op, name, given))
    sizes = sizes * count if len(sizes) == 1 else sizes
    if len(sizes) != count or min(sizes, default=1) < 1:
        raise ValueError(f"For '{op}', '{name}' must be {count} positive sizes, one for each dimension that is cut, but got {sizes}.")
    return sizes


def _space_to_batch(op: str, x: Tensor, block: Any, paddings: Any, first: int) -> Tensor:
    from mindspore.prims.arrays import Pad, Transpose

    count = len(values.static_value(paddings))
    block = _block_sizes(op, "block_size", block, count)
    first = x.ndim - count if x.ndim - count >= first else first
    x = Pad(((0, 0),) * first + tuple(tuple(p) for p in values.static_value(paddings)))(x)
    if any(n % b for n, b in zip(x.shape[first:], block)):
        raise ValueError(f"For '{op}', the padded dimensions {x.shape[first:]} must be multiples of {block}.")
    split = [d for n, b in zip(x.shape[first:], block) for d in (n // b, b)]
    x6 = Reshape()(x, (*x.shape[:first], *split))
    blocks = tuple(first + 2 * i + 1 for i in range(count))
    outer = tuple(first + 2 * i for i in range(count))
    moved = Transpose()(x6, (*blocks, *range(first), *outer))
    return Reshape()(moved, (math.prod(block) * x.shape[0], *x.shape[1:first], *(x6.shape[o] for o in outer)))


def batch_to_space_nd(input_x: Tensor, block_shape: Any, crops: Any) -> Tensor:
    """The inverse of `space_to_batch_nd`: move blocks out of the batch dimension, then crop.

    Examples:
        >>> x = Tensor([[[[1.0]]], [[[2.0]]], [[[3.0]]], [[[4.0]]]])
        >>> ops.batch_to_space_nd(x, [2, 2], [[0, 0], [0, 0]]).tolist()
        [[[[1.0, 2.0], [3.0, 4.0]]]]
    """
    require_rank("batch_to_space_nd", "input_x", input_x, 2)
    require_tensors("batch_to_space_nd", input_x=input_x)
    from mindspore.prims.arrays import Transpose

    op, crops = "batch_to_space_nd", values.static_value(crops)
    count = len(crops)
    block = _block_sizes(op, "block_shape", block_shape, count)
    first = input_x.ndim - count
    if input_x.shape[0] % math.prod(block):
        raise ValueError(f"For '{op}', the batch size {input_x.shape[0]} must be a multiple of {math.prod(block)}.")
    batch = input_x.shape[0] // math.prod(block)
    x = Reshape()(input_x, (*block, batch, *input_x.shape[1:]))
    order = [*range(count, count + first)]
    for i in range(count):
        order += [count + first + i, i]
    moved = Transpose()(x, tuple(order))
    grown = Reshape()(moved, (batch, *input_x.shape[1:first], *(n * b for n, b in zip(input_x.shape[first:], block))))
    spec = tuple(slice(a, grown.shape[first + i] - b) for i, (a, b) in enumerate(crops))
    return GetItem((slice(None),) * first + spec)(grown)


# -- positions ------------------------------------------------------------------------------------------------------
def unravel_index(indices: Tensor, dims: Tensor) -> Tensor:
    """Flat positions as coordinates: one row per dimension.

    Examples:
        >>> print(ops.unravel_index(Tensor([5, 2]), Tensor([2, 3])))
        [[1 0]
         [2 2]]
    """
    from mindspore.prims.arrays import Stack

    parts = []
    for n in reversed(static_ints("unravel_index", "dims", dims)):
        parts.append(ew.FloorMod()(indices, n))
        indices = ew.FloorDiv()(indices, n)
    return Stack(0)(list(reversed(parts)))


def invert_permutation(x: Any) -> Any:
    """The inverse of a permutation, given as a tuple of ints or a 1-D tensor.

    Examples:
        >>> ops.invert_permutation((2, 0, 1))
        (1, 2, 0)
    """
    if isinstance(x, (tuple, list)):
        return tuple(int(i) for i in np.argsort(x))
    zero = ew.zeros_like(x)
    return gs.TensorScatterUpdate()(zero, Reshape()(x, (-1, 1)), Range(dtype=x.dtype)(0, x.shape[0], 1))


def list_difference(x: Tensor, y: Any, index_dtype: Any = mstype.int32) -> tuple[Tensor, Tensor]:
    """The elements of x that are not in y, and where they stand.

    Examples:
        >>> left, where = ops.list_difference(Tensor([5, 6, 7, 8]), Tensor([6, 8]))
        >>> print(left, where)
        [5 7] [0 2]
    """
    (keep,) = measured("list_difference", lambda a, b: (np.flatnonzero(~np.isin(a, b)),), x, y)
    return gs.Gather()(x, keep, 0), cast(keep, index_dtype)


def diag_part(x: Tensor) -> Tensor:
    """The diagonal of a tensor of rank 2k whose halves have equal shapes.

    Examples:
        >>> print(ops.diag_part(Tensor([[1, 2], [3, 4]])))
        [1 4]
    """
    require_tensors("diag_part", x=x)
    half = x.ndim // 2
    if x.ndim == 0 or x.ndim % 2 or x.shape[:half] != x.shape[half:]:
        raise ValueError(f"For 'DiagPart', the two halves of the shape must be equal, but got {x.shape}.")
    n = math.prod(x.shape[:half])
    return Reshape()(diagonal(Reshape()(x, (n, n))), x.shape[:half])


def fill_diagonal(x: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """A copy with one value on the main diagonal; `wrap` starts again below in tall matrices.

    Examples:
        >>> print(ops.fill_diagonal(ops.zeros((2, 3)), 5.0))
        [[5. 0. 0.]
         [0. 5. 0.]]
    """
    require_tensors("fill_diagonal", x=x)
    if x.ndim < 2 or (x.ndim > 2 and len(set(x.shape)) > 1):
        raise ValueError(f"For 'fill_diagonal', a matrix or a tensor of equal sizes is needed, but got {x.shape}.")
    step = 1 + sum(math.prod(x.shape[d:]) for d in np.arange(1, x.ndim))
    end = x.size if wrap or x.ndim > 2 else min(x.size, x.shape[1] * x.shape[1])
    flat = SetItem((slice(0, end, step),))(Reshape()(x, (-1,)), fill_value)
    return Reshape()(flat, x.shape)
