"""Gradients of slices that together make up a tensor: one join instead of a sum of mostly empty tensors.

The gradient of `x[a:b]` is a tensor of zeros with a part set; where all of x is sliced up (the queries, keys and values
of one product, the halves of a gated layer) the sum of these is the parts side by side.
"""

from __future__ import annotations

from typing import Any

from mindspore.compiler.fuse.domain import chain
from mindspore.compiler.fuse.loopir import OpaqueCall, Program, Slot, Value
from mindspore.prims.arrays import Concat, SetItem

Range = tuple[int, int]  # first and beyond last


def join_parts(program: Program) -> None:
    """Replace sums of parts by joins, in place."""
    uses: dict[int, int] = {}
    for value in (*program.outputs, *(a for v in program.values for a in v.args)):
        uses[value.id] = uses.get(value.id, 0) + 1
    inner = {a.id for v in program.values if _is_sum(v) for a in v.args if _is_sum(a) and uses[a.id] == 1}
    found: list[Value] = []
    dropped: set[int] = set()
    for value in program.values:
        if _is_sum(value) and value.id not in inner:
            tree: list[Value] = []
            parts = _parts(value, uses, tree)
            order = _side_by_side(value.shape, parts) if parts else None
            if order is not None:
                found += _joined(value, *order)
                dropped |= {v.id for v in tree}
        found.append(value)
    program.values = [v for v in found if v.id not in dropped]


def _is_sum(value: Value) -> bool:
    return value.op == "map" and value.attr == "add" and value.args[0].shape == value.args[1].shape == value.shape


def _parts(total: Value, uses: dict[int, int], tree: list[Value]) -> list[tuple[list[Range], Value]]:
    """Which part each leaf of a sum sets, and to what; [] if some leaf is something else. `tree`: what is then not needed."""
    parts: list[tuple[list[Range], Value]] = []
    stack = list(total.args)
    while stack:
        value = stack.pop()
        if uses[value.id] != 1:
            return []
        tree.append(value)
        if _is_sum(value):
            stack += value.args
            continue
        part = _part(value)
        if part is None:
            return []
        tree.append(value.args[0])
        parts.append(part)
    return parts


def _part(value: Value) -> tuple[list[Range], Value] | None:
    """The region that a `SetItem` sets in a tensor of zeros, and the value there."""
    if value.op != "item" or not isinstance(value.args[0].attr.prim, SetItem):
        return None
    call = value.args[0]
    if len(call.args) != 2 or chain(call.args[0])[0].op != "const" or chain(call.args[0])[0].attr != 0:
        return None
    region = _region(call.attr.prim.spec, value.shape)
    if region is None or call.args[1].size != _size(region) or call.args[1].dtype != value.dtype:
        return None
    return region, call.args[1]


def _region(spec: tuple, shape: tuple[int, ...]) -> list[Range] | None:
    """The ranges that an index of slices and numbers picks; None for other indices."""
    items: list[Any] = []
    for item in spec:
        items += [slice(None)] * (len(shape) - len(spec) + 1) if item is Ellipsis else [item]
    if any(type(item) not in (int, slice) for item in items):  # a new axis, a mask …: they do not go axis by axis
        return None
    items += [slice(None)] * (len(shape) - len(items))
    ranges = []
    for item, size in zip(items, shape, strict=True):
        if type(item) is int:
            if not -size <= item < size:
                return None
            ranges.append((item % size, item % size + 1))
        elif item.step in (None, 1):
            start, stop, _ = item.indices(size)
            ranges.append((start, max(start, stop)))
        else:
            return None
    return ranges


def _size(region: list[Range]) -> int:
    n = 1
    for start, stop in region:
        n *= stop - start
    return n


def _side_by_side(shape: tuple[int, ...], parts: list[tuple[list[Range], Value]]) -> tuple[int, list[Any]] | None:
    """The axis along which parts fill a tensor one after the other, and the parts in that order."""
    cut = {d for region, _ in parts for d, r in enumerate(region) if r != (0, shape[d])}
    if len(cut) != 1:
        return None
    (axis,) = cut
    order = sorted(parts, key=lambda part: part[0][axis])
    ends = [0, *(region[axis][1] for region, _ in order)]
    starts = [*(region[axis][0] for region, _ in order), shape[axis]]
    return (axis, order) if ends == starts else None


def _joined(total: Value, axis: int, parts: list[tuple[list[Range], Value]]) -> list[Value]:
    """Make `total` the result of a join; the values it needs before it."""
    new: list[Value] = []
    operands = []
    for region, part in parts:
        shape = tuple(stop - start for start, stop in region)
        if part.shape != shape:
            part = Value("reshape", shape, part.dtype, (part,), None, total.origin)
            new.append(part)
        operands.append(part)
    call = OpaqueCall(Concat(axis), [Slot(n) for n in range(len(operands))])
    new.append(Value("opaque", (), "", tuple(operands), call, total.origin))
    total.op, total.args, total.attr = "item", (new[-1],), 0
    return new
