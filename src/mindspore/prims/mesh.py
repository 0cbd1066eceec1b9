"""Where a device stands among the others, in graphs that all devices run alike.

Devices form a mesh of some shape; ranks count its cells, the last axis fastest. One graph serves all devices: what differs
between them comes out of `MeshIndex`, and a collective names its group by mesh axes (`mesh_group`), which means another set
of ranks on each device. Specialising a graph to a rank replaces `MeshIndex` by a number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.optional import require
from mindspore.ir import AbstractTensor
from mindspore.prims import values, world
from mindspore.prims.active import ACTIVE
from mindspore.prims.arrays import Concat
from mindspore.prims.elementwise import zeros_like
from mindspore.prims.factors import WHOLE, Factors, numbered
from mindspore.prims.primitive import Primitive
from mindspore.prims.world import mesh_index

if TYPE_CHECKING:
    from mindspore.prims.array_types import Array, Namespace


class MeshIndex(Primitive):
    """`MeshIndex(shape, axes)()`: this device's number along some axes of the mesh, the first axis slowest."""

    effect = "rank"  # differs between devices: neither folded nor shared between graphs

    def __init__(self, shape: tuple[int, ...], axes: tuple[int, ...]):
        super().__init__("MeshIndex", shape=tuple(shape), axes=tuple(axes))

    def infer(self) -> Any:
        return AbstractTensor(mstype.int32, ())

    def of_rank(self, rank: int) -> int:
        return mesh_index(self.shape, self.axes, rank % math.prod(self.shape))

    def eval(self, xp: Namespace) -> Any:
        return xp.asarray(np.int32(self.of_rank(world.transport().rank)))

    def eval_xla(self, jnp: Any) -> Any:
        lax = require("jax.lax", "xla", "graphs for many devices")
        index = jnp.int32(0)
        for axis in self.axes:
            index = index * self.shape[axis] + lax.axis_index(world.MESH_AXIS(axis))
        return index.astype(np.int32)


