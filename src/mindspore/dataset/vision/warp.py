"""Rotation, affine and perspective maps, fixed and random."""

from __future__ import annotations

import numbers
from typing import Any

from ..transforms.checks import (
    FLOAT_MAX_INTEGER,
    boolean,
    check_min_max,
    check_positive,
    check_range,
    check_type,
    checked,
    each,
    float32,
    int32,
    of_type,
    optional,
    positive_number,
)
from .enums import Inter
from .functional import geometry
from .image_transform import (
    DeviceImageTransform,
    ImageTransform,
    around_zero,
    centre_point,
    degree_range,
    fill,
    height_width,
    is_pil,
    rgb,
)

_inter = of_type(Inter)


def _no_pillow_method(inter: Inter) -> None:
    if inter is Inter.ANTIALIAS:
        raise RuntimeError("Unsupported interpolation, only support NEAREST, LINEAR, CUBIC, AREA and PILCUBIC.")


def _check_random_method(image: Any, inter: Inter, op: str) -> None:
    if inter is Inter.PILCUBIC and not is_pil(image):
        raise RuntimeError(f"{op}: Invalid InterpolationMode, check input value of enum.")


class Rotate(DeviceImageTransform):
    """The image turned anticlockwise by `degrees`; `expand` makes room for the corners.

    Examples:
        >>> import numpy as np
        >>> import mindspore.dataset.vision as vision
        >>> vision.Rotate(90, expand=True)(np.zeros((4, 6), np.uint8)).shape
        (6, 4)
    """

    keeps_pil = False
    json_keys = {"degrees": "degree"}

    @checked(degrees=float32, resample=_inter, expand=boolean, center=centre_point, fill_value=fill)
    def __init__(
        self,
        degrees: float,
        resample: Inter = Inter.NEAREST,
        expand: bool = False,
        center: Any = None,
        fill_value: Any = 0,
    ):
        self.degrees = degrees
        self.resample = resample
        self.expand = expand
        self.center: tuple = () if center is None else tuple(center)
        self.fill_value = rgb(fill_value)

    def transform(self, image: Any) -> Any:
        _no_pillow_method(self.resample)
        if self.resample is Inter.PILCUBIC:
            raise RuntimeError("Rotate: Invalid InterpolationMode, check input value of enum.")
        return geometry.rotate(image, self.degrees % 360, self.resample, self.expand, self.center, self.fill_value)

    @classmethod
    def from_json(cls, params: Any) -> Any:
        return super().from_json({**params, "center": params.get("center") or None})


class RandomRotation(ImageTransform):
    """`Rotate` by an angle drawn from `degrees`: (min, max), or one number for the range around 0.

    Examples:
        >>> vision.RandomRotation(15)(np.zeros((8, 8, 3), np.uint8)).shape
        (8, 8, 3)
    """

    random = True

    @checked(degrees=degree_range, resample=_inter, expand=boolean, center=centre_point, fill_value=fill)
    def __init__(
        self,
        degrees: Any,
        resample: Inter = Inter.NEAREST,
        expand: bool = False,
        center: Any = None,
        fill_value: Any = 0,
    ):
        self.degrees = around_zero(degrees)
        self.resample = resample
        self.expand = expand
        self.center: tuple = () if center is None else tuple(center)
        self.fill_value = rgb(fill_value)

    def draw(self, image: Any) -> tuple:
        return (self.rng.uniform(*self.degrees),)

    def transform(self, image: Any, degrees: float) -> Any:
        _check_random_method(image, self.resample, "RandomRotation")
        return geometry.rotate(image, degrees, self.resample, self.expand, self.center, self.fill_value)

    @classmethod
    def from_json(cls, params: Any) -> Any:
        return super().from_json({**params, "center": params.get("center") or None})


# ---------------------------------------------------------------------------------------------------------------------
# Affine maps


def _angle(value: Any, name: str) -> None:
    check_type(value, (int, float), name)
    check_range(value, -180, 180, name)


def _shift(value: Any, name: str) -> None:
    check_type(value, (list, tuple), name)
    if len(value) != 2:
        raise TypeError(f"The length of {name} should be 2.")
    for i, part in enumerate(value):
        check_type(part, (int, float), f"{name}[{i}]")
        check_range(part, -1.0, 1.0, f"{name}[{i}]")


