"""Layers, losses, optimizers. Façade: re-exports only."""

# ruff: noqa: F401 - names are re-exported

from typing import Any

from mindspore.nn import utils
from mindspore.nn.cell import Cell
from mindspore.nn.cell_examples import TABLE as _TABLE
from mindspore.nn.dynamic_lr import *  # noqa: F403
from mindspore.nn.grad.cell_grad import Jvp, Vjp
from mindspore.nn.layer import *  # noqa: F403
from mindspore.nn.learning_rate_schedule import *  # noqa: F403
from mindspore.nn.loss import *  # noqa: F403
from mindspore.nn.optim import *  # noqa: F403
from mindspore.nn.utils import no_init_parameters
from mindspore.nn.wrap import *  # noqa: F403
from mindspore.ops.examples import complete as _complete

_complete(Cell, _TABLE)

#: names that stand in layers above and are looked up on first use
_ABOVE = {
    "GraphCell": "mindspore.nn.graph_cell", "Linear": "mindspore.mint.nn", "metrics": "mindspore.train.metrics",
}  # fmt: skip
#: names of the 1.x transformer that are not also names of the newer one
_TRANSFORMER = (
    "AttentionMask",
    "MoEConfig",
    "TransformerOpParallelConfig",
    "TransformerRecomputeConfig",
    "VocabEmbedding",
)


def __getattr__(name: str) -> Any:
    """Metrics and a few others once lived here."""
    import importlib

    if name == "probability":
        return importlib.import_module("mindspore.nn.probability")
    if name == "transformer" or name in _TRANSFORMER:
        transformer = importlib.import_module("mindspore.nn.transformer")
        return transformer if name == "transformer" else getattr(transformer, name)
    if name in _ABOVE:
        module = importlib.import_module(_ABOVE[name])
        return getattr(module, name, module)
    if not name.startswith("_"):
        metrics = importlib.import_module("mindspore.train.metrics")
        if name in metrics.__all__:
            return getattr(metrics, name)
    raise AttributeError(f"module 'mindspore.nn' has no attribute '{name}'")
