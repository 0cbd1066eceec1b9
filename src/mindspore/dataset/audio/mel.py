"""Spectrograms on the mel scale."""

from __future__ import annotations

import math

import numpy as np

from ..transforms.checks import (
    boolean,
    checked,
    non_negative_float32,
    non_negative_int32,
    of_type,
    positive_float32,
    positive_int32,
)
from .audio_transform import (
    AudioTransform,
    check_border,
    check_hop,
    check_mel_frequencies,
    check_window,
    check_window_length,
)
from .enums import BorderType, MelType, NormType, WindowType
from .fourier import mel_filters
from .spectrogram import Spectrogram


class _MelBands(AudioTransform):
    """The filters between frequencies and mel bands."""

    shape = "<..., freq, time>"

    def _use(
        self,
        n_stft: int,
        n_mels: int,
        sample_rate: int,
        f_min: float,
        f_max: float | None,
        norm: NormType,
        kind: MelType,
    ) -> None:
        self.n_stft = n_stft
        self.n_mels = n_mels
        self.sample_rate = sample_rate
        self.f_min = f_min
        self.f_max = f_max if f_max is not None else sample_rate // 2
        self.norm = norm
        self.mel_type = kind

    def filters(self) -> np.ndarray:
        return mel_filters(self.n_stft, self.f_min, self.f_max, self.n_mels, self.sample_rate, self.norm, self.mel_type)


class MelScale(_MelBands):
    """A spectrogram (…, freq, frames) gathered into mel bands (…, mel, frames).

    Examples:
        >>> audio.MelScale(n_mels=4, n_stft=9)(np.ones((1, 9, 3), np.float32)).shape
        (1, 4, 3)
    """

    @checked(
        check_mel_frequencies,
        n_mels=positive_int32,
        sample_rate=positive_int32,
        n_stft=positive_int32,
        norm=of_type(NormType),
        mel_type=of_type(MelType),
    )
    def __init__(
        self,
        n_mels: int = 128,
        sample_rate: int = 16000,
        f_min: float = 0.0,
        f_max: float | None = None,
        n_stft: int = 201,
        norm: NormType = NormType.NONE,
        mel_type: MelType = MelType.HTK,
    ):
        self._use(n_stft, n_mels, sample_rate, f_min, f_max, norm, mel_type)

    def transform(self, array: np.ndarray) -> np.ndarray:
        if array.shape[-2] != self.n_stft:
            raise RuntimeError(
                "MelScale: invalid parameter, 'n_stft' should be equal to 'freq', "
                f"but got: n_stft {self.n_stft} while freq {array.shape[-2]}."
            )
        return (self.filters().T @ array).astype(array.dtype)


def _check_descent(arguments: dict) -> None:
    check_mel_frequencies(arguments)
    options = arguments["sgdargs"]
    if options is not None:
        for name in ("sgd_lr", "sgd_momentum"):
            non_negative_float32(options[name], name)


