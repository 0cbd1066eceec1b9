"""Phases of spectrograms: found for given magnitudes, and changed to play faster, slower, higher or lower."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..transforms.checks import (
    boolean,
    checked,
    int32,
    non_negative_float32,
    non_negative_int32,
    of_type,
    optional,
    positive_float32,
    positive_int32,
)
from ..transforms.transform import tensor_from_json, tensor_to_json
from .audio_transform import (
    AudioTransform,
    as_complex,
    as_pairs,
    check_hop,
    check_window,
    check_window_length,
)
from .effects import resample
from .enums import BorderType, ResampleMethod, WindowType
from .fourier import istft, stft, window


def _check_griffin_lim(arguments: dict) -> None:
    win_length, n_fft = arguments["win_length"], arguments["n_fft"]
    if win_length is not None and win_length > n_fft:
        raise ValueError(
            f"Input win_length should be no more than n_fft, but got win_length: {win_length} and n_fft: {n_fft}."
        )


class GriffinLim(AudioTransform):
    """A waveform with the given magnitudes: phases by the fast Griffin-Lim iteration (Perraudin et al. 2013).

    Examples:
        >>> power = np.ones((5, 6), np.float32)
        >>> audio.GriffinLim(n_fft=8, n_iter=2)(power).ndim
        1
    """

    shape = "<..., freq, time>"
    random = True

    @checked(
        _check_griffin_lim,
        n_fft=positive_int32,
        n_iter=positive_int32,
        win_length=optional(non_negative_int32),
        hop_length=optional(non_negative_int32),
        window_type=check_window,
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
    """A complex spectrogram (…, freq, frames, 2) at another speed; `phase_advance` (freq, 1) per hop and band.

    Examples:
        >>> advance = np.zeros((5, 1), np.float32)
        >>> audio.PhaseVocoder(2.0, advance)(np.ones((5, 8, 2), np.float32)).shape
        (5, 4, 2)
    """

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
    """A complex spectrogram (…, freq, frames, 2) played faster or slower, at the same pitch.

    Examples:
        >>> audio.TimeStretch(hop_length=4, n_freq=5, fixed_rate=2.0)(np.ones((5, 8, 2), np.float32)).shape
        (1, 5, 4, 2)
    """

    shape = "<..., freq, time, complex=2>"

    @checked(hop_length=check_hop, n_freq=positive_int32, fixed_rate=optional(positive_float32))
    def __init__(self, hop_length: int | None = None, n_freq: int = 201, fixed_rate: float | None = None):
        self.n_freq = n_freq
        self.hop_length = hop_length or n_freq - 1
        self.fixed_rate = 1.0 if fixed_rate is None else fixed_rate

    def transform(self, array: np.ndarray) -> np.ndarray:
        array = array.reshape((-1, *array.shape[-3:])) if array.ndim == 3 else array  # a channel of its own, as the official one
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
    """A waveform `n_steps` steps higher or lower: stretched in time, then resampled to its length.

    Examples:
        >>> wave = np.sin(np.arange(1600, dtype=np.float32))[None]
        >>> audio.PitchShift(16000, n_steps=2, n_fft=64)(wave).shape
        (1, 1600)
    """

    @checked(
        check_window_length,
        sample_rate=non_negative_int32,
        n_steps=int32,
        bins_per_octave=_not_zero,
        n_fft=positive_int32,
        window=check_window,
        hop_length=check_hop,
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


__all__ = ["GriffinLim", "PhaseVocoder", "PitchShift", "TimeStretch"]
