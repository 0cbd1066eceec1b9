"""Gamma, Bessel, zeta and related functions, element by element, evaluated by SciPy or JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore.prims.broadcasting import sum_to_shape
from mindspore.prims.elementwise import Elementwise, Exp, Log, Log1p, Select, Sign, binary, unary, zeros_like
from mindspore.prims.precision import narrow, widen
from mindspore.prims.special import scipy_special

if TYPE_CHECKING:
    from mindspore.prims.array_types import Array, Namespace
    from mindspore.prims.values import TensorBase


def _special(name: str) -> Callable:
    """A function of `scipy.special` (or JAX's counterpart) as an evaluation rule."""

    def function(xp: Namespace, *args: Any) -> Any:
        with np.errstate(all="ignore"):
            out = getattr(scipy_special(xp), name)(*(widen(a) for a in args))
        return narrow(xp.asarray(out), args[0])

    return function


def _host_special(name: str) -> Callable:
    """A function that JAX lacks: under XLA it runs on the host."""
    from_numpy = _special(name)

    def function(xp: Namespace, *args: Any) -> Any:
        if xp is np:
            return from_numpy(np, *args)
        import jax

        shape = np.broadcast_shapes(*(a.shape for a in args))
        result = jax.ShapeDtypeStruct(shape, args[0].dtype)
        return jax.pure_callback(
            lambda *xs: from_numpy(np, *map(np.asarray, xs)), result, *args, vmap_method="broadcast_all"
        )

    return function


Lgamma = unary("Lgamma", _special("gammaln"), lambda x, out, d: d * Digamma()(x), "f",
    doc="""The logarithm of the size of the gamma function.

    Examples:
        >>> ops.Lgamma()(Tensor([1.0])).tolist()
        [0.0]
    """)
Digamma: Any = unary("Digamma", _special("digamma"), lambda x, out, d: d * trigamma(x), "f",
    doc="""The derivative of the logarithm of the gamma function.

    Examples:
        >>> ops.Digamma()(Tensor([1.0, 2.0])).shape
        (2,)
    """)
def _zeta(xp: Namespace, x: Array, q: Array) -> Any:
    """The sum of 1 / (q + n)**x; where a term divides by zero it is infinite, and nothing is left for an infinite q."""
    found = _special("zeta")(xp, x, q)
    with np.errstate(invalid="ignore"):
        convergent = x > 1
        found = xp.where(convergent & (q <= 0) & (q == xp.floor(q)), np.inf, found)
        found = xp.where(convergent & (q == np.inf), 0, found)
    return xp.where(x >= 1, found, np.nan).astype(x.dtype)  # NaN is no exponent either


Zeta: Any = binary("Zeta", _zeta, lambda x, q, out, d: (zeros_like(d), d * -x * Zeta()(x + 1, q)), "f",
    doc="""The Hurwitz zeta function.

    Examples:
        >>> ops.Zeta()(Tensor([1.5, 2.0]), Tensor([1.0, 2.0])).shape
        (2,)
    """)


def _polygamma(xp: Namespace, n: Array, x: Array) -> Any:
    with np.errstate(all="ignore"):
        return narrow(xp.asarray(scipy_special(xp).polygamma(n.astype(np.int32), widen(x))), x)


Polygamma: Any = binary(
    "Polygamma", _polygamma, lambda n, x, out, d: (zeros_like(d), d * Polygamma()(n + 1, x)), "f",
    doc="""The x-th derivative of the digamma function at y.

    Examples:
        >>> ops.Polygamma()(Tensor(1), Tensor([1.0, 2.0])).shape
        (2,)
    """)  # fmt: skip


def trigamma(x: Any) -> Any:
    """The derivative of digamma."""
    return Polygamma()(zeros_like(x) + 1, x)


def _gamma_density(a: Any, x: Any) -> Any:
    """x^(a-1) e^-x / Γ(a), the derivative of the lower incomplete gamma function by x."""
    positive = x > 0
    safe = Select()(positive, x, zeros_like(x) + 1)
    return Select()(positive, Exp()((a - 1) * Log()(safe) - safe - Lgamma()(a)), zeros_like(a + x))


def _by_first(function: Callable, sign: float) -> Callable:
    """Central difference in the first argument, which has no closed form."""

    def derivative(a: Any, x: Any) -> Any:
        step = 1e-3 if a.dtype.itemsize < 8 else 1e-5
        return (function(a + step, x) - function(a - step, x)) * (sign / (2 * step))

    return derivative


Igamma: Any = binary(
    "Igamma", _special("gammainc"),
    lambda a, x, out, d: (d * _by_first(Igamma(), 1.0)(a, x), d * _gamma_density(a, x)), "f",
    doc="""The lower incomplete gamma function, regularised.

    Examples:
        >>> ops.Igamma()(Tensor([1.5, 2.0]), Tensor([1.0, 2.0])).shape
        (2,)
    """)  # fmt: skip
Igammac: Any = binary(
    "Igammac", _special("gammaincc"),
    lambda a, x, out, d: (d * _by_first(Igammac(), 1.0)(a, x), d * -_gamma_density(a, x)), "f",
    doc="""The upper incomplete gamma function, regularised.

    Examples:
        >>> ops.Igammac()(Tensor([1.5, 2.0]), Tensor([1.0, 2.0])).shape
        (2,)
    """)  # fmt: skip

BesselI0 = unary("BesselI0", _special("i0"), lambda x, out, d: d * BesselI1()(x), "f",
    doc="""The modified Bessel function of the first kind, order 0.

    Examples:
        >>> ops.BesselI0()(Tensor([0.0])).tolist()
        [1.0]
    """)
BesselI1: Any = unary("BesselI1", _special("i1"), lambda x, out, d: d * (BesselI0()(x) - _ratio(out, x, 0.5)), "f",
    doc="""The modified Bessel function of the first kind, order 1.

    Examples:
        >>> ops.BesselI1()(Tensor([0.0])).tolist()
        [0.0]
    """)
BesselI0e = unary("BesselI0e", _special("i0e"), lambda x, out, d: d * (BesselI1e()(x) - Sign()(x) * out), "f",
    doc="""exp(-|x|) times the modified Bessel function of the first kind, order 0.

    Examples:
        >>> ops.BesselI0e()(Tensor([0.0])).tolist()
        [1.0]
    """)
BesselI1e: Any = unary(
    "BesselI1e", _special("i1e"), lambda x, out, d: d * (BesselI0e()(x) - out * Sign()(x) - _ratio(out, x, 0.5)), "f",
    doc="""exp(-|x|) times the modified Bessel function of the first kind, order 1.

    Examples:
        >>> ops.BesselI1e()(Tensor([0.0])).tolist()
        [0.0]
    """)  # fmt: skip
BesselJ0 = unary("BesselJ0", _host_special("j0"), lambda x, out, d: -d * BesselJ1()(x), "f",
    doc="""The Bessel function of the first kind, order 0.

    Examples:
        >>> ops.BesselJ0()(Tensor([0.0])).tolist()
        [1.0]
    """)
BesselJ1: Any = unary("BesselJ1", _host_special("j1"), lambda x, out, d: d * (BesselJ0()(x) - _ratio(out, x, 0.5)), "f",
    doc="""The Bessel function of the first kind, order 1.

    Examples:
        >>> ops.BesselJ1()(Tensor([0.0])).tolist()
        [0.0]
    """)
BesselY0 = unary("BesselY0", _host_special("y0"), lambda x, out, d: -d * BesselY1()(x), "f",
    doc="""The Bessel function of the second kind, order 0.

    Examples:
        >>> ops.BesselY0()(Tensor([1.0, 2.0])).shape
        (2,)
    """)
BesselY1: Any = unary("BesselY1", _host_special("y1"), lambda x, out, d: d * (BesselY0()(x) - out / x), "f",
    doc="""The Bessel function of the second kind, order 1.

    Examples:
        >>> ops.BesselY1()(Tensor([1.0, 2.0])).shape
        (2,)
    """)
BesselK0 = unary("BesselK0", _host_special("k0"), lambda x, out, d: -d * BesselK1()(x), "f",
    doc="""The modified Bessel function of the second kind, order 0.

    Examples:
        >>> ops.BesselK0()(Tensor([1.0, 2.0])).shape
        (2,)
    """)
BesselK1: Any = unary("BesselK1", _host_special("k1"), lambda x, out, d: -d * (BesselK0()(x) + out / x), "f",
    doc="""The modified Bessel function of the second kind, order 1.

    Examples:
        >>> ops.BesselK1()(Tensor([1.0, 2.0])).shape
        (2,)
    """)
BesselK0e = unary("BesselK0e", _host_special("k0e"), lambda x, out, d: d * (out - BesselK1e()(x)), "f",
    doc="""exp(x) times the modified Bessel function of the second kind, order 0.

    Examples:
        >>> ops.BesselK0e()(Tensor([1.0, 2.0])).shape
        (2,)
    """)
BesselK1e: Any = unary(
    "BesselK1e", _host_special("k1e"), lambda x, out, d: d * (out * (1 - 1 / x) - BesselK0e()(x)), "f",
    doc="""exp(x) times the modified Bessel function of the second kind, order 1.

    Examples:
        >>> ops.BesselK1e()(Tensor([1.0, 2.0])).shape
        (2,)
    """)
Spence = unary("Spence", _special("spence"), lambda x, out, d: d * -_ratio(Log()(x), x - 1, 1.0), "f",
    doc="""Spence's function, the dilogarithm of 1 - x.

    Examples:
        >>> ops.Spence()(Tensor([1.0])).tolist()
        [0.0]
    """)
Dawsn = unary("Dawsn", _host_special("dawsn"), lambda x, out, d: d * (1 - 2 * x * out), "f", doc="""Dawson's integral.

    Examples:
        >>> ops.Dawsn()(Tensor([0.0])).tolist()
        [0.0]
    """)


def _ratio(numerator: Any, denominator: Any, at_zero: float) -> Any:
    """numerator / denominator, with its limit where the denominator is 0."""
    zero = denominator == 0
    safe = Select()(zero, zeros_like(denominator) + 1, denominator)
    return Select()(zero, zeros_like(numerator) + at_zero, numerator / safe)


class Betainc(Elementwise):
    """The regularised incomplete beta function I_x(a, b).

    Examples:
        >>> print(ops.Betainc()(Tensor([2.0]), Tensor([3.0]), Tensor([0.5])))
        [0.6875]
    """

    promote = "all"
    kinds = "f"

    def __init__(self) -> None:
        super().__init__("Betainc")

    def eval(self, xp: Namespace, a: Array, b: Array, x: Array) -> Any:
        with np.errstate(all="ignore"):
            return narrow(xp.asarray(scipy_special(xp).betainc(widen(a), widen(b), widen(x))), x)

    def bprop(self, a: Any, b: Any, x: TensorBase, out: Any, dout: Any) -> tuple:
        return None, None, sum_to_shape(dout * beta_density(a, b, x), x.shape)


def log_beta(a: Any, b: Any) -> Any:
    """log of the beta function."""
    return Lgamma()(a) + Lgamma()(b) - Lgamma()(a + b)


def beta_density(a: Any, b: Any, x: Any) -> Any:
    """The derivative of the regularised incomplete beta function by x."""
    return Exp()((a - 1) * Log()(x) + (b - 1) * Log1p()(-x) - log_beta(a, b))
