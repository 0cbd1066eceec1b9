"""Collective primitives: what the processes of a group compute together.

In a run of one process they are plain functions of their inputs (`AllReduce` is the identity), and compilers treat them
so. Otherwise `mindspore.prims.world` moves the data, or native code and XLA have operations of their own.
Shapes follow from the size of the group.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.optional import require
from mindspore.ir import AbstractTensor, AbstractTuple
from mindspore.prims import checks, values, world
from mindspore.prims.active import ACTIVE
from mindspore.prims.debug import io_token
from mindspore.prims.primitive import Primitive

if TYPE_CHECKING:
    from mindspore.prims.array_types import Array, Namespace
    from mindspore.prims.values import TensorBase

WORLD = world.WORLD_GROUPS[0]


class ReduceOp:
    """Names of the ways in which `AllReduce`, `Reduce` and `ReduceScatter` combine values.

    Examples:
        >>> ops.ReduceOp.SUM, ops.ReduceOp.MAX
        ('sum', 'max')
    """

    SUM = "sum"
    MAX = "max"
    MIN = "min"
    PROD = "prod"
    AVG = "avg"


class Place(NamedTuple):
    """Where the members of a group are in an XLA program that many devices run; the names are those of XLA's operations.

    They are the devices along axes of the program's mesh, or, with index groups, one of several groups along its only axis.
    """

    axis_name: str | tuple[str, ...]
    axis_index_groups: list[list[int]] | None = None


class Collective(Primitive):
    """Base: a group of processes, and `communicate`, which works on NumPy arrays."""

    def __init__(self, group: str = WORLD, **attrs: Any):
        name = type(self).__name__
        if not isinstance(group, str):
            raise TypeError(f"For '{name}', the 'group' must be str, but got {type(group).__name__}.")
        super().__init__(name, **attrs, group=group)
        self.rank_size = world.group_size(group)

    @property
    def effect(self) -> str:  # type: ignore[override]
        return "io" if world.transport().size > 1 else ""

    #: a graph does it even where nobody reads its result: another process, whose program may differ, waits for it
    must_happen: ClassVar[bool] = False

    def __call__(self, *args: Any) -> Any:
        if not self.must_happen or ACTIVE.builder is None:
            return super().__call__(*args)
        token = io_token()  # of what must happen before this
        result = super().__call__(*_after(args, token))
        done = result[0] if isinstance(result, tuple) else result
        ACTIVE.builder.write(token, ACTIVE.builder.node_of(After()(token, done)))
        return result

    @property
    def size(self) -> int:
        return world.group_size(self.group)

    def communicate(self, *args: Any) -> Any:
        """The result, from NumPy arrays and static arguments."""
        raise TypeError(f"{self.name} must define communicate")

    def begin(self, *args: Any) -> tuple[world.UnderWay, Callable[[Any], Any]]:
        """`communicate` begun: what to wait for, and how its result becomes that of the operation."""
        return world.Done(self.communicate(*args)), lambda result: result

    def eval(self, xp: Namespace, *args: Any) -> Any:
        return self.communicate(*args) if xp is np else _on_host(self, args)

    #: `on_mesh(jax, place, …)`: the operation in an XLA program that many devices run, by XLA's own collectives
    on_mesh: Any = None

    def place_among_processes(self, axis: str) -> Place | None:
        """Where the group is in a program of all processes, whose mesh has one axis; None: the operation has no form there."""
        if self.on_mesh is None:
            return None
        everyone = list(range(world.transport().size))
        groups = world.all_like(self.group)
        if groups is None:
            return None
        return Place(axis) if groups == [everyone] else Place(axis, groups)

    def check(self, x: AbstractTensor, name: str = "input_x") -> AbstractTensor:
        x = checks.tensor(self.name, name, x)
        checks.dtype_in(self.name, name, x.dtype, "iufc")
        return x

    def divided(self, x: AbstractTensor, parts: int) -> tuple[int, ...]:
        """The shape of one of `parts` equal pieces along the first axis."""
        if not x.shape or x.shape[0] % parts:
            raise ValueError(
                f"For '{self.name}', the first dimension of the input must be divisible by the size of the group "
                f"'{self.group}', {parts}, but got shape {x.shape}."
            )
        return (x.shape[0] // parts, *x.shape[1:])


def _after(args: tuple, token: Any) -> tuple:
    """Arguments that are there only when the token is."""
    if not args:
        return (token,)
    first = args[0]
    if isinstance(first, (tuple, list)):
        return ((*_after(tuple(first), token),), *args[1:]) if first else args
    return (After()(first, token), *args[1:])


class After(Primitive):
    """`After()(x, other)` is x, once `other` has been computed.

    Examples:
        >>> from mindspore.prims.collective import After
        >>> print(After()(Tensor([1.0]), Tensor(0)))
        [1.]
    """

    effect = "io"

    def __init__(self) -> None:
        super().__init__("After")

    def infer(self, x: Any, other: Any) -> Any:
        return AbstractTensor(x.dtype, x.shape)

    def eval(self, xp: Namespace, x: Any, other: Any) -> Any:
        return xp.asarray(x)

    def bprop(self, x: TensorBase, other: Any, out: TensorBase, dout: TensorBase) -> tuple:
        return dout, None


def _on_host(prim: Collective, args: tuple) -> Any:
    """Run `communicate` as an ordered host callback of a compiled XLA program."""
    jax = require("jax", "xla", "collectives in compiled graphs")
    from jax.experimental import io_callback

    is_array = [hasattr(a, "dtype") and hasattr(a, "shape") for a in args]
    abstract = [
        AbstractTensor(mstype.from_numpy(a.dtype), tuple(a.shape)) if yes else a for a, yes in zip(args, is_array)
    ]
    result = prim.infer(*abstract)
    outs = result.elements if isinstance(result, AbstractTuple) else (result,)
    shapes = tuple(jax.ShapeDtypeStruct(o.shape, o.dtype.np) for o in outs)

    def host(*arrays: Any) -> tuple:
        supply = iter(arrays)
        got = prim.communicate(*(np.asarray(next(supply)) if yes else a for a, yes in zip(args, is_array)))
        return got if isinstance(got, tuple) else (got,)

    got = io_callback(host, shapes, *(a for a, yes in zip(args, is_array) if yes), ordered=True)
    return tuple(got) if isinstance(result, AbstractTuple) else got[0]


def _rank_in(prim: str, name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"For '{prim}', the '{name}' must be int, but got {type(value).__name__}.")
    if value < 0:
        raise ValueError(f"For '{prim}', the '{name}' must not be negative, but got {value}.")
    return value


def _reduction(prim: str, op: Any) -> str:
    if not isinstance(op, str):
        raise TypeError(f"For '{prim}', the 'op' must be str, but got {type(op).__name__}.")
    return checks.one_of(prim, "op", op, world.REDUCTIONS)


# -- all members get the same -----------------------------------------------------------------------------------------
class AllReduce(Collective):
    """Combine the tensors of all members: `ops.AllReduce(ops.ReduceOp.SUM)(x)`.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> ops.AllReduce()(Tensor([1.0])).tolist()
        [1.0]
    """

    awaited = True

    def __init__(self, op: str = ReduceOp.SUM, group: str = WORLD):
        super().__init__(group, op=_reduction("AllReduce", op))

    def infer(self, x: AbstractTensor) -> Any:
        x = self.check(x)
        return AbstractTensor(x.dtype, x.shape)

    def communicate(self, x: Any) -> Any:
        return world.transport().all_reduce(x, self.op, world.members(self.group))

    def begin(self, x: Any) -> tuple[world.UnderWay, Callable[[Any], Any]]:
        return world.transport().start_all_reduce(x, self.op, world.members(self.group)), lambda result: result

    def on_mesh(self, jax: Any, place: Place, x: Any) -> Any:
        def total(y: Any) -> Any:
            return jax.lax.psum(y, **place._asdict())

        if self.op in ("max", "min") and jax.numpy.issubdtype(x.dtype, jax.numpy.integer):
            return (jax.lax.pmax if self.op == "max" else jax.lax.pmin)(x, **place._asdict())
        return _combined(jax, self.op, x, self.size, total, lambda y: jax.lax.all_gather(y, **place._asdict()))

    def eval(self, xp: Namespace, x: Array) -> Any:
        return xp.array(x) if self.size == 1 else super().eval(xp, x)

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        if self.op == "avg":
            return (AllReduce("avg", self.group)(dout),)
        total = AllReduce("sum", self.group)(dout)
        if self.op == "sum" or self.size == 1:
            return (total,)
        if self.op == "prod":
            return (total * _product_of_others(x, self.group),)
        return (total * (x == out).astype(x.dtype),)


_Step = Callable[[Any], Any]


def _combined(jax: Any, op: str, x: Any, size: int, total: _Step, everyone: _Step) -> Any:
    """A reduction over devices from their sum or from what each of them has; short floats are summed in float32."""
    if op in ("max", "min"):  # not pmax: between processes a NaN may get lost in it
        return everyone(x).max(0) if op == "max" else everyone(x).min(0)
    short = x.dtype.itemsize <= 2 and jax.numpy.issubdtype(x.dtype, jax.numpy.floating)
    wide = x.astype("float32") if short else x
    if op == "prod":
        return everyone(wide).prod(0, dtype=wide.dtype).astype(x.dtype)
    found = total(wide)
    if op == "avg":
        found = found // size if jax.numpy.issubdtype(wide.dtype, jax.numpy.integer) else found / size
    return found.astype(x.dtype)


def _product_of_others(x: Any, group: str) -> Any:
    """The product of the other members' tensors; no division, so that zeros are right."""
    mine = np.zeros((world.group_size(group),) + (1,) * x.ndim, np.bool_)
    mine[world.group_rank(group)] = True
    everyone = AllGather(group)(x.reshape((1, *x.shape)))
    return everyone.masked_fill(values.from_array(mine), 1).prod(0)


