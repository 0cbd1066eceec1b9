"""Scatters of every kind: loops whose addresses are values.

A scatter visits the places of its index tensors in order, so that of several updates of one element the last wins and
sums do not depend on the number of threads; threads share out what cannot collide: the columns of a row, or an outer
dimension that the indices do not choose. Positions outside the target are skipped.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore.backends.cpu import jit, layout
from mindspore.backends.cpu.codegen import memory, scalar
from mindspore.backends.cpu.codegen.memory import Mask
from mindspore.backends.cpu.codegen.text import ITEMSIZE, MEMORY_TYPES, Function, computed
from mindspore.backends.cpu.dnnl import row_major
from mindspore.backends.cpu.handlers import handles
from mindspore.backends.cpu.layout import View
from mindspore.backends.cpu.lowering import Lowering
from mindspore.backends.cpu.written import compiled, emit, moved, own_share, pointers
from mindspore.compiler.fuse.domain import chain
from mindspore.compiler.fuse.loopir import Maker, Unsupported, Value
from mindspore.prims import gather_scatter
from mindspore.prims.arrays import TENSOR_INDEX

if TYPE_CHECKING:
    from mindspore.prims.primitive import Primitive

_INDEX_TYPES = ("int32", "int64")
_COMBINE = {"none": "", "add": "add", "sub": "sub", "mul": "mul", "max": "max", "min": "min", "div": "div"}


@dataclass(frozen=True)
class Loop:
    """One dimension of the places visited, with its steps in the target, the values and the index tensors."""

    extent: int
    target: int
    value: int
    index: int


@dataclass(frozen=True)
class Pick:
    """A coordinate read from index tensor `source` at `offset`: it moves the target by `stride` and is below `extent`."""

    source: int
    offset: int
    extent: int
    stride: int


@dataclass(frozen=True)
class Scatter:
    dtype: str
    index_dtype: str
    places: tuple[Loop, ...]
    picks: tuple[Pick, ...]
    columns: int  # elements side by side that are updated at every place
    combine: str

    @property
    def sources(self) -> int:
        return 1 + max(p.source for p in self.picks)

    @property
    def shared(self) -> str:
        """What threads divide among themselves."""
        if self.columns >= 64:
            return "columns"
        return "places" if self.places and self.places[0].target and self.places[0].extent > 1 else ""


def _write(scatter: Scatter) -> Function:
    return _ScatterWriter(scatter).write()


class _ScatterWriter:
    def __init__(self, scatter: Scatter):
        self.s = scatter
        self.f = Function()
        self.width = min(32, jit.vector_bits() // 16) if scatter.columns >= 8 else 1

    def write(self) -> Function:
        f, s = self.f, self.s
        self.target, self.value, *self.indices = pointers(f, 2 + s.sources)
        steps = -(-s.columns // self.width)
        self.low, self.high = own_share(f, steps) if s.shared == "columns" else ("0", str(steps))
        self._loop(0, "0", "0", "0")
        return f

    def _loop(self, depth: int, target: str, value: str, index: str) -> None:
        f, s = self.f, self.s
        if depth == len(s.places):
            self._visit(target, value, index)
            return
        loop = s.places[depth]
        low, high = own_share(f, loop.extent) if depth == 0 and s.shared == "places" else ("0", str(loop.extent))

        def body(i: str, _: list[str]) -> list[str]:
            steps = ((target, loop.target), (value, loop.value), (index, loop.index))
            self._loop(depth + 1, *(moved(f, o, i, step) for o, step in steps))
            return []

        f.loop(low, high, "1", [], body)

    def _visit(self, target: str, value: str, index: str) -> None:
        """Find the position and, if it lies inside, update its columns."""
        f, s = self.f, self.s
        inside = ""
        for pick in s.picks:
            size = ITEMSIZE[s.index_dtype]
            place = f.op(f"add i64 {index}, {pick.offset}")
            raw = memory.load(f, s.index_dtype, memory.offset(f, self.indices[pick.source], place, size), 1, Mask(1))
            at = scalar.cast(f, s.index_dtype, "int64", 1, raw)
            wrapped = f.op(f"add i64 {at}, {pick.extent}")
            at = f.op(f"select i1 {f.op(f'icmp slt i64 {at}, 0')}, i64 {wrapped}, i64 {at}")
            good = f.op(f"icmp ult i64 {at}, {pick.extent}")
            inside = good if not inside else f.op(f"and i1 {inside}, {good}")
            target = moved(f, target, at, pick.stride)
        size = ITEMSIZE[s.dtype]
        f.when(
            inside,
            lambda: self._columns(
                memory.offset(f, self.target, target, size), memory.offset(f, self.value, value, size)
            ),
        )

    def _columns(self, place: str, source: str) -> None:
        f, s, width = self.f, self.s, self.width
        if s.columns == 1:
            self._update(place, source, Mask(1))
            return

        def one(step: str, _: list[str]) -> list[str]:
            at = f.op(f"mul i64 {step}, {width * ITEMSIZE[s.dtype]}")
            a, b = (f.op(f"getelementptr i8, ptr {p}, i64 {at}") for p in (place, source))
            if s.columns % width == 0:
                self._update(a, b, Mask(width))
                return []
            whole = f.op(f"icmp slt i64 {step}, {s.columns // width}")
            f.when(whole, lambda: self._update(a, b, Mask(width)))
            rest = f.op(f"xor i1 {whole}, true")
            f.when(rest, lambda: self._update(a, b, Mask.first(f, width, s.columns % width)))
            return []

        f.loop(self.low, self.high, "1", [], one)

    def _update(self, place: str, source: str, mask: Mask) -> None:
        f, s = self.f, self.s
        new = memory.load(f, s.dtype, source, 1, mask)
        if s.combine:
            old = memory.load(f, s.dtype, place, 1, mask)
            new = scalar.OPS[s.combine](f, computed(s.dtype), mask.width, old, new)
        memory.store(f, s.dtype, place, 1, mask, new)


def _emit_scatter(lowering: Lowering, x: View, value: View, indices: list[View], item: Value, scatter: Scatter) -> None:
    visits = scatter.columns
    for loop in scatter.places:
        visits *= loop.extent
    target = lowering.result_view(item)
    lowering.copy(x, target)
    value, indices = lowering.plain(value), [lowering.plain(i) for i in indices]
    name = f"scatter_{scatter.combine or 'set'}"
    emit(lowering, name, compiled(_write, scatter), [target], [value, *indices], visits if scatter.shared else 0)
    lowering.views[item.id] = target


def _check_types(x: View, value: View, indices: list[View], reduction: str) -> None:
    if x.dtype not in MEMORY_TYPES or value.dtype != x.dtype or (reduction == "div" and "float" not in x.dtype):
        raise Unsupported(f"a scatter of {x.dtype}")
    if x.dtype == "bool_" and reduction != "none":
        raise Unsupported("arithmetic on bools")
    if any(i.dtype not in _INDEX_TYPES or i.dtype != indices[0].dtype for i in indices):
        raise Unsupported("indices of this type")


@handles(gather_scatter.TensorScatterElements)
def _elements(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    """target[..., index, ...] at the place's own other coordinates."""
    prim, (x, indices, value) = call.attr.prim, operands
    _check_types(x, value, [indices], prim.reduction)
    if not x.shape:
        raise Unsupported("a scatter into a number")
    axis = prim.axis % len(x.shape)
    steps, own = row_major(x.shape), row_major(indices.shape)
    values = own if value.shape == indices.shape else (0,) * len(own)
    places = tuple(Loop(n, 0 if d == axis else steps[d], values[d], own[d]) for d, n in enumerate(indices.shape))
    pick = Pick(0, 0, x.shape[axis], steps[axis])
    scatter = Scatter(x.dtype, indices.dtype, places, (pick,), 1, _COMBINE[prim.reduction])
    _emit_scatter(lowering, x, value, [indices], items[0], scatter)


