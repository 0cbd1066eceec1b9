"""ONNX models whose inputs have sizes that are not fixed: two traces joined into one (see `formats/free_sizes.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore.formats.free_sizes import FreeSize, explain, is_filled, is_range, refusal
from mindspore.formats.onnx import messages
from mindspore.formats.onnx.messages import DATA_TYPES, OnnxModel, OnnxTensor


def generalise(model: OnnxModel, other: OnnxModel, sizes: list[FreeSize]) -> OnnxModel:
    """The model of the first trace, made to fit all sizes by comparing it with that of the second."""
    graph, twin = model.graph, other.graph
    _check_same(graph.node, twin.node)
    shapes_only = _reshape_targets(graph.node)
    made = _Sizes([i.name for i in graph.input], sizes)
    kept = []
    for tensor, pair in zip(graph.initializer, twin.initializer, strict=True):
        if tensor.encode() == pair.encode() or made.compute(tensor, pair, shapes_only):
            kept.append(tensor)
    graph.initializer = [*kept, *made.initializers]
    graph.node = [*made.nodes, *graph.node]
    _free_shapes((*graph.input, *graph.output), (*twin.input, *twin.output))
    return model


def _check_same(nodes: list[Any], others: list[Any]) -> None:
    """The traces must have the same nodes; the shapes of values inside nested graphs are made free."""
    if len(nodes) != len(others):
        raise RuntimeError(refusal("the network itself"))
    for node, twin in zip(nodes, others):
        if node.op_type != twin.op_type or node.input != twin.input or len(node.attribute) != len(twin.attribute):
            raise RuntimeError(refusal("the network itself"))
        for attribute, pair in zip(node.attribute, twin.attribute):
            if attribute.g is not None:
                _check_same(attribute.g.node, pair.g.node)
                _free_shapes((*attribute.g.input, *attribute.g.output), (*pair.g.input, *pair.g.output))
            elif attribute.encode() != pair.encode():
                raise RuntimeError(refusal(f"an attribute of '{node.op_type}'"))


def _free_shapes(infos: Sequence[Any], others: Sequence[Any]) -> None:
    for info, other in zip(infos, others):
        dims = info.type.tensor_type.shape.dim
        for place, (dim, pair) in enumerate(zip(dims, other.type.tensor_type.shape.dim)):
            if dim.dim_value != pair.dim_value:
                dims[place] = messages.OnnxDimension(dim_param="batch") if place == 0 else messages.OnnxDimension()


def _reshape_targets(nodes: list[Any]) -> set[str]:
    """Constants that are used as the target of Reshape and for nothing else."""
    users: dict[str, set] = {}
    stack = list(nodes)
    while stack:
        node = stack.pop()
        for place, name in enumerate(node.input):
            users.setdefault(name, set()).add((node.op_type, place))
        stack += [n for a in node.attribute if a.g is not None for n in a.g.node]
    return {name for name, found in users.items() if found == {("Reshape", 1)}}


def _array(tensor: OnnxTensor) -> np.ndarray:
    names = {code: name for name, code in DATA_TYPES.items() if name != "bool_"}
    kind = "bool" if tensor.data_type == messages.BOOL else names[tensor.data_type]
    return np.frombuffer(bytes(tensor.raw_data), np.dtype(kind)).reshape(tensor.dims)


class _Sizes:
    """Nodes that compute free sizes and what depends on them; they come first in the graph."""

    def __init__(self, inputs: list[str], sizes: list[FreeSize]):
        self.inputs, self.sizes = inputs, sizes
        self.nodes: list[Any] = []
        self.initializers: list[OnnxTensor] = []

    def compute(self, tensor: OnnxTensor, pair: OnnxTensor, shapes_only: set[str]) -> bool:
        """Make nodes for a constant that differs; True when it stays one (Reshape finds one size by itself)."""
        first, second = _array(tensor), _array(pair)
        if first.ndim != second.ndim or tensor.data_type != pair.data_type:
            raise RuntimeError(refusal("a constant"))
        if first.shape == second.shape and first.dtype == np.int64 and first.ndim <= 1:
            changed = np.flatnonzero(first.reshape(-1) != second.reshape(-1))
            if len(changed) == 1 and first.ndim == 1 and tensor.name in shapes_only and -1 not in first:
                free = first.copy()
                free[changed] = -1
                tensor.raw_data = free.tobytes()
                return True
            self._numbers(first, second, tensor.name or "")
        elif is_filled(first, second):
            shape = self._numbers(np.array(first.shape), np.array(second.shape))
            self._emit("Expand", [self._constant(first.reshape(-1)[:1].reshape((1,) * first.ndim)), shape], tensor.name)
        elif is_range(first) and is_range(second) and first.dtype == np.int64:
            step = int(first[1] - first[0])
            low, high = (np.array(int(a[0]) + step * len(a)) for a in (first, second))
            start = self._numbers(first[:1].reshape(()), second[:1].reshape(()))
            self._emit("Range", [start, self._numbers(low, high), self._constant(np.array(step))], tensor.name)
        else:
            raise RuntimeError(refusal("a constant"))
        return False

    def _constant(self, array: np.ndarray) -> str:
        name = f"size_constant_{len(self.initializers)}"
        self.initializers.append(messages.tensor(name, array))
        return name

    def _emit(self, op: str, inputs: list[str], name: str | None = None, **attributes: Any) -> str:
        target = name or f"size_{len(self.nodes)}"
        self.nodes.append(messages.node(op, inputs, [target], attributes))
        return target

    def _numbers(self, first: np.ndarray, second: np.ndarray, name: str | None = None) -> str:
        """A vector (or single number) that has these values in the two traces."""
        parts = [self._number(int(a), int(b)) for a, b in zip(first.reshape(-1), second.reshape(-1))]
        if first.ndim == 0:
            return self._emit("Reshape", [parts[0], self._constant(np.zeros(0, np.int64))], name)
        return self._emit("Concat", parts, name, axis=0)

    def _number(self, first: int, second: int) -> str:
        """A vector of one number."""
        if first == second:
            return self._constant(np.array([first]))
        found = explain(first, second, self.sizes)
        if found is None:
            raise RuntimeError(refusal("a number"))
        total = ""
        for size in found.sizes:
            shape = self._emit("Shape", [self.inputs[size.input]], start=size.axis, end=size.axis + 1)
            total = shape if not total else self._emit("Mul", [total, shape])
        if found.factor != 1:
            total = self._emit("Mul", [total, self._constant(np.array([found.factor]))])
        if found.offset:
            total = self._emit("Add", [total, self._constant(np.array([found.offset]))])
        return total
