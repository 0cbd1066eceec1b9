"""A graph message, read: nodes with their inputs, types, attributes and source lines; parameters; constants.

TensorBoard's graphs (GraphDef) are told apart by their nodes, whose first field is a name and not a list of inputs.
"""

from __future__ import annotations

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
    """A node."""

    name: str
    op_type: str = ""
    scope: str = ""
    full_name: str = ""
    instance_name: str = ""
    output_i: int = 0
    inputs: list[tuple[str, bool]] = field(default_factory=list)  #: name, and whether the edge is a control edge
    attributes: list[tuple[str, str]] = field(default_factory=list)
    type: Type = field(default_factory=Type)
    stack: list[dict[str, Any]] = field(default_factory=list)
    dynamic: bool = False


@dataclass
class Message:
    """A graph."""

    nodes: list[Operation] = field(default_factory=list)
    parameters: list[tuple[str, Type]] = field(default_factory=list)
    constants: list[tuple[str, str, Type]] = field(default_factory=list)


def read(data: bytes) -> Message:
    """The graph in `data`."""
    graph = Message()
    for part in fields(data):
        if part.kind != BYTES:
            continue
        if part.number == 1:
            graph.nodes.append(_board_node(data, part) if _is_board(data, part) else _node(data, part))
        elif part.number == 3:
            graph.parameters.append(_parameter(data, part))
        elif part.number == 5:
            graph.constants.append(_constant(data, part))
    return graph


def _node(data: bytes, part: Field) -> Operation:
    node = Operation("")
    names = {2: "name", 3: "op_type", 4: "scope", 8: "full_name", 10: "instance_name"}
    for one in fields(data, part.begin, part.end):
        if one.number in names and one.kind == BYTES:
            setattr(node, names[one.number], text(data, one))
        elif one.number == 1 and one.kind == BYTES:
            name, control = "", False
            for inner in fields(data, one.begin, one.end):
                if inner.number == 1 and inner.kind == BYTES:
                    name = text(data, inner)
                elif inner.number == 2:
                    control = bool(inner.value)
            if name:
                node.inputs.append((name, control))
        elif one.number == 5 and one.kind == BYTES:
            _attribute(data, one, node)
        elif one.number == 6 and one.kind == BYTES:
            node.type = _type(data, one)
        elif one.number == 7:
            node.output_i = signed(one.value)
        elif one.number == 9 and one.kind == BYTES:
            node.stack = stack(text(data, one))
    return node


def _attribute(data: bytes, part: Field, node: Operation) -> None:
    name, value = "", None
    for one in fields(data, part.begin, part.end):
        if one.number == 1 and one.kind == BYTES:
            name = text(data, one)
        elif one.number == 2 and one.kind == BYTES:
            value = one
    if value is None or value.end - value.begin > LONGEST_ATTRIBUTE:
        return
    words = _words(data, value)
    if name in ("input_is_dynamic_shape", "output_is_dynamic_shape") and "bool_val: true" in words:
        node.dynamic = True
    node.attributes.append((name, words))


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


def _parameter(data: bytes, part: Field) -> tuple[str, Type]:
    name, kind = "", Type()
    for one in fields(data, part.begin, part.end):
        if one.number == 1 and one.kind == BYTES:
            name = text(data, one)
        elif one.number == 2 and one.kind == BYTES:
            kind = _type(data, one)
    return name, kind


def _constant(data: bytes, part: Field) -> tuple[str, str, Type]:
    key, words, kind = "", "", Type([[]], "", [])
    for one in fields(data, part.begin, part.end):
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


def _is_board(data: bytes, part: Field) -> bool:
    """GraphDef's nodes begin with their name, ours with a message of an input."""
    first = next(iter(fields(data, part.begin, part.end)), None)
    if first is None or first.number != 1 or first.kind != BYTES:
        return False
    try:
        inner = list(fields(data, first.begin, first.end))
    except Malformed:
        return True
    return not inner or inner[0].number != 1 or inner[0].kind != BYTES


def _board_node(data: bytes, part: Field) -> Operation:
    node = Operation("")
    for one in fields(data, part.begin, part.end):
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
