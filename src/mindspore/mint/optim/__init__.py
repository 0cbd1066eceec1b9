"""Optimizers with PyTorch's argument names."""

from mindspore.experimental.optim import SGD, Adam, AdamW

FusedAdamW = AdamW

__all__ = ["SGD", "Adam", "AdamW", "FusedAdamW"]
