"""What there is to know about a network with rounding, and its start from a float checkpoint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mindspore.nn.cell import Cell
from mindspore.nn.layer.quant import FakeQuantWithMinMaxObserver


def load_nonquant_param_into_quant_net(
    quant_model: Cell, params_dict: Mapping[str, Any], quant_new_params: Iterable[str] | None = None
) -> None:
    """Put the values of a checkpoint into a network for quantisation-aware training.

    Args:
        quant_model: what `QuantizationAwareTraining.quantize` returned.
        params_dict: values by their names, as `load_checkpoint` gives them.
        quant_new_params: ends of the names of further parameters that the checkpoint may lack. The ranges that
            observers keep are always among them.

    Raises:
        ValueError: a parameter has no value in the checkpoint, or one of another shape.
    """
    new = {*(quant_new_params or ()), "quant_min", "quant_max", "steps", "step"}
    missing = [
        name
        for name, parameter in quant_model.parameters_and_names()
        if parameter.name not in params_dict and name.rpartition(".")[2] not in new
    ]
    if missing:
        raise ValueError(f"the checkpoint has no value for the parameter '{missing[0]}'")
    for _, parameter in quant_model.parameters_and_names():
        if parameter.name in params_dict:
            value = params_dict[parameter.name]
            if tuple(value.shape) != tuple(parameter.shape):
                raise ValueError(f"the checkpoint has '{parameter.name}' of shape {tuple(value.shape)}, not {tuple(parameter.shape)}")
            parameter.set_data(value)


def query_quant_layers(network: Cell) -> None:
    """Print which layers round their weights or results, and to how many bits."""
    for name, cell in network.cells_and_names():
        if isinstance(cell, FakeQuantWithMinMaxObserver):
            print(f"{name:60} {cell.quant_dtype.name}")
