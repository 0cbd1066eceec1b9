"""What a primitive's `on_device` rule may ask about the device that runs it.

The rules are written with primitives while a graph is built, as gradient rules are; a Device answers for one operator: where
its parts lie, how to take part in a reduction, and how to cut what was computed whole.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.compiler.shard import cost, redistribute
from mindspore.compiler.shard.layout import Layout, Mesh
from mindspore.compiler.shard.plan import axes_of, output_layouts, parts_of
from mindspore.compiler.shard.strategy import Assignment
from mindspore.prims.active import ACTIVE
from mindspore.prims.arrays import Concat, Fill
from mindspore.prims.broadcasting import Reshape
from mindspore.prims.collective import AllReduce
from mindspore.prims.elementwise import (
    Cast,
    Equal,
    FloorMod,
    GreaterEqual,
    Less,
    LogicalAnd,
    Maximum,
    Minimum,
    Select,
    ZerosLike,
)
from mindspore.prims.factors import Factors
from mindspore.prims.mesh import MeshIndex, Part, mesh_group
from mindspore.prims.values import from_array

if TYPE_CHECKING:
    from mindspore.prims.primitive import Primitive


def _as_dtype(value: float | bool, dtype: mstype.DType) -> float | bool:
    """A number, or the one nearest to infinity that an element type has."""
    if not np.isinf(value) or dtype.kind == "f":
        return value
    if dtype.kind == "b":
        return value > 0
    limits = np.iinfo(dtype.np)
    return limits.max if value > 0 else limits.min


class Device:
    """One operator on one device of the mesh."""

    def __init__(
        self, mesh: Mesh, factors: Factors, chosen: Assignment, inputs: list[Any], outputs: list[tuple[int, ...]]
    ):
        self.mesh, self.factors, self._chosen = mesh, factors, chosen
        self.full_shapes = outputs  #: of the results, on all devices together
        self._inputs = inputs
        self._sizes = cost.label_sizes(factors, inputs, outputs)
        #: labels whose parts are filled up behind the end
        self.uneven = tuple(n for n, axes in chosen.items() if axes and self._sizes[n] % mesh.parts(axes))
        self._layouts = output_layouts(factors, chosen)
        self.shapes = [layout.local(shape, mesh) for layout, shape in zip(self._layouts, outputs)]

    def parts(self, *labels: str) -> int:
        """Into how many parts labels are cut, taken together."""
        return parts_of(self.mesh, self._chosen, labels)

    def part_size(self, argument: int, label: str) -> int:
        """The size of this device's part of a labelled dimension of an argument."""
        labels = self.factors.inputs[argument] or ()
        return -(-self._inputs[argument][labels.index(label)] // self.parts(label))

    def index(self, label: str) -> Any:
        """The number of this device's part, a tensor of rank 0."""
        return MeshIndex(self.mesh.shape, self._chosen[label])()

    def start(self, label: str) -> Any:
        """Where this device's part of a dimension starts, a tensor of rank 0."""
        return self._extent(label)[0]

    def _extent(self, label: str) -> tuple[Any, Any]:
        """Where this device's part starts, and how many of its elements lie before the end of the dimension."""
        part = self._sizes[label]
        if label not in self.uneven:
            part //= self.parts(label)
            return self.index(label) * part, part
        start: Any = 0
        held: Any = part
        for axis in self._chosen[label]:  # each axis cuts the parts of the one before
            part = -(-part // self.mesh.shape[axis])
            place = MeshIndex(self.mesh.shape, (axis,))() * part
            start, held = place + start, Minimum()(Maximum()(held - place, 0), part)
        return start, held

    def masked(self, x: Any, argument: int, label: str, value: float | bool) -> Any:
        """An argument with `value` where its part was filled up behind the end of a dimension."""
        labels = self.factors.inputs[argument] or ()
        if label not in self.uneven or label not in labels:
            return x
        dim = labels.index(label)
        places = from_array(np.arange(x.shape[dim], dtype=np.int32).reshape((-1,) + (1,) * (x.ndim - 1 - dim)))
        filler = Fill()(x.dtype, (), _as_dtype(value, x.dtype))
        return Select()(Less()(places, self._extent(label)[1]), x, filler)

    def neutralised(self, args: list[Any]) -> list[Any]:
        """Arguments in which what fills parts up changes no result."""
        for label in self.uneven:
            value = self.factors.filled[label]
            if value is not None:
                args = [self.masked(a, i, label, value) if i < len(self.factors.inputs) else a for i, a in enumerate(args)]
        return args

    def mean_of_all(self, mean: Any) -> Any:
        """A mean over filled parts as a share of the mean of the whole: the mean of the means of all devices counts what was filled."""
        for label in self.uneven:
            if self.factors.reductions.get(label) == "avg":
                mean = mean * (-(-self._sizes[label] // self.parts(label)) * self.parts(label) / self._sizes[label])
        return mean

    def size(self, *labels: str) -> int:
        """How many elements there are along labels on all devices together."""
        return math.prod(self._sizes[label] for label in labels)

    def all_reduce(self, op: str, x: Any, *labels: str) -> Any:
        """Combine x over the devices that hold other parts of these labels."""
        axes = axes_of(self._chosen, labels)
        return AllReduce(op, mesh_group(self.mesh.shape, axes))(x) if axes else x

    def group(self, label: str) -> str:
        """The devices that hold the other parts of a label."""
        return mesh_group(self.mesh.shape, self._chosen[label])

    def part(self, x: Any, output: int) -> Any:
        """This device's part of a result that was computed whole."""
        target = Layout(self._layouts[output].dims)
        return redistribute.apply(x, Layout.whole(len(target.dims)), target, self.full_shapes[output], self.mesh)

    def whole_shape(self, argument: int) -> tuple[int, ...]:
        """The shape of an argument on all devices together."""
        return tuple(self._inputs[argument])

    def with_borders(self, x: Any, dim: int, label: str, before: int, after: int) -> Any:
        """x with so many rows (or columns …) of the parts before and behind it along a dimension; zeros at the ends.

        All devices along the label learn the borders of all others. A negative number takes rows away.
        """
        size, count = x.shape[dim], self.parts(label)
        if max(before, after) > size:
            raise RuntimeError(
                f"Parts of {size} rows or columns are too small for windows that reach {max(before, after)} into the next part: cut "
                f"this dimension into fewer than {count} parts."
            )

        def rows(x: Any, start: int, stop: int) -> Any:
            return x[(slice(None),) * dim + (slice(start, stop),)]

        kept = rows(x, 0, size + min(after, 0)) if after < 0 else x
        before, after = max(before, 0), max(after, 0)
        if not before and not after:
            return kept
        own = [rows(x, size - before, size)] * bool(before) + [rows(x, 0, after)] * bool(after)
        border = Concat(dim)(tuple(own)) if len(own) > 1 else own[0]
        everyone = redistribute.gathered(border, dim, self._chosen[label], self.mesh)
        index, parts = self.index(label), []
        for wanted, step, start, stop in ((before, -1, 0, before), (after, 1, before, before + after)):
            if not wanted:
                continue
            there = FloorMod()(index + (count + step), count)
            strip = rows(Part(dim, count)(everyone, there), start, stop)
            is_end = Equal()(index, 0 if step < 0 else count - 1)
            parts.append((step, Select()(is_end, ZerosLike()(strip), strip)))
        pieces = [p for step, p in parts if step < 0] + [kept] + [p for step, p in parts if step > 0]
        return Concat(dim)(tuple(pieces))

    def plain(self, prim: Primitive, *args: Any) -> Any:
        """The operation itself, on the parts; all of its results."""
        return ACTIVE.builder.apply(prim, args)

    def on_first(self, x: Any, label: str) -> Any:
        """x on the first device along a label, zeros on the others."""
        if self.parts(label) == 1:
            return x
        return Select()(Equal()(self.index(label), 0), x, x * 0)

    def own_rows(self, indices: Any, label: str) -> tuple[Any, Any]:
        """Indices into this device's rows of a table that is cut, and which of them are its own; the others become 0."""
        start, held = self._extent(label)
        local = indices - Cast()(start, indices.dtype)
        mine = LogicalAnd()(GreaterEqual()(local, 0), Less()(local, held))
        return Select()(mine, local, local * 0), mine

    def keep(self, x: Any, mine: Any, labels: tuple[str, ...], of: tuple[str, ...]) -> Any:
        """x where its index was this device's own, else 0. `labels` are those of x, `of` those of the indices."""
        shape = tuple(mine.shape[of.index(label)] if label in of and label else 1 for label in labels)
        zero = Cast()(x * 0, x.dtype) if x.dtype is not mstype.bool_ else LogicalAnd()(x, False)
        return Select()(Reshape()(mine, shape), x, zero)
