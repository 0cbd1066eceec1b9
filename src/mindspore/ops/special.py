"""Special functions: gamma, Bessel, zeta and their relatives."""

from __future__ import annotations

import math
from typing import Any

from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import as_tensor, cast, require_tensor, to_float, unary_float
from mindspore.prims import checks
from mindspore.prims import special_functions as sf

__all__ = [
    "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "bessel_j0", "bessel_j1", "bessel_k0", "bessel_k0e",
    "bessel_k1", "bessel_k1e", "bessel_y0", "bessel_y1", "betainc", "digamma", "i0", "igamma", "igammac", "lgamma",
    "mvlgamma", "polygamma", "zeta",
]  # fmt: skip

lgamma = unary_float(sf.Lgamma, "lgamma", """log |Γ(x)|.

    Examples:
        >>> print(ops.lgamma(Tensor([1.0, 5.0])))
        [0.        3.1780539]
    """)
digamma = unary_float(sf.Digamma, "digamma", """The derivative of lgamma.

    Examples:
        >>> print(ops.digamma(Tensor([1.0, 2.0])))
        [-0.5772157   0.42278433]
    """)
i0 = unary_float(sf.BesselI0, "i0", """The modified Bessel function of the first kind and order 0.

    Examples:
        >>> print(ops.i0(Tensor([0.0, 1.0])))
        [1.        1.2660658]
    """)
bessel_i0 = unary_float(sf.BesselI0, "bessel_i0", """The modified Bessel function of the first kind and order 0.

    Examples:
        >>> print(ops.bessel_i0(Tensor([0.0, 1.0])))
        [1.        1.2660658]
    """, "x")
bessel_i1 = unary_float(sf.BesselI1, "bessel_i1", """The modified Bessel function of the first kind and order 1.

    Examples:
        >>> print(ops.bessel_i1(Tensor([0.0, 1.0])))
        [0.        0.5651591]
    """, "x")
bessel_i0e = unary_float(sf.BesselI0e, "bessel_i0e", """exp(-|x|) times bessel_i0.

    Examples:
        >>> print(ops.bessel_i0e(Tensor([0.0, 1.0])))
        [1.        0.4657596]
    """, "x")
bessel_i1e = unary_float(sf.BesselI1e, "bessel_i1e", """exp(-|x|) times bessel_i1.

    Examples:
        >>> print(ops.bessel_i1e(Tensor([0.0, 1.0])))
        [0.         0.20791042]
    """, "x")
bessel_j0 = unary_float(sf.BesselJ0, "bessel_j0", """The Bessel function of the first kind and order 0.

    Examples:
        >>> print(ops.bessel_j0(Tensor([0.0, 2.0])))
        [1.         0.22389078]
    """, "x")
bessel_j1 = unary_float(sf.BesselJ1, "bessel_j1", """The Bessel function of the first kind and order 1.

    Examples:
        >>> print(ops.bessel_j1(Tensor([0.0, 2.0])))
        [0.        0.5767248]
    """, "x")
bessel_y0 = unary_float(sf.BesselY0, "bessel_y0", """The Bessel function of the second kind and order 0.

    Examples:
        >>> print(ops.bessel_y0(Tensor([0.5, 1.0])))
        [-0.44451874  0.08825696]
    """, "x")
bessel_y1 = unary_float(sf.BesselY1, "bessel_y1", """The Bessel function of the second kind and order 1.

    Examples:
        >>> print(ops.bessel_y1(Tensor([0.5, 1.0])))
        [-1.4714724 -0.7812128]
    """, "x")
bessel_k0 = unary_float(sf.BesselK0, "bessel_k0", """The modified Bessel function of the second kind and order 0.

    Examples:
        >>> print(ops.bessel_k0(Tensor([0.5, 1.0])))
        [0.92441905 0.42102444]
    """, "x")
bessel_k1 = unary_float(sf.BesselK1, "bessel_k1", """The modified Bessel function of the second kind and order 1.

    Examples:
        >>> print(ops.bessel_k1(Tensor([0.5, 1.0])))
        [1.6564411  0.60190725]
    """, "x")
bessel_k0e = unary_float(sf.BesselK0e, "bessel_k0e", """exp(x) times bessel_k0.

    Examples:
        >>> print(ops.bessel_k0e(Tensor([0.5, 1.0])))
        [1.5241094 1.1444631]
    """, "x")
bessel_k1e = unary_float(sf.BesselK1e, "bessel_k1e", """exp(x) times bessel_k1.

    Examples:
        >>> print(ops.bessel_k1e(Tensor([0.5, 1.0])))
        [2.7310097 1.6361535]
    """, "x")


def polygamma(n: Any, input: Tensor) -> Tensor:
    """The n-th derivative of digamma.

    Examples:
        >>> print(ops.polygamma(Tensor(1, ms.int64), Tensor([1.0])))
        [1.644934]
    """
    x = to_float(require_tensor("polygamma", "input", input))
    order = as_tensor(n)
    if not order.shape and not isinstance(n, Tensor) and n == 0:
        return sf.Digamma()(x)
    return sf.Polygamma()(cast(order, x.dtype), x)


_MOST_DIMENSIONS = 1 << 10  # a term for each


def mvlgamma(input: Tensor, p: int) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension p.

    Examples:
        >>> print(ops.mvlgamma(Tensor([3.0, 5.0]), p=2))
        [1.550195 6.204155]
    """
    x = to_float(require_tensor("mvlgamma", "input", input))
    p = checks.integer("mvlgamma", "p", p, 1)
    if p > _MOST_DIMENSIONS:
        raise ValueError(f"For 'mvlgamma', 'p' must be at most {_MOST_DIMENSIONS}, but got {p}.")
    total = sf.Lgamma()(x)
    for i in range(1, p):
        total = total + sf.Lgamma()(x - i / 2)
    return total + p * (p - 1) / 4 * math.log(math.pi)


def zeta(input: Tensor, other: Any) -> Tensor:
    """The Hurwitz zeta function: the sum of (other + k) ** -input over k = 0, 1, …

    Examples:
        >>> print(ops.zeta(Tensor([2.0]), Tensor([1.0])))
        [1.644934]
    """
    return sf.Zeta()(input, other)


def igamma(input: Tensor, other: Any) -> Tensor:
    """The regularised lower incomplete gamma function with parameter `input` at `other`.

    Examples:
        >>> print(ops.igamma(Tensor([1.0, 2.0]), Tensor([1.0, 1.0])))
        [0.63212055 0.26424113]
    """
    return sf.Igamma()(input, other)


def igammac(input: Tensor, other: Any) -> Tensor:
    """1 - igamma.

    Examples:
        >>> print(ops.igammac(Tensor([1.0, 2.0]), Tensor([1.0, 1.0])))
        [0.36787945 0.7357589 ]
    """
    return sf.Igammac()(input, other)


def betainc(a: Tensor, b: Tensor, x: Tensor) -> Tensor:
    """The regularised incomplete beta function.

    Examples:
        >>> print(ops.betainc(Tensor([2.0]), Tensor([3.0]), Tensor([0.5])))
        [0.6875]
    """
    return sf.Betainc()(a, b, x)
