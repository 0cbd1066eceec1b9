"""Transforms as functions, for scripts written against `py_transforms_util`."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.dataset.vision.colour import HsvToRgb, RgbToHsv
from mindspore.dataset.vision.crop import RandomCrop
from mindspore.dataset.vision.decode import ToPIL
from mindspore.dataset.vision.enums import Border
from mindspore.dataset.vision.layout import HWC2CHW, Normalize, ToTensor, ToType


def hwc_to_chw(img: np.ndarray) -> np.ndarray:
    return HWC2CHW()(img)


def to_tensor(img: Any, output_type: Any = np.float32) -> np.ndarray:
    return ToTensor(output_type)(img)


def to_type(img: np.ndarray, output_type: Any) -> np.ndarray:
    return ToType(output_type)(img)


def to_pil(img: Any) -> Any:
    return ToPIL()(img)


def normalize(img: np.ndarray, mean: Any, std: Any) -> np.ndarray:
    """(img - mean) / std of a CHW array."""
    return Normalize(list(mean), list(std), is_hwc=False)(img)


def random_crop(
    img: Any, size: Any, padding: Any, pad_if_needed: bool, fill_value: Any, padding_mode: Border | str
) -> Any:
    return RandomCrop(size, padding, pad_if_needed, fill_value, Border(padding_mode))(img)


def rgb_to_hsvs(np_rgb_imgs: np.ndarray, is_hwc: bool) -> np.ndarray:
    return RgbToHsv(is_hwc)(np_rgb_imgs)


def hsv_to_rgbs(np_hsv_imgs: np.ndarray, is_hwc: bool) -> np.ndarray:
    return HsvToRgb(is_hwc)(np_hsv_imgs)