class AllGather(Collective):
    """The tensors of all members, one after the other along the first axis.

    Examples:
        >>> print(ops.AllGather()(Tensor([[1.0, 2.0]])))
        [[1. 2.]]
    """

    def __init__(self, group: str = WORLD):
        super().__init__(group)

    def infer(self, x: AbstractTensor) -> Any:
        x = checks.tensor(self.name, "input_x", x)
        if not x.shape:
            raise ValueError(f"For '{self.name}', the input must have at least one dimension, but got a scalar tensor.")
        return AbstractTensor(x.dtype, (x.shape[0] * self.size, *x.shape[1:]))

    def communicate(self, x: Any) -> Any:
        return np.concatenate(world.transport().all_gather(x, world.members(self.group)))

    def begin(self, x: Any) -> tuple[world.UnderWay, Callable[[Any], Any]]:
        return world.transport().start_all_gather(x, world.members(self.group)), np.concatenate

    def on_mesh(self, jax: Any, place: Place, x: Any) -> Any:
        return jax.lax.all_gather(x, tiled=True, **place._asdict())

    def eval(self, xp: Namespace, x: Any) -> Any:
        return xp.array(x) if self.size == 1 else super().eval(xp, x)

    def bprop(self, x: Any, out: TensorBase, dout: TensorBase) -> tuple:
        return (ReduceScatter("sum", self.group)(dout),)


