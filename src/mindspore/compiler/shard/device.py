"""What a primitive's `on_device` rule may ask about the device that runs it.

The rules are written with primitives while a graph is built, as gradient rules are; a Device answers for one operator: where
its parts lie, how to take part in a reduction, and how to cut what was computed whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore._base import dtype as mstype
from mindspore.compiler.shard import redistribute
from mindspore.compiler.shard.layout import Layout, Mesh
from mindspore.compiler.shard.plan import axes_of, output_layouts, parts_of
from mindspore.compiler.shard.strategy import Assignment
from mindspore.prims.active import ACTIVE
from mindspore.prims.arrays import Concat
from mindspore.prims.broadcasting import Reshape
from mindspore.prims.collective import AllReduce
from mindspore.prims.elementwise import Cast, Equal, FloorMod, GreaterEqual, Less, LogicalAnd, Select, ZerosLike
from mindspore.prims.factors import Factors
from mindspore.prims.mesh import MeshIndex, Part, mesh_group

if TYPE_CHECKING:
    from mindspore.prims.primitive import Primitive


class Device:
    """One operator on one device of the mesh."""

    def __init__(
        self, mesh: Mesh, factors: Factors, chosen: Assignment, inputs: list[Any], outputs: list[tuple[int, ...]]
    ):
        self.mesh, self.factors, self._chosen = mesh, factors, chosen
        self.full_shapes = outputs  #: of the results, on all devices together
        self._inputs = inputs
        self._layouts = output_layouts(factors, chosen)
        self.shapes = [layout.local(shape, mesh) for layout, shape in zip(self._layouts, outputs)]

    def parts(self, *labels: str) -> int:
        """Into how many parts labels are cut, taken together."""
        return parts_of(self.mesh, self._chosen, labels)

    def part_size(self, argument: int, label: str) -> int:
        """The size of this device's part of a labelled dimension of an argument."""
        labels = self.factors.inputs[argument] or ()
        return self._inputs[argument][labels.index(label)] // self.parts(label)

    def index(self, label: str) -> Any:
        """The number of this device's part, a tensor of rank 0."""
        return MeshIndex(self.mesh.shape, self._chosen[label])()

    def all_reduce(self, op: str, x: Any, *labels: str) -> Any:
        """Combine x over the devices that hold other parts of these labels."""
        axes = axes_of(self._chosen, labels)
        return AllReduce(op, mesh_group(self.mesh.shape, axes))(x) if axes else x

    def part(self, x: Any, output: int) -> Any:
        """This device's part of a result that was computed whole."""
        target = Layout(self._layouts[output].dims)
        return redistribute.apply(x, redistribute.steps(Layout.whole(len(target.dims)), target), self.mesh)

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

    def own_rows(self, indices: Any, size: int, label: str) -> tuple[Any, Any]:
        """Indices into this device's rows of a table that is cut, and which of them are its own; the others become 0."""
        local = indices - Cast()(self.index(label), indices.dtype) * size
        mine = LogicalAnd()(GreaterEqual()(local, 0), Less()(local, size))
        return Select()(mine, local, local * 0), mine

    def keep(self, x: Any, mine: Any, labels: tuple[str, ...], of: tuple[str, ...]) -> Any:
        """x where its index was this device's own, else 0. `labels` are those of x, `of` those of the indices."""
        shape = tuple(mine.shape[of.index(label)] if label in of and label else 1 for label in labels)
        zero = Cast()(x * 0, x.dtype) if x.dtype is not mstype.bool_ else LogicalAnd()(x, False)
        return Select()(Reshape()(mine, shape), x, zero)
