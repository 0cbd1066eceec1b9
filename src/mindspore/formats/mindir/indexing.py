"""Indexing in official spelling: slices, gathers, and flat positions for everything else."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.formats.index_plan import Part, Selection, expanded, plan
from mindspore.formats.mindir.messages import TYPE_IDS
from mindspore.formats.mindir.writer import GraphWriter
from mindspore.ir import AbstractTensor, CNode, ValueNode
from mindspore.prims.arrays import TENSOR_INDEX

_INT64 = mstype.int64


def get_item(writer: GraphWriter, node: CNode, inputs: list[str]) -> str:
    """x[index]"""
    shape = node.args[0].abstract.shape
    spec = expanded(node.op.spec, len(shape))
    tensors = [i for i, s in enumerate(spec) if s is TENSOR_INDEX]
    if len(tensors) > 1 or (tensors and any(s is None or isinstance(s, int) for s in spec)):
        return _gather_positions(writer, node, inputs)
    sliced, current = _strided_slice(writer, node, inputs[0], shape, [s for s in spec if s is not None])
    if tensors:
        index = _gathered(writer, node.args[1], inputs[1], shape[tensors[0]])
        axis, zero = writer.constant(tensors[0]), writer.constant(0)
        return writer.emit("Gather", [sliced, index, axis, zero], node.abstract, scope=node.scope)
    if current == node.abstract.shape:
        return sliced
    return _reshape(writer, sliced, node.abstract.shape, node.abstract.dtype)


def _gathered(writer: GraphWriter, argument: Any, name: str, size: int) -> str:
    if isinstance(argument, ValueNode):  # a constant is wrapped here
        return writer.constant(np.mod(np.asarray(argument.value), size))
    return _wrapped(writer, name, argument.abstract, size)


def set_item(writer: GraphWriter, node: CNode, inputs: list[str]) -> str:
    """A copy of x with x[index] replaced, or added to."""
    source, value, *arrays = inputs
    kind, given = node.args[0].abstract, node.args[1].abstract
    chosen = plan(node.op.spec, kind.shape, [a.abstract.shape for a in node.args[2:]])
    count = math.prod(chosen.shape)
    positions = _positions(writer, chosen, arrays, [a.abstract for a in node.args[2:]])
    column = _reshape(writer, positions, (count, 1), _INT64)
    if given.shape != chosen.shape:
        spread = AbstractTensor(kind.dtype, chosen.shape)
        value = writer.emit("BroadcastTo", [value, writer.constant(chosen.shape)], spread)
    updates = _reshape(writer, value, (count,), kind.dtype)
    flat = _reshape(writer, source, (kind.size,), kind.dtype)
    name = "TensorScatterAdd" if node.op.accumulate else "TensorScatterUpdate"
    changed = writer.emit(
        name, [flat, column, updates], AbstractTensor(kind.dtype, (kind.size,)),
        is_function=node.op.accumulate, scope=node.scope,
    )  # fmt: skip
    return _reshape(writer, changed, kind.shape, kind.dtype)


def _gather_positions(writer: GraphWriter, node: CNode, inputs: list[str]) -> str:
    kind = node.args[0].abstract
    others = [a.abstract for a in node.args[1:]]
    chosen = plan(node.op.spec, kind.shape, [a.shape for a in others])
    positions = _positions(writer, chosen, inputs[1:], others)
    flat = _reshape(writer, inputs[0], (kind.size,), kind.dtype)
    zero = writer.constant(0)
    return writer.emit("Gather", [flat, positions, zero, zero], node.abstract, scope=node.scope)


def _positions(writer: GraphWriter, chosen: Selection, arrays: list[str], kinds: list[Any]) -> str:
    """The flat positions of a selection."""
    total = ""
    shape: tuple[int, ...] = ()
    for part in chosen.parts:
        name, own = _part(writer, part, arrays, kinds)
        shape = own if not total else np.broadcast_shapes(shape, own)
        total = name if not total else writer.emit("Add", [total, name], AbstractTensor(_INT64, shape))
    if not total:
        total = writer.constant(np.zeros((), np.int64))
    if shape != chosen.shape:
        total = writer.emit("BroadcastTo", [total, writer.constant(chosen.shape)], AbstractTensor(_INT64, chosen.shape))
    return total


def _part(writer: GraphWriter, part: Part, arrays: list[str], kinds: list[Any]) -> tuple[str, tuple[int, ...]]:
    if part.values is not None:
        name = writer.constant(part.values.astype(np.int64))
        return (name if part.values.shape == part.shape else _reshape(writer, name, part.shape, _INT64)), part.shape
    kind = kinds[part.tensor]
    wide = AbstractTensor(_INT64, kind.shape)
    name = arrays[part.tensor]
    if kind.dtype is not _INT64:
        name = writer.emit("Cast", [name, writer.constant(TYPE_IDS[_INT64])], wide)
    name = _wrapped(writer, name, wide, part.size)
    if part.stride != 1:
        name = writer.emit("Mul", [name, writer.constant(np.array(part.stride, np.int64))], wide)
    return (name if kind.shape == part.shape else _reshape(writer, name, part.shape, _INT64)), part.shape


def _wrapped(writer: GraphWriter, index: str, kind: Any, size: int) -> str:
    """Negative indices counted from the end."""
    return writer.emit("FloorMod", [index, writer.constant(np.array(size, kind.dtype.np))], kind)


def _reshape(writer: GraphWriter, name: str, shape: tuple[int, ...], dtype: Any) -> str:
    return writer.emit("Reshape", [name, writer.constant(tuple(shape))], AbstractTensor(dtype, tuple(shape)))


def _strided_slice(
    writer: GraphWriter, node: CNode, source: str, shape: tuple[int, ...], spec: list[Any]
) -> tuple[str, tuple[int, ...]]:
    """The part that slices and ints select; slices backwards are cut forwards and turned around."""
    begin, end, strides, out, turned = [], [], [], [], []
    for axis, (size, item) in enumerate(zip(shape, spec)):
        if isinstance(item, int):
            item = slice(item % size, item % size + 1)
        places = range(*(slice(None) if item is TENSOR_INDEX else item).indices(size))
        if places.step < 0:
            places = places[::-1]
            turned.append(axis)
        begin.append(places.start)
        end.append(places.stop)
        strides.append(places.step)
        out.append(len(places))
    kind = AbstractTensor(node.abstract.dtype, tuple(out))
    if tuple(out) != tuple(shape) or any(s != 1 for s in strides):
        parts = [writer.constant(tuple(v)) for v in (begin, end, strides)]
        masks = [writer.constant(0)] * 5
        source = writer.emit("StridedSlice", [source, *parts, *masks], kind, scope=node.scope)
    if turned:
        source = writer.emit("ReverseV2", [source, writer.constant(tuple(turned))], kind, scope=node.scope)
    return source, tuple(out)
