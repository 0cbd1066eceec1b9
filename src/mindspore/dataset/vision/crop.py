"""Crop and pad, at fixed and at random places."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..transforms.checks import (
    INT32_MAX,
    boolean,
    check_range,
    check_type,
    checked,
    non_negative_int32,
    of_type,
    optional,
    positive_int32,
)
from .decode import decode_region, decode_rgb, encoded_bytes
from .enums import Border, Inter
from .functional import geometry
from .image_transform import (
    DeviceImageTransform,
    ImageTransform,
    check_channels,
    crop_size,
    fill,
    height_width,
    padding_widths,
    pair,
    parse_padding,
    ratio_range,
    rgb,
    scale_range,
)
from .jpeg import jpeg_frame


def _coordinates(value: Any, name: str) -> None:
    check_type(value, (list, tuple), name)
    if len(value) != 2:
        raise TypeError("Coordinates should be a list/tuple (y, x) of length 2.")
    for i, coordinate in enumerate(value):
        check_type(coordinate, (int,), f"{name}[{i}]")
        check_range(coordinate, 0, INT32_MAX, f"{name}[{i}]")


class Crop(DeviceImageTransform):
    """The part of size (height, width) whose upper left corner is at `coordinates` (y, x).

    Examples:
        >>> vision.Crop((1, 0), (1, 2))(np.arange(9, dtype=np.uint8).reshape(3, 3)).tolist()
        [[3, 4]]
    """

    keeps_pil = False

    @checked(coordinates=_coordinates, size=crop_size)
    def __init__(self, coordinates: Any, size: Any):
        self.coordinates = tuple(coordinates)
        self.size = pair(size)

    def transform(self, image: Any) -> Any:
        (top, left), (height, width) = self.coordinates, self.size
        have_height, have_width = height_width(image)
        for axis, end, have in (("height", top + height, have_height), ("width", left + width, have_width)):
            if end > have:
                raise RuntimeError(f"Crop: Crop {axis} dimension: {end} exceeds image {axis}: {have}")
        return _contiguous(geometry.crop(image, top, left, height, width))

    def to_json(self) -> tuple[str, dict[str, Any] | None]:
        name, params = super().to_json()
        return name, {**(params or {}), "coordinates": list(self.coordinates[::-1])}  # the JSON form has (x, y)

    @classmethod
    def from_json(cls, params: Any) -> Any:
        return super().from_json({**params, "coordinates": params["coordinates"][::-1]})


def _contiguous(image: Any) -> Any:
    return np.ascontiguousarray(image) if isinstance(image, np.ndarray) else image


class CenterCrop(ImageTransform):
    """The middle of the image; where the image is too small, black borders are added.

    Examples:
        >>> import numpy as np
        >>> import mindspore.dataset.vision as vision
        >>> vision.CenterCrop(1)(np.arange(9, dtype=np.uint8).reshape(3, 3)).tolist()
        [[4]]
    """

    @checked(size=crop_size)
    def __init__(self, size: Any):
        self.size = pair(size)

    def transform(self, image: Any) -> Any:
        height, width = height_width(image)
        want_height, want_width = self.size
        if not isinstance(image, np.ndarray):
            top, left = round((height - want_height) / 2.0), round((width - want_width) / 2.0)
            return geometry.crop(image, top, left, want_height, want_width)
        grow_y, grow_x = max(0, want_height - height), max(0, want_width - width)
        if grow_y >= 3 * height or grow_x >= 3 * width:
            raise RuntimeError(
                "CenterCrop: Padding size cannot be more than 3 times of the original image size, "
                f"got top padding: {grow_y}, left padding: {grow_x}, while the original image size: {height}, {width}"
            )
        if grow_y or grow_x:
            around = (grow_x - grow_x // 2, grow_y - grow_y // 2, grow_x // 2, grow_y // 2)
            image = geometry.pad(image, around, 0, Border.CONSTANT)
            height, width = height_width(image)
        top, left = (height - want_height) // 2, (width - want_width) // 2
        return _contiguous(geometry.crop(image, top, left, want_height, want_width))


class FiveCrop(ImageTransform):
    """The four corners (upper left and right, lower left and right) and the centre of a PIL image.

    Examples:
        >>> parts = vision.FiveCrop(2)(vision.ToPIL()(np.zeros((4, 4, 3), np.uint8)))
        >>> len(parts)
        5
    """

    pil_only = True
    json_module = "mindspore.dataset.vision.transforms"

    @checked(size=crop_size)
    def __init__(self, size: Any):
        self.size = size

    def transform(self, image: Any) -> tuple:
        return five_crops(image, pair(self.size))


def five_crops(image: Any, size: tuple[int, int]) -> tuple:
    (height, width), (have_height, have_width) = size, height_width(image)
    if height > have_height or width > have_width:
        raise ValueError(f"Crop size {size} is larger than input image size {(have_height, have_width)}.")
    bottom, right = have_height - height, have_width - width
    corners = [(0, 0), (0, right), (bottom, 0), (bottom, right)]
    parts = [geometry.crop(image, top, left, height, width) for top, left in corners]
    return (*parts, CenterCrop(size).transform(image))


class TenCrop(ImageTransform):
    """`FiveCrop` of a PIL image and of its mirror image.

    Examples:
        >>> parts = vision.TenCrop(2)(vision.ToPIL()(np.zeros((4, 4, 3), np.uint8)))
        >>> len(parts)
        10
    """

    pil_only = True
    json_module = "mindspore.dataset.vision.transforms"

    @checked(size=crop_size, use_vertical_flip=optional(boolean))
    def __init__(self, size: Any, use_vertical_flip: bool = False):
        self.size = pair(size)
        self.use_vertical_flip = use_vertical_flip

    def transform(self, image: Any) -> tuple:
        flip = geometry.flip_vertical if self.use_vertical_flip else geometry.flip_horizontal
        return five_crops(image, self.size) + five_crops(flip(image), self.size)


# ---------------------------------------------------------------------------------------------------------------------
# Padding


class Pad(DeviceImageTransform):
    """Borders added: one width, (left and right, top and bottom), or (left, top, right, bottom).

    Examples:
        >>> vision.Pad(1, fill_value=9)(np.zeros((1, 1), np.uint8)).tolist()
        [[9, 9, 9], [9, 0, 9], [9, 9, 9]]
    """

    @checked(padding=padding_widths, fill_value=fill, padding_mode=of_type(Border))
    def __init__(self, padding: Any, fill_value: Any = 0, padding_mode: Border = Border.CONSTANT):
        self.padding = parse_padding(padding)
        self.fill_value = rgb(fill_value)
        self.padding_mode = padding_mode

    def transform(self, image: Any) -> Any:
        return geometry.pad(image, self.padding, self.fill_value, self.padding_mode)


def _pad_size(value: Any, name: str) -> None:
    check_type(value, (int, list, tuple), name)
    if isinstance(value, int):
        positive_int32(value, name)
        return
    if len(value) != 2:
        raise ValueError(f"The {name} must be a sequence of length 2.")
    for i, length in enumerate(value):
        positive_int32(length, f"{name}{i}")


def _pad_offset(value: Any, name: str) -> None:
    check_type(value, (int, list, tuple), name)
    if isinstance(value, int):
        non_negative_int32(value, name)
        return
    if len(value) not in (0, 2):
        raise ValueError(f"The {name} must be empty or a sequence of length 2.")
    for i, distance in enumerate(value):
        non_negative_int32(distance, f"{name}{i}")


class PadToSize(ImageTransform):
    """Borders added up to a size; `offset` (top, left) places the image, else it is centred.

    Examples:
        >>> vision.PadToSize((1, 3), offset=(0, 0), fill_value=9)(np.zeros((1, 1), np.uint8)).tolist()
        [[0, 9, 9]]
    """

    keeps_pil = False

    @checked(size=_pad_size, offset=optional(_pad_offset), fill_value=fill, padding_mode=of_type(Border))
    def __init__(self, size: Any, offset: Any = None, fill_value: Any = 0, padding_mode: Border = Border.CONSTANT):
        self.size = pair(size)
        self.offset: tuple = () if offset is None else pair(offset)
        self.fill_value = rgb(fill_value)
        self.padding_mode = padding_mode

    def transform(self, image: Any) -> Any:
        check_channels(image, "PadToSize")
        have = height_width(image)
        room_y, room_x = self.size[0] - have[0], self.size[1] - have[1]
        if room_y < 0 or room_x < 0:
            raise RuntimeError(
                "PadToSize: the target size to pad should be no less than the original image size, "
                f"but got target size {self.size} and original size {have}."
            )
        top, left = self.offset or (room_y // 2, room_x // 2)
        if room_y < top or room_x < left:
            raise RuntimeError(
                "PadToSize: the sum of offset and original image size should be no more than the target size to pad, "
                f"but got offset {self.offset} plus original size {have} bigger than {self.size}"
            )
        around = (left, top, room_x - left, room_y - top)
        return geometry.pad(image, around, self.fill_value, self.padding_mode)


# ---------------------------------------------------------------------------------------------------------------------
# Random places


class RandomCrop(ImageTransform):
    """A part of the given size from a random place, after padding.

    Examples:
        >>> import numpy as np
        >>> import mindspore.dataset.vision as vision
        >>> vision.RandomCrop(32, padding=4)(np.zeros((32, 32, 3), np.uint8)).shape
        (32, 32, 3)
    """

    random = True
    several_columns = True

    @checked(
        size=crop_size,
        pad_if_needed=boolean,
        padding=optional(padding_widths),
        fill_value=optional(fill),
        padding_mode=optional(of_type(Border)),
    )
    def __init__(
        self,
        size: Any,
        padding: Any = None,
        pad_if_needed: bool = False,
        fill_value: Any = 0,
        padding_mode: Border = Border.CONSTANT,
    ):
        self.size = pair(size)
        self.padding = parse_padding(0 if padding is None else padding)
        self.pad_if_needed = pad_if_needed
        self.fill_value = rgb(0 if fill_value is None else fill_value)
        self.padding_mode = padding_mode or Border.CONSTANT

    def _widths(self, image: Any) -> tuple[int, int, int, int]:
        """Padding for this image: what was asked for, and enough to hold the crop when `pad_if_needed`."""
        left, top, right, bottom = self.padding
        height, width = height_width(image)
        if self.pad_if_needed:
            more_x = max(0, self.size[1] - width - left - right)
            more_y = max(0, self.size[0] - height - top - bottom)
            left, top, right, bottom = left + more_x, top + more_y, right + more_x, bottom + more_y
        return left, top, right, bottom

    def draw(self, image: Any) -> tuple:
        left, top, right, bottom = self._widths(image)
        height, width = height_width(image)
        too_wide = max(top, bottom) >= 3 * height or max(left, right) >= 3 * width
        if isinstance(image, np.ndarray) and too_wide:
            raise RuntimeError(
                f"{self.json_name}: padding size is three times bigger than the image size, padding top: {top}, "
                f"padding bottom: {bottom}, padding pad_left_: {left}, padding padding right:{right}, "
                f"image shape: {height}, {width}"
            )
        room_y = height + top + bottom - self.size[0]
        room_x = width + left + right - self.size[1]
        if room_y < 0 or room_x < 0:
            if not isinstance(image, np.ndarray):
                raise ValueError(f"Crop size {self.size} is larger than input image size {(height, width)}.")
            raise RuntimeError(
                f"{self.json_name}: invalid crop size, crop size is bigger than the image dimensions, "
                f"got crop height: {self.size[0]}, crop width: {self.size[1]}"
            )
        return (left, top, right, bottom), int(self.rng.integers(room_y + 1)), int(self.rng.integers(room_x + 1))

    def transform(self, image: Any, padding: tuple, top: int, left: int) -> Any:
        if any(padding):
            image = geometry.pad(image, padding, self.fill_value, self.padding_mode)
        return _contiguous(geometry.crop(image, top, left, *self.size))


def draw_region(
    rng: np.random.Generator, size: tuple[int, int], scale: Any, ratio: Any, attempts: int
) -> tuple[int, int, int, int]:
    """(top, left, height, width) of a random part: area and aspect ratio uniform (the ratio on a log scale).

    When no attempt fits the image, the largest central part whose ratio is allowed.
    """
    height, width = size
    for _ in range(attempts):
        area = height * width * rng.uniform(scale[0], scale[1])
        aspect = math.exp(rng.uniform(math.log(ratio[0]), math.log(ratio[1])))
        part_width = round(math.sqrt(area * aspect))
        part_height = round(part_width / aspect) if aspect else 0
        if 0 < part_width <= width and 0 < part_height <= height:
            top = int(rng.integers(height - part_height + 1))
            return top, int(rng.integers(width - part_width + 1)), part_height, part_width
    aspect = min(max(width / height, ratio[0]), ratio[1])
    part_height = min(height, max(1, round(width / aspect)))
    part_width = min(width, max(1, round(part_height * aspect)))
    return round((height - part_height) / 2), round((width - part_width) / 2), part_height, part_width


class RandomResizedCrop(ImageTransform):
    """A random part, of random area and aspect ratio, resized.

    Examples:
        >>> import numpy as np
        >>> import mindspore.dataset.vision as vision
        >>> vision.RandomResizedCrop(8)(np.zeros((32, 48, 3), np.uint8)).shape
        (8, 8, 3)
    """

    random = True
    several_columns = True

    @checked(
        interpolation=optional(of_type(Inter)),
        size=crop_size,
        scale=optional(scale_range),
        ratio=optional(ratio_range),
        max_attempts=optional(positive_int32),
    )
    def __init__(
        self,
        size: Any,
        scale: Any = (0.08, 1.0),
        ratio: Any = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: Inter = Inter.BILINEAR,
        max_attempts: int = 10,
    ):
        self.size = pair(size)
        self.scale = (0.08, 1.0) if scale is None else tuple(scale)
        self.ratio = (3.0 / 4.0, 4.0 / 3.0) if ratio is None else tuple(ratio)
        self.interpolation = Inter.BILINEAR if interpolation is None else interpolation
        self.max_attempts = 10 if max_attempts is None else max_attempts

    def draw(self, image: Any) -> tuple:
        return draw_region(self.rng, height_width(image), self.scale, self.ratio, self.max_attempts)

    def transform(self, image: Any, top: int, left: int, height: int, width: int) -> Any:
        region = geometry.crop(image, top, left, height, width)
        return geometry.resize(region, self.size, self.interpolation)


class RandomCropDecodeResize(RandomResizedCrop):
    """`Decode` and `RandomResizedCrop` in one: only the detail that the result needs is decoded.

    Examples:
        >>> data = vision.encode_jpeg(np.zeros((8, 8, 3), np.uint8))
        >>> vision.RandomCropDecodeResize((4, 6))(data).shape
        (4, 6, 3)
    """

    def apply(self, *columns: Any) -> Any:
        results = tuple(self._decode_part(encoded_bytes(column)) for column in columns)
        return results[0] if len(results) == 1 else results

    def _decode_part(self, data: np.ndarray) -> np.ndarray:
        frame = jpeg_frame(data)
        if frame is None:
            pixels = decode_rgb(data)
            return self.transform(pixels, *self.draw(pixels))
        region = draw_region(self.rng, (frame.height, frame.width), self.scale, self.ratio, self.max_attempts)
        return geometry.resize(decode_region(data, frame, region, self.size), self.size, self.interpolation)


__all__ = [
    "CenterCrop",
    "Crop",
    "FiveCrop",
    "Pad",
    "PadToSize",
    "RandomCrop",
    "RandomCropDecodeResize",
    "RandomResizedCrop",
    "TenCrop",
]
