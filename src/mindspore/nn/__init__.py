"""Layers, losses, optimizers. Façade: re-exports only."""

from mindspore.nn.cell import Cell
from mindspore.nn.dynamic_lr import *  # noqa: F403
from mindspore.nn.layer import *  # noqa: F403
from mindspore.nn.learning_rate_schedule import *  # noqa: F403
from mindspore.nn.loss import *  # noqa: F403
from mindspore.nn.optim import *  # noqa: F403
from mindspore.nn.wrap import *  # noqa: F403
