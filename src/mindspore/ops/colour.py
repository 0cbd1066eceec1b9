"""Colours: RGB and HSV, and adjustments of hue, saturation and contrast. Channels come last; values lie in [0, 1]."""

from __future__ import annotations

from typing import Any

from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import cast, require_tensor
from mindspore.prims import elementwise as ew
from mindspore.prims.arrays import Stack
from mindspore.prims.reduction import ReduceMax, ReduceMean, ReduceMin

__all__ = ["adjust_contrast", "adjust_hue", "adjust_saturation", "hsv_to_rgb", "rgb_to_hsv"]


def _channels(op: str, images: Tensor) -> tuple[Any, Any, Any]:
    if require_tensor(op, "images", images).ndim < 1 or images.shape[-1] != 3:
        raise ValueError(f"For '{op}', the last dimension of 'images' must be 3, but the shape is {images.shape}.")
    return images[..., 0], images[..., 1], images[..., 2]


def rgb_to_hsv(images: Any) -> Tensor:
    """Hue, saturation and value, each in [0, 1]."""
    red, green, blue = _channels("RGBToHSV", images)
    value, low = ReduceMax()(images, -1), ReduceMin()(images, -1)
    spread = value - low
    some = ew.Greater()(spread, 0.0)
    divisor = ew.Select()(some, spread, ew.OnesLike()(spread)) * 6.0
    by_blue = (red - green) / divisor + 4 / 6
    by_green = ew.Select()(ew.Equal()(value, green), (blue - red) / divisor + 2 / 6, by_blue)
    hue = ew.Select()(ew.Equal()(value, red), (green - blue) / divisor, by_green)
    hue = ew.Select()(some, hue, ew.ZerosLike()(hue))
    hue = ew.Select()(ew.Less()(hue, 0.0), hue + 1.0, hue)
    bright = ew.Greater()(value, 0.0)
    saturation = ew.Select()(bright, spread / ew.Select()(bright, value, ew.OnesLike()(value)), ew.ZerosLike()(value))
    return Stack(-1)([hue, saturation, value])


def hsv_to_rgb(images: Any) -> Tensor:
    """Red, green and blue of hue, saturation and value."""
    hue, saturation, value = _channels("HSVToRGB", images)
    ramps = ((hue * 6.0, 3.0, -1.0, 1.0), (hue * 6.0, 2.0, 2.0, -1.0), (hue * 6.0, 4.0, 2.0, -1.0))
    out = []
    for position, centre, offset, sign in ramps:
        share = ew.Abs()(position - centre) * sign + offset
        share = ew.Minimum()(ew.Maximum()(share, 0.0), 1.0)
        out.append(((share - 1.0) * saturation + 1.0) * value)
    return Stack(-1)(out)


def adjust_hue(images: Tensor, delta: Any) -> Tensor:
    """Turn the hue by `delta`, a share of the whole circle."""
    hue, saturation, value = _channels("AdjustHue", rgb_to_hsv(images))
    turned = hue + cast(delta, images.dtype) if isinstance(delta, Tensor) else hue + delta
    return hsv_to_rgb(Stack(-1)([turned - ew.Floor()(turned), saturation, value]))


def adjust_saturation(images: Tensor, scale: Any) -> Tensor:
    """Multiply the saturation, up to 1."""
    hue, saturation, value = _channels("AdjustSaturation", rgb_to_hsv(images))
    factor = cast(scale, images.dtype) if isinstance(scale, Tensor) else scale
    scaled = ew.Minimum()(ew.Maximum()(saturation * factor, 0.0), 1.0)
    return hsv_to_rgb(Stack(-1)([hue, scaled, value]))


def adjust_contrast(images: Tensor, contrast_factor: Any) -> Tensor:
    """Move the values of (…, height, width, channels) away from their mean, or towards it."""
    mean = ReduceMean(True)(images, (-3, -2))
    factor = cast(contrast_factor, images.dtype) if isinstance(contrast_factor, Tensor) else contrast_factor
    return (images - mean) * factor + mean
