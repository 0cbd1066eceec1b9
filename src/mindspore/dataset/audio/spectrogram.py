"""Spectrograms, to and from waveforms."""

from __future__ import annotations

import math

import numpy as np

from ..transforms.checks import (
    boolean,
    checked,
    non_negative_float32,
    non_negative_int32,
    optional,
    positive_int32,
)
from .audio_transform import (
    AudioTransform,
    as_complex,
    as_pairs,
    check_border,
    check_hop,
    check_window,
    check_window_length,
)
from .enums import BorderType, WindowType
from .fourier import istft, pad_time, stft, window


class _Framed(AudioTransform):
    """What a waveform's way into frames and back has in common."""

    def _use(
        self,
        n_fft: int,
        win_length: int | None,
        hop_length: int | None,
        pad: int,
        window: WindowType,
        normalized: bool,
        center: bool,
        pad_mode: BorderType,
        onesided: bool,
    ) -> None:
        self.n_fft = n_fft
        self.win_length = win_length or n_fft
        self.hop_length = hop_length or self.win_length // 2
        self.pad = pad
        self.window = window
        self.normalized = normalized
        self.center = center
        self.pad_mode = pad_mode
        self.onesided = onesided


class Spectrogram(_Framed):
    """The magnitudes to a power (…, freq, frames) of a waveform; with power 0 the complex values as (…, 2).

    Examples:
        >>> import numpy as np
        >>> import mindspore.dataset.audio as audio
        >>> audio.Spectrogram(n_fft=8)(np.ones((1, 32), np.float32)).shape
        (1, 5, 9)
    """

    @checked(
        check_window_length,
        n_fft=positive_int32,
        hop_length=check_hop,
        pad=non_negative_int32,
        window=check_window,
        power=non_negative_float32,
        normalized=boolean,
        center=boolean,
        onesided=boolean,
        pad_mode=check_border,
    )
    def __init__(
        self,
        n_fft: int = 400,
        win_length: int | None = None,
        hop_length: int | None = None,
        pad: int = 0,
        window: WindowType = WindowType.HANN,
        power: float = 2.0,
        normalized: bool = False,
        center: bool = True,
        pad_mode: BorderType = BorderType.REFLECT,
        onesided: bool = True,
    ):
        self._use(n_fft, win_length, hop_length, pad, window, normalized, center, pad_mode, onesided)
        self.power = power

    def complex_spectrum(self, waveform: np.ndarray) -> np.ndarray:
        if self.pad:
            waveform = pad_time(waveform, self.pad, self.pad, BorderType.CONSTANT)
        shape = window(self.window, self.win_length)
        spectrum = stft(waveform, self.n_fft, self.hop_length, shape, self.center, self.pad_mode, self.onesided)
        return spectrum / math.sqrt(float(shape @ shape)) if self.normalized else spectrum

    def transform(self, waveform: np.ndarray) -> np.ndarray:
        spectrum = self.complex_spectrum(waveform)
        if self.power == 0:
            return as_pairs(spectrum, waveform.dtype)
        return (np.abs(spectrum) ** self.power).astype(waveform.dtype)


class InverseSpectrogram(_Framed):
    """The waveform of a complex spectrogram (…, freq, frames, 2).

    Examples:
        >>> spectrum = audio.Spectrogram(n_fft=8, power=0)(np.ones((1, 32), np.float32))
        >>> audio.InverseSpectrogram(length=32, n_fft=8)(spectrum).round(3)[0, :2].tolist()
        [1.0, 1.0]
    """

    shape = "<..., freq, time, complex=2>"

    @checked(
        check_window_length,
        length=optional(non_negative_int32),
        n_fft=positive_int32,
        window=check_window,
        normalized=boolean,
        center=boolean,
        pad_mode=check_border,
        onesided=boolean,
        pad=non_negative_int32,
        hop_length=check_hop,
    )
    def __init__(
        self,
        length: int | None = None,
        n_fft: int = 400,
        win_length: int | None = None,
        hop_length: int | None = None,
        pad: int = 0,
        window: WindowType = WindowType.HANN,
        normalized: bool = False,
        center: bool = True,
        pad_mode: BorderType = BorderType.REFLECT,
        onesided: bool = True,
    ):
        self._use(n_fft, win_length, hop_length, pad, window, normalized, center, pad_mode, onesided)
        self.length = length or 0

    def transform(self, array: np.ndarray) -> np.ndarray:
        spectrum, shape = as_complex(array), window(self.window, self.win_length)
        needed = self.n_fft // 2 + 1 if self.onesided else self.n_fft
        if spectrum.shape[-2] != needed:
            raise RuntimeError(
                f"InverseSpectrogram: the frequency of the input should equal to {needed}, "
                f"but got {spectrum.shape[-2]}."
            )
        if self.normalized:
            spectrum = spectrum * math.sqrt(float(shape @ shape))
        total = self.length + 2 * self.pad if self.length else (spectrum.shape[-1] - 1) * self.hop_length
        waveform = istft(spectrum, self.n_fft, self.hop_length, shape, self.center, total, self.onesided)
        if self.pad and self.length:
            waveform = waveform[..., self.pad : waveform.shape[-1] - self.pad]
        return waveform.astype(array.dtype)


class SpectralCentroid(AudioTransform):
    """The mean frequency of each frame, weighted by magnitude.

    Examples:
        >>> wave = np.sin(np.arange(1600, dtype=np.float32))[None]
        >>> audio.SpectralCentroid(16000, n_fft=64)(wave).shape
        (1, 1, 51)
    """

    @checked(
        check_window_length,
        sample_rate=non_negative_int32,
        pad=non_negative_int32,
        window=check_window,
        n_fft=positive_int32,
        hop_length=check_hop,
    )
    def __init__(
        self,
        sample_rate: int,
        n_fft: int = 400,
        win_length: int | None = None,
        hop_length: int | None = None,
        pad: int = 0,
        window: WindowType = WindowType.HANN,
    ):
        self._spectrogram = Spectrogram(n_fft, win_length, hop_length, pad, window, power=1.0)
        self.sample_rate, self.n_fft, self.pad, self.window = sample_rate, n_fft, pad, window
        self.win_length, self.hop_length = self._spectrogram.win_length, self._spectrogram.hop_length

    def transform(self, waveform: np.ndarray) -> np.ndarray:
        magnitudes = self._spectrogram.transform(waveform)
        frequencies = np.linspace(0, self.sample_rate // 2, self.n_fft // 2 + 1)[:, None]
        with np.errstate(invalid="ignore"):
            centroid = (frequencies * magnitudes).sum(axis=-2, keepdims=True) / magnitudes.sum(axis=-2, keepdims=True)
        return centroid.astype(waveform.dtype)


__all__ = ["InverseSpectrogram", "SpectralCentroid", "Spectrogram"]
