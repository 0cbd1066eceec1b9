"""Layers for images: rearrangement, cropping, gradients and measures of similarity."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.nn import checks
from mindspore.nn.cell import Cell
from mindspore.nn.containers import CellList
from mindspore.nn.layer.conv import Conv2d
from mindspore.prims.conv import Conv2D

__all__ = ["MSSSIM", "PSNR", "SSIM", "CentralCrop", "ImageGradients", "PixelShuffle", "PixelUnshuffle"]


class PixelShuffle(Cell):
    """(*, C r², H, W) to (*, C, H r, W r).

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.PixelShuffle(2)(Tensor(np.ones((1, 4, 3, 3), np.float32))).shape
        (1, 1, 6, 6)
    """

    def __init__(self, upscale_factor: int):
        super().__init__()
        self.upscale_factor = checks.positive_int("PixelShuffle", "upscale_factor", upscale_factor)

    def construct(self, input: Tensor) -> Any:
        return ops.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Cell):
    """(*, C, H r, W r) to (*, C r², H, W).

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.PixelUnshuffle(2)(Tensor(np.ones((1, 2, 6, 6), np.float32))).shape
        (1, 8, 3, 3)
    """

    def __init__(self, downscale_factor: int):
        super().__init__()
        self.downscale_factor = checks.positive_int("PixelUnshuffle", "downscale_factor", downscale_factor)

    def construct(self, input: Tensor) -> Any:
        return ops.pixel_unshuffle(input, self.downscale_factor)


class ImageGradients(Cell):
    """Differences of neighbouring pixels of (N, C, H, W), down and to the right, with a zero row and column at the end.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> dy, dx = nn.ImageGradients()(Tensor(np.ones((1, 2, 6, 6), np.float32)))
        >>> dy.shape, dx.shape
        ((1, 2, 6, 6), (1, 2, 6, 6))
    """

    def construct(self, images: Any) -> Any:
        checks.rank("ImageGradients", images, 4)
        dy = ops.pad(images[:, :, 1:, :] - images[:, :, :-1, :], (0, 0, 0, 1))
        dx = ops.pad(images[:, :, :, 1:] - images[:, :, :, :-1], (0, 1, 0, 0))
        return dy, dx


class CentralCrop(Cell):
    """The central part of (C, H, W) or (N, C, H, W) images.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.CentralCrop(0.5)(Tensor(np.ones((3, 8, 8), np.float32))).shape
        (3, 4, 4)
    """

    def __init__(self, central_fraction: float):
        super().__init__()
        self.central_fraction = checks.fraction("CentralCrop", "central_fraction", central_fraction, low=False)

    def construct(self, image: Any) -> Any:
        checks.rank("CentralCrop", image, 3, 4)
        if self.central_fraction == 1.0:
            return image
        return central_crop(image, self.central_fraction)


def central_crop(image: Any, fraction: float) -> Any:
    """Cut equal borders so that about `fraction` of height and width remain."""
    height, width = image.shape[-2:]
    top, left = int((height - height * fraction) / 2), int((width - width * fraction) / 2)
    return image[..., top : height - top, left : width - left]


def _as_float(image: Any, max_val: float) -> tuple[Any, float]:
    """Images as float32 with values up to 1."""
    peak = {mstype.uint8: 255.0, mstype.int8: 127.0, mstype.uint16: 65535.0, mstype.int16: 32767.0}.get(image.dtype)
    if peak is not None:
        return ops.cast(image, mstype.float32) / peak, max_val / peak
    return image, max_val


def _check_pair(owner: str, img1: Any, img2: Any) -> None:
    if img1.shape != img2.shape or img1.dtype is not img2.dtype:
        raise ValueError(
            f"For '{owner}', both images must have one shape and type, but got {img1.shape}, {img1.dtype} and "
            f"{img2.shape}, {img2.dtype}."
        )
    checks.rank(owner, img1, 4)


def _gaussian(size: int, sigma: float) -> Conv2d:
    """A convolution of one channel with a Gaussian filter, which belongs to a network's checkpoints."""
    at = np.arange(size) - (size - 1) / 2
    line = np.exp(-at * at / (2 * sigma * sigma))
    plane = np.outer(line, line)
    weight = Tensor((plane / plane.sum()).astype(np.float32).reshape(1, 1, size, size))
    conv = Conv2d(1, 1, size, weight_init=weight, padding=0, pad_mode="valid")
    conv.weight.requires_grad = False
    return conv


