"""MindIR models whose inputs have sizes that are not fixed: two traces joined into one (see `formats/free_sizes.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.formats.free_sizes import FreeSize, explain, is_filled, is_range, refusal
from mindspore.formats.mindir import messages as proto
from mindspore.formats.mindir.messages import AttributeProto, GraphProto, ModelProto, NodeProto
from mindspore.formats.mindir.values import read_tensor, read_value, value_attribute
from mindspore.formats.mindir.writer import GraphWriter, ModelWriter
from mindspore.ir.abstract import AbstractScalar, AbstractTensor, AbstractTuple


def generalise(owner: ModelWriter, other: ModelProto, sizes: list[FreeSize]) -> ModelProto:
    """The model of the first trace, made to fit all sizes by comparing it with that of the second."""
    model = owner.model
    kinds = [{f"REF::{p.name}": p for p in m.primitives} for m in (model, other)]
    if len(model.functions) != len(other.functions):
        raise RuntimeError(refusal("the network itself"))
    for own, theirs in zip((model.graph, *model.functions), (other.graph, *other.functions)):
        _join(owner, own, theirs, kinds, sizes, own is model.graph)
    return model


def _join(owner: ModelWriter, own: GraphProto, other: GraphProto, kinds: list, sizes: list, is_main: bool) -> None:
    if len(own.node) != len(other.node):
        raise RuntimeError(refusal("the network itself"))
    made = _Sizes(owner, own, sizes) if is_main else None
    users = _users(own)
    nodes: list[NodeProto] = []
    for node, twin in zip(own.node, other.node):
        _check_same(node, twin, kinds)
        if node.op_type != "Constant":
            _join_types(node.attribute, twin.attribute)
            nodes.append(node)
        elif _is_kept(node, twin, users.get(node.output[0], ()), made):
            nodes.append(node)
    own.node = [*(made.nodes if made is not None else ()), *nodes]
    for info, twin in (*zip(own.input, other.input), *zip(own.output, other.output)):
        for tensor, pair in zip(info.tensor, twin.tensor):
            _join_dims(tensor, pair)
        if info.attr_info is not None:
            _join_types([info.attr_info], [twin.attr_info])


def _check_same(node: NodeProto, twin: NodeProto, kinds: list) -> None:
    pair = [kind.get(n.op_type) for kind, n in zip(kinds, (node, twin))]
    if (pair[0] is None) != (pair[1] is None) or len(node.input) != len(twin.input):
        raise RuntimeError(refusal("the network itself"))
    if pair[0] is None:
        return
    if pair[0].op_type != pair[1].op_type:
        raise RuntimeError(refusal("the network itself"))
    if [a.encode() for a in pair[0].attribute] != [a.encode() for a in pair[1].attribute]:
        raise RuntimeError(refusal(f"an attribute of the operation '{pair[0].op_type}'"))


def _users(graph: GraphProto) -> dict[str, list[tuple[str, int]]]:
    """The operators that use each value, and as which input."""
    found: dict[str, list[tuple[str, int]]] = {}
    for node in graph.node:
        for place, name in enumerate(node.input):
            found.setdefault(name, []).append(((node.op_type or "").removeprefix("REF::").partition(":")[0], place))
    return found


def _join_types(attributes: list[AttributeProto], others: list[AttributeProto]) -> None:
    for attribute, other in zip(attributes, others):
        for tensor, pair in zip(attribute.tensors, other.tensors):
            _join_dims(tensor, pair)
        _join_types(attribute.values, other.values)


def _join_dims(tensor: Any, other: Any) -> None:
    tensor.dims = [a if a == b else -1 for a, b in zip(tensor.dims, other.dims)]


def _is_kept(node: NodeProto, twin: NodeProto, users: Any, made: _Sizes | None) -> bool:
    """Whether a constant stays one; if not, nodes that compute it have been made under its name."""
    attribute = node.attribute[0]
    if attribute.encode() == twin.attribute[0].encode():
        return True
    if attribute.type == proto.TENSORS:
        arrays = [read_tensor(a.tensors[0]) for a in (attribute, twin.attribute[0])]
        if made is None:
            raise RuntimeError(refusal("a constant inside a branch or loop"))
        made.tensor(node.output[0], *arrays)
        return False
    first, second = read_value(attribute), read_value(twin.attribute[0])
    if isinstance(first, tuple) and isinstance(second, tuple) and len(first) == len(second):
        changed = [i for i, (a, b) in enumerate(zip(first, second)) if a != b]
        if len(changed) == 1 and users and all(user == ("Reshape", 1) for user in users) and -1 not in first:
            free = tuple(-1 if i in changed else v for i, v in enumerate(first))
            node.attribute = [value_attribute("value", free)]
            return True
    if made is None:
        raise RuntimeError(refusal("a constant inside a branch or loop"))
    made.value(node.output[0], first, second)
    return False


class _Sizes:
    """Nodes that compute free sizes and what depends on them; they come first in the main graph."""

    def __init__(self, owner: ModelWriter, graph: GraphProto, sizes: list[FreeSize]):
        self.sizes = sizes
        self.inputs = [(i.name or "", i) for i in graph.input]
        self.writer = GraphWriter(owner, graph.name or "")
        self.writer.proto.node = []
        self.known: dict[FreeSize, str] = {}

    @property
    def nodes(self) -> list[NodeProto]:
        return self.writer.proto.node

    def _size(self, size: FreeSize) -> str:
        if size not in self.known:
            name, info = self.inputs[size.input]
            kind = AbstractTuple((AbstractScalar(mstype.int64),) * len(info.tensor[0].dims))
            shape = self.writer.emit("Shape", [name], kind)
            self.known[size] = self.writer.get_item(shape, size.axis, AbstractScalar(mstype.int64))
        return self.known[size]

    def number(self, first: int, second: int) -> str:
        """The name of a number that has these values in the two traces."""
        if first == second:
            return self.writer.constant(first)
        found = explain(first, second, self.sizes)
        if found is None:
            raise RuntimeError(refusal("a number"))
        kind = AbstractScalar(mstype.int64)
        name = self._size(found.sizes[0])
        for other in found.sizes[1:]:
            name = self.writer.emit("ScalarMul", [name, self._size(other)], kind)
        if found.factor != 1:
            name = self.writer.emit("ScalarMul", [name, self.writer.constant(found.factor)], kind)
        if found.offset:
            name = self.writer.emit("ScalarAdd", [name, self.writer.constant(found.offset)], kind)
        return name

    def numbers(self, first: Sequence[int], second: Sequence[int]) -> str:
        """The name of a tuple of such numbers."""
        kind = AbstractTuple((AbstractScalar(mstype.int64),) * len(first))
        return self.writer.make_tuple([self.number(a, b) for a, b in zip(first, second)], kind)

    def value(self, target: str, first: Any, second: Any) -> None:
        """Nodes for a number or tuple, the last of them named `target`."""
        if isinstance(first, tuple) and isinstance(second, tuple) and len(first) == len(second):
            self.numbers(first, second)
        elif isinstance(first, int) and isinstance(second, int):
            name = self.number(first, second)
            if name in self.known.values():  # the name of the size itself is taken
                self.writer.emit("ScalarMul", [name, self.writer.constant(1)], AbstractScalar(mstype.int64))
        else:
            raise RuntimeError(refusal("a value"))
        self._rename(target)

    def tensor(self, target: str, first: np.ndarray, second: np.ndarray) -> None:
        """Nodes for a tensor: one value repeated, or numbers in equal steps."""
        if first.ndim != second.ndim or not first.size:
            raise RuntimeError(refusal("a constant tensor"))
        shape = tuple(a if a == b else -1 for a, b in zip(first.shape, second.shape))
        kind = AbstractTensor(mstype.from_numpy(first.dtype), shape)
        if is_filled(first, second):
            sizes = self.numbers(first.shape, second.shape)
            single = self.writer.constant(first.reshape(-1)[:1].reshape((1,) * first.ndim))
            self.writer.emit("BroadcastTo", [single, sizes], kind)
        elif is_range(first) and is_range(second):
            step = int(first[1] - first[0])
            ends = [int(a[0]) + step * len(a) for a in (first, second)]
            parts = [self.number(int(first[0]), int(second[0])), self.number(*ends), self.writer.constant(step)]
            self.writer.emit("Range", [*parts, self.writer.constant(1000000)], kind)
        else:
            raise RuntimeError(refusal("a constant tensor"))
        self._rename(target)

    def _rename(self, target: str) -> None:
        """The last node takes the name that the graph knows the constant by."""
        self.nodes[-1].output = [target]
