"""Parts of an image blanked out, and images cut into patches."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np

from ..transforms.checks import (
    FLOAT_MAX_INTEGER,
    INT32_MAX,
    boolean,
    check_min_max,
    check_positive,
    check_range,
    check_type,
    checked,
    each,
    integer,
    non_negative_int32,
    of_type,
    optional,
    positive_int32,
    probability,
)
from ..transforms.transform import Transform
from .enums import SliceMode
from .image_transform import DeviceImageTransform, ImageTransform


def _erase_value(value: Any, name: str) -> None:
    check_type(value, (float, int, tuple), name)
    values = (value,) * 3 if isinstance(value, (float, int)) else value
    each(float, int)(values, name)
    if len(values) != 3:
        raise TypeError(f"{name} should be a single integer/float or a 3-tuple.")
    for i, channel in enumerate(values):
        check_range(channel, 0, 255, f"{name}[{i}]")


class Erase(DeviceImageTransform):
    """A rectangle filled with one colour.

    Examples:
        >>> vision.Erase(0, 0, 1, 2, value=9)(np.zeros((2, 2, 3), np.uint8))[..., 0].tolist()
        [[9, 9], [0, 0]]
    """

    keeps_pil = False

    @checked(
        top=non_negative_int32,
        left=non_negative_int32,
        height=positive_int32,
        width=positive_int32,
        inplace=boolean,
        value=_erase_value,
    )
    def __init__(self, top: int, left: int, height: int, width: int, value: Any = 0.0, inplace: bool = False):
        self.top, self.left, self.height, self.width = top, left, height, width
        self.value = (value,) if isinstance(value, (int, float)) else tuple(value)
        self.inplace = inplace

    def transform(self, image: np.ndarray) -> np.ndarray:
        if image.ndim != 3:
            raise RuntimeError(f"Erase: input tensor is not in shape of <H,W,C>, but got rank: {image.ndim}")
        if image.shape[2] != 3:
            raise RuntimeError(f"Erase: channel of input image should be 3, but got: {image.shape[2]}")
        _check_box("Erase", self.height, self.width, image.shape[:2])
        result = image if self.inplace and image.flags.writeable else image.copy()
        result[self.top : self.top + self.height, self.left : self.left + self.width] = self.value
        return result

    @classmethod
    def from_json(cls, params: Any) -> Any:
        value = params["value"]
        return super().from_json({**params, "value": value[0] if len(value) == 1 else value})


def _check_box(op: str, height: int, width: int, size: tuple[int, ...]) -> None:
    if height > size[0] or width > size[1]:
        raise RuntimeError(
            f"{op}: box size is too large for image erase, got box height: {height}box weight: {width}, "
            f"and image height: {size[0]}, image width: {size[1]}"
        )


_size = integer(1, FLOAT_MAX_INTEGER, label="")


class CutOut(ImageTransform):
    """Squares of side `length` at random places set to 0; they may reach over the border.

    Examples:
        >>> vision.CutOut(2)(np.full((4, 4, 3), 60, np.uint8)).shape
        (4, 4, 3)
    """

    random = True
    keeps_pil = False
    sequences = False

    @checked(length=_size, num_patches=_size, is_hwc=boolean)
    def __init__(self, length: int, num_patches: int = 1, is_hwc: bool = True):
        self.length = length
        self.num_patches = num_patches
        self.is_hwc = is_hwc

    def _size(self, image: np.ndarray) -> tuple[int, int]:
        if image.ndim != 3:
            layout = "<H,W,C>" if self.is_hwc else "<C,H,W>"
            raise RuntimeError(f"CutOut: image shape is not {layout}, but got rank: {image.ndim}")
        return image.shape[:2] if self.is_hwc else image.shape[1:]

    def draw(self, image: np.ndarray) -> tuple:
        size = self._size(image)
        _check_box("CutOut", self.length, self.length, size)
        starts = [self.rng.integers(side + self.length + 1, size=self.num_patches) - self.length for side in size]
        return (np.stack(starts, axis=1),)

    def transform(self, image: np.ndarray, corners: np.ndarray) -> np.ndarray:
        result = image.copy()
        view = result if self.is_hwc else np.moveaxis(result, 0, -1)
        for top, left in corners:
            view[max(0, top) : max(0, top + self.length), max(0, left) : max(0, left + self.length)] = 0
        return result


def _erasing_value(value: Any, name: str) -> None:
    check_type(value, (int, list, tuple, str), name)
    if not (
        isinstance(value, numbers.Number) or value == "random" or (isinstance(value, (tuple, list)) and len(value) == 3)
    ):
        raise ValueError(
            "The value for erasing should be either a single value, "
            "or a string 'random', or a sequence of 3 elements for RGB respectively."
        )
    if isinstance(value, int):
        check_range(value, 0, 255)
    elif not isinstance(value, str):
        for channel in value:
            check_type(channel, (int,), name)
            check_range(channel, 0, 255, name)


def _min_max(name_of_open_end: bool) -> Any:
    def run(value: Any, name: str) -> None:
        each(float, int)(value, name)
        if len(value) != 2:
            raise TypeError(f"{name} should be a list or tuple of length 2.")
        if value[0] > value[1]:
            raise ValueError(f"{name} should be in (min,max) format. Got (max,min).")
        if name_of_open_end:
            for limit in value:
                check_range(limit, 0, FLOAT_MAX_INTEGER, left_open=True)
        else:
            check_min_max(value, 0, FLOAT_MAX_INTEGER)
            check_positive(value[1], f"{name}[1]")

    return run


class RandomErasing(Transform):
    """A random rectangle of a CHW array filled with `value` (or noise), with probability `prob`.

    `scale` bounds the rectangle's part of the area, `ratio` its width over its height.

    Examples:
        >>> vision.RandomErasing(prob=1.0)(np.ones((3, 8, 8), np.float32)).shape
        (3, 8, 8)
    """

    random = True
    releases_gil = True
    json_module = "mindspore.dataset.vision.transforms"

    @checked(
        scale=_min_max(False),
        ratio=_min_max(True),
        inplace=boolean,
        value=_erasing_value,
        prob=probability,
        max_attempts=_size,
    )
    def __init__(
        self,
        prob: float = 0.5,
        scale: Any = (0.02, 0.33),
        ratio: Any = (0.3, 3.3),
        value: Any = 0,
        inplace: bool = False,
        max_attempts: int = 10,
    ):
        self.prob = prob
        self.scale = tuple(scale)
        self.ratio = tuple(ratio)
        self.value = value
        self.inplace = inplace
        self.max_attempts = max_attempts

    def apply(self, np_img: Any) -> np.ndarray:
        if not isinstance(np_img, np.ndarray):
            raise TypeError(f"img should be NumPy array. Got {type(np_img)}.")
        if np_img.ndim != 3:
            raise TypeError(f"img dimension should be 3. Got {np_img.ndim}.")
        box = self._draw_box(np_img.shape[1:]) if self.rng.random() < self.prob else None
        if box is None:
            return np_img
        top, left, height, width = box
        result = np_img if self.inplace else np_img.copy()
        result[:, top : top + height, left : left + width] = self._filling((np_img.shape[0], height, width))
        return result

    def _draw_box(self, size: tuple[int, ...]) -> tuple[int, int, int, int] | None:
        for _ in range(self.max_attempts):
            area = self.rng.uniform(*self.scale) * size[0] * size[1]
            aspect = self.rng.uniform(*self.ratio)
            width = round(math.sqrt(area * aspect))
            height = round(width / aspect)
            if height < size[0] and width < size[1]:
                top = int(self.rng.integers(size[0] - height + 1))
                return top, int(self.rng.integers(size[1] - width + 1)), height, width
        return None

    def _filling(self, shape: tuple[int, int, int]) -> Any:
        if isinstance(self.value, str):
            return self.rng.normal(size=shape)
        return self.value if isinstance(self.value, int) else np.array(self.value)[:, None, None]


class SlicePatches(ImageTransform):
    """The image cut into num_height x num_width patches, row by row; the rest is padded or dropped.

    Examples:
        >>> [part.shape for part in vision.SlicePatches(1, 2)(np.zeros((4, 4, 3), np.uint8))]
        [(4, 2, 3), (4, 2, 3)]
    """

    keeps_pil = False

    @checked(
        num_height=optional(integer(1, INT32_MAX)),
        num_width=optional(integer(1, INT32_MAX)),
        slice_mode=optional(of_type(SliceMode)),
        fill_value=optional(integer(0, 255)),
    )
    def __init__(
        self, num_height: int = 1, num_width: int = 1, slice_mode: SliceMode = SliceMode.PAD, fill_value: int = 0
    ):
        self.num_height = num_height
        self.num_width = num_width
        self.slice_mode = slice_mode
        self.fill_value = fill_value

    def transform(self, image: np.ndarray) -> Any:
        rows, columns = self.num_height, self.num_width
        for axis, count, length in (("height", rows, image.shape[0]), ("width", columns, image.shape[1])):
            if count > length:
                raise RuntimeError(
                    f"SlicePatches: The number of patches on {axis} axis equals 0 or is greater than {axis}, "
                    f"got number of patches:{count}"
                )
        height, width = image.shape[0] // rows, image.shape[1] // columns
        if self.slice_mode is SliceMode.PAD:
            height, width = -(-image.shape[0] // rows), -(-image.shape[1] // columns)
            around = [(0, height * rows - image.shape[0]), (0, width * columns - image.shape[1])]
            image = np.pad(image, around + [(0, 0)] * (image.ndim - 2), constant_values=self.fill_value)
        patches = tuple(
            np.ascontiguousarray(image[i * height : (i + 1) * height, j * width : (j + 1) * width])
            for i in range(rows)
            for j in range(columns)
        )
        return patches[0] if len(patches) == 1 else patches


__all__ = ["CutOut", "Erase", "RandomErasing", "SlicePatches"]
