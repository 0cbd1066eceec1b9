"""Loop programs: every tensor is an input, a constant, a map, a reduction, a view or the result of an opaque operation.

- `input`      memory from outside; `attr` tells whose
- `const`      one repeated number (`attr`)
- `map`        `attr` names the operation; operands have the result's shape
- `reduce`     `attr` = (kind, axes); the axes are gone from the shape
- `iota`       the position along axis `attr`
- `take`       `attr` gives, per dimension of operand 0, ("axis", k) or ("index", operand): a read at run-time positions
- views        `reshape`, `transpose` (`attr`: order), `broadcast` (dimensions of 1 repeated), `slice` (`attr`: (start, step)
               per dimension): the same memory seen differently
- `opaque`     an operation that loops cannot express (`attr`: an OpaqueCall); `item` picks one of its results

`dtype` is the name of a MindSpore element type.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mindspore.ir import CNode
    from mindspore.prims.primitive import Primitive

VIEWS = ("reshape", "transpose", "broadcast", "slice")
#: element types that loops compute with
ELEMENT_TYPES = frozenset(
    [
        "bool_",
        "int8",
        "uint8",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "int64",
        "uint64",
        "float16",
        "bfloat16",
        "float32",
        "float64",
    ]
)


class Value:
    """One tensor of a loop program."""

    __slots__ = ("args", "attr", "dtype", "id", "is_view", "op", "origin", "shape")
    _numbers = itertools.count(1)

    def __init__(
        self,
        op: str,
        shape: tuple[int, ...],
        dtype: str,
        args: tuple[Value, ...] = (),
        attr: Any = None,
        origin: CNode | None = None,
    ):
        self.id = next(Value._numbers)
        self.op = op
        self.is_view = op in VIEWS
        self.shape = shape
        self.dtype = dtype
        self.args = args
        self.attr = attr
        self.origin = origin

    @property
    def size(self) -> int:
        n = 1
        for d in self.shape:
            n *= d
        return n

    def __repr__(self) -> str:
        return f"%{self.id}:{self.op}{self.shape}"


@dataclass(frozen=True)
class Slot:
    """Where operand `number` goes in the arguments of an operation."""

    number: int


@dataclass
class OpaqueCall:
    """An operation kept as it is. `template` has its arguments, with a Slot for each tensor, also inside tuples."""

    prim: Any
    template: list[Any]

    def arguments(self, operands: Sequence[Any]) -> list[Any]:
        """The arguments with operands in their places."""
        return [_filled(a, operands) for a in self.template]


def _filled(argument: Any, operands: Sequence[Any]) -> Any:
    if type(argument) is Slot:
        return operands[argument.number]
    return tuple(_filled(a, operands) for a in argument) if type(argument) is tuple else argument


@dataclass
class Program:
    """A graph as loops: `values` in order of computation, the graph's inputs and outputs."""

    values: list[Value]
    inputs: list[Value]
    outputs: list[Value]


class Unsupported(Exception):
    """A rule used something that loop programs do not have."""


#: a gather of so many times fewer elements than its source has computes what it picks, up to so many operations deep
_FEW, _DEEP = 4, 6


def _is_computed(value: Value, depth: int) -> bool:
    """Whether a value is a map, of a few operations, of things that can be picked from."""
    if value.op != "map" or depth == 0:
        return False
    for operand in value.args:
        small = operand.args[0] if operand.op == "broadcast" else operand
        while small.op == "reshape":
            small = small.args[0]
        if small.op == "iota" or (small.op == "map" and operand.op == "map" and not _is_computed(small, depth - 1)):
            return False
    return True


_HALVES = ("float16", "bfloat16")
#: what gives numbers of 16 bits for numbers of 16 bits
_EXACT = frozenset({"neg", "abs", "max", "min", "select", "relu", "sign", "floor", "ceil", "trunc", "rint", "copysign"})


def _has_excess(x: Value) -> bool:
    """Whether loops may hold more of a value than 16 bits."""
    if x.is_view or x.op == "take":
        return _has_excess(x.args[0])
    if x.op == "reduce":
        return x.attr[0] not in ("max", "min") or _has_excess(x.args[0])
    if x.op != "map" or x.attr in ("cast", "rounded"):
        return False
    return x.attr not in _EXACT or any(_has_excess(a) for a in x.args if a.dtype in _HALVES)


