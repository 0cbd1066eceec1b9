"""Features over time: deltas, cepstral mean normalisation, pitch."""

from __future__ import annotations

import math

import numpy as np

from ..transforms.checks import (
    INT32_MAX,
    boolean,
    checked,
    integer,
    non_negative_int32,
    number,
    of_type,
    positive_float32,
    positive_int32,
)
from .audio_transform import AudioTransform, sample_rate_not_zero
from .enums import BorderType
from .fourier import pad_time


class ComputeDeltas(AudioTransform):
    """The slope over time of each feature, by regression over `win_length` frames.

    Examples:
        >>> audio.ComputeDeltas(win_length=3)(np.arange(5, dtype=np.float32)[None, None])[0, 0, 2].item()
        1.0
    """

    shape = "<..., freq, time>"

    @checked(pad_mode=of_type(BorderType), win_length=integer(3, INT32_MAX))
    def __init__(self, win_length: int = 5, pad_mode: BorderType = BorderType.EDGE):
        self.win_length = win_length
        self.pad_mode = pad_mode

    def transform(self, array: np.ndarray) -> np.ndarray:
        reach = (self.win_length - 1) // 2
        kernel = np.arange(-reach, reach + 1) / (reach * (reach + 1) * (2 * reach + 1) / 3)
        padded = pad_time(array, reach, reach, self.pad_mode)
        frames = np.lib.stride_tricks.sliding_window_view(padded, len(kernel), axis=-1)
        return (frames @ kernel).astype(array.dtype)


class SlidingWindowCmn(AudioTransform):
    """Features (…, frames, coefficients) less their mean over a window of frames; `norm_vars` also scales them.

    Examples:
        >>> audio.SlidingWindowCmn()(np.ones((1, 4, 2), np.float32)).tolist()
        [[[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]]
    """

    shape = "<..., freq, time>"

    @checked(cmn_window=non_negative_int32, min_cmn_window=non_negative_int32, center=boolean, norm_vars=boolean)
    def __init__(self, cmn_window: int = 600, min_cmn_window: int = 100, center: bool = False, norm_vars: bool = False):
        self.cmn_window = cmn_window
        self.min_cmn_window = min_cmn_window
        self.center = center
        self.norm_vars = norm_vars

    def transform(self, array: np.ndarray) -> np.ndarray:
        frames = array.shape[-2]
        wide = array.astype(np.float64)
        zero = np.zeros((*array.shape[:-2], 1, array.shape[-1]))
        sums, squares = (np.concatenate([zero, values.cumsum(axis=-2)], axis=-2) for values in (wide, wide * wide))
        result = np.empty_like(wide)
        for t in range(frames):
            start, end = self._window(t, frames)
            count = end - start
            mean = (sums[..., end, :] - sums[..., start, :]) / count
            result[..., t, :] = wide[..., t, :] - mean
            if self.norm_vars:
                variance = (squares[..., end, :] - squares[..., start, :]) / count - mean * mean
                scale = 1.0 / np.sqrt(np.maximum(variance, 1e-20)) if count > 1 else 0.0
                result[..., t, :] *= scale
        return result.astype(array.dtype)

    def _window(self, t: int, frames: int) -> tuple[int, int]:
        """The frames whose mean is taken for frame `t`."""
        if self.center:
            start = t - self.cmn_window // 2
            end = start + self.cmn_window
        else:
            start, end = t - self.cmn_window, t + 1
        if start < 0:
            start, end = 0, end - start
        if not self.center:
            end = max(t + 1, self.min_cmn_window) if end > t else end
        if end > frames:
            start, end = max(0, start - (end - frames)), frames
        return start, end


class DetectPitchFrequency(AudioTransform):
    """The pitch of each frame: the lag of greatest normalised cross-correlation, smoothed by a running median.

    Examples:
        >>> wave = np.sin(2 * np.pi * 200 * np.arange(8000) / 16000).astype(np.float32)[None]
        >>> audio.DetectPitchFrequency(16000)(wave)[0, :2].round().tolist()
        [200.0, 200.0]
    """

    floats_only = True

    @checked(
        sample_rate=sample_rate_not_zero,
        frame_time=positive_float32,
        win_length=positive_int32,
        freq_low=number(positive_float32),
        freq_high=number(positive_float32),
    )
    def __init__(
        self,
        sample_rate: int,
        frame_time: float = 0.01,
        win_length: int = 30,
        freq_low: float = 85,
        freq_high: float = 3400,
    ):
        self.sample_rate = sample_rate
        self.frame_time = frame_time
        self.win_length = win_length
        self.freq_low = freq_low
        self.freq_high = freq_high

    def transform(self, waveform: np.ndarray) -> np.ndarray:
        channels = waveform.reshape(-1, waveform.shape[-1])
        lags = self._smooth(self._best_lags(self._correlation(channels)))
        pitch = self.sample_rate / (1e-9 + lags)
        return pitch.reshape(*waveform.shape[:-1], -1).astype(np.float32)

    def _correlation(self, channels: np.ndarray) -> np.ndarray:
        """(channel, frame, lag) of the normalised cross-correlation, lags from 1 on."""
        lags = math.ceil(self.sample_rate / self.freq_low)
        size = math.ceil(np.float32(self.sample_rate * np.float32(self.frame_time)))
        frames = math.ceil(channels.shape[1] / size)
        padded = np.pad(channels, [(0, 0), (0, lags + frames * size - channels.shape[1])])

        def cut(start: int) -> np.ndarray:
            return padded[:, start : start + frames * size].reshape(len(channels), frames, size)

        base = cut(0)
        energy = (base * base).sum(axis=-1)
        result = np.zeros((len(channels), frames, lags), channels.dtype)
        for lag in range(1, lags + 1):
            other = cut(lag)
            scale = energy * (other * other).sum(axis=-1)
            product = (base * other).sum(axis=-1)
            result[:, :, lag - 1] = np.divide(product, scale, out=np.zeros_like(product), where=scale != 0)
        return result

    def _best_lags(self, correlation: np.ndarray) -> np.ndarray:
        """The best lag of each frame, or of its lower half when that is almost as good (an octave higher)."""
        lowest = math.ceil(self.sample_rate / self.freq_high)
        half = correlation.shape[-1] // 2
        best = correlation[..., lowest:].argmax(axis=-1) + lowest
        if half <= lowest:
            return best + 1
        near = correlation[..., lowest:half].argmax(axis=-1) + lowest
        best_value, near_value = (
            np.take_along_axis(correlation, which[..., None], axis=-1)[..., 0] for which in (best, near)
        )
        return np.where(near_value > 0.99 * best_value, near, best) + 1

    def _smooth(self, lags: np.ndarray) -> np.ndarray:
        reach = (self.win_length - 1) // 2
        padded = np.concatenate([np.repeat(lags[:, :1], reach, axis=1), lags], axis=1)
        if padded.shape[1] < self.win_length:
            raise RuntimeError(
                f"DetectPitchFrequency: win_length {self.win_length} needs more frames than the waveform has: "
                f"{lags.shape[1]}."
            )
        windows = np.lib.stride_tricks.sliding_window_view(padded, self.win_length, axis=1)
        return np.sort(windows, axis=-1)[..., reach]


__all__ = ["ComputeDeltas", "DetectPitchFrequency", "SlidingWindowCmn"]
