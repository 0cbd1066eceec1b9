"""Images, histograms, tensors and loss landscapes, from the bytes of a summary value, in either dialect."""

from __future__ import annotations

import math
import struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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

Array = NDArray[Any]

#: types of MindSpore's tensors
DATA_TYPES = (
    "UNDEFINED", "BOOL", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64", "FLOAT16", "FLOAT32", "FLOAT64",
    "STRING", "TENSOR", "GRAPH", "BOOLS", "INTS8", "INTS16", "INTS32", "INTS64", "UINTS8", "UINTS16", "UINTS32", "UINTS64",
    "FLOATS16", "FLOATS32", "FLOATS64", "STRINGS", "TENSORS", "GRAPHS", "TUPLE", "LIST", "DICT", "NONE", "SYM_INST", "BASE_INT",
    "BASE_UINT", "BASE_FLOAT", "TYPE", "ANYTHING", "REFKEY", "REF",
)  # fmt: skip
#: types of TensorBoard's tensors: the NumPy type and what MindSpore calls it
_BOARD_TYPES = {1: ("<f4", 11), 2: ("<f8", 12), 3: ("<i4", 4), 4: ("u1", 6), 5: ("<i2", 3), 6: ("i1", 2), 9: ("<i8", 5), 10: ("?", 1),
                17: ("<u2", 7), 19: ("<f2", 10), 22: ("<u4", 8), 23: ("<u8", 9)}  # fmt: skip
_NUMPY_TYPES = {1: "?", 2: "i1", 3: "<i2", 4: "<i4", 5: "<i8", 6: "u1", 7: "<u2", 8: "<u4", 9: "<u8", 10: "<f2", 11: "<f4", 12: "<f8"}
_LISTS = {3: "<f4", 4: "i8", 5: "i8", 6: "<f8", 7: "u8"}
_BOARD_LISTS = {5: "<f4", 6: "<f8", 7: "i8", 10: "i8", 11: "i8", 16: "u8", 17: "u8"}
LARGEST_TENSOR = 50_000_000
BINS = 90


def type_name(number: int) -> str:
    """`DT_FLOAT32` and its like."""
    return "DT_" + (DATA_TYPES[number] if 0 <= number < len(DATA_TYPES) else "UNDEFINED")


def _part(data: bytes, number: int, begin: int = 0, end: int | None = None) -> Field | None:
    return next((f for f in fields(data, begin, end) if f.number == number and f.kind == BYTES), None)


# ---------------------------------------------------------------------------------------------------------------------
# Images


class Image(NamedTuple):
    """An encoded image."""

    width: int
    height: int
    data: bytes


_SIGNATURES = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"),
               (b"BM", "image/bmp"), (b"RIFF", "image/webp"))  # fmt: skip


def image_type(data: bytes) -> str:
    """The media type of an image. Nothing that a browser could take for a page (SVG, HTML) is ever called an image."""
    return next((kind for mark, kind in _SIGNATURES if data.startswith(mark)), "application/octet-stream")


def image(data: bytes) -> Image:
    """The image of a value; the first of TensorBoard's newer form, which is a tensor of strings."""
    part = _part(data, 4)
    if part is None:
        return _board_image(data)
    width = height = 0
    encoded = b""
    for field in fields(data, part.begin, part.end):
        if field.number == 1:
            height = field.value
        elif field.number == 2:
            width = field.value
        elif field.number == 4 and field.kind == BYTES:
            encoded = data[field.begin : field.end]
    return Image(width, height, encoded)


def _board_image(data: bytes) -> Image:
    strings = _board_strings(data)
    if len(strings) < 3:
        raise Malformed("there is no image")
    try:
        return Image(int(strings[0]), int(strings[1]), strings[2])
    except ValueError:
        raise Malformed("the size of an image is no number") from None


def _board_strings(data: bytes) -> list[bytes]:
    part = _part(data, 8)
    if part is None:
        return []
    return [data[f.begin : f.end] for f in fields(data, part.begin, part.end) if f.number == 8 and f.kind == BYTES]


def texts(data: bytes) -> list[str]:
    """The strings of TensorBoard's text values."""
    return [string.decode("utf-8", "replace") for string in _board_strings(data)]


# ---------------------------------------------------------------------------------------------------------------------
# Sound, curves of precision, values that only a plugin of TensorBoard's can show


