"""Running sums, products and extrema along an axis, and the linear recurrence their gradients need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base import dtype as mstype
from mindspore._base.optional import require
from mindspore.ir import AbstractTensor, AbstractTuple
from mindspore.prims import checks, values
from mindspore.prims.arrays import Concat, Fill, GetItem
from mindspore.prims.batching import along_axis, running
from mindspore.prims.elementwise import Exp, conj
from mindspore.prims.factors import Factors, along
from mindspore.prims.gather_scatter import TensorScatterElements
from mindspore.prims.precision import narrow, widen
from mindspore.prims.primitive import Primitive

if TYPE_CHECKING:
    from mindspore.prims.array_types import Array, Namespace
    from mindspore.prims.values import TensorBase


class _Scan(Primitive):
    """`prim(x, axis)`. `exclusive` leaves each element out of its own result; `reverse` runs from the end."""

    kinds = "uifc"

    def __init__(self, exclusive: bool = False, reverse: bool = False):
        op = type(self).__name__
        super().__init__(
            exclusive=checks.boolean(op, "exclusive", exclusive), reverse=checks.boolean(op, "reverse", reverse)
        )

    def prepare(self, args: tuple) -> tuple:
        x, axis = args
        return x, values.static_number(axis)

    def infer(self, x: AbstractTensor, axis: Any) -> Any:
        checks.tensor(self.name, "x", x)
        checks.dtype_in(self.name, "x", x.dtype, self.kinds)
        checks.axis(self.name, axis, x.ndim)
        return AbstractTensor(x.dtype, x.shape)

    def factors(self, x: AbstractTensor, axis: Any) -> Factors:
        return along(x, (axis % max(x.ndim, 1),), 1, axis)

    def eval(self, xp: Namespace, x: Array, axis: int) -> Any:
        if x.ndim == 0:
            return xp.full_like(x, self.identity) if self.exclusive else x
        work = xp.flip(x, axis) if self.reverse else x
        if self.exclusive:
            first = xp.full_like(xp.take(work, xp.zeros(min(1, work.shape[axis]), np.int32), axis=axis), self.identity)
            head = tuple(slice(None) if d != axis % x.ndim else slice(0, -1) for d in range(x.ndim))
            work = xp.concatenate([first, work[head]], axis)
        with np.errstate(all="ignore"):
            out = narrow(self.accumulate(xp, widen(work), axis), x)
        return xp.flip(out, axis) if self.reverse else out

    identity: Any = 0

    def accumulate(self, xp: Namespace, x: Any, axis: int) -> Any:
        raise NotImplementedError

    vmap = running


class CumSum(_Scan):
    """Running sum.

    Examples:
        >>> print(ops.CumSum(reverse=True)(Tensor([1.0, 2.0, 3.0]), 0))
        [6. 5. 3.]
    """

    def accumulate(self, xp: Namespace, x: Array, axis: int) -> Any:
        return xp.cumsum(x, axis, dtype=x.dtype)

    def bprop(self, x: TensorBase, axis: Any, out: TensorBase, dout: TensorBase) -> tuple:
        return CumSum(self.exclusive, not self.reverse)(dout, axis), None


class CumProd(_Scan):
    """Running product.

    Examples:
        >>> print(ops.CumProd(exclusive=True)(Tensor([2.0, 3.0, 4.0]), 0))
        [1. 2. 6.]
    """

    identity = 1

    def accumulate(self, xp: Namespace, x: Array, axis: int) -> Any:
        return xp.cumprod(x, axis, dtype=x.dtype)

    def bprop(self, x: TensorBase, axis: Any, out: TensorBase, dout: TensorBase) -> tuple:
        """Exact also at zeros: dx = (product of those before) * g, where g = dout + (next x) * (next g)."""
        if x.ndim == 0:
            return (Fill()(x.dtype, (), 0) if self.exclusive else dout), None
        before = CumProd(True, self.reverse)(x, axis)
        following = conj(shift(x, axis, 0, forward=self.reverse))
        own = shift(dout, axis, 0, forward=self.reverse) if self.exclusive else dout
        return conj(before) * linear_recurrence(following, own, axis, forward=self.reverse), None


class CumulativeLogsumexp(_Scan):
    """log of the running sum of exponentials.

    Examples:
        >>> print(ops.CumulativeLogsumexp()(Tensor([0.0, 0.0]), Tensor(0)))
        [0.        0.6931472]
    """

    kinds = "f"
    identity = -np.inf

    def accumulate(self, xp: Any, x: Any, axis: int) -> Any:
        if xp is np:
            return np.logaddexp.accumulate(x, axis) if x.shape[axis] else x
        return require("jax.lax", "xla", "this operation").cumlogsumexp(x, axis % x.ndim)

    def bprop(self, x: TensorBase, axis: Any, out: TensorBase, dout: TensorBase) -> tuple:
        """All factors are at most 1: dx = exp(x - total) * g, where g = dout + exp(total - next total) * (next g)."""
        total = CumulativeLogsumexp(False, self.reverse)(x, axis)
        own = shift(dout, axis, 0, forward=self.reverse) if self.exclusive else dout
        if x.ndim == 0:
            return own, None
        step = Exp()(total - shift(total, axis, np.inf, forward=self.reverse))
        return Exp()(x - total) * linear_recurrence(step, own, axis, forward=self.reverse), None


class _RunningExtremum(Primitive):
    """`prim(x)` -> (values, indices); at ties the later index."""

    def __init__(self, axis: int):
        super().__init__(axis=checks.integer(type(self).__name__, "axis", axis))

    index_dtype = mstype.int64

    def infer(self, x: AbstractTensor) -> Any:
        checks.tensor(self.name, "x", x)
        checks.dtype_in(self.name, "x", x.dtype, "uif")
        checks.axis(self.name, self.axis, x.ndim)
        return AbstractTuple((AbstractTensor(x.dtype, x.shape), AbstractTensor(self.index_dtype, x.shape)))

    def factors(self, x: AbstractTensor) -> Factors:
        return along(x, (self.axis % max(x.ndim, 1),), 2)

    def eval(self, xp: Namespace, x: Any) -> Any:
        if x.ndim == 0 or x.shape[self.axis] == 0:
            return xp.asarray(x), xp.zeros(x.shape, self.index_dtype.np)
        extreme = self.accumulate(xp, x, self.ufunc)
        place = xp.reshape(xp.arange(x.shape[self.axis]), (-1,) + (1,) * (x.ndim - 1 - self.axis % x.ndim))
        same = x == extreme if x.dtype.kind in "ui" else (x == extreme) | xp.isnan(x)  # NaN is the extreme from there on
        hit = xp.where(same, place, xp.zeros_like(place))
        return extreme, self.accumulate(xp, hit, "maximum").astype(self.index_dtype.np)

    ufunc: str

    def accumulate(self, xp: Namespace, x: Array, ufunc: str) -> Any:
        if xp is np:
            return getattr(np, ufunc).accumulate(x, self.axis)
        lax = require("jax.lax", "xla", "this operation")
        scan = {"maximum": lax.cummax, "minimum": lax.cummin}[ufunc]
        return scan(x, self.axis % x.ndim)

    def bprop(self, x: TensorBase, out: Any, dout: Any) -> tuple:
        return (TensorScatterElements(self.axis, "add")(Fill()(x.dtype, x.shape, 0), out[1], dout[0]),)

    vmap = along_axis


class Cummax(_RunningExtremum):
    """Running maximum and where it stands.

    Examples:
        >>> value, index = ops.Cummax(axis=0)(Tensor([1.0, 3.0, 2.0, 5.0]))
        >>> print(value, index)
        [1. 3. 3. 5.] [0 1 1 3]
    """

    ufunc = "maximum"


class Cummin(_RunningExtremum):
    """Running minimum and where it stands.

    Examples:
        >>> value, index = ops.Cummin(axis=0)(Tensor([4.0, 3.0, 5.0, 1.0]))
        >>> print(value, index)
        [4. 3. 3. 1.] [0 1 1 3]
    """

    ufunc = "minimum"


# -- recurrences --------------------------------------------------------------------------------------------------------
def shift(x: TensorBase, axis: int, fill: Any, forward: bool, by: int = 1) -> Any:
    """Move elements along an axis: forward gives out[i] = x[i - by], else out[i] = x[i + by]; `fill` enters."""
    at, n = axis % x.ndim, x.shape[axis]
    by = min(by, n)
    lead = (slice(None),) * at
    kept = GetItem((*lead, slice(0, n - by) if forward else slice(by, n)))(x)
    gap = Fill()(x.dtype, x.shape[:at] + (by,) + x.shape[at + 1 :], fill)
    return Concat(at)([gap, kept] if forward else [kept, gap])


def linear_recurrence(a: TensorBase, b: TensorBase, axis: int, forward: bool) -> Any:
    """g with g[i] = b[i] + a[i] * g[i - 1] (forward) or + a[i] * g[i + 1].

    By doubling (Hillis and Steele, 1986): after step k each (a, b) stands for 2**k links of the chain.
    """
    by, n = 1, a.shape[axis]
    while by < n:
        b = b + a * shift(b, axis, 0, forward, by)
        if 2 * by < n:
            a = a * shift(a, axis, 0, forward, by)
        by *= 2
    return b


def exclusive_products(x: TensorBase) -> Any:
    """For each element of the last axis the product of all the others."""
    return CumProd(True, False)(x, -1) * CumProd(True, True)(x, -1)
