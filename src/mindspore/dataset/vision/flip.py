"""Mirror images."""

from __future__ import annotations

from typing import Any

from ..transforms.checks import checked, probability
from .functional import geometry
from .image_transform import DeviceImageTransform, ImageTransform


class HorizontalFlip(DeviceImageTransform):
    """Left and right exchanged.

    Examples:
        >>> vision.HorizontalFlip()(np.array([[1, 2, 3]], np.uint8)).tolist()
        [[3, 2, 1]]
    """

    keeps_pil = False

    def transform(self, image: Any) -> Any:
        return geometry.flip_horizontal(image)


class VerticalFlip(DeviceImageTransform):
    """Top and bottom exchanged.

    Examples:
        >>> vision.VerticalFlip()(np.array([[1], [2]], np.uint8)).tolist()
        [[2], [1]]
    """

    keeps_pil = False

    def transform(self, image: Any) -> Any:
        return geometry.flip_vertical(image)


class _RandomFlip(ImageTransform):
    random = True
    several_columns = True
    flip: Any

    @checked(prob=probability)
    def __init__(self, prob: float = 0.5):
        self.prob = prob

    def draw(self, image: Any) -> tuple:
        return (self.rng.random() < self.prob,)

    def transform(self, image: Any, flipped: bool) -> Any:
        return type(self).flip(image) if flipped else image


class RandomHorizontalFlip(_RandomFlip):
    """Left and right exchanged with probability `prob`.

    Examples:
        >>> import numpy as np
        >>> import mindspore.dataset.vision as vision
        >>> vision.RandomHorizontalFlip(1.0)(np.array([[1, 2]], np.uint8)).tolist()
        [[2, 1]]
    """

    flip = staticmethod(geometry.flip_horizontal)


class RandomVerticalFlip(_RandomFlip):
    """Top and bottom exchanged with probability `prob`.

    Examples:
        >>> vision.RandomVerticalFlip(1.0)(np.array([[1], [2]], np.uint8)).tolist()
        [[2], [1]]
    """

    flip = staticmethod(geometry.flip_vertical)


__all__ = ["HorizontalFlip", "RandomHorizontalFlip", "RandomVerticalFlip", "VerticalFlip"]
