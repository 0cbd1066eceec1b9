"""What image transforms share: checks of their arguments and the handling of PIL images, videos and several columns."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from ..transforms.checks import (
    FLOAT_MAX_INTEGER,
    INT32_MAX,
    INT32_MIN,
    check_min_max,
    check_positive,
    check_range,
    check_type,
    each,
    float32,
    is_number,
    non_negative_float32,
    positive_float32,
    uint8,
)
from ..transforms.transform import DeviceTransform, Transform, is_pil

PIL_ONLY_MESSAGE = "img should be PIL image. Got {}. Use Decode() for encoded data or ToPIL() for decoded data."


def is_numpy(image: Any) -> bool:
    return isinstance(image, np.ndarray)


class ImageTransform(Transform):
    """Base of transforms of images in layout HWC or HW.

    A subclass defines `transform(image, *drawn)`; a random one also `draw(image)`, the tuple of random choices for one
    row. Where several columns are allowed they share the choices, so an image and its mask stay aligned. Arrays of more
    than three axes are sequences of images.

    Examples:
        >>> class Darken(vision.ImageTensorOperation):
        ...     def transform(self, image):
        ...         return image // 2
        >>> Darken()(np.full((1, 1), 60, np.uint8)).tolist()
        [[30]]
    """

    releases_gil = True
    pil_only = False  # arrays are refused
    keeps_pil = True  # whether a PIL image gives a PIL image; else it gives an array
    sequences = True  # whether leading axes beyond H, W, C are looped over
    several_columns = False  # whether the columns of a row (an image and its mask) may be transformed alike

    def draw(self, image: Any) -> tuple:
        return ()

    def transform(self, image: Any, *drawn: Any) -> Any:
        raise NotImplementedError

    def apply(self, *columns: Any) -> Any:
        if len(columns) != 1 and not (columns and self.several_columns):
            raise RuntimeError("The op is OneToOne, can only accept one tensor as input.")
        images = [self._accept(column) for column in columns]
        drawn = self.draw(images[0])
        try:
            results = tuple(self._transform_one(image, drawn) for image in images)
        except Exception as error:
            if type(error).__module__ != "cv2":
                raise
            raise RuntimeError(f"{self.json_name}: {error}") from None
        return results[0] if len(results) == 1 else results

    def _transform_one(self, image: Any, drawn: tuple) -> Any:
        if not isinstance(image, np.ndarray) or image.ndim <= 3 or not self.sequences:
            return self.transform(image, *drawn)
        frames = image.reshape((-1, *image.shape[-3:]))
        done = np.stack([self.transform(frame, *drawn) for frame in frames])
        return done.reshape(image.shape[:-3] + done.shape[1:])

    def _accept(self, image: Any) -> Any:
        if is_pil(image):
            return image if self.keeps_pil else np.asarray(image)
        if self.pil_only:
            raise TypeError(PIL_ONLY_MESSAGE.format(type(image)))
        return check_image(image, self.json_name)


class DeviceImageTransform(DeviceTransform, ImageTransform):
    """An image transform with the `device` method."""


_PIXEL_TYPES = ("bool", "int8", "uint8", "int16", "uint16", "int32", "float16", "float32", "float64")


def image_array(image: Any, op: str) -> np.ndarray:
    """The array of an image; TypeError for what is neither an array nor a PIL image, or holds no real numbers."""
    if not isinstance(image, np.ndarray) and not is_pil(image):
        raise TypeError(f"Input should be NumPy or PIL image, got {type(image)}.")
    array = np.asarray(image)
    if array.dtype.kind in "cOV":
        raise TypeError(f"{op}: Invalid user input. Got an array of type {array.dtype}; pixels are real numbers.")
    return array


def check_image(image: Any, op: str) -> np.ndarray:
    """An array of numbers with at least height and width."""
    array = image_array(image, op)
    if array.dtype.name not in _PIXEL_TYPES:
        kind = "string" if array.dtype.kind in "US" else array.dtype
        raise RuntimeError(
            f"{op}: the data type of image tensor does not match the requirement of operator. "
            f"Expecting tensor in type of ({', '.join(_PIXEL_TYPES)}). But got type {kind}. "
            "Currently unsupported data type: [uint32, int64, uint64, string]"
        )
    if array.ndim < 2:
        raise RuntimeError(
            f"{op}: the image tensor should have at least two dimensions: input tensor is not in shape of <H,W> or <H,W,C>. "
            "You may need to perform Decode first."
        )
    if array.size == 0:
        raise RuntimeError(f"{op}: the image tensor is empty, its shape is {array.shape}.")
    return array


def check_channels(
    array: np.ndarray, op: str, allowed: tuple[int, ...] = (1, 3), ranks: tuple[int, ...] = (2, 3)
) -> None:
    """RuntimeError unless the image has an allowed number of axes and channels."""
    if array.ndim not in ranks:
        raise RuntimeError(
            f"{op}: the dimension of image tensor does not match the requirement of operator. "
            f"Expecting tensor in dimension of {_listed(ranks)}, in shape of "
            f"{' or '.join('<H, W>' if rank == 2 else '<H, W, C>' for rank in ranks)}. But got dimension {array.ndim}."
        )
    channels = 1 if array.ndim == 2 else array.shape[2]
    if channels not in allowed:
        raise RuntimeError(
            f"{op}: the channel of image tensor does not match the requirement of operator. "
            f"Expecting tensor in channel of {_listed(allowed)}. But got channel {channels}."
        )


def _listed(values: tuple[int, ...]) -> str:
    return f"({', '.join(str(value) for value in values)})"


def height_width(image: Any) -> tuple[int, int]:
    if is_pil(image):
        return image.size[1], image.size[0]
    return image.shape[:2] if image.ndim <= 3 else image.shape[-3:-1]


# ---------------------------------------------------------------------------------------------------------------------
# Arguments


def crop_size(value: Any, name: str) -> None:
    check_type(value, (int, list, tuple), "size")
    if isinstance(value, int):
        check_range(value, 1, FLOAT_MAX_INTEGER)
    elif len(value) == 2:
        for i, length in enumerate(value):
            check_type(length, (int,), f"size[{i}]")
            check_range(length, 1, FLOAT_MAX_INTEGER)
    else:
        raise TypeError("Size should be a single integer or a list/tuple (h, w) of length 2.")


def resize_size(value: Any, name: str) -> None:
    if isinstance(value, int):
        check_range(value, 1, FLOAT_MAX_INTEGER)
    elif isinstance(value, (tuple, list)) and len(value) == 2:
        for i, length in enumerate(value):
            check_type(length, (int,), f"size at dim {i}")
            check_range(length, 1, INT32_MAX, f"size at dim {i}")
    else:
        raise TypeError("Size should be a single integer or a list/tuple (h, w) of length 2.")


def pair(size: Any) -> tuple[int, int]:
    """A square from one number."""
    return (size, size) if isinstance(size, int) else tuple(size)


def padding_widths(value: Any, name: str) -> None:
    check_type(value, (tuple, list, numbers.Number), "padding")
    if is_number(value):
        check_type(value, (int,), "padding")
        check_range(value, 0, INT32_MAX, "padding")
        return
    if len(value) not in (2, 4):
        raise ValueError("The size of the padding list or tuple should be 2 or 4.")
    for i, width in enumerate(value):
        check_type(width, (int,), f"padding[{i}]")
        check_range(width, 0, INT32_MAX, "pad_value")


def parse_padding(padding: Any) -> tuple[int, int, int, int]:
    """(left, top, right, bottom) from one width, (left/right, top/bottom) or all four.

    Examples:
        >>> vision.parse_padding((1, 2))
        (1, 2, 1, 2)
    """
    if isinstance(padding, int):
        return (padding,) * 4
    left, top = padding[:2]
    right, bottom = padding[2:] if len(padding) == 4 else padding
    return left, top, right, bottom


def fill(value: Any, name: str) -> None:
    if isinstance(value, int):
        uint8(value, name)
    elif isinstance(value, tuple) and len(value) == 3:
        for i, channel in enumerate(value):
            uint8(channel, f"{name}[{i}]")
    else:
        raise TypeError(f"{name} should be a single integer or a 3-tuple.")


def rgb(value: Any) -> tuple:
    """One fill value for all three channels."""
    return (value,) * 3 if is_number(value) else tuple(value)


def degree_range(value: Any, name: str) -> None:
    """A width around 0, or (min, max)."""
    check_type(value, (int, float, list, tuple), name)
    if is_number(value):
        non_negative_float32(value, name)
        return
    if len(value) != 2:
        raise TypeError(f"If {name} is a sequence, the length must be 2.")
    each(int, float)(value, name)
    for degree in value:
        float32(degree, name)
    if value[0] > value[1]:
        raise ValueError(f"{name} should be in (min,max) format. Got (max,min).")


def around_zero(value: Any) -> tuple[float, float]:
    return (-value, value) if is_number(value) else tuple(value)


def scale_range(value: Any, name: str) -> None:
    check_type(value, (tuple, list), name)
    each(float, int, length=2)(value, name)
    if value[0] > value[1]:
        raise ValueError(f"{name} should be in (min,max) format. Got (max,min).")
    check_min_max(value, 0, FLOAT_MAX_INTEGER)
    check_positive(value[1], f"{name}[1]")


def ratio_range(value: Any, name: str) -> None:
    check_type(value, (tuple, list), name)
    each(float, int, length=2, item=positive_float32)(value, name)
    if value[0] > value[1]:
        raise ValueError(f"{name} should be in (min,max) format. Got (max,min).")


def centre_point(value: Any, name: str) -> None:
    if value is None:
        return
    if not (isinstance(value, tuple) and len(value) == 2):
        raise ValueError(f"Value {name} needs to be a 2-tuple.")
    for coordinate in value:
        check_type(coordinate, (int, float), name)
        check_range(coordinate, INT32_MIN, INT32_MAX, name)
