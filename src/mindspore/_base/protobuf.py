"""Protocol Buffers wire format: small declarative messages, without the protobuf package.

A message is a class whose attributes are `field(...)` declarations; instances have them as plain attributes (None or an
empty list until set), `encode()` and `decode()`. Only what the project's files need is here: proto2 semantics, both
packed and one-by-one repeated numbers are read, unknown fields are skipped, `bytes` fields are views of the input so
that big tensors are not copied. Nothing is executed, nesting is bounded, and every length is checked against the bytes
that are there. https://protobuf.dev/programming-guides/encoding
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Self

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_WIRE = {
    "int32": _VARINT, "int64": _VARINT, "uint64": _VARINT, "bool": _VARINT, "enum": _VARINT,
    "double": _FIXED64, "float": _FIXED32, "string": _BYTES, "bytes": _BYTES, "message": _BYTES,
}  # fmt: skip
_MAX_DEPTH = 100
_FLOAT, _DOUBLE = struct.Struct("<f"), struct.Struct("<d")
_U64 = (1 << 64) - 1


class DecodeError(ValueError):
    """The bytes are no message of the expected kind."""


_MAX_RANK, _MAX_SIZE = 64, 1 << 62


def element_count(name: str, dims: Sequence[int]) -> int:
    """How many elements a stored tensor has; DecodeError for shapes that no tensor can have."""
    if len(dims) > _MAX_RANK:
        raise DecodeError(f"'{name}' has {len(dims)} dimensions; {_MAX_RANK} is the most")
    count = 1
    for dim in dims:
        if not 0 <= dim < _MAX_SIZE:
            raise DecodeError(f"'{name}' has a dimension of size {dim}")
        count *= dim
    return count


class Field:
    """One field of a message: its number and kind. As a class attribute it yields the value stored in the instance."""

    __slots__ = ("head", "kind", "message", "name", "number", "packed", "repeated")

    def __init__(self, number: int, kind: str, repeated: bool, packed: bool, message: Callable[[], type] | None):
        self.number, self.kind, self.repeated, self.packed, self.message = number, kind, repeated, packed, message
        self.name = ""
        self.head = encode_varint(number << 3 | (_BYTES if packed else _WIRE[kind]))

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        values = instance.__dict__
        if self.repeated:
            return values.setdefault(self.name, [])
        return values.get(self.name)

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__[self.name] = value


def field(
    number: int, kind: str | Callable[[], type], repeated: bool = False, packed: bool = False
) -> Any:  # Any: the attribute's type is that of the value
    """Declare a field. `kind` is a scalar kind's name, or a function that returns the message class."""
    if callable(kind):
        return Field(number, "message", repeated, packed, kind)
    return Field(number, kind, repeated, packed, None)