class Maker:
    """Makes values in order, with small simplifications on the way."""

    def __init__(self) -> None:
        self.values: list[Value] = []
        self.origin: Any = None
        self.across = True  # whether a primitive may compute what another one has computed
        self._views: dict[tuple, Value] = {}
        self._maps: dict[tuple, Value] = {}  # equal maps of one primitive are made once

    def add(self, op: str, shape: tuple[int, ...], dtype: str, args: tuple[Value, ...] = (), attr: Any = None) -> Value:
        value = Value(op, tuple(shape), dtype, args, attr, self.origin)
        self.values.append(value)
        return value

    # -- leaves ---------------------------------------------------------------------------------------------------
    def const(self, number: float, shape: tuple[int, ...], dtype: str) -> Value:
        return self.add("const", shape, dtype, (), number)

    def iota(self, axis: int, shape: tuple[int, ...], dtype: str = "int64") -> Value:
        return self.add("iota", shape, dtype, (), axis)

    # -- views ----------------------------------------------------------------------------------------------------
    def _view(self, op: str, shape: tuple[int, ...], x: Value, attr: tuple | None = None) -> Value:
        key = (op, x.id, shape, attr)
        found = self._views.get(key)
        if found is None:
            found = self._views[key] = self.add(op, shape, x.dtype, (x,), attr)
        return found

    def reshape(self, x: Value, shape: tuple[int, ...]) -> Value:
        if x.op == "const":
            return self.const(x.attr, shape, x.dtype)
        if x.op == "reshape":
            x = x.args[0]
        return x if x.shape == shape else self._view("reshape", shape, x)

    def transpose(self, x: Value, order: tuple[int, ...]) -> Value:
        shape = tuple(x.shape[i] for i in order)
        if x.op == "const":
            return self.const(x.attr, shape, x.dtype)
        return x if order == tuple(range(len(order))) else self._view("transpose", shape, x, order)

    def broadcast(self, x: Value, shape: tuple[int, ...]) -> Value:
        if x.shape == shape:
            return x
        if x.op == "const":
            return self.const(x.attr, shape, x.dtype)
        if len(x.shape) < len(shape):
            x = self.reshape(x, (1,) * (len(shape) - len(x.shape)) + x.shape)
        return x if x.shape == shape else self._view("broadcast", shape, x)

    def slice(self, x: Value, ranges: tuple[tuple[int, int, int], ...]) -> Value:
        """`ranges`: (start, step, count) per dimension."""
        shape = tuple(count for _, _, count in ranges)
        if x.op == "const":
            return self.const(x.attr, shape, x.dtype)
        if shape == x.shape and all(step == 1 for _, step, _ in ranges):
            return x
        return self._view("slice", shape, x, tuple((start, step) for start, step, _ in ranges))

    # -- computation ----------------------------------------------------------------------------------------------
    def map(self, name: str, dtype: str, *operands: Value) -> Value:
        """Broadcast the operands and apply an operation."""
        shapes = {o.shape for o in operands} - {()}
        shape = np.broadcast_shapes(*shapes) if len(shapes) > 1 else next(iter(shapes), ())
        neutral = self._neutral(name, dtype, shape, operands)
        if neutral is not None:
            return neutral
        spread = tuple(self.broadcast(o, shape) for o in operands)
        key = (name, dtype, id(self.origin), *(f"{o.dtype} {o.attr!r}" if o.op == "const" else o.id for o in spread))
        found = self._maps.get(key)
        if found is None:
            found = self._maps[key] = self.add("map", shape, dtype, spread, name)
        return found

    def _neutral(self, name: str, dtype: str, shape: tuple[int, ...], operands: tuple[Value, ...]) -> Value | None:
        """x + 0, x * 1 and the like. Not x * 0, which is not 0 for every x."""
        if name == "cast" and operands[0].dtype == dtype:
            return operands[0]
        if len(operands) != 2:
            return None
        a, b = operands
        same = {"add": (0, True), "sub": (0, False), "mul": (1, True), "div": (1, False)}.get(name)
        if same is None:
            return None
        number, commutes = same
        for x, other in ((a, b), (b, a)) if commutes else ((a, b),):
            if other.op == "const" and other.attr == number and x.shape == shape and x.dtype == dtype:
                return x
        return None

    def rounded(self, x: Value) -> Value:
        """A value of 16 bits with no more precision than that: loops compute in 32 bits and round where they store."""
        return self.map("rounded", x.dtype, x) if x.dtype in _HALVES and _has_excess(x) else x

    def reduce(self, kind: str, x: Value, axes: tuple[int, ...], dtype: str) -> Value:
        shape = tuple(d for i, d in enumerate(x.shape) if i not in axes)
        return (
            self.add("reduce", shape, dtype, (x,), (kind, tuple(sorted(axes)))) if axes else self.map("cast", dtype, x)
        )

    def take(
        self, source: Value, places: tuple[tuple[str, int], ...], shape: tuple[int, ...], indices: list[Value]
    ) -> Value:
        empty = any(kind == "index" and source.shape[axis] == 0 for axis, (kind, _) in enumerate(places))
        if empty and all(i.size for i in indices):
            raise Unsupported("a gather from nothing: no position is right, and the primitive's own rule says so")
        base = source
        while base.is_view:
            base = base.args[0]
        if base.op == "const":
            return self.const(base.attr, shape, source.dtype)
        if base.op == "iota":
            raise Unsupported("a gather from positions, which are never in memory")
        places = tuple(places)
        mine = self.across or source.origin is self.origin
        if mine and math.prod(shape) * _FEW <= source.size and _is_computed(source, _DEEP):
            return self.map(source.attr, source.dtype, *(self._picked(o, places, shape, indices) for o in source.args))
        operands = tuple(self.broadcast(i, shape) for i in indices)
        return self.add("take", shape, source.dtype, (source, *operands), places)

    def _picked(self, x: Value, places: tuple, shape: tuple[int, ...], indices: list[Value]) -> Value:
        """What a gather from a map picks of one of the map's operands; nothing has to be picked along broadcast axes."""
        small = x.args[0] if x.op == "broadcast" else x
        if x.op == "const" or any(small.shape[i] != 1 for i, (kind, _) in enumerate(places) if kind == "index"):
            return self.take(x, places, shape, indices)
        extents = {k: small.shape[i] for i, (kind, k) in enumerate(places) if kind == "axis"}
        return self.broadcast(self.reshape(small, tuple(extents.get(k, 1) for k in range(len(shape)))), shape)

    # -- operations that loops cannot express ---------------------------------------------------------------------
    def opaque(self, prim: Primitive, template: list[Any], operands: tuple[Value, ...]) -> Value:
        return self.add("opaque", (), "", operands, OpaqueCall(prim, template))

    def item(self, call: Value, number: int, shape: tuple[int, ...], dtype: str) -> Value:
        return self.add("item", shape, dtype, (call,), number)
