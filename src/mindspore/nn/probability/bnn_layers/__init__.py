"""Bayesian layers: weights are distributions, sampled at every call."""

from mindspore.nn.probability.bnn_layers.layers import (
    ConvReparam,
    DenseLocalReparam,
    DenseReparam,
    NormalPosterior,
    NormalPrior,
    WithBNNLossCell,
)

__all__ = ["ConvReparam", "DenseLocalReparam", "DenseReparam", "NormalPosterior", "NormalPrior", "WithBNNLossCell"]
