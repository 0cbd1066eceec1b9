"""Resize, with a fixed or a random method."""

from __future__ import annotations

from typing import Any

from ..transforms.checks import checked, non_negative_int32, of_type, positive_int32
from .enums import Inter
from .functional import geometry
from .image_transform import DeviceImageTransform, ImageTransform, crop_size, pair, resize_size

_RANDOM_METHODS = (Inter.BILINEAR, Inter.NEAREST, Inter.BICUBIC, Inter.AREA)


def interpolation(value: Any, name: str) -> None:
    if value is None:
        raise KeyError("Interpolation should not be None")
    of_type(Inter)(value, name)


def size_list(size: Any) -> tuple[int, ...]:
    return (size,) if isinstance(size, int) else tuple(size)


class Resize(DeviceImageTransform):
    """The image at another size: (height, width), or one number for the shorter side.

    Examples:
        >>> import numpy as np
        >>> import mindspore.dataset.vision as vision
        >>> vision.Resize(8)(np.zeros((16, 32, 3), np.uint8)).shape
        (8, 16, 3)
    """

    @checked(interpolation=interpolation, size=resize_size)
    def __init__(self, size: Any, interpolation: Inter = Inter.LINEAR):
        self.size = size_list(size)
        self.interpolation = interpolation

    def transform(self, image: Any) -> Any:
        size = self.size[0] if len(self.size) == 1 else self.size
        return geometry.resize(image, size, self.interpolation)

    @classmethod
    def from_json(cls, params: Any) -> Any:
        return super().from_json({**params, "size": _one_or_pair(params["size"])})


def _one_or_pair(size: Any) -> Any:
    return size[0] if isinstance(size, list) and len(size) == 1 else size


class RandomResize(ImageTransform):
    """`Resize` with an interpolation drawn anew for each image.

    Examples:
        >>> vision.RandomResize((4, 6))(np.zeros((8, 8, 3), np.uint8)).shape
        (4, 6, 3)
    """

    random = True
    several_columns = True

    @checked(size=resize_size)
    def __init__(self, size: Any):
        self.size = size_list(size)

    def draw(self, image: Any) -> tuple:
        return (_RANDOM_METHODS[self.rng.integers(len(_RANDOM_METHODS))],)

    def transform(self, image: Any, inter: Inter) -> Any:
        size = self.size[0] if len(self.size) == 1 else self.size
        return geometry.resize(image, size, inter)

    @classmethod
    def from_json(cls, params: Any) -> Any:
        return super().from_json({**params, "size": _one_or_pair(params["size"])})


class ResizedCrop(DeviceImageTransform):
    """A region cut out and resized.

    Examples:
        >>> vision.ResizedCrop(0, 0, 4, 4, (2, 3))(np.zeros((8, 8, 3), np.uint8)).shape
        (2, 3, 3)
    """

    keeps_pil = False

    @checked(
        top=non_negative_int32,
        left=non_negative_int32,
        height=positive_int32,
        width=positive_int32,
        interpolation=of_type(Inter),
        size=crop_size,
    )
    def __init__(self, top: int, left: int, height: int, width: int, size: Any, interpolation: Inter = Inter.BILINEAR):
        self.top, self.left, self.height, self.width = top, left, height, width
        self.size = pair(size)
        self.interpolation = interpolation

    def transform(self, image: Any) -> Any:
        have_height, have_width = geometry.height_width(image)
        for axis, start, length, have, name in (
            ("height", self.top, self.height, have_height, "top"),
            ("width", self.left, self.width, have_width, "left"),
        ):
            if start + length > have:
                raise RuntimeError(
                    f"ResizedCrop: the sum of {name} and {axis}: {start + length} exceeds image {axis}: {have}"
                )
        region = geometry.crop(image, self.top, self.left, self.height, self.width)
        return geometry.resize(region, self.size, self.interpolation)


__all__ = ["RandomResize", "Resize", "ResizedCrop"]
