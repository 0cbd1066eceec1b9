"""`mindspore.train.mind_ir_pb2`: the messages of a `.mindir` file, as `formats/mindir/messages.py` declares them."""

from __future__ import annotations

from typing import Any

from mindspore._base.protobuf import Field, Message
from mindspore._compat.proto import messages
from mindspore.formats.mindir import messages as declared


def _line(message: type[Message]) -> str:
    fields = [f for f in vars(message).values() if isinstance(f, Field)]
    return " ".join((message.__name__, *map(_field, fields)))


def _field(field: Field) -> str:
    kind = field.message().__name__ if field.message is not None else "int32" if field.kind == "enum" else field.kind
    return f"{'*' if field.repeated else ''}{field.name}={field.number}:{kind}"


_DECLARED: list[Any] = [
    m for m in vars(declared).values() if isinstance(m, type) and issubclass(m, Message) and m is not Message
]
globals().update(messages("mind_ir.proto", "mind_ir", "\n".join(map(_line, _DECLARED))))