class Part(Primitive):
    """`Part(dim, count)(x, index)`: part number `index` of `count` equal ones along a dimension.

    Where the size does not divide, the last parts are filled up with copies of the last element.
    """

    def __init__(self, dim: int, count: int):
        super().__init__("Part", dim=dim, count=count)

    def infer(self, x: AbstractTensor, index: Any) -> Any:
        shape = list(x.shape)
        shape[self.dim] = -(-shape[self.dim] // self.count)
        return AbstractTensor(x.dtype, tuple(shape))

    def eval(self, xp: Namespace, x: Array, index: Any) -> Any:
        whole = x.shape[self.dim]
        size = -(-whole // self.count)
        if xp is np and whole % self.count == 0:
            start = int(index) * size
            return x[(slice(None),) * self.dim + (slice(start, start + size),)].copy()
        return xp.take(x, xp.minimum(index * size + xp.arange(size), whole - 1), axis=self.dim)

    def eval_xla(self, jnp: Any, x: Array, index: Any) -> Any:
        lax = require("jax.lax", "xla", "graphs for many devices")
        if x.shape[self.dim] % self.count:
            return self.eval(jnp, x, index)
        size = x.shape[self.dim] // self.count
        return lax.dynamic_slice_in_dim(x, index * size, size, self.dim)


class MicroBatch(Primitive):
    """`MicroBatch(index, count)(x)`: part number `index` of `count` equal ones along the first dimension, as pipelines take them.

    Args:
        index: the number of the part.
        count: how many parts there are.

    Examples:
        >>> print(ops.MicroBatch(1, 2)(Tensor([1, 2, 3, 4])))
        [3 4]
    """

    def __init__(self, index: int, count: int):
        super().__init__("MicroBatch", index=index, count=count)

    def infer(self, x: Any) -> Any:
        if not x.shape or x.shape[0] % self.count:
            raise ValueError(f"the first dimension of each input must be a multiple of {self.count}, but got shape {x.shape}.")
        return AbstractTensor(x.dtype, (x.shape[0] // self.count, *x.shape[1:]))

    def factors(self, x: Any) -> Factors:
        labels = (WHOLE, *numbered(len(x.shape), 1))
        return Factors((labels,), (labels,), linear=True)

    def eval(self, xp: Any, x: Any) -> Any:
        size = x.shape[0] // self.count
        return x[self.index * size : (self.index + 1) * size]

    def bprop(self, x: Any, out: Any, dout: Any) -> tuple:
        nothing = zeros_like(dout)
        return (Concat(0)(tuple(dout if i == self.index else nothing for i in range(self.count))),)


class Laid(Primitive):
    """`Laid(owner)(x)` is x, laid on the devices as its `in_strategy` says: for the sake of an operation or cell `owner`."""

    elementwise = True

    def __init__(self, owner: str, whole_strategy: Any = None, entries: int = 0, may_be_whole: bool = False):
        """`whole_strategy`: of an operation made of others, which may have so many entries. It must suit all of these, but for
        dimensions that are not cut here and cut elsewhere, if they `may_be_whole`.
        """
        super().__init__("Laid", owner=owner, whole_strategy=whole_strategy, entries=entries, may_be_whole=may_be_whole)

    @property
    def strict(self) -> bool:
        """Whether it is an error if operators that take x from here need another layout."""
        return self.attrs["whole_strategy"] is not None

    def infer(self, x: Any) -> Any:
        return x

    def eval(self, xp: Namespace, x: Any) -> Any:
        return x

    def bprop(self, x: Any, out: Any, dout: Any) -> tuple:
        return (dout,)


def entries_for(args: tuple) -> int:
    """How many entries a strategy for these arguments may have: one for each tensor, or tuple of numbers that is like one."""
    return sum(
        max(1, entries_for(tuple(arg))) if isinstance(arg, (tuple, list)) else isinstance(arg, values.TensorBase)
        for arg in args
    )


def constrained(owner: str, args: tuple, strategy: Any, *of_operation: Any) -> tuple[tuple, int]:
    """Arguments whose tensors are laid out as a strategy with an entry for each of them says; how many entries were used.

    `of_operation`: further arguments of `Laid`, where the strategy is that of an operation.
    """
    supply, taken = list(strategy), 0
    found: list[Any] = []
    for arg in args:
        if isinstance(arg, (tuple, list)) and any(isinstance(a, values.TensorBase) for a in arg):
            nested = taken < len(supply) and isinstance(supply[taken], (tuple, list)) and any(
                isinstance(e, (tuple, list)) or hasattr(e, "to_dict") for e in supply[taken]
            )
            inner, used = constrained(owner, tuple(arg), supply[taken] if nested else supply[taken:], *of_operation)
            found.append(type(arg)(inner))
            taken += 1 if nested else used
        elif isinstance(arg, values.TensorBase) and taken < len(supply):
            entry = supply[taken]
            taken += 1
            found.append(arg if entry is None else Laid(owner, *of_operation).shard((entry,))(arg))
        else:
            found.append(arg)
    return tuple(found), taken


def laid_call(
    owner: str, function: Callable, args: tuple, kwargs: dict, in_strategy: Any, out_strategy: Any = None, *of_operation: Any
) -> Any:
    """`function(*args, **kwargs)` with tensors laid out as strategies say; what it writes to them reaches the caller's."""
    given = (*args, *kwargs.values())
    laid, taken = constrained(owner, args, in_strategy, *of_operation)
    named = dict(zip(kwargs, constrained(owner, tuple(kwargs.values()), in_strategy[taken:], *of_operation)[0]))
    out = function(*laid, **named)
    _write_back(given, (*laid, *named.values()))
    if out_strategy is None:
        return out
    several = isinstance(out, (tuple, list))
    found, _ = constrained(owner, tuple(out) if several else (out,), out_strategy)
    return type(out)(found) if several else found[0]


def _write_back(given: tuple | list, laid: tuple | list) -> None:
    builder = ACTIVE.builder
    for source, copy in zip(given, laid):
        if isinstance(source, (tuple, list)):
            _write_back(source, copy)
        elif copy is not source and builder.written(copy):
            builder.write(source, builder.node_of(copy))


def mesh_group(shape: tuple[int, ...], axes: tuple[int, ...]) -> str:
    """The name of the groups of devices that differ along these axes only; members in the order of `MeshIndex`."""
    return f"{world.MESH}{'x'.join(map(str, shape))}:{','.join(map(str, axes))}"


def group_axes(group: str) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The mesh's shape and the axes that a group's name means; None for other groups."""
    return world.mesh_of(group)


def parts(shape: tuple[int, ...], axes: tuple[int, ...]) -> int:
    """Into how many parts these axes cut."""
    return math.prod(shape[a] for a in axes)
