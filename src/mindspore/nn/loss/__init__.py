"""Losses."""

from mindspore.nn.loss.loss import *  # noqa: F403
from mindspore.nn.loss.loss import __all__  # noqa: F401
