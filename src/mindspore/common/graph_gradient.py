"""Gradients through compiled functions in PyNative mode.

A tape sees a compiled call as one operation. Its gradient is the compiled gradient of the same function: a graph that
computes forward and backward together. It is computed with the weights as they were at the call, which the tape keeps;
the weights themselves are not touched, so that other threads may use them meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore._base import keys
from mindspore.common.entry import Past
from mindspore.prims import values
from mindspore.prims.active import ACTIVE
from mindspore.prims.structure import leaves, parts_of, rebuilt, with_parts
from mindspore.prims.values import TensorBase
from mindspore.runtime import tape as tapes


def run_recorded(
    compiled: Any, entry: Any, args: tuple, kwargs: dict, tensors: list[Any], past: Past | None = None
) -> Any:
    """Run a compiled call while tapes record, and note how to differentiate it. `past`: see `Entry.run_as_of`."""
    from mindspore.common.compiled import CompiledFunction
    from mindspore.common.gradient import Derivative, _tensors

    weights = [w for w in entry.traced.weights if w.requires_grad]
    before = {**entry.weights_of_now(), **(past or {})}
    inputs = [t for t in tensors if isinstance(t, TensorBase)]
    call = tapes.Call((*inputs, *weights))
    given = rebuilt((args, kwargs), iter(leaves((args, kwargs)))) if entry.traced.left else (args, kwargs)  # before it is changed
    with tapes.paused():
        out = entry.run_plain(tensors, args, kwargs) if past is None else entry.run_as_of(past, tensors)
    numbers = tuple(t.plain() for t in tensors if not isinstance(t, TensorBase))  # constants of the gradient's graph

    def gradient(*parts: Any) -> Any:
        *values_in, sens = parts
        supply = iter(values_in)
        back = Derivative(_flattened(compiled.function), (0,), tuple(weights) or None, sens=True)
        return back(_replace(given, supply), sens)

    gradient.__module__ = "mindspore.common.graph_gradient"
    key = keys.exact((past is None, numbers))
    compiled_gradient = entry.gradients.get(key)
    if compiled_gradient is None:
        made = CompiledFunction(gradient, f"grad_{compiled.name}").reading(compiled)
        compiled_gradient = entry.gradients[key] = made

    def bprop(*parts: Any) -> tuple:
        *recorded, _, dout = parts
        douts = dout if isinstance(dout, tuple) else (dout,)
        plain = (tapes.snapshot(tapes.value_of(t), t._data) for t in recorded[: len(inputs)])  # the tape runs hooks
        grads = compiled_gradient.call_as_of(before, (*plain, douts))
        input_grads, weight_grads = grads if weights else (grads, ())
        return _sort_out(_tensors(given), _tensors(input_grads), weights, _tensors(weight_grads))

    call.finish(bprop, compiled.name, tuple(_tensors(out)))
    return out


def _sort_out(arguments: list[Any], gradients: list[Any], weights: list[Any], weight_gradients: list[Any]) -> tuple:
    """Gradients of the plain tensors among the arguments, then of the weights. A Parameter passed as an argument is a weight."""
    places = {id(w): i for i, w in enumerate(weights)}
    inputs, of_weights = [], list(weight_gradients)
    for argument, gradient in zip(arguments, gradients):
        if not isinstance(argument, values.parameter_class()):
            inputs.append(gradient)
        elif id(argument) in places:
            of_weights[places[id(argument)]] = of_weights[places[id(argument)]] + gradient
    return (*inputs, *of_weights)


def _flattened(function: Callable) -> Any:
    """The function of (args, kwargs) as the tape sees it: its results are the tensors of its result."""
    from mindspore.common.gradient import _tensors
    from mindspore.compiler import parse

    def flat(given: tuple[tuple, dict]) -> Any:
        args, kwargs = given
        out = parse.call(function, args, kwargs) if ACTIVE.builder is not None else function(*args, **kwargs)
        return tuple(_tensors(out))

    flat.__module__ = "mindspore.common.graph_gradient"
    return flat


def _replace(structure: Any, supply: Any) -> Any:
    if isinstance(structure, TensorBase):
        return structure if isinstance(structure, values.parameter_class()) else next(supply)
    parts = parts_of(structure)
    return structure if parts is None else with_parts(structure, [_replace(part, supply) for part in parts])
