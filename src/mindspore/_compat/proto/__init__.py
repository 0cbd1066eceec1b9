"""The official `*_pb2` modules: messages of the protobuf package, for programs that read and write such files themselves.

A message is a line: its name, then fields as `name=number:kind`, `*` before repeated and `!` before required ones; a kind is one of
protobuf's own or another message's name, indented lines are messages within the one above. The classes are made when a module
is imported, by the protobuf package.
"""

from __future__ import annotations

from typing import Any

from mindspore._base import optional

_LABELS = {"*": 3, "!": 2}


def messages(file: str, package: str, text: str) -> dict[str, Any]:
    """The message classes of a file, and its DESCRIPTOR."""
    descriptor_pb2 = optional.require("google.protobuf.descriptor_pb2", "train", file)
    message_factory = optional.require("google.protobuf.message_factory", "train", file)
    pools = optional.require("google.protobuf.descriptor_pool", "train", file)
    described = descriptor_pb2.FileDescriptorProto(name=file, package=package, syntax="proto2")
    above: dict[int, Any] = {}
    for line in filter(str.strip, text.splitlines()):
        depth = (len(line) - len(line.lstrip())) // 4
        name, *fields = line.split()
        outer = described.message_type if depth == 0 else above[depth - 1].nested_type
        above[depth] = message = outer.add(name=name)
        for field in fields:
            _add_field(message, field, package, descriptor_pb2.FieldDescriptorProto)
    pool = pools.DescriptorPool()  # of its own: the same file name may be known to others
    pool.Add(described)
    found = pool.FindFileByName(file)
    classes = {n: message_factory.GetMessageClass(d) for n, d in found.message_types_by_name.items()}
    return {"DESCRIPTOR": found, **classes}


def _add_field(message: Any, text: str, package: str, kinds: Any) -> None:
    name, _, rest = text.lstrip("*!").partition("=")
    number, _, kind = rest.partition(":")
    field = message.field.add(name=name, number=int(number), label=_LABELS.get(text[0], 1))
    own = getattr(kinds, f"TYPE_{kind.upper()}", None)
    if own is None:
        field.type, field.type_name = kinds.TYPE_MESSAGE, f".{package}.{kind}" if package else f".{kind}"
    else:
        field.type = own
