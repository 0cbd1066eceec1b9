"""Joining the values that two branches leave behind.

Two structures are walked together. Where both sides hold the same constant it stays a constant; where they hold tensors
or numbers, the pair becomes an output of the Cond node; where they cannot be reconciled the result is an `Unjoined`
marker, which is an error only if it is used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.keys import same_constant
from mindspore.compiler.builder import Builder
from mindspore.ir import Abstract, AbstractScalar, AbstractTensor, Node, ValueNode
from mindspore.prims import values
from mindspore.prims.structure import parts_of, same_kind, with_parts
from mindspore.prims.values import SymbolicScalarBase, TensorBase


class Dead:
    """Stands for a value that is never read: the branch returned, or the name has no value yet."""

    def __repr__(self) -> str:
        return "DEAD"


DEAD = Dead()


class Slot:
    """A place in a structure to be filled with output `index` of the joining node."""

    __slots__ = ("index",)

    def __init__(self, index: int):
        self.index = index


class Unjoined:
    """Two values that cannot become one."""

    def __init__(self, left: Any, right: Any, reason: str = ""):
        self.left, self.right, self.reason = left, right, reason

    @property
    def dynamic(self) -> bool:
        """Whether a run that knows the values could go on: not so for tensors or numbers of different element types."""
        left, right = _element_type(self.left), _element_type(self.right)
        return left is None or right is None or left is right

    def describe(self) -> str:
        return self.reason or f"{short(self.left)} in one branch and {short(self.right)} in the other"


def _element_type(value: Any) -> Any:
    return _abstract(value).dtype if _is_data(value) else None  # type: ignore[attr-defined]


def short(value: Any) -> str:
    """A few words on a value, for messages."""
    if isinstance(value, TensorBase):
        abstract = values.abstract_of(value)
        return f"a {abstract.dtype} tensor of shape {abstract.shape}"
    if isinstance(value, SymbolicScalarBase):
        return f"a run-time {value._node.abstract.dtype}"
    text = repr(value)
    return text if len(text) < 60 else f"{text[:57]}..."


class Joiner:
    """Collects the output pairs of two branches while their structures are walked."""

    def __init__(
        self, left: Builder, right: Builder, left_contents: dict | None = None, right_contents: dict | None = None
    ):
        self.builders = (left, right)
        self.contents = (left_contents or {}, right_contents or {})
        self.pairs: list[tuple[Node, Node]] = []
        self.abstracts: list[Abstract] = []
        self.rewritten: list[tuple[Any, Any]] = []  # (container, template of its new content)

    def join(self, a: Any, b: Any) -> Any:
        """A template of the joined value: constants, Slots, and containers of these."""
        if a is DEAD and b is DEAD:
            return DEAD
        if a is DEAD or b is DEAD:
            return self._one_sided(a, b)
        if isinstance(a, (list, dict)) and a is b:
            return self._same_container(a)
        if a is b and not self._was_written(a):
            return a
        if _is_data(a) and _is_data(b):
            return self._join_data(a, b)
        if same_kind(a, b) and (parts := parts_of(a)) is not None:
            return with_parts(a, [self.join(x, y) for x, y in zip(parts, parts_of(b) or ())])
        if _equal_constants(a, b):
            return a
        return Unjoined(a, b)

    def _was_written(self, value: Any) -> bool:
        return isinstance(value, TensorBase) and any(id(value) in builder.state for builder in self.builders)

    def _same_container(self, container: Any) -> Any:
        """A list or dict that existed before the branches: what each branch left in it is joined and written back."""
        a = self.contents[0].get(id(container), container)
        b = self.contents[1].get(id(container), container)
        joined = self.join(_copy(a), _copy(b))
        if isinstance(joined, Unjoined):
            return Unjoined(a, b, f"of length {len(a)} in one branch and {len(b)} in the other")
        self.rewritten.append((container, joined))
        return container

    def _one_sided(self, a: Any, b: Any) -> Any:
        alive = b if a is DEAD else a
        parts = parts_of(alive)
        if parts is not None:
            return with_parts(alive, [self.join(DEAD if a is DEAD else x, DEAD if b is DEAD else x) for x in parts])
        if not isinstance(alive, (TensorBase, SymbolicScalarBase)):
            return alive
        side = 1 if a is DEAD else 0
        if isinstance(alive, TensorBase) and not self.builders[side].is_variable(alive):
            return alive
        node = self.builders[side].node_of(alive)
        filler = zeros_node(node.abstract)
        return self._slot(node if side == 0 else filler, filler if side == 0 else node, node.abstract)

    def _join_data(self, a: Any, b: Any) -> Any:
        if not self._varies(0, a) and not self._varies(1, b) and _equal_constants(a, b):
            return a
        target = common_abstract(_abstract(a), _abstract(b), a, b)
        if target is None:
            return Unjoined(a, b)
        return self._slot(self._node(0, a, target), self._node(1, b, target), target)

    def _varies(self, side: int, value: Any) -> bool:
        return self.builders[side].is_variable(value)

    def _node(self, side: int, value: Any, target: Abstract) -> Node:
        builder = self.builders[side]
        with builder.active():
            return builder.node_of(convert(value, target))

    def _slot(self, a: Node, b: Node, abstract: Abstract) -> Slot:
        self.pairs.append((a, b))
        self.abstracts.append(abstract)
        return Slot(len(self.pairs) - 1)

    def join_nodes(self, a: Node, b: Node) -> Slot:
        return self._slot(a, b, a.abstract)

    def fill(self, template: Any, outputs: list[Any]) -> Any:
        """Put the joining node's outputs into a template."""
        if isinstance(template, Slot):
            return outputs[template.index]
        if any(container is template for container, _ in self.rewritten):
            return template
        parts = parts_of(template)
        if parts is not None:
            return with_parts(template, [self.fill(part, outputs) for part in parts])
        return template

    def write_back(self, outputs: list[Any]) -> None:
        """Give containers that both branches share their joined content."""
        for container, template in self.rewritten:
            content = self.fill(template, outputs)
            if isinstance(container, list):
                container[:] = content
            else:
                container.clear()
                container.update(content)