def _shear(value: Any, name: str) -> None:
    check_type(value, (numbers.Number, tuple, list), name)
    if isinstance(value, numbers.Number):
        check_range(value, -180, 180, name)
        return
    if len(value) != 2:
        raise TypeError(f"The length of {name} should be 2.")
    for i, degrees in enumerate(value):
        _angle(degrees, f"{name}[{i}]")


class Affine(DeviceImageTransform):
    """Rotate clockwise, translate (as parts of width and height), scale and shear about the centre.

    Examples:
        >>> image = np.zeros((4, 4, 3), np.uint8)
        >>> vision.Affine(degrees=90, translate=[0, 0], scale=1.0, shear=[0, 0])(image).shape
        (4, 4, 3)
    """

    keeps_pil = False

    @checked(degrees=_angle, translate=_shift, scale=positive_number, shear=_shear, resample=_inter, fill_value=fill)
    def __init__(
        self,
        degrees: float,
        translate: Any,
        scale: float,
        shear: Any,
        resample: Inter = Inter.NEAREST,
        fill_value: Any = 0,
    ):
        self.degrees = degrees
        self.translate = tuple(translate)
        self.scale = scale
        self.shear = (shear, 0.0) if isinstance(shear, numbers.Number) else tuple(shear)
        self.resample = resample
        self.fill_value = rgb(fill_value)

    def transform(self, image: Any) -> Any:
        _no_pillow_method(self.resample)
        if self.resample is Inter.PILCUBIC:
            raise RuntimeError("Affine: Invalid InterpolationMode, only support Linear, Nearest, Cubic and Area.")
        height, width = height_width(image)
        pixels = (self.translate[0] * width, self.translate[1] * height)
        return geometry.affine(image, self.degrees, pixels, self.scale, self.shear, self.resample, self.fill_value)


def _random_shift(value: Any, name: str) -> None:
    each(int, float)(value, name)
    if len(value) not in (2, 4):
        raise TypeError(f"{name} should be a list or tuple of length 2 or 4.")
    for i, part in enumerate(value):
        check_range(part, -1.0, 1.0, f"{name} at {i}")


def _random_scale(value: Any, name: str) -> None:
    check_type(value, (tuple, list), name)
    each(int, float)(value, name)
    if len(value) != 2:
        raise TypeError(f"{name} should be a list or tuple of length 2.")
    if value[0] > value[1]:
        raise ValueError(f"Input {name}[1] must be equal to or greater than {name}[0].")
    check_min_max(value, 0, FLOAT_MAX_INTEGER)
    check_positive(value[1], f"{name}[1]")


def _random_shear(value: Any, name: str) -> None:
    check_type(value, (numbers.Number, tuple, list), name)
    if isinstance(value, numbers.Number):
        check_positive(value, name)
        return
    each(int, float)(value, name)
    if len(value) not in (2, 4):
        raise TypeError(f"{name} must be of length 2 or 4.")
    if len(value) == 2 and value[0] > value[1]:
        raise ValueError(f"Input {name}[1] must be equal to or greater than {name}[0]")
    if len(value) == 4 and (value[0] > value[1] or value[2] > value[3]):
        raise ValueError(
            f"Input {name}[1] must be equal to or greater than {name}[0] and "
            f"{name}[3] must be equal to or greater than {name}[2]."
        )


