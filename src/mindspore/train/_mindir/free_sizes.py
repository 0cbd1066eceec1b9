"""Models whose inputs have sizes that are not fixed.

Networks are traced with fixed shapes. For free sizes they are traced twice, with different sizes; where the two models
differ, a number depends on a free size. Which size it is, times what and plus what, follows from the two values, so the
constant can be replaced by a computation on the shape of the input. What cannot be explained so is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.compiler.parse.entry import tensors_in
from mindspore.ir import mindir_proto as proto
from mindspore.ir.abstract import AbstractScalar, AbstractTensor, AbstractTuple
from mindspore.ir.mindir_proto import AttributeProto, GraphProto, ModelProto, NodeProto
from mindspore.ir.mindir_values import read_tensor, read_value, value_attribute
from mindspore.ir.mindir_writer import GraphWriter, ModelWriter

#: sizes that hardly occur by chance, for the first axes (batch, sequence) and for images, which want many halvings
_FIRST = ((37, 53), (29, 23))
_IMAGES = ((224, 288), (352, 416), (480, 608))


class FreeSize(NamedTuple):
    """A size that is not fixed: its value in both traces, and where it can be read."""

    values: tuple[int, int]
    input: int
    axis: int


def dynamic_shape(value: Any) -> tuple[int, ...] | None:
    """The shape of an input with -1 for sizes that are not fixed, or None when all are."""
    return value.__dict__.get("_dynamic_shape") if isinstance(value, Tensor) else None


def has_free_sizes(inputs: tuple) -> bool:
    return any(dynamic_shape(t) is not None for t in tensors_in(inputs))


def free_sizes(inputs: tuple) -> list[FreeSize]:
    """One for each axis that is free somewhere: free sizes of equal axes are taken to be equal."""
    found: dict[int, FreeSize] = {}
    for place, tensor in enumerate(tensors_in(inputs)):
        for axis, size in enumerate(dynamic_shape(tensor) or ()):
            if size == -1 and axis not in found:
                found[axis] = FreeSize(_values(axis), place, axis)
    return list(found.values())


def _values(axis: int) -> tuple[int, int]:
    if axis < len(_FIRST):
        return _FIRST[axis]
    return _IMAGES[min(axis - len(_FIRST), len(_IMAGES) - 1)]


def with_sizes(value: Any, trace: int) -> Any:
    """The inputs for trace 0 or 1."""
    if isinstance(value, (tuple, list)):
        return type(value)(with_sizes(v, trace) for v in value)
    shape = dynamic_shape(value)
    if shape is None:
        return value
    sizes = tuple(_values(axis)[trace] if d == -1 else d for axis, d in enumerate(shape))
    return Tensor(np.zeros(sizes, value.dtype.np))


class Expression(NamedTuple):
    """factor · size · size' + offset"""

    sizes: tuple[FreeSize, ...]
    factor: int
    offset: int


def explain(first: int, second: int, sizes: Sequence[FreeSize]) -> Expression | None:
    """How a number that was `first` in one trace and `second` in the other depends on the free sizes."""
    choices = [(s,) for s in sizes] + [(s, t) for i, s in enumerate(sizes) for t in sizes[i:]]
    explained = []
    for chosen in choices:
        a, b = (int(np.prod([s.values[trace] for s in chosen])) for trace in (0, 1))
        factor, rest = divmod(first - second, a - b)
        if rest == 0 and factor:
            explained.append(Expression(chosen, factor, first - factor * a))
    return min(explained, key=lambda e: (abs(e.offset), len(e.sizes)), default=None)


# ---------------------------------------------------------------------------------------------------------------------
# Joining two models


def generalise(owner: ModelWriter, other: ModelProto, sizes: list[FreeSize]) -> ModelProto:
    """The model of the first trace, made to fit all sizes by comparing it with that of the second."""
    model = owner.model
    kinds = [{f"REF::{p.name}": p for p in m.primitives} for m in (model, other)]
    if len(model.functions) != len(other.functions):
        raise RuntimeError(_refusal("the network itself"))
    for own, theirs in zip((model.graph, *model.functions), (other.graph, *other.functions)):
        _join(owner, own, theirs, kinds, sizes, own is model.graph)
    return model


def _refusal(what: str) -> str:
    return f"{what} depends on a size that is not fixed in a way that cannot be exported; export with fixed sizes."


def _join(owner: ModelWriter, own: GraphProto, other: GraphProto, kinds: list, sizes: list, is_main: bool) -> None:
    if len(own.node) != len(other.node):
        raise RuntimeError(_refusal("the network itself"))
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
        raise RuntimeError(_refusal("the network itself"))
    if pair[0] is None:
        return
    if pair[0].op_type != pair[1].op_type:
        raise RuntimeError(_refusal("the network itself"))
    if [a.encode() for a in pair[0].attribute] != [a.encode() for a in pair[1].attribute]:
        raise RuntimeError(_refusal(f"an attribute of the operation '{pair[0].op_type}'"))


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
            raise RuntimeError(_refusal("a constant inside a branch or loop"))
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
        raise RuntimeError(_refusal("a constant inside a branch or loop"))
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
            raise RuntimeError(_refusal("a number"))
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
            raise RuntimeError(_refusal("a value"))
        self._rename(target)

    def tensor(self, target: str, first: np.ndarray, second: np.ndarray) -> None:
        """Nodes for a tensor: one value repeated, or numbers in equal steps."""
        if first.ndim != second.ndim or not first.size:
            raise RuntimeError(_refusal("a constant tensor"))
        shape = tuple(a if a == b else -1 for a, b in zip(first.shape, second.shape))
        kind = AbstractTensor(mstype.from_numpy(first.dtype), shape)
        value = first.reshape(-1)[:1]
        if first.tobytes() == np.full_like(first, value[0]).tobytes() and (second == value[0]).all():
            sizes = self.numbers(first.shape, second.shape)
            single = self.writer.constant(value.reshape((1,) * first.ndim))
            self.writer.emit("BroadcastTo", [single, sizes], kind)
        elif first.ndim == 1 and first.dtype.kind == "i" and _is_range(first) and _is_range(second):
            step = int(first[1] - first[0])
            ends = [int(a[0]) + step * len(a) for a in (first, second)]
            parts = [self.number(int(first[0]), int(second[0])), self.number(*ends), self.writer.constant(step)]
            self.writer.emit("Range", [*parts, self.writer.constant(1000000)], kind)
        else:
            raise RuntimeError(_refusal("a constant tensor"))
        self._rename(target)

    def _rename(self, target: str) -> None:
        """The last node takes the name that the graph knows the constant by."""
        self.nodes[-1].output = [target]


def _is_range(array: np.ndarray) -> bool:
    return len(array) > 1 and len(set(np.diff(array).tolist())) == 1
