"""The gradient of many clients at once: a compiled function from (vectors, states, x, y), all stacked over clients, to
(losses, gradients, states).

A loss that is a function gets its weights as an argument, so it is differentiated and mapped as it is. A network reads its
own Parameters. Within the mapped function each of them is written from the client's vector, the network is
differentiated by its Parameters, and the values they had are written back: the graph leaves the network as it was, and no
value of one client reaches another. Parameters that are not trained, such as the moving averages of a BatchNorm, are the
client's state: written before the step and read after it.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mindspore_federated.algorithms.base import Floats

Loss = Callable[..., Any]
Compiled = Callable[..., tuple[Any, Any, Any]]
Shapes = Mapping[str, tuple[int, ...]]


def is_cell(loss: object) -> bool:
    """Whether the loss is a network."""
    if loss is None:
        return False
    from mindspore import nn

    return isinstance(loss, nn.Cell)


def weights_of(network: Any, *, trained: bool = True) -> dict[str, Floats]:
    """Copies of the trainable float32 weights of a network, or of those that are not trained."""
    return {parameter.name: parameter.asnumpy().copy() for parameter in _parameters(network, trained)}


def compiled_gradient(loss: Loss, shapes: Shapes, states: Shapes) -> Compiled:
    """The function from the clients' flat vectors and states, and batches, to their losses, gradients and states."""
    import mindspore

    one = _of_network(loss, shapes, states) if is_cell(loss) else _of_function(loss, shapes)
    compiled: Compiled = mindspore.jit(mindspore.vmap(one, in_axes=(0, 0, 0, 0)))
    return compiled


def _parameters(network: Any, trained: bool) -> list[Any]:
    import mindspore

    return [parameter for parameter in network.get_parameters()
            if parameter.requires_grad == trained and parameter.dtype == mindspore.float32]


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

    differentiated = mindspore.value_and_grad(flat_loss, 0)

    def flat_gradient(vector: Any, state: Any, x: Any, y: Any) -> tuple[Any, Any, Any]:
        value, slope = differentiated(vector, x, y)
        return value, slope, state

    return flat_gradient


def _of_network(network: Any, shapes: Shapes, states: Shapes) -> Compiled:
    import mindspore
    from mindspore import ParameterTuple, Tensor, ops

    parameters = {parameter.name: parameter for trained in (True, False) for parameter in _parameters(network, trained)}
    homes = {parameter.name: (owner, attribute) for _, owner in network.cells_and_names()
             for attribute, parameter in owner.parameters_and_names(expand=False)}
    places = [(*homes[name], start, end, shape) for name, start, end, shape in _places(shapes)]
    kept = [(*homes[name], start, end, shape) for name, start, end, shape in _places(states)]
    before = [Tensor(parameters[name].asnumpy().copy()) for name in (*shapes, *states)]
    gradient = mindspore.value_and_grad(network, None, ParameterTuple([parameters[name] for name in shapes]))

    def flat_gradient(vector: Any, state: Any, x: Any, y: Any) -> tuple[Any, Any, Any]:
        for owner, attribute, start, end, shape in places:
            setattr(owner, attribute, ops.reshape(vector[start:end], shape))
        for owner, attribute, start, end, shape in kept:
            setattr(owner, attribute, ops.reshape(state[start:end], shape))
        loss, slopes = gradient(x, y)
        after = [ops.reshape(getattr(place[0], place[1]), (-1,)) for place in kept]
        for place, value in zip((*places, *kept), before):
            setattr(place[0], place[1], value)
        return loss, ops.concat([ops.reshape(slope, (-1,)) for slope in slopes]), ops.concat(after) if after else state

    return flat_gradient
