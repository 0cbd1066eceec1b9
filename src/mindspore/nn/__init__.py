"""Layers, losses, optimizers. Façade: re-exports only."""

# ruff: noqa: F401 - names are re-exported

import importlib as _importlib
from typing import Any as _Any

from mindspore.nn import utils
from mindspore.nn.cell import Cell
from mindspore.nn.grad.cell_grad import Jvp, Vjp
from mindspore.nn.layer import *  # noqa: F403
from mindspore.nn.learning_rates import *  # noqa: F403
from mindspore.nn.loss import *  # noqa: F403
from mindspore.nn.loss_scaling import (
    DynamicLossScaleUpdateCell,
    FixedLossScaleUpdateCell,
    TrainOneStepWithLossScaleCell,
)
from mindspore.nn.optim import *  # noqa: F403
from mindspore.nn.utils import no_init_parameters
from mindspore.nn.wrap import *  # noqa: F403

__ms_treatment__ = "interpreted"  # by the compiler: see compiler/parse/source.py


def __getattr__(name: str) -> _Any:
    """Parts that are not needed at once are imported on first use."""
    if name in ("probability", "transformer"):
        return _importlib.import_module(f"mindspore.nn.{name}")
    if name == "GraphCell":
        return _importlib.import_module("mindspore.nn.graph_cell").GraphCell
    raise AttributeError(f"module 'mindspore.nn' has no attribute '{name}'")


__all__ = [name for name in globals() if not name.startswith("_")]
