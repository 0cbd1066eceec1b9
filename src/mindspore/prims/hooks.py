"""Identities with a say in the gradient: how hooks and user-given gradients are built into tapes and graphs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindspore.ir import AbstractTuple
from mindspore.prims import checks
from mindspore.prims.broadcasting import sum_to_shape
from mindspore.prims.primitive import Primitive
from mindspore.prims.structure import leaves, leaves_in_places_of
from mindspore.prims.values import TensorBase

if TYPE_CHECKING:
    from mindspore.prims.array_types import Namespace


class HookResultError(TypeError, RuntimeError):
    """A hook returned what cannot take the place of a gradient. Programs expect either error."""


def replaced(grad: Any, result: Any) -> Any:
    """The gradient after a hook that returned `result`: None leaves it as it is."""
    if result is None:
        return grad
    if not isinstance(result, TensorBase):
        raise HookResultError(f"A hook must return a Tensor or None, but returned {checks.describe(result)}.")
    if result.shape != grad.shape:
        raise checks.UnfitError(
            f"A hook must keep the shape of the gradient, {grad.shape}, but returned one of {result.shape}."
        )
    return result


def all_replaced(grads: tuple, result: Any) -> tuple:
    """Several gradients after a hook of a cell, which returns a tuple of new ones, a single one, or None."""
    if result is None:
        return grads
    results = result if isinstance(result, tuple) else (result,)
    if len(results) != len(grads):
        raise HookResultError(
            f"A backward hook must return a gradient for each of {len(grads)} tensors, but returned {len(results)}."
        )
    return tuple(replaced(grad, new) for grad, new in zip(grads, results))


class GradientHook(Primitive):
    """Pass values through; in the backward pass call `function(grads) -> grads`."""

    effect = "hook"

    def __init__(self, function: Callable):
        super().__init__("GradientHook", function=function)

    def infer(self, *xs: Any) -> Any:
        return AbstractTuple(xs)

    def eval(self, xp: Namespace, *xs: Any) -> Any:
        return tuple(xs)

    def bprop(self, *args: Any) -> tuple:
        dout = args[-1]
        return tuple(self.function(dout))


class HookBackward(Primitive):
    """The 1.x operation for hooks: `HookBackward(hook_fn)(x)` is x; `hook_fn((grad,))` sees and may replace its gradient.

    Examples:
        >>> seen = []
        >>> hook = ops.HookBackward(lambda grads: seen.append(grads[0].item()))
        >>> print(ops.grad(lambda x: 3 * hook(x))(Tensor(2.0)), seen)
        3.0 [3.0]
    """

    effect = "hook"

    def __init__(self, hook_fn: Callable, cell_id: str = ""):
        if not callable(hook_fn):
            raise TypeError(
                f"For 'HookBackward', the type of 'hook_fn' must be a function, but got {type(hook_fn).__name__}."
            )
        super().__init__("HookBackward", hook_fn=hook_fn, cell_id=cell_id)

    def infer(self, x: Any) -> Any:
        return x

    def eval(self, xp: Namespace, x: Any) -> Any:
        return x

    def bprop(self, x: Any, out: Any, dout: Any) -> tuple:
        return all_replaced((dout,), self.hook_fn((dout,)))


class CustomGradient(Primitive):
    """`CustomGradient(rule, n)(*outputs, *inputs)`: the n outputs, whose gradient is given by `rule` instead of derived.

    The outputs were computed from the inputs by other nodes; no gradient flows through those. In the backward pass
    `rule(inputs, outputs, douts)` returns one gradient (or None) per input.
    """

    effect = "hook"

    def __init__(self, rule: Callable, outputs: int):
        super().__init__("CustomGradient", rule=rule, outputs=outputs)

    def infer(self, *args: Any) -> Any:
        return AbstractTuple(args[: self.outputs])

    def eval(self, xp: Namespace, *args: Any) -> Any:
        return tuple(args[: self.outputs])

    def bprop(self, *args: Any) -> tuple:
        *operands, out, dout = args
        grads = self.rule(operands[self.outputs :], out, dout)
        return (*(None for _ in range(self.outputs)), *grads)


def gradients_of_inputs(name: str, inputs: tuple, grads: tuple) -> tuple:
    """What a custom gradient gave for each tensor among its inputs, also those within tuples, lists and dicts."""
    if len(grads) < len(inputs):
        raise checks.UnfitError(
            f"'bprop' of {name} must return one gradient per input ({len(inputs)}), but returned {len(grads)}."
        )
    found: list[Any] = []
    for place, (value, grad) in enumerate(zip(inputs, grads)):
        try:
            given = leaves_in_places_of(value, grad)
        except TypeError as error:
            raise TypeError(f"'bprop' of {name} gives a wrong gradient of input {place}: {error}") from None
        found += [
            reduce_gradient(name, place, leaf, g)
            if isinstance(g, TensorBase) and isinstance(leaf, TensorBase)
            else None
            for leaf, g in zip(leaves(value), given)
        ]
    return tuple(found)


def in_order(function: Callable, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """Arguments given by name in the places they have: a gradient rule takes the inputs in order."""
    if not kwargs:
        return args, kwargs
    bound = inspect.signature(function).bind(*args, **kwargs)
    if set(bound.kwargs) & set(kwargs):  # an argument before them was left out
        bound.apply_defaults()
    return bound.args, bound.kwargs


def reduce_gradient(name: str, place: int, value: TensorBase, grad: TensorBase) -> Any:
    """A gradient summed over the dimensions that its input was broadcast along."""
    given, wanted = tuple(grad.shape), tuple(value.shape)
    lead = len(given) - len(wanted)
    if lead < 0 or any(w not in (1, g) for g, w in zip(given[lead:], wanted)):
        raise RuntimeError(
            f"For custom function, grad tensor should be broadcast to the input: the backward of '{name}' gave shape "
            f"{given} for input {place} of shape {wanted}."
        )
    return sum_to_shape(grad, wanted)
