"""What audio transforms share: waveforms (…, time) and spectrograms (…, freq, time), as float32 or float64."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._base.optional import require
from ..transforms.checks import (
    FLOAT_MAX_INTEGER,
    INT32_MAX,
    INT32_MIN,
    check_range,
    check_type,
    float32,
    non_negative_int32,
    of_type,
    optional,
    positive_float32,
    positive_int32,
    real,
)
from ..transforms.transform import Transform
from .enums import BorderType, WindowType


class AudioTransform(Transform):
    """Base: `transform(array)` of one column.

    `shape` names the axes the input needs at least. Integers become float32 unless the transform takes floats only.

    Examples:
        >>> issubclass(audio.Gain, audio.AudioTensorOperation)
        True
    """

    releases_gil = True
    shape = "<..., time>"
    floats_only = False

    def transform(self, waveform: np.ndarray) -> Any:
        raise NotImplementedError

    def apply(self, column: Any) -> Any:
        return self.transform(self.accept(column))

    def accept(self, column: Any) -> np.ndarray:
        if not isinstance(column, np.ndarray) and not hasattr(column, "asnumpy"):
            raise TypeError(f"Input should be NumPy audio, got {type(column)}.")
        array = np.asarray(column)
        op = self.json_name
        needed = self.shape.count(",")
        if array.ndim < needed:
            raise RuntimeError(
                f"{op}: the shape of input tensor does not match the requirement of operator. "
                f"Expecting tensor in shape of {self.shape}. But got tensor with dimension {array.ndim}."
            )
        if "complex=2" in self.shape and array.shape[-1] != 2:
            raise RuntimeError(
                f"{op}: the shape of input tensor does not match the requirement of operator. "
                f"Expecting tensor in shape of {self.shape}."
            )
        if array.dtype.kind not in ("f" if self.floats_only else "buif"):
            kind = "string" if array.dtype.kind in "US" else str(array.dtype)
            raise RuntimeError(
                f"{op}: the data type of input tensor does not match the requirement of operator. "
                f"Expecting tensor in type of {'[float, double]' if self.floats_only else '[int, float, double]'}. "
                f"But got type {kind}."
            )
        return array if array.dtype == np.float64 else array.astype(np.float32, copy=False)


def signal() -> Any:
    return require("scipy.signal", "data", "Audio filters")


def as_complex(array: np.ndarray) -> np.ndarray:
    """(…, 2) real and imaginary parts as complex numbers."""
    return array[..., 0] + 1j * array[..., 1]


def as_pairs(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    return np.stack([values.real, values.imag], axis=-1).astype(dtype)


# ---------------------------------------------------------------------------------------------------------------------
# Arguments


def sample_rate_not_zero(value: Any, name: str) -> None:
    check_type(value, (int,), name)
    if not INT32_MIN <= value <= INT32_MAX or value == 0:
        raise ValueError(f"Input {name} is not within the required interval of [-2147483648, 0) and (0, 2147483647].")


quality = real(0, 1, left_open=True)


def float32_not_zero(value: Any, name: str) -> None:
    check_type(value, (float, int), name)
    if not -FLOAT_MAX_INTEGER <= value <= FLOAT_MAX_INTEGER or value == 0:
        raise ValueError(f"Input {name} is not within the required interval of [-16777216, 0) and (0, 16777216].")


check_window = of_type(WindowType)
check_border = of_type(BorderType)
check_hop = optional(positive_int32)


def check_window_length(arguments: dict) -> None:
    """`win_length` is positive and not longer than `n_fft`."""
    win_length, n_fft = arguments["win_length"], arguments["n_fft"]
    if win_length is None:
        return
    positive_int32(win_length, "win_length")
    if win_length > n_fft:
        raise ValueError(
            f"Input win_length should be no more than n_fft, but got win_length: {win_length} and n_fft: {n_fft}."
        )


def check_mel_frequencies(arguments: dict) -> None:
    """f_min < f_max, or < half the sample rate."""
    f_min, f_max, sample_rate = (arguments[name] for name in ("f_min", "f_max", "sample_rate"))
    float32(f_min, "f_min")
    if f_max is not None:
        positive_float32(f_max, "f_max")
        if f_min >= f_max:
            raise ValueError("MelScale: f_max should be greater than f_min.")
    elif f_min >= sample_rate // 2:
        raise ValueError("MelScale: sample_rate // 2 should be greater than f_min when f_max is set to None.")


__all__ = [
    "AudioTransform",
    "as_complex",
    "as_pairs",
    "check_mel_frequencies",
    "check_range",
    "check_window_length",
    "float32_not_zero",
    "non_negative_int32",
    "quality",
    "sample_rate_not_zero",
    "signal",
]
