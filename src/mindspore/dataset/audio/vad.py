"""Voice activity detection as SoX does it.

A few times a second the cepstral power of the last moments is measured, after a noise spectrum that follows the quiet
parts was taken away. When the smoothed measure passes a threshold, speech has begun; the search then goes back through
the measures before it to find the true start. What lies before is cut off.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..transforms.checks import checked, float32, non_negative_float32, optional, positive_float32, positive_int32
from .audio_transform import AudioTransform


def _noise_times(arguments: dict) -> None:
    up, down = arguments["noise_up_time"], arguments["noise_down_time"]
    if up < down:
        raise ValueError(
            "Input noise_up_time should be greater than noise_down_time, "
            f"but got noise_up_time: {up} and noise_down_time: {down}."
        )


def _hann(length: int) -> np.ndarray:
    return (0.5 - 0.5 * np.cos(np.arange(length) / length * 2 * math.pi)) * (2.0 / math.sqrt(length))


def _decay(seconds: float, rate: float) -> float:
    return math.exp(-1.0 / (seconds * rate)) if seconds else 0.0


class _Meter:
    """The measure of one channel: smoothed spectrum, noise spectrum, then the power of the cepstrum."""

    def __init__(self, vad: Vad, frame: int):
        rate = vad.sample_rate
        self.vad = vad
        self.size = max(16, 1 << (frame - 1).bit_length())
        self.first = max(1, int(vad.hp_filter_freq / rate * self.size + 0.5))
        self.end = min(int(vad.lp_filter_freq / rate * self.size + 0.5), self.size // 2)
        self.cepstrum_first = math.ceil(rate * 0.5 / vad.lp_lifter_freq)
        self.cepstrum_end = min(math.floor(rate * 0.5 / vad.hp_lifter_freq), self.size // 4)
        if self.end <= self.first:
            raise RuntimeError(
                "Vad: the end of spectrum must be greater than the start. Check if `hp_filter_freq` is "
                "too large or `lp_filter_freq` is too small."
            )
        if self.cepstrum_end <= self.cepstrum_first:
            raise RuntimeError(
                "Vad: the end of cepstrum must be greater than the start. Check if `hp_lifter_freq` is "
                "too large or `lp_lifter_freq` is too small."
            )
        self.window, self.cepstrum_window = _hann(frame), _hann(self.end - self.first)
        self.spectrum = np.zeros(self.end - self.first)
        self.noise = np.zeros(self.end - self.first)
        self.smooth = _decay(vad.measure_smooth_time, vad.measure_freq)
        self.up = _decay(vad.noise_up_time, vad.measure_freq)
        self.down = _decay(vad.noise_down_time, vad.measure_freq)

    def measure(self, frame: np.ndarray, boot: int) -> float:
        """`boot` counts the first measures, which train the noise spectrum; -1 afterwards."""
        magnitude = np.abs(np.fft.rfft(frame * self.window, self.size))[self.first : self.end]
        keep = boot / (1.0 + boot) if boot >= 0 else self.smooth
        self.spectrum = self.spectrum * keep + magnitude * (1 - keep)
        power = self.spectrum**2
        follow = 0.0 if boot >= 0 else np.where(power > self.noise, self.up, self.down)
        self.noise = self.noise * follow + power * (1 - follow)
        clean = np.sqrt(np.maximum(0.0, power - self.vad.noise_reduction_amount * self.noise))
        buffer = np.zeros(self.size // 2)
        buffer[self.first : self.end] = clean * self.cepstrum_window
        cepstrum = np.abs(np.fft.rfft(buffer))[self.cepstrum_first : self.cepstrum_end] ** 2
        total = cepstrum.sum() / len(cepstrum)
        return max(0.0, 21.0 + math.log(total)) if total > 0 else 0.0


class Vad(AudioTransform):
    """The waveform from where speech begins.

    Examples:
        >>> audio.Vad(16000)(np.zeros((1, 1600), np.float32)).ndim
        2
    """

    @checked(
        _noise_times,
        sample_rate=positive_int32,
        trigger_level=float32,
        trigger_time=non_negative_float32,
        search_time=non_negative_float32,
        allowed_gap=non_negative_float32,
        pre_trigger_time=non_negative_float32,
        boot_time=non_negative_float32,
        noise_up_time=non_negative_float32,
        noise_down_time=non_negative_float32,
        noise_reduction_amount=non_negative_float32,
        measure_freq=positive_float32,
        measure_duration=optional(non_negative_float32),
        measure_smooth_time=non_negative_float32,
        hp_filter_freq=positive_float32,
        lp_filter_freq=positive_float32,
        hp_lifter_freq=positive_float32,
        lp_lifter_freq=positive_float32,
    )
    def __init__(
        self,
        sample_rate: int,
        trigger_level: float = 7.0,
        trigger_time: float = 0.25,
        search_time: float = 1.0,
        allowed_gap: float = 0.25,
        pre_trigger_time: float = 0.0,
        boot_time: float = 0.35,
        noise_up_time: float = 0.1,
        noise_down_time: float = 0.01,
        noise_reduction_amount: float = 1.35,
        measure_freq: float = 20.0,
        measure_duration: float | None = None,
        measure_smooth_time: float = 0.4,
        hp_filter_freq: float = 50.0,
        lp_filter_freq: float = 6000.0,
        hp_lifter_freq: float = 150.0,
        lp_lifter_freq: float = 2000.0,
    ):
        self.sample_rate = sample_rate
        self.trigger_level = trigger_level
        self.trigger_time = trigger_time
        self.search_time = search_time
        self.allowed_gap = allowed_gap
        self.pre_trigger_time = pre_trigger_time
        self.boot_time = boot_time
        self.noise_up_time = noise_up_time
        self.noise_down_time = noise_down_time
        self.noise_reduction_amount = noise_reduction_amount
        self.measure_freq = measure_freq
        self.measure_duration = measure_duration or 2.0 / measure_freq
        self.measure_smooth_time = measure_smooth_time
        self.hp_filter_freq = hp_filter_freq
        self.lp_filter_freq = lp_filter_freq
        self.hp_lifter_freq = hp_lifter_freq
        self.lp_lifter_freq = lp_lifter_freq

    def transform(self, waveform: np.ndarray) -> np.ndarray:
        channels = waveform.reshape(-1, waveform.shape[-1])
        start = self._speech_start(channels.astype(np.float64))
        return np.ascontiguousarray(waveform[..., start:])

    def _speech_start(self, channels: np.ndarray) -> int:
        frame = int(self.sample_rate * self.measure_duration + 0.5)
        period = int(self.sample_rate / self.measure_freq + 0.5)
        searched = math.ceil(self.search_time * self.measure_freq)
        remembered = int(self.pre_trigger_time * self.sample_rate + 0.5) + searched * period + frame
        boot_last = int(self.boot_time * self.measure_freq - 0.5)
        meters = [_Meter(self, frame) for _ in channels]
        history: list[list[float]] = [[] for _ in channels]
        level = [0.0] * len(channels)
        blend = _decay(self.trigger_time, self.measure_freq)
        length, boot, flushed, triggered = channels.shape[1], 0, 0, False
        padded = np.pad(channels, [(0, 0), (1, 0)])  # a frame ends before the current sample
        end = length
        for now in range(frame - 1, length, period):
            for i, meter in enumerate(meters):
                value = meter.measure(padded[i, now + 1 - frame : now + 1], boot)
                history[i].append(value)
                level[i] = level[i] * blend + value * (1 - blend)
                triggered = triggered or level[i] >= self.trigger_level
                if triggered:
                    flushed = min(max(flushed, self._go_back(history[i], searched)), searched)
            boot = -1 if boot == boot_last or boot < 0 else boot + 1
            if triggered:
                end = now + 1
                break
        if triggered:
            return min(max(0, end - remembered + (searched - flushed) * period), length)
        # No speech: the remembered samples are what is left; counted from the end when there are fewer, as others do.
        start = length - remembered
        return start if start >= 0 else max(0, start + length)

    def _go_back(self, measures: list[Any], searched: int) -> int:
        """How many measures before the trigger still belong to speech: gaps of up to `allowed_gap` are bridged."""
        gap = int(self.allowed_gap * self.measure_freq + 0.5)
        recent = measures[::-1][:searched]
        recent += [0.0] * (searched - len(recent))
        last_loud = silence = searched
        for j, value in enumerate(recent):
            if value >= self.trigger_level and j <= last_loud + gap:
                last_loud = silence = j
            elif value == 0 and last_loud >= silence:
                silence = j
        return min(max(0, searched - 1), silence)


__all__ = ["Vad"]
