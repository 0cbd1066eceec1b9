"""Linear filters: general ones and second-order sections ("biquads").

The designs are those of R. Bristow-Johnson's "Cookbook formulae for audio EQ biquad filter coefficients", and SoX's for
the two-pole band, de-emphasis and RIAA filters. Results are clipped to [-1, 1].
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..transforms.checks import boolean, check_type, checked, each, float32
from .audio_transform import AudioTransform, float32_not_zero, quality, sample_rate_not_zero, signal


def filter_waveform(waveform: np.ndarray, a: Any, b: Any, clamp: bool) -> np.ndarray:
    """`a[0] y[t] = sum b[i] x[t - i] - sum a[i] y[t - i]` along the last axis."""
    filtered = signal().lfilter(np.asarray(b, np.float64), np.asarray(a, np.float64), waveform, axis=-1)
    return np.clip(filtered, -1.0, 1.0).astype(waveform.dtype) if clamp else filtered.astype(waveform.dtype)


def _coefficients(value: Any, name: str) -> None:
    each(float, int, item=float32)(value, name)


def _same_length(arguments: dict) -> None:
    a, b = arguments["a_coeffs"], arguments["b_coeffs"]
    if len(a) != len(b):
        raise ValueError("The size of a_coeffs should be the same as that of b_coeffs.")


class LFilter(AudioTransform):
    """A filter by its difference equation; `a_coeffs` are the feedback, lowest delay first.

    Examples:
        >>> import numpy as np
        >>> import mindspore.dataset.audio as audio
        >>> audio.LFilter([1.0, 0.0], [0.5, 0.5])(np.array([0.2, 0.4], np.float64)).round(3).tolist()
        [0.1, 0.3]
    """

    floats_only = True

    @checked(_same_length, a_coeffs=_coefficients, b_coeffs=_coefficients, clamp=boolean)
    def __init__(self, a_coeffs: Any, b_coeffs: Any, clamp: bool = True):
        self.a_coeffs = tuple(a_coeffs)
        self.b_coeffs = tuple(b_coeffs)
        self.clamp = clamp

    def transform(self, waveform: np.ndarray) -> np.ndarray:
        return filter_waveform(waveform, self.a_coeffs, self.b_coeffs, self.clamp)


class Filtfilt(LFilter):
    """The filter applied forwards, then backwards: no phase shift.

    Examples:
        >>> audio.Filtfilt([1.0, 0.0], [0.5, 0.0])(np.array([[0.4, 0.8]], np.float32)).tolist()
        [[0.10000000149011612, 0.20000000298023224]]
    """

    def transform(self, waveform: np.ndarray) -> np.ndarray:
        forward = filter_waveform(waveform, self.a_coeffs, self.b_coeffs, clamp=False)
        backward = filter_waveform(forward[..., ::-1], self.a_coeffs, self.b_coeffs, self.clamp)
        return np.ascontiguousarray(backward[..., ::-1])


# ---------------------------------------------------------------------------------------------------------------------
# Second-order sections


class _BiquadFilter(AudioTransform):
    """Base: `sections()` gives (b0, b1, b2) and (a0, a1, a2)."""

    floats_only = True

    def sections(self) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
        raise NotImplementedError

    def transform(self, waveform: np.ndarray) -> np.ndarray:
        b, a = self.sections()
        return filter_waveform(waveform, a, b, clamp=True)


class Biquad(_BiquadFilter):
    """A second-order section by its coefficients.

    Examples:
        >>> audio.Biquad(0.5, 0.0, 0.0, 1.0, 0.0, 0.0)(np.array([[0.2, 0.4]], np.float32)).tolist()
        [[0.10000000149011612, 0.20000000298023224]]
    """

    @checked(b0=float32, b1=float32, b2=float32, a0=float32_not_zero, a1=float32, a2=float32)
    def __init__(self, b0: float, b1: float, b2: float, a0: float, a1: float, a2: float):
        self.b0, self.b1, self.b2 = b0, b1, b2
        self.a0, self.a1, self.a2 = a0, a1, a2

    def sections(self) -> Any:
        return (self.b0, self.b1, self.b2), (self.a0, self.a1, self.a2)


def _angle(sample_rate: int, frequency: float, q: float) -> tuple[float, float, float]:
    """cos and sin of the frequency's angle, and alpha = sin / 2Q."""
    w0 = 2 * math.pi * frequency / sample_rate
    return math.cos(w0), math.sin(w0), math.sin(w0) / 2 / q


