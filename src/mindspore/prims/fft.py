"""Discrete Fourier transforms along axes.

Three primitives suffice: complex to complex, real to half-complex, half-complex to real. Norms, lengths and the
multi-dimensional forms are composed from them in `ops/fourier.py`. They are unnormalised (the inverse included), so
that each is the other's adjoint up to conjugation, which is what the gradients use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore.ir import AbstractTensor
from mindspore.prims import checks
from mindspore.prims.arrays import GetItem, Pad
from mindspore.prims.elementwise import Cast, Complex, Real, zeros_like
from mindspore.prims.primitive import Primitive

if TYPE_CHECKING:
    from mindspore.prims.array_types import Array, Namespace
    from mindspore.prims.values import TensorBase


def complex_type(dtype: mstype.DType) -> mstype.DType:
    return mstype.complex128 if dtype in (mstype.float64, mstype.complex128) else mstype.complex64


def real_type(dtype: mstype.DType) -> mstype.DType:
    return mstype.float64 if dtype in (mstype.float64, mstype.complex128) else mstype.float32


def _to_complex(x: Any) -> Any:
    return Complex()(x, zeros_like(x)) if x.dtype.kind != "c" else x


def _not_empty(shape: tuple[int, ...], axis: int) -> None:
    if shape[axis] == 0:
        raise ValueError(
            f"For Fourier transforms, axis {axis} must have an element, but the shape of 'input' is {shape}."
        )


class FourierTransform(Primitive):
    """sum_k x[k] exp(∓2πi jk/n) along `axis`: minus forward, plus when `inverse`; no factor either way.

    Examples:
        >>> print(ops.FourierTransform()(Tensor([1 + 0j, 2, 3, 4])))
        [10.+0.j -2.+2.j -2.+0.j -2.-2.j]
    """

    def __init__(self, axis: int = -1, inverse: bool = False):
        super().__init__(axis=axis, inverse=bool(inverse))

    def infer(self, x: AbstractTensor) -> Any:
        checks.tensor(self.name, "input", x)
        checks.dtype_in(self.name, "input", x.dtype, "c")
        _not_empty(x.shape, checks.axis(self.name, self.axis, x.ndim, "dim"))
        return AbstractTensor(x.dtype, x.shape)

    def eval(self, xp: Namespace, x: Array) -> Any:
        if self.inverse:
            return xp.fft.ifft(x, axis=self.axis, norm="forward").astype(x.dtype)
        return xp.fft.fft(x, axis=self.axis).astype(x.dtype)

    def bprop(self, x: Any, out: TensorBase, dout: TensorBase) -> tuple:
        return (FourierTransform(self.axis, not self.inverse)(dout),)


class RealFourierTransform(Primitive):
    """The first half (n // 2 + 1 entries) of the transform of real numbers.

    Examples:
        >>> print(ops.RealFourierTransform()(Tensor([1.0, 2.0, 3.0, 4.0])))
        [10.+0.j -2.+2.j -2.+0.j]
    """

    def __init__(self, axis: int = -1):
        super().__init__(axis=axis)

    def infer(self, x: AbstractTensor) -> Any:
        checks.tensor(self.name, "input", x)
        checks.dtype_in(self.name, "input", x.dtype, "f")
        at = checks.axis(self.name, self.axis, x.ndim, "dim")
        _not_empty(x.shape, at)
        half = x.shape[at] // 2 + 1
        return AbstractTensor(complex_type(x.dtype), x.shape[:at] + (half,) + x.shape[at + 1 :])

    def eval(self, xp: Namespace, x: Array) -> Any:
        return xp.fft.rfft(x, axis=self.axis).astype(complex_type(mstype.from_numpy(x.dtype)).np)

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        at = self.axis % x.ndim
        n, half = x.shape[at], dout.shape[at]
        pad = tuple((0, n - half) if d == at else (0, 0) for d in range(x.ndim))
        return (Cast()(Real()(FourierTransform(at, True)(Pad(pad)(dout))), x.dtype),)


class InverseRealFourierTransform(Primitive):
    """n real numbers from the first half of their transform, without the factor 1/n.

    Examples:
        >>> print(ops.InverseRealFourierTransform(4)(Tensor([10 + 0j, -2 + 2j, -2 + 0j])) / 4)
        [1. 2. 3. 4.]
    """

    def __init__(self, n: int, axis: int = -1):
        super().__init__(n=checks.integer("InverseRealFourierTransform", "n", n, 1), axis=axis)

    def infer(self, x: AbstractTensor) -> Any:
        checks.tensor(self.name, "input", x)
        checks.dtype_in(self.name, "input", x.dtype, "c")
        at = checks.axis(self.name, self.axis, x.ndim, "dim")
        return AbstractTensor(real_type(x.dtype), x.shape[:at] + (self.n,) + x.shape[at + 1 :])

    def eval(self, xp: Namespace, x: Array) -> Any:
        out = xp.fft.irfft(x, n=self.n, axis=self.axis, norm="forward")
        return out.astype(real_type(mstype.from_numpy(x.dtype)).np)

    def bprop(self, x: TensorBase, out: TensorBase, dout: TensorBase) -> tuple:
        """Inner entries stand for two conjugate ones, the first (and the last of an even n) for one real one."""
        at = self.axis % x.ndim
        half = self.n // 2 + 1
        used = min(half, x.shape[at])
        spectrum = GetItem((slice(None),) * at + (slice(0, used),))(RealFourierTransform(at)(dout))
        weight = np.full(used, 2.0)
        weight[0] = 1.0
        if self.n % 2 == 0 and used == half:
            weight[-1] = 1.0
        from mindspore.prims import values

        shape = tuple(used if d == at else 1 for d in range(x.ndim))
        factor = values.from_array(weight.reshape(shape).astype(real_type(x.dtype).np))
        grad = spectrum * _to_complex(factor)
        pad = tuple((0, x.shape[at] - used) if d == at else (0, 0) for d in range(x.ndim))
        return (Pad(pad)(grad) if used < x.shape[at] else grad,)
