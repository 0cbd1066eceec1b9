"""Decoding of images for sources with `decode=True`: OpenCV where present, else Pillow."""

from __future__ import annotations

import contextlib
import io

import numpy as np

from mindspore._base.optional import available, require


def decode_rgb(data: np.ndarray, path: str = "") -> np.ndarray:
    """Pixels, height x width x 3, in RGB order."""
    if data.size == 0:
        raise RuntimeError(f"Invalid image, the image file is empty: {path}")
    if available("cv2"):
        from mindspore.dataset.vision import decode

        with contextlib.suppress(RuntimeError):  # Pillow knows more kinds of images
            return decode.decode_rgb(data)
    try:
        image = require("PIL.Image", "data", "decoding images").open(io.BytesIO(data.tobytes()))
        return np.asarray(image.convert("RGB"))
    except (OSError, ValueError, SyntaxError):
        raise RuntimeError(
            f"Invalid image, failed to decode: {path}, the image is broken or of no known kind."
        ) from None