class ReduceScatter(Collective):
    """Combine the tensors of all members; each keeps its equal part along the first axis.

    Examples:
        >>> print(ops.ReduceScatter()(Tensor([[1.0, 2.0]])))
        [[1. 2.]]
    """

    def __init__(self, op: str = ReduceOp.SUM, group: str = WORLD):
        super().__init__(group, op=_reduction("ReduceScatter", op))

    def infer(self, x: AbstractTensor) -> Any:
        x = self.check(x)
        return AbstractTensor(x.dtype, self.divided(x, self.size))

    def communicate(self, x: Any) -> Any:
        return world.reduce_arrays(self.op, world.transport().all_to_all(*self._parts(x), world.members(self.group)))

    def begin(self, x: Any) -> tuple[world.UnderWay, Callable[[Any], Any]]:
        started = world.transport().start_all_to_all(*self._parts(x), world.members(self.group))
        return started, lambda parts: world.reduce_arrays(self.op, parts)

    def _parts(self, x: Any) -> tuple[list, list]:
        """What each member gets of `x`, and what comes from each."""
        parts = np.split(x, self.size)
        return parts, [(parts[world.group_rank(self.group)].shape, x.dtype)] * self.size

    def on_mesh(self, jax: Any, place: Place, x: Any) -> Any:
        def total(y: Any) -> Any:
            return jax.lax.psum_scatter(y, tiled=True, **place._asdict())

        def everyone(y: Any) -> Any:
            parts = y.reshape((self.size, -1, *y.shape[1:]))
            return jax.lax.all_to_all(parts, split_axis=0, concat_axis=0, tiled=True, **place._asdict())

        return _combined(jax, self.op, x, self.size, total, everyone)

    def eval(self, xp: Namespace, x: Any) -> Any:
        return xp.array(x) if self.size == 1 else super().eval(xp, x)

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        gathered = AllGather(self.group)(dout)
        if self.op == "sum" or self.size == 1:
            return (gathered,)
        if self.op == "avg":
            return (gathered / self.size,)
        if self.op == "prod":
            return (gathered * _product_of_others(x, self.group),)
        return (gathered * (x == AllGather(self.group)(out)).astype(x.dtype),)


