"""Collective operations as functions.

>>> from mindspore.communication import init
>>> from mindspore.communication.comm_func import all_reduce
>>> init()
>>> total, _ = all_reduce(Tensor([1.0, 2.0]))

Functions with `async_op` return the result and a handle (None unless `async_op`); `handle.wait()` makes sure that the
result is there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.prims import collective, exchange, values, world
from mindspore.prims.active import ACTIVE

__all__ = [
    "all_reduce", "all_gather_into_tensor", "all_to_all_with_output_shape", "all_to_all_single_with_output_shape",
    "all_to_all_v_c", "barrier", "broadcast", "gather_into_tensor", "isend", "irecv", "reduce_scatter_tensor", "reduce",
    "scatter_tensor", "send", "recv", "P2POp", "batch_isend_irecv",
]  # fmt: skip

_DEFAULT = world.WORLD_GROUPS[0]


class CommHandle:
    """An operation under way: between processes on CPUs it goes on while the program does."""

    def __init__(self, wait: Callable[[], None] | None = None):
        self._wait = wait

    def wait(self) -> None:
        """Return when the result is there; before, the tensor has no value to be relied on."""
        if self._wait is not None:
            self._wait()
            self._wait = None


def begun(prim: collective.Collective, source: Any, deliver: Callable[[Any], None], *static: Any) -> CommHandle:
    """An operation on a tensor begun; `deliver` gets the result, at the latest when the handle is waited for.

    Where the operation is part of a graph or of a gradient, it is complete at once.
    """
    if ACTIVE.builder is not None or ACTIVE.tapes or prim.size == 1:
        deliver(prim((source,))[0] if prim.variadic else prim(source, *static))
        return CommHandle()
    prim.infer(values.abstract_of(source), *static)
    pending, finish = prim.begin(source.asnumpy(), *static)
    return CommHandle(lambda: deliver(values.from_array(finish(pending.wait()))))


def _later(prim: collective.Collective, source: Any, async_op: bool, *static: Any) -> tuple[Any, CommHandle | None]:
    """The result and, if it may be there later, a handle."""
    if not async_op:
        return prim(source, *static), None
    results: list[Any] = []  # what came at once, or the tensor that gets its value later
    handle = begun(prim, source, lambda value: results[0].assign_value(value) if results else results.append(value), *static)
    if not results:
        kind = prim.infer(values.abstract_of(source), *static)
        results.append(values.from_array(np.zeros(kind.shape, kind.dtype.np)))
    return results[0], handle


def _require_tensor(function: str, tensor: Any) -> Any:
    if not isinstance(tensor, Tensor):
        raise TypeError(f"For {function}, the input tensor must be tensor, but got {type(tensor).__name__}.")
    return tensor


def require_rank(function: str, name: str, rank: Any) -> int:
    if isinstance(rank, bool) or not isinstance(rank, int):
        raise TypeError(f"For {function}, the {name} must be int, but got {type(rank).__name__}.")
    return rank


def _with_handle(result: Any, async_op: bool) -> tuple[Any, CommHandle | None]:
    return result, CommHandle() if async_op else None


# -- tensors of one shape ---------------------------------------------------------------------------------------------
def all_reduce(tensor: Any, op: str = "sum", group: str = _DEFAULT, async_op: bool = False) -> tuple:
    """Combine the tensors of all members; every member gets the result."""
    _require_tensor("all_reduce", tensor)
    _check_op("all_reduce", op)
    return _later(collective.AllReduce(op, group), tensor, async_op)


def _check_op(function: str, op: Any) -> None:
    if not isinstance(op, str) or op not in world.REDUCTIONS:
        raise TypeError(
            f"For {function}, the input op value must be one of {', '.join(world.REDUCTIONS)}, but got {op!r}."
        )


def all_gather_into_tensor(tensor: Any, group: str = _DEFAULT, async_op: bool = False) -> tuple:
    """The tensors of all members, joined along the first axis."""
    _require_tensor("all_gather_into_tensor", tensor)
    return _later(collective.AllGather(group), tensor, async_op)


def reduce_scatter_tensor(tensor: Any, op: str = "sum", group: str = _DEFAULT, async_op: bool = False) -> tuple:
    """Combine the tensors of all members; each keeps its part along the first axis."""
    _require_tensor("reduce_scatter_tensor", tensor)
    _check_op("reduce_scatter_tensor", op)
    return _later(collective.ReduceScatter(op, group), tensor, async_op)


def reduce(tensor: Any, dst: int, op: str = "sum", group: str = _DEFAULT) -> Any:
    """Combine the tensors of all members at the process of rank `dst`."""
    _check_op("reduce", op)
    return collective.Reduce(dst, op, group)(_require_tensor("reduce", tensor))


def scatter_tensor(tensor: Any, src: int = 0, group: str = _DEFAULT) -> Any:
    """This member's part, along the first axis, of the tensor of rank `src`."""
    _require_tensor("scatter_tensor", tensor)
    return collective.CollectiveScatter(require_rank("scatter_tensor", "src", src), group)(tensor)


