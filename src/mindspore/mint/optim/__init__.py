"""Optimizers with PyTorch's argument names."""

from mindspore.mint.optim.adam import Adam, AdamW, FusedAdamW
from mindspore.mint.optim.sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "FusedAdamW"]
