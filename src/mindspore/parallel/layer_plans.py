"""Plans for a network of equal layers on many devices, before any of it is trained."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.compiler.parse.entry import trace
from mindspore.compiler.shard.cost import Machine
from mindspore.compiler.shard.layers import LayerPlan, Work, find_layer_plans
from mindspore.ir import FuncGraph
from mindspore.nn.cell import Cell
from mindspore.prims import values
from mindspore.prims.values import TensorBase

__all__ = ["LayerPlan", "search_layers"]


def search_layers(
    layer: Cell, layers: int, sample: TensorBase, batch: int, devices: int, machine: Machine | str | None = None
) -> list[LayerPlan]:
    """All ways to train `layers` equal layers that fit the memory of the devices, the fastest first.

    A plan says into how many pipeline stages and micro-batches to divide the work, whether to recompute and to cut the
    optimizer's states, and how each operator of a layer is cut; its times are estimates (`mindspore.compiler.shard.cost`).

    Args:
        layer: the cell of one layer.
        layers: how many there are.
        sample: what goes into a layer for one sample; its first dimension is 1.
        batch: samples of a training step, on all devices together.
        devices: how many there are.
        machine: the devices and their links, a file that `calibrate` wrote, or None: accelerators with 64 GB, eight to a node.

    Examples:
        >>> from mindspore import nn, ops, parallel
        >>> plans = parallel.search_layers(nn.Dense(64, 64), 8, ops.ones((1, 64)), batch=64, devices=16)
        >>> plans[0].stages, plans[0].devices
        (1, 16)
    """
    for name, value in (("layers", layers), ("batch", batch), ("devices", devices)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"For 'search_layers', '{name}' must be a positive int, but got {value!r}.")
    if not isinstance(sample, TensorBase) or not sample.shape or sample.shape[0] != 1:
        raise ValueError(f"For 'search_layers', 'sample' must be a Tensor whose first dimension is 1, but got {sample!r:.80}.")
    known = machine if isinstance(machine, Machine) else Machine.load(machine) if machine else Machine()

    def graph(samples: int) -> FuncGraph:
        shape = (samples, *sample.shape[1:])
        many: Any = values.from_array(np.broadcast_to(np.zeros((), sample._data.dtype), shape))
        return trace(layer, (many,), {}, checked=False).graph

    found = find_layer_plans(Work(graph, layers, batch, devices), known)
    if not found:
        raise ValueError(
            f"No plan for {layers} layers on {devices} devices fits {known.memory / 1e9:.0f} GB a device with a batch of {batch}: "
            "use more devices, or a smaller batch."
        )
    return found
