"""The identity with a say in the gradient: how hooks are built into tapes and graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore.ir import AbstractTuple
from mindspore.prims.primitive import Primitive


class GradientHook(Primitive):
    """Pass values through; in the backward pass call `function(grads) -> grads`."""

    effect = "hook"

    def __init__(self, function: Callable):
        super().__init__("GradientHook", function=function)

    def infer(self, *xs: Any) -> Any:
        return AbstractTuple(xs)

    def eval(self, xp: Any, *xs: Any) -> Any:
        return tuple(xs)

    def bprop(self, *args: Any) -> tuple:
        dout = args[-1]
        return tuple(self.function(dout))
