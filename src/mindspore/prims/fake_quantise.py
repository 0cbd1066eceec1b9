"""Rounding to the grid of few-bit whole numbers, for quantisation-aware training (Jacob et al. 2018).

    y = (bounded(rint(x / step) + zero, least, most) − zero) · step

The result is a float, so that a network sees in training what whole numbers will do to it later. The gradient takes the rounding for
the identity (the straight-through estimator, Bengio et al. 2013) and is zero beyond the ends of the grid. mindspore_lite's converter reads
`step` and `zero` from these operations and computes in whole numbers instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore.ir import AbstractTensor
from mindspore.prims import checks
from mindspore.prims import elementwise as ew
from mindspore.prims.elementwise import Elementwise
from mindspore.prims.precision import narrow, widen
from mindspore.prims.primitive import POINTS, Primitive

if TYPE_CHECKING:
    from mindspore.prims.array_types import Array, Namespace
    from mindspore.prims.values import TensorBase


class FakeQuantise(Elementwise):
    """x on the grid of whole numbers from `least` to `most`, where `zero` stands for 0 and neighbours are a `step` apart.

    Args:
        least: the smallest whole number.
        most: the largest whole number.

    Examples:
        >>> print(ops.FakeQuantise(0, 255)(Tensor([-1.0, 0.26, 0.9]), Tensor(0.5), Tensor(0.0)))
        [0.  0.5 1. ]
    """

    kinds = "f"
    light = False
    native_from = POINTS

    def __init__(self, least: int = -128, most: int = 127):
        if not least < most:
            raise ValueError(f"For 'FakeQuantise', 'most' must be greater than 'least', but got {most} and {least}.")
        Primitive.__init__(self, "FakeQuantise", least=int(least), most=int(most))

    def infer(self, x: Any, step: Any, zero: Any) -> Any:
        for name, value in (("x", x), ("step", step), ("zero", zero)):
            checks.tensor(self.name, name, value)
            checks.dtype_in(self.name, name, value.dtype, self.kinds)
        shape = checks.broadcast(self.name, x.shape, step.shape, zero.shape)
        if shape != tuple(x.shape):
            raise ValueError(f"For 'FakeQuantise', 'step' {step.shape} and 'zero' {zero.shape} must not be larger than 'x' {x.shape}.")
        return AbstractTensor(x.dtype, x.shape)

    def eval(self, xp: Namespace, x: Array, step: Array, zero: Array) -> Any:
        code = xp.rint(widen(x) / step) + zero
        return narrow((xp.minimum(xp.maximum(code, float(self.least)), float(self.most)) - zero) * step, x)

    def bprop(self, x: TensorBase, step: TensorBase, zero: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        low, high = (float(self.least) - zero) * step, (float(self.most) - zero) * step
        inside = ew.LogicalAnd()(ew.Greater()(x, low), ew.Less()(x, high))
        return ew.Select()(inside, dout, ew.zeros_like(dout)), None, None
