"""Stacks of tensors: what a loop saves for its backward pass.

A stack is a tensor with a leading axis of `capacity` entries. NumPy grows it on demand; XLA has fixed shapes, so there
an unbounded loop is compiled with a capacity that is doubled and the graph run again when it proves too small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore.ir import AbstractTensor
from mindspore.prims.arrays import ScalarToTensor, TensorToScalar
from mindspore.prims.elementwise import zeros_like
from mindspore.prims.factors import WHOLE, Factors, is_tensor, numbered
from mindspore.prims.primitive import Primitive

if TYPE_CHECKING:
    from mindspore.prims.array_types import Array, Namespace
    from mindspore.prims.values import TensorBase

DEFAULT_CAPACITY = 64


class StackInit(Primitive):
    """An empty stack for values like `x`. Its abstract shape uses the declared capacity; NumPy may grow beyond it."""

    def __init__(self, capacity: int = DEFAULT_CAPACITY, bounded: bool = False):
        super().__init__("StackInit", capacity=capacity, bounded=bounded)

    def infer(self, x: AbstractTensor) -> Any:
        return AbstractTensor(x.dtype, (self.capacity, *x.shape))

    def factors(self, x: AbstractTensor) -> Factors:
        names = numbered(len(x.shape))
        return Factors((names,), ((WHOLE, *names),))

    def eval(self, xp: Namespace, x: Array) -> Any:
        return xp.zeros((self.capacity, *x.shape), x.dtype)

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        return (zeros_like(x),)


class StackPush(Primitive):
    """The stack with `x` at position `i`."""

    def __init__(self) -> None:
        super().__init__("StackPush")

    def infer(self, stack: AbstractTensor, i: AbstractTensor, x: AbstractTensor) -> Any:
        return AbstractTensor(stack.dtype, stack.shape)

    def factors(self, stack: AbstractTensor, i: AbstractTensor, x: AbstractTensor) -> Factors:
        names = numbered(len(stack.shape) - 1)
        return Factors(((WHOLE, *names), () if is_tensor(i) else None, names if is_tensor(x) else None), ((WHOLE, *names),))

    def eval(self, xp: Any, stack: Any, i: Any, x: Any) -> Any:
        if xp is not np:
            return stack.at[i].set(x)
        i = int(i)
        grown = np.zeros((max(2 * len(stack), i + 1), *stack.shape[1:]), stack.dtype) if i >= len(stack) else None
        if grown is not None:
            grown[: len(stack)] = stack
        out = grown if grown is not None else stack.copy()
        out[i] = x
        return out

    def bprop(self, stack: TensorBase, i: TensorBase, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        picked = StackRead()(dout, i)
        return StackPush()(dout, i, zeros_like(picked)), None, _like(picked, x)


class StackRead(Primitive):
    """Entry `i` of a stack."""

    def __init__(self) -> None:
        super().__init__("StackRead")

    def infer(self, stack: AbstractTensor, i: AbstractTensor) -> Any:
        return AbstractTensor(stack.dtype, stack.shape[1:])

    def factors(self, stack: AbstractTensor, i: AbstractTensor) -> Factors:
        names = numbered(len(stack.shape) - 1)
        return Factors(((WHOLE, *names), () if is_tensor(i) else None), (names,))

    def eval(self, xp: Any, stack: Any, i: Any) -> Any:
        return stack[i] if xp is not np else stack[min(int(i), len(stack) - 1)]

    def bprop(self, stack: TensorBase, i: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        return StackPush()(zeros_like(stack), i, dout), None


def _like(tensor: TensorBase, value: Any) -> Any:
    """Gradients of numbers are numbers."""
    return TensorToScalar()(tensor) if type(value).__name__ == "SymbolicScalar" else tensor


def as_tensor(value: Any) -> Any:
    """A number as a 0-d tensor of its own type; tensors pass."""
    return ScalarToTensor()(value, value.dtype) if type(value).__name__ == "SymbolicScalar" else value
