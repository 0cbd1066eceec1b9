"""JPEG decoded no further than needed.

A random crop that is resized needs neither the rows below the crop nor, when it is large, full resolution. Three means
to skip work, each of which leaves the pixels that are kept as a full decode would give them (the second, nearly so):
the height in the header of a sequential image is lowered, so that the decoder stops after the last row that is wanted;
the inverse DCT runs at 1/2, 1/4 or 1/8 of the size; and libjpeg-turbo is called directly where `simplejpeg` is
installed, which saves OpenCV's copies.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from ..._base.optional import available, require

_FRAME_MARKERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_BODILESS_MARKERS = frozenset({0x01, *range(0xD0, 0xD9)})
_SEQUENTIAL = (0xC0, 0xC1)  # baseline and extended sequential, Huffman coding
_MOST_PIXELS = 1 << 28  # a header that claims more is left to OpenCV, which has limits of its own
_BELOW = 2  # rows under the last wanted one from which the decoder interpolates its colours


class JpegFrame(NamedTuple):
    """What the headers of a JPEG image say."""

    height: int
    width: int
    height_at: int  # where in the data the two bytes of the height are
    row_by_row: bool  # one scan holds everything, from the top to the bottom


def jpeg_frame(data: np.ndarray) -> JpegFrame | None:
    """The frame header, or None if these bytes are no JPEG image that can be decoded."""
    if data.size < 4 or data[0] != 0xFF or data[1] != 0xD8:
        return None
    view, at, frame, parts = np.ascontiguousarray(data).data, 2, None, 0
    while at + 9 <= len(view) and view[at] == 0xFF:
        marker = view[at + 1]
        if marker == 0xFF:  # fill byte
            at += 1
        elif marker in _BODILESS_MARKERS:
            at += 2
        elif marker == 0xDA:  # the first scan
            return frame._replace(row_by_row=frame.row_by_row and view[at + 4] == parts) if frame else None
        else:
            if marker in _FRAME_MARKERS:
                height, width = view[at + 5] << 8 | view[at + 6], view[at + 7] << 8 | view[at + 8]
                if not height or not width:
                    return None
                parts = view[at + 9] if at + 9 < len(view) else 0
                frame = JpegFrame(height, width, at + 5, marker in _SEQUENTIAL)
            at += 2 + (view[at + 2] << 8 | view[at + 3])
    return frame._replace(row_by_row=False) if frame else None


def reduction_for(region: tuple[int, int, int, int], target: tuple[int, int]) -> int:
    """The largest power of two, up to 8, by which a region can be decoded smaller and still cover `target`."""
    reduction = 1
    while reduction < 8 and min(region[2] // (2 * reduction * target[0]), region[3] // (2 * reduction * target[1])):
        reduction *= 2
    return reduction


def decode_top(data: np.ndarray, frame: JpegFrame, bottom: int, reduction: int) -> np.ndarray | None:
    """RGB pixels at 1/reduction of the size, of which all above row `bottom` (of the full size) are as in the image.

    None where `simplejpeg` is not installed, does not know the image's colours or finds fault with the data: the caller
    then decodes all of it another way, which says what is wrong.
    """
    library = turbo()
    if library is None or frame.height * frame.width > _MOST_PIXELS:
        return None
    height, strict = frame.height, True
    wanted = bottom + _BELOW * reduction
    if frame.row_by_row and wanted < height and _is_whole(data):
        data, height = _lowered(data, frame, wanted), wanted
        strict = False  # the decoder would complain of the data behind the last row
    size = {} if reduction == 1 else {"min_height": -(-height // reduction), "min_width": -(-frame.width // reduction)}
    try:
        return library.decode_jpeg(np.ascontiguousarray(data), "RGB", strict=strict, **size)
    except ValueError:
        return None


def _is_whole(data: np.ndarray) -> bool:
    """Whether the marker that ends an image is there; some writers add zeros behind it."""
    return data[-64:].tobytes().rstrip(b"\0").endswith(b"\xff\xd9")


def _lowered(data: np.ndarray, frame: JpegFrame, height: int) -> np.ndarray:
    changed = data.copy()
    changed[frame.height_at] = height >> 8
    changed[frame.height_at + 1] = height & 0xFF
    return changed


@functools.cache
def turbo() -> Any:
    """The binding of libjpeg-turbo, or None where it is not installed."""
    return require("simplejpeg", "data", "decoding JPEG") if available("simplejpeg") else None
