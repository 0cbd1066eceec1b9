"""Rounding to 8-bit floats, for products of matrices (Micikevicius et al., FP8 Formats for Deep Learning, 2022).

A factor is divided by a scale of its own, so that its largest number is near the largest that 8 bits hold, and rounded: to e4m3 what a
network computes, to e5m2, which reaches further, what comes back as gradients. The scale is a power of two, found in the factor itself:
scaling rounds nothing, and nothing is remembered from step to step. The numbers keep their own type; a product of two such factors on
a GPU that has instructions for it is made one of 8-bit factors by XLA, which takes about half the time of 16 bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.prims import checks
from mindspore.prims.factors import Factors, numbered
from mindspore.prims.primitive import Primitive

if TYPE_CHECKING:
    from mindspore.prims.array_types import Array, Namespace
    from mindspore.prims.values import TensorBase

#: kind → its type, and the scale beside the power of two in the largest number, which then is at most 256 (of 448), 32768 (of 57344)
KINDS = {"e4m3": (mstype.float8_e4m3fn, 2.0**-7), "e5m2": (mstype.float8_e5m2, 2.0**-14)}
#: what the largest number counts as at least, so that zeros have a scale
_LEAST = np.float32(2.0**-80)
#: the bits of a float32 that are its power of two
_POWER = np.int32(0x7F800000)


def _kind(op: str, kind: str) -> str:
    if kind not in KINDS:
        raise ValueError(f"For '{op}', 'kind' must be one of {tuple(KINDS)}, but got {kind!r}.")
    return kind


class Float8Rounding(Primitive):
    """The numbers of a tensor as 8 bits hold them, with one scale for all. Gradients pass as they are.

    One NaN or infinity makes all of them NaN. `kind`: 'e4m3' (3 bits of fraction) or 'e5m2' (2 bits).

    Examples:
        >>> from mindspore.prims.float8 import Float8Rounding
        >>> Float8Rounding("e4m3")(Tensor([1.0, 2.1, 100.0])).tolist()
        [1.0, 2.0, 96.0]
    """

    def __init__(self, kind: str = "e4m3"):
        super().__init__(kind=_kind("Float8Rounding", kind))

    def infer(self, x: Any) -> Any:
        checks.tensor(self.name, "x", x)
        checks.dtype_in(self.name, "x", x.dtype, "f")
        return x

    def factors(self, x: Any) -> Factors:
        """Each part of a tensor that is cut over devices has a scale of its own."""
        labels = numbered(x.ndim)
        return Factors((labels,), (labels,))

    def eval(self, xp: Namespace, x: Array) -> Any:
        if not x.size:
            return x
        dtype, reach = KINDS[self.kind]
        largest = xp.maximum(xp.max(xp.abs(x)).astype(np.float32), _LEAST)
        power = (xp.asarray(largest).view(np.int32) & _POWER).view(np.float32)
        scale = (power * np.float32(reach)).astype(x.dtype)
        with np.errstate(invalid="ignore"):  # of infinities
            return (x / scale).astype(dtype.np).astype(x.dtype) * scale

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        return (dout,)


class Float8Gradient(Primitive):
    """The tensor itself, whose gradient is rounded to 8 bits. `kind`: 'e5m2' (2 bits of fraction) or 'e4m3' (3 bits).

    Examples:
        >>> from mindspore.prims.float8 import Float8Gradient
        >>> ms.grad(lambda x: (Float8Gradient()(x) * Tensor([1.0, 2.1])).sum())(ops.ones(2)).tolist()
        [1.0, 2.0]
    """

    def __init__(self, kind: str = "e5m2"):
        super().__init__(kind=_kind("Float8Gradient", kind))

    def infer(self, x: Any) -> Any:
        checks.tensor(self.name, "x", x)
        return x

    def factors(self, x: Any) -> Factors:
        labels = numbered(x.ndim)
        return Factors((labels,), (labels,))

    def eval(self, xp: Namespace, x: Array) -> Any:
        return x

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        return (Float8Rounding(self.kind)(dout),)


__all__ = ["KINDS", "Float8Gradient", "Float8Rounding"]
