"""Distributions on an interval or half-line: uniform, exponential, gamma, beta."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.random import next_key
from mindspore.nn.probability.distribution.distribution import Distribution, parameter
from mindspore.prims.requirements import Holds, demand

if TYPE_CHECKING:
    from mindspore.common.tensor import Tensor

__all__ = ["Beta", "Exponential", "Gamma", "Uniform"]

_MINUS_INFINITY = float("-inf")


def _inside(condition: Any, value: Tensor, otherwise: float) -> Any:
    value = value + ops.zeros_like(ops.cast(condition, value.dtype))
    return ops.select(condition, value, ops.zeros_like(value) + otherwise)


class Uniform(Distribution):
    """The uniform distribution over [low, high).

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> print(msd.Uniform(0.0, 4.0).prob(Tensor([1.0, 9.0])))
        [0.25 0.  ]
    """

    parameter_names = ("low", "high")
    low, high = parameter(0), parameter(1)

    def __init__(
        self, low: Any = None, high: Any = None, seed: Any = None, dtype: Any = mstype.float32, name: str = "Uniform"
    ):
        super().__init__(seed, dtype, name, dict(locals()))
        self.set_defaults(low, high)
        a, b = self._defaults
        if a is not None and b is not None:
            demand(ops.less(a, b), Holds(), lambda _: ValueError("'low' must be less than 'high'."))

    def _log_prob(self, x: Any, low: Any, high: Any) -> Any:
        within = ops.logical_and(ops.greater_equal(x, low), ops.less_equal(x, high))
        return _inside(within, -ops.log(high - low), _MINUS_INFINITY)

    def _cdf(self, x: Any, low: Any, high: Any) -> Any:
        return ops.clamp((x - low) / (high - low), 0.0, 1.0)

    def _mean(self, low: Any, high: Any) -> Any:
        return (low + high) * 0.5

    def _sd(self, low: Any, high: Any) -> Any:
        return (high - low) * (1 / math.sqrt(12))

    def _entropy(self, low: Any, high: Any) -> Any:
        return ops.log(high - low)

    def _kl(self, low_b: Any, high_b: Any, low_a: Any, high_a: Any) -> Any:
        covered = ops.logical_and(ops.less_equal(low_b, low_a), ops.less_equal(high_a, high_b))
        return _inside(covered, ops.log((high_b - low_b) / (high_a - low_a)), float("inf"))

    def _sample(self, shape: tuple, low: Any, high: Any) -> Any:
        return low + (high - low) * self.uniform(shape)


class Exponential(Distribution):
    """Waiting times of a process with a constant rate.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> print(msd.Exponential(2.0).mean())
        0.5
    """

    parameter_names = ("rate",)
    rate = parameter(0)

    def __init__(self, rate: Any = None, seed: Any = None, dtype: Any = mstype.float32, name: str = "Exponential"):
        super().__init__(seed, dtype, name, dict(locals()))
        self.set_defaults(rate)
        self.check_positive("Rate", self._defaults[0])

    def _log_prob(self, x: Any, rate: Any) -> Any:
        return _inside(ops.greater_equal(x, 0), ops.log(rate) - rate * x, _MINUS_INFINITY)

    def _cdf(self, x: Any, rate: Any) -> Any:
        return _inside(ops.greater_equal(x, 0), -ops.expm1(-rate * x), 0.0)

    def _mean(self, rate: Any) -> Any:
        return 1.0 / rate

    _sd = _mean

    def _mode(self, rate: Any) -> Any:
        return ops.zeros_like(rate)

    def _entropy(self, rate: Any) -> Any:
        return 1.0 - ops.log(rate)

    def _kl(self, rate_b: Any, rate_a: Any) -> Any:
        return ops.log(rate_a / rate_b) + rate_b / rate_a - 1.0

    def _sample(self, shape: tuple, rate: Any) -> Any:
        return -ops.log(self.uniform(shape)) / rate


class Gamma(Distribution):
    """The gamma distribution with a concentration and a rate.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> print(msd.Gamma(Tensor([2.0]), Tensor([4.0])).mean())
        [0.5]
    """

    parameter_names = ("concentration", "rate")
    concentration, rate = parameter(0), parameter(1)

    def __init__(
        self, concentration: Any = None, rate: Any = None, seed: Any = None, dtype: Any = mstype.float32,
        name: str = "Gamma",
    ):  # fmt: skip
        super().__init__(seed, dtype, name, dict(locals()))
        self.set_defaults(concentration, rate)
        self.check_positive("concentration", self._defaults[0])
        self.check_positive("rate", self._defaults[1])

    def _log_prob(self, x: Any, a: Any, rate: Any) -> Any:
        return (a - 1.0) * ops.log(x) - rate * x + a * ops.log(rate) - ops.lgamma(a)

    def _cdf(self, x: Any, a: Any, rate: Any) -> Any:
        return ops.igamma(a + ops.zeros_like(x), rate * x)

    def _mean(self, a: Any, rate: Any) -> Any:
        return a / rate

    def _sd(self, a: Any, rate: Any) -> Any:
        return ops.sqrt(a) / rate

    def _mode(self, a: Any, rate: Any) -> Any:
        return _inside(ops.greater(a, 1.0), (a - 1.0) / rate, float("nan"))

    def _entropy(self, a: Any, rate: Any) -> Any:
        return a - ops.log(rate) + ops.lgamma(a) + (1.0 - a) * ops.digamma(a)

    def _kl(self, a_b: Any, rate_b: Any, a_a: Any, rate_a: Any) -> Any:
        shape = (a_a - a_b) * ops.digamma(a_a) + ops.lgamma(a_b) - ops.lgamma(a_a)
        return shape + a_b * ops.log(rate_a / rate_b) + a_a * (rate_b / rate_a - 1.0)

    def _sample(self, shape: tuple, a: Any, rate: Any) -> Any:
        spread = a + ops.zeros(shape, a.dtype)
        return ops.RandomGammaSample()(next_key(self.seed), shape, self.dtype, spread) / rate


class Beta(Distribution):
    """The beta distribution on (0, 1).

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> print(msd.Beta(Tensor([2.0]), Tensor([3.0])).mean())
        [0.4]
    """

    parameter_names = ("concentration1", "concentration0")
    concentration1, concentration0 = parameter(0), parameter(1)

    def __init__(
        self, concentration1: Any = None, concentration0: Any = None, seed: Any = None, dtype: Any = mstype.float32,
        name: str = "Beta",
    ):  # fmt: skip
        super().__init__(seed, dtype, name, dict(locals()))
        self.set_defaults(concentration1, concentration0)
        self.check_positive("concentration1", self._defaults[0])
        self.check_positive("concentration0", self._defaults[1])

    @staticmethod
    def _log_beta(a: Any, b: Any) -> Any:
        return ops.lgamma(a) + ops.lgamma(b) - ops.lgamma(a + b)

    def _log_prob(self, x: Any, a: Any, b: Any) -> Any:
        return (a - 1.0) * ops.log(x) + (b - 1.0) * ops.log1p(-x) - self._log_beta(a, b)

    def _cdf(self, x: Any, a: Any, b: Any) -> Any:
        return ops.Betainc()(a + ops.zeros_like(x), b + ops.zeros_like(x), x)

    def _mean(self, a: Any, b: Any) -> Any:
        return a / (a + b)

    def _sd(self, a: Any, b: Any) -> Any:
        total = a + b
        return ops.sqrt(a * b / (total * total * (total + 1.0)))

    def _mode(self, a: Any, b: Any) -> Any:
        peaked = ops.logical_and(ops.greater(a, 1.0), ops.greater(b, 1.0))
        return _inside(peaked, (a - 1.0) / (a + b - 2.0), float("nan"))

    def _entropy(self, a: Any, b: Any) -> Any:
        return (
            self._log_beta(a, b)
            - (a - 1.0) * ops.digamma(a)
            - (b - 1.0) * ops.digamma(b)
            + (a + b - 2.0) * ops.digamma(a + b)
        )

    def _kl(self, a_b: Any, b_b: Any, a_a: Any, b_a: Any) -> Any:
        return (
            self._log_beta(a_b, b_b)
            - self._log_beta(a_a, b_a)
            + (a_a - a_b) * ops.digamma(a_a)
            + (b_a - b_b) * ops.digamma(b_a)
            + (a_b - a_a + b_b - b_a) * ops.digamma(a_a + b_a)
        )

    def _sample(self, shape: tuple, a: Any, b: Any) -> Any:
        zeros = ops.zeros(shape, a.dtype)
        x, y = (ops.RandomGammaSample()(next_key(self.seed), shape, self.dtype, v + zeros) for v in (a, b))
        return x / (x + y)
