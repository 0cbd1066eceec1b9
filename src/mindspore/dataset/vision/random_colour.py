"""Random changes of colour."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from ..transforms.checks import (
    FLOAT_MAX_INTEGER,
    check_min_max,
    check_range,
    check_type,
    checked,
    each,
    non_negative_float32,
    optional,
    probability,
    real,
    uint8,
)
from .colour import ignored_levels, levels
from .functional import colour
from .image_transform import ImageTransform, check_channels


class _Sometimes(ImageTransform):
    """Base of transforms that happen with probability `prob`; a subclass defines `change(image)`."""

    random = True
    keeps_pil = False
    prob: float

    def draw(self, image: Any) -> tuple:
        return (self.rng.random() < self.prob,)

    def transform(self, image: Any, wanted: bool) -> Any:
        return self.change(image) if wanted else image

    def change(self, image: Any) -> Any:
        raise NotImplementedError


class RandomAdjustSharpness(_Sometimes):
    """`AdjustSharpness` with probability `prob`.

    Examples:
        >>> vision.RandomAdjustSharpness(2.0, prob=0.0)(np.full((2, 2, 3), 60, np.uint8)).shape
        (2, 2, 3)
    """

    @checked(degree=non_negative_float32, prob=probability)
    def __init__(self, degree: float, prob: float = 0.5):
        self.degree = degree
        self.prob = prob

    def change(self, image: Any) -> Any:
        return colour.adjust_sharpness(image, self.degree)


class RandomAutoContrast(_Sometimes):
    """`AutoContrast` with probability `prob`.

    Examples:
        >>> vision.RandomAutoContrast(prob=0.5)(np.zeros((8, 8, 3), np.uint8)).shape
        (8, 8, 3)
    """

    @checked(cutoff=real(0, 50, right_open=True), ignore=optional(ignored_levels), prob=probability)
    def __init__(self, cutoff: float = 0.0, ignore: Any = None, prob: float = 0.5):
        self.cutoff = cutoff
        self.ignore = levels(ignore)
        self.prob = prob

    def change(self, image: Any) -> Any:
        return colour.auto_contrast(image, self.cutoff, self.ignore)


class RandomEqualize(_Sometimes):
    """`Equalize` with probability `prob`.

    Examples:
        >>> vision.RandomEqualize(prob=0.5)(np.zeros((8, 8, 3), np.uint8)).shape
        (8, 8, 3)
    """

    @checked(prob=probability)
    def __init__(self, prob: float = 0.5):
        self.prob = prob

    def change(self, image: Any) -> Any:
        return colour.equalize(image)


class RandomInvert(_Sometimes):
    """`Invert` with probability `prob`.

    Examples:
        >>> vision.RandomInvert(prob=1.0)(np.full((1, 1, 3), 55, np.uint8)).tolist()
        [[[200, 200, 200]]]
    """

    @checked(prob=probability)
    def __init__(self, prob: float = 0.5):
        self.prob = prob

    def change(self, image: Any) -> Any:
        return colour.invert(image)


class RandomGrayscale(_Sometimes):
    """A PIL image without colour, with probability `prob`.

    Examples:
        >>> image = vision.ToPIL()(np.zeros((4, 6, 3), np.uint8))
        >>> vision.RandomGrayscale(0.5)(image).size
        (6, 4)
    """

    pil_only = True
    keeps_pil = True
    json_module = "mindspore.dataset.vision.transforms"

    @checked(prob=probability)
    def __init__(self, prob: float = 0.1):
        self.prob = prob

    def change(self, image: Any) -> Any:
        return colour.grayscale(image, 1 if image.mode == "L" else 3)


# ---------------------------------------------------------------------------------------------------------------------
# A random strength


def _degrees(value: Any, name: str) -> None:
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{name} must be either a tuple or a list.")
    each(int, float)(value, name)
    if len(value) != 2:
        raise ValueError(f"{name} must be a sequence with length 2.")
    for degree in value:
        check_range(degree, 0, FLOAT_MAX_INTEGER)
    if value[0] > value[1]:
        raise ValueError(f"{name} should be in (min,max) format. Got (max,min).")


class _RandomDegree(ImageTransform):
    random = True
    change: Any

    @checked(degrees=optional(_degrees))
    def __init__(self, degrees: Any = (0.1, 1.9)):
        self.degrees = (0.1, 1.9) if degrees is None else tuple(degrees)

    def draw(self, image: Any) -> tuple:
        return (self.rng.uniform(*self.degrees),)

    def transform(self, image: Any, factor: float) -> Any:
        return type(self).change(image, factor)


class RandomColor(_RandomDegree):
    """The saturation times a random factor.

    Examples:
        >>> vision.RandomColor((0.5, 1.5))(np.zeros((8, 8, 3), np.uint8)).shape
        (8, 8, 3)
    """

    change = staticmethod(colour.adjust_saturation)


class RandomSharpness(_RandomDegree):
    """The sharpness changed by a random factor; 1 leaves it as it is.

    Examples:
        >>> vision.RandomSharpness((0.5, 1.5))(np.zeros((8, 8, 3), np.uint8)).shape
        (8, 8, 3)
    """

    change = staticmethod(colour.adjust_sharpness)


def _bits(value: Any, name: str) -> None:
    check_type(value, (list, tuple, int), name)
    if isinstance(value, int):
        check_range(value, 1, 8)
        return
    if len(value) != 2:
        raise TypeError(f"Size of {name} should be a single integer or a list/tuple (min, max) of length 2.")
    for bits in value:
        uint8(bits, name)
    check_min_max(value, 1, 8)


class RandomPosterize(ImageTransform):
    """A random number of high bits of each pixel.

    Examples:
        >>> vision.RandomPosterize((1, 1))(np.array([[[100, 200, 255]]], np.uint8)).tolist()
        [[[0, 128, 128]]]
    """

    random = True
    keeps_pil = False

    @checked(bits=optional(_bits))
    def __init__(self, bits: Any = (8, 8)):
        bits = 8 if bits is None else bits
        self.bits = (bits, bits) if isinstance(bits, int) else tuple(bits)

    def draw(self, image: Any) -> tuple:
        return (int(self.rng.integers(self.bits[0], self.bits[1] + 1)),)

    def transform(self, image: Any, bits: int) -> Any:
        return colour.posterize(image, bits)


def _solarize_threshold(value: Any, name: str) -> None:
    check_type(value, (tuple,), name)
    each(int)(value, name)
    if len(value) != 2:
        raise ValueError(f"{name} must be a sequence of two numbers.")
    for limit in value:
        check_range(limit, 0, 255)
    if value[1] < value[0]:
        raise ValueError(f"{name} must be in min max format numbers.")


class RandomSolarize(ImageTransform):
    """Pixels between two random thresholds inverted.

    Examples:
        >>> vision.RandomSolarize((0, 255))(np.zeros((8, 8, 3), np.uint8)).shape
        (8, 8, 3)
    """

    random = True
    keeps_pil = False

    @checked(threshold=_solarize_threshold)
    def __init__(self, threshold: Any = (0, 255)):
        self.threshold = tuple(threshold)

    def draw(self, image: Any) -> tuple:
        low, high = self.threshold
        return tuple(sorted(int(limit) for limit in self.rng.integers(low, high + 1, size=2)))

    def transform(self, image: Any, low: int, high: int) -> Any:
        return colour.solarize(image, low, high)


class RandomLighting(ImageTransform):
    """AlexNet's colour noise: the principal colour components, with weights from a normal distribution.

    Examples:
        >>> vision.RandomLighting(0.1)(np.zeros((8, 8, 3), np.uint8)).shape
        (8, 8, 3)
    """

    random = True

    @checked(alpha=non_negative_float32)
    def __init__(self, alpha: float = 0.05):
        self.alpha = alpha

    def draw(self, image: Any) -> tuple:
        return (self.rng.normal(0.0, self.alpha, size=3),)

    def transform(self, image: Any, weights: Any) -> Any:
        return colour.add_lighting(image, weights)


def _adjustment(low: float, high: float) -> Any:
    def run(value: Any, name: str) -> None:
        check_type(value, (numbers.Number, list, tuple), name)
        if isinstance(value, (int, float)):
            if value < 0:
                raise ValueError(f"The input value of {name} cannot be negative.")
            check_range(value, low, high)
            return
        if len(value) != 2:
            raise TypeError(f"If {name} is a sequence, the length must be 2.")
        if value[0] > value[1]:
            raise ValueError(f"{name} value should be in (min,max) format. Got ({value[0]}, {value[1]}).")
        check_min_max(value, low, high)

    return run


def _factors(value: Any, centre: float, least: float) -> tuple[float, float]:
    if isinstance(value, (int, float)):
        return max(least, centre - value), centre + value
    return tuple(value)


_factor = _adjustment(0, FLOAT_MAX_INTEGER)


class RandomColorAdjust(ImageTransform):
    """Brightness, contrast, saturation and hue changed by random factors, in random order.

    A range is (min, max), or one number for the range around "no change".

    Examples:
        >>> import numpy as np
        >>> import mindspore.dataset.vision as vision
        >>> op = vision.RandomColorAdjust(brightness=0.4, contrast=0.4, saturation=0.4)
        >>> op(np.zeros((2, 2, 3), np.uint8)).shape
        (2, 2, 3)
    """

    random = True

    @checked(brightness=_factor, contrast=_factor, saturation=_factor, hue=_adjustment(-0.5, 0.5))
    def __init__(self, brightness: Any = (1, 1), contrast: Any = (1, 1), saturation: Any = (1, 1), hue: Any = (0, 0)):
        self.brightness = _factors(brightness, 1, 0)
        self.contrast = _factors(contrast, 1, 0)
        self.saturation = _factors(saturation, 1, 0)
        self.hue = _factors(hue, 0, -0.5)

    def draw(self, image: Any) -> tuple:
        if isinstance(image, np.ndarray):
            check_channels(image, "RandomColorAdjust", (3,), (3,))
        adjustments = [
            (colour.adjust_brightness, self.brightness, 1),
            (colour.adjust_contrast, self.contrast, 1),
            (colour.adjust_saturation, self.saturation, 1),
            (colour.adjust_hue, self.hue, 0),
        ]
        steps = [(change, self.rng.uniform(*limits)) for change, limits, idle in adjustments if limits != (idle, idle)]
        return tuple(steps[i] for i in self.rng.permutation(len(steps)))

    def transform(self, image: Any, *steps: Any) -> Any:
        for change, factor in steps:
            image = change(image, factor)
        return image


__all__ = [
    "RandomAdjustSharpness",
    "RandomAutoContrast",
    "RandomColor",
    "RandomColorAdjust",
    "RandomEqualize",
    "RandomGrayscale",
    "RandomInvert",
    "RandomLighting",
    "RandomPosterize",
    "RandomSharpness",
    "RandomSolarize",
]
