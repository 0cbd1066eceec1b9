"""Jacobian products of a network, as cells."""

from __future__ import annotations

from typing import Any

from mindspore.common.gradient import Derivative, jvp
from mindspore.nn.cell import Cell


class Jvp(Cell):
    """`Jvp(network)(*inputs, v)`: the output and the derivative along v (one tensor per input, as a tuple if several)."""

    def __init__(self, fn: Any):
        super().__init__()
        self.fn = fn

    def construct(self, *args: Any) -> Any:
        inputs, v = args[:-1], args[-1]
        return jvp(self.fn, inputs if len(inputs) > 1 else inputs[0], v)


class Vjp(Cell):
    """`Vjp(network)(*inputs, v)`: the output and the gradients of the inputs for the output sensitivity v."""

    def __init__(self, fn: Any):
        super().__init__()
        self.fn = fn

    def construct(self, *args: Any) -> Any:
        inputs = args[:-1]
        out = self.fn(*inputs)
        back = Derivative(self.fn, tuple(range(len(inputs))), sens=True)
        grads = back(*args)
        return out, grads[0] if len(inputs) == 1 else grads
