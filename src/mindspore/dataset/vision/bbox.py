"""Transforms of an image together with its bounding boxes, rows of (x, y, width, height, …)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..transforms.checks import checked, probability
from ..transforms.transform import Transform
from .crop import RandomCrop, RandomResizedCrop
from .enums import Inter
from .flip import RandomHorizontalFlip, RandomVerticalFlip
from .functional import geometry
from .image_transform import check_image, resize_size
from .resize import RandomResize, Resize, interpolation

_TOLERANCE = 1e-4  # boxes that were scaled may overshoot by rounding


def image_and_boxes(op: str, columns: tuple) -> tuple[np.ndarray, np.ndarray]:
    """The two columns, checked: boxes inside the image."""
    if len(columns) != 2:
        raise RuntimeError(
            "BoundingBox: invalid input, size of input data should be 2 (including image and bounding box), "
            f"but got: {len(columns)}"
        )
    boxes = np.array(columns[1])
    if boxes.ndim < 2:
        raise RuntimeError(
            "BoundingBox: bounding boxes should have to be two-dimensional matrix at least, "
            f"but got {boxes.ndim} dimension."
        )
    image = np.asarray(columns[0])
    if image.ndim < 2:
        raise RuntimeError("Invalid data, input image hasn't been decoded, you may need to perform Decode first.")
    image = check_image(image, op)
    if boxes.shape[1] < 4:
        raise RuntimeError(f"BoundingBox: bounding boxes should be have at least 4 features, but got: {boxes.shape[1]}")
    _check_inside(boxes, image.shape[0], image.shape[1])
    return image, boxes.astype(np.float32, copy=False)


def _check_inside(boxes: np.ndarray, height: int, width: int) -> None:
    for x, y, box_width, box_height in boxes[:, :4].astype(float):
        if x + box_width - width > _TOLERANCE or y + box_height - height > _TOLERANCE:
            raise RuntimeError(
                f"BoundingBox: bounding boxes is out of bounds of the image, as image width: {width}, bbox width "
                f"coordinate: {x + box_width:f}, and image height: {height}, bbox height coordinate: {y + box_height:f}"
            )
        if x < -_TOLERANCE or y < -_TOLERANCE:
            raise RuntimeError(
                f"BoundingBox: the coordinates of the bounding boxes has negative value, got: ({x:f},{y:f})."
            )


def crop_boxes(boxes: np.ndarray, top: int, left: int, height: int, width: int) -> np.ndarray:
    """The boxes that touch a region, cut to it and relative to it."""
    x1, y1 = boxes[:, 0], boxes[:, 1]
    x2, y2 = x1 + boxes[:, 2], y1 + boxes[:, 3]
    kept = (x1 <= left + width) & (y1 <= top + height) & (x2 >= left) & (y2 >= top)
    boxes, (x1, y1, x2, y2) = boxes[kept].copy(), (edge[kept] for edge in (x1, y1, x2, y2))
    x1, x2 = np.clip(x1 - left, 0, width), np.clip(x2 - left, 0, width)
    y1, y2 = np.clip(y1 - top, 0, height), np.clip(y2 - top, 0, height)
    boxes[:, :4] = np.stack([x1, y1, x2 - x1, y2 - y1], axis=1)
    return boxes


def scale_boxes(boxes: np.ndarray, before: tuple[int, ...], after: tuple[int, ...]) -> np.ndarray:
    ratio_y, ratio_x = np.float32(after[0] / before[0]), np.float32(after[1] / before[1])
    boxes[:, :4] *= np.array([ratio_x, ratio_y, ratio_x, ratio_y], np.float32)
    return boxes


class RandomHorizontalFlipWithBBox(RandomHorizontalFlip):
    """`RandomHorizontalFlip` of an image and its boxes.

    Examples:
        >>> image, boxes = np.zeros((8, 8, 3), np.uint8), np.array([[0, 0, 3, 4]], np.float32)
        >>> vision.RandomHorizontalFlipWithBBox(1.0)(image, boxes)[1].tolist()
        [[5.0, 0.0, 3.0, 4.0]]
    """

    def apply(self, *columns: Any) -> tuple[np.ndarray, np.ndarray]:
        image, boxes = image_and_boxes(self.json_name, columns)
        if not self.draw(image)[0]:
            return image, boxes
        boxes[:, 0] = image.shape[1] - boxes[:, 0] - boxes[:, 2]
        return geometry.flip_horizontal(image), boxes


class RandomVerticalFlipWithBBox(RandomVerticalFlip):
    """`RandomVerticalFlip` of an image and its boxes.

    Examples:
        >>> image, boxes = np.zeros((8, 8, 3), np.uint8), np.array([[0, 0, 3, 4]], np.float32)
        >>> vision.RandomVerticalFlipWithBBox(1.0)(image, boxes)[1].tolist()
        [[0.0, 4.0, 3.0, 4.0]]
    """

    def apply(self, *columns: Any) -> tuple[np.ndarray, np.ndarray]:
        image, boxes = image_and_boxes(self.json_name, columns)
        if not self.draw(image)[0]:
            return image, boxes
        boxes[:, 1] = image.shape[0] - boxes[:, 1] - boxes[:, 3]
        return geometry.flip_vertical(image), boxes


class RandomCropWithBBox(RandomCrop):
    """`RandomCrop` of an image and its boxes; boxes outside the crop are dropped.

    Examples:
        >>> image, boxes = np.zeros((8, 8, 3), np.uint8), np.array([[0, 0, 4, 4]], np.float32)
        >>> vision.RandomCropWithBBox(6)(image, boxes)[0].shape
        (6, 6, 3)
    """

    def apply(self, *columns: Any) -> tuple[np.ndarray, np.ndarray]:
        image, boxes = image_and_boxes(self.json_name, columns)
        padding, top, left = self.draw(image)
        boxes[:, :2] += padding[:2]
        return self.transform(image, padding, top, left), crop_boxes(boxes, top, left, *self.size)


class RandomResizedCropWithBBox(RandomResizedCrop):
    """`RandomResizedCrop` of an image and its boxes; boxes outside the crop are dropped.

    Examples:
        >>> image, boxes = np.zeros((8, 8, 3), np.uint8), np.array([[0, 0, 4, 4]], np.float32)
        >>> vision.RandomResizedCropWithBBox((4, 6))(image, boxes)[0].shape
        (4, 6, 3)
    """

    def apply(self, *columns: Any) -> tuple[np.ndarray, np.ndarray]:
        image, boxes = image_and_boxes(self.json_name, columns)
        region = self.draw(image)
        boxes = scale_boxes(crop_boxes(boxes, *region), region[2:], self.size)
        return self.transform(image, *region), boxes


class ResizeWithBBox(Resize):
    """`Resize` of an image and its boxes.

    Examples:
        >>> image, boxes = np.zeros((8, 8, 3), np.uint8), np.array([[0, 0, 4, 4]], np.float32)
        >>> vision.ResizeWithBBox((4, 4))(image, boxes)[1].tolist()
        [[0.0, 0.0, 2.0, 2.0]]
    """

    @checked(interpolation=interpolation, size=resize_size)
    def __init__(self, size: Any, interpolation: Inter = Inter.LINEAR):
        super().__init__(size, interpolation)

    def apply(self, *columns: Any) -> tuple[np.ndarray, np.ndarray]:
        image, boxes = image_and_boxes(self.json_name, columns)
        resized = self.transform(image)
        return resized, scale_boxes(boxes, image.shape, resized.shape)

    def to_json(self) -> tuple[str, dict[str, Any] | None]:
        return Transform.to_json(self)


class RandomResizeWithBBox(RandomResize):
    """`RandomResize` of an image and its boxes.

    Examples:
        >>> image, boxes = np.zeros((8, 8, 3), np.uint8), np.array([[0, 0, 4, 4]], np.float32)
        >>> vision.RandomResizeWithBBox((4, 4))(image, boxes)[1].tolist()
        [[0.0, 0.0, 2.0, 2.0]]
    """

    def apply(self, *columns: Any) -> tuple[np.ndarray, np.ndarray]:
        image, boxes = image_and_boxes(self.json_name, columns)
        resized = self.transform(image, *self.draw(image))
        return resized, scale_boxes(boxes, image.shape, resized.shape)


def _image_transform(value: Any, name: str) -> None:
    if isinstance(value, type) or not isinstance(value, Transform):
        raise TypeError(f"Argument {name} with value {value} is not of type [{Transform}], but got {type(value)}.")


class BoundingBoxAugment(Transform):
    """A transform applied to the inside of each box, with probability `ratio`.

    Examples:
        >>> image, boxes = np.zeros((8, 8, 3), np.uint8), np.array([[0, 0, 4, 4]], np.float32)
        >>> flip = vision.BoundingBoxAugment(vision.HorizontalFlip(), ratio=1.0)
        >>> [part.shape for part in flip(image, boxes)]
        [(8, 8, 3), (1, 4)]
    """

    random = True
    releases_gil = True

    @checked(ratio=probability, transform=_image_transform)
    def __init__(self, transform: Callable, ratio: float = 0.3):
        self.transform = transform
        self.ratio = ratio

    def set_rng(self, rng: np.random.Generator) -> None:
        super().set_rng(rng)
        self.transform.set_rng(rng)  # type: ignore[attr-defined]

    def apply(self, *columns: Any) -> tuple[np.ndarray, np.ndarray]:
        image, boxes = image_and_boxes("BoundingBoxAugment", columns)
        result = image.copy()
        for x, y, width, height in boxes[:, :4].astype(int):
            if self.rng.random() >= self.ratio or width <= 0 or height <= 0:
                continue
            inside = np.asarray(self.transform(result[y : y + height, x : x + width]))
            if inside.shape[:2] != (height, width):
                inside = geometry.resize(inside, (int(height), int(width)), Inter.LINEAR)
            result[y : y + height, x : x + width] = inside
        return result, boxes


__all__ = [
    "BoundingBoxAugment",
    "RandomCropWithBBox",
    "RandomHorizontalFlipWithBBox",
    "RandomResizeWithBBox",
    "RandomResizedCropWithBBox",
    "RandomVerticalFlipWithBBox",
    "ResizeWithBBox",
]