class InverseMelScale(_MelBands):
    """A spectrogram that has the given mel bands, found by gradient descent from a random start.

    Examples:
        >>> mel = np.ones((4, 3), np.float32)
        >>> audio.InverseMelScale(n_stft=9, n_mels=4, max_iter=5)(mel).shape
        (1, 9, 3)
    """

    random = True

    @checked(
        _check_descent,
        n_mels=positive_int32,
        sample_rate=positive_int32,
        n_stft=positive_int32,
        norm=of_type(NormType),
        mel_type=of_type(MelType),
        max_iter=positive_int32,
        tolerance_loss=positive_float32,
        tolerance_change=positive_float32,
    )
    def __init__(
        self,
        n_stft: int,
        n_mels: int = 128,
        sample_rate: int = 16000,
        f_min: float = 0.0,
        f_max: float | None = None,
        max_iter: int = 100000,
        tolerance_loss: float = 1e-5,
        tolerance_change: float = 1e-8,
        sgdargs: dict[str, float] | None = None,
        norm: NormType = NormType.NONE,
        mel_type: MelType = MelType.HTK,
    ):
        self._use(n_stft, n_mels, sample_rate, f_min, f_max, norm, mel_type)
        self.max_iter = max_iter
        self.tolerance_loss = tolerance_loss
        self.tolerance_change = tolerance_change
        self.sgdargs = {"sgd_lr": 0.1, "sgd_momentum": 0.9} if sgdargs is None else dict(sgdargs)

    def transform(self, array: np.ndarray) -> np.ndarray:
        if array.shape[-2] != self.n_mels:
            raise RuntimeError("InverseMelScale: n_mels must be equal to the penultimate dimension of input.")
        filters = self.filters()
        channels = array.reshape(-1, *array.shape[-2:]).astype(np.float64)
        found = np.stack([self._descend(filters, channel) for channel in channels])
        shape = (*(array.shape[:-2] or (1,)), self.n_stft, array.shape[-1])
        return found.reshape(shape).astype(array.dtype)

    def _descend(self, filters: np.ndarray, mels: np.ndarray) -> np.ndarray:
        rate, momentum = self.sgdargs["sgd_lr"], self.sgdargs["sgd_momentum"]
        spectrum = self.rng.uniform(size=(self.n_stft, mels.shape[1]))
        loss, velocity = math.inf, np.zeros_like(spectrum)
        for _ in range(self.max_iter):
            miss = mels - filters.T @ spectrum
            new_loss = float(np.mean(miss * miss))
            if new_loss < self.tolerance_loss or abs(loss - new_loss) < self.tolerance_change:
                break
            loss = new_loss
            velocity = momentum * velocity - (filters @ miss) / mels.shape[1]
            spectrum = spectrum - rate * velocity
        return np.maximum(spectrum, 0.0)


class MelSpectrogram(AudioTransform):
    """`Spectrogram`, then `MelScale`.

    Examples:
        >>> wave = np.sin(np.arange(1600, dtype=np.float32))[None]
        >>> audio.MelSpectrogram(n_fft=64, n_mels=8)(wave).shape
        (1, 8, 51)
    """

    @checked(
        check_window_length,
        sample_rate=non_negative_int32,
        n_fft=positive_int32,
        hop_length=check_hop,
        pad=non_negative_int32,
        n_mels=positive_int32,
        window=check_window,
        power=positive_float32,
        normalized=boolean,
        center=boolean,
        pad_mode=check_border,
        onesided=boolean,
        norm=of_type(NormType),
        mel_scale=of_type(MelType),
    )
    def __init__(
        self,
        sample_rate: int = 16000,
        n_fft: int = 400,
        win_length: int | None = None,
        hop_length: int | None = None,
        f_min: float = 0.0,
        f_max: float | None = None,
        pad: int = 0,
        n_mels: int = 128,
        window: WindowType = WindowType.HANN,
        power: float = 2.0,
        normalized: bool = False,
        center: bool = True,
        pad_mode: BorderType = BorderType.REFLECT,
        onesided: bool = True,
        norm: NormType = NormType.NONE,
        mel_scale: MelType = MelType.HTK,
    ):
        self._spectrogram = Spectrogram(
            n_fft, win_length, hop_length, pad, window, power, normalized, center, pad_mode, onesided
        )
        n_stft = n_fft // 2 + 1 if onesided else n_fft
        self._mel = MelScale(n_mels, sample_rate, f_min, f_max, n_stft, norm, mel_scale)
        self.sample_rate, self.n_fft = sample_rate, n_fft
        self.win_length, self.hop_length = self._spectrogram.win_length, self._spectrogram.hop_length
        self.f_min, self.f_max = f_min, self._mel.f_max
        self.pad, self.n_mels, self.window, self.power = pad, n_mels, window, power
        self.normalized, self.center, self.pad_mode, self.onesided = normalized, center, pad_mode, onesided
        self.norm, self.mel_scale = norm, mel_scale

    def transform(self, waveform: np.ndarray) -> np.ndarray:
        return self._mel.transform(self._spectrogram.transform(waveform))


__all__ = ["InverseMelScale", "MelScale", "MelSpectrogram"]
