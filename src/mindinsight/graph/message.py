"""A graph message, read: nodes with their inputs, types, attributes and source lines; parameters; constants.

TensorBoard's graphs (GraphDef) are told apart by their nodes, whose first field is a name and not a list of inputs.
"""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass, field
from typing import Any

from mindinsight.events.values import type_name
from mindinsight.events.wire import (
    BYTES,
    FIXED32,
    VARINT,
    Field,
    Malformed,
    fields,
    float32,
    float64,
    numbers,
    signed,
    spans,
    text,
)

LONGEST_ATTRIBUTE = 1024
_DEEPEST = 64
_TENSOR, _TUPLE = 14, 31
#: the fields of a value message, as protobuf's text form names them
_VALUE = {
    1: ("dtype", "type"), 2: ("bool_val", "bool"), 3: ("int_val", "int"), 4: ("uint_val", "int"), 5: ("float_val", "float"),
    6: ("double_val", "double"), 7: ("str_val", "str"), 8: ("tensor_val", "tensor"), 10: ("bool_vals", "bool"), 11: ("int_vals", "int"),
    12: ("uint_vals", "int"), 13: ("float_vals", "float"), 14: ("double_vals", "double"), 15: ("str_vals", "str"),
    18: ("values", "value"), 19: ("dict_val", "named"), 20: ("type_val", "typed"),
}  # fmt: skip


@dataclass
class Type:
    """The type of a value: shapes of its tensors, the type as official replies word it, the types of its elements."""

    shapes: list[list[int]] = field(default_factory=list)
    name: str = ""
    elements: list[str] = field(default_factory=list)


@dataclass
class Operation:
    """A node. Its attributes, type and source lines stay bytes until somebody looks: graphs have very many nodes."""

    name: str
    op_type: str = ""
    scope: str = ""
    full_name: str = ""
    instance_name: str = ""
    output_i: int = 0
    inputs: list[tuple[str, bool]] = field(default_factory=list)  #: name, and whether the edge is a control edge
    raw_attributes: list[bytes] = field(default_factory=list)
    raw_type: bytes = b""
    raw_stack: bytes = b""

    @functools.cached_property
    def attributes(self) -> list[tuple[str, str]]:
        """Names and values, in protobuf's text form."""
        return [found for raw in self.raw_attributes if (found := _attribute(raw))]

    @property
    def type(self) -> Type:
        """The type of the result."""
        return _type_of(self.raw_type)

    @property
    def stack(self) -> list[dict[str, Any]]:
        """The lines of the user's program that the node comes from, the innermost first."""
        return list(_stack_of(self.raw_stack))

    @property
    def dynamic(self) -> bool:
        """Whether a shape is known only when it runs."""
        return any(b"put_is_dynamic_shape" in raw for raw in self.raw_attributes) and any(
            name in _DYNAMIC and "bool_val: true" in words for name, words in self.attributes
        )


@dataclass
class Message:
    """A graph."""

    nodes: list[Operation] = field(default_factory=list)
    parameters: list[tuple[str, Type]] = field(default_factory=list)
    constants: list[tuple[str, str, Type]] = field(default_factory=list)


def read(data: bytes) -> Message:
    """The graph in `data`."""
    graph = Message()
    board: bool | None = None
    for number, kind, begin, end in spans(data, 0, len(data)):
        if kind != BYTES:
            continue
        if number == 1:
            board = _is_board(data, begin, end) if board is None or board else False
            graph.nodes.append(_board_node(data, begin, end) if board else _node(data, begin, end))
        elif number == 3:
            graph.parameters.append(_parameter(data, begin, end))
        elif number == 5:
            graph.constants.append(_constant(data, begin, end))
    return graph


_NAMES = {2: "name", 3: "op_type", 4: "scope", 8: "full_name", 10: "instance_name"}
_DYNAMIC = ("input_is_dynamic_shape", "output_is_dynamic_shape")


def _node(data: bytes, begin: int, end: int) -> Operation:
    node = Operation("")
    for number, kind, first, last in spans(data, begin, end):
        if kind == BYTES:
            if number in _NAMES:
                setattr(node, _NAMES[number], data[first:last].decode("utf-8", "replace"))
            elif number == 1:
                source = _input(data, first, last)
                if source[0]:
                    node.inputs.append(source)
            elif number == 5:
                node.raw_attributes.append(data[first:last])
            elif number == 6:
                node.raw_type = data[first:last]
            elif number == 9:
                node.raw_stack = data[first:last]
        elif number == 7:
            node.output_i = signed(first)
    return node


def _input(data: bytes, begin: int, end: int) -> tuple[str, bool]:
    name, control = "", False
    for number, kind, first, last in spans(data, begin, end):
        if number == 1 and kind == BYTES:
            name = data[first:last].decode("utf-8", "replace")
        elif number == 2 and kind == VARINT:
            control = bool(first)
    return name, control


@functools.lru_cache(maxsize=4096)
def _type_of(raw: bytes) -> Type:
    return _type(raw, Field(6, BYTES, len(raw), 0, len(raw))) if raw else Type()


@functools.lru_cache(maxsize=4096)
def _stack_of(raw: bytes) -> tuple[dict[str, Any], ...]:
    return tuple(stack(raw.decode("utf-8", "replace")))


@functools.lru_cache(maxsize=4096)
def _attribute(data: bytes) -> tuple[str, str] | None:
    """The name of an attribute and its value in words; None if it is too long."""
    name, value = "", None
    for one in fields(data):
        if one.number == 1 and one.kind == BYTES:
            name = text(data, one)
        elif one.number == 2 and one.kind == BYTES:
            value = one
    if value is None or value.end - value.begin > LONGEST_ATTRIBUTE:
        return None
    return name, _words(data, value)


