"""Fixed changes of colour."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from ..transforms.checks import (
    FLOAT_MAX_INTEGER,
    boolean,
    check_range,
    check_type,
    checked,
    each,
    integer,
    of_type,
    optional,
    real,
)
from ..transforms.transform import Transform
from .enums import ConvertMode
from .functional import colour
from .functional.geometry import opencv
from .image_transform import DeviceImageTransform, ImageTransform

_factor = real(0, FLOAT_MAX_INTEGER)
_unnamed_factor = real(0, FLOAT_MAX_INTEGER, label="")


class AdjustBrightness(DeviceImageTransform):
    """Pixels times a factor.

    Examples:
        >>> import numpy as np
        >>> import mindspore.dataset.vision as vision
        >>> vision.AdjustBrightness(2.0)(np.full((1, 1, 3), 60, np.uint8)).tolist()
        [[[120, 120, 120]]]
    """

    @checked(brightness_factor=_factor)
    def __init__(self, brightness_factor: float):
        self.brightness_factor = brightness_factor

    def transform(self, image: Any) -> Any:
        return colour.adjust_brightness(image, self.brightness_factor)


class AdjustContrast(DeviceImageTransform):
    """From uniform grey (0) over the image itself (1) to stronger contrast.

    Examples:
        >>> vision.AdjustContrast(0.0)(np.array([[[0, 0, 0], [100, 100, 100]]], np.uint8)).tolist()
        [[[50, 50, 50], [50, 50, 50]]]
    """

    @checked(contrast_factor=_factor)
    def __init__(self, contrast_factor: float):
        self.contrast_factor = contrast_factor

    def transform(self, image: Any) -> Any:
        return colour.adjust_contrast(image, self.contrast_factor)


class AdjustGamma(ImageTransform):
    """`gain * pixel ** gamma` on the scale 0 … 1.

    Examples:
        >>> vision.AdjustGamma(1.0)(np.full((1, 1, 3), 60, np.uint8)).tolist()
        [[[60, 60, 60]]]
    """

    @checked(gamma=_unnamed_factor, gain=optional(real(-FLOAT_MAX_INTEGER, FLOAT_MAX_INTEGER, label="")))
    def __init__(self, gamma: float, gain: float = 1):
        self.gamma = gamma
        self.gain = gain

    def transform(self, image: Any) -> Any:
        return colour.adjust_gamma(image, self.gamma, self.gain)


class AdjustHue(DeviceImageTransform):
    """The hue turned by a part of the colour circle, -0.5 … 0.5.

    Examples:
        >>> vision.AdjustHue(0.2)(np.array([[[255, 0, 0]]], np.uint8)).tolist()
        [[[204, 255, 0]]]
    """

    @checked(hue_factor=real(-0.5, 0.5))
    def __init__(self, hue_factor: float):
        self.hue_factor = hue_factor

    def transform(self, image: Any) -> Any:
        return colour.adjust_hue(image, self.hue_factor)


class AdjustSaturation(DeviceImageTransform):
    """From grey (0) over the image itself (1) to stronger colours.

    Examples:
        >>> vision.AdjustSaturation(1.0)(np.array([[[200, 40, 40]]], np.uint8)).tolist()
        [[[200, 40, 40]]]
    """

    @checked(saturation_factor=_unnamed_factor)
    def __init__(self, saturation_factor: float):
        self.saturation_factor = saturation_factor

    def transform(self, image: Any) -> Any:
        return colour.adjust_saturation(image, self.saturation_factor)


class AdjustSharpness(DeviceImageTransform):
    """From smooth (0) over the image itself (1) to sharper.

    Examples:
        >>> vision.AdjustSharpness(2.0)(np.full((4, 4, 3), 60, np.uint8)).shape
        (4, 4, 3)
    """

    keeps_pil = False

    @checked(sharpness_factor=_unnamed_factor)
    def __init__(self, sharpness_factor: float):
        self.sharpness_factor = sharpness_factor

    def transform(self, image: Any) -> Any:
        return colour.adjust_sharpness(image, self.sharpness_factor)


def ignored_levels(value: Any, name: str) -> None:
    check_type(value, (list, tuple, int), name)
    for level in [value] if isinstance(value, int) else value:
        check_type(level, (int,), "item")
        check_range(level, 0, 255, name)


def levels(ignore: Any) -> tuple[int, ...]:
    if ignore is None:
        return ()
    return (ignore,) if isinstance(ignore, int) else tuple(ignore)


class AutoContrast(DeviceImageTransform):
    """Each channel stretched to 0 … 255, leaving `cutoff` per cent of the extremes and the levels `ignore` aside.

    Examples:
        >>> vision.AutoContrast()(np.array([[[50], [100]]], np.uint8).repeat(3, 2))[0, :, 0].tolist()
        [0, 255]
    """

    @checked(cutoff=real(0, 50, right_open=True), ignore=optional(ignored_levels))
    def __init__(self, cutoff: float = 0.0, ignore: Any = None):
        self.cutoff = cutoff
        self.ignore = levels(ignore)

    def transform(self, image: Any) -> Any:
        return colour.auto_contrast(image, self.cutoff, self.ignore)


class Equalize(DeviceImageTransform):
    """Grey levels spread so that their histogram is as flat as possible.

    Examples:
        >>> vision.Equalize()(np.full((2, 2, 3), 60, np.uint8)).shape
        (2, 2, 3)
    """

    def transform(self, image: Any) -> Any:
        return colour.equalize(image)


class Invert(DeviceImageTransform):
    """255 minus each pixel.

    Examples:
        >>> vision.Invert()(np.full((1, 1, 3), 55, np.uint8)).tolist()
        [[[200, 200, 200]]]
    """

    def transform(self, image: Any) -> Any:
        return colour.invert(image)


class Posterize(DeviceImageTransform):
    """The given number of high bits of each pixel.

    Examples:
        >>> vision.Posterize(1)(np.array([[[100, 200, 255]]], np.uint8)).tolist()
        [[[0, 128, 128]]]
    """

    keeps_pil = False

    @checked(bits=integer(0, 8))
    def __init__(self, bits: int):
        self.bits = bits

    def transform(self, image: Any) -> Any:
        return colour.posterize(image, self.bits)


def _threshold(value: Any, name: str) -> None:
    check_type(value, (float, int, list, tuple), name)
    values = (value, value) if isinstance(value, (float, int)) else value
    each(float, int)(values, name)
    if len(values) != 2:
        raise TypeError(f"{name} must be a single number or sequence of two numbers.")
    for i, limit in enumerate(values):
        check_range(limit, 0, 255, f"{name}[{i}]")
    if values[1] < values[0]:
        raise ValueError(f"{name} must be in order of (min, max).")


class Solarize(DeviceImageTransform):
    """Pixels between two thresholds inverted (with one threshold: from it on).

    Examples:
        >>> vision.Solarize(128)(np.array([[[100, 200, 255]]], np.uint8)).tolist()
        [[[100, 55, 0]]]
    """

    keeps_pil = False

    @checked(threshold=_threshold)
    def __init__(self, threshold: Any):
        self.threshold = (threshold,) * 2 if isinstance(threshold, numbers.Number) else tuple(threshold)

    def transform(self, image: Any) -> Any:
        return colour.solarize(image, *self.threshold)


class Grayscale(ImageTransform):
    """A PIL image without colour, in one or three channels.

    Examples:
        >>> image = vision.ToPIL()(np.zeros((4, 6, 3), np.uint8))
        >>> vision.Grayscale(1)(image).mode
        'L'
    """

    pil_only = True
    json_module = "mindspore.dataset.vision.transforms"

    @checked(num_output_channels=of_type(int))
    def __init__(self, num_output_channels: int = 1):
        if num_output_channels not in (1, 3):
            raise ValueError(
                f"Number of channels of the output grayscale imageshould be either 1 or 3. Got {num_output_channels}."
            )
        self.num_output_channels = num_output_channels

    def transform(self, image: Any) -> Any:
        return colour.grayscale(image, self.num_output_channels)


def _kernel(value: Any, name: str) -> None:
    check_type(value, (int, list, tuple), name)
    if not isinstance(value, int) and len(value) != 2:
        raise TypeError(
            "Kernel size should be a single integer or a list/tuple (kernel_width, kernel_height) of length 2."
        )
    for i, width in enumerate([value] if isinstance(value, int) else value):
        label = name if isinstance(value, int) else f"{name}[{i}]"
        check_type(width, (int,), label)
        check_range(width, 1, FLOAT_MAX_INTEGER, name)
        if width % 2 != 1:
            raise ValueError(f"Input {label} is not an odd value.")


def _sigma(value: Any, name: str) -> None:
    check_type(value, (numbers.Number, list, tuple), name)
    if not isinstance(value, numbers.Number) and len(value) != 2:
        raise TypeError("Sigma should be a single number or a list/tuple of length 2 for width and height.")
    for i, width in enumerate([value] if isinstance(value, numbers.Number) else value):
        check_type(width, (numbers.Number,), f"size[{i}]")
        check_range(width, 0, FLOAT_MAX_INTEGER, name)


class GaussianBlur(DeviceImageTransform):
    """The image smoothed by a Gaussian; without `sigma` its width follows from the kernel size.

    Examples:
        >>> vision.GaussianBlur(3)(np.full((3, 3, 3), 60, np.uint8))[1, 1].tolist()
        [60, 60, 60]
    """

    keeps_pil = False

    @checked(kernel_size=_kernel, sigma=optional(_sigma))
    def __init__(self, kernel_size: Any, sigma: Any = None):
        self.kernel_size = (kernel_size,) if isinstance(kernel_size, int) else tuple(kernel_size)
        if sigma is None:
            sigma = 0.0
        self.sigma = (float(sigma),) if isinstance(sigma, (int, float)) else tuple(float(s) for s in sigma)

    def transform(self, image: Any) -> Any:
        kernel = (self.kernel_size[0], self.kernel_size[-1])
        usual = kernel[0] * 0.15 + 0.35
        sigma_x, sigma_y = (given if given > 0 else usual for given in (self.sigma[0], self.sigma[-1]))
        return colour.gaussian_blur(image, kernel, (sigma_x, sigma_y))

    @classmethod
    def from_json(cls, params: Any) -> Any:
        single = {key: params[key][0] for key in ("kernel_size", "sigma") if len(params[key]) == 1}
        return super().from_json({**params, **single})


_CV_CONVERSION = {
    ConvertMode.COLOR_BGR2BGRA: "BGR2BGRA",
    ConvertMode.COLOR_BGRA2BGR: "BGRA2BGR",
    ConvertMode.COLOR_BGR2RGBA: "BGR2RGBA",
    ConvertMode.COLOR_RGBA2BGR: "RGBA2BGR",
    ConvertMode.COLOR_BGR2RGB: "BGR2RGB",
    ConvertMode.COLOR_BGRA2RGBA: "BGRA2RGBA",
    ConvertMode.COLOR_BGR2GRAY: "BGR2GRAY",
    ConvertMode.COLOR_RGB2GRAY: "RGB2GRAY",
    ConvertMode.COLOR_GRAY2BGR: "GRAY2BGR",
    ConvertMode.COLOR_GRAY2BGRA: "GRAY2BGRA",
    ConvertMode.COLOR_BGRA2GRAY: "BGRA2GRAY",
    ConvertMode.COLOR_RGBA2GRAY: "RGBA2GRAY",
}


class ConvertColor(DeviceImageTransform):
    """Another order or number of channels.

    Examples:
        >>> vision.ConvertColor(vision.ConvertMode.COLOR_RGB2BGR)(np.array([[[1, 2, 3]]], np.uint8)).tolist()
        [[[3, 2, 1]]]
    """

    keeps_pil = False

    @checked(convert_mode=of_type(ConvertMode))
    def __init__(self, convert_mode: ConvertMode):
        self.convert_mode = convert_mode

    def transform(self, image: np.ndarray) -> np.ndarray:
        cv2 = opencv()
        try:
            return cv2.cvtColor(image, getattr(cv2, f"COLOR_{_CV_CONVERSION[self.convert_mode]}"))
        except cv2.error as error:
            raise RuntimeError(
                f"ConvertColor: {self.convert_mode.name} does not fit an image of shape {image.shape} "
                f"and type {image.dtype}."
            ) from error

    @classmethod
    def from_json(cls, params: Any) -> Any:
        return cls(ConvertMode(params["convert_mode"]))


# ---------------------------------------------------------------------------------------------------------------------
# HSV


class _HsvConversion(Transform):
    releases_gil = True
    convert: Any  # a function of three planes
    json_module = "mindspore.dataset.vision.transforms"

    @checked(is_hwc=boolean)
    def __init__(self, is_hwc: bool = False):
        self.is_hwc = is_hwc

    def apply(self, img: Any) -> np.ndarray:
        if not isinstance(img, np.ndarray):
            raise TypeError(f"img should be NumPy image. Got {type(img)}.")
        if img.ndim not in (3, 4):
            raise TypeError(f"img shape should be (H, W, C)/(N, H, W, C)/(C ,H, W)/(N, C, H, W). Got {img.shape}.")
        axis = -1 if self.is_hwc else -3
        if img.shape[axis] != 3:
            raise TypeError(f"img should be 3 channels RGB img. Got {img.shape[axis]} channels.")
        planes = self.convert(*np.moveaxis(img.astype(np.float64), axis, 0))
        return np.stack(planes, axis=axis)


class RgbToHsv(_HsvConversion):
    """RGB to hue, saturation (0 … 1) and value, as `colorsys` defines them.

    Examples:
        >>> vision.RgbToHsv(is_hwc=True)(np.array([[[1.0, 0.0, 0.0]]])).tolist()
        [[[0.0, 1.0, 1.0]]]
    """

    @staticmethod
    def convert(r: np.ndarray, g: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, ...]:
        value, low = np.maximum(np.maximum(r, g), b), np.minimum(np.minimum(r, g), b)
        spread = value - low
        grey = spread == 0
        safe = np.where(grey, 1.0, spread)
        saturation = np.where(grey, 0.0, spread / np.where(value == 0, 1.0, value))
        red, green, blue = ((value - channel) / safe for channel in (r, g, b))
        hue = np.where(r == value, blue - green, np.where(g == value, 2.0 + red - blue, 4.0 + green - red))
        return np.where(grey, 0.0, (hue / 6.0) % 1.0), saturation, value


class HsvToRgb(_HsvConversion):
    """Hue, saturation and value to RGB, as `colorsys` defines them.

    Examples:
        >>> vision.HsvToRgb(is_hwc=True)(np.array([[[0.0, 1.0, 1.0]]])).tolist()
        [[[1.0, 0.0, 0.0]]]
    """

    @staticmethod
    def convert(h: np.ndarray, s: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
        sector = np.trunc(h * 6.0)
        fraction = h * 6.0 - sector
        p, q, t = v * (1.0 - s), v * (1.0 - s * fraction), v * (1.0 - s * (1.0 - fraction))
        which = sector.astype(np.int64) % 6
        channels = ([v, q, p, p, t, v], [t, v, v, q, p, p], [p, p, t, v, v, q])
        return tuple(np.where(s == 0.0, v, np.choose(which, options)) for options in channels)


class LinearTransformation(Transform):
    """`(image.flatten() - mean_vector) @ transformation_matrix`, in the image's shape (for whitening).

    Examples:
        >>> matrix, mean = np.eye(3, dtype=np.float32), np.ones(3, np.float32)
        >>> vision.LinearTransformation(matrix, mean)(np.full((3, 1, 1), 5.0, np.float32)).flatten().tolist()
        [4.0, 4.0, 4.0]
    """

    releases_gil = True
    json_module = "mindspore.dataset.vision.transforms"

    @checked(transformation_matrix=of_type(np.ndarray), mean_vector=of_type(np.ndarray))
    def __init__(self, transformation_matrix: np.ndarray, mean_vector: np.ndarray):
        rows, columns = transformation_matrix.shape[:2]
        if rows != columns:
            raise ValueError(
                f"transformation_matrix should be a square matrix. Got shape {transformation_matrix.shape} instead."
            )
        if mean_vector.shape[0] != rows:
            raise ValueError(
                f"mean_vector length {mean_vector.shape[0]} should match either one dimension of the square"
                f"transformation_matrix {transformation_matrix.shape}."
            )
        self.transformation_matrix = transformation_matrix
        self.mean_vector = mean_vector

    def apply(self, np_img: Any) -> np.ndarray:
        if not isinstance(np_img, np.ndarray):
            raise TypeError(f"img should be NumPy array. Got {type(np_img)}")
        if np_img.size != self.transformation_matrix.shape[0]:
            raise ValueError(
                f"transformation_matrix shape {self.transformation_matrix.shape} not compatible with "
                f"Numpy image shape {np_img.shape}."
            )
        centred = np_img.reshape(1, -1) - self.mean_vector
        return np.dot(centred, self.transformation_matrix).reshape(np_img.shape)

    @classmethod
    def from_json(cls, params: Any) -> Any:
        return cls(np.array(params["transformation_matrix"]), np.array(params["mean_vector"]))


__all__ = [
    "AdjustBrightness",
    "AdjustContrast",
    "AdjustGamma",
    "AdjustHue",
    "AdjustSaturation",
    "AdjustSharpness",
    "AutoContrast",
    "ConvertColor",
    "Equalize",
    "GaussianBlur",
    "Grayscale",
    "HsvToRgb",
    "Invert",
    "LinearTransformation",
    "Posterize",
    "RgbToHsv",
    "Solarize",
]
