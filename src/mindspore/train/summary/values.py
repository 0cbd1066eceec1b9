"""Measured values as messages: scalars, images, histograms, tensors."""

from __future__ import annotations

import functools
import math
import struct
import zlib
from typing import Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.protobuf import encode_varint
from mindspore.formats.events.graph_messages import DATA_TYPES
from mindspore.formats.events.messages import (
    BoardHistogram,
    Bucket,
    HistogramRecord,
    ImageRecord,
    LossLandscape,
    SummaryMessage,
    TensorRecord,
    ValueRecord,
)

_MOST_BUCKETS, _PER_BUCKET = 90, 10
_COLUMNS = 8
_TWO_FLOATS = struct.Struct("<BfBf")
_MOST_FLOAT = float(np.finfo(np.float32).max)


@functools.lru_cache(maxsize=4096)
def _scalar_head(tag: str) -> bytes:
    """An encoded value up to its numbers. Runs record millions of scalars under a few names."""
    body = ValueRecord(tag=tag).encode()
    return b"\n" + encode_varint(len(body) + 10) + body


def scalar(tag: str, value: Any) -> bytes:
    """One number as an encoded `SummaryMessage` entry, in both places where readers look for it."""
    number = float(value.item() if hasattr(value, "item") else value)
    if abs(number) > _MOST_FLOAT and math.isfinite(number):
        number = math.copysign(math.inf, number)
    return _scalar_head(tag) + _TWO_FLOATS.pack(0x15, number, 0x1D, number)


def tensor(tag: str, value: np.ndarray) -> ValueRecord:
    """A whole tensor."""
    array = np.ascontiguousarray(value)
    record = TensorRecord(dims=list(value.shape), data_type=DATA_TYPES[mstype.from_numpy(array.dtype)])
    flat = array.reshape(-1)
    if array.dtype == np.float32:
        record.float_data = flat.tolist()
    elif array.dtype == np.float64:
        record.double_data = flat.tolist()
    elif array.dtype in (np.int64, np.uint32):
        record.int64_data = flat.tolist()
    elif array.dtype == np.uint64:
        record.uint64_data = flat.tolist()
    elif array.dtype.kind in "iub":
        record.int32_data = flat.astype(np.int64).tolist()
    else:
        record.float_data = flat.astype(np.float32).tolist()
        record.data_type = DATA_TYPES[mstype.float32]
    return ValueRecord(tag=tag, tensor=record)


# ---------------------------------------------------------------------------------------------------------------------
# Histograms


def bucket_count(size: int) -> int:
    """How many buckets for so many values."""
    if size <= 10:
        return (1, 2, 3)[(size > 0) + (size > 5)]
    return min(_MOST_BUCKETS, size // _PER_BUCKET + 1)


def histogram(tag: str, value: np.ndarray) -> ValueRecord:
    """The distribution of the finite values, and how many are not."""
    values = np.asarray(value).reshape(-1).astype(np.float64)
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    left, right = (low, high) if low < high else (low - 0.5, high + 0.5)
    counts, edges = np.histogram(finite, bins=bucket_count(finite.size), range=(left, right))
    record = HistogramRecord(
        buckets=[
            Bucket(left=float(a), width=float(b - a), count=int(n)) for a, b, n in zip(edges[:-1], edges[1:], counts)
        ],
        nan_count=int(np.isnan(values).sum()),
        pos_inf_count=int(np.isposinf(values).sum()),
        neg_inf_count=int(np.isneginf(values).sum()),
        max=high,
        min=low,
        sum=float(finite.sum()),
        count=values.size,
    )
    board = BoardHistogram(
        min=low, max=high, num=float(finite.size), sum=record.sum, sum_squares=float(np.square(finite).sum()),
        bucket_limit=edges[1:].tolist(), bucket=counts.astype(float).tolist(),
    )  # fmt: skip
    return ValueRecord(tag=tag, histogram=record, histo=board)


# ---------------------------------------------------------------------------------------------------------------------
# Images


def image(tag: str, value: np.ndarray) -> ValueRecord | None:
    """Images (N, C, H, W) side by side as one PNG; None when they have no 1 or 3 channels."""
    if value.ndim != 4 or value.shape[1] not in (1, 3) or value.size == 0:
        return None
    canvas = _side_by_side(_as_bytes(value))
    height, width, channels = canvas.shape
    encoded = ImageRecord(height=height, width=width, colorspace=channels, encoded_image=png(canvas))
    return ValueRecord(tag=tag, image=encoded)


def _as_bytes(value: np.ndarray) -> np.ndarray:
    if value.dtype == np.uint8:
        return value
    finite = np.nan_to_num(value.astype(np.float32), nan=0.0, posinf=255.0, neginf=0.0)
    low, high = float(finite.min()), float(finite.max())
    if value.dtype.kind == "f" and low < 0 < high:  # normalised for a network: no pixel is negative
        finite = (finite - low) * (255.0 / (high - low))
    elif value.dtype.kind == "f" and high <= 1.0:
        finite = finite * 255.0
    return np.clip(finite, 0, 255).astype(np.uint8)


def _side_by_side(images: np.ndarray) -> np.ndarray:
    if images.shape[1] == 1:
        images = np.repeat(images, 3, axis=1)
    count, channels, height, width = images.shape
    columns = min(count, _COLUMNS)
    rows = math.ceil(count / columns)
    canvas = np.zeros((rows * height, columns * width, channels), np.uint8)
    for i, picture in enumerate(images):
        y, x = i // columns * height, i % columns * width
        canvas[y : y + height, x : x + width] = picture.transpose(1, 2, 0)
    return canvas


def png(pixels: np.ndarray) -> bytes:
    """An (H, W, 3) array of bytes as a PNG file."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + width * 3), np.uint8)  # each row starts with its filter: none
    rows[:, 1:] = pixels.reshape(height, -1)
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows.tobytes(), 6)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in parts)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def landscape(tag: str, value: LossLandscape) -> ValueRecord:
    """A loss landscape, which is a message already."""
    return ValueRecord(tag=tag, loss_landscape=value)


MEASURED: dict[str, Any] = {"scalar": scalar, "tensor": tensor, "histogram": histogram, "image": image}
MAKERS: dict[str, Any] = {**MEASURED, "landscape": landscape}


def encoded(plugin: str, tag: str, value: Any) -> bytes:
    """A value as an encoded `SummaryMessage` entry; empty when it cannot be shown."""
    made = MAKERS[plugin](tag, value)
    if made is None:
        return b""
    return made if isinstance(made, bytes) else SummaryMessage(value=[made]).encode()


def check(owner: str, plugin: str, value: np.ndarray) -> np.ndarray:
    """The value, if it is of the kind that the plugin needs."""
    if plugin == "scalar" and value.size != 1:
        raise ValueError(f"For '{owner}', a scalar must be one number, but got shape {value.shape}.")
    if plugin == "image" and value.ndim != 4:
        raise ValueError(f"For '{owner}', an image must have the shape (N, C, H, W), but got {value.shape}.")
    if plugin in ("tensor", "histogram") and value.ndim == 0:
        raise ValueError(f"For '{owner}', a {plugin} must have at least one dimension.")
    return value
