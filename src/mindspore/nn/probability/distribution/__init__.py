"""Probability distributions."""

from mindspore.nn.probability.distribution.continuous import Beta, Exponential, Gamma, Uniform
from mindspore.nn.probability.distribution.discrete import Bernoulli, Categorical, Geometric, Poisson
from mindspore.nn.probability.distribution.distribution import Distribution
from mindspore.nn.probability.distribution.location_scale import (
    Cauchy,
    Gumbel,
    HalfNormal,
    Laplace,
    Logistic,
    LogNormal,
    Normal,
    StudentT,
)
from mindspore.nn.probability.distribution.transformed_distribution import TransformedDistribution

__all__ = [
    "Bernoulli", "Beta", "Categorical", "Cauchy", "Distribution", "Exponential", "Gamma", "Geometric", "Gumbel",
    "HalfNormal", "Laplace", "LogNormal", "Logistic", "Normal", "Poisson", "StudentT", "TransformedDistribution",
    "Uniform",
]  # fmt: skip
