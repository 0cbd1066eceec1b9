"""The choices that audio transforms offer. `json_code` is the number by which the pipeline's JSON names a choice."""

from __future__ import annotations

from enum import StrEnum


class _Coded(StrEnum):
    """The code is the position among the members, unless a class says otherwise."""

    @property
    def json_code(self) -> int:
        return list(type(self)).index(self)


class BorderType(_Coded):
    """How to fill what padding adds.

    Examples:
        >>> [choice.name for choice in audio.BorderType]
        ['CONSTANT', 'EDGE', 'REFLECT', 'SYMMETRIC']
    """

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"


class DensityFunction(_Coded):
    """The noise that dither adds: triangular, rectangular, Gaussian.

    Examples:
        >>> [choice.name for choice in audio.DensityFunction]
        ['TPDF', 'RPDF', 'GPDF']
    """

    TPDF = "TPDF"
    RPDF = "RPDF"
    GPDF = "GPDF"


class FadeShape(_Coded):
    """The curve of a fade.

    Examples:
        >>> [choice.name for choice in audio.FadeShape]
        ['QUARTER_SINE', 'HALF_SINE', 'LINEAR', 'LOGARITHMIC', 'EXPONENTIAL']
    """

    QUARTER_SINE = "quarter_sine"
    HALF_SINE = "half_sine"
    LINEAR = "linear"
    LOGARITHMIC = "logarithmic"
    EXPONENTIAL = "exponential"

    @property
    def json_code(self) -> int:
        return ("linear", "exponential", "logarithmic", "quarter_sine", "half_sine").index(self.value)


class GainType(_Coded):
    """What a gain is given as.

    Examples:
        >>> [choice.name for choice in audio.GainType]
        ['AMPLITUDE', 'POWER', 'DB']
    """

    AMPLITUDE = "amplitude"
    POWER = "power"
    DB = "db"


class Interpolation(_Coded):
    """How the flanger reads between samples.

    Examples:
        >>> [choice.name for choice in audio.Interpolation]
        ['LINEAR', 'QUADRATIC']
    """

    LINEAR = "linear"
    QUADRATIC = "quadratic"


class MelType(_Coded):
    """The formula of the mel scale.

    Examples:
        >>> [choice.name for choice in audio.MelType]
        ['HTK', 'SLANEY']
    """

    HTK = "htk"
    SLANEY = "slaney"


class Modulation(_Coded):
    """The wave that modulates an effect.

    Examples:
        >>> [choice.name for choice in audio.Modulation]
        ['SINUSOIDAL', 'TRIANGULAR']
    """

    SINUSOIDAL = "sinusoidal"
    TRIANGULAR = "triangular"


class NormMode(_Coded):
    """Normalisation of the discrete cosine transform.

    Examples:
        >>> [choice.name for choice in audio.NormMode]
        ['ORTHO', 'NONE']
    """

    ORTHO = "ortho"
    NONE = "none"

    @property
    def json_code(self) -> int:
        return ("none", "ortho").index(self.value)


class NormType(_Coded):
    """Normalisation of mel filters by their band width.

    Examples:
        >>> [choice.name for choice in audio.NormType]
        ['SLANEY', 'NONE']
    """

    SLANEY = "slaney"
    NONE = "none"

    @property
    def json_code(self) -> int:
        return ("none", "slaney").index(self.value)


class ResampleMethod(_Coded):
    """The window of the resampling filter.

    Examples:
        >>> [choice.name for choice in audio.ResampleMethod]
        ['SINC_INTERPOLATION', 'KAISER_WINDOW']
    """

    SINC_INTERPOLATION = "sinc_interpolation"
    KAISER_WINDOW = "kaiser_window"


class ScaleType(_Coded):
    """Whether a spectrogram holds powers or magnitudes.

    Examples:
        >>> [choice.name for choice in audio.ScaleType]
        ['POWER', 'MAGNITUDE']
    """

    POWER = "power"
    MAGNITUDE = "magnitude"

    @property
    def json_code(self) -> int:
        return ("magnitude", "power").index(self.value)


class WindowType(_Coded):
    """The window of a short-time Fourier transform.

    Examples:
        >>> [choice.name for choice in audio.WindowType]
        ['BARTLETT', 'BLACKMAN', 'HAMMING', 'HANN', 'KAISER']
    """

    BARTLETT = "bartlett"
    BLACKMAN = "blackman"
    HAMMING = "hamming"
    HANN = "hann"
    KAISER = "kaiser"


__all__ = [
    "BorderType",
    "DensityFunction",
    "FadeShape",
    "GainType",
    "Interpolation",
    "MelType",
    "Modulation",
    "NormMode",
    "NormType",
    "ResampleMethod",
    "ScaleType",
    "WindowType",
]