class AllpassBiquad(_BiquadFilter):
    """All frequencies pass; phases shift around `central_freq`.

    Examples:
        >>> wave = np.sin(np.arange(32, dtype=np.float32))[None]
        >>> audio.AllpassBiquad(16000, 1000.0)(wave).shape
        (1, 32)
    """

    @checked(sample_rate=sample_rate_not_zero, central_freq=float32, Q=quality)
    def __init__(self, sample_rate: int, central_freq: float, Q: float = 0.707):
        self.sample_rate, self.central_freq, self.Q = sample_rate, central_freq, Q

    def sections(self) -> Any:
        cos, _, alpha = _angle(self.sample_rate, self.central_freq, self.Q)
        return (1 - alpha, -2 * cos, 1 + alpha), (1 + alpha, -2 * cos, 1 - alpha)


class BandBiquad(_BiquadFilter):
    """A two-pole band filter; `noise` scales it for noise-like rather than pitched sound.

    Examples:
        >>> wave = np.sin(np.arange(32, dtype=np.float32))[None]
        >>> audio.BandBiquad(16000, 1000.0)(wave).shape
        (1, 32)
    """

    @checked(sample_rate=sample_rate_not_zero, central_freq=float32, Q=quality, noise=boolean)
    def __init__(self, sample_rate: int, central_freq: float, Q: float = 0.707, noise: bool = False):
        self.sample_rate, self.central_freq, self.Q, self.noise = sample_rate, central_freq, Q, noise

    def sections(self) -> Any:
        cos, _, _ = _angle(self.sample_rate, self.central_freq, self.Q)
        a2 = math.exp(-2 * math.pi * (self.central_freq / self.Q) / self.sample_rate)
        a1 = -4 * a2 / (1 + a2) * cos
        b0 = math.sqrt(1 - a1 * a1 / (4 * a2)) * (1 - a2)
        if self.noise:
            b0 *= math.sqrt(((1 + a2) ** 2 - a1 * a1) * (1 - a2) / (1 + a2)) / b0
        return (b0, 0.0, 0.0), (1.0, a1, a2)


class BandpassBiquad(_BiquadFilter):
    """Frequencies around `central_freq` pass; with `const_skirt_gain` the peak is Q instead of 1.

    Examples:
        >>> wave = np.sin(np.arange(32, dtype=np.float32))[None]
        >>> audio.BandpassBiquad(16000, 1000.0)(wave).shape
        (1, 32)
    """

    @checked(sample_rate=sample_rate_not_zero, central_freq=float32, Q=quality, const_skirt_gain=boolean)
    def __init__(self, sample_rate: int, central_freq: float, Q: float = 0.707, const_skirt_gain: bool = False):
        self.sample_rate, self.central_freq, self.Q = sample_rate, central_freq, Q
        self.const_skirt_gain = const_skirt_gain

    def sections(self) -> Any:
        cos, sin, alpha = _angle(self.sample_rate, self.central_freq, self.Q)
        peak = sin / 2 if self.const_skirt_gain else alpha
        return (peak, 0.0, -peak), (1 + alpha, -2 * cos, 1 - alpha)


class BandrejectBiquad(_BiquadFilter):
    """Frequencies around `central_freq` are removed.

    Examples:
        >>> wave = np.sin(np.arange(32, dtype=np.float32))[None]
        >>> audio.BandrejectBiquad(16000, 1000.0)(wave).shape
        (1, 32)
    """

    @checked(sample_rate=sample_rate_not_zero, central_freq=float32, Q=quality)
    def __init__(self, sample_rate: int, central_freq: float, Q: float = 0.707):
        self.sample_rate, self.central_freq, self.Q = sample_rate, central_freq, Q

    def sections(self) -> Any:
        cos, _, alpha = _angle(self.sample_rate, self.central_freq, self.Q)
        return (1.0, -2 * cos, 1.0), (1 + alpha, -2 * cos, 1 - alpha)