class _Similarity(Cell):
    def __init__(self, max_val: float, filter_size: int, filter_sigma: float, k1: float, k2: float):
        super().__init__()
        owner = type(self).__name__
        self.max_val = checks.positive(owner, "max_val", max_val)
        self.filter_size = checks.positive_int(owner, "filter_size", filter_size)
        self.filter_sigma = checks.positive(owner, "filter_sigma", filter_sigma)
        self.k1, self.k2 = checks.positive(owner, "k1", k1), checks.positive(owner, "k2", k2)

    def measure(self, conv: Any, x: Any, y: Any, max_val: float) -> tuple[Any, Any]:
        """Structural similarity and its contrast part, per channel (N, C) (Wang et al. 2004)."""
        channels = x.shape[1]
        if min(x.shape[2:]) < self.filter_size:
            raise ValueError(f"For '{type(self).__name__}', the image {x.shape} is smaller than the filter.")
        kernel = ops.tile(ops.cast(conv.weight, x.dtype), (channels, 1, 1, 1))
        blur = Conv2D(channels, self.filter_size, 1, "valid", 0, 1, 1, channels)
        mean_x, mean_y = blur(x, kernel), blur(y, kernel)
        c1, c2 = (self.k1 * max_val) ** 2, (self.k2 * max_val) ** 2
        luminance = (2.0 * mean_x * mean_y + c1) / (mean_x * mean_x + mean_y * mean_y + c1)
        covariance = blur(x * y, kernel) - mean_x * mean_y
        spread = blur(x * x, kernel) + blur(y * y, kernel) - mean_x * mean_x - mean_y * mean_y
        contrast = (2.0 * covariance + c2) / (spread + c2)
        return ops.ReduceMean()(luminance * contrast, (2, 3)), ops.ReduceMean()(contrast, (2, 3))


class SSIM(_Similarity):
    """Structural similarity of (N, C, H, W) images (Wang et al. 2004).

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.SSIM()(Tensor(np.ones((1, 1, 16, 16), np.float32)), Tensor(np.ones((1, 1, 16, 16), np.float32))).shape
        (1,)
    """

    def __init__(
        self, max_val: float = 1.0, filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03
    ):
        super().__init__(max_val, filter_size, filter_sigma, k1, k2)
        self.conv = _gaussian(filter_size, filter_sigma)

    def construct(self, img1: Any, img2: Any) -> Any:
        return self.compare(img1, img2)

    def compare(self, img1: Any, img2: Any) -> Any:
        """The similarity of each pair of images."""
        _check_pair("SSIM", img1, img2)
        x, peak = _as_float(img1, self.max_val)
        y, _ = _as_float(img2, self.max_val)
        return ops.ReduceMean()(self.measure(self.conv, x, y, peak)[0], -1)


class MSSSIM(_Similarity):
    """Structural similarity over several scales, each half the size of the one before (Wang et al. 2003).

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.MSSSIM()(Tensor(np.ones((1, 1, 192, 192), np.float32)), Tensor(np.ones((1, 1, 192, 192), np.float32))).shape
        (1,)
    """

    def __init__(
        self, max_val: float = 1.0, power_factors: Any = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333),
        filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03,
    ):  # fmt: skip
        super().__init__(max_val, filter_size, filter_sigma, k1, k2)
        if not isinstance(power_factors, (tuple, list)):
            raise TypeError(f"For 'MSSSIM', 'power_factors' must be a tuple or list, but got {power_factors!r}.")
        self.power_factors = tuple(power_factors)
        self.multi_convs_list = CellList([_gaussian(filter_size, filter_sigma) for _ in self.power_factors])

    def construct(self, img1: Any, img2: Any) -> Any:
        return self.compare(img1, img2)

    def compare(self, img1: Any, img2: Any) -> Any:
        """The similarity of each pair of images."""
        _check_pair("MSSSIM", img1, img2)
        x, peak = _as_float(img1, self.max_val)
        y, _ = _as_float(img2, self.max_val)
        total = None
        for scale, power in enumerate(self.power_factors):
            if scale:
                x, y = ops.avg_pool2d(x, 2, 2), ops.avg_pool2d(y, 2, 2)
            whole, contrast = self.measure(self.multi_convs_list[scale], x, y, peak)
            part = whole if scale == len(self.power_factors) - 1 else contrast
            factor = ops.pow(ops.relu(part), power)
            total = factor if total is None else total * factor
        return ops.ReduceMean()(total, -1)


class PSNR(Cell):
    """Peak signal-to-noise ratio of (N, C, H, W) images, in decibels.

    Examples:
        >>> import numpy as np
        >>> from mindspore import Tensor, nn
        >>> nn.PSNR()(Tensor(np.ones((1, 1, 2, 2), np.float32)), Tensor(np.zeros((1, 1, 2, 2), np.float32))).item()
        0.0
    """

    def __init__(self, max_val: float = 1.0):
        super().__init__()
        self.max_val = checks.positive("PSNR", "max_val", max_val)

    def construct(self, img1: Any, img2: Any) -> Any:
        _check_pair("PSNR", img1, img2)
        x, peak = _as_float(img1, self.max_val)
        y, _ = _as_float(img2, self.max_val)
        error = ops.ReduceMean()(ops.square(x - y), (-3, -2, -1))
        return 10.0 * ops.log(peak * peak / error) / float(np.log(10.0))