@handles(*gather_scatter.TENSOR_SCATTERS.values())
def _slices(lowering: Lowering, call: Value, operands: list[View], items: list[Value]) -> None:
    """target[i, j, …] where the last dimension of the indices holds the coordinates."""
    prim, (x, indices, value) = call.attr.prim, operands
    _check_types(x, value, [indices], prim.reduction)
    depth, steps = indices.shape[-1], row_major(x.shape)
    columns = math.prod(x.shape[depth:])
    picks = tuple(Pick(0, d, x.shape[d], steps[d]) for d in range(depth))
    if not picks:
        raise Unsupported("a scatter without coordinates")
    places = (Loop(math.prod(indices.shape[:-1]), 0, columns, depth),)
    scatter = Scatter(x.dtype, indices.dtype, places, picks, columns, _COMBINE[prim.reduction])
    _emit_scatter(lowering, x, value, [indices], items[0], scatter)


def _spread(lowering: Lowering, view: View, shape: tuple[int, ...]) -> View:
    """A view repeated to a shape."""
    try:
        target = Maker().broadcast(Value("input", view.shape, view.dtype), shape)
        if np.broadcast_shapes(view.shape, shape) != shape:
            raise ValueError
    except ValueError:
        raise Unsupported("a value with more dimensions than its place") from None
    for operation in chain(target)[1]:
        seen = layout.apply(view, operation)
        view = seen if seen is not None else layout.apply(lowering.plain(view), operation)  # type: ignore[assignment]
    return view


def _whole_spec(spec: tuple, rank: int) -> list[Any]:
    """An index with slices for `...`."""
    parts: list[Any] = []
    for part in spec:
        parts += [slice(None)] * (rank - len(spec) + 1) if part is Ellipsis else [part]
    return parts


def set_at(lowering: Lowering, prim: Primitive, x: View, value: View, indices: list[View], item: Value) -> None:
    """x[…, i, j, …] = value (or += value) for index tensors side by side, whole slices elsewhere."""
    spec = _whole_spec(prim.spec, len(x.shape))
    chosen = [n for n, part in enumerate(spec) if part is TENSOR_INDEX]
    whole = all(n in chosen or (type(part) is slice and part == slice(None)) for n, part in enumerate(spec))
    side_by_side = chosen == list(range(chosen[0], chosen[0] + len(chosen))) if chosen else False
    if not whole or not side_by_side or len(chosen) != len(indices):
        raise Unsupported("this way of setting items")
    _check_types(x, value, indices, "add" if prim.accumulate else "none")
    first, steps = chosen[0], row_major(x.shape)
    lead, tail = x.shape[:first], x.shape[first + len(chosen) :]
    block = np.broadcast_shapes(*(i.shape for i in indices))
    indices = [_spread(lowering, i, block) for i in indices]
    value = _spread(lowering, value, (*lead, *block, *tail))
    count, columns = math.prod(block), math.prod(tail)
    outer = [Loop(n, steps[d], math.prod(lead[d + 1 :]) * count * columns, 0) for d, n in enumerate(lead)]
    picks = tuple(Pick(n, 0, x.shape[first + n], steps[first + n]) for n in range(len(chosen)))
    places = (*outer, Loop(count, 0, columns, 1))
    combine = "add" if prim.accumulate else ""
    scatter = Scatter(x.dtype, indices[0].dtype, places, picks, columns, combine)
    _emit_scatter(lowering, x, value, indices, item, scatter)
