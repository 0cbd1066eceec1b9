"""Batches whose images and one-hot labels are mixed: MixUp (Zhang et al. 2018) and CutMix (Yun et al. 2019)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..transforms.checks import (
    FLOAT_MAX_INTEGER,
    boolean,
    check_positive,
    check_type,
    checked,
    integer,
    of_type,
    positive_float32,
    real,
)
from ..transforms.transform import Transform
from .enums import ImageBatchFormat
from .functional.colour import saturate


def _positive(value: Any, name: str) -> None:
    check_type(value, (int, float), name)
    check_positive(value, name)
    positive_float32(value, name)


def _check_label(op: str, label: np.ndarray) -> None:
    if label.dtype.kind not in "buif":
        kind = {"U": "string", "S": "bytes"}.get(label.dtype.kind, str(label.dtype))
        raise RuntimeError(
            f"{op}: invalid label type, label must be in a numeric type, but got: {kind}. "
            "You may need to perform OneHot first."
        )


class MixUpBatch(Transform):
    """Each image and label of a batch mixed with another of the batch, by one weight from Beta(alpha, alpha).

    Examples:
        >>> import numpy as np
        >>> import mindspore.dataset.vision as vision
        >>> images, labels = vision.MixUpBatch()(np.zeros((2, 4, 4, 3), np.uint8), np.eye(2))
        >>> labels.sum(axis=1).tolist()
        [1.0, 1.0]
    """

    random = True
    releases_gil = True

    @checked(alpha=_positive)
    def __init__(self, alpha: float = 1.0):
        self.alpha = alpha

    def apply(self, *columns: Any) -> tuple[np.ndarray, np.ndarray]:
        if len(columns) < 2:
            raise RuntimeError(
                f"MixUpBatch: size of input data should be 2 (including images or labels), but got: {len(columns)}, "
                "check 'input_columns' when call this operator."
            )
        images, labels = np.asarray(columns[0]), np.asarray(columns[1])
        self._check(images, labels)
        weight = np.float32(self.rng.beta(self.alpha, self.alpha))
        partner = self.rng.permutation(len(images))
        mixed = images.astype(np.float32) * weight + images[partner].astype(np.float32) * (1 - weight)
        labels = labels.astype(np.float32)
        return saturate(mixed, images.dtype), labels * weight + labels[partner] * (1 - weight)

    @staticmethod
    def _check(images: np.ndarray, labels: np.ndarray) -> None:
        if images.ndim != 4 or images.shape[0] != labels.shape[0]:
            raise RuntimeError(
                f"MixUpBatch: rank of image shape should be: 4, but got: {images.ndim}, "
                "make sure image shape are <H,W,C> or <C,H,W> and batched before calling MixUpBatch."
            )
        _check_label("MixUpBatch", labels)
        if labels.ndim not in (2, 3):
            raise RuntimeError(
                "MixUpBatch: wrong labels shape. The second column (labels) must have a shape of NC or NLC where N is "
                "the batch size, L is the number of labels in each row, and C is the number of classes. "
                f"labels must be in one-hot format and in a batch, but got rank: {labels.ndim}"
            )
        if images.shape[1] not in (1, 3) and images.shape[3] not in (1, 3):
            shape = ",".join(str(length) for length in images.shape)
            raise RuntimeError(f"MixUpBatch: images shape should in <N,H,W,C> or <N,C,H,W>, got shape:<{shape}>")


class CutMixBatch(Transform):
    """A rectangle of each image replaced by that of another of the batch, with probability `prob`; labels in parts.

    Examples:
        >>> images, labels = np.zeros((2, 4, 4, 3), np.uint8), np.array([[1, 0], [0, 1]], np.float32)
        >>> mixed, soft = vision.CutMixBatch(vision.ImageBatchFormat.NHWC)(images, labels)
        >>> mixed.shape, soft.sum(1).tolist()
        ((2, 4, 4, 3), [1.0, 1.0])
    """

    random = True
    releases_gil = True

    @checked(image_batch_format=of_type(ImageBatchFormat), alpha=_positive, prob=real(0, 1))
    def __init__(self, image_batch_format: ImageBatchFormat, alpha: float = 1.0, prob: float = 1.0):
        self.image_batch_format = image_batch_format
        self.alpha = alpha
        self.prob = prob

    def apply(self, *columns: Any) -> tuple[np.ndarray, np.ndarray]:
        if len(columns) < 2:
            raise RuntimeError(
                "CutMixBatch: invalid input size, input should have 2 columns (image and label), "
                f"but got: {len(columns)}"
            )
        images, labels = np.asarray(columns[0]), np.asarray(columns[1])
        self._check(images, labels)
        nhwc = self.image_batch_format is ImageBatchFormat.NHWC
        mixed, source = images.copy(), images if nhwc else np.moveaxis(images, 1, 3)
        target = mixed if nhwc else np.moveaxis(mixed, 1, 3)
        new_labels, labels = labels.astype(np.float32), labels.astype(np.float32)
        height, width = source.shape[1:3]
        for i, other in enumerate(self.rng.permutation(len(images))):
            weight = self.rng.beta(self.alpha, self.alpha)
            if self.rng.random() >= self.prob:
                continue
            top, left, box_height, box_width = self._draw_box(height, width, weight)
            box = np.s_[top : top + box_height, left : left + box_width]
            target[i][box] = source[other][box]
            kept = np.float32(1.0 - box_height * box_width / (height * width))
            new_labels[i] = labels[i] * kept + labels[other] * (1 - kept)
        return mixed, new_labels

    def _draw_box(self, height: int, width: int, weight: float) -> tuple[int, int, int, int]:
        """A box of about (1 - weight) of the area, cut off at the border, at least one pixel."""
        half_height, half_width = (int(side * math.sqrt(1.0 - weight)) // 2 for side in (height, width))
        middle_y, middle_x = (int(self.rng.integers(side + 1)) for side in (height, width))
        top, bottom = (min(max(edge, 0), height - 1) for edge in (middle_y - half_height, middle_y + half_height))
        left, right = (min(max(edge, 0), width - 1) for edge in (middle_x - half_width, middle_x + half_width))
        return top, left, max(1, bottom - top), max(1, right - left)

    def _check(self, images: np.ndarray, labels: np.ndarray) -> None:
        if images.ndim != 4:
            hint = ". You may need to perform Batch first." if images.ndim == 3 else ""
            raise RuntimeError(
                "CutMixBatch: input image is not in shape of <B,H,W,C> or <B,C,H,W>, "
                f"but got dimension: {images.ndim}{hint}"
            )
        channels = images.shape[3 if self.image_batch_format is ImageBatchFormat.NHWC else 1]
        if channels not in (1, 3):
            raise RuntimeError(f"CutMixBatch: input image is not in channel of 1 or 3, but got channel: {channels}")
        _check_label("CutMixBatch", labels)
        if labels.ndim not in (2, 3):
            raise RuntimeError(
                "CutMixBatch: input label is not in shape of <Batch,Class> or <Batch,Row,Class>, "
                f"but got dimension: {labels.ndim}. You may need to perform OneHot and Batch first."
            )
        if len(images) != len(labels):
            raise RuntimeError(
                "CutMixBatch: batch sizes of image and label must be the same, "
                f"but got image size: {len(images)} and label size: {len(labels)}"
            )

    @classmethod
    def from_json(cls, params: Any) -> Any:
        return super().from_json({**params, "image_batch_format": ImageBatchFormat(params["image_batch_format"])})


class MixUp(Transform):
    """Batches mixed with themselves shifted by one (`is_single`), or with the batch before, one weight per image.

    Examples:
        >>> images, labels = np.zeros((2, 3, 4, 4), np.float32), np.array([[1, 0], [0, 1]], np.float32)
        >>> mixed, soft = vision.MixUp(batch_size=2, alpha=0.5)(images, labels)
        >>> mixed.shape, soft.sum(1).round(3).tolist()
        ((2, 3, 4, 4), [1.0, 1.0])
    """

    random = True
    releases_gil = True
    json_module = "mindspore.dataset.vision.transforms"

    @checked(is_single=boolean, batch_size=integer(1, FLOAT_MAX_INTEGER, label=""), alpha=_positive)
    def __init__(self, batch_size: int, alpha: float, is_single: bool = True):
        self.batch_size = batch_size
        self.alpha = alpha
        self.is_single = is_single
        self._previous: tuple[np.ndarray, np.ndarray] | None = None

    def apply(self, image: Any, label: Any) -> tuple[np.ndarray, np.ndarray]:
        image, label = np.asarray(image), np.asarray(label)
        weight = self.rng.beta(self.alpha, self.alpha, self.batch_size)
        if self.is_single:
            other = np.roll(image, -1, axis=0), np.roll(label, -1, axis=0)
        elif self._previous is None:
            other, weight = (image, label), np.ones(self.batch_size)
        else:
            other = self._previous
        for_images, for_labels = weight.reshape(-1, 1, 1, 1), weight.reshape(-1, 1)
        mixed = (
            for_images * image + (1 - for_images) * other[0],
            for_labels * label + (1 - for_labels) * other[1],
        )
        self._previous = None if self.is_single else mixed
        return mixed

    @classmethod
    def from_json(cls, params: Any) -> Any:
        return cls(params["batch_size"], params["alpha"], params.get("is_single", True))


__all__ = ["CutMixBatch", "MixUp", "MixUpBatch"]
