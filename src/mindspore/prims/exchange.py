"""Primitives that send different things to different processes: all-to-all in its variants, neighbours, point to point.

Counts, shapes and ranks are static. Like all collectives they are plain functions in a run of one process.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.ir import AbstractTensor, AbstractTuple
from mindspore.prims import checks, values, world
from mindspore.prims.collective import WORLD, AllGather, Collective, Place, ReduceScatter, _rank_in, _reduction
from mindspore.prims.elementwise import zeros_like

if TYPE_CHECKING:
    from mindspore.prims.array_types import Namespace
    from mindspore.prims.values import TensorBase


def _counts(prim: str, name: str, given: Any, size: int) -> list[int]:
    """A number of elements for each member, as a list."""
    given = values.static_value(given)
    if not isinstance(given, (list, tuple)):
        given = [given]
    found = [checks.integer(prim, f"element of {name}", v, 0) for v in given]
    if len(found) != size:
        raise ValueError(f"For '{prim}', '{name}' must have an element for each of {size} processes, but got {found}.")
    return found


def _flat(prim: str, x: Any, total: int) -> AbstractTensor:
    x = checks.tensor(prim, "input_x", x)
    if math.prod(x.shape) != total:
        raise ValueError(f"For '{prim}', the counts add up to {total} elements, but the input has shape {x.shape}.")
    return x


def _pieces(array: np.ndarray, counts: list[int]) -> list[np.ndarray]:
    return np.split(array.reshape(-1), np.cumsum(counts)[:-1])


class AlltoAll(Collective):
    """Cut along `split_dim`, give part i to member i, join what came along `concat_dim`.

    Examples:
        >>> print(ops.AlltoAll(1, 0, 0)(Tensor([[1.0, 2.0]])))
        [[1. 2.]]
    """

    def __init__(self, split_count: int, split_dim: int, concat_dim: int, group: str = WORLD):
        checks.integer("AlltoAll", "split_count", split_count, 1)
        checks.integer("AlltoAll", "split_dim", split_dim)
        checks.integer("AlltoAll", "concat_dim", concat_dim)
        super().__init__(group, split_count=split_count, split_dim=split_dim, concat_dim=concat_dim)

    def infer(self, x: AbstractTensor) -> Any:
        x = checks.tensor(self.name, "input_x", x)
        if self.split_count != self.size:
            raise ValueError(
                f"For '{self.name}', 'split_count' must be the size of group '{self.group}', {self.size}, "
                f"but got {self.split_count}."
            )
        split = checks.axis(self.name, self.split_dim, len(x.shape), "split_dim")
        concat = checks.axis(self.name, self.concat_dim, len(x.shape), "concat_dim")
        shape = list(x.shape)
        if shape[split] % self.split_count:
            raise ValueError(
                f"For '{self.name}', dimension {split} of the input must be divisible by 'split_count' "
                f"{self.split_count}, but got shape {x.shape}."
            )
        shape[split] //= self.split_count
        shape[concat] *= self.split_count
        return AbstractTensor(x.dtype, tuple(shape))

    def communicate(self, x: Any) -> Any:
        pending, finish = self.begin(x)
        return finish(pending.wait())

    def begin(self, x: Any) -> tuple[world.UnderWay, Callable[[Any], Any]]:
        parts = np.split(x, self.split_count, self.split_dim)
        expected = [(p.shape, p.dtype) for p in parts]
        started = world.transport().start_all_to_all(parts, expected, world.members(self.group))
        return started, lambda got: np.concatenate(got, self.concat_dim)

    def eval(self, xp: Namespace, x: Any) -> Any:
        return xp.array(x) if self.size == 1 else super().eval(xp, x)

    def on_mesh(self, jax: Any, place: Place, x: Any) -> Any:
        dims = {"split_axis": self.split_dim % x.ndim, "concat_axis": self.concat_dim % x.ndim}
        return jax.lax.all_to_all(x, **dims, tiled=True, **place._asdict())

    def bprop(self, x: Any, out: TensorBase, dout: TensorBase) -> tuple:
        return (AlltoAll(self.split_count, self.concat_dim, self.split_dim, self.group)(dout),)


class Shift(Collective):
    """Give a tensor to the next member of a group, the last one to the first; the result is what the member before gave.

    Examples:
        >>> from mindspore.prims.exchange import Shift
        >>> print(Shift()(Tensor([1.0, 2.0])))
        [1. 2.]
    """

    def __init__(self, group: str = WORLD):
        super().__init__(group)

    def infer(self, x: AbstractTensor) -> Any:
        return checks.tensor(self.name, "input_x", x)

    def neighbours(self) -> tuple[int, int]:
        """The ranks of the member before this one, and of the next."""
        ranks = world.members(self.group)
        here = ranks.index(world.transport().rank)
        return ranks[here - 1], ranks[(here + 1) % len(ranks)]

    def communicate(self, x: Any) -> Any:
        before, after = self.neighbours()
        return world.transport().exchange([world.Message(after, x)], [world.Expected(before, x.shape, x.dtype)])[0]

    def eval(self, xp: Namespace, x: Any) -> Any:
        return xp.array(x) if self.size == 1 else super().eval(xp, x)

    def on_mesh(self, jax: Any, place: Place, x: Any) -> Any:
        if place.axis_index_groups is not None:
            pairs = [(a, b) for ranks in place.axis_index_groups for a, b in zip(ranks, (*ranks[1:], ranks[0]))]
        else:
            count = jax.lax.axis_size(place.axis_name)
            pairs = [(i, (i + 1) % count) for i in range(count)]
        return jax.lax.ppermute(x, place.axis_name, pairs)

    def bprop(self, x: Any, out: TensorBase, dout: TensorBase) -> tuple:
        """Back to where it came from: around the rest of the ring."""
        for _ in range(self.size - 1):
            dout = self(dout)
        return (dout,)


class AlltoAllV(Collective):
    """Give each member its own number of elements of a flat tensor: `op(x, send_numel_list, recv_numel_list)`.

    Examples:
        >>> print(ops.AlltoAllV()(Tensor([1.0, 2.0]), [2], [2]))
        [1. 2.]
    """

    def __init__(self, group: str = WORLD, block_size: int = 1):
        super().__init__(group, block_size=checks.integer("AlltoAllV", "block_size", block_size, 1))

    def _numbers(self, name: str, given: Any) -> list[int]:
        return [n * self.block_size for n in _counts(self.name, name, given, self.size)]

    def infer(self, x: AbstractTensor, send_numel_list: Any, recv_numel_list: Any) -> Any:
        x = _flat(self.name, x, sum(self._numbers("send_numel_list", send_numel_list)))
        return AbstractTensor(x.dtype, (sum(self._numbers("recv_numel_list", recv_numel_list)),))

    def communicate(self, x: Any, send_numel_list: Any, recv_numel_list: Any) -> Any:
        pending, finish = self.begin(x, send_numel_list, recv_numel_list)
        return finish(pending.wait())

    def begin(self, x: Any, send_numel_list: Any, recv_numel_list: Any) -> tuple[world.UnderWay, Callable[[Any], Any]]:
        parts = _pieces(x, self._numbers("send_numel_list", send_numel_list))
        expected = [((n,), x.dtype) for n in self._numbers("recv_numel_list", recv_numel_list)]
        return world.transport().start_all_to_all(parts, expected, world.members(self.group)), np.concatenate

    def prepare(self, args: tuple) -> tuple:
        x, *counts = args
        return (x, *(tuple(values.static_value(c)) for c in counts))

    def bprop(
        self, x: TensorBase, send_numel_list: Any, recv_numel_list: Any, out: TensorBase, dout: TensorBase
    ) -> tuple:
        back = AlltoAllV(self.group, self.block_size)(dout, recv_numel_list, send_numel_list)
        return back.reshape(x.shape), None, None


class AlltoAllVC(AlltoAllV):
    """The same with one matrix for all: row i holds the numbers of elements that member i sends to each.

    Examples:
        >>> print(ops.AlltoAllVC()(Tensor([1.0, 2.0]), Tensor([[2]])))
        [1. 2.]
    """

    def __init__(self, group: str = WORLD, block_size: int = 1, transpose: bool = False):
        Collective.__init__(self, group, block_size=block_size, transpose=transpose)

    def _from_matrix(self, given: Any) -> tuple[list[int], list[int]]:
        size, here = self.size, world.group_rank(self.group)
        matrix: np.ndarray = np.asarray(values.static_value(given), np.int64).reshape(-1)
        if matrix.size != size * size:
            raise ValueError(
                f"For '{self.name}', 'send_count_matrix' must have {size} x {size} elements, but got {matrix.size}."
            )
        matrix = matrix.reshape(size, size)
        matrix = matrix.T if self.transpose else matrix
        return matrix[here].tolist(), matrix[:, here].tolist()

    def prepare(self, args: tuple) -> tuple:
        x, matrix = args
        return (x, tuple(np.asarray(values.static_value(matrix), np.int64).reshape(-1).tolist()))

    def infer(self, x: Any, send_count_matrix: Any) -> Any:  # type: ignore[override]
        return super().infer(x, *self._from_matrix(send_count_matrix))

    def communicate(self, x: Any, send_count_matrix: Any) -> Any:  # type: ignore[override]
        return super().communicate(x, *self._from_matrix(send_count_matrix))

    def bprop(self, x: TensorBase, send_count_matrix: Any, out: Any, dout: Any) -> tuple:  # type: ignore[override]
        back = AlltoAllVC(self.group, self.block_size, not self.transpose)(dout, send_count_matrix)
        return back.reshape(x.shape), None


class AllGatherV(Collective):
    """Flat tensors of different sizes of all members, one after the other: `op(x, output_split_sizes)`.

    Examples:
        >>> print(ops.AllGatherV()(Tensor([1.0, 2.0]), [2]))
        [1. 2.]
    """

    def __init__(self, group: str = WORLD):
        super().__init__(group)

    def prepare(self, args: tuple) -> tuple:
        return (args[0], tuple(values.static_value(args[1])))

    def infer(self, x: AbstractTensor, output_split_sizes: Any) -> Any:
        counts = _counts(self.name, "output_split_sizes", output_split_sizes, self.size)
        x = _flat(self.name, x, counts[world.group_rank(self.group)])
        return AbstractTensor(x.dtype, (sum(counts),))

    def communicate(self, x: Any, output_split_sizes: Any) -> Any:
        expected = [((n,), x.dtype) for n in _counts(self.name, "output_split_sizes", output_split_sizes, self.size)]
        flat = x.reshape(-1)
        return np.concatenate(world.transport().all_to_all([flat] * self.size, expected, world.members(self.group)))

    def bprop(self, x: TensorBase, output_split_sizes: Any, out: TensorBase, dout: TensorBase) -> tuple:
        return ReduceScatterV("sum", self.group)(dout, output_split_sizes).reshape(x.shape), None


class ReduceScatterV(Collective):
    """Combine flat tensors of all members; member i keeps `input_split_sizes[i]` elements.

    Examples:
        >>> print(ops.ReduceScatterV()(Tensor([1.0, 2.0]), [2]))
        [1. 2.]
    """

    def __init__(self, op: str = "sum", group: str = WORLD):
        super().__init__(group, op=_reduction("ReduceScatterV", op))

    def prepare(self, args: tuple) -> tuple:
        return (args[0], tuple(values.static_value(args[1])))

    def infer(self, x: AbstractTensor, input_split_sizes: Any) -> Any:
        counts = _counts(self.name, "input_split_sizes", input_split_sizes, self.size)
        x = _flat(self.name, self.check(x), sum(counts))
        return AbstractTensor(x.dtype, (counts[world.group_rank(self.group)],))

    def communicate(self, x: Any, input_split_sizes: Any) -> Any:
        counts = _counts(self.name, "input_split_sizes", input_split_sizes, self.size)
        expected = [((counts[world.group_rank(self.group)],), x.dtype)] * self.size
        got = world.transport().all_to_all(_pieces(x, counts), expected, world.members(self.group))
        return world.reduce_arrays(self.op, got)

    def bprop(self, x: TensorBase, input_split_sizes: Any, out: TensorBase, dout: TensorBase) -> tuple:
        gathered = AllGatherV(self.group)(dout, input_split_sizes).reshape(x.shape)
        if self.op == "avg":
            gathered = gathered / self.size
        elif self.op != "sum" and self.size > 1:
            raise RuntimeError(f"For '{self.name}', the gradient exists for the reductions 'sum' and 'avg' only.")
        return gathered, None


class NeighborExchange(Collective):
    """Send tensor i to `send_rank_ids[i]`; tensor j of the result comes from `recv_rank_ids[j]`.

    Examples:
        >>> exchange = ops.NeighborExchange([0], [0], [(2,)], [(2,)], ms.float32)
        >>> print(exchange((Tensor([1.0, 2.0]),))[0])
        [1. 2.]
    """

    variadic = True
    must_happen = True

    def __init__(
        self,
        send_rank_ids: Any,
        recv_rank_ids: Any,
        recv_shapes: Any,
        send_shapes: Any,
        recv_type: Any,
        group: str = WORLD,
    ):
        super().__init__(
            group,
            send_rank_ids=send_rank_ids,
            recv_rank_ids=recv_rank_ids,
            recv_shapes=recv_shapes,
            send_shapes=send_shapes,
            recv_type=recv_type,
        )

    def infer(self, *xs: Any) -> Any:
        if not isinstance(self.recv_type, mstype.DType):
            raise TypeError(f"For '{self.name}', the 'recv_type' must be a type of mindspore, but got {self.recv_type!r}.")
        targets, sources = (_ranks_in(name, getattr(self, name)) for name in ("send_rank_ids", "recv_rank_ids"))
        sent, received = (_shapes_in(name, getattr(self, name)) for name in ("send_shapes", "recv_shapes"))
        shapes = tuple(x.shape for x in xs)
        if shapes != sent or len(shapes) != len(targets):
            raise ValueError(f"For '{self.name}', the inputs must have shapes {sent}, but got {shapes}.")
        if len(received) != len(sources):
            raise ValueError(f"For '{self.name}', {len(received)} shapes are to be received from {len(sources)} ranks.")
        return AbstractTuple(tuple(AbstractTensor(self.recv_type, shape) for shape in received))

    def communicate(self, *xs: Any) -> Any:
        sends = [world.Message(rank, x) for rank, x in zip(self.send_rank_ids, xs)]
        dtype = self.recv_type.np
        receives = [world.Expected(rank, tuple(s), dtype) for rank, s in zip(self.recv_rank_ids, self.recv_shapes)]
        return tuple(world.transport().exchange(sends, receives))

    def bprop(self, *args: Any) -> tuple:
        dout = args[-1]
        back = NeighborExchange(
            self.recv_rank_ids, self.send_rank_ids, self.send_shapes, self.recv_shapes, self.recv_type, self.group
        )
        return back(*dout)


def _ranks_in(name: str, ranks: Any) -> tuple[int, ...]:
    if not isinstance(ranks, (list, tuple)):
        raise TypeError(f"For 'NeighborExchange', the '{name}' must be a list of ranks, but got {type(ranks).__name__}.")
    return tuple(_rank_in("NeighborExchange", name, rank) for rank in ranks)


def _shapes_in(name: str, shapes: Any) -> tuple[tuple[int, ...], ...]:
    if not isinstance(shapes, (list, tuple)) or not all(isinstance(shape, (list, tuple)) for shape in shapes):
        raise TypeError(f"For 'NeighborExchange', the '{name}' must be a tuple of shapes, but got {shapes!r}.")
    return tuple(tuple(shape) for shape in shapes)


class Send(Collective):
    """Send a tensor to the member of rank `dest_rank`; the result is the tensor.

    Examples:
        >>> sent = ops.Send(0, 0)(Tensor([1.0, 2.0]))
        >>> print(ops.Receive(0, 0, [2], ms.float32)(sent))
        [1. 2.]
    """

    must_happen = True

    def __init__(self, sr_tag: int, dest_rank: int, group: str = WORLD, group_back: str = WORLD):
        super().__init__(
            group, sr_tag=sr_tag, dest_rank=_rank_in("Send", "dest_rank", dest_rank), group_back=group_back
        )

    @property
    def effect(self) -> str:  # type: ignore[override]
        return "io"

    def infer(self, x: AbstractTensor) -> Any:
        x = checks.tensor(self.name, "input_x", x)
        return AbstractTensor(x.dtype, x.shape)

    def communicate(self, x: Any) -> Any:
        world.transport().exchange([world.Message(self.dest_rank, x)], [], self.sr_tag)
        return x

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        return (Receive(self.sr_tag, self.dest_rank, x.shape, x.dtype, self.group_back)(x),)


class Receive(Collective):
    """A tensor that the member of rank `src_rank` sends; the input, if any, only orders the call.

    Examples:
        >>> sent = ops.Send(0, 0)(Tensor([3.0, 4.0]))
        >>> print(ops.Receive(0, 0, [2], ms.float32)(sent))
        [3. 4.]
    """

    must_happen = True

    def __init__(self, sr_tag: int, src_rank: int, shape: Any, dtype: Any, group: str = WORLD, group_back: str = WORLD):
        super().__init__(
            group,
            sr_tag=sr_tag,
            src_rank=_rank_in("Receive", "src_rank", src_rank),
            shape=checks.shape("Receive", shape),
            dtype=mstype.to_dtype(dtype),
            group_back=group_back,
        )

    @property
    def effect(self) -> str:  # type: ignore[override]
        return "io"

    def infer(self, *_: Any) -> Any:
        return AbstractTensor(self.dtype, self.shape)

    def communicate(self, *_: Any) -> Any:
        expected = world.Expected(self.src_rank, self.shape, self.dtype.np)
        return world.transport().exchange([], [expected], self.sr_tag)[0]

    def begin(self, *_: Any) -> tuple[world.UnderWay, Callable[[Any], Any]]:
        expected = world.Expected(self.src_rank, self.shape, self.dtype.np)
        return world.transport().start_exchange([], [expected], self.sr_tag), lambda results: results[0]

    def bprop(self, *args: Any) -> tuple:
        *xs, _, dout = args
        Send(self.sr_tag, self.src_rank, self.group_back)(dout)
        return tuple(zeros_like(x) for x in xs)


class BatchISendIRecv(Collective):
    """Several sends and receives at once: `op_types` holds "isend" and "irecv"; one input for each "isend".

    Examples:
        >>> exchange = ops.BatchISendIRecv(["isend", "irecv"], [0, 0], [(2,)], (ms.float32,))
        >>> sent, received = exchange((Tensor([1.0, 2.0]),))
        >>> print(received)
        [1. 2.]
    """

    variadic = True
    must_happen = True

    def __init__(
        self,
        op_types: Any,
        remote_ranks: Any,
        receive_shapes: Any = None,
        receive_dtypes: Any = None,
        group: str = WORLD,
    ):
        for kind in op_types:
            checks.one_of("BatchISendIRecv", "element of op_types", kind, ("isend", "irecv"))
        if len(remote_ranks) != len(op_types):
            raise ValueError(f"For 'BatchISendIRecv', a rank for each of {len(op_types)} operations must be given.")
        super().__init__(
            group,
            op_types=tuple(op_types),
            remote_ranks=tuple(remote_ranks),
            receive_shapes=tuple(tuple(s) for s in receive_shapes or ()),
            receive_dtypes=tuple(mstype.to_dtype(d) for d in receive_dtypes or ()),
        )

    @property
    def effect(self) -> str:  # type: ignore[override]
        return "io"

    def _received(self) -> list[AbstractTensor]:
        return [AbstractTensor(d, s) for d, s in zip(self.receive_dtypes, self.receive_shapes)]

    def infer(self, *xs: Any) -> Any:
        sent, received = iter(xs), iter(self._received())
        outs = [next(received if kind == "irecv" else sent) for kind in self.op_types]
        return AbstractTuple(tuple(AbstractTensor(o.dtype, o.shape) for o in outs))

    def communicate(self, *xs: Any) -> Any:
        plan = list(zip(self.op_types, self.remote_ranks))
        sends = [world.Message(rank, x) for rank, x in zip([r for k, r in plan if k == "isend"], xs)]
        sources = [rank for kind, rank in plan if kind == "irecv"]
        receives = [world.Expected(r, o.shape, o.dtype.np) for r, o in zip(sources, self._received())]
        sent, got = iter(xs), iter(world.transport().exchange(sends, receives))
        return tuple(next(got if kind == "irecv" else sent) for kind in self.op_types)

    def bprop(self, *args: Any) -> tuple:
        """What was received goes back to where it came from, and the other way; a sent tensor is also a result itself."""
        out, dout = args[-2:]
        back = ["irecv" if kind == "isend" else "isend" for kind in self.op_types]
        sent = [o for o, kind in zip(out, self.op_types) if kind == "isend"]
        operation = BatchISendIRecv(back, self.remote_ranks, [x.shape for x in sent], [x.dtype for x in sent], self.group)
        got = operation(tuple(d for d, kind in zip(dout, self.op_types) if kind == "irecv"))
        returned = [g for g, kind in zip(got, back) if kind == "irecv"]
        direct = [d for d, kind in zip(dout, self.op_types) if kind == "isend"]
        return tuple(g + d for g, d in zip(returned, direct))


__all__ = [
    "AllGather", "AllGatherV", "AlltoAll", "AlltoAllV", "AlltoAllVC", "BatchISendIRecv", "NeighborExchange", "Receive",
    "ReduceScatter", "ReduceScatterV", "Send",
]  # fmt: skip
