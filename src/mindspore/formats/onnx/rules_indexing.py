"""How gathering, scattering and indexing are written in ONNX."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore.formats.index_plan import Selection, expanded, plan
from mindspore.formats.onnx.messages import INT64
from mindspore.formats.onnx.rules import rule
from mindspore.ir import CNode
from mindspore.prims.arrays import TENSOR_INDEX

if TYPE_CHECKING:
    from mindspore.formats.onnx.export import OnnxGraph

_SCATTERS = {"TensorScatterUpdate": "none", "TensorScatterAdd": "add", "TensorScatterMul": "mul"}


@rule("Gather")
def _gather(g: OnnxGraph, node: CNode, x: str, indices: str, axis: int) -> str:
    if getattr(node.op, "batch_dims", 0):
        raise RuntimeError("Gather with batch_dims cannot be exported to ONNX.")
    return g.emit("Gather", [x, indices], axis=axis)


@rule("GatherD")
def _gather_elements(g: OnnxGraph, node: CNode, x: str, axis: int, index: str) -> str:
    return g.emit("GatherElements", [x, index], axis=axis)


@rule("GatherNd")
def _gather_nd(g: OnnxGraph, node: CNode, x: str, indices: str) -> str:
    return g.emit("GatherND", [x, g.emit("Cast", [indices], to=INT64)])


@rule(*_SCATTERS)
def _scatter_nd(g: OnnxGraph, node: CNode, x: str, indices: str, updates: str) -> str:
    whole = g.emit("Cast", [indices], to=INT64)
    return g.emit("ScatterND", [x, whole, updates], reduction=_SCATTERS[node.op.name])


@rule("TensorScatterElements")
def _scatter_elements(g: OnnxGraph, node: CNode, x: str, indices: str, updates: str) -> str:
    return g.emit("ScatterElements", [x, indices, updates], axis=node.op.axis, reduction=node.op.reduction)


@rule("GetItem")
def _get_item(g: OnnxGraph, node: CNode, x: str, *arrays: str) -> str:
    shape = tuple(node.args[0].abstract.shape)
    spec = expanded(node.op.spec, len(shape))
    if len(arrays) > 1 or (arrays and any(s is None or isinstance(s, int) for s in spec)):
        chosen = plan(node.op.spec, shape, [a.abstract.shape for a in node.args[1:]])
        flat = g.emit("Reshape", [x, g.ints([-1])])
        return g.emit("Gather", [flat, _positions(g, chosen, arrays)], axis=0)
    x = _sliced(g, x, shape, [s for s in spec if s is not None])
    if arrays:
        return g.emit("Gather", [x, arrays[0]], axis=spec.index(TENSOR_INDEX))
    if any(s is None or isinstance(s, int) for s in spec):
        x = g.emit("Reshape", [x, g.ints(node.abstract.shape)])
    return x


def _sliced(g: OnnxGraph, x: str, shape: tuple[int, ...], spec: list[Any]) -> str:
    starts, ends, axes, steps = [], [], [], []
    for axis, (size, item) in enumerate(zip(shape, spec)):
        if isinstance(item, int):
            item = slice(item % size, item % size + 1)
        if item is TENSOR_INDEX or item.indices(size) == (0, size, 1):
            continue
        start, stop, step = item.indices(size)
        starts.append(start)
        ends.append(stop if stop >= 0 else -(1 << 31))
        axes.append(axis)
        steps.append(step)
    if not axes:
        return x
    return g.emit("Slice", [x, g.ints(starts), g.ints(ends), g.ints(axes), g.ints(steps)])


@rule("SetItem")
def _set_item(g: OnnxGraph, node: CNode, x: str, value: str, *arrays: str) -> str:
    kind = node.args[0].abstract
    chosen = plan(node.op.spec, kind.shape, [a.abstract.shape for a in node.args[2:]])
    positions = g.emit("Reshape", [_positions(g, chosen, arrays), g.ints([-1, 1])])
    if node.args[1].abstract.shape != chosen.shape:
        value = g.emit("Expand", [value, g.ints(chosen.shape)])
    flat, updates = g.emit("Reshape", [x, g.ints([-1])]), g.emit("Reshape", [value, g.ints([-1])])
    reduction = "add" if node.op.accumulate else "none"
    changed = g.emit("ScatterND", [flat, positions, updates], reduction=reduction)
    return g.emit("Reshape", [changed, g.ints(kind.shape)])


def _positions(g: OnnxGraph, chosen: Selection, arrays: tuple[str, ...]) -> str:
    """The flat positions of a selection."""
    total = ""
    for part in chosen.parts:
        if part.values is not None:
            name = g.ints(part.values)
        else:
            whole = g.emit("Cast", [arrays[part.tensor]], to=INT64)
            name = g.emit("Mul", [g.emit("Mod", [whole, g.ints(part.size)]), g.ints(part.stride)])
        name = g.emit("Reshape", [name, g.ints(part.shape)])
        total = name if not total else g.emit("Add", [total, name])
    if not total:
        return g.constant(np.zeros(chosen.shape, np.int64))
    return g.emit("Expand", [total, g.ints(chosen.shape)]) if math.prod(chosen.shape) else total