# -- one member is special --------------------------------------------------------------------------------------------
class Broadcast(Collective):
    """The tensors of the member of rank `root_rank`, everywhere. Takes and returns a tuple.

    Examples:
        >>> print(ops.Broadcast(0)((Tensor([1.0, 2.0]),))[0])
        [1. 2.]
    """

    variadic = True

    def __init__(self, root_rank: int, group: str = WORLD):
        super().__init__(group, root_rank=_rank_in("Broadcast", "root_rank", root_rank))

    def infer(self, *xs: Any) -> Any:
        for x in xs:
            checks.tensor(self.name, "input_x", x)
        return AbstractTuple(tuple(AbstractTensor(x.dtype, x.shape) for x in xs))

    def communicate(self, *xs: Any) -> Any:
        ranks = world.members(self.group)
        return tuple(world.transport().broadcast(x, self.root_rank, ranks) for x in xs)

    def begin(self, x: Any) -> tuple[world.UnderWay, Callable[[Any], Any]]:
        """Of one tensor."""
        return world.transport().start_broadcast(x, self.root_rank, world.members(self.group)), lambda result: result

    def eval(self, xp: Namespace, *xs: Any) -> Any:
        return tuple(xp.array(x) for x in xs) if self.size == 1 else super().eval(xp, *xs)

    def on_mesh(self, jax: Any, place: Place, *xs: Any) -> Any:
        root = world.members(self.group).index(self.root_rank)
        return tuple(jax.lax.all_gather(x, **place._asdict())[root] for x in xs)

    def place_among_processes(self, axis: str) -> Place | None:
        """Groups have roots of their own, so only one of all processes is the same program everywhere."""
        return super().place_among_processes(axis) if self.size == world.transport().size else None

    def bprop(self, *args: Any) -> tuple:
        dout = args[-1]
        here = world.transport().rank == self.root_rank
        totals = [AllReduce("sum", self.group)(d) for d in dout]
        return tuple(total if here else total * 0 for total in totals)


class Reduce(Collective):
    """Combine the tensors of all members at the member of rank `dest_rank`; the others keep their own.

    Examples:
        >>> print(ops.Reduce(0)(Tensor([1.0, 2.0])))
        [1. 2.]
    """

    def __init__(self, dest_rank: int, op: str = ReduceOp.SUM, group: str = WORLD):
        super().__init__(group, dest_rank=_rank_in("Reduce", "dest_rank", dest_rank), op=_reduction("Reduce", op))

    def infer(self, x: AbstractTensor) -> Any:
        x = self.check(x)
        return AbstractTensor(x.dtype, x.shape)

    def communicate(self, x: Any) -> Any:
        return self._chosen(x, world.transport().all_gather(x, world.members(self.group)))

    def begin(self, x: Any) -> tuple[world.UnderWay, Callable[[Any], Any]]:
        started = world.transport().start_all_gather(x, world.members(self.group))
        return started, lambda parts: self._chosen(x, parts)

    def _chosen(self, x: Any, parts: list) -> Any:
        return world.reduce_arrays(self.op, parts) if world.transport().rank == self.dest_rank else x

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        sent = Broadcast(self.dest_rank, self.group)((dout,))[0]
        if self.op == "avg":
            return (sent / self.size,)
        if self.op == "sum" or self.size == 1:
            return (sent,)
        if self.op == "prod":
            return (sent * _product_of_others(x, self.group),)
        extreme = Broadcast(self.dest_rank, self.group)((out,))[0]
        return (sent * (x == extreme).astype(x.dtype),)