def _words(data: bytes, part: Field, indent: str = "") -> str:
    """A value message in protobuf's text form."""
    lines = []
    for one in fields(data, part.begin, part.end):
        name, kind = _VALUE.get(one.number, ("", ""))
        if kind in ("value", "tensor", "named", "typed"):
            inner = _words(data, one, indent + "  ") if kind == "value" and len(indent) < 2 * _DEEPEST else ""
            lines.append(f"{indent}{name} {{\n{inner}{indent}}}\n")
        elif kind and one.kind == BYTES and kind != "str":
            lines += [f"{indent}{name}: {word}\n" for word in _packed(data, one, kind)]
        elif kind:
            lines.append(f"{indent}{name}: {_word(data, one, kind)}\n")
    return "".join(lines)


def _packed(data: bytes, part: Field, kind: str) -> list[str]:
    dtype = {"float": "<f4", "double": "<f8"}.get(kind, "i8")
    return [str(v).lower() if kind == "bool" else str(v) for v in numbers(data, part, dtype).tolist()]


def _word(data: bytes, one: Field, kind: str) -> str:
    if kind == "str":
        return json.dumps(text(data, one), ensure_ascii=False)
    if kind == "type":
        return type_name(one.value)
    if kind == "bool":
        return "true" if one.value else "false"
    if one.kind == VARINT:
        return str(signed(one.value))
    return f"{float32(data, one):.9g}" if one.kind == FIXED32 else repr(float64(data, one))


def _type(data: bytes, part: Field, depth: int = 0) -> Type:
    number: int | None = None
    tensor: Field | None = None
    inner: list[Type] = []
    for one in fields(data, part.begin, part.end):
        if one.number == 1 and one.kind == VARINT:
            number = one.value
        elif one.number == 2 and one.kind == BYTES:
            tensor = one
        elif one.number == 3 and one.kind == BYTES and depth < _DEEPEST:
            inner += [_type(data, e, depth + 1) for e in fields(data, one.begin, one.end) if e.number == 1 and e.kind == BYTES]
    name = type_name(number or 0)
    if number is not None and number not in (_TENSOR, _TUPLE):
        return Type([[]], name, [name])
    found = Type([], name)
    if tensor is not None:
        element, dims = "DT_UNDEFINED", []
        for one in fields(data, tensor.begin, tensor.end):
            if one.number == 1:
                element = type_name(one.value)
            elif one.number == 2 and one.kind == BYTES:
                for dim in fields(data, one.begin, one.end):
                    if dim.number == 1 and dim.kind == BYTES:
                        dims.append(next((signed(f.value) for f in fields(data, dim.begin, dim.end) if f.number == 1), 0))
        found = Type([dims], f"{name}[{element}]", [element])
    if inner:
        found.shapes += [shape for one in inner for shape in one.shapes]
        found.elements += [element for one in inner for element in one.elements]
        found.name = f"{name}{[one.name for one in inner]}"
    elif number == _TUPLE:
        found.name = f"{name}[]"
    return found


def _parameter(data: bytes, begin: int, end: int) -> tuple[str, Type]:
    name, kind = "", Type()
    for one in fields(data, begin, end):
        if one.number == 1 and one.kind == BYTES:
            name = text(data, one)
        elif one.number == 2 and one.kind == BYTES:
            kind = _type(data, one)
    return name, kind


def _constant(data: bytes, begin: int, end: int) -> tuple[str, str, Type]:
    key, words, kind = "", "", Type([[]], "", [])
    for one in fields(data, begin, end):
        if one.number == 1 and one.kind == BYTES:
            key = text(data, one)
        elif one.number == 2 and one.kind == BYTES:
            dtype = next((f.value for f in fields(data, one.begin, one.end) if f.number == 1 and f.kind == VARINT), 0)
            long = one.end - one.begin > LONGEST_ATTRIBUTE
            words = f"dtype: {type_name(dtype)}" if long else _words(data, one)
            kind.elements = [type_name(dtype)]
    return key, words, kind


# ---------------------------------------------------------------------------------------------------------------------
# Source lines: "In file /a/net.py(12)/        x = self.fc(x)/"

_LINE = re.compile(r"In file (?P<path>[^\n(]+)[(:](?P<line>\d+)\)?(?:~\d+, \d+~\d+)?/?\s*(?P<code>[^\n]*)")


def stack(address: str) -> list[dict[str, Any]]:
    """The lines of the user's program that a node comes from, the innermost first."""
    return [{"file_path": m["path"].strip(), "line_no": int(m["line"]), "code_line": m["code"].strip().rstrip("/")}
            for m in _LINE.finditer(address)]  # fmt: skip


# ---------------------------------------------------------------------------------------------------------------------
# TensorBoard


def _is_board(data: bytes, begin: int, end: int) -> bool:
    """GraphDef's nodes begin with their name, ours with a message of an input."""
    first = next(iter(fields(data, begin, end)), None)
    if first is None or first.number != 1 or first.kind != BYTES:
        return False
    try:
        inner = list(fields(data, first.begin, first.end))
    except Malformed:
        return True
    return not inner or inner[0].number != 1 or inner[0].kind != BYTES


def _board_node(data: bytes, begin: int, end: int) -> Operation:
    node = Operation("")
    for one in fields(data, begin, end):
        if one.kind != BYTES:
            continue
        if one.number == 1:
            node.name = node.full_name = text(data, one)
        elif one.number == 2:
            node.op_type = text(data, one)
        elif one.number == 3:
            name = text(data, one)
            node.inputs.append((name.lstrip("^").partition(":")[0], name.startswith("^")))
    node.scope = node.name.rpartition("/")[0]
    return node
