"""Bijectors."""

from mindspore.nn.probability.bijector.bijector import (
    Bijector,
    Exp,
    GumbelCDF,
    Invert,
    PowerTransform,
    ScalarAffine,
    Softplus,
)

__all__ = ["Bijector", "Exp", "GumbelCDF", "Invert", "PowerTransform", "ScalarAffine", "Softplus"]