def audio(data: bytes) -> bytes:
    """An encoded piece of sound; the first of TensorBoard's newer form, which is a tensor of strings."""
    part = _part(data, 6)
    if part is not None:
        found = next((f for f in fields(data, part.begin, part.end) if f.number == 4 and f.kind == BYTES), None)
        if found is not None:
            return data[found.begin : found.end]
    strings = _board_strings(data)
    if not strings:
        raise Malformed("there is no sound")
    return strings[0]


def audio_type(data: bytes) -> str:
    """The media type of a piece of sound; bytes where it is none that is known."""
    return "audio/wav" if data.startswith(b"RIFF") and data[8:12] == b"WAVE" else "application/octet-stream"


def curve(data: bytes) -> tuple[Array, Array]:
    """Recall and precision at growing recall."""
    array = tensor(data).value
    if array.ndim != 2 or array.shape[0] != 6:
        raise Malformed("there is no curve of precision and recall")
    order = np.argsort(array[5], kind="stable")
    return array[5][order], array[4][order]


def plugin_of(data: bytes) -> str:
    """The plugin of TensorBoard's that a value is for."""
    metadata = _part(data, 9)
    plugin = metadata and _part(data, 1, metadata.begin, metadata.end)
    name = plugin and _part(data, 1, plugin.begin, plugin.end)
    return text(data, name) if name else ""


# ---------------------------------------------------------------------------------------------------------------------
# Histograms


class Histogram(NamedTuple):
    """Buckets: left edges, widths, counts; and what was not finite."""

    left: Array
    width: Array
    counts: Array
    nan: int = 0
    infinite: int = 0

    @property
    def low(self) -> float:
        return float(self.left[0]) if self.left.size else 0.0

    @property
    def high(self) -> float:
        return float(self.left[-1] + self.width[-1]) if self.left.size else 0.0

    @property
    def total(self) -> int:
        return int(self.counts.sum())


def histogram(data: bytes) -> Histogram:
    """The histogram of a value."""
    part = _part(data, 9)
    if part is not None and _part(data, 8) is None:
        return _own_histogram(data, part)
    board = _part(data, 5)
    if board is not None:
        return _board_histogram(data, board)
    array = tensor(data).value  # TensorBoard's newer form: rows of left, right, count
    if array.ndim != 2 or array.shape[1] != 3:
        raise Malformed("there is no histogram")
    return Histogram(array[:, 0], array[:, 1] - array[:, 0], array[:, 2].astype(np.int64))


def _own_histogram(data: bytes, part: Field) -> Histogram:
    buckets: list[tuple[float, float, int]] = []
    nan = infinite = 0
    for field in fields(data, part.begin, part.end):
        if field.number == 1 and field.kind == BYTES:
            left, width, count = 0.0, 0.0, 0
            for inner in fields(data, field.begin, field.end):
                if inner.number == 1:
                    left = float64(data, inner)
                elif inner.number == 2:
                    width = float64(data, inner)
                elif inner.number == 3:
                    count = inner.value
            buckets.append((left, width, count))
        elif field.number == 2:
            nan = field.value
        elif field.number in (3, 4):
            infinite += field.value
    table = np.array(buckets, np.float64).reshape(-1, 3)
    table = np.where(np.isfinite(table), table, 0.0)
    return Histogram(table[:, 0], table[:, 1], table[:, 2].astype(np.int64), nan, infinite)


def _board_histogram(data: bytes, part: Field) -> Histogram:
    low = 0.0
    limits: list[Array] = []
    counts: list[Array] = []
    for field in fields(data, part.begin, part.end):
        if field.number == 1:
            low = float64(data, field)
        elif field.number == 6:
            limits.append(numbers(data, field, "<f8"))
        elif field.number == 7:
            counts.append(numbers(data, field, "<f8"))
    right = np.concatenate(limits) if limits else np.empty(0)
    count = np.concatenate(counts) if counts else np.empty(0)
    if right.size != count.size:
        raise Malformed("a histogram has other limits than counts")
    right = np.clip(right, -1e30, 1e30)
    left = np.concatenate(([min(low, right[0])], right[:-1])) if right.size else right
    return Histogram(left, right - left, count.astype(np.int64))


