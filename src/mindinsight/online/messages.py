"""The messages of the debugger's protocol, as bytes: what a training sends, and the commands it is answered with."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mindinsight.events.wire import BYTES, FIXED64, VARINT, fields, float64, numbers, signed, text

#: element types by their numbers
DTYPES = {1: "bool", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "uint8", 7: "uint16", 8: "uint32", 9: "uint64",
          10: "float16", 11: "float32", 12: "float64"}  # fmt: skip
LARGEST_TENSOR = 1 << 30


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def message(*given: tuple[int, Any]) -> bytes:
    """A message of (field number, value): whole numbers, floats (as doubles), texts and bytes. None is left out."""
    out = bytearray()
    for number, value in given:
        if isinstance(value, float):
            out += _varint(number << 3 | FIXED64) + struct.pack("<d", value)
        elif isinstance(value, int):
            out += _varint(number << 3 | VARINT) + _varint(value)
        elif value is not None:
            data = value.encode() if isinstance(value, str) else bytes(value)
            out += _varint(number << 3 | BYTES) + _varint(len(data)) + data
    return bytes(out)


# -- commands ---------------------------------------------------------------------------------------------------------------
OK = b""


def exit_command() -> bytes:
    """The training is to end."""
    return message((2, True))


def run_command(level: str, steps: int | None = None, node: str | None = None) -> bytes:
    """Go on: by steps, to a node ("": the next one), or check the step again."""
    return message((3, message((1, level), (2, steps), (3, node))))


def set_command(number: int, nodes: list[tuple[str, str, str]], condition: int, params: list[tuple[str, bool, float]]) -> bytes:
    """Watch (full name, type, graph name) of nodes by a condition."""
    watched = [(1, message((1, name), (2, kind), (3, graph))) for name, kind, graph in nodes]
    wanted = [(4, message((1, name), (2, disabled), (3, float(value)))) for name, disabled, value in params]
    return message((4, message(*watched, (2, message((1, condition), *wanted)), (4, number))))


def delete_command(number: int) -> bytes:
    """Watch no longer."""
    return message((4, message((3, True), (4, number))))


def view_command(tensors: list[tuple[str, str, str]]) -> bytes:
    """Send (node, slot, iteration: "" or "prev") of tensors."""
    return message((5, message(*((1, message((1, node), (2, slot), (7, iteration))) for node, slot, iteration in tensors))))


def mismatch() -> bytes:
    """The training's version does not fit."""
    return message((6, False))


# -- what a training sends --------------------------------------------------------------------------------------------------
@dataclass
class Metadata:
    """Where a training is."""

    device_name: str = ""
    cur_step: int = 0
    backend: str = ""
    cur_node: str = ""
    training_done: bool = False
    ms_version: str = ""


def metadata(data: bytes) -> Metadata:
    """Read the state of a training."""
    found = Metadata()
    names = {1: "device_name", 3: "backend", 4: "cur_node", 7: "ms_version"}
    for one in fields(data):
        if one.number in names and one.kind == BYTES:
            setattr(found, names[one.number], text(data, one))
        elif one.number == 2:
            found.cur_step = signed(one.value)
        elif one.number == 5:
            found.training_done = bool(one.value)
    return found


def chunk(data: bytes) -> tuple[bytes, bool]:
    """A piece of a graph, and whether it is the last one."""
    content, last = b"", False
    for one in fields(data):
        if one.number == 1 and one.kind == BYTES:
            content = data[one.begin : one.end]
        elif one.number == 2:
            last = bool(one.value)
    return content, last


@dataclass
class TensorPiece:
    """A tensor, or a part of one."""

    node: str = ""
    slot: str = ""
    content: bytes = b""
    shape: list[int] = field(default_factory=list)
    dtype: int = 0
    finished: bool = False
    iteration: str = ""

    def array(self) -> NDArray[Any] | None:
        """The tensor; None where it has no value."""
        name = DTYPES.get(self.dtype)
        if name is None or any(size < 0 for size in self.shape):
            return None
        count = int(np.prod(self.shape, dtype=np.int64)) if self.shape else 1
        if count * np.dtype(name).itemsize != len(self.content):
            return None
        return np.frombuffer(self.content, name).reshape(self.shape)


def tensor(data: bytes, begin: int = 0, end: int | None = None) -> TensorPiece:
    """Read a tensor."""
    found = TensorPiece()
    for one in fields(data, begin, end):
        if one.number == 1 and one.kind == BYTES:
            found.node = text(data, one)
        elif one.number == 2 and one.kind == BYTES:
            found.slot = text(data, one)
        elif one.number == 3 and one.kind == BYTES:
            found.content = data[one.begin : one.end]
        elif one.number == 4:
            found.shape += [int(n) for n in numbers(data, one, "i8")]
        elif one.number == 5:
            found.dtype = one.value
        elif one.number == 6:
            found.finished = bool(one.value)
        elif one.number == 7 and one.kind == BYTES:
            found.iteration = text(data, one)
    return found


@dataclass
class Hit:
    """A watchpoint passed by a tensor."""

    watchpoint: int = 0
    node: str = ""
    slot: str = ""
    error_code: int = 0
    actual: dict[str, float] = field(default_factory=dict)  #: measures, by the thresholds they pass


def hit(data: bytes) -> Hit:
    """Read a hit."""
    found = Hit()
    for one in fields(data):
        if one.number == 1 and one.kind == BYTES:
            about = tensor(data, one.begin, one.end)
            found.node, found.slot = about.node, about.slot
        elif one.number == 2 and one.kind == BYTES:
            for inner in fields(data, one.begin, one.end):
                if inner.number == 4 and inner.kind == BYTES:
                    name, value, passed = _parameter(data, inner.begin, inner.end)
                    if passed and value is not None:
                        found.actual[name] = value
        elif one.number == 3:
            found.watchpoint = signed(one.value)
        elif one.number == 4:
            found.error_code = signed(one.value)
    return found


def _parameter(data: bytes, begin: int, end: int) -> tuple[str, float | None, bool]:
    name, value, passed = "", None, False
    for one in fields(data, begin, end):
        if one.number == 1 and one.kind == BYTES:
            name = text(data, one)
        elif one.number == 4:
            passed = bool(one.value)
        elif one.number == 5:
            value = float64(data, one)
    return name, value, passed
