"""Distributions over integers: Bernoulli, categorical, geometric, Poisson."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore import ops
from mindspore._base import dtype as mstype
from mindspore.common.random import next_key
from mindspore.common.tensor import Tensor
from mindspore.nn.probability.distribution.distribution import Distribution, parameter

__all__ = ["Bernoulli", "Categorical", "Geometric", "Poisson"]


def _from_zero(x: Any, value: Tensor, otherwise: float) -> Any:
    """`value` where x is not negative."""
    valid = ops.greater_equal(x, 0)
    return ops.select(valid, value + ops.zeros_like(x), ops.zeros_like(x + value) + otherwise)


class Bernoulli(Distribution):
    """1 with probability `probs`, else 0.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> print(msd.Bernoulli(0.25).prob(Tensor([1, 0])))
        [0.25 0.75]
    """

    parameter_names = ("probs1",)
    discrete = True
    probs = parameter(0)

    def __init__(self, probs: Any = None, seed: Any = None, dtype: Any = mstype.int32, name: str = "Bernoulli"):
        super().__init__(seed, dtype, name, dict(locals()))
        self.set_defaults(probs)
        self.check_probability(self._defaults[0])

    def _log_prob(self, x: Any, p: Any) -> Any:
        return ops.log(p) * x + ops.log1p(-p) * (1.0 - x)

    def _cdf(self, x: Any, p: Any) -> Any:
        x = ops.floor(x)
        below = ops.select(ops.less(x, 0), ops.zeros_like(x + p), ops.zeros_like(x) + (1.0 - p))
        return ops.select(ops.greater_equal(x, 1), ops.ones_like(x + p), below)

    def _mean(self, p: Any) -> Any:
        return p

    def _sd(self, p: Any) -> Any:
        return ops.sqrt(p * (1.0 - p))

    def _mode(self, p: Any) -> Any:
        return ops.cast(ops.greater(p, 0.5), self.dtype)

    def _entropy(self, p: Any) -> Any:
        return -(p * ops.log(p) + (1.0 - p) * ops.log1p(-p))

    def _kl(self, p_b: Any, p_a: Any) -> Any:
        return p_a * ops.log(p_a / p_b) + (1.0 - p_a) * ops.log((1.0 - p_a) / (1.0 - p_b))

    def _sample(self, shape: tuple, p: Any) -> Any:
        return ops.less(self.uniform(shape), p)


class Categorical(Distribution):
    """Index k with probability probs[..., k].

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> print(msd.Categorical([0.25, 0.75]).prob(Tensor(1)))
        0.75
    """

    parameter_names = ("probs",)
    discrete = True
    probs = parameter(0)

    def __init__(self, probs: Any = None, seed: Any = None, dtype: Any = mstype.int32, name: str = "Categorical"):
        super().__init__(seed, dtype, name, dict(locals()))
        self.set_defaults(probs)
        self.check_probability(self._defaults[0])
        given = self._defaults[0]
        if given is not None:
            if given.ndim < 1:
                raise ValueError("For 'Categorical', 'probs' must have 1 dimension or more.")
            if not np.allclose(given.asnumpy().sum(-1), 1, atol=1e-4):
                raise ValueError("Probabilities for each category should sum to one for Categorical distribution.")
            self.batch_shape = self.broadcast_shape = tuple(given.shape[:-1])

    @staticmethod
    def _classes(p: Any) -> Any:
        return Tensor(np.arange(p.shape[-1]), p.dtype)

    def _log_prob(self, x: Any, p: Tensor) -> Any:
        hot = ops.cast(ops.equal(ops.expand_dims(x, -1), self._classes(p)), p.dtype)
        log_p = ops.ReduceSum()(hot * ops.log(p), -1)
        valid = ops.logical_and(ops.greater_equal(x, 0), ops.less(x, p.shape[-1]))
        return ops.select(valid, log_p, ops.zeros_like(log_p) + float("nan"))

    def _cdf(self, x: Any, p: Tensor) -> Any:
        reached = ops.cast(ops.less_equal(self._classes(p), ops.expand_dims(ops.floor(x), -1)), p.dtype)
        return ops.ReduceSum()(reached * p, -1)

    def _mean(self, p: Any) -> Any:
        return ops.ReduceSum(True)(p * self._classes(p), -1)  # official mean, sd and var keep an axis of one class

    def _sd(self, p: Any) -> Any:
        centred = self._classes(p) - self._mean(p)
        return ops.sqrt(ops.ReduceSum(True)(p * centred * centred, -1))

    def _mode(self, p: Any) -> Any:
        return ops.cast(ops.Argmax(-1)(p), self.dtype)

    def _entropy(self, p: Any) -> Any:
        return -ops.ReduceSum()(p * ops.log(p), -1)

    def _kl(self, p_b: Any, p_a: Any) -> Any:
        return ops.ReduceSum()(p_a * ops.log(p_a / p_b), -1)

    def sample(self, shape: Any = (), *args: Any, **kwargs: Any) -> Any:
        """Random indices: `shape` followed by the batch shape of `probs`."""
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        (p,) = self.resolve(args, kwargs)
        edges = ops.cumsum(p, -1)
        draw = ops.expand_dims(self.uniform((*shape, *p.shape[:-1])), -1)
        passed = ops.ReduceSum()(ops.cast(ops.greater_equal(draw, edges), mstype.float32), -1)
        return ops.cast(ops.minimum(passed, float(p.shape[-1] - 1)), self.dtype)


class Geometric(Distribution):
    """The number of failures before the first success.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> print(msd.Geometric(0.5).prob(Tensor([0, 1])))
        [0.5  0.25]
    """

    parameter_names = ("probs",)
    discrete = True
    probs = parameter(0)

    def __init__(self, probs: Any = None, seed: Any = None, dtype: Any = mstype.int32, name: str = "Geometric"):
        super().__init__(seed, dtype, name, dict(locals()))
        self.set_defaults(probs)
        self.check_probability(self._defaults[0])

    def _log_prob(self, x: Any, p: Any) -> Any:
        x = ops.floor(x)
        return _from_zero(x, ops.log(p) + x * ops.log1p(-p), float("-inf"))

    def _cdf(self, x: Any, p: Any) -> Any:
        x = ops.floor(x)
        return _from_zero(x, -ops.expm1((x + 1.0) * ops.log1p(-p)), 0.0)

    def _mean(self, p: Any) -> Any:
        return (1.0 - p) / p

    def _sd(self, p: Any) -> Any:
        return ops.sqrt(1.0 - p) / p

    def _mode(self, p: Any) -> Any:
        return ops.cast(ops.zeros_like(p), self.dtype)

    def _entropy(self, p: Any) -> Any:
        return -((1.0 - p) * ops.log1p(-p) + p * ops.log(p)) / p

    def _kl(self, p_b: Any, p_a: Any) -> Any:
        return ops.log(p_a / p_b) + (1.0 - p_a) / p_a * ops.log((1.0 - p_a) / (1.0 - p_b))

    def _sample(self, shape: tuple, p: Any) -> Any:
        return ops.floor(ops.log(self.uniform(shape)) / ops.log1p(-p))


class Poisson(Distribution):
    """The number of events of a process with a constant rate in a unit of time.

    Examples:
        >>> import mindspore.nn.probability.distribution as msd
        >>> print(msd.Poisson(2.0).prob(Tensor([0.0, 1.0])))
        [0.13533528 0.27067056]
    """

    parameter_names = ("rate",)
    discrete = True
    rate = parameter(0)

    def __init__(self, rate: Any = None, seed: Any = None, dtype: Any = mstype.float32, name: str = "Poisson"):
        super().__init__(seed, dtype, name, dict(locals()))
        self.set_defaults(rate)
        self.check_positive("rate", self._defaults[0])

    def _log_prob(self, x: Any, rate: Any) -> Any:
        return _from_zero(x, x * ops.log(rate) - rate - ops.lgamma(ops.maximum(x, 0.0) + 1.0), float("-inf"))

    def _cdf(self, x: Any, rate: Any) -> Any:
        x = ops.floor(x)
        count = ops.maximum(x, 0.0) + 1.0
        return _from_zero(x, 1.0 - ops.igamma(count, rate + ops.zeros_like(count)), 0.0)

    def _mean(self, rate: Any) -> Any:
        return rate

    def _sd(self, rate: Any) -> Any:
        return ops.sqrt(rate)

    def _mode(self, rate: Any) -> Any:
        return ops.floor(rate)

    def _kl(self, rate_b: Any, rate_a: Any) -> Any:
        return rate_a * ops.log(rate_a / rate_b) - rate_a + rate_b

    def _sample(self, shape: tuple, rate: Any) -> Any:
        spread = rate + ops.zeros(shape, rate.dtype)
        return ops.RandomPoissonSample()(next_key(self.seed), shape, mstype.float32, spread)
