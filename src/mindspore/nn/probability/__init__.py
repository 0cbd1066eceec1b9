"""Deep probabilistic programming: distributions, bijectors, Bayesian layers."""

from mindspore.nn.probability import bijector, bnn_layers, distribution
from mindspore.nn.probability.distribution import Normal

__all__ = ["Normal", "bijector", "bnn_layers", "distribution"]
