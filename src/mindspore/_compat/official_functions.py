"""Functions that official `mindspore.ops` shows beside its operations: its operators by name, choices, rows."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.sparse import RowTensorInner
from mindspore.common.tensor import Tensor
from mindspore.communication import get_group_size
from mindspore.ops import functional as F
from mindspore.ops.arguments import static_ints
from mindspore.ops.operations import comm_ops as communication_ops

__all__ = [
    "all_gather_matmul", "array_to_scalar", "augassign_add", "augassign_div", "augassign_floordiv", "augassign_mod", "augassign_mul",
    "augassign_sub", "broadcast_gradient_args", "getitem", "hyper_add", "in_", "left_shift", "make_row_tensor_inner",
    "matmul_reduce_scatter", "not_in_", "reshape_", "right_shift", "row_tensor_add", "set_comm_ops_inplace", "setitem", "switch",
    "switch_layer", "uadd",
]  # fmt: skip


# -- operators by name ----------------------------------------------------------------------------------------------------
def uadd(x: Any) -> Any:
    """+x.

    Examples:
        >>> print(ops.uadd(Tensor([5.0])))
        [5.]
    """
    return operator.pos(x)


def left_shift(x: Any, y: Any) -> Any:
    """x << y.

    Examples:
        >>> ops.left_shift(3, 2)
        12
    """
    return operator.lshift(x, y)


def right_shift(x: Any, y: Any) -> Any:
    """x >> y.

    Examples:
        >>> ops.right_shift(12, 2)
        3
    """
    return operator.rshift(x, y)


def in_(x: Any, y: Any) -> bool:
    """Whether x is in y.

    Examples:
        >>> ops.in_(2, (1, 2))
        True
    """
    return x in y


def not_in_(x: Any, y: Any) -> bool:
    """Whether x is not in y.

    Examples:
        >>> ops.not_in_(2, (1, 2))
        False
    """
    return x not in y


def getitem(data: Any, index: Any) -> Any:
    """data[index].

    Examples:
        >>> print(ops.getitem(Tensor([5.0, 6.0]), 1))
        6.0
    """
    return operator.getitem(data, index)


def setitem(data: Any, index: Any, value: Any) -> Any:
    """`data` with `value` at `index`.

    Examples:
        >>> print(ops.setitem(Tensor([5.0, 6.0]), 1, 7.0))
        [5. 7.]
    """
    operator.setitem(data, index, value)
    return data


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


# -- products of tensor parallelism ---------------------------------------------------------------------------------------
def all_gather_matmul(
    input: Tensor, x2: Tensor, group: str, world_size: int, *, bias: Tensor | None = None, gather_index: int = 0,
    gather_output: bool = True, comm_turn: int = 0, trans_input: bool = False, trans_x2: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The rows of all processes times `x2`, and these rows (nothing of them without `gather_output`).

    Args:
        world_size (int): the number of processes in the group.
        trans_x2 (bool): whether `x2` is transposed first.
        bias, gather_index, comm_turn, trans_input: as official functions have them; what is not their default is refused.

    Examples:
        >>> from mindspore.communication import init
        >>> init()
        >>> y, rows = ops.all_gather_matmul(ops.ones((2, 3)), ops.ones((3, 4)), "nccl_world_group", 1)
        >>> print(y.shape, rows.shape)
        (2, 4) (2, 3)
    """
    _refuse_options(
        "all_gather_matmul", bias=bias, gather_index=gather_index, comm_turn=comm_turn, trans_input=trans_input
    )
    _check_world("all_gather_matmul", group, world_size)
    rows = communication_ops.AllGather(group)(input)
    return F.matmul(rows, x2.T if trans_x2 else x2), rows if gather_output else rows[:0]


def matmul_reduce_scatter(
    input: Tensor, x2: Tensor, group: str, world_size: int, *, reduce_op: str = "sum", bias: Tensor | None = None,
    comm_turn: int = 0, trans_input: bool = False, trans_x2: bool = False,
) -> Tensor:  # fmt: skip
    """The sum of input · x2 over all processes, of which each gets its part of the rows.

    Args:
        world_size (int): the number of processes in the group.
        trans_x2 (bool): whether `x2` is transposed first.
        reduce_op (str): 'sum'.
        bias, comm_turn, trans_input: as official functions have them; what is not their default is refused.

    Examples:
        >>> from mindspore.communication import init
        >>> init()
        >>> ops.matmul_reduce_scatter(ops.ones((2, 3)), ops.ones((3, 4)), "nccl_world_group", 1).shape
        (2, 4)
    """
    if reduce_op != "sum":
        raise ValueError(f"For 'matmul_reduce_scatter', 'reduce_op' must be 'sum', but got {reduce_op!r}.")
    _refuse_options("matmul_reduce_scatter", bias=bias, comm_turn=comm_turn, trans_input=trans_input)
    _check_world("matmul_reduce_scatter", group, world_size)
    return communication_ops.ReduceScatter(group=group)(F.matmul(input, x2.T if trans_x2 else x2))


def _refuse_options(name: str, **given: Any) -> None:
    """The official functions have these arguments, with one value allowed."""
    for argument, value in given.items():
        if value:
            raise ValueError(f"For '{name}', '{argument}' must be left at its default, but got {value!r}.")


def _check_world(name: str, group: str, world_size: int) -> None:
    actual = get_group_size(group)
    if world_size != actual:
        raise ValueError(f"For '{name}', 'world_size' must be {actual}, the size of '{group}', but got {world_size}.")


def set_comm_ops_inplace(is_enable: bool, func_list: Any = None) -> None:
    """Refused unless collectives of `ops.communication` shall write into their arguments, which they do.

    Args:
        is_enable (bool): True.
        func_list (list, optional): names of the collectives meant; all of them, if not given.

    Examples:
        >>> ops.set_comm_ops_inplace(True)
    """
    if not isinstance(is_enable, bool):
        raise TypeError(f"For 'set_comm_ops_inplace', 'is_enable' must be a bool, but got {type(is_enable).__name__}.")
    if not is_enable:
        raise ValueError(
            "'set_comm_ops_inplace' can't be switched off here; `mindspore.communication.comm_func` gives new tensors."
        )
