"""Short-time Fourier transforms and filter banks: the functions behind the spectrogram transforms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..transforms.checks import (
    check_type,
    non_negative_float32,
    non_negative_int32,
    positive_float32,
    positive_int32,
)
from .enums import BorderType, MelType, NormMode, NormType, WindowType


def window(kind: WindowType, length: int) -> np.ndarray:
    """A periodic window: one period of the curve, without its last point."""
    if length == 1:
        return np.ones(1)
    points = length + 1
    curve = {
        WindowType.BARTLETT: np.bartlett,
        WindowType.BLACKMAN: np.blackman,
        WindowType.HAMMING: np.hamming,
        WindowType.HANN: np.hanning,
        WindowType.KAISER: lambda n: np.kaiser(n, 12.0),
    }[kind]
    return curve(points)[:-1]


def pad_time(waveform: np.ndarray, left: int, right: int, mode: BorderType) -> np.ndarray:
    return np.pad(waveform, [(0, 0)] * (waveform.ndim - 1) + [(left, right)], mode=mode.value)


def centred_window(values: np.ndarray, n_fft: int) -> np.ndarray:
    """The window padded with zeros on both sides to `n_fft`."""
    left = (n_fft - len(values)) // 2
    return np.pad(values, (left, n_fft - len(values) - left))


def stft(
    waveform: np.ndarray, n_fft: int, hop: int, win: np.ndarray, center: bool, mode: BorderType, onesided: bool = True
) -> np.ndarray:
    """(…, time) to complex (…, freq, frames)."""
    if center:
        waveform = pad_time(waveform, n_fft // 2, n_fft // 2, mode)
    if waveform.shape[-1] < n_fft:
        raise RuntimeError(
            f"Spectrogram: n_fft should be more than 0 and less than {waveform.shape[-1]}, but got n_fft: {n_fft}."
        )
    frames = np.lib.stride_tricks.sliding_window_view(waveform, n_fft, axis=-1)[..., ::hop, :]
    frames = frames * centred_window(win, n_fft)
    spectrum = np.fft.rfft(frames, axis=-1) if onesided else np.fft.fft(frames, axis=-1)
    return np.swapaxes(spectrum, -1, -2)


def istft(
    spectrum: np.ndarray, n_fft: int, hop: int, win: np.ndarray, center: bool, length: int, onesided: bool = True
) -> np.ndarray:
    """The waveform whose STFT is nearest to `spectrum` (overlap-add, divided by the sum of squared windows)."""
    columns = np.swapaxes(spectrum, -1, -2)
    frames = np.fft.irfft(columns, n_fft, axis=-1) if onesided else np.fft.ifft(columns, n_fft, axis=-1).real
    win = centred_window(win, n_fft)
    count = frames.shape[-2]
    total = n_fft + hop * (count - 1)
    waveform = np.zeros((*frames.shape[:-2], total))
    weight = np.zeros(total)
    for i in range(count):
        waveform[..., i * hop : i * hop + n_fft] += frames[..., i, :] * win
        weight[i * hop : i * hop + n_fft] += win * win
    start = n_fft // 2 if center else 0
    end = start + length if length else total - (n_fft // 2 if center else 0)
    waveform, weight = waveform[..., start:end], weight[start:end]
    waveform = waveform / np.where(weight > 1e-11, weight, 1.0)
    missing = (length or waveform.shape[-1]) - waveform.shape[-1]
    return np.pad(waveform, [(0, 0)] * (waveform.ndim - 1) + [(0, missing)]) if missing > 0 else waveform


# ---------------------------------------------------------------------------------------------------------------------
# Filter banks


def hz_to_mel(frequency: Any, mel_type: MelType) -> Any:
    frequency = np.asarray(frequency, np.float64)
    if mel_type is MelType.HTK:
        return 2595.0 * np.log10(1.0 + frequency / 700.0)
    linear = frequency / (200.0 / 3)  # Slaney: linear below 1 kHz, logarithmic above
    logarithmic = 15.0 + np.log(np.maximum(frequency, 1e-10) / 1000.0) / (math.log(6.4) / 27.0)
    return np.where(frequency >= 1000.0, logarithmic, linear)


def mel_to_hz(mel: Any, mel_type: MelType) -> Any:
    mel = np.asarray(mel, np.float64)
    if mel_type is MelType.HTK:
        return 700.0 * (10.0 ** (mel / 2595.0) - 1.0)
    return np.where(mel >= 15.0, 1000.0 * np.exp(math.log(6.4) / 27.0 * (mel - 15.0)), 200.0 / 3 * mel)


def triangles(frequencies: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """(freq, filter): filter i rises from corner i to i + 1 and falls to i + 2."""
    width = np.diff(corners)
    distance = corners[None, :] - frequencies[:, None]
    falling, rising = -distance[:, :-2] / width[:-1], distance[:, 2:] / width[1:]
    return np.maximum(0.0, np.minimum(falling, rising))


def mel_filters(
    n_freqs: int, f_min: float, f_max: float, n_mels: int, sample_rate: int, norm: NormType, mel_type: MelType
) -> np.ndarray:
    mels = np.linspace(hz_to_mel(f_min, mel_type), hz_to_mel(f_max, mel_type), n_mels + 2)
    corners = mel_to_hz(mels, mel_type)
    filters = triangles(np.linspace(0, sample_rate // 2, n_freqs), corners)
    if norm is NormType.SLANEY:
        filters = filters * (2.0 / (corners[2:] - corners[:-2]))
    return filters


def linear_filters(n_freqs: int, f_min: float, f_max: float, n_filter: int, sample_rate: int) -> np.ndarray:
    return triangles(np.linspace(0, sample_rate // 2, n_freqs), np.linspace(f_min, f_max, n_filter + 2))


def dct_matrix(n_out: int, n_in: int, norm: NormMode) -> np.ndarray:
    """(n_in, n_out): the discrete cosine transform of type 2."""
    matrix = np.cos(math.pi / n_in * (np.arange(n_in)[:, None] + 0.5) * np.arange(n_out)[None, :])
    if norm is NormMode.NONE:
        return matrix * 2.0
    matrix[:, 0] /= math.sqrt(2.0)
    return matrix * math.sqrt(2.0 / n_in)


def create_dct(n_mfcc: int, n_mels: int, norm: NormMode = NormMode.NONE) -> np.ndarray:
    """The matrix (n_mels, n_mfcc) of the discrete cosine transform of type 2.

    Examples:
        >>> import mindspore.dataset.audio as audio
        >>> audio.create_dct(4, 8).shape
        (8, 4)
    """
    for name, value, kind in (("n_mfcc", n_mfcc, int), ("n_mels", n_mels, int), ("norm", norm, NormMode)):
        if not isinstance(value, kind):
            raise TypeError(f"{name} with value {value} is not of type {kind}, but got {type(value)}.")
    for name, value in (("n_mfcc", n_mfcc), ("n_mels", n_mels)):
        if value <= 0:
            raise ValueError(f"{name} must be greater than 0, but got {value}.")
    return dct_matrix(n_mfcc, n_mels, norm).astype(np.float32)


def _check_bank(n_freqs: Any, f_min: Any, f_max: Any, count: Any, name: str, sample_rate: Any) -> None:
    non_negative_int32(n_freqs, "n_freqs")
    check_type(f_min, (int, float), "f_min")
    non_negative_float32(f_min, "f_min")
    check_type(f_max, (int, float), "f_max")
    positive_float32(f_max, "f_max")
    if f_min > f_max:
        raise ValueError(f"Input f_min should be no more than f_max, but got f_min: {f_min} and f_max: {f_max}.")
    positive_int32(count, name)
    positive_int32(sample_rate, "sample_rate")


def linear_fbanks(n_freqs: int, f_min: float, f_max: float, n_filter: int, sample_rate: int) -> np.ndarray:
    """A bank (n_freqs, n_filter) of triangular filters, evenly spaced in frequency.

    Examples:
        >>> audio.linear_fbanks(n_freqs=5, f_min=0.0, f_max=8.0, n_filter=3, sample_rate=16).shape
        (5, 3)
    """
    _check_bank(n_freqs, f_min, f_max, n_filter, "n_filter", sample_rate)
    return linear_filters(n_freqs, f_min, f_max, n_filter, sample_rate).astype(np.float32)


def melscale_fbanks(
    n_freqs: int,
    f_min: float,
    f_max: float,
    n_mels: int,
    sample_rate: int,
    norm: NormType = NormType.NONE,
    mel_type: MelType = MelType.HTK,
) -> np.ndarray:
    """A bank (n_freqs, n_mels) of triangular filters, evenly spaced on the mel scale.

    Examples:
        >>> audio.melscale_fbanks(n_freqs=5, f_min=0.0, f_max=8.0, n_mels=3, sample_rate=16).shape
        (5, 3)
    """
    _check_bank(n_freqs, f_min, f_max, n_mels, "n_mels", sample_rate)
    check_type(norm, (NormType,), "norm")
    check_type(mel_type, (MelType,), "mel_type")
    return mel_filters(n_freqs, f_min, f_max, n_mels, sample_rate, norm, mel_type).astype(np.float32)


__all__ = ["create_dct", "linear_fbanks", "melscale_fbanks"]
