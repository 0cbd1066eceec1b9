"""What colour pixels have: brightness, contrast, saturation, hue, gamma, sharpness, histograms."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..image_transform import check_channels, is_pil
from .geometry import cv_done, cv_ready, opencv, pillow

Image = Any  # a NumPy array in HWC or HW layout, or a PIL image


def saturate(values: Any, dtype: np.dtype) -> Any:
    """Round and clip to an integer type; a float type is converted only."""
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return np.clip(np.rint(values), limits.min, limits.max).astype(dtype)
    return values.astype(dtype, copy=False)


def _enhance(image: Any, kind: str, factor: float) -> Any:
    return getattr(pillow("ImageEnhance"), kind)(image).enhance(factor)


def adjust_brightness(image: Image, factor: float) -> Image:
    if is_pil(image):
        return _enhance(image, "Brightness", factor)
    check_channels(image, "AdjustBrightness")
    if image.dtype == np.uint8:
        return cv_done(opencv().convertScaleAbs(image, alpha=factor), image, image.dtype)
    return saturate(image * np.float32(factor), image.dtype)


def _grey(image: np.ndarray, op: str) -> np.ndarray:
    if image.dtype.name not in ("uint8", "uint16", "float32"):
        raise RuntimeError(
            f"{op}: the data type of image tensor does not match the requirement of operator. "
            f"Expecting tensor in type of (uint8, uint16, float32). But got type {image.dtype}."
        )
    return opencv().cvtColor(image, opencv().COLOR_RGB2GRAY)


def adjust_contrast(image: Image, factor: float) -> Image:
    """Between uniform grey of the image's mean (0), the image itself (1) and more contrast."""
    if is_pil(image):
        return _enhance(image, "Contrast", factor)
    check_channels(image, "AdjustContrast", (3,), (3,))
    mean = saturate(_grey(image, "AdjustContrast").mean(dtype=np.float64), image.dtype)
    return opencv().addWeighted(image, factor, image, 0.0, float(mean) * (1.0 - factor))


def adjust_saturation(image: Image, factor: float) -> Image:
    """Between grey (0), the image itself (1) and stronger colours."""
    if is_pil(image):
        return _enhance(image, "Color", factor)
    check_channels(image, "AdjustSaturation", (3,), (3,))
    cv2 = opencv()
    grey = cv2.cvtColor(_grey(image, "AdjustSaturation"), cv2.COLOR_GRAY2RGB)
    return cv2.addWeighted(grey, 1.0 - factor, image, factor, 0.0)


def adjust_hue(image: Image, factor: float) -> Image:
    """Shift the hue by a part of the colour circle, -0.5 … 0.5."""
    step = np.uint8(int(factor * 255) % 256)
    if is_pil(image):
        return _adjust_hue_pil(image, step)
    check_channels(image, "AdjustHue", (3,), (3,))
    cv2 = opencv()
    if image.dtype.kind == "f":
        hsv = cv2.cvtColor(image.astype(np.float32), cv2.COLOR_RGB2HSV)
        hsv[:, :, 0] = (hsv[:, :, 0] + 360 * factor) % 360
        return cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB).astype(image.dtype)
    if image.dtype != np.uint8:
        raise RuntimeError(
            "AdjustHue: the data type of image tensor does not match the requirement of operator. "
            f"Expecting tensor in type of (uint8, float32). But got type {image.dtype}."
        )
    hsv = cv2.cvtColor(image, cv2.COLOR_RGB2HSV_FULL)
    hsv[:, :, 0] += step
    return cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB_FULL)


def _adjust_hue_pil(image: Any, step: np.uint8) -> Any:
    if image.mode in ("L", "1", "I", "F"):
        return image
    hsv = np.array(image.convert("HSV"))
    hsv[:, :, 0] += step
    return pillow().fromarray(hsv, "HSV").convert(image.mode)


def adjust_gamma(image: Image, gamma: float, gain: float) -> Image:
    """`gain * pixel ** gamma` on the scale 0 … 1."""
    table = np.minimum((np.arange(256) / 255.0) ** gamma * (256 - 1e-3) * gain, 255.0).astype(np.int64)
    if is_pil(image):
        return image.point((table.tolist()) * len(image.getbands()))
    if (1 if image.ndim == 2 else image.shape[-1]) not in (1, 3):
        raise RuntimeError(f"AdjustGamma: channel of input image should be 1 or 3, but got: {image.shape[-1]}")
    if image.dtype.kind == "f":
        return np.clip((image * gain) ** gamma, 0.0, 1.0).astype(image.dtype)
    return table.astype(np.uint8)[np.clip(image, 0, 255).astype(np.uint8)].astype(image.dtype)


def adjust_sharpness(image: Image, factor: float) -> Image:
    """Between a smoothed image (0), the image itself (1) and an over-sharp one."""
    if is_pil(image):
        return _enhance(image, "Sharpness", factor)
    cv2 = opencv()
    ready, dtype = cv_ready(image)
    kernel = np.ones((3, 3), np.float32) / np.float32(13.0)
    kernel[1, 1] = np.float32(5.0 / 13.0)
    smooth = cv2.filter2D(ready, -1, kernel)
    flat = ready if smooth.ndim == ready.ndim else ready[:, :, 0]
    smooth[[0, -1]] = flat[[0, -1]]  # the filter has no neighbours there
    smooth[:, [0, -1]] = flat[:, [0, -1]]
    return cv_done(cv2.addWeighted(flat, factor, smooth, 1.0 - factor, 0.0), image, dtype)


# ---------------------------------------------------------------------------------------------------------------------
# Histograms and tables