def _low_shelf(cos: float, alpha: float, amplitude: float) -> Any:
    slope, up, down = 2 * math.sqrt(amplitude) * alpha, amplitude + 1, amplitude - 1
    b = (up - down * cos + slope, 2 * (down - up * cos), up - down * cos - slope)
    a = (up + down * cos + slope, -2 * (down + up * cos), up + down * cos - slope)
    return tuple(amplitude * value for value in b), a


def _high_shelf(cos: float, alpha: float, amplitude: float) -> Any:
    slope, up, down = 2 * math.sqrt(amplitude) * alpha, amplitude + 1, amplitude - 1
    b = (up + down * cos + slope, -2 * (down + up * cos), up + down * cos - slope)
    a = (up - down * cos + slope, 2 * (down - up * cos), up - down * cos - slope)
    return tuple(amplitude * value for value in b), a


class BassBiquad(_BiquadFilter):
    """Low frequencies raised or lowered by `gain` dB.

    Examples:
        >>> wave = np.sin(np.arange(32, dtype=np.float32))[None]
        >>> audio.BassBiquad(16000, 6.0)(wave).shape
        (1, 32)
    """

    @checked(sample_rate=sample_rate_not_zero, gain=float32, central_freq=float32, Q=quality)
    def __init__(self, sample_rate: int, gain: float, central_freq: float = 100.0, Q: float = 0.707):
        self.sample_rate, self.gain, self.central_freq, self.Q = sample_rate, gain, central_freq, Q

    def sections(self) -> Any:
        cos, _, alpha = _angle(self.sample_rate, self.central_freq, self.Q)
        return _low_shelf(cos, alpha, 10 ** (self.gain / 40))


class TrebleBiquad(_BiquadFilter):
    """High frequencies raised or lowered by `gain` dB.

    Examples:
        >>> wave = np.sin(np.arange(32, dtype=np.float32))[None]
        >>> audio.TrebleBiquad(16000, 6.0)(wave).shape
        (1, 32)
    """

    @checked(sample_rate=sample_rate_not_zero, gain=float32, central_freq=float32, Q=quality)
    def __init__(self, sample_rate: int, gain: float, central_freq: float = 3000, Q: float = 0.707):
        self.sample_rate, self.gain, self.central_freq, self.Q = sample_rate, gain, central_freq, Q

    def sections(self) -> Any:
        cos, _, alpha = _angle(self.sample_rate, self.central_freq, self.Q)
        return _high_shelf(cos, alpha, 10 ** (self.gain / 40))


def _central_freq(value: Any, name: str) -> None:
    float32(value, "central_freq")


class EqualizerBiquad(_BiquadFilter):
    """Frequencies around `center_freq` raised or lowered by `gain` dB.

    Examples:
        >>> wave = np.sin(np.arange(32, dtype=np.float32))[None]
        >>> audio.EqualizerBiquad(16000, 1000.0, 6.0)(wave).shape
        (1, 32)
    """

    @checked(sample_rate=sample_rate_not_zero, center_freq=_central_freq, gain=float32, Q=quality)
    def __init__(self, sample_rate: int, center_freq: float, gain: float, Q: float = 0.707):
        self.sample_rate, self.center_freq, self.gain, self.Q = sample_rate, center_freq, gain, Q

    def sections(self) -> Any:
        cos, _, alpha = _angle(self.sample_rate, self.center_freq, self.Q)
        amplitude = 10 ** (self.gain / 40)
        b = (1 + alpha * amplitude, -2 * cos, 1 - alpha * amplitude)
        return b, (1 + alpha / amplitude, -2 * cos, 1 - alpha / amplitude)


class HighpassBiquad(_BiquadFilter):
    """Frequencies above `cutoff_freq` pass.

    Examples:
        >>> wave = np.sin(np.arange(32, dtype=np.float32))[None]
        >>> audio.HighpassBiquad(16000, 1000.0)(wave).shape
        (1, 32)
    """

    @checked(sample_rate=sample_rate_not_zero, cutoff_freq=float32, Q=quality)
    def __init__(self, sample_rate: int, cutoff_freq: float, Q: float = 0.707):
        self.sample_rate, self.cutoff_freq, self.Q = sample_rate, cutoff_freq, Q

    def sections(self) -> Any:
        cos, _, alpha = _angle(self.sample_rate, self.cutoff_freq, self.Q)
        return ((1 + cos) / 2, -1 - cos, (1 + cos) / 2), (1 + alpha, -2 * cos, 1 - alpha)


