"""Interfaces that may still change."""

from mindspore.experimental import optim

__all__ = ["optim"]
