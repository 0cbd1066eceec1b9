"""Distributions with a location and a scale: normal, log-normal, half-normal, Laplace, logistic, Gumbel, Cauchy, Student."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.nn.probability.distribution.distribution import Distribution, parameter

if TYPE_CHECKING:
    from mindspore._base.dtype import DType

__all__ = ["Cauchy", "Gumbel", "HalfNormal", "Laplace", "LogNormal", "Logistic", "Normal", "StudentT"]

_LOG_2PI = math.log(2 * math.pi)
_EULER = 0.5772156649015329


class _LocationScale(Distribution):
    scale_words = "Scale"

    def __init__(self, loc: Any, scale: Any, seed: Any, dtype: DType, name: str, param: dict):
        super().__init__(seed, dtype, name, param)
        self.set_defaults(loc, scale)
        self.check_positive(self.scale_words, self._defaults[1])


class Normal(_LocationScale):
    """The normal distribution.

    Examples:
        >>> import mindspore as ms
        >>> from mindspore.nn.probability.distribution import Normal
        >>> round(float(Normal(0.0, 1.0).log_prob(ms.Tensor(0.0))), 4)
        -0.9189
    """

    parameter_names = ("mean", "sd")
    scale_words = "Standard deviation"

    def __init__(
        self, mean: Any = None, sd: Any = None, seed: Any = None, dtype: Any = mstype.float32, name: str = "Normal"
    ):
        super().__init__(mean, sd, seed, dtype, name, dict(locals()))

    def _log_prob(self, x: Any, mean: Any, sd: Any) -> Any:
        return -0.5 * ops.square((x - mean) / sd) - ops.log(sd) - 0.5 * _LOG_2PI

    def _cdf(self, x: Any, mean: Any, sd: Any) -> Any:
        return 0.5 * ops.erfc((mean - x) / (sd * math.sqrt(2)))

    def _mean(self, mean: Any, sd: Any) -> Any:
        return mean + ops.zeros_like(sd)

    _mode = _mean

    def _sd(self, mean: Any, sd: Any) -> Any:
        return sd + ops.zeros_like(mean)

    def _entropy(self, mean: Any, sd: Any) -> Any:
        return ops.log(sd) + 0.5 * (_LOG_2PI + 1) + ops.zeros_like(mean)

    def _kl(self, mean_b: Any, sd_b: Any, mean_a: Any, sd_a: Any) -> Any:
        ratio = ops.square(sd_a / sd_b)
        return 0.5 * (ops.square((mean_a - mean_b) / sd_b) + ratio - 1.0 - ops.log(ratio))

    def _sample(self, shape: tuple, mean: Any, sd: Any) -> Any:
        return mean + sd * self.normal(shape)


class LogNormal(_LocationScale):
    """exp of a normal variable.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> print(msd.LogNormal(0.0, 1.0).prob(Tensor([1.0])))
        [0.3989423]
    """

    parameter_names = ("loc", "scale")
    loc, scale = parameter(0), parameter(1)

    def __init__(
        self, loc: Any = None, scale: Any = None, seed: Any = 0, dtype: Any = mstype.float32, name: str = "LogNormal"
    ):
        super().__init__(loc, scale, seed, dtype, name, dict(locals()))

    def _log_prob(self, x: Any, loc: Any, scale: Any) -> Any:
        return Normal._log_prob(self, ops.log(x), loc, scale) - ops.log(x)  # type: ignore[arg-type]

    def _cdf(self, x: Any, loc: Any, scale: Any) -> Any:
        return Normal._cdf(self, ops.log(x), loc, scale)  # type: ignore[arg-type]

    def _mean(self, loc: Any, scale: Any) -> Any:
        return ops.exp(loc + 0.5 * ops.square(scale))

    def _mode(self, loc: Any, scale: Any) -> Any:
        return ops.exp(loc - ops.square(scale))

    def _sd(self, loc: Any, scale: Any) -> Any:
        return self._mean(loc, scale) * ops.sqrt(ops.expm1(ops.square(scale)))

    def _entropy(self, loc: Any, scale: Any) -> Any:
        return loc + ops.log(scale) + 0.5 * (_LOG_2PI + 1)

    _kl = Normal._kl

    def _sample(self, shape: tuple, loc: Any, scale: Any) -> Any:
        return ops.exp(loc + scale * self.normal(shape))


class HalfNormal(_LocationScale):
    """|x - mean| + mean of a normal variable.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> print(msd.HalfNormal(0.0, 1.0).prob(Tensor([0.0])))
        [0.7978846]
    """

    parameter_names = ("mean", "sd")

    def __init__(
        self, mean: Any = None, sd: Any = None, seed: Any = None, dtype: Any = mstype.float32, name: str = "HalfNormal"
    ):
        super().__init__(mean, sd, seed, dtype, name, dict(locals()))

    def _log_prob(self, x: Any, mean: Any, sd: Any) -> Any:
        inside = Normal._log_prob(self, x, mean, sd) + math.log(2)  # type: ignore[arg-type]
        return ops.select(ops.greater_equal(x, mean), inside, ops.zeros_like(inside) - float("inf"))

    def _sample(self, shape: tuple, mean: Any, sd: Any) -> Any:
        return mean + sd * ops.abs(self.normal(shape))


class Laplace(_LocationScale):
    """The two-sided exponential distribution; `sd` is its scale.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> print(msd.Laplace(0.0, 1.0).prob(Tensor([0.0])))
        [0.5]
    """

    parameter_names = ("mean", "sd")

    def __init__(
        self, mean: Any = None, sd: Any = None, seed: Any = None, dtype: Any = mstype.float32, name: str = "Laplace"
    ):
        super().__init__(mean, sd, seed, dtype, name, dict(locals()))

    def _log_prob(self, x: Any, mean: Any, sd: Any) -> Any:
        return -ops.abs(x - mean) / sd - ops.log(2.0 * sd)

    def _sample(self, shape: tuple, mean: Any, sd: Any) -> Any:
        u = self.uniform(shape) - 0.5
        return mean - sd * ops.sign(u) * ops.log(1.0 - 2.0 * ops.abs(u))


class Logistic(_LocationScale):
    """The logistic distribution.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> print(msd.Logistic(0.0, 1.0).cdf(Tensor([0.0])))
        [0.5]
    """

    parameter_names = ("loc", "scale")
    loc, scale = parameter(0), parameter(1)

    def __init__(
        self, loc: Any = None, scale: Any = None, seed: Any = None, dtype: Any = mstype.float32, name: str = "Logistic"
    ):
        super().__init__(loc, scale, seed, dtype, name, dict(locals()))

    def _log_prob(self, x: Any, loc: Any, scale: Any) -> Any:
        z = (x - loc) / scale
        return -z - 2.0 * ops.softplus(-z) - ops.log(scale)

    def _cdf(self, x: Any, loc: Any, scale: Any) -> Any:
        return ops.sigmoid((x - loc) / scale)

    def _mean(self, loc: Any, scale: Any) -> Any:
        return loc + ops.zeros_like(scale)

    _mode = _mean

    def _sd(self, loc: Any, scale: Any) -> Any:
        return scale * (math.pi / math.sqrt(3)) + ops.zeros_like(loc)

    def _entropy(self, loc: Any, scale: Any) -> Any:
        return ops.log(scale) + 2.0 + ops.zeros_like(loc)

    def _sample(self, shape: tuple, loc: Any, scale: Any) -> Any:
        u = self.uniform(shape)
        return loc + scale * (ops.log(u) - ops.log1p(-u))


class Gumbel(_LocationScale):
    """The distribution of maxima (Gumbel 1935).

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> print(msd.Gumbel(0.0, 1.0).cdf(Tensor([0.0])))
        [0.36787942]
    """

    parameter_names = ("loc", "scale")
    loc, scale = parameter(0), parameter(1)

    def __init__(self, loc: Any, scale: Any, seed: Any = 0, dtype: Any = mstype.float32, name: str = "Gumbel"):
        super().__init__(loc, scale, seed, dtype, name, dict(locals()))

    def _log_prob(self, x: Any, loc: Any, scale: Any) -> Any:
        z = (x - loc) / scale
        return -(z + ops.exp(-z)) - ops.log(scale)

    def _cdf(self, x: Any, loc: Any, scale: Any) -> Any:
        return ops.exp(-ops.exp(-(x - loc) / scale))

    def _mean(self, loc: Any, scale: Any) -> Any:
        return loc + scale * _EULER

    def _mode(self, loc: Any, scale: Any) -> Any:
        return loc + ops.zeros_like(scale)

    def _sd(self, loc: Any, scale: Any) -> Any:
        return scale * (math.pi / math.sqrt(6)) + ops.zeros_like(loc)

    def _entropy(self, loc: Any, scale: Any) -> Any:
        return ops.log(scale) + (1.0 + _EULER) + ops.zeros_like(loc)

    def _kl(self, loc_b: Any, scale_b: Any, loc_a: Any, scale_a: Any) -> Any:
        ratio = scale_a / scale_b
        shift = (loc_b - loc_a) / scale_b
        return ops.log(scale_b / scale_a) + _EULER * (ratio - 1.0) + ops.expm1(shift + ops.lgamma(ratio + 1.0)) - shift

    def _sample(self, shape: tuple, loc: Any, scale: Any) -> Any:
        return loc - scale * ops.log(-ops.log(self.uniform(shape)))


class Cauchy(_LocationScale):
    """The Cauchy distribution: it has a mode, but no mean and no variance.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> print(msd.Cauchy(0.0, 1.0).prob(Tensor([0.0])))
        [0.31830993]
    """

    parameter_names = ("loc", "scale")
    loc, scale = parameter(0), parameter(1)

    def __init__(
        self, loc: Any = None, scale: Any = None, seed: Any = None, dtype: Any = mstype.float32, name: str = "Cauchy"
    ):
        super().__init__(loc, scale, seed, dtype, name, dict(locals()))

    def _log_prob(self, x: Any, loc: Any, scale: Any) -> Any:
        return -ops.log(scale) - math.log(math.pi) - ops.log1p(ops.square((x - loc) / scale))

    def _cdf(self, x: Any, loc: Any, scale: Any) -> Any:
        return ops.atan((x - loc) / scale) / math.pi + 0.5

    def _mode(self, loc: Any, scale: Any) -> Any:
        return loc + ops.zeros_like(scale)

    def _entropy(self, loc: Any, scale: Any) -> Any:
        return ops.log(scale) + math.log(4 * math.pi) + ops.zeros_like(loc)

    def _kl(self, loc_b: Any, scale_b: Any, loc_a: Any, scale_a: Any) -> Any:
        return ops.log((ops.square(scale_a + scale_b) + ops.square(loc_a - loc_b)) / (4.0 * scale_a * scale_b))

    def _sample(self, shape: tuple, loc: Any, scale: Any) -> Any:
        return loc + scale * ops.tan((self.uniform(shape) - 0.5) * math.pi)


class StudentT(Distribution):
    """Student's t-distribution with `df` degrees of freedom.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> print(msd.StudentT(3.0, 0.0, 1.0).log_prob(Tensor([0.0])))
        [-1.0008888]
    """

    parameter_names = ("df", "mean", "sd")

    def __init__(
        self, df: Any = None, mean: Any = None, sd: Any = None, seed: Any = None, dtype: Any = mstype.float32,
        name: str = "StudentT",
    ):  # fmt: skip
        super().__init__(seed, dtype, name, dict(locals()))
        self.set_defaults(df, mean, sd)
        self.check_positive("Degrees of freedom", self._defaults[0])
        self.check_positive("Standard deviation", self._defaults[2])

    def _log_prob(self, x: Any, df: Any, mean: Any, sd: Any) -> Any:
        z = (x - mean) / sd
        scale = ops.log(sd) + 0.5 * ops.log(df * math.pi) + ops.lgamma(0.5 * df) - ops.lgamma(0.5 * (df + 1.0))
        return -0.5 * (df + 1.0) * ops.log1p(z * z / df) - scale

    def _sample(self, shape: tuple, df: Any, mean: Any, sd: Any) -> Any:
        from mindspore.common.random import next_key

        half = 0.5 * df + ops.zeros(shape, df.dtype)
        chi = 2.0 * ops.RandomGammaSample()(next_key(self.seed), shape, self.dtype, half)
        return mean + sd * self.normal(shape) * ops.rsqrt(chi / df)
