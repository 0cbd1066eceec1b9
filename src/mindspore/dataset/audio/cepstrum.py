"""Cepstral coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..transforms.checks import (
    boolean,
    checked,
    non_negative_float32,
    non_negative_int32,
    number,
    of_type,
    optional,
    positive_int32,
)
from ..transforms.transform import to_plain
from .audio_transform import (
    AudioTransform,
)
from .enums import BorderType, MelType, NormMode, NormType, WindowType
from .fourier import dct_matrix, linear_filters
from .mel import MelSpectrogram
from .spectrogram import Spectrogram


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
    """Mel-frequency cepstral coefficients; `melkwargs` are arguments of `MelSpectrogram`.

    Examples:
        >>> wave = np.sin(np.arange(1600, dtype=np.float32))[None]
        >>> settings = {"n_fft": 64, "win_length": 64, "hop_length": 32, "n_mels": 8}
        >>> audio.MFCC(n_mfcc=4, melkwargs=settings)(wave).shape
        (1, 4, 51)
    """

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
        return (dct_matrix(self.n_mfcc, self._mel.n_mels, self.norm).T @ mels).astype(np.float32)

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
    """Linear-frequency cepstral coefficients; `speckwargs` are arguments of `Spectrogram`.

    Examples:
        >>> wave = np.sin(np.arange(1600, dtype=np.float32))[None]
        >>> audio.LFCC(n_filter=8, n_lfcc=4, speckwargs={"n_fft": 64, "win_length": 64, "hop_length": 32})(wave).shape
        (1, 4, 51)
    """

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
        return (dct_matrix(self.n_lfcc, self.n_filter, self.norm).T @ bands).astype(np.float32)

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


__all__ = ["LFCC", "MFCC"]