def rebinned(histogram: Histogram, low: float, high: float, bins: int) -> Array:
    """Counts over an even grid; a bucket is spread evenly over what it covers."""
    edges = np.linspace(low, high, bins + 1)
    if not histogram.left.size:
        return np.zeros(bins)
    wide = np.maximum(histogram.width, 1e-300)
    ends = np.concatenate((histogram.left, histogram.left[-1:] + wide[-1:]))
    below = np.interp(edges, ends, np.concatenate(([0], np.cumsum(histogram.counts))))
    return np.diff(below)


def bins_for(count: int) -> int:
    """How many bins for so many values."""
    if count <= 10:
        return (1, 2, 3)[(count > 0) + (count > 5)]
    return min(BINS, count // 10 + 1)


# ---------------------------------------------------------------------------------------------------------------------
# Tensors


class Tensor(NamedTuple):
    """A tensor and the number of its type."""

    value: Array
    data_type: int


def tensor(data: bytes) -> Tensor:
    """The tensor of a value."""
    part = _part(data, 8)
    if part is None:
        raise Malformed("there is no tensor")
    return tensor_message(data, part.begin, part.end, board=_part(data, 9) is not None)


def tensor_message(data: bytes, begin: int, end: int, board: bool = False) -> Tensor:
    """A tensor message: MindSpore's, or TensorBoard's."""
    if board:
        return _board_tensor(data, begin, end)
    dims: list[int] = []
    data_type = 0
    lists: list[Array] = []
    raw: bytes | None = None
    for field in fields(data, begin, end):
        if field.number == 1:
            dims += [int(n) for n in numbers(data, field, "i8")]
        elif field.number == 2:
            data_type = field.value
        elif field.number in _LISTS:
            lists.append(numbers(data, field, _LISTS[field.number]))
        elif field.number == 8 and field.kind == BYTES:
            raw = data[field.begin : field.end]
    return Tensor(_shaped(dims, lists, raw, _NUMPY_TYPES.get(data_type, "<f4")), data_type)


def _board_tensor(data: bytes, begin: int, end: int) -> Tensor:
    dims: list[int] = []
    dtype, data_type = "<f4", 11
    lists: list[Array] = []
    raw: bytes | None = None
    for field in fields(data, begin, end):
        if field.number == 1 and field.kind == VARINT:
            dtype, data_type = _BOARD_TYPES.get(field.value, ("<f4", 0))
        elif field.number == 2 and field.kind == BYTES:
            for dim in fields(data, field.begin, field.end):
                if dim.number == 2 and dim.kind == BYTES:
                    dims.append(next((signed(f.value) for f in fields(data, dim.begin, dim.end) if f.number == 1), 0))
        elif field.number == 4 and field.kind == BYTES:
            raw = data[field.begin : field.end]
        elif field.number in _BOARD_LISTS:
            lists.append(numbers(data, field, _BOARD_LISTS[field.number]))
    return Tensor(_shaped(dims, lists, raw, dtype), data_type)


def _shaped(dims: list[int], lists: list[Array], raw: bytes | None, dtype: str) -> Array:
    size = math.prod(dims)
    if size > LARGEST_TENSOR or any(d < 0 for d in dims) or len(dims) > 32:
        raise Malformed(f"a tensor of shape {dims[:32]} is too big to show")
    if raw is not None and not lists:
        if len(raw) != size * np.dtype(dtype).itemsize:
            raise Malformed("a tensor has other bytes than its shape says")
        return np.frombuffer(raw, dtype).reshape(dims)
    flat = np.concatenate(lists) if lists else np.empty(0, dtype)
    if flat.size == 1 and size > 1:
        flat = np.broadcast_to(flat, (size,))
    if flat.size != size:
        raise Malformed("a tensor has other values than its shape says")
    return flat.astype(dtype).reshape(dims)


def statistics(array: Array) -> dict[str, float]:
    """Range, mean and counts, over the finite values."""
    values = np.asarray(array, np.float64).reshape(-1)
    finite = values[np.isfinite(values)]
    some = finite.size > 0
    return {
        "max": float(finite.max()) if some else 0.0, "min": float(finite.min()) if some else 0.0,
        "avg": float(finite.mean()) if some else 0.0, "count": int(values.size), "nan_count": int(np.isnan(values).sum()),
        "neg_inf_count": int(np.isneginf(values).sum()), "pos_inf_count": int(np.isposinf(values).sum()),
        "neg_zero_count": float((finite < 0).sum()), "pos_zero_count": float((finite > 0).sum()),
        "zero_count": float((finite == 0).sum()),
    }  # fmt: skip


def tensor_histogram(array: Array) -> Histogram:
    """The distribution of a tensor."""
    values = np.asarray(array, np.float64).reshape(-1)
    finite = values[np.isfinite(values)]
    if not finite.size:
        return Histogram(np.empty(0), np.empty(0), np.empty(0, np.int64))
    low, high = float(finite.min()), float(finite.max())
    if not low < high:
        low, high = low - 0.5, high + 0.5
    counts, edges = np.histogram(finite, bins_for(finite.size), (low, high))
    return Histogram(edges[:-1], np.diff(edges), counts.astype(np.int64))


# ---------------------------------------------------------------------------------------------------------------------
# Loss landscapes


class Landscape(NamedTuple):
    """The loss over a plane of weights, and the way of training on it."""

    points: dict[str, list[Any]]
    path: dict[str, list[Any]]
    intervals: list[int]
    decomposition: str
    unit: str
    step_per_epoch: int
    convergence: list[float]


def landscape(data: bytes) -> Landscape:
    """The landscape of a value."""
    part = _part(data, 10)
    if part is None:
        raise Malformed("there is no loss landscape")
    points: dict[str, list[Any]] = {}
    path: dict[str, list[Any]] = {}
    intervals: list[int] = []
    convergence = [0.0, 0.0, 0.0]
    names, per_epoch = {1: "", 2: ""}, 0
    for field in fields(data, part.begin, part.end):
        if field.kind != BYTES:
            continue
        if field.number == 1:
            points = _axes(data, field)
        elif field.number == 2:
            for inner in fields(data, field.begin, field.end):
                if inner.number == 1:
                    intervals += [int(n) for n in numbers(data, inner, "i8")]
                elif inner.number == 2 and inner.kind == BYTES:
                    path = _axes(data, inner)
        elif field.number == 3:
            for inner in fields(data, field.begin, field.end):
                if inner.number in names and inner.kind == BYTES:
                    names[inner.number] = text(data, inner)
                elif inner.number == 3:
                    per_epoch = inner.value
        elif field.number == 4:
            axes = _axes(data, field)
            if all(len(axes.get(a, [])) for a in "xyz"):
                convergence = [axes[a][0] for a in "xyz"]
    return Landscape(points, path, intervals, names[1], names[2], per_epoch, convergence)


def _axes(data: bytes, part: Field) -> dict[str, list[Any]]:
    axes: dict[str, list[Any]] = {}
    for field in fields(data, part.begin, part.end):
        if field.number in (1, 2, 3) and field.kind == BYTES:
            axes["_xyz"[field.number]] = tensor_message(data, field.begin, field.end).value.tolist()
    return axes


# ---------------------------------------------------------------------------------------------------------------------
# Hyper-parameters that TensorBoard's HParams plugin keeps


def hyper_parameters(data: bytes) -> dict[str, Any]:
    """What a session was started with."""
    metadata = _part(data, 9)
    plugin = metadata and _part(data, 1, metadata.begin, metadata.end)
    content = plugin and _part(data, 2, plugin.begin, plugin.end)
    start = content and _part(data, 3, content.begin, content.end)
    found: dict[str, Any] = {}
    for field in fields(data, start.begin, start.end) if start else ():
        if field.number == 1 and field.kind == BYTES:
            name, value = None, None
            for inner in fields(data, field.begin, field.end):
                if inner.number == 1:
                    name = text(data, inner)
                elif inner.number == 2 and inner.kind == BYTES:
                    value = _any_value(data, inner)
            if name is not None:
                found[name] = value
    return found


def _any_value(data: bytes, part: Field) -> Any:
    """A value of google.protobuf.Value."""
    for field in fields(data, part.begin, part.end):
        if field.number == 2:
            return float64(data, field)
        if field.number == 3:
            return text(data, field)
        if field.number == 4:
            return bool(field.value)
    return None


def scalar_bits(data: bytes, field: Field) -> float:
    """A float field of either width."""
    if field.kind == FIXED32:
        return float32(data, field)
    if field.end - field.begin == 8:
        return struct.unpack_from("<d", data, field.begin)[0]  # type: ignore[no-any-return]
    raise Malformed("this is no number")