class Message:
    """Base of messages."""

    _fields: ClassVar[dict[int, Field]] = {}

    def __init_subclass__(cls, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        own = {f.number: f for f in vars(cls).values() if isinstance(f, Field)}
        cls._fields = {**cls._fields, **own}

    def __init__(self, **values: Any):
        for name, value in values.items():
            if not isinstance(getattr(type(self), name, None), Field):
                raise TypeError(f"{type(self).__name__} has no field '{name}'")
            self.__dict__[name] = value

    def has(self, name: str) -> bool:
        """Whether the field is set (a repeated one: not empty)."""
        return self.__dict__.get(name) not in (None, [])

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._set() == other._set()

    __hash__ = None  # type: ignore[assignment]

    def _set(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if value is not None and value != []}

    def __repr__(self) -> str:
        shown = ", ".join(f"{k}={v!r:.80}" for k, v in self._set().items())
        return f"{type(self).__name__}({shown})"

    # -- writing --------------------------------------------------------------------------------------------------
    def encode(self) -> bytes:
        """The message as bytes."""
        parts: list[bytes] = []
        self._write(parts)
        return b"".join(parts)

    def _write(self, parts: list[bytes]) -> int:
        """Append the encoded fields to `parts`; returns how many bytes they are."""
        size = 0
        values = self.__dict__
        for fld in self._fields.values():
            value = values.get(fld.name)
            if value is None:
                continue
            if not fld.repeated:
                size += _write_value(parts, fld, value)
            elif fld.packed and value:
                body = b"".join(_encode_scalar(fld.kind, item) for item in value)
                size += _write_bytes(parts, fld.head, body)
            else:
                for item in value:
                    size += _write_value(parts, fld, item)
        return size

    # -- reading --------------------------------------------------------------------------------------------------
    @classmethod
    def decode(cls, data: bytes | bytearray | memoryview, depth: int = 0) -> Self:
        """Read a message; DecodeError when the bytes are not one."""
        if depth > _MAX_DEPTH:
            raise DecodeError(f"messages are nested more than {_MAX_DEPTH} deep")
        view = data if isinstance(data, memoryview) else memoryview(data)
        made = cls()
        for number, wire, value in iterate(view):
            fld = cls._fields.get(number)
            if fld is not None:
                _store(made, fld, wire, value, depth)
        return made


def iterate(view: memoryview) -> Iterator[tuple[int, int, Any]]:
    """The raw fields of a message: number, wire type and an integer or a view of the bytes."""
    at, end = 0, len(view)
    while at < end:
        key, at = decode_varint(view, at)
        number, wire = key >> 3, key & 7
        if number == 0:
            raise DecodeError("field number 0")
        if wire == _VARINT:
            value, at = decode_varint(view, at)
            yield number, wire, value
            continue
        if wire == _BYTES:
            size, at = decode_varint(view, at)
        elif wire in (_FIXED32, _FIXED64):
            size = 4 if wire == _FIXED32 else 8
        else:
            raise DecodeError(f"wire type {wire} is not supported")
        if size > end - at:
            raise DecodeError(f"a field of {size} bytes is cut short: {end - at} are left")
        yield number, wire, view[at : at + size]
        at += size


def encode_varint(value: int) -> bytes:
    """A number in base 128, least significant group first. Negative numbers take ten bytes."""
    value &= _U64
    if value < 128:
        return _ONE_BYTE[value]
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


_ONE_BYTE = [bytes((i,)) for i in range(128)]


def decode_varint(view: memoryview, at: int) -> tuple[int, int]:
    """A base-128 number at `at`, and the place after it."""
    value = shift = 0
    while True:
        if at >= len(view) or shift > 63:
            raise DecodeError("a number is cut short or too long")
        byte = view[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & _U64, at
        shift += 7


def _write_bytes(parts: list[bytes], head: bytes, body: Any) -> int:
    length = encode_varint(len(body))
    parts += (head, length, body)
    return len(head) + len(length) + len(body)


def _write_value(parts: list[bytes], fld: Field, value: Any) -> int:
    if fld.kind == "message":
        place = len(parts)
        parts += (fld.head, b"")
        size = value._write(parts)
        parts[place + 1] = encode_varint(size)
        return len(fld.head) + len(parts[place + 1]) + size
    if fld.kind == "string":
        return _write_bytes(parts, fld.head, value.encode("utf-8"))
    if fld.kind == "bytes":
        return _write_bytes(parts, fld.head, value if isinstance(value, bytes) else memoryview(value).cast("B"))
    body = _encode_scalar(fld.kind, value)
    parts += (fld.head, body)
    return len(fld.head) + len(body)


def _encode_scalar(kind: str, value: int) -> bytes:
    if kind == "float":
        return _FLOAT.pack(value)
    if kind == "double":
        return _DOUBLE.pack(value)
    return encode_varint(int(value))


def _store(made: Message, fld: Field, wire: int, value: Any, depth: int) -> None:
    if fld.repeated:
        stored = made.__dict__.setdefault(fld.name, [])
        if wire == _BYTES and _WIRE[fld.kind] != _BYTES:
            stored.extend(_unpack(fld.kind, value))
        else:
            stored.append(_convert(fld, wire, value, depth))
    else:
        made.__dict__[fld.name] = _convert(fld, wire, value, depth)


def _convert(fld: Field, wire: int, value: Any, depth: int) -> Any:
    if wire != _WIRE[fld.kind]:
        raise DecodeError(f"field '{fld.name}' has wire type {wire}, not {_WIRE[fld.kind]}")
    if fld.kind == "message":
        assert fld.message is not None
        return fld.message().decode(value, depth + 1)  # type: ignore[attr-defined]
    if fld.kind == "string":
        try:
            return str(value, "utf-8")
        except UnicodeDecodeError:
            raise DecodeError(f"field '{fld.name}' is no UTF-8 text") from None
    if fld.kind == "bytes":
        return value
    return _number(fld.kind, value)


def _number(kind: str, value: Any) -> Any:
    if kind == "float":
        return _FLOAT.unpack(value)[0]
    if kind == "double":
        return _DOUBLE.unpack(value)[0]
    if kind == "bool":
        return bool(value)
    if kind == "uint64":
        return value
    value = value - (1 << 64) if value >> 63 else value
    if kind in ("int32", "enum"):
        value = (value & 0xFFFFFFFF) - ((value & 0x80000000) << 1)
    return value


def _unpack(kind: str, view: memoryview) -> list[Any]:
    if kind in ("float", "double"):
        size = 4 if kind == "float" else 8
        if len(view) % size:
            raise DecodeError(f"packed numbers of {size} bytes each fill {len(view)} bytes")
        return list(struct.unpack(f"<{len(view) // size}{'f' if kind == 'float' else 'd'}", view))
    out, at = [], 0
    while at < len(view):
        value, at = decode_varint(view, at)
        out.append(_number(kind, value))
    return out