class RandomAffine(ImageTransform):
    """A random rotation, translation, scale and shear about the centre.

    `translate` is (min x, max x) or (min x, max x, min y, max y) in parts of the size, `shear` a width around 0,
    (min x, max x) or (min x, max x, min y, max y) in degrees.

    Examples:
        >>> vision.RandomAffine(15, translate=(-0.1, 0.1))(np.zeros((8, 8, 3), np.uint8)).shape
        (8, 8, 3)
    """

    random = True

    @checked(
        degrees=degree_range,
        translate=optional(_random_shift),
        scale=optional(_random_scale),
        shear=optional(_random_shear),
        resample=_inter,
        fill_value=optional(fill),
    )
    def __init__(
        self,
        degrees: Any,
        translate: Any = None,
        scale: Any = None,
        shear: Any = None,
        resample: Inter = Inter.NEAREST,
        fill_value: Any = 0,
    ):
        self.degrees = around_zero(degrees)
        self.translate = _four(translate)
        self.scale = (1.0, 1.0) if scale is None else tuple(scale)
        self.shear = _four((-shear, shear) if isinstance(shear, (int, float)) else shear)
        self.resample = resample
        self.fill_value = rgb(0 if fill_value is None else fill_value)

    def draw(self, image: Any) -> tuple:
        rng, (height, width) = self.rng, height_width(image)
        low_x, high_x, low_y, high_y = self.translate
        if is_pil(image):  # the first two numbers are then the largest shifts in x and y
            (high_x, high_y), (low_x, low_y) = self.translate[:2], (-self.translate[0], -self.translate[1])
        shift = rng.uniform(*sorted((low_x, high_x))) * width, rng.uniform(*sorted((low_y, high_y))) * height
        if is_pil(image):
            shift = round(shift[0]), round(shift[1])
        shear = rng.uniform(*self.shear[:2]), rng.uniform(*self.shear[2:])
        return rng.uniform(*self.degrees), shift, rng.uniform(*self.scale), shear

    def transform(self, image: Any, degrees: float, shift: Any, scale: float, shear: Any) -> Any:
        _check_random_method(image, self.resample, "RandomAffine")
        return geometry.affine(image, degrees, shift, scale, shear, self.resample, self.fill_value)


def _four(values: Any) -> tuple:
    """(min x, max x, min y, max y) with the y range left at 0."""
    values = () if values is None else tuple(values)
    return values + (0.0,) * (4 - len(values))


# ---------------------------------------------------------------------------------------------------------------------
# Perspective


def _four_points(value: Any, name: str) -> None:
    each(list, tuple)(value, name)
    if len(value) != 4:
        raise TypeError(f"{name} should be a list or tuple of length 4.")
    for i, point in enumerate(value):
        if len(point) != 2:
            raise TypeError(f"{name}[{i}] should be a list or tuple of length 2.")
        int32(point[0], f"{name}[{i}][0]")
        int32(point[1], f"{name}[{i}][1]")


class Perspective(DeviceImageTransform):
    """The perspective map that takes four start points (x, y) to four end points.

    Examples:
        >>> corners = [[0, 0], [3, 0], [3, 3], [0, 3]]
        >>> vision.Perspective(corners, corners)(np.full((4, 4, 3), 60, np.uint8))[1, 1].tolist()
        [60, 60, 60]
    """

    @checked(start_points=_four_points, end_points=_four_points, interpolation=_inter)
    def __init__(self, start_points: Any, end_points: Any, interpolation: Inter = Inter.BILINEAR):
        self.start_points = [tuple(point) for point in start_points]
        self.end_points = [tuple(point) for point in end_points]
        self.interpolation = interpolation

    def transform(self, image: Any) -> Any:
        return geometry.perspective(image, self.start_points, self.end_points, self.interpolation)


def _share(value: Any, name: str) -> None:
    check_type(value, (float,), name)
    check_range(value, 0.0, 1.0, name)


class RandomPerspective(ImageTransform):
    """A PIL image seen from a random direction, with probability `prob`.

    Examples:
        >>> image = vision.ToPIL()(np.zeros((4, 6, 3), np.uint8))
        >>> vision.RandomPerspective(prob=0.5)(image).size
        (6, 4)
    """

    random = True
    pil_only = True
    json_module = "mindspore.dataset.vision.transforms"

    @checked(distortion_scale=_share, prob=_share, interpolation=_inter)
    def __init__(self, distortion_scale: float = 0.5, prob: float = 0.5, interpolation: Inter = Inter.BICUBIC):
        self.distortion_scale = distortion_scale
        self.prob = prob
        self.interpolation = interpolation

    def draw(self, image: Any) -> tuple:
        height, width = height_width(image)
        corners = [(0, 0), (width - 1, 0), (width - 1, height - 1), (0, height - 1)]
        reach_x, reach_y = (int(side / 2 * self.distortion_scale) for side in (width, height))
        moved = []
        for x, y in corners:
            dx, dy = (int(self.rng.integers(reach + 1)) for reach in (reach_x, reach_y))
            moved.append((x + dx if x == 0 else x - dx, y + dy if y == 0 else y - dy))
        return self.rng.random() < self.prob, corners, moved

    def transform(self, image: Any, wanted: bool, start: Any, end: Any) -> Any:
        return geometry.perspective(image, start, end, self.interpolation) if wanted else image


__all__ = ["Affine", "Perspective", "RandomAffine", "RandomPerspective", "RandomRotation", "Rotate"]