def _copy(container: Any) -> Any:
    return list(container) if isinstance(container, list) else dict(container)


def _is_data(value: object) -> bool:
    return isinstance(value, (TensorBase, SymbolicScalarBase)) or values.is_number(value)


def _equal_constants(a: Any, b: Any) -> bool:
    if isinstance(a, TensorBase) and isinstance(b, TensorBase):
        x, y = np.asarray(a._data), np.asarray(b._data)
        return x.dtype == y.dtype and x.shape == y.shape and x.size <= 4096 and x.tobytes() == y.tobytes()
    if isinstance(a, (TensorBase, SymbolicScalarBase)) or isinstance(b, (TensorBase, SymbolicScalarBase)):
        return False
    return same_constant(a, b)


def _abstract(value: Any) -> Abstract:
    if isinstance(value, (TensorBase, SymbolicScalarBase)):
        return values.abstract_of(value)
    return AbstractScalar(values.scalar_dtype(value))


def common_abstract(a: Abstract, b: Abstract, left: Any = None, right: Any = None) -> Abstract | None:
    """The type both can be converted to, or None. Numbers bend to tensors of shape (); tensors must agree."""
    if a == b:
        return a
    if isinstance(a, AbstractScalar) and isinstance(b, AbstractScalar):
        return AbstractScalar(mstype.promote(a.dtype, b.dtype))
    if isinstance(a, AbstractTensor) and isinstance(b, AbstractTensor):
        return None
    tensor, number = (a, b) if isinstance(a, AbstractTensor) else (b, a)
    if tensor.shape == () and mstype.promote_scalar(tensor.dtype, values.scalar_sample(number.dtype)) is tensor.dtype:
        return tensor
    return None


def convert(value: Any, target: Abstract) -> Any:
    """A value in the form of `target` (same kind, wider number, or number to 0-d tensor)."""
    from mindspore.prims.arrays import ScalarToTensor
    from mindspore.prims.elementwise import Cast

    if isinstance(value, (TensorBase, SymbolicScalarBase)) and values.abstract_of(value) == target:
        return value
    if isinstance(target, AbstractScalar):
        if values.is_number(value):
            return values.from_node(ValueNode(np.asarray(value, target.dtype.np), target))
        return Cast()(value, target.dtype)
    if values.is_number(value):
        return values.number_tensor(value, target.dtype)
    return ScalarToTensor()(value, target.dtype)


def zeros_node(abstract: Any) -> ValueNode:
    """A constant that is never read. A broadcast zero: it takes no memory."""
    return ValueNode(np.broadcast_to(np.zeros((), abstract.dtype.np), abstract.shape), abstract)
