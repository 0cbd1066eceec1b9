"""Stretches of a spectrogram masked, in frequency or in time (SpecAugment, Park et al. 2019)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..transforms.checks import (
    boolean,
    checked,
    float32,
    integer,
    non_negative_float32,
    non_negative_int32,
    of_type,
    positive_int32,
)
from .audio_transform import AudioTransform

_axis = integer(1, 2)


def mask_stretch(array: np.ndarray, start: int, width: int, value: float, axis: int, op: str) -> np.ndarray:
    """A copy with [start, start + width) of the frequency (axis 1) or time (axis 2) axis set to `value`."""
    length = array.shape[axis - 3]
    if start >= length:
        raise RuntimeError(
            f"{op}: invalid parameter, 'mask_start' should be less than the length of the masked dimension, "
            f"but got: 'mask_start' {start} and length {length}"
        )
    if start + width > length:
        raise RuntimeError(
            f"{op}: invalid parameter, the sum of 'mask_start' and 'mask_width' should be no more than the length of "
            f"the masked dimension, but got: 'mask_start' {start}, 'mask_width' {width} and length {length}"
        )
    masked = array.copy()
    np.moveaxis(masked, axis - 3, -1)[..., start : start + width] = value
    return masked


class MaskAlongAxis(AudioTransform):
    """A given stretch of the frequency (axis 1) or time (axis 2) axis set to a value.

    Examples:
        >>> audio.MaskAlongAxis(0, 1, 9.0, axis=1)(np.zeros((1, 2, 2), np.float32)).tolist()
        [[[9.0, 9.0], [0.0, 0.0]]]
    """

    shape = "<..., freq, time>"

    @checked(mask_start=non_negative_int32, mask_width=positive_int32, mask_value=float32, axis=_axis)
    def __init__(self, mask_start: int, mask_width: int, mask_value: float, axis: int):
        self.mask_start = mask_start
        self.mask_width = mask_width
        self.mask_value = mask_value
        self.axis = axis

    def transform(self, array: np.ndarray) -> np.ndarray:
        return mask_stretch(array, self.mask_start, self.mask_width, self.mask_value, self.axis, self.json_name)


def check_limit(array: np.ndarray, limit: int, axis: int, op: str, name: str) -> None:
    length = array.shape[axis - 3]
    if limit > length:
        what = "frequency" if axis == 1 else "time"
        raise RuntimeError(
            f"{op}: invalid parameter, '{name}' should be less than or equal to the length of {what} dimension, "
            f"but got: '{name}' {limit} and length {length}"
        )


def mask_at_random(rng: np.random.Generator, array: np.ndarray, limit: int, value: float, axis: int) -> np.ndarray:
    """A random stretch, of at most `limit`, masked in each example independently."""
    length = array.shape[axis - 3]
    examples = array.reshape(-1, *array.shape[-2:]).copy()
    for example in examples:
        width = int(rng.integers(limit + 1))
        start = int(rng.integers(length - width + 1))
        np.moveaxis(example, axis - 3, -1)[..., start : start + width] = value
    return examples.reshape(array.shape)


class MaskAlongAxisIID(AudioTransform):
    """A random stretch of the frequency (axis 1) or time (axis 2) axis set to a value, in each example anew.

    Examples:
        >>> audio.MaskAlongAxisIID(1, 9.0, axis=1)(np.zeros((2, 1, 4, 4), np.float32)).shape
        (2, 1, 4, 4)
    """

    shape = "<..., freq, time>"
    random = True

    @checked(mask_param=non_negative_int32, mask_value=float32, axis=_axis)
    def __init__(self, mask_param: int, mask_value: float, axis: int):
        self.mask_param = mask_param
        self.mask_value = mask_value
        self.axis = axis

    def transform(self, array: np.ndarray) -> np.ndarray:
        if self.mask_param > array.shape[self.axis - 3]:
            what = "frequency" if self.axis == 1 else "time"
            raise RuntimeError(
                f"MaskAlongAxisIID: mask_param should be less than or equal to the length of {what} dimension."
            )
        return mask_at_random(self.rng, array, self.mask_param, self.mask_value, self.axis)


class _Masking(AudioTransform):
    """Base: a stretch of one axis, at random in each example or at `mask_start` with the full width."""

    shape = "<..., freq, time>"
    random = True
    axis: int
    iid_masks: bool
    mask_start: int
    mask_value: float

    def _mask(self, array: np.ndarray, limit: int, name: str) -> np.ndarray:
        check_limit(array, limit, self.axis, self.json_name, name)
        if self.iid_masks:
            return mask_at_random(self.rng, array, limit, self.mask_value, self.axis)
        return mask_stretch(array, self.mask_start, limit, self.mask_value, self.axis, self.json_name)


def _mask_limit(value: Any, name: str) -> None:
    of_type(int)(value, "mask_param")
    non_negative_float32(value, "mask_param")


def _mask_start(value: Any, name: str) -> None:
    of_type(int)(value, name)
    non_negative_float32(value, name)


class FrequencyMasking(_Masking):
    """A stretch of frequencies masked; `iid_masks` draws it anew for each example.

    Examples:
        >>> audio.FrequencyMasking(freq_mask_param=1, mask_start=1)(np.ones((1, 4, 2), np.float32)).shape
        (1, 4, 2)
    """

    axis = 1
    json_keys = {"freq_mask_param": "frequency_mask_param"}

    @checked(iid_masks=boolean, freq_mask_param=_mask_limit, mask_start=_mask_start, mask_value=non_negative_float32)
    def __init__(self, iid_masks: bool = False, freq_mask_param: int = 0, mask_start: int = 0, mask_value: float = 0.0):
        self.iid_masks = iid_masks
        self.freq_mask_param = freq_mask_param
        self.mask_start = mask_start
        self.mask_value = mask_value

    def transform(self, array: np.ndarray) -> np.ndarray:
        return self._mask(array, self.freq_mask_param, "frequency_mask_param")


class TimeMasking(_Masking):
    """A stretch of time masked; `iid_masks` draws it anew for each example.

    Examples:
        >>> audio.TimeMasking(time_mask_param=1, mask_start=1)(np.ones((1, 2, 4), np.float32)).shape
        (1, 2, 4)
    """

    axis = 2

    @checked(iid_masks=boolean, time_mask_param=_mask_limit, mask_start=_mask_start, mask_value=non_negative_float32)
    def __init__(self, iid_masks: bool = False, time_mask_param: int = 0, mask_start: int = 0, mask_value: float = 0.0):
        self.iid_masks = iid_masks
        self.time_mask_param = time_mask_param
        self.mask_start = mask_start
        self.mask_value = mask_value

    def transform(self, array: np.ndarray) -> np.ndarray:
        return self._mask(array, self.time_mask_param, "time_mask_param")


__all__ = ["FrequencyMasking", "MaskAlongAxis", "MaskAlongAxisIID", "TimeMasking"]
