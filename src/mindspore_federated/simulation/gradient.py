"""The gradient of many clients at once: a compiled function from (vectors, x, y), all stacked over clients, to (losses,
gradients).

A loss that is a function gets its weights as an argument, so it is differentiated and mapped as it is. A network reads its
own Parameters. Within the mapped function each of them is written from the client's vector, the network is
differentiated by its Parameters, and the values they had are written back: the graph leaves the network as it was, and no
value of one client reaches another.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mindspore_federated.algorithms.base import Floats

Loss = Callable[..., Any]
Compiled = Callable[..., tuple[Any, Any]]
Shapes = Mapping[str, tuple[int, ...]]


def is_cell(loss: object) -> bool:
    """Whether the loss is a network."""
    if loss is None:
        return False
    from mindspore import nn

    return isinstance(loss, nn.Cell)


def weights_of(network: Any) -> dict[str, Floats]:
    """Copies of the trainable float32 weights of a network."""
    return {parameter.name: parameter.asnumpy().copy() for parameter in _trained(network)}


def compiled_gradient(loss: Loss, shapes: Shapes) -> Compiled:
    """The function from the clients' flat vectors and batches to their losses and gradients."""
    import mindspore

    one = _of_network(loss, shapes) if is_cell(loss) else _of_function(loss, shapes)
    compiled: Compiled = mindspore.jit(mindspore.vmap(one, in_axes=(0, 0, 0)))
    return compiled


def _trained(network: Any) -> list[Any]:
    import mindspore

    return [parameter for parameter in network.trainable_params() if parameter.dtype == mindspore.float32]


def _places(shapes: Shapes) -> list[tuple[str, int, int, tuple[int, ...]]]:
    places, at = [], 0
    for name, shape in shapes.items():
        size = int(np.prod(shape))
        places.append((name, at, at + size, shape))
        at += size
    return places


def _of_function(loss: Loss, shapes: Shapes) -> Compiled:
    import mindspore
    from mindspore import ops

    places = _places(shapes)

    def flat_loss(vector: Any, x: Any, y: Any) -> Any:
        return loss({name: ops.reshape(vector[start:end], shape) for name, start, end, shape in places}, x, y)

    differentiated: Compiled = mindspore.value_and_grad(flat_loss, 0)
    return differentiated


def _of_network(network: Any, shapes: Shapes) -> Compiled:
    import mindspore
    from mindspore import ParameterTuple, Tensor, ops

    parameters = {parameter.name: parameter for parameter in _trained(network)}
    homes = {parameter.name: (owner, attribute) for _, owner in network.cells_and_names()
             for attribute, parameter in owner.parameters_and_names(expand=False)}
    places = [(*homes[name], start, end, shape) for name, start, end, shape in _places(shapes)]
    before = [Tensor(parameters[name].asnumpy().copy()) for name in shapes]
    gradient = mindspore.value_and_grad(network, None, ParameterTuple([parameters[name] for name in shapes]))

    def flat_gradient(vector: Any, x: Any, y: Any) -> tuple[Any, Any]:
        for owner, attribute, start, end, shape in places:
            setattr(owner, attribute, ops.reshape(vector[start:end], shape))
        loss, slopes = gradient(x, y)
        for place, value in zip(places, before):
            setattr(place[0], place[1], value)
        return loss, ops.concat([ops.reshape(slope, (-1,)) for slope in slopes])

    return flat_gradient
