"""One event, read the slow and general way: what it holds and where its numbers lie.

MindSpore's and TensorBoard's events share the frame and most numbers of fields:

    Event   1 wall_time · 2 step · 3 version · 4 graph_def · 5 summary · 6 explain (MindSpore) / log message (TensorBoard)
    Value   1 tag · 2 simple_value (TB) · 3 scalar_value (MS) · 4 image · 5 histo (TB) · 8 tensor · 9 histogram (MS) or
            metadata (TB) · 10 loss landscape

Lineage files use other fields of the same message: 6 train, 7 evaluation, 9 dataset graph, 10 what the user wrote.
Field 9 of a value tells the dialects apart: TensorBoard's metadata names a plugin, a histogram has no such text.
"""

from __future__ import annotations

from typing import NamedTuple

from mindinsight.events.wire import BYTES, FIXED32, FIXED64, VARINT, Field, Malformed, fields, float64, signed, text

#: kinds of what is not a number; the numbers are those of the index
IMAGE, HISTOGRAM, TENSOR, LANDSCAPE, GRAPH, LINEAGE, TEXT, EXPLAIN, HPARAMS, AUDIO, CURVE, UNSHOWN = range(1, 13)
_NUMBER_TYPES = {1: "<f4", 2: "<f8", 3: "<i4", 9: "<i8"}
#: TensorBoard's plugins; of others, and of these, only the name is shown (`UNSHOWN`) unless what they keep are numbers
_PLUGINS = {b"images": IMAGE, b"histograms": HISTOGRAM, b"text": TEXT, b"hparams": HPARAMS, b"audio": AUDIO, b"pr_curves": CURVE}
_STRINGS = 7  # TensorBoard's type of tensors of strings
LONGEST_TAG = 4096


class Number(NamedTuple):
    """A scalar: where its bytes are in the record, and their type."""

    tag: str
    at: int
    dtype: str


class Thing(NamedTuple):
    """What is no scalar: its kind and where its message is."""

    tag: str
    kind: int
    begin: int
    end: int


class Event(NamedTuple):
    """What a record holds."""

    wall_time: float
    time_at: int  #: where the time is; -1 when there is none
    step: int
    step_at: int  #: where the step's varint is; -1 when there is none
    step_end: int
    version: str
    numbers: list[Number]
    things: list[Thing]


def parse(data: bytes, lineage: bool = False) -> Event:
    """Read a record's data; `lineage` says that it comes from a lineage file."""
    wall_time, time_at, step, step_at, step_end, version = 0.0, -1, 0, -1, -1, ""
    numbers: list[Number] = []
    things: list[Thing] = []
    for field in fields(data):
        if field.number == 1 and field.kind == FIXED64:
            wall_time, time_at = float64(data, field), field.begin
        elif field.number == 2 and field.kind == VARINT:
            step, step_at, step_end = signed(field.value), field.begin, field.end
        elif field.number == 3 and field.kind == BYTES:
            version = text(data, field)
        elif lineage and field.number in (6, 7, 9, 10) and field.kind == BYTES:
            things.append(Thing(f"{field.number}", LINEAGE, field.begin, field.end))
        elif field.number == 4 and field.kind == BYTES:
            things.append(Thing("", GRAPH, field.begin, field.end))
        elif field.number == 5 and field.kind == BYTES:
            for value in fields(data, field.begin, field.end):
                if value.number == 1 and value.kind == BYTES:
                    _read_value(data, value, numbers, things)
        elif field.number == 6 and field.kind == BYTES:
            things.append(Thing("", EXPLAIN, field.begin, field.end))
    return Event(wall_time, time_at, step, step_at, step_end, version, numbers, things)


def _read_value(data: bytes, value: Field, numbers: list[Number], things: list[Thing]) -> None:
    parts = list(fields(data, value.begin, value.end))
    tag = ""
    plugin: bytes | None = None
    for part in parts:
        if part.number == 1:
            tag = _shortened(text(data, part))
        elif part.number == 9 and part.kind == BYTES:
            plugin = _plugin_name(data, part)
    scalar = next((p for p in parts if p.number in (2, 3) and p.kind == FIXED32), None)
    if scalar is not None:
        numbers.append(Number(tag, scalar.begin, "<f4"))
        return
    for part in parts:
        if part.kind != BYTES:
            continue
        if part.number == 4:
            things.append(Thing(tag, IMAGE, value.begin, value.end))
        elif part.number == 8:
            number = _tensor_number(data, part) if plugin in (b"scalars", b"") else None
            if number is not None:
                numbers.append(Number(tag, *number))
            else:
                things.append(Thing(tag, _kind_of_tensor(data, part, plugin), value.begin, value.end))
        elif part.number == 5 or (part.number == 9 and plugin is None):
            things.append(Thing(tag, HISTOGRAM, value.begin, value.end))
        elif part.number == 6:
            things.append(Thing(tag, AUDIO, value.begin, value.end))
        elif part.number == 10:
            things.append(Thing(tag, LANDSCAPE, value.begin, value.end))
        elif part.number == 9 and plugin == b"hparams":
            things.append(Thing(tag, HPARAMS, value.begin, value.end))
        else:
            continue
        return


def _shortened(tag: str) -> str:
    """Tags of megabytes are someone's mistake; they keep their beginning and a mark."""
    return tag if len(tag) <= LONGEST_TAG else tag[: LONGEST_TAG - 1] + "…"


def _plugin_name(data: bytes, metadata: Field) -> bytes | None:
    """The plugin that TensorBoard's metadata names; None for a histogram of MindSpore, which also is field 9."""
    try:
        for part in fields(data, metadata.begin, metadata.end):
            if part.number == 1 and part.kind == BYTES:
                for inner in fields(data, part.begin, part.end):
                    if inner.number == 1 and inner.kind == BYTES:
                        return data[inner.begin : inner.end]
                    if inner.number == 1:
                        return None
            if part.kind != BYTES:
                return None
    except Malformed:
        return None
    return b"" if metadata.begin == metadata.end else None


def _kind_of_tensor(data: bytes, tensor: Field, plugin: bytes | None) -> int:
    if plugin in _PLUGINS:
        return _PLUGINS[plugin]
    kind = next((part.value for part in fields(data, tensor.begin, tensor.end) if part.number == 1 and part.kind == VARINT), 0)
    return UNSHOWN if plugin and kind == _STRINGS else TENSOR


def _tensor_number(data: bytes, tensor: Field) -> tuple[int, str] | None:
    """Where the only number of a TensorBoard tensor is; None for real tensors."""
    dtype = ""
    for part in fields(data, tensor.begin, tensor.end):
        if part.number == 1 and part.kind == VARINT:
            dtype = _NUMBER_TYPES.get(part.value, "")
        elif part.number == 2 and part.kind == BYTES and part.end > part.begin:
            return None
        elif dtype and part.end - part.begin == int(dtype[-1]) and (part.number == 4 or (part.number in (5, 6) and dtype[1] == "f")):
            return part.begin, dtype  # raw bytes, or floats, or doubles
    return None
