"""The distribution of a transformed random variable."""

from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore.nn.probability.bijector import Bijector
from mindspore.nn.probability.distribution.distribution import Distribution

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """bijector(x) for x from `distribution`, by change of variables.

    Examples:
        >>> from mindspore.nn.probability import bijector, distribution
        >>> normal = distribution.Normal(0.0, 1.0, dtype=ms.float32)
        >>> log_normal = distribution.TransformedDistribution(bijector.Exp(), normal, seed=1)
        >>> print(log_normal.prob(Tensor([1.0])))
        [0.3989423]
    """

    def __init__(self, bijector: Any, distribution: Any, seed: Any = None, name: str = "transformed_distribution"):
        if not isinstance(bijector, Bijector):
            raise TypeError(f"'bijector' must be a Bijector, but got {type(bijector).__name__}.")
        if not isinstance(distribution, Distribution):
            raise TypeError(f"'distribution' must be a Distribution, but got {type(distribution).__name__}.")
        super().__init__(seed, distribution.dtype, name, {})
        self.set_defaults()
        self._bijector = bijector
        self._distribution = distribution
        self.parameter_names = distribution.parameter_names
        self.default_parameters = distribution.default_parameters
        self.batch_shape = self.broadcast_shape = distribution.batch_shape
        self.is_linear_transformation_ = bijector.is_constant_jacobian

    bijector = property(lambda self: self._bijector)
    distribution = property(lambda self: self._distribution)
    is_linear_transformation = property(lambda self: self.is_linear_transformation_)

    def log_prob(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        inverse = self.bijector.inverse(value)
        return self.distribution.log_prob(inverse, *args, **kwargs) + self.bijector.inverse_log_jacobian(value)

    def cdf(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        return self.distribution.cdf(self.bijector.inverse(value), *args, **kwargs)

    def mean(self, *args: Any, **kwargs: Any) -> Any:
        if not self.is_linear_transformation:
            raise ValueError("the mean of a distribution under a non-linear bijector has no closed form.")
        return self.bijector.forward(self.distribution.mean(*args, **kwargs))

    def entropy(self, *args: Any, **kwargs: Any) -> Any:
        if not self.is_linear_transformation:
            raise ValueError("the entropy of a distribution under a non-linear bijector has no closed form.")
        inner = self.distribution.entropy(*args, **kwargs)
        return inner + self.bijector.forward_log_jacobian(ops.zeros_like(inner))

    def sample(self, shape: Any = (), *args: Any, **kwargs: Any) -> Any:
        return self.bijector.forward(self.distribution.sample(shape, *args, **kwargs))