def gather_into_tensor(tensor: Any, dst: int = 0, group: str = _DEFAULT) -> Any:
    """The tensors of all members, joined along the first axis, at rank `dst`; a zero elsewhere."""
    _require_tensor("gather_into_tensor", tensor)
    return collective.CollectiveGather(require_rank("gather_into_tensor", "dst", dst), group)(tensor)


def broadcast(tensor: Any, src: int = 0, group: str = _DEFAULT) -> Any:
    """The tensor of rank `src`."""
    _require_tensor("broadcast", tensor)
    return collective.Broadcast(require_rank("broadcast", "src", src), group)((tensor,))[0]


def barrier(group: str = _DEFAULT) -> None:
    """Wait until all members have come here."""
    if not isinstance(group, str):
        raise TypeError(f"group must be type of string, but got {type(group)}")
    collective.Barrier(group)()


# -- point to point ---------------------------------------------------------------------------------------------------
def send(tensor: Any, dst: int = 0, group: str = _DEFAULT, tag: int = 0) -> None:
    """Send a tensor to rank `dst`."""
    _require_tensor("send", tensor)
    exchange.Send(tag, require_rank("send", "dst", dst), group)(tensor)


def recv(tensor: Any, src: int = 0, group: str = _DEFAULT, tag: int = 0) -> Any:
    """A tensor from rank `src`, of the shape and type of `tensor`."""
    _require_tensor("recv", tensor)
    receive = exchange.Receive(tag, require_rank("recv", "src", src), tensor.shape, tensor.dtype, group)
    return receive(tensor)


def isend(tensor: Any, dst: int = 0, group: str = _DEFAULT, tag: int = 0) -> CommHandle:
    """`send`, with a handle to wait for."""
    _require_tensor("isend", tensor)
    exchange.Send(tag, require_rank("isend", "dst", dst), group)(tensor)
    return CommHandle()


def irecv(tensor: Any, src: int = 0, group: str = _DEFAULT, tag: int = 0) -> tuple[Any, CommHandle]:
    """`recv`, with a handle to wait for."""
    _require_tensor("irecv", tensor)
    receive = exchange.Receive(tag, require_rank("irecv", "src", src), tensor.shape, tensor.dtype, group)
    result, handle = _later(receive, tensor, True)
    assert handle is not None
    return result, handle


class P2POp:
    """One send or receive of `batch_isend_irecv`. A receive takes a tensor, or a shape and `recv_dtype`."""

    def __init__(
        self, op: Any, tensor: Any, peer: int, group: str | None = None, tag: int = 0, *, recv_dtype: Any = None
    ):
        if not isinstance(op, str) and not callable(op):
            raise TypeError(f"op must be type of string or function, but got type of {type(op)}")
        name = op if isinstance(op, str) else op.__name__
        if name not in ("isend", "irecv"):
            raise ValueError(f"Expected ``op`` to be of type ``isend`` or ``irecv``, but got {name}")
        if not isinstance(tensor, (Tensor, tuple)):
            raise TypeError(f"Expected ``tensor`` to be type of tuple or Tensor, but got {type(tensor)}.")
        if isinstance(peer, bool) or not isinstance(peer, int):
            raise TypeError(f"peer must be type of int, but got type of {type(peer)}")
        if recv_dtype is not None and not isinstance(recv_dtype, mstype.Type):
            raise TypeError(f"recv_dtype must be type of mindspore dtype, but got type of {type(recv_dtype)}")
        self.op, self.tensor, self.peer, self.group, self.tag = name, tensor, peer, group, tag
        self.recv_dtype = recv_dtype


