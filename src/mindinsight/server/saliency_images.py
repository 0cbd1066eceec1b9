"""Pictures made for the explainer: maps as colours that lie over an image, and images of which only some boxes are left."""

from __future__ import annotations

import io
import re
import warnings
from typing import Any

import numpy as np
from PIL import Image, ImageEnhance, ImageFilter

_MOST_PIXELS = 64 << 20
_LOW, _HIGH = np.array([55, 25, 86]), np.array([255, 255, 0])
_WIDEST_BLUR = 1000


def _opened(data: bytes) -> Image.Image | None:
    """An image, if it is one and not too large to be read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            found = Image.open(io.BytesIO(data))
            if found.width * found.height > _MOST_PIXELS:
                return None
            found.load()
            return found
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Image.DecompressionBombWarning):
        return None


def _png(picture: Image.Image) -> bytes:
    written = io.BytesIO()
    picture.save(written, format="PNG")
    return written.getvalue()


def colored(data: bytes) -> bytes | None:
    """A map of grey values as colours from dark violet to yellow, opaque where it is bright. Maps with colours of their own stay."""
    found = _opened(data)
    if found is None or found.mode not in ("L", "RGB"):
        return None if found is None else data
    share = np.asarray(found, np.float64)
    share = (share if share.ndim == 2 else share[:, :, 0])[:, :, None] / 255
    return _png(Image.fromarray(np.concatenate([share * _HIGH + (1 - share) * _LOW, share * 255], axis=2).astype(np.uint8), "RGBA"))


def revealed(data: bytes, mask: str, boxes: list[list[int]]) -> bytes | None:
    """An image that is hidden but for some boxes (left, top, width, height): blurred and grey (`gaussian:9`), or grey."""
    found = _opened(data)
    if found is None:
        return None
    picture: Any = found.convert("RGB")
    blur = re.fullmatch(r"gaussian:(\d{1,4})", mask)
    if blur:
        hidden = picture.filter(ImageFilter.GaussianBlur(min(int(blur[1]), _WIDEST_BLUR)))
        hidden = ImageEnhance.Color(ImageEnhance.Brightness(hidden).enhance(0.7)).enhance(0.0)
    else:
        hidden = Image.new("RGB", picture.size, (127, 127, 127))
    for left, top, width, height in boxes:
        box = (max(0, left), max(0, top), min(picture.width, left + width), min(picture.height, top + height))
        if box[0] < box[2] and box[1] < box[3]:
            hidden.paste(picture.crop(box), box)
    return _png(hidden)
