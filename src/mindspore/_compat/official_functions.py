"""Functions that official `mindspore.ops` shows beside its operations: its operators by name, choices, rows."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.sparse import RowTensorInner
from mindspore.common.tensor import Tensor
from mindspore.ops import functional as F
from mindspore.ops.arguments import static_ints

__all__ = [
    "array_to_scalar", "augassign_add", "augassign_div", "augassign_floordiv", "augassign_mod", "augassign_mul",
    "augassign_sub", "broadcast_gradient_args", "hyper_add", "make_row_tensor_inner", "reshape_",
    "row_tensor_add", "switch", "switch_layer",
]  # fmt: skip


# -- operators by name ----------------------------------------------------------------------------------------------------
def augassign_add(x: Any, y: Any) -> Any:
    """x + y, for `x += y`.

    Examples:
        >>> print(ops.augassign_add(Tensor([5.0]), 2))
        [7.]
    """
    return operator.add(x, y)


def augassign_sub(x: Any, y: Any) -> Any:
    """x - y, for `x -= y`.

    Examples:
        >>> print(ops.augassign_sub(Tensor([5.0]), 2))
        [3.]
    """
    return operator.sub(x, y)


def augassign_mul(x: Any, y: Any) -> Any:
    """x * y, for `x *= y`.

    Examples:
        >>> print(ops.augassign_mul(Tensor([5.0]), 2))
        [10.]
    """
    return operator.mul(x, y)


def augassign_div(x: Any, y: Any) -> Any:
    """x / y, for `x /= y`.

    Examples:
        >>> print(ops.augassign_div(Tensor([5.0]), 2))
        [2.5]
    """
    return operator.truediv(x, y)


def augassign_floordiv(x: Any, y: Any) -> Any:
    """x // y, for `x //= y`.

    Examples:
        >>> print(ops.augassign_floordiv(Tensor([5.0]), 2))
        [2.]
    """
    return operator.floordiv(x, y)


def augassign_mod(x: Any, y: Any) -> Any:
    """x % y, for `x %= y`.

    Examples:
        >>> print(ops.augassign_mod(Tensor([5.0]), 2))
        [1.]
    """
    return operator.mod(x, y)


def hyper_add(x: Any, y: Any) -> Any:
    """x + y, element by element of tuples and lists.

    Examples:
        >>> ops.hyper_add((1, (2, 3)), (10, (20, 30)))
        (11, (22, 33))
    """
    if isinstance(x, (tuple, list)):
        return type(x)(hyper_add(a, b) for a, b in zip(x, y, strict=True))
    return x + y


def reshape_(input: Any, shape: Any) -> Tensor:
    """The elements in another shape.

    Examples:
        >>> print(ops.reshape_(Tensor([1, 2, 3, 4]), (2, 2)))
        [[1 2]
         [3 4]]
    """
    return F.reshape(input, shape)


def array_to_scalar(x: Any) -> Any:
    """The number in a tensor of one element.

    Examples:
        >>> ops.array_to_scalar(Tensor([5]))
        5
    """
    return x.item()


def broadcast_gradient_args(x: Any, y: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes along which the gradients of two broadcast arguments are summed, given their shapes.

    Examples:
        >>> ops.broadcast_gradient_args((4, 1, 3), (2, 3))
        ((1,), (0,))
    """
    shapes = [static_ints("broadcast_gradient_args", name, v) for name, v in (("x", x), ("y", y))]
    full = np.broadcast_shapes(*shapes)
    padded = [(1,) * (len(full) - len(s)) + s for s in shapes]
    axes = [
        tuple(i for i, n in enumerate(p) if n == 1 and (full[i] != 1 or i < len(full) - len(s)))
        for p, s in zip(padded, shapes)
    ]
    return axes[0], axes[1]


# -- choices --------------------------------------------------------------------------------------------------------------
def switch(cond: Any, true_value: Any, false_value: Any) -> Any:
    """One of two values; tensors are chosen by a condition that is known when the graph runs.

    Examples:
        >>> ops.switch(Tensor(True), Tensor(1), Tensor(2)).item()
        1
    """
    if isinstance(cond, bool):
        return true_value if cond else false_value
    if cond.size != 1:
        raise ValueError(
            "The truth value of an array with more than one element is ambiguous. For 'switch', the condition must have one element, "
            f"but has the shape {cond.shape}; use 'where' to choose elements."
        )
    return F.where(cond.reshape(()), true_value, false_value)


def switch_layer(index: int, layers: Any) -> Any:
    """One of several functions, by a number that is known.

    Examples:
        >>> ops.switch_layer(1, (abs, round))(2.6)
        3
    """
    return layers[static_ints("switch_layer", "index", index)[0]]


# -- rows -----------------------------------------------------------------------------------------------------------------
def make_row_tensor_inner(indices: Any, values: Any, dense_shape: Any) -> Any:
    """A tensor of which only the rows `indices` are given.

    Examples:
        >>> ops.make_row_tensor_inner(Tensor([1]), Tensor([[5.0, 6.0]]), (3, 2)).dense_shape
        (3, 2)
    """
    return RowTensorInner(indices, values, dense_shape)


def row_tensor_add(x: Any, y: Any) -> Tensor:
    """A tensor of rows plus a dense one.

    Examples:
        >>> rows = ops.make_row_tensor_inner(Tensor([1]), Tensor([[5.0]]), (2, 1))
        >>> ops.row_tensor_add(rows, ops.ones((2, 1))).tolist()
        [[1.0], [6.0]]
    """
    return F.index_add(y, F.cast(x.indices, mstype.int32), x.values, 0) if isinstance(y, Tensor) else x + y
