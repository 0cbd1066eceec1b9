"""Protobuf classes made at run time from tables of fields: no generated code.

A table is {message: {field: (number, type)}}. A type is a scalar's name, a message's or enum's name, `[type]` for repeated,
`{type}` for a map from strings, `?type` for optional, and `type @group` for a member of a oneof.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_SCALARS = {
    name: getattr(descriptor_pb2.FieldDescriptorProto, f"TYPE_{name.upper()}")
    for name in ("double", "float", "int64", "uint64", "int32", "uint32", "bool", "string", "bytes")
}
Fields = dict[str, tuple[int, str]]


class Schema:
    """The classes of a package, by name: `schema["PredictRequest"]()`."""

    def __init__(self, package: str, messages: dict[str, Fields], enums: dict[str, dict[str, int]] | None = None) -> None:
        self._package = package
        self._enums = enums or {}
        file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto3")
        for name, members in self._enums.items():
            enum = file.enum_type.add(name=name)
            for label, number in members.items():
                enum.value.add(name=label, number=number)
        for name, fields in messages.items():
            self._message(file, name, fields)
        pool = descriptor_pool.DescriptorPool()
        pool.Add(file)
        self._classes = {
            name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}")) for name in messages
        }

    def __getitem__(self, name: str) -> Any:
        return self._classes[name]

    def _message(self, file: Any, name: str, fields: Fields) -> None:
        *parents, own = name.split(".")
        holder = next(m for m in file.message_type if m.name == parents[0]).nested_type if parents else file.message_type
        message = holder.add(name=own)
        for field, (number, kind) in fields.items():
            self._field(message, name, field, number, kind)

    def _field(self, message: Any, owner: str, name: str, number: int, kind: str) -> None:
        kind, _, group = kind.partition(" @")
        field = message.field.add(name=name, number=number)
        repeated = kind.startswith(("[", "{"))
        field.label = (
            descriptor_pb2.FieldDescriptorProto.LABEL_REPEATED if repeated else descriptor_pb2.FieldDescriptorProto.LABEL_OPTIONAL
        )
        if kind.startswith("{"):
            entry = "".join(part.capitalize() for part in name.split("_")) + "Entry"
            nested = message.nested_type.add(name=entry)
            nested.options.map_entry = True
            self._field(nested, owner, "key", 1, "string")
            self._field(nested, owner, "value", 2, kind[1:-1])
            field.type = descriptor_pb2.FieldDescriptorProto.TYPE_MESSAGE
            field.type_name = f".{self._package}.{owner}.{entry}"
            return
        if group:
            if group not in [oneof.name for oneof in message.oneof_decl]:
                message.oneof_decl.add(name=group)
            field.oneof_index = [oneof.name for oneof in message.oneof_decl].index(group)
        plain = kind.strip("[]")
        if plain in _SCALARS:
            field.type = _SCALARS[plain]
            return
        is_enum = plain in self._enums
        field.type = getattr(descriptor_pb2.FieldDescriptorProto, "TYPE_ENUM" if is_enum else "TYPE_MESSAGE")
        field.type_name = f".{self._package}.{plain}"
