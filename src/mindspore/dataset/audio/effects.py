"""Waveforms and spectrograms changed: loudness, coding, resampling, effects."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..transforms.checks import (
    boolean,
    check_type,
    checked,
    float32,
    int32,
    non_negative_float32,
    non_negative_int32,
    number,
    of_type,
    optional,
    positive_float32,
    positive_int32,
    real,
)
from .audio_transform import AudioTransform, sample_rate_not_zero, signal
from .enums import (
    DensityFunction,
    FadeShape,
    GainType,
    Interpolation,
    Modulation,
    ResampleMethod,
    ScaleType,
)

_positive = number(positive_float32)


class AmplitudeToDB(AudioTransform):
    """Powers or magnitudes in decibels, at most `top_db` below the loudest of each (channel, freq, time) block.

    Examples:
        >>> audio.AmplitudeToDB()(np.array([[[1.0, 10.0]]], np.float32)).tolist()
        [[[0.0, 10.0]]]
    """

    shape = "<..., freq, time>"

    @checked(stype=of_type(ScaleType), ref_value=_positive, amin=_positive, top_db=_positive)
    def __init__(
        self, stype: ScaleType = ScaleType.POWER, ref_value: float = 1.0, amin: float = 1e-10, top_db: float = 80.0
    ):
        self.stype = stype
        self.ref_value = ref_value
        self.amin = amin
        self.top_db = top_db

    def transform(self, array: np.ndarray) -> np.ndarray:
        multiplier = 10.0 if self.stype is ScaleType.POWER else 20.0
        reference = multiplier * math.log10(max(self.amin, self.ref_value))
        db = multiplier * np.log10(np.maximum(array, self.amin)) - reference
        axes = tuple(range(-min(3, array.ndim), 0))
        return np.maximum(db, db.max(axis=axes, keepdims=True) - self.top_db).astype(array.dtype)


class DBToAmplitude(AudioTransform):
    """Decibels back to powers or magnitudes: `ref * 10 ** (x * power / 10)`.

    Examples:
        >>> audio.DBToAmplitude(1.0, 1.0)(np.array([0.0, 10.0], np.float32)).tolist()
        [1.0, 10.0]
    """

    @checked(ref=float32, power=float32)
    def __init__(self, ref: float, power: float):
        self.ref = ref
        self.power = power

    def transform(self, waveform: np.ndarray) -> np.ndarray:
        return (self.ref * 10.0 ** (0.1 * waveform * self.power)).astype(waveform.dtype)


def magnitudes(array: np.ndarray, power: float) -> np.ndarray:
    """The magnitudes, to a power, of complex numbers given as (…, 2)."""
    squares = array[..., 0] ** 2 + array[..., 1] ** 2
    return squares if power == 2 else squares ** array.dtype.type(power / 2)


class Angle(AudioTransform):
    """The angles of complex numbers given as (…, 2).

    Examples:
        >>> audio.Angle()(np.array([[0.0, 1.0]], np.float32)).tolist()
        [1.5707963705062866]
    """

    shape = "<..., complex=2>"

    def transform(self, array: np.ndarray) -> np.ndarray:
        return np.arctan2(array[..., 1], array[..., 0])


class ComplexNorm(AudioTransform):
    """The magnitudes, to a power, of complex numbers given as (…, 2).

    Examples:
        >>> audio.ComplexNorm()(np.array([[3.0, 4.0]], np.float32)).tolist()
        [5.0]
    """

    shape = "<..., complex=2>"

    @checked(power=non_negative_float32)
    def __init__(self, power: float = 1.0):
        self.power = power

    def transform(self, array: np.ndarray) -> np.ndarray:
        return magnitudes(array, self.power)


class Magphase(AudioTransform):
    """The magnitudes, to a power, and the angles of complex numbers given as (…, 2).

    Examples:
        >>> size, angle = audio.Magphase()(np.array([[3.0, 0.0]], np.float32))
        >>> size.tolist(), angle.tolist()
        ([3.0], [0.0])
    """

    shape = "<..., complex=2>"

    @checked(power=non_negative_float32)
    def __init__(self, power: float = 1.0):
        self.power = power

    def transform(self, array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return magnitudes(array, self.power), np.arctan2(array[..., 1], array[..., 0])


# ---------------------------------------------------------------------------------------------------------------------
# Loudness


class Contrast(AudioTransform):
    """Louder sound without higher peaks.

    Examples:
        >>> wave = np.sin(np.arange(32, dtype=np.float32))[None]
        >>> audio.Contrast()(wave).shape
        (1, 32)
    """

    @checked(enhancement_amount=real(0, 100))
    def __init__(self, enhancement_amount: float = 75.0):
        self.enhancement_amount = enhancement_amount

    def transform(self, waveform: np.ndarray) -> np.ndarray:
        bent = waveform * (math.pi / 2)
        return np.sin(bent + self.enhancement_amount / 750.0 * np.sin(bent * 4)).astype(waveform.dtype)


class DCShift(AudioTransform):
    """A constant added; with a `limiter_gain` peaks near the limit are compressed instead of clipped.

    Examples:
        >>> audio.DCShift(0.25)(np.array([[0.5, -0.5]], np.float32)).tolist()
        [[0.75, -0.25]]
    """

    @checked(shift=real(-2.0, 2.0), limiter_gain=optional(of_type(float, int)))
    def __init__(self, shift: float, limiter_gain: float | None = None):
        self.shift = shift
        self.limiter_gain = limiter_gain or shift

    def transform(self, waveform: np.ndarray) -> np.ndarray:
        shifted = np.clip(waveform + self.shift, -1.0, 1.0)
        if self.limiter_gain == self.shift or self.shift == 0:
            return shifted.astype(waveform.dtype)
        threshold = 1.0 - (abs(self.shift) - self.limiter_gain)
        side = 1.0 if self.shift > 0 else -1.0
        peak = (waveform - side * threshold) * self.limiter_gain / (1 - threshold)
        if self.shift > 0:
            limited = np.minimum(peak + threshold + self.shift, threshold)
            return np.where(waveform > threshold, limited, shifted).astype(waveform.dtype)
        limited = np.maximum(peak - threshold + self.shift, -threshold)
        return np.where(waveform < -threshold, limited, shifted).astype(waveform.dtype)


class Gain(AudioTransform):
    """The waveform amplified by decibels.

    Examples:
        >>> audio.Gain(20.0)(np.array([0.05], np.float32)).tolist()
        [0.5]
    """

    @checked(gain_db=float32)
    def __init__(self, gain_db: float = 1.0):
        self.gain_db = gain_db

    def transform(self, waveform: np.ndarray) -> np.ndarray:
        return waveform * waveform.dtype.type(10.0 ** (self.gain_db / 20.0))


def _gain_range(arguments: dict) -> None:
    gain, kind = arguments["gain"], arguments["gain_type"]
    check_type(gain, (int, float), "gain")
    check_type(kind, (GainType,), "gain_type")
    rule = {GainType.AMPLITUDE: non_negative_float32, GainType.POWER: positive_float32}.get(kind, float32)
    rule(gain, "gain")


class Vol(AudioTransform):
    """The waveform amplified, by a factor, a power ratio or decibels, and clipped to [-1, 1].

    Examples:
        >>> audio.Vol(2.0)(np.array([0.25, 0.75], np.float32)).tolist()
        [0.5, 1.0]
    """

    @checked(_gain_range)
    def __init__(self, gain: float, gain_type: GainType = GainType.AMPLITUDE):
        self.gain = gain
        self.gain_type = gain_type

    def transform(self, waveform: np.ndarray) -> np.ndarray:
        factor = self.gain
        if self.gain_type is GainType.POWER:
            factor = math.sqrt(self.gain)
        elif self.gain_type is GainType.DB:
            factor = 10.0 ** (self.gain / 20.0)
        return np.clip(waveform * factor, -1.0, 1.0).astype(waveform.dtype)


class Fade(AudioTransform):
    """A fade at the beginning and the end.

    Examples:
        >>> audio.Fade(fade_in_len=2)(np.ones((1, 4), np.float32)).tolist()
        [[0.0, 1.0, 1.0, 1.0]]
    """

    @checked(fade_in_len=non_negative_int32, fade_out_len=non_negative_int32, fade_shape=of_type(FadeShape))
    def __init__(self, fade_in_len: int = 0, fade_out_len: int = 0, fade_shape: FadeShape = FadeShape.LINEAR):
        self.fade_in_len = fade_in_len
        self.fade_out_len = fade_out_len
        self.fade_shape = fade_shape

    def transform(self, waveform: np.ndarray) -> np.ndarray:
        length = waveform.shape[-1]
        for name, fade in (("fade_in_len", self.fade_in_len), ("fade_out_len", self.fade_out_len)):
            if fade > length:
                raise RuntimeError(
                    f"Fade: invalid parameter, '{name}' should be no greater than 'length of waveform', "
                    f"but got: {name} {fade} while length of waveform {length}."
                )
        envelope = np.ones(length)
        if self.fade_in_len:
            envelope[: self.fade_in_len] *= self._curve(np.linspace(0, 1, self.fade_in_len))
        if self.fade_out_len:
            envelope[length - self.fade_out_len :] *= self._curve(1.0 - np.linspace(0, 1, self.fade_out_len))
        return (waveform * envelope).astype(waveform.dtype)

    def _curve(self, x: np.ndarray) -> np.ndarray:
        if self.fade_shape is FadeShape.EXPONENTIAL:
            x = 2.0 ** (x - 1) * x
        elif self.fade_shape is FadeShape.LOGARITHMIC:
            x = np.log10(0.1 + x) + 1
        elif self.fade_shape is FadeShape.QUARTER_SINE:
            x = np.sin(x * math.pi / 2)
        elif self.fade_shape is FadeShape.HALF_SINE:
            x = np.sin(x * math.pi - math.pi / 2) / 2 + 0.5
        return x


# ---------------------------------------------------------------------------------------------------------------------
# Coding and sampling


class MuLawEncoding(AudioTransform):
    """Samples in [-1, 1] as numbers 0 … channels - 1, finer near zero (ITU-T G.711).

    Examples:
        >>> audio.MuLawEncoding(256)(np.array([[1.0, -1.0]], np.float32)).tolist()
        [[255, 0]]
    """

    @checked(quantization_channels=positive_int32)
    def __init__(self, quantization_channels: int = 256):
        self.quantization_channels = quantization_channels

    def transform(self, waveform: np.ndarray) -> np.ndarray:
        mu = waveform.dtype.type(self.quantization_channels - 1)
        coded = np.sign(waveform) * np.log1p(mu * np.abs(waveform)) / np.log1p(mu)
        return ((coded + 1) / 2 * mu + 0.5).astype(np.int32)


class MuLawDecoding(AudioTransform):
    """The inverse of `MuLawEncoding`.

    Examples:
        >>> audio.MuLawDecoding(256)(np.array([[255]])).round(3).tolist()
        [[1.0]]
    """

    @checked(quantization_channels=positive_int32)
    def __init__(self, quantization_channels: int = 256):
        self.quantization_channels = quantization_channels

    def transform(self, waveform: np.ndarray) -> np.ndarray:
        mu = waveform.dtype.type(self.quantization_channels - 1)
        coded = waveform / mu * 2 - 1
        return np.sign(coded) * np.expm1(np.abs(coded) * np.log1p(mu)) / mu


def resample(
    waveform: np.ndarray, orig: int, new: int, method: ResampleMethod, width: int, rolloff: float, beta: float
) -> np.ndarray:
    """Band-limited interpolation: a windowed sinc filter for each of `new` phases (J. O. Smith)."""
    common = math.gcd(orig, new)
    orig, new = orig // common, new // common
    if orig == new:
        return waveform
    base = min(orig, new) * rolloff
    reach = math.ceil(width * orig / base)
    places = np.arange(math.ceil(new * waveform.shape[-1] / orig)) * orig
    weights = _sinc_filters(orig, new, min(new, len(places)), reach, base, method, width, beta)
    padded = np.pad(waveform, [(0, 0)] * (waveform.ndim - 1) + [(reach, reach + 2)])
    phases = np.arange(len(places)) % new
    result = np.zeros((*waveform.shape[:-1], len(places)))
    for tap, weight in enumerate(weights):  # few taps, many samples
        result += padded[..., places // new + tap] * weight[phases]
    return result


def _sinc_filters(orig, new, phases, reach, base, method, width, beta) -> np.ndarray:
    """(taps, phases): what the samples around a place contribute, for places between them at each phase."""
    between = (np.arange(phases) * orig % new) / new
    distance = np.arange(-reach, reach + 2)[:, None] - between
    scaled = np.clip(distance * base / orig, -width, width)
    if method is ResampleMethod.SINC_INTERPOLATION:
        shape = np.cos(scaled * math.pi / width / 2) ** 2
    else:
        shape = np.i0(beta * np.sqrt(1 - (scaled / width) ** 2)) / np.i0(beta)
    return np.sinc(scaled) * shape * (base / orig)


class Resample(AudioTransform):
    """The waveform at another sample rate.

    Examples:
        >>> import numpy as np
        >>> import mindspore.dataset.audio as audio
        >>> audio.Resample(16000, 8000)(np.zeros((1, 100), np.float32)).shape
        (1, 50)
    """

    @checked(
        orig_freq=positive_float32,
        new_freq=positive_float32,
        resample_method=of_type(ResampleMethod),
        lowpass_filter_width=positive_int32,
    )
    def __init__(
        self,
        orig_freq: float = 16000,
        new_freq: float = 16000,
        resample_method: ResampleMethod = ResampleMethod.SINC_INTERPOLATION,
        lowpass_filter_width: int = 6,
        rolloff: float = 0.99,
        beta: float | None = None,
    ):
        check_type(rolloff, (float,), "rolloff")
        real(0, 1.0, left_open=True)(rolloff, "rolloff")
        self.orig_freq = orig_freq
        self.new_freq = new_freq
        self.resample_method = resample_method
        self.lowpass_filter_width = lowpass_filter_width
        self.rolloff = rolloff
        self.beta = 14.769656459379492 if beta is None else beta

    def transform(self, waveform: np.ndarray) -> np.ndarray:
        done = resample(
            waveform,
            int(self.orig_freq),
            int(self.new_freq),
            self.resample_method,
            self.lowpass_filter_width,
            self.rolloff,
            self.beta,
        )
        return done.astype(waveform.dtype)


class Dither(AudioTransform):
    """Rounded to 16 bits after a little noise, so that the rounding is not heard as distortion.

    Examples:
        >>> wave = np.sin(np.arange(32, dtype=np.float32))[None]
        >>> audio.Dither()(wave).shape
        (1, 32)
    """

    random = True

    @checked(density_function=of_type(DensityFunction), noise_shaping=boolean)
    def __init__(self, density_function: DensityFunction = DensityFunction.TPDF, noise_shaping: bool = False):
        self.density_function = density_function
        self.noise_shaping = noise_shaping

    def transform(self, waveform: np.ndarray) -> np.ndarray:
        channels = waveform.reshape(-1, waveform.shape[-1])
        scaled = channels * (2.0**15 - 2)
        dithered = np.rint(scaled + self._noise(channels)) / 2.0**15
        if self.noise_shaping:
            error = dithered - channels
            dithered = dithered + np.pad(error, [(0, 0), (1, 0)])[:, :-1]
        return dithered.reshape(waveform.shape).astype(waveform.dtype)

    def _noise(self, channels: np.ndarray) -> Any:
        count, length = channels.shape
        if self.density_function is DensityFunction.TPDF:
            return np.bartlett(length + 1)[:-1]
        draws = 1 if self.density_function is DensityFunction.RPDF else 6
        rows, columns = self.rng.integers(count, size=draws), self.rng.integers(length, size=draws)
        picked = channels[rows, columns]
        return picked[0] - 0.5 if draws == 1 else picked.sum()


# ---------------------------------------------------------------------------------------------------------------------
# Effects


def wave_table(modulation: Modulation, size: int, low: float, high: float, phase: float) -> np.ndarray:
    """One period of the modulating wave, from `low` to `high`."""
    point = (np.arange(size) + int(phase / math.pi / 2 * size + 0.5)) % size
    if modulation is Modulation.SINUSOIDAL:
        wave = (np.sin(point / size * 2 * math.pi) + 1) / 2
    else:
        ramp, quarter = point * 2 / size, 4 * point // size
        wave = np.where(quarter == 0, ramp + 0.5, np.where(quarter == 3, ramp - 1.5, 1.5 - ramp))
    return wave * (high - low) + low


class Overdrive(AudioTransform):
    """A guitar amplifier's distortion.

    Examples:
        >>> wave = np.sin(np.arange(32, dtype=np.float32))[None]
        >>> audio.Overdrive()(wave).shape
        (1, 32)
    """

    @checked(gain=real(0, 100), color=real(0, 100))
    def __init__(self, gain: float = 20.0, color: float = 20.0):
        self.gain = gain
        self.color = color

    def transform(self, waveform: np.ndarray) -> np.ndarray:
        driven = np.clip(waveform * 10.0 ** (self.gain / 20.0) + self.color / 200.0, -1.0, 1.0)
        bent = driven - driven**3 / 3.0
        without_dc = signal().lfilter([1.0, -1.0], [1.0, -0.995], bent, axis=-1)
        return np.clip(waveform * 0.5 + without_dc * 0.75, -1.0, 1.0).astype(waveform.dtype)


class Phaser(AudioTransform):
    """The sweeping sound of a delayed copy with feedback.

    Examples:
        >>> wave = np.sin(np.arange(32, dtype=np.float32))[None]
        >>> audio.Phaser(16000)(wave).shape
        (1, 32)
    """

    @checked(
        sample_rate=int32,
        gain_in=real(0, 1),
        gain_out=real(0, 1e9),
        delay_ms=real(0, 5.0),
        decay=real(0, 0.99),
        mod_speed=real(0.1, 2),
        sinusoidal=boolean,
    )
    def __init__(
        self,
        sample_rate: int,
        gain_in: float = 0.4,
        gain_out: float = 0.74,
        delay_ms: float = 3.0,
        decay: float = 0.4,
        mod_speed: float = 0.5,
        sinusoidal: bool = True,
    ):
        self.sample_rate = sample_rate
        self.gain_in = gain_in
        self.gain_out = gain_out
        self.delay_ms = delay_ms
        self.decay = decay
        self.mod_speed = mod_speed
        self.sinusoidal = sinusoidal

    def transform(self, waveform: np.ndarray) -> np.ndarray:
        channels = waveform.reshape(-1, waveform.shape[-1]) * self.gain_in
        size = int(self.delay_ms * 0.001 * self.sample_rate + 0.5)
        if size < 1:
            raise RuntimeError("Phaser: delay_ms * sample_rate should be at least one sample.")
        kind = Modulation.SINUSOIDAL if self.sinusoidal else Modulation.TRIANGULAR
        sweep = wave_table(kind, int(self.sample_rate / self.mod_speed + 0.5), 1.0, float(size), math.pi / 2)
        sweep = (sweep + 0.5).astype(np.int64)
        line, result, at = np.zeros((len(channels), size)), np.empty_like(channels), 0
        for i in range(channels.shape[1]):
            delayed = line[:, (at + sweep[i % len(sweep)]) % size]
            at = (at + 1) % size
            result[:, i] = channels[:, i] + delayed
            line[:, at] = result[:, i] * self.decay
        return np.clip(result * self.gain_out, -1.0, 1.0).reshape(waveform.shape).astype(waveform.dtype)


class Flanger(AudioTransform):
    """The sweeping sound of a copy with varying delay, on waveforms (…, channel, time).

    Examples:
        >>> wave = np.sin(np.arange(32, dtype=np.float32))[None]
        >>> audio.Flanger(16000)(wave).shape
        (1, 32)
    """

    shape = "<..., channel, time>"

    @checked(
        sample_rate=sample_rate_not_zero,
        delay=real(0, 30),
        depth=real(0, 10),
        regen=real(-95, 95),
        width=real(0, 100),
        speed=real(0.1, 10),
        phase=real(0, 100),
        modulation=of_type(Modulation),
        interpolation=of_type(Interpolation),
    )
    def __init__(
        self,
        sample_rate: int,
        delay: float = 0.0,
        depth: float = 2.0,
        regen: float = 0.0,
        width: float = 71.0,
        speed: float = 0.5,
        phase: float = 25.0,
        modulation: Modulation = Modulation.SINUSOIDAL,
        interpolation: Interpolation = Interpolation.LINEAR,
    ):
        self.sample_rate, self.delay, self.depth, self.regen, self.width = sample_rate, delay, depth, regen, width
        self.speed, self.phase, self.modulation, self.interpolation = speed, phase, modulation, interpolation

    def apply(self, column: Any) -> np.ndarray:
        return super().apply(column).astype(np.asarray(column).dtype)

    def transform(self, waveform: np.ndarray) -> np.ndarray:
        batch = waveform.reshape(-1, *waveform.shape[-2:]).astype(np.float64)
        if batch.shape[1] > 4:
            raise RuntimeError(
                f"Flanger: the channel of input tensor must be less than or equal to 4, but got: {batch.shape[1]}"
            )
        feedback, wet = self.regen / 100, self.width / 100
        dry, wet = 1 / (1 + wet), wet / (1 + wet) * (1 - abs(feedback))
        size = int((self.delay + self.depth) / 1000 * self.sample_rate + 0.5) + 2
        period = int(self.sample_rate / self.speed)
        low = math.floor(self.delay / 1000 * self.sample_rate + 0.5)
        sweep = wave_table(self.modulation, period, low, size - 2.0, 3 * math.pi / 2)
        lead = (np.arange(batch.shape[1]) * period * (self.phase / 100) + 0.5).astype(np.int64)
        line, last = np.zeros((*batch.shape[:2], size)), np.zeros(batch.shape[:2])
        result, at, channel = np.empty_like(batch), 0, np.arange(batch.shape[1])
        for i in range(batch.shape[2]):
            at = (at + size - 1) % size
            line[:, :, at] = batch[:, :, i] + last * feedback
            delay = sweep[(i + lead) % period]
            whole = delay.astype(np.int64)
            taps = [line[:, channel, (at + whole + k) % size] for k in range(3)]
            last = self._between(taps, delay - whole)
            result[:, :, i] = batch[:, :, i] * dry + last * wet
        return np.clip(result, -1.0, 1.0).reshape(waveform.shape).astype(waveform.dtype)

    def _between(self, taps: list[np.ndarray], fraction: np.ndarray) -> np.ndarray:
        first, second, third = taps
        if self.interpolation is Interpolation.LINEAR:
            return first + (second - first) * fraction
        third, second = third - first, second - first
        return first + ((third * 0.5 - second) * fraction + second * 2 - third * 0.5) * fraction


__all__ = [
    "AmplitudeToDB",
    "Angle",
    "ComplexNorm",
    "Contrast",
    "DBToAmplitude",
    "DCShift",
    "Dither",
    "Fade",
    "Flanger",
    "Gain",
    "Magphase",
    "MuLawDecoding",
    "MuLawEncoding",
    "Overdrive",
    "Phaser",
    "Resample",
    "Vol",
]
