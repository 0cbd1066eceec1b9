"""Expansions of primitives whose own evaluation rule reaches for a library, or that loops express better.

Each function gets the array namespace, the primitive and its arguments, like `eval`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore.prims.random import threefry

if TYPE_CHECKING:
    from mindspore.prims.primitive import Primitive


def _wide(x: Any) -> Any:
    return x.astype(np.float32) if x.dtype.itemsize < 4 else x


def _polynomial(x: Any, coefficients: tuple[float, ...]) -> Any:
    """Horner's scheme, highest power first."""
    total = x * coefficients[0] + coefficients[1]
    for c in coefficients[2:]:
        total = total * x + c
    return total


def _gelu(xp: Any, prim: Any, x: Any) -> Any:
    w = _wide(x)
    return (w * 0.5 * (xp.erf(w * math.sqrt(0.5)) + 1)).astype(x.dtype)


def _next_key(xp: Any, prim: Any, state: Any) -> tuple:
    """Without joining words, which would take copies of one element."""
    x0, x1 = threefry(xp, state[:2], state[2:], xp.zeros((1,), np.uint32))
    return xp.where(xp.arange(2) == 0, x0, x1), state + (xp.arange(3) == 2).astype(np.uint32)


# -- the inverse of erf: Giles, "Approximating the erfinv function", 2012 -----------------------------------------------
_CENTRE = (
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503, -0.00417768164,
    0.246640727, 1.50140941,
)  # fmt: skip
_TAIL = (
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047,
    1.00167406, 2.83297682,
)  # fmt: skip


def _erfinv(xp: Any, prim: Any, x: Any) -> Any:
    w = _wide(x)
    distance = -xp.log((1 - w) * (1 + w))
    tail = xp.sqrt(distance) - 3
    y = w * xp.where(distance < 5, _polynomial(distance - 2.5, _CENTRE), _polynomial(tail, _TAIL))
    if w.dtype == np.float64:
        far = distance + math.log(2)  # beyond float32's numbers: -log of the distance to 1, and erfc's asymptotic form
        y = xp.where(distance > 16, xp.sign(w) * xp.sqrt(far - 0.5 * xp.log(math.pi * far)), y)
        for _ in range(2):
            y = _closer(xp, w, y)
    return xp.where(xp.abs(w) == 1, w * math.inf, y).astype(x.dtype)


def _closer(xp: Any, x: Any, y: Any) -> Any:
    """Halley's step towards erf(y) = x; the distance to 1 is compared where erf is close to it."""
    size = xp.abs(y)
    near = xp.sign(y) * ((1 - xp.abs(x)) - xp.erfc(size))
    error = xp.where(size > 0.5, near, xp.erf(y) - x)
    step = error * xp.exp(y * y) * (math.sqrt(math.pi) / 2)
    return y - step / (1 + y * step)


# -- the logarithm of the gamma function, and its derivative -----------------------------------------------------------
def _lgamma(xp: Any, prim: Primitive, x: Any) -> Any:
    """As the C library's, except that -inf stays what it is."""
    w = _wide(x)
    return xp.where(w == -math.inf, w, xp.lgamma(w)).astype(x.dtype)


_BERNOULLI = (-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760, -1 / 12)  # -B(2k) / (2k)
_FAR = 8  # the asymptotic series is exact to float64 from here on


def _digamma(xp: Any, prim: Primitive, x: Any) -> Any:
    """By reflection for negative numbers, the recurrence up to _FAR and the asymptotic series (Abramowitz & Stegun 6.3)."""
    w = x.astype(np.float64)
    negative = w < 0
    at = xp.where(negative, 1 - w, w)
    total = xp.zeros_like(at)
    for _ in range(_FAR):
        low = at < _FAR
        total = xp.where(low, total - 1 / at, total)
        at = xp.where(low, at + 1, at)
    square = 1 / (at * at)
    series = square * _polynomial(square, _BERNOULLI[::-1])
    total = total + (xp.log(at) - 0.5 / at + series)
    part = w - xp.floor(w)
    total = xp.where(negative, total - math.pi / xp.tan(math.pi * part), total)
    total = xp.where(xp.logical_and(negative, part == 0), math.nan, total)
    total = xp.where(w == 0, -1 / w, total)
    total = xp.where(w == math.inf, math.inf, total)
    return total.astype(x.dtype)


RULES: dict[str, Callable[..., Any]] = {
    "Erf": lambda xp, prim, x: xp.erf(x),
    "Erfc": lambda xp, prim, x: xp.erfc(x),
    "Erfinv": _erfinv,
    "GeLUErf": _gelu,
    "Lgamma": _lgamma,
    "Digamma": _digamma,
    "NextKey": _next_key,
}
