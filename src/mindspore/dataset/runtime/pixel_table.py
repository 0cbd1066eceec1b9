"""Chains of pixel-by-pixel operations as one look-up.

What Rescale, Normalize, ToTensor and HWC2CHW make of an 8-bit pixel depends on its value and channel alone. So the last
such operations of a map are run once on all 256 values of every channel, and each image is then looked up in the
resulting tables, plane by plane, straight into its place in the batch. The results are the operations' own, bit by bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mindspore._base.optional import available, require

MOST_CHANNELS = 4
Place = Callable[[tuple[int, ...], np.dtype], np.ndarray]  # gives the array that a result is to be written to


def table_start(operations: Sequence[Callable]) -> int:
    """Where the pixel-by-pixel operations at the end of a chain begin; its length if there are none."""
    start = len(operations)
    while start and getattr(operations[start - 1], "pixelwise", False):
        start -= 1
    return start if available("cv2") else len(operations)


class PixelTable:
    """Pixel-by-pixel operations, applied to 8-bit images of layout HWC."""

    def __init__(self, operations: Sequence[Callable]):
        self._operations = list(operations)
        self._tables: dict[int, tuple[np.ndarray, bool] | None] = {}

    def fits(self, image) -> bool:
        """Whether `apply` can stand for the operations on this image."""
        if not isinstance(image, np.ndarray) or image.dtype != np.uint8 or image.ndim != 3:
            return False
        width, channels = image.shape[1:]
        packed = image.strides[1:] == (channels, 1) and image.strides[0] >= width * channels
        return 0 < channels <= MOST_CHANNELS and image.size > 0 and packed and self._table(channels) is not None

    def apply(self, image: np.ndarray, place: Place) -> np.ndarray:
        cv2 = require("cv2", "data", "Image transforms of arrays")
        height, width, channels = image.shape
        found = self._table(channels)
        assert found is not None, "fits() is asked first"
        table, planes_first = found
        if not planes_first:
            out = place(image.shape, table.dtype)
            cv2.LUT(image, table, dst=out)
            return out
        out = place((channels, height, width), table.dtype)
        for plane, values, target in zip(cv2.split(image), table, out):
            cv2.LUT(plane, values, dst=target)
        return out

    def _table(self, channels: int) -> tuple[np.ndarray, bool] | None:
        if channels not in self._tables:
            self._tables[channels] = self._made(channels)
        return self._tables[channels]

    def _made(self, channels: int) -> tuple[np.ndarray, bool] | None:
        """The tables, and whether the result has its channels first; None where the operations refuse such images."""
        values = np.repeat(np.arange(256, dtype=np.uint8)[:, None, None], channels, axis=2)
        try:
            for operation in self._operations:
                values = operation(values)
        except (LookupError, RuntimeError, TypeError, ValueError):
            return None  # run one by one they will say what is wrong
        if values.dtype != np.float32 or values.shape not in ((256, 1, channels), (channels, 256, 1)):
            return None
        planes_first = values.shape[0] == channels
        return np.ascontiguousarray(values[:, :, 0] if planes_first else values), planes_first