def batch_isend_irecv(p2p_op_list: Any) -> tuple:
    """Carry out sends and receives together; one result for each, in order."""
    if not isinstance(p2p_op_list, list):
        raise TypeError(f"p2p_op_list must be type of list, but got type of {type(p2p_op_list)}.")
    if not p2p_op_list:
        raise TypeError("p2p_op_list can not be empty list.")
    if not all(isinstance(op, P2POp) for op in p2p_op_list):
        raise TypeError("The elements of p2p_op_list must be type of P2POp.")
    receives = [_expected(i, op) for i, op in enumerate(p2p_op_list) if op.op == "irecv"]
    batch = exchange.BatchISendIRecv(
        [op.op for op in p2p_op_list],
        [op.peer for op in p2p_op_list],
        [shape for shape, _ in receives],
        [dtype for _, dtype in receives],
        p2p_op_list[0].group or _DEFAULT,
    )
    return batch(tuple(_require_tensor("isend", op.tensor) for op in p2p_op_list if op.op == "isend"))


def _expected(index: int, op: P2POp) -> tuple[tuple[int, ...], Any]:
    if isinstance(op.tensor, Tensor):
        return op.tensor.shape, op.recv_dtype or op.tensor.dtype
    if op.recv_dtype is None:
        raise ValueError(f"'recv_dtype' of {index}th P2POp must be given, because its 'tensor' is a shape.")
    return op.tensor, op.recv_dtype


# -- all to all -------------------------------------------------------------------------------------------------------
def all_to_all_with_output_shape(
    output_shape_list: Any, input_tensor_list: Any, group: str | None = None, async_op: bool = False
) -> tuple:
    """Give tensor i to member i; the result is a tensor of the given shape from each member."""
    for name, given in (("output_shape_list", output_shape_list), ("input_tensor_list", input_tensor_list)):
        if not isinstance(given, (list, tuple)):
            raise TypeError(f"{name}: expected list or tuple, but got {type(given)}.")
    inputs = [_require_tensor("all_to_all_with_output_shape", t) for t in input_tensor_list]
    shapes = [_shape_of(s) for s in output_shape_list]
    dtypes = {values.dtype_of(t) for t in inputs}
    if len(dtypes) > 1:
        raise TypeError(f"all_to_all input dtype must be the same, but got {sorted(map(str, dtypes))}.")
    ranks = world.members(group or _DEFAULT)
    if not len(inputs) == len(shapes) == len(ranks):
        raise ValueError(f"a tensor and a shape must be given for each of {len(ranks)} processes.")
    operation = exchange.NeighborExchange(
        ranks, ranks, shapes, [t.shape for t in inputs], dtypes.pop(), group or _DEFAULT
    )
    return _with_handle(tuple(operation(*inputs)), async_op)


def _shape_of(given: Any) -> tuple[int, ...]:
    if isinstance(given, Tensor):
        return given.shape
    if isinstance(given, (tuple, list)):
        return tuple(given)
    raise TypeError(f"Expected tensor or tuple, but got {type(given)}")


def all_to_all_single_with_output_shape(
    output_shape: Any,
    tensor: Any,
    output_split_sizes: Any = None,
    input_split_sizes: Any = None,
    group: str | None = None,
    async_op: bool = False,
) -> tuple:
    """Cut a tensor along its first axis into parts for the members; join what they sent to `output_shape`."""
    _require_tensor("all_to_all_single_with_output_shape", tensor)
    shape, group = _shape_of(output_shape), group or _DEFAULT
    sends = _element_counts("input", tensor.shape, input_split_sizes, world.group_size(group))
    receives = _element_counts("output", shape, output_split_sizes, world.group_size(group))
    result = exchange.AlltoAllV(group)(tensor.reshape(-1), sends, receives)
    return _with_handle(result.reshape(shape), async_op)


def _element_counts(what: str, shape: tuple[int, ...], split_sizes: Any, size: int) -> list[int]:
    """Elements for each member, from rows for each member (equal by default)."""
    rows = shape[0] if shape else 1
    if not split_sizes:
        if rows % size:
            raise ValueError(f"{what} shape at dim 0 must be divided by world_size, but got {rows} and {size}.")
        split_sizes = [rows // size] * size
    if sum(split_sizes) != rows:
        raise ValueError(
            f"the split sizes of the {what} must add up to its first dimension {rows}, but got {split_sizes}."
        )
    row = math.prod(shape[1:])
    return [n * row for n in split_sizes]


def all_to_all_v_c(
    output: Any, input: Any, send_count_matrix: Any, group: str | None = None, async_op: bool = False
) -> Any:
    """Give members parts of a flat tensor by a matrix of counts, and write what they sent to `output`."""
    _require_tensor("all_to_all_v_c", output)
    _require_tensor("all_to_all_v_c", input)
    result = exchange.AlltoAllVC(group or _DEFAULT)(input.reshape(-1), send_count_matrix)
    output.assign_value(result.reshape(output.shape))
    return CommHandle() if async_op else None
