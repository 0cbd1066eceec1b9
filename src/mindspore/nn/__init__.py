"""Layers, losses, optimizers. Façade: re-exports only."""

from mindspore.nn.cell import Cell
from mindspore.nn.layer import *  # noqa: F403
