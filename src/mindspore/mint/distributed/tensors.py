"""Collective functions on tensors. Results are written into the tensors given, which keep their shapes and types."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mindspore.common.tensor import Tensor
from mindspore.communication import comm_func
from mindspore.communication.comm_func import CommHandle, begun
from mindspore.mint.distributed.groups import _name
from mindspore.ops import concat
from mindspore.prims import collective, exchange, world


def _check(function: str, *tensors: Any) -> None:
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"For {function}, the arguments must be Tensors, but got {type(tensor).__name__}.")


def _check_list(function: str, tensors: Any, length: int | None = None) -> None:
    if not isinstance(tensors, (list, tuple)) or not tensors:
        raise TypeError(f"For {function}, a list of Tensors must be given, but got {tensors!r}.")
    _check(function, *tensors)
    if length is not None and len(tensors) != length:
        raise ValueError(f"For {function}, {length} tensors are needed, one for each process, but got {len(tensors)}.")


def _write(function: str, target: Any, value: Tensor) -> None:
    """Replace the target's value by one of the same size and type."""
    if value.dtype != target.dtype:
        raise TypeError(f"For {function}, the output has type {target.dtype}, but the result {value.dtype}.")
    if math.prod(target.shape) != math.prod(value.shape):
        raise ValueError(f"For {function}, the output has shape {target.shape}, but the result {value.shape}.")
    target.assign_value(value.reshape(target.shape))


def _handle(async_op: bool) -> CommHandle | None:
    return CommHandle() if async_op else None


def _awaited(handle: CommHandle, async_op: bool) -> CommHandle | None:
    """The handle, for those who want to wait later."""
    if async_op:
        return handle
    handle.wait()
    return None


def _into(
    function: str, prim: collective.Collective, source: Any, target: Any, async_op: bool, *static: Any
) -> CommHandle | None:
    """Write the result of an operation on `source` into `target`, now or when the handle is waited for."""
    return _awaited(begun(prim, source, lambda value: _write(function, target, value), *static), async_op)


def _into_each(function: str, prim: collective.Collective, source: Any, targets: Any, async_op: bool) -> CommHandle | None:
    """The same, row i of the result into target i."""

    def deliver(rows: Tensor) -> None:
        for number, target in enumerate(targets or ()):
            _write(function, target, rows[number])

    return _awaited(begun(prim, source, deliver), async_op)


def _group_op(function: str, op: Any) -> str:
    if not isinstance(op, str) or op not in world.REDUCTIONS:
        raise TypeError(f"For {function}, 'op' must be one of {world.REDUCTIONS}, but got {op!r}.")
    return op


# -- one tensor each --------------------------------------------------------------------------------------------------
def all_reduce(tensor: Any, op: str = "sum", group: str | None = None, async_op: bool = False) -> CommHandle | None:
    """Combine the tensors of all members into `tensor`, everywhere."""
    _check("all_reduce", tensor)
    return _into("all_reduce", collective.AllReduce(_group_op("all_reduce", op), _name(group)), tensor, tensor, async_op)


