"""Convolutions and products of 8-bit whole numbers, with what follows them.

    y = bounded(scale * (x ∗ w) + bias [+ added]),   rounded to 8 bits where a network's next operation takes these

Zero stands for zero: numbers from activations are unsigned after a ReLU and signed elsewhere, filters are signed. `scale` has
one number per output channel, the product of the operands' scales. Sums are exact, so every backend gives the same numbers
up to the rounding of `scale * sum`. Networks are turned into these by mindspore_lite's quantisation; there are no gradients.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.ir import AbstractTensor
from mindspore.prims import checks
from mindspore.prims.conv import Conv2D, Convolution
from mindspore.prims.precision import product
from mindspore.prims.primitive import Primitive

_LIMITS = {"uint8": (0, 255), "int8": (-128, 127)}


def _kind(name: str, given: str) -> Any:
    found = {"float32": mstype.float32, "uint8": mstype.uint8, "int8": mstype.int8}.get(given)
    if found is None:
        raise ValueError(f"For '{name}', 'out' must be 'float32', 'uint8' or 'int8', but got {given!r}.")
    return found


def _rounded(xp: Any, x: Any, out: str) -> Any:
    low, high = _LIMITS[out]
    return xp.minimum(xp.maximum(xp.rint(x), np.float32(low)), np.float32(high)).astype(getattr(np, out))


class QuantiseLinear(Primitive):
    """x / scale as whole numbers of 8 bits, the nearest that there are.

    Args:
        out: the element type of the result, "int8" or "uint8".

    Examples:
        >>> print(ops.QuantiseLinear()(Tensor([-1.0, 0.26, 100.0]), Tensor(0.5)))
        [ -2   1 127]
    """

    def __init__(self, out: str = "int8"):
        if out not in _LIMITS:
            raise ValueError(f"For 'QuantiseLinear', 'out' must be 'uint8' or 'int8', but got {out!r}.")
        super().__init__("QuantiseLinear", out=out)

    def infer(self, x: Any, scale: Any) -> Any:
        checks.tensor(self.name, "x", x)
        return AbstractTensor(_kind(self.name, self.out), x.shape)

    def eval(self, xp: Any, x: Any, scale: Any) -> Any:
        return _rounded(xp, x * (np.float32(1) / scale), self.out)  # one division for all


class TableLookup(Primitive):
    """Entries of a table of 256, chosen by bytes: any function of one number, once that is rounded to 8 bits.

    Examples:
        >>> table = Tensor(np.arange(256) // 2, ms.uint8)
        >>> print(ops.TableLookup()(Tensor([0, 7, 255], ms.uint8), table))
        [  0   3 127]
    """

    def __init__(self) -> None:
        super().__init__("TableLookup")

    def infer(self, x: Any, table: Any) -> Any:
        for label, value, allowed in (("x", x, ("UInt8",)), ("table", table, ("Int8", "UInt8"))):
            checks.tensor(self.name, label, value)
            if str(value.dtype) not in allowed:
                raise TypeError(f"For 'TableLookup', '{label}' must be of type {' or '.join(allowed)}, but got {value.dtype}.")
        if tuple(table.shape) != (256,):
            raise ValueError(f"For 'TableLookup', 'table' must have the shape (256,), but got {table.shape}.")
        return AbstractTensor(table.dtype, x.shape)

    def eval(self, xp: Any, x: Any, table: Any) -> Any:
        return xp.asarray(table)[x.astype(np.int32)]


class _Finish:
    """What follows the sums of products."""

    name: str
    out: str
    low: float
    high: float
    step: float

    def finished(self, xp: Any, sums: Any, scale: Any, bias: Any, added: Any) -> Any:
        """`scale` and `bias` have the shape of one row of channels already."""
        y = sums * scale + bias
        if added is not None:
            y = y + added
        y = xp.minimum(xp.maximum(y, np.float32(self.low)), np.float32(self.high))
        return y.astype(np.float32) if self.out == "float32" else _rounded(xp, y / np.float32(self.step), self.out)

    def check_operands(self, x: Any, w: Any) -> None:
        for label, value, allowed in (("x", x, ("Int8", "UInt8")), ("w", w, ("Int8",))):
            checks.tensor(self.name, label, value)
            if str(value.dtype) not in allowed:
                raise TypeError(f"For '{self.name}', '{label}' must be of type {' or '.join(allowed)}, but got {value.dtype}.")


class QuantisedConv2D(_Finish, Convolution):
    """A convolution of whole numbers of 8 bits, scaled, with a bias added, between bounds.

    Args:
        like: the convolution it stands for.
        out: the element type of the result, "float32", "int8" or "uint8".
        step: the scale of results that are whole numbers.
        low: the lower bound of results.
        high: the upper bound of results.

    Examples:
        >>> image, filters = ops.ones((1, 1, 2, 2), ms.uint8), ops.ones((1, 1, 2, 2), ms.int8)
        >>> print(ops.QuantisedConv2D(ops.Conv2D(1, 2))(image, filters, Tensor([0.5]), Tensor([1.0])))
        [[[[3.]]]]
    """

    rank = 2
    promote: ClassVar[str | tuple[int, ...]] = ""  # bytes with and without a sign meet as they are

    def __init__(self, like: Conv2D, out: str = "float32", step: float = 1.0, low: float = -3.4e38, high: float = 3.4e38):
        Primitive.__init__(self, "QuantisedConv2D", **like.own_attrs(), out=out, step=step, low=low, high=high)

    def infer(self, x: Any, w: Any, scale: Any, bias: Any, added: Any = None) -> Any:
        self.check_operands(x, w)
        return AbstractTensor(_kind(self.name, self.out), self.output_shape(x.shape, w.shape))

    def eval(self, xp: Any, x: Any, w: Any, scale: Any, bias: Any, added: Any = None) -> Any:
        kind = np.float64 if xp is np else np.float32
        plain = Conv2D.__new__(Conv2D)
        attributes = {k: v for k, v in self.own_attrs().items() if k not in ("out", "step", "low", "high")}
        Primitive.__init__(plain, "Conv2D", **attributes)
        sums = plain.eval(xp, x.astype(kind), w.astype(kind)).astype(np.float32)
        row = (1, 1, 1, -1) if self.channels_last else (1, -1, 1, 1)
        return self.finished(xp, sums, scale.reshape(row), bias.reshape(row), added)


class QuantisedMatMul(_Finish, Primitive):
    """x (…, k) times w (k, n), whole numbers of 8 bits, scaled, with a bias added, between bounds.

    Args:
        out: the element type of the result, "float32", "int8" or "uint8".
        step: the scale of results that are whole numbers.
        low: the lower bound of results.
        high: the upper bound of results.

    Examples:
        >>> rows, matrix = ops.ones((1, 3), ms.uint8), ops.ones((3, 2), ms.int8)
        >>> print(ops.QuantisedMatMul()(rows, matrix, Tensor([0.5, 1.0]), Tensor([0.0, 1.0])))
        [[1.5 4. ]]
    """

    def __init__(self, out: str = "float32", step: float = 1.0, low: float = -3.4e38, high: float = 3.4e38):
        super().__init__("QuantisedMatMul", out=out, step=step, low=low, high=high)

    def infer(self, x: Any, w: Any, scale: Any, bias: Any, added: Any = None) -> Any:
        self.check_operands(x, w)
        if len(w.shape) != 2 or x.shape[-1] != w.shape[0]:
            raise ValueError(f"For 'QuantisedMatMul', {x.shape} times {w.shape} is no product of rows and a matrix.")
        return AbstractTensor(_kind(self.name, self.out), (*x.shape[:-1], w.shape[1]))

    def eval(self, xp: Any, x: Any, w: Any, scale: Any, bias: Any, added: Any = None) -> Any:
        kind = np.float64 if xp is np else np.float32
        sums = product(xp, x.astype(kind), w.astype(kind)).astype(np.float32)
        return self.finished(xp, sums, scale, bias, added)