class CollectiveScatter(Collective):
    """Equal parts along the first axis of the tensor of rank `src_rank`, one for each member.

    Examples:
        >>> print(ops.CollectiveScatter(0)(Tensor([[1.0, 2.0]])))
        [[1. 2.]]
    """

    def __init__(self, src_rank: int = 0, group: str = WORLD):
        super().__init__(group, src_rank=_rank_in("CollectiveScatter", "src_rank", src_rank))

    def infer(self, x: AbstractTensor) -> Any:
        x = checks.tensor(self.name, "input_x", x)
        return AbstractTensor(x.dtype, self.divided(x, self.size))

    def communicate(self, x: Any) -> Any:
        return world.transport().exchange(*self._messages(x))[0]

    def begin(self, x: Any) -> tuple[world.UnderWay, Callable[[Any], Any]]:
        return world.transport().start_exchange(*self._messages(x)), lambda results: results[0]

    def _messages(self, x: Any) -> tuple[list[world.Message], list[world.Expected]]:
        parts = np.split(x, self.size)
        here = world.transport().rank == self.src_rank
        sends = [world.Message(rank, part) for rank, part in zip(world.members(self.group), parts)] if here else []
        return sends, [world.Expected(self.src_rank, parts[0].shape, x.dtype)]

    def bprop(self, x: Any, out: TensorBase, dout: TensorBase) -> tuple:
        gathered = AllGather(self.group)(dout)
        return (gathered if world.transport().rank == self.src_rank else gathered * 0,)


class CollectiveGather(Collective):
    """The tensors of all members along the first axis, at rank `dest_rank`; a zero elsewhere.

    Examples:
        >>> print(ops.CollectiveGather(0)(Tensor([[1.0, 2.0]])))
        [[1. 2.]]
    """

    def __init__(self, dest_rank: int, group: str = WORLD):
        super().__init__(group, dest_rank=_rank_in("CollectiveGather", "dest_rank", dest_rank))

    @property
    def _here(self) -> bool:
        return world.transport().rank == self.dest_rank

    def infer(self, x: AbstractTensor) -> Any:
        x = checks.tensor(self.name, "input_x", x)
        if not x.shape:
            raise ValueError(f"For '{self.name}', the input must have at least one dimension, but got a scalar tensor.")
        return AbstractTensor(x.dtype, (x.shape[0] * self.size, *x.shape[1:]) if self._here else (1,))

    def communicate(self, x: Any) -> Any:
        return self._chosen(world.transport().all_gather(x, world.members(self.group)))

    def begin(self, x: Any) -> tuple[world.UnderWay, Callable[[Any], Any]]:
        return world.transport().start_all_gather(x, world.members(self.group)), self._chosen

    def _chosen(self, parts: list) -> Any:
        return np.concatenate(parts) if self._here else np.zeros((1,), parts[0].dtype)

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        if not self._here:
            dout = values.from_array(np.zeros((x.shape[0] * self.size, *x.shape[1:]), x.dtype.np))
        return (CollectiveScatter(self.dest_rank, self.group)(dout),)


class Barrier(Collective):
    """Wait until every member has come here. The result is a zero.

    Examples:
        >>> print(ops.Barrier()())
        0
    """

    must_happen = True

    def __init__(self, group: str = WORLD):
        super().__init__(group)

    def infer(self, *_: Any) -> Any:
        return AbstractTensor(mstype.int32, ())

    def communicate(self, *_: Any) -> Any:
        world.transport().barrier(world.members(self.group))
        return np.zeros((), np.int32)