class LowpassBiquad(_BiquadFilter):
    """Frequencies below `cutoff_freq` pass.

    Examples:
        >>> wave = np.sin(np.arange(32, dtype=np.float32))[None]
        >>> audio.LowpassBiquad(16000, 1000.0)(wave).shape
        (1, 32)
    """

    @checked(sample_rate=sample_rate_not_zero, cutoff_freq=float32, Q=quality)
    def __init__(self, sample_rate: int, cutoff_freq: float, Q: float = 0.707):
        self.sample_rate, self.cutoff_freq, self.Q = sample_rate, cutoff_freq, Q

    def sections(self) -> Any:
        cos, _, alpha = _angle(self.sample_rate, self.cutoff_freq, self.Q)
        return ((1 - cos) / 2, 1 - cos, (1 - cos) / 2), (1 + alpha, -2 * cos, 1 - alpha)


# Sample rate -> frequency, shelf slope and gain of the CD de-emphasis curve (IEC 60908), as a treble shelf.
_DEEMPHASIS = {44100: (5283.0, 0.4845, -9.477), 48000: (5356.0, 0.479, -9.62)}


class DeemphBiquad(_BiquadFilter):
    """The treble boost of pre-emphasised CDs undone.

    Examples:
        >>> wave = np.sin(np.arange(32, dtype=np.float32))[None]
        >>> audio.DeemphBiquad(44100)(wave).shape
        (1, 32)
    """

    def __init__(self, sample_rate: int):
        check_type(sample_rate, (int,), "sample_rate")
        if sample_rate not in _DEEMPHASIS:
            raise ValueError(f"Argument sample_rate should be 44100 or 48000, but got {sample_rate}.")
        self.sample_rate = sample_rate

    def sections(self) -> Any:
        frequency, slope, gain = _DEEMPHASIS[self.sample_rate]
        amplitude = 10 ** (gain / 40)
        cos, sin, _ = _angle(self.sample_rate, frequency, 1.0)
        alpha = sin / 2 * math.sqrt((amplitude + 1 / amplitude) * (1 / slope - 1) + 2)
        return _high_shelf(cos, alpha, amplitude)


# Sample rate -> zeros and poles of the playback curve of vinyl records (RIAA).
_RIAA = {
    44100: ((-0.2014898, 0.9233820), (0.7083149, 0.9924091)),
    48000: ((-0.1766069, 0.9321590), (0.7396325, 0.9931330)),
    88200: ((-0.1168735, 0.9648312), (0.8590646, 0.9964002)),
    96000: ((-0.1141486, 0.9676817), (0.8699137, 0.9966946)),
}


class RiaaBiquad(_BiquadFilter):
    """The equalisation of vinyl records undone; 0 dB at 1 kHz.

    Examples:
        >>> wave = np.sin(np.arange(32, dtype=np.float32))[None]
        >>> audio.RiaaBiquad(44100)(wave).shape
        (1, 32)
    """

    def __init__(self, sample_rate: int):
        check_type(sample_rate, (int,), "sample_rate")
        if sample_rate not in _RIAA:
            raise ValueError(f"sample_rate should be one of [44100, 48000, 88200, 96000], but got {sample_rate}.")
        self.sample_rate = sample_rate

    def sections(self) -> Any:
        zeros, poles = _RIAA[self.sample_rate]
        b, a = np.poly(zeros), np.poly(poles)
        at_1khz = np.exp(-2j * math.pi * 1000 / self.sample_rate) ** np.arange(3)
        return tuple(b * (abs(a @ at_1khz) / abs(b @ at_1khz))), tuple(a)


__all__ = [
    "AllpassBiquad",
    "BandBiquad",
    "BandpassBiquad",
    "BandrejectBiquad",
    "BassBiquad",
    "Biquad",
    "DeemphBiquad",
    "EqualizerBiquad",
    "Filtfilt",
    "HighpassBiquad",
    "LFilter",
    "LowpassBiquad",
    "RiaaBiquad",
    "TrebleBiquad",
]