def reduce(
    tensor: Any, dst: int, op: str = "sum", group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Combine the tensors of all members into that of rank `dst`."""
    _check("reduce", tensor)
    return _into("reduce", collective.Reduce(dst, _group_op("reduce", op), _name(group)), tensor, tensor, async_op)


def broadcast(tensor: Any, src: int, group: str | None = None, async_op: bool = False) -> CommHandle | None:
    """Write the tensor of rank `src` into `tensor` everywhere."""
    _check("broadcast", tensor)
    source = comm_func.require_rank("broadcast", "src", src)
    return _into("broadcast", collective.Broadcast(source, _name(group)), tensor, tensor, async_op)


def barrier(group: str | None = None, async_op: bool = False, device_ids: Any = None) -> CommHandle | None:
    """Wait until all members have come here."""
    comm_func.barrier(_name(group))
    return _handle(async_op)


# -- gathering and scattering -----------------------------------------------------------------------------------------
def all_gather_into_tensor(
    output_tensor: Any, input_tensor: Tensor, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Write the tensors of all members, joined along the first axis, into `output_tensor`."""
    _check("all_gather_into_tensor", output_tensor, input_tensor)
    source = input_tensor if input_tensor.ndim else input_tensor.reshape((1,))
    return _into("all_gather_into_tensor", collective.AllGather(_name(group)), source, output_tensor, async_op)


def gather_into_tensor(
    output_tensor: Any, input_tensor: Any, dst: int = 0, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """At rank `dst`, write the tensors of all members, joined along the first axis, into `output_tensor`."""
    _check("gather_into_tensor", output_tensor, input_tensor)
    gather_all = collective.CollectiveGather(dst, _name(group))

    def deliver(gathered: Tensor) -> None:
        if world.transport().rank == dst:
            _write("gather_into_tensor", output_tensor, gathered)

    return _awaited(begun(gather_all, input_tensor, deliver), async_op)


def scatter_tensor(
    output_tensor: Any, input_tensor: Any, src: int = 0, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Write this member's part, along the first axis, of the tensor of rank `src` into `output_tensor`."""
    _check("scatter_tensor", output_tensor, input_tensor)
    return _into("scatter_tensor", collective.CollectiveScatter(src, _name(group)), input_tensor, output_tensor, async_op)


def all_gather(
    tensor_list: list, tensor: Tensor, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Write the tensor of member i into `tensor_list[i]`."""
    size = world.group_size(_name(group))
    _check("all_gather", tensor)
    _check_list("all_gather", tensor_list, size)
    row = tensor.reshape((1, *tensor.shape))
    return _into_each("all_gather", collective.AllGather(_name(group)), row, tensor_list, async_op)


def gather(
    tensor: Tensor, gather_list: list | None, dst: int = 0, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """At rank `dst`, write the tensor of member i into `gather_list[i]`."""
    _check("gather", tensor)
    if world.transport().rank == dst:
        _check_list("gather", gather_list, world.group_size(_name(group)))
    targets = gather_list if world.transport().rank == dst else ()
    row = tensor.reshape((1, *tensor.shape))
    return _into_each("gather", collective.CollectiveGather(dst, _name(group)), row, targets, async_op)


def scatter(
    tensor: Any, scatter_list: list | None, src: int = 0, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Write element i of the list of rank `src` into the `tensor` of member i."""
    size = world.group_size(_name(group))
    _check("scatter", tensor)
    if world.transport().rank == src:
        _check_list("scatter", scatter_list, size)
    parts = scatter_list if world.transport().rank == src else [tensor] * size
    joined = concat([part.reshape((1, *part.shape)) for part in parts or ()])
    return _into("scatter", collective.CollectiveScatter(src, _name(group)), joined, tensor, async_op)


def reduce_scatter_tensor(
    output: Any, input: Tensor, op: str = "sum", group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Combine the inputs of all members; write this member's part along the first axis into `output`."""
    _check("reduce_scatter_tensor", output, input)
    operation = collective.ReduceScatter(_group_op("reduce_scatter_tensor", op), _name(group))
    return _into("reduce_scatter_tensor", operation, input, output, async_op)


def reduce_scatter(
    output: Any, input_list: list, op: str = "sum", group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Combine element i of the lists of all members into the `output` of member i."""
    _check("reduce_scatter", output)
    _check_list("reduce_scatter", input_list, world.group_size(_name(group)))
    joined = concat([part.reshape((1, *part.shape)) for part in input_list])
    operation = collective.ReduceScatter(_group_op("reduce_scatter", op), _name(group))
    return _into("reduce_scatter", operation, joined, output, async_op)


# -- parts of different sizes -----------------------------------------------------------------------------------------
def _elements(function: str, shape: tuple[int, ...], split_sizes: Sequence[int] | None, size: int) -> list[int]:
    """Elements for each member from rows for each member; equal shares by default."""
    rows, row = (shape[0], math.prod(shape[1:])) if shape else (1, 1)
    if not split_sizes:
        if rows % size:
            raise ValueError(f"For {function}, {rows} rows cannot be shared equally by {size} processes.")
        split_sizes = [rows // size] * size
    if len(split_sizes) != size or sum(split_sizes) != rows:
        raise ValueError(
            f"For {function}, the sizes for {size} processes must add up to {rows}, but got {list(split_sizes)}."
        )
    return [n * row for n in split_sizes]


def all_gather_into_tensor_uneven(
    output: Tensor, input: Tensor, output_split_sizes: Any = None, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """`all_gather_into_tensor` where members have different numbers of rows."""
    name = "all_gather_into_tensor_uneven"
    _check(name, output, input)
    counts = _elements(name, output.shape, output_split_sizes, world.group_size(_name(group)))
    _write(name, output, exchange.AllGatherV(_name(group))(input.reshape(-1), counts))
    return _handle(async_op)


def reduce_scatter_tensor_uneven(
    output: Any,
    input: Tensor,
    input_split_sizes: Any = None,
    op: str = "sum",
    group: str | None = None,
    async_op: bool = False,
) -> CommHandle | None:
    """`reduce_scatter_tensor` where members keep different numbers of rows."""
    name = "reduce_scatter_tensor_uneven"
    _check(name, output, input)
    counts = _elements(name, input.shape, input_split_sizes, world.group_size(_name(group)))
    operation = exchange.ReduceScatterV(_group_op(name, op), _name(group))
    _write(name, output, operation(input.reshape(-1), counts))
    return _handle(async_op)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Any = None,
    input_split_sizes: Any = None,
    group: str | None = None,
    async_op: bool = False,
) -> CommHandle | None:
    """Give members parts of `input` along the first axis; write what they gave into `output`."""
    _check("all_to_all_single", output, input)
    size = world.group_size(_name(group))
    sends = _elements("all_to_all_single", input.shape, input_split_sizes, size)
    receives = _elements("all_to_all_single", output.shape, output_split_sizes, size)
    operation = exchange.AlltoAllV(_name(group))
    return _into("all_to_all_single", operation, input.reshape(-1), output, async_op, sends, receives)


def all_to_all(
    output_tensor_list: list, input_tensor_list: list, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Give tensor i to member i; write what member i gave into `output_tensor_list[i]`."""
    size = world.group_size(_name(group))
    _check_list("all_to_all", output_tensor_list, size)
    _check_list("all_to_all", input_tensor_list, size)
    results, _ = comm_func.all_to_all_with_output_shape(output_tensor_list, input_tensor_list, _name(group))
    for target, value in zip(output_tensor_list, results):
        _write("all_to_all", target, value)
    return _handle(async_op)


# -- point to point ---------------------------------------------------------------------------------------------------
def send(tensor: Any, dst: int = 0, group: str | None = None, tag: int = 0) -> None:
    """Send a tensor to rank `dst`."""
    comm_func.send(tensor, dst, _name(group), tag)


def recv(tensor: Any, src: int = 0, group: str | None = None, tag: int = 0) -> int:
    """Write what rank `src` sends into `tensor`; returns the rank it came from."""
    _check("recv", tensor)
    _write("recv", tensor, comm_func.recv(tensor, src, _name(group), tag))
    return src


def isend(tensor: Any, dst: int = 0, group: str | None = None, tag: int = 0) -> CommHandle:
    """`send`, with a handle to wait for."""
    send(tensor, dst, group, tag)
    return CommHandle()


def irecv(tensor: Any, src: int = 0, group: str | None = None, tag: int = 0) -> CommHandle:
    """`recv`, with a handle to wait for."""
    _check("irecv", tensor)
    receive = exchange.Receive(tag, comm_func.require_rank("irecv", "src", src), tensor.shape, tensor.dtype, _name(group))
    return begun(receive, tensor, lambda value: _write("irecv", tensor, value))


class P2POp(comm_func.P2POp):
    """One send or receive of `batch_isend_irecv`."""

    def __init__(self, op: Any, tensor: Any, peer: int, group: str | None = None, tag: int = 0):
        _check("P2POp", tensor)
        super().__init__(op, tensor, peer, group, tag)


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[CommHandle]:
    """Carry out sends and receives together; what is received is written into the tensors of the receives."""
    results = comm_func.batch_isend_irecv(p2p_op_list)
    for operation, value in zip(p2p_op_list, results):
        if operation.op == "irecv":
            _write("irecv", operation.tensor, value)
    return [CommHandle()]
