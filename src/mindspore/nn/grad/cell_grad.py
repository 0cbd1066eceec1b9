"""Jacobian products of a network, as cells."""

from __future__ import annotations

from typing import Any

from mindspore.common.gradient import Derivative, jvp
from mindspore.nn.cell import Cell
from mindspore.prims.values import TensorBase


def _matching(owner: str, value: Any, like: Any, what: str) -> None:
    """`value` must be a tensor where `like` is one, and a tuple of as many tensors where `like` is a tuple."""
    wanted = len(like) if isinstance(like, (tuple, list)) else None
    given = len(value) if isinstance(value, (tuple, list)) else None
    if wanted != given:
        words = "a tensor" if wanted is None else f"a tuple of {wanted} tensors"
        found = type(value).__name__ if given is None else f"a tuple of {given}"
        raise TypeError(f"For '{owner}', 'v' must be {words}, as the {what} are, but got {found}.")


def _split(owner: str, args: tuple) -> tuple[tuple, Any]:
    """The network's inputs, which must be tensors, and v behind them."""
    if len(args) < 2:
        raise TypeError(f"For '{owner}', the inputs of the network and 'v' are needed, but got {len(args)} arguments.")
    for value in args[:-1]:
        if not isinstance(value, TensorBase):
            raise TypeError(f"For '{owner}', each input must be a Tensor, but got {type(value).__name__}.")
    return args[:-1], args[-1]


class Jvp(Cell):
    """`Jvp(network)(*inputs, v)`: the output and the derivative along v (one tensor per input, as a tuple if several).

    Examples:
        >>> from mindspore import Tensor, nn
        >>> value, slope = nn.Jvp(nn.ReLU())(Tensor([2.0]), Tensor([1.0]))
        >>> slope.tolist()
        [1.0]
    """

    def __init__(self, fn: Any):
        super().__init__()
        self.fn = fn

    def construct(self, *args: Any) -> Any:
        inputs, v = _split("Jvp", args)
        point = inputs if len(inputs) > 1 else inputs[0]
        _matching("Jvp", v, point, "inputs")
        return jvp(self.fn, point, v)


class Vjp(Cell):
    """`Vjp(network)(*inputs, v)`: the output and the gradients of the inputs for the output sensitivity v.

    Examples:
        >>> from mindspore import Tensor, nn
        >>> value, slope = nn.Vjp(nn.ReLU())(Tensor([2.0]), Tensor([1.0]))
        >>> value.tolist()
        [2.0]
    """

    def __init__(self, fn: Any):
        super().__init__()
        self.fn = fn

    def construct(self, *args: Any) -> Any:
        inputs, v = _split("Vjp", args)
        out = self.fn(*inputs)
        _matching("Vjp", v, out, "outputs")
        back = Derivative(self.fn, tuple(range(len(inputs))), sens=True)
        grads = back(*args)
        return out, grads[0] if len(inputs) == 1 else grads