def _per_channel(image: np.ndarray, function: Any) -> np.ndarray:
    if image.ndim == 2:
        return function(image)
    planes = [function(np.ascontiguousarray(image[:, :, i])) for i in range(image.shape[2])]
    return np.stack(planes, axis=2)


def _check_histogram_image(image: np.ndarray, op: str) -> None:
    if image.ndim not in (2, 3):
        raise RuntimeError(f"{op}: image rank should be 2 or 3,  but got: {image.ndim}")
    channels = 1 if image.ndim == 2 else image.shape[2]
    if channels not in (1, 3):
        raise RuntimeError(f"{op}: channel of input image should be 1 or 3, but got: {channels}")
    if image.dtype != np.uint8:
        raise RuntimeError(f"{op}: data type of input image should be uint8, but got {image.dtype}")


def check_rgb(image: np.ndarray, op: str) -> None:
    if image.ndim != 3:
        raise RuntimeError(f"{op}: input tensor is not in shape of <H,W,C>, but got rank: {image.ndim}")
    if image.shape[2] != 3:
        raise RuntimeError(f"{op}: the number of channels of input tensor is not 3, but got: {image.shape[2]}")


def equalize(image: Image) -> Image:
    """Spread the grey levels so that their histogram is as flat as possible."""
    if is_pil(image):
        return pillow("ImageOps").equalize(image)
    _check_histogram_image(image, "Equalize")
    return _per_channel(image, opencv().equalizeHist)


def auto_contrast(image: Image, cutoff: float, ignore: Any) -> Image:
    """Stretch each channel so that its darkest and lightest pixels (less `cutoff` per cent) become 0 and 255."""
    if is_pil(image):
        return pillow("ImageOps").autocontrast(image, cutoff, list(ignore) or None)
    _check_histogram_image(image, "AutoContrast")
    return _per_channel(image, lambda plane: _contrast_table(plane, cutoff, ignore)[plane])


def _contrast_table(plane: np.ndarray, cutoff: float, ignore: Any) -> np.ndarray:
    counts = np.bincount(plane.reshape(-1), minlength=256)
    counts[list(ignore)] = 0
    cut = int(counts.sum() * np.float32(cutoff) / 100.0)
    low = _first_above(counts, cut)
    high = 255 - _first_above(counts[::-1], cut)
    if high <= low:
        return np.arange(256, dtype=np.uint8)
    scale = np.float32(255.0) / np.float32(high - low)
    stretched = np.arange(256, dtype=np.float32) * scale - np.float32(low) * scale
    return np.clip(stretched.astype(np.int32), 0, 255).astype(np.uint8)


def _first_above(counts: np.ndarray, cut: int) -> int:
    """The first level left when `cut` pixels are taken away from the start of the histogram."""
    above = np.flatnonzero(np.cumsum(counts) > cut)
    return int(above[0]) if above.size else 255


def invert(image: Image) -> Image:
    if is_pil(image):
        return pillow("ImageOps").invert(image)
    check_rgb(image, "Invert")
    if image.dtype == np.uint8:
        return opencv().bitwise_not(image).reshape(image.shape)
    return saturate(255.0 - image, image.dtype)


def posterize(image: Image, bits: int) -> Image:
    """Keep the given number of high bits of each pixel."""
    if is_pil(image):
        return pillow("ImageOps").posterize(image, bits)
    if image.ndim not in (2, 3):
        raise RuntimeError(f"Posterize: input image is not in shape of <H,W,C> or <H,W>, but got rank: {image.ndim}")
    if image.dtype not in (np.uint8, np.int8):
        raise RuntimeError(f"Posterize: data type of input image should be int8 or uint8, but got {image.dtype}")
    mask = np.uint8((0xFF << (8 - bits)) & 0xFF)
    return (image.view(np.uint8) & mask).view(image.dtype)


def solarize(image: Image, low: float, high: float) -> Image:
    """Invert the pixels in [low, high], or those from `low` on when the two are equal."""
    if is_pil(image):
        return pillow("ImageOps").solarize(image, low)
    check_channels(image, "Solarize")
    inside = image >= low if low == high else (image >= low) & (image <= high)
    return np.where(inside, saturate(255.0 - image.astype(np.float32), image.dtype), image)


def gaussian_blur(image: np.ndarray, kernel: tuple[int, int], sigma: tuple[float, float]) -> np.ndarray:
    ready, dtype = cv_ready(image)
    blurred = opencv().GaussianBlur(ready, kernel, sigmaX=sigma[0], sigmaY=sigma[1])
    return cv_done(blurred, image, dtype)


_LIGHTING = np.array(  # principal components of ImageNet's colours, scaled by their standard deviations
    [
        [55.46 * -0.5675, 4.794 * 0.7192, 1.148 * 0.4009],
        [55.46 * -0.5808, 4.794 * -0.0045, 1.148 * -0.8140],
        [55.46 * -0.5836, 4.794 * -0.6948, 1.148 * 0.4203],
    ]
)


def add_lighting(image: Image, weights: np.ndarray) -> Image:
    """Add the principal colour components with the given weights (AlexNet's colour noise)."""
    shift = _LIGHTING @ weights
    if is_pil(image):
        pixels = np.asarray(image.convert("RGB"), np.float64) + shift
        return pillow().fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
    if image.ndim != 3 or image.shape[2] != 3:
        raise RuntimeError(
            "RandomLighting: input tensor is not in shape of <H,W,C> or channel is not 3, "
            f"got rank: {image.ndim}, and channel: {image.shape[-1]}"
        )
    return saturate(image.astype(np.float32) + shift.astype(np.float32), image.dtype)


def grayscale(image: Any, channels: int) -> Any:
    grey = image.convert("L")
    return grey if channels == 1 else pillow().merge("RGB", (grey,) * 3)
