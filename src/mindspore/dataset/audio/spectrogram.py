"""Spectrograms: to and from waveforms, mel scale, cepstral coefficients, time stretch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..transforms.base import tensor_from_json, tensor_to_json, to_plain
from ..transforms.checks import (
    boolean,
    checked,
    int32,
    non_negative_float32,
    non_negative_int32,
    number,
    of_type,
    optional,
    positive_float32,
    positive_int32,
)
from .base import AudioTransform, as_complex, as_pairs, check_mel_frequencies, check_window_length
from .effects import resample
from .enums import BorderType, MelType, NormMode, NormType, ResampleMethod, WindowType
from .fourier import dct_matrix, istft, linear_filters, mel_filters, pad_time, stft, window

_window = of_type(WindowType)
_border = of_type(BorderType)
_hop = optional(positive_int32)


class Spectrogram(AudioTransform):
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
        hop_length=_hop,
        pad=non_negative_int32,
        window=_window,
        power=non_negative_float32,
        normalized=boolean,
        center=boolean,
        onesided=boolean,
        pad_mode=_border,
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
        self.n_fft = n_fft
        self.win_length = win_length or n_fft
        self.hop_length = hop_length or self.win_length // 2
        self.pad = pad
        self.window = window
        self.power = power
        self.normalized = normalized
        self.center = center
        self.pad_mode = pad_mode
        self.onesided = onesided

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


class InverseSpectrogram(AudioTransform):
    """The waveform of a complex spectrogram (…, freq, frames, 2)."""

    shape = "<..., freq, time, complex=2>"

    @checked(
        check_window_length,
        length=optional(non_negative_int32),
        n_fft=positive_int32,
        window=_window,
        normalized=boolean,
        center=boolean,
        pad_mode=_border,
        onesided=boolean,
        pad=non_negative_int32,
        hop_length=_hop,
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
        self.length = length or 0
        self.n_fft = n_fft
        self.win_length = win_length or n_fft
        self.hop_length = hop_length or self.win_length // 2
        self.pad = pad
        self.window = window
        self.normalized = normalized
        self.center = center
        self.pad_mode = pad_mode
        self.onesided = onesided

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


# ---------------------------------------------------------------------------------------------------------------------
# Mel scale


class MelScale(AudioTransform):
    """A spectrogram (…, freq, frames) gathered into mel bands (…, mel, frames)."""

    shape = "<..., freq, time>"

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
        self.n_mels = n_mels
        self.sample_rate = sample_rate
        self.f_min = f_min
        self.f_max = f_max if f_max is not None else sample_rate // 2
        self.n_stft = n_stft
        self.norm = norm
        self.mel_type = mel_type

    def transform(self, array: np.ndarray) -> np.ndarray:
        if array.shape[-2] != self.n_stft:
            raise RuntimeError(
                "MelScale: invalid parameter, 'n_stft' should be equal to 'freq', "
                f"but got: n_stft {self.n_stft} while freq {array.shape[-2]}."
            )
        filters = mel_filters(
            self.n_stft, self.f_min, self.f_max, self.n_mels, self.sample_rate, self.norm, self.mel_type
        )
        return (filters.T @ array).astype(array.dtype)


def _check_descent(arguments: dict) -> None:
    check_mel_frequencies(arguments)
    options = arguments["sgdargs"]
    if options is not None:
        for name in ("sgd_lr", "sgd_momentum"):
            non_negative_float32(options[name], name)


class InverseMelScale(AudioTransform):
    """A spectrogram that has the given mel bands, found by gradient descent from a random start."""

    shape = "<..., freq, time>"
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
        self.n_stft = n_stft
        self.n_mels = n_mels
        self.sample_rate = sample_rate
        self.f_min = f_min
        self.f_max = f_max if f_max is not None else sample_rate // 2
        self.max_iter = max_iter
        self.tolerance_loss = tolerance_loss
        self.tolerance_change = tolerance_change
        self.sgdargs = {"sgd_lr": 0.1, "sgd_momentum": 0.9} if sgdargs is None else dict(sgdargs)
        self.norm = norm
        self.mel_type = mel_type

    def transform(self, array: np.ndarray) -> np.ndarray:
        if array.shape[-2] != self.n_mels:
            raise RuntimeError("InverseMelScale: n_mels must be equal to the penultimate dimension of input.")
        filters = mel_filters(
            self.n_stft, self.f_min, self.f_max, self.n_mels, self.sample_rate, self.norm, self.mel_type
        )
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
    """`Spectrogram`, then `MelScale`."""

    @checked(
        check_window_length,
        sample_rate=non_negative_int32,
        n_fft=positive_int32,
        hop_length=_hop,
        pad=non_negative_int32,
        n_mels=positive_int32,
        window=_window,
        power=positive_float32,
        normalized=boolean,
        center=boolean,
        pad_mode=_border,
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


# ---------------------------------------------------------------------------------------------------------------------
# Cepstral coefficients


def _decibels(power: np.ndarray, top_db: float = 80.0) -> np.ndarray:
    """10 log10, at most `top_db` below the largest value of each (channel, freq, frames) block."""
    db = 10.0 * np.log10(np.maximum(power, 1e-10))
    axes = tuple(range(-min(3, power.ndim), 0))
    return np.maximum(db, db.max(axis=axes, keepdims=True) - top_db)


def _only_type_2(value: Any, name: str) -> None:
    if value != 2:
        raise ValueError(f"Input {name} must be 2, but got : {value}.")


_SPECTRUM_KEYS = (
    "n_fft", "win_length", "hop_length", "pad", "window", "power", "normalized", "center", "pad_mode", "onesided",
)  # fmt: skip


def _plain_options(options: dict[str, Any]) -> dict[str, Any]:
    return {key: to_plain(value) for key, value in options.items()}


class MFCC(AudioTransform):
    """Mel-frequency cepstral coefficients; `melkwargs` are arguments of `MelSpectrogram`."""

    @checked(
        sample_rate=non_negative_int32,
        log_mels=boolean,
        norm=of_type(NormMode),
        n_mfcc=non_negative_int32,
        dct_type=_only_type_2,
        melkwargs=optional(of_type(dict)),
    )
    def __init__(
        self,
        sample_rate: int = 16000,
        n_mfcc: int = 40,
        dct_type: int = 2,
        norm: NormMode = NormMode.ORTHO,
        log_mels: bool = False,
        melkwargs: dict[str, Any] | None = None,
    ):
        self._mel = MelSpectrogram(sample_rate, **(melkwargs or {}))
        if n_mfcc > self._mel.n_mels:
            raise ValueError(
                "Input n_mels should be greater than or equal to n_mfcc, "
                f"but got n_mfcc: {n_mfcc} and n_mels: {self._mel.n_mels}."
            )
        self.sample_rate = sample_rate
        self.n_mfcc = n_mfcc
        self.dct_type = dct_type
        self.norm = norm
        self.log_mels = log_mels
        self.melkwargs = {key: getattr(self._mel, key) for key in (*_SPECTRUM_KEYS, "f_min", "f_max", "n_mels")}
        self.melkwargs.update(norm=self._mel.norm, mel_scale=self._mel.mel_scale)

    def transform(self, waveform: np.ndarray) -> np.ndarray:
        mels = self._mel.transform(waveform)
        mels = np.log(mels + 1e-6) if self.log_mels else _decibels(mels)
        return (dct_matrix(self.n_mfcc, self._mel.n_mels, self.norm).T @ mels).astype(waveform.dtype)

    def to_json(self) -> tuple[str, dict[str, Any] | None]:
        options = _plain_options(self.melkwargs)
        options["norm_mel"] = options.pop("norm")
        own = {"sample_rate": self.sample_rate, "n_mfcc": self.n_mfcc, "dct_type": self.dct_type}
        return self.json_name, {**own, "norm": self.norm.json_code, "log_mels": self.log_mels, **options}

    @classmethod
    def from_json(cls, params: Any) -> Any:
        rest = dict(params or {})
        own = {key: rest.pop(key) for key in ("sample_rate", "n_mfcc", "dct_type", "log_mels")}
        norm = _by_code(NormMode, rest.pop("norm"))
        rest["norm"] = _by_code(NormType, rest.pop("norm_mel"))
        rest["mel_scale"] = _by_code(MelType, rest["mel_scale"])
        return cls(norm=norm, melkwargs=_spectrum_choices(rest), **own)


class LFCC(AudioTransform):
    """Linear-frequency cepstral coefficients; `speckwargs` are arguments of `Spectrogram`."""

    @checked(
        sample_rate=non_negative_int32,
        n_filter=positive_int32,
        n_lfcc=positive_int32,
        log_lf=boolean,
        norm=of_type(NormMode),
        f_min=number(non_negative_float32),
        f_max=optional(number(non_negative_float32)),
        dct_type=_only_type_2,
        speckwargs=optional(of_type(dict)),
    )
    def __init__(
        self,
        sample_rate: int = 16000,
        n_filter: int = 128,
        n_lfcc: int = 40,
        f_min: float = 0.0,
        f_max: float | None = None,
        dct_type: int = 2,
        norm: NormMode = NormMode.ORTHO,
        log_lf: bool = False,
        speckwargs: dict[str, Any] | None = None,
    ):
        if f_max is not None and f_min > f_max:
            raise ValueError(
                f"f_max should be greater than or equal to f_min, but got f_min: {f_min} and f_max: {f_max}."
            )
        if f_max is None and f_min >= sample_rate // 2:
            raise ValueError(
                "Input sample_rate // 2 should be greater than f_min when f_max is set to None, "
                f"but got f_min: {f_min} and sample_rate: {sample_rate}."
            )
        self._spectrogram = Spectrogram(**(speckwargs or {}))
        if self._spectrogram.n_fft < n_lfcc:
            raise ValueError(
                "n_fft should be greater than or equal to n_lfcc, "
                f"but got n_fft: {self._spectrogram.n_fft} and n_lfcc: {n_lfcc}."
            )
        self.sample_rate, self.n_filter, self.n_lfcc = sample_rate, n_filter, n_lfcc
        self.f_min, self.f_max = f_min, f_max if f_max is not None else sample_rate // 2
        self.dct_type, self.norm, self.log_lf = dct_type, norm, log_lf
        self.speckwargs = {key: getattr(self._spectrogram, key) for key in _SPECTRUM_KEYS}

    def transform(self, waveform: np.ndarray) -> np.ndarray:
        spectrum = self._spectrogram.transform(waveform)
        filters = linear_filters(spectrum.shape[-2], self.f_min, self.f_max, self.n_filter, self.sample_rate)
        bands = filters.T @ spectrum
        bands = np.log(bands + 1e-6) if self.log_lf else _decibels(bands)
        return (dct_matrix(self.n_lfcc, self.n_filter, self.norm).T @ bands).astype(waveform.dtype)

    def to_json(self) -> tuple[str, dict[str, Any] | None]:
        own = {key: getattr(self, key) for key in ("sample_rate", "n_filter", "n_lfcc", "f_min", "f_max", "dct_type")}
        own.update(norm=self.norm.json_code, log_lf=self.log_lf)
        return self.json_name, {**own, **_plain_options(self.speckwargs)}

    @classmethod
    def from_json(cls, params: Any) -> Any:
        rest = dict(params or {})
        names = ("sample_rate", "n_filter", "n_lfcc", "f_min", "f_max", "dct_type", "log_lf")
        own = {key: rest.pop(key) for key in names}
        return cls(norm=_by_code(NormMode, rest.pop("norm")), speckwargs=_spectrum_choices(rest), **own)


def _by_code(kind: Any, code: int) -> Any:
    return next(member for member in kind if member.json_code == code)


def _spectrum_choices(options: dict[str, Any]) -> dict[str, Any]:
    window_type = _by_code(WindowType, options["window"])
    return {**options, "window": window_type, "pad_mode": _by_code(BorderType, options["pad_mode"])}


class SpectralCentroid(AudioTransform):
    """The mean frequency of each frame, weighted by magnitude."""

    @checked(
        check_window_length,
        sample_rate=non_negative_int32,
        pad=non_negative_int32,
        window=_window,
        n_fft=positive_int32,
        hop_length=_hop,
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


# ---------------------------------------------------------------------------------------------------------------------
# Phases


def _check_griffin_lim(arguments: dict) -> None:
    win_length, n_fft = arguments["win_length"], arguments["n_fft"]
    if win_length is not None and win_length > n_fft:
        raise ValueError(
            f"Input win_length should be no more than n_fft, but got win_length: {win_length} and n_fft: {n_fft}."
        )


class GriffinLim(AudioTransform):
    """A waveform with the given magnitudes: phases by the fast Griffin-Lim iteration (Perraudin et al. 2013)."""

    shape = "<..., freq, time>"
    random = True

    @checked(
        _check_griffin_lim,
        n_fft=positive_int32,
        n_iter=positive_int32,
        win_length=optional(non_negative_int32),
        hop_length=optional(non_negative_int32),
        window_type=_window,
        power=positive_float32,
        momentum=non_negative_float32,
        length=optional(non_negative_int32),
        rand_init=boolean,
    )
    def __init__(
        self,
        n_fft: int = 400,
        n_iter: int = 32,
        win_length: int | None = None,
        hop_length: int | None = None,
        window_type: WindowType = WindowType.HANN,
        power: float = 2.0,
        momentum: float = 0.99,
        length: int | None = None,
        rand_init: bool = True,
    ):
        self.n_fft = n_fft
        self.n_iter = n_iter
        self.win_length = win_length or n_fft
        self.hop_length = hop_length or self.win_length // 2
        self.window_type = window_type
        self.power = power
        self.momentum = momentum
        self.length = length or 0
        self.rand_init = rand_init

    def transform(self, array: np.ndarray) -> np.ndarray:
        if array.shape[-2] != self.n_fft // 2 + 1:
            raise RuntimeError(
                f"GriffinLim: the frequency of the input should equal to n_fft / 2 + 1 = {self.n_fft // 2 + 1}, "
                f"but got {array.shape[-2]}."
            )
        magnitudes = array.astype(np.float64) ** (1 / self.power)
        phases = np.ones(array.shape, np.complex128)
        if self.rand_init:
            phases = self.rng.uniform(size=array.shape) + 1j * self.rng.uniform(size=array.shape)
        shape, push = window(self.window_type, self.win_length), self.momentum / (1 + 2 * self.momentum)
        previous: Any = 0.0
        for _ in range(self.n_iter):
            waveform = self._invert(magnitudes * phases, shape)
            rebuilt = stft(waveform, self.n_fft, self.hop_length, shape, True, BorderType.REFLECT)
            rebuilt = _fit_frames(rebuilt, array.shape[-1])
            phases = rebuilt - previous * push
            phases = phases / (np.abs(phases) + 1e-16)
            previous = rebuilt
        return self._invert(magnitudes * phases, shape).astype(array.dtype)

    def _invert(self, spectrum: np.ndarray, shape: np.ndarray) -> np.ndarray:
        return istft(spectrum, self.n_fft, self.hop_length, shape, True, self.length)


def _fit_frames(spectrum: np.ndarray, frames: int) -> np.ndarray:
    missing = frames - spectrum.shape[-1]
    if missing > 0:
        return np.pad(spectrum, [(0, 0)] * (spectrum.ndim - 1) + [(0, missing)])
    return spectrum[..., :frames]


def phase_vocoder(spectrum: np.ndarray, rate: float, advance: np.ndarray) -> np.ndarray:
    """Frames at another speed: magnitudes interpolated, phases advanced by the true frequency of each band."""
    if rate == 1.0:
        return spectrum
    steps = np.arange(0, spectrum.shape[-1], rate)
    position = steps.astype(np.int64)
    fraction = steps % 1.0
    padded = np.pad(spectrum, [(0, 0)] * (spectrum.ndim - 1) + [(0, 2)])
    first, second = padded[..., position], padded[..., position + 1]
    turn = np.angle(second) - np.angle(first) - advance
    turn = turn - 2 * math.pi * np.round(turn / (2 * math.pi)) + advance
    phase = np.concatenate([np.angle(padded[..., :1]), turn[..., :-1]], axis=-1).cumsum(axis=-1)
    magnitude = fraction * np.abs(second) + (1 - fraction) * np.abs(first)
    return magnitude * np.exp(1j * phase)


class PhaseVocoder(AudioTransform):
    """A complex spectrogram (…, freq, frames, 2) at another speed; `phase_advance` (freq, 1) per hop and band."""

    shape = "<..., freq, time, complex=2>"

    @checked(rate=positive_float32, phase_advance=of_type(np.ndarray))
    def __init__(self, rate: float, phase_advance: np.ndarray):
        self.rate = rate
        self.phase_advance = phase_advance

    def transform(self, array: np.ndarray) -> np.ndarray:
        advance = self.phase_advance
        if advance.ndim != 2 or advance.shape != (array.shape[-3], 1):
            raise RuntimeError(
                "PhaseVocoder: invalid parameter, 'phase_advance' should be in shape of <freq, 1>. "
                f"But got shape {advance.shape} for {array.shape[-3]} frequencies."
            )
        return as_pairs(phase_vocoder(as_complex(array), self.rate, advance), array.dtype)

    def to_json(self) -> tuple[str, dict[str, Any] | None]:
        return self.json_name, {"rate": self.rate, "phase_advance": tensor_to_json(self.phase_advance)}

    @classmethod
    def from_json(cls, params: Any) -> Any:
        return cls(params["rate"], tensor_from_json(params["phase_advance"]))


class TimeStretch(AudioTransform):
    """A complex spectrogram (…, freq, frames, 2) played faster or slower, at the same pitch."""

    shape = "<..., freq, time, complex=2>"

    @checked(hop_length=_hop, n_freq=positive_int32, fixed_rate=optional(positive_float32))
    def __init__(self, hop_length: int | None = None, n_freq: int = 201, fixed_rate: float | None = None):
        self.n_freq = n_freq
        self.hop_length = hop_length or n_freq - 1
        self.fixed_rate = 1.0 if fixed_rate is None else fixed_rate

    def transform(self, array: np.ndarray) -> np.ndarray:
        advance = np.linspace(0, math.pi * self.hop_length, array.shape[-3])[:, None]
        return as_pairs(phase_vocoder(as_complex(array), self.fixed_rate, advance), array.dtype)

    @classmethod
    def from_json(cls, params: Any) -> Any:
        return super().from_json({**(params or {}), "hop_length": int(params["hop_length"])})


def _not_zero(value: Any, name: str) -> None:
    int32(value, f"{name} ")
    if value == 0:
        raise ValueError(f"Input {name} is not within the required interval of [-2147483648, 0) and (0, 2147483647].")


class PitchShift(AudioTransform):
    """A waveform `n_steps` steps higher or lower: stretched in time, then resampled to its length."""

    @checked(
        check_window_length,
        sample_rate=non_negative_int32,
        n_steps=int32,
        bins_per_octave=_not_zero,
        n_fft=positive_int32,
        window=_window,
        hop_length=_hop,
    )
    def __init__(
        self,
        sample_rate: int,
        n_steps: int,
        bins_per_octave: int = 12,
        n_fft: int = 512,
        win_length: int | None = None,
        hop_length: int | None = None,
        window: WindowType = WindowType.HANN,
    ):
        self.sample_rate = sample_rate
        self.n_steps = n_steps
        self.bins_per_octave = bins_per_octave
        self.n_fft = n_fft
        self.win_length = win_length or n_fft
        self.hop_length = hop_length or self.win_length // 4
        self.window = window

    def transform(self, waveform: np.ndarray) -> np.ndarray:
        length, rate = waveform.shape[-1], 2.0 ** (-self.n_steps / self.bins_per_octave)
        shape = window(self.window, self.win_length)
        spectrum = stft(waveform, self.n_fft, self.hop_length, shape, True, BorderType.REFLECT)
        advance = np.linspace(0, math.pi * self.hop_length, spectrum.shape[-2])[:, None]
        stretched = phase_vocoder(spectrum, rate, advance)
        slow = istft(stretched, self.n_fft, self.hop_length, shape, True, round(length / rate))
        high = resample(
            slow, int(self.sample_rate / rate), self.sample_rate, ResampleMethod.SINC_INTERPOLATION, 6, 0.99, 0.0
        )[..., :length]
        missing = length - high.shape[-1]
        padded = np.pad(high, [(0, 0)] * (high.ndim - 1) + [(0, missing)])
        return padded.astype(waveform.dtype)


__all__ = [
    "GriffinLim",
    "InverseMelScale",
    "InverseSpectrogram",
    "LFCC",
    "MFCC",
    "MelScale",
    "MelSpectrogram",
    "PhaseVocoder",
    "PitchShift",
    "SpectralCentroid",
    "Spectrogram",
    "TimeStretch",
]
