"""Layout and value range: HWC to CHW, rescale, normalise, to tensor. All of these also work on whole batches."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from ..._base.dtype import float32
from ..transforms.array import TypeCast, check_data_type, numpy_type
from ..transforms.checks import boolean, check_range, check_type, checked
from ..transforms.checks import float32 as float32_number
from ..transforms.transform import DeviceTransform, Transform, on_each, to_plain
from .image_transform import image_array, is_pil


class _PixelTransform(Transform):
    """Base: `convert(array, rank)` works on one image of that rank, or on any number of them along leading axes."""

    releases_gil = True
    pixelwise = True  # each value of the result depends on one value and its channel alone

    def convert(self, array: np.ndarray, rank: int) -> np.ndarray:
        raise NotImplementedError

    def apply(self, column: Any) -> np.ndarray:
        array = image_array(column, self.json_name)
        if array.dtype.kind in "US" and not isinstance(self, ToTensor):  # which has words of its own for it
            raise RuntimeError(f"{self.json_name}: pixels are numbers, but got an array of strings.")
        return self.convert(array, array.ndim)

    def batched(self, *batches: np.ndarray) -> Any:
        return on_each(lambda batch: self.convert(batch, batch.ndim - 1), batches)


def _any_number(value: Any, name: str) -> None:
    check_type(value, (numbers.Number,), name)
    float32_number(value, name)


class HWC2CHW(_PixelTransform):
    """The channel axis moved to the front; an image without channels stays as it is.

    Examples:
        >>> import numpy as np
        >>> import mindspore.dataset.vision as vision
        >>> vision.HWC2CHW()(np.zeros((4, 5, 3))).shape
        (3, 4, 5)
    """

    json_name = "HwcToChw"

    def convert(self, array: np.ndarray, rank: int) -> np.ndarray:
        if rank == 2:
            return array
        if rank != 3:
            raise RuntimeError(f"HWC2CHW: image shape should be <H,W> or <H,W,C>, but got rank: {rank}")
        return np.ascontiguousarray(np.moveaxis(array, -1, -3))


class Rescale(_PixelTransform):
    """`pixel * rescale + shift`, as float32.

    Examples:
        >>> vision.Rescale(1 / 255, 0.0)(np.full((1, 1, 3), 255, np.uint8)).tolist()
        [[[1.0, 1.0, 1.0]]]
    """

    @checked(rescale=_any_number, shift=_any_number)
    def __init__(self, rescale: float, shift: float):
        self.rescale = rescale
        self.shift = shift

    def apply(self, column: Any) -> np.ndarray:
        if isinstance(column, (str, bytes, int, float, list, tuple)):
            raise TypeError(f"Input should be NumPy or PIL image, got {type(column)}.")
        return super().apply(column)

    def convert(self, array: np.ndarray, rank: int) -> np.ndarray:
        if array.dtype.kind in "USO":
            raise RuntimeError("Rescale: input tensor type should be numeric, but got string.")
        if array.dtype.itemsize > 4:
            return array.astype(np.float32) * np.float32(self.rescale) + np.float32(self.shift)
        wide = array.astype(np.float64)  # products of float32 are exact in it: rounded once, as a fused multiply-add does
        wide *= np.float32(self.rescale)
        wide += np.float32(self.shift)
        return wide.astype(np.float32)


def _statistics(arguments: dict) -> None:
    mean, std = arguments["mean"], arguments["std"]
    check_type(mean, (list, tuple), "mean")
    check_type(std, (list, tuple), "std")
    if len(mean) != len(std):
        raise ValueError("Length of mean and std must be equal.")
    for i, value in enumerate(mean):
        check_type(value, (int, float), f"mean[{i}]")
        check_range(value, 0, 255, f"mean[{i}]")
    for i, value in enumerate(std):
        check_type(value, (int, float), f"std[{i}]")
        check_range(value, 0, 255, f"std[{i}]", left_open=True)


class Normalize(DeviceTransform, _PixelTransform):
    """`(pixel - mean) / std` per channel, as float32; `is_hwc` says where the channels are.

    Examples:
        >>> import numpy as np
        >>> import mindspore.dataset.vision as vision
        >>> vision.Normalize(mean=[1.0], std=[2.0])(np.full((1, 1, 1), 5, np.uint8)).item()
        2.0
    """

    @checked(_statistics, is_hwc=boolean)
    def __init__(self, mean: Any, std: Any, is_hwc: bool = True):
        self.mean = tuple(float(value) for value in mean)
        self.std = tuple(float(value) for value in std)
        self.is_hwc = is_hwc

    def convert(self, array: np.ndarray, rank: int) -> np.ndarray:
        if rank < 2:
            raise RuntimeError(f"Normalize: input tensor should have at least 2 dimensions, but got: {rank}")
        if not array.size:
            raise RuntimeError(f"Normalize: input tensor is empty, its shape is {array.shape}.")
        if array.dtype.kind in "USO":
            raise RuntimeError("Normalize: input tensor type should be numeric, but got string.")
        if rank == 2:
            return self.normalize(np.expand_dims(array, self._channel_axis)).reshape(array.shape)
        return self.normalize(array)

    @property
    def _channel_axis(self) -> int:
        return -1 if self.is_hwc else -3

    def normalize(self, array: np.ndarray) -> np.ndarray:
        channels = array.shape[self._channel_axis]
        if len(self.mean) not in (1, channels):
            raise RuntimeError(
                f"{self.json_name}: number of channels does not match the size of mean and std vectors, "
                f"got channels: {channels}, size of mean: {len(self.mean)}"
            )
        mean, std = (np.broadcast_to(np.array(values, np.float32), channels) for values in (self.mean, self.std))
        result = array.astype(np.float32, order="C")
        if self.is_hwc:  # whole rows at a time: a loop over three channels would be mostly overhead
            rows = result.reshape(*result.shape[:-2], -1)
            mean, std = np.tile(mean, result.shape[-2]), np.tile(std, result.shape[-2])
        else:
            rows, mean, std = result, mean[:, None, None], std[:, None, None]
        rows -= mean
        rows /= std
        return result


class NormalizePad(Normalize):
    """`Normalize`, with a channel of zeros added at the end.

    Examples:
        >>> vision.NormalizePad([60.0] * 3, [10.0] * 3)(np.full((1, 1, 3), 80, np.uint8)).tolist()
        [[[2.0, 2.0, 2.0, 0.0]]]
    """

    pixelwise = False

    @checked(_statistics, is_hwc=boolean)
    def __init__(self, mean: Any, std: Any, dtype: str = "float32", is_hwc: bool = True):
        if not isinstance(dtype, str):
            raise TypeError("dtype should be string.")
        if dtype not in ("float32", "float16"):
            raise ValueError("dtype only supports float32 or float16.")
        super().__init__(mean, std, is_hwc)
        self.dtype = dtype

    def convert(self, array: np.ndarray, rank: int) -> np.ndarray:
        if rank not in (2, 3):
            raise RuntimeError(f"NormalizePad: input tensor is not in shape of <H,W> or <H,W,C>, but got rank: {rank}")
        if not array.size:
            raise RuntimeError(f"NormalizePad: input tensor is empty, its shape is {array.shape}.")
        axis = self._channel_axis
        normal = self.normalize(np.expand_dims(array, axis) if rank == 2 else array).astype(self.dtype)
        shape = list(normal.shape)
        shape[axis] = 1
        return np.concatenate([normal, np.zeros(shape, normal.dtype)], axis=axis)

    def to_json(self) -> tuple[str, dict[str, Any] | None]:
        return Transform.to_json(self)


class ToTensor(_PixelTransform):
    """HWC pixels 0 … 255 to CHW floats 0 … 1; an image without channels gets one.

    Examples:
        >>> out = vision.ToTensor()(np.full((2, 4, 3), 255, np.uint8))
        >>> out.shape, float(out.max())
        ((3, 2, 4), 1.0)
    """

    @checked(output_type=check_data_type)
    def __init__(self, output_type: Any = float32):
        self.output_type = output_type
        self._dtype = numpy_type(output_type)

    def convert(self, array: np.ndarray, rank: int) -> np.ndarray:
        if array.dtype.kind in "USO" or array.dtype.name in ("uint32", "int64", "uint64"):
            raise RuntimeError(
                "ToTensor: Input includes unsupported data type in [uint32, int64, uint64, string, bytes]."
            )
        if rank < 2:
            raise RuntimeError(f"ToTensor: rank of input data should be greater than: 2, but got:{rank}")
        if rank > 3:
            raise RuntimeError(f"ToTensor: image shape should be <H,W,C>, but got rank: {rank}")
        channels_first = np.moveaxis(array, -1, -3) if rank == 3 else np.expand_dims(array, -3)
        scaled = np.multiply(channels_first, np.float32(1 / 255), dtype=np.float32, order="C", casting="unsafe")
        return scaled if self._dtype == np.float32 else scaled.astype(self._dtype)

    def to_json(self) -> tuple[str, dict[str, Any] | None]:
        return self.json_name, {"output_type": to_plain(self._dtype)}

    @classmethod
    def from_json(cls, params: Any) -> Any:
        return cls(np.dtype((params or {}).get("output_type", "float32")))


class ToType(TypeCast):
    """The image converted to another data type.

    Examples:
        >>> vision.ToType(np.float32)(np.zeros((2, 2), np.uint8)).dtype
        dtype('float32')
    """

    json_name = "TypeCast"

    def apply(self, column: Any) -> np.ndarray:
        return super().apply(np.asarray(column) if is_pil(column) else column)


__all__ = ["HWC2CHW", "Normalize", "NormalizePad", "Rescale", "ToTensor", "ToType"]
