"""Layers, losses, optimizers. Façade: re-exports only."""

# ruff: noqa: F401 - names are re-exported

from mindspore.nn import utils
from mindspore.nn.cell import Cell
from mindspore.nn.dynamic_lr import *  # noqa: F403
from mindspore.nn.layer import *  # noqa: F403
from mindspore.nn.learning_rate_schedule import *  # noqa: F403
from mindspore.nn.loss import *  # noqa: F403
from mindspore.nn.optim import *  # noqa: F403
from mindspore.nn.wrap import *  # noqa: F403


def __getattr__(name: str) -> object:
    """GraphCell runs files, which is the business of a layer above: it is looked up on first use."""
    if name == "GraphCell":
        import importlib

        return importlib.import_module("mindspore.train._mindir.graph_cell").GraphCell
    raise AttributeError(f"module 'mindspore.nn' has no attribute '{name}'")
