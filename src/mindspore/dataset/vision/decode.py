"""Encoded images to pixels, and pixels to and from PIL images. How a part of a JPEG is decoded says `jpeg.py`."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from ..transforms.checks import boolean, checked
from ..transforms.transform import Implementation, Transform
from .functional.geometry import opencv, pillow
from .image_transform import DeviceTransform, is_pil
from .jpeg import JpegFrame, decode_top, reduction_for


def encoded_bytes(image: Any) -> np.ndarray:
    """An encoded image as a 1-D array of bytes; TypeError for anything else."""
    if isinstance(image, (bytes, bytearray, memoryview)):
        return np.frombuffer(image, dtype=np.uint8)
    if isinstance(image, np.ndarray) and image.ndim == 0 and image.dtype.kind == "S":
        return np.frombuffer(image.tobytes(), dtype=np.uint8)
    if not isinstance(image, np.ndarray):
        raise TypeError(f"The type of the encoded image should be {np.ndarray}, but got {type(image)}.")
    if image.dtype.kind == "U":
        raise TypeError(f"The data type of the encoded image can not be {image.dtype.type}.")
    if image.ndim != 1:
        raise TypeError(
            f"The number of array dimensions of the encoded image should be 1, but got {image.ndim}: "
            f"invalid input shape, only support 1D input, got rank: {image.ndim}."
        )
    return image if image.dtype == np.uint8 else image.view(np.uint8)


def decode_rgb(data: np.ndarray, reduction: int = 1) -> np.ndarray:
    """HWC uint8 RGB pixels of a JPEG, PNG, BMP, TIFF or WebP image, at 1/reduction of its size."""
    cv2 = opencv()
    if data.size == 0:
        raise RuntimeError("Decode: the image is empty.")
    direct = getattr(cv2, "IMREAD_COLOR_RGB", None) if reduction == 1 else None  # since OpenCV 4.10
    flag = direct or {1: cv2.IMREAD_COLOR, 2: cv2.IMREAD_REDUCED_COLOR_2, 4: cv2.IMREAD_REDUCED_COLOR_4}.get(
        reduction, cv2.IMREAD_REDUCED_COLOR_8
    )
    pixels = imdecode(data, flag | cv2.IMREAD_IGNORE_ORIENTATION)
    if pixels is None:
        raise RuntimeError("Decode: image decode failed. The data is not an image, or it is damaged.")
    return pixels if direct else cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB, dst=pixels)


def imdecode(data: np.ndarray, flag: int) -> np.ndarray | None:
    """OpenCV's decoder; None for what it takes for no image, too large a one or a damaged one."""
    cv2 = opencv()
    try:
        return cv2.imdecode(data, flag)
    except cv2.error:
        return None


def decode_pil(data: np.ndarray) -> Any:
    try:
        return pillow().open(io.BytesIO(data.tobytes())).convert("RGB")
    except Exception as error:  # on damaged data Pillow's readers raise whatever they come upon
        raise ValueError(f"{error}\n: Failed to decode given image.") from error


def decode_region(
    data: np.ndarray, frame: JpegFrame, region: tuple[int, int, int, int], target: tuple[int, int]
) -> np.ndarray:
    """The pixels of (top, left, height, width) of a JPEG, decoded at the smallest scale that still covers `target`."""
    reduction = reduction_for(region, target)
    pixels = decode_top(data, frame, region[0] + region[2], reduction)
    if pixels is None:
        pixels = decode_rgb(data, reduction)
    top, left, height, width = (value // reduction for value in region)
    return pixels[top : top + max(1, height), left : left + max(1, width)]


class Decode(DeviceTransform):
    """An encoded image (JPEG, PNG, BMP, TIFF …) as HWC RGB pixels, or as a PIL image with `to_pil`.

    Examples:
        >>> import numpy as np
        >>> import mindspore.dataset.vision as vision
        >>> png = vision.encode_png(np.zeros((2, 3, 3), np.uint8))
        >>> vision.Decode()(png).shape
        (2, 3, 3)
    """

    releases_gil = True

    @checked(to_pil=boolean)
    def __init__(self, to_pil: bool = False):
        self.to_pil = to_pil
        self.implementation = Implementation.PY if to_pil else Implementation.C
        self.json_module = ToPIL.json_module if to_pil else None

    def apply(self, img: Any) -> Any:
        data = encoded_bytes(img)
        return decode_pil(data) if self.to_pil else decode_rgb(data)

    def to_json(self) -> tuple[str, dict[str, Any] | None]:
        if self.to_pil:
            return self.json_name, {"device_target": self.device_target, "to_pil": True}
        return self.json_name, {"device_target": self.device_target, "rgb": True}

    @classmethod
    def from_json(cls, params: Any) -> Any:
        return cls(to_pil=bool(params.get("to_pil", False)))


class ToPIL(Transform):
    """An array of pixels as a PIL image; a PIL image passes through.

    Examples:
        >>> vision.ToPIL()(np.zeros((4, 6, 3), np.uint8)).size
        (6, 4)
    """

    json_module = "mindspore.dataset.vision.transforms"
    _SINGLE_CHANNEL_TYPES = ("bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float32", "float64")

    def apply(self, img: Any) -> Any:
        if is_pil(img):
            return img
        if not isinstance(img, np.ndarray):
            raise TypeError(f"The input image should be of type numpy.ndarray or PIL.Image.Image. Got {type(img)}.")
        if img.ndim not in (2, 3):
            raise ValueError(f"The dimension of input image should be 2 or 3. Got {img.ndim}.")
        if img.ndim == 3 and img.shape[2] > 4:
            raise ValueError(f"The channel of input image should not exceed 4. Got {img.shape[2]}.")
        if img.ndim == 2 or img.shape[2] == 1:
            if img.dtype.name not in self._SINGLE_CHANNEL_TYPES:
                raise TypeError(
                    f"The input image type {img.dtype} is not supported when image shape is [H, W] or [H, W, 1]."
                )
            img = img if img.ndim == 2 else img[:, :, 0]
        elif img.dtype != np.uint8:
            raise TypeError(
                f"The input image type {img.dtype} is not supported when image shape is "
                "[H, W, 2], [H, W, 3] or [H, W, 4]."
            )
        return pillow().fromarray(img)


class ToNumpy(Transform):
    """A PIL image as an array; an array passes through.

    Examples:
        >>> vision.ToNumpy()(vision.ToPIL()(np.zeros((4, 6, 3), np.uint8))).shape
        (4, 6, 3)
    """

    json_module = "mindspore.dataset.vision.transforms"
    implementation = Implementation.C

    def apply(self, img: Any) -> np.ndarray:
        return np.array(img) if is_pil(img) else np.asarray(img)


__all__ = ["Decode", "ToNumpy", "ToPIL"]
