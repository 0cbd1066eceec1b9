"""Directional derivatives of analytic NumPy functions by the complex step (Squire and Trapp 1998).

f(x + ih v) = f(x) + ih f'(x)v - O(h²): the imaginary part over h is the derivative along v, without cancellation, so h may
be tiny and the result is exact to rounding. It needs functions that compute on complex numbers; under jax.numpy the
derivative is JAX's own. The Hessian is symmetric, so a gradient's derivative along v is also v pulled back through it:
that is how primitives with long recurrences get their second derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base.optional import require

if TYPE_CHECKING:
    from mindspore.prims.array_types import Namespace

_STEP = 1e-100
#: for second derivatives, whose imaginary parts are of the square of the step
_WIDE_STEP = 1e-3


def along(xp: Namespace, function: Callable, point: tuple, direction: tuple) -> Any:
    """The derivative of `function(*point)` along `direction`: an array, or a tuple of arrays if the function gives one."""
    if xp is not np:
        jax = require("jax", "xla", "second derivatives on XLA")
        return jax.jvp(function, tuple(point), tuple(d.astype(p.dtype) for p, d in zip(point, direction)))[1]
    moved = tuple(
        np.asarray(p, np.float64) + 1j * (_STEP * np.asarray(d, np.float64)) for p, d in zip(point, direction)
    )
    with np.errstate(all="ignore"):
        out = function(*moved)
    if isinstance(out, tuple):
        return tuple(np.imag(o) / _STEP for o in out)
    return np.imag(out) / _STEP


def twice_along(xp: Namespace, function: Callable, point: tuple, first: tuple, second: tuple) -> tuple:
    """The second derivative of `function(*point)`, a tuple of arrays, along two directions.

    Under NumPy it is (q(first + second) - q(first - second)) / 4 with q(d), the second derivative twice along d, from the
    imaginary part of f(x + h√i d) + f(x - h√i d) = 2f + ih² q(d) + O(h⁴) (Lai and Crassidis 2008; the h⁴ term is real).
    """
    if xp is not np:
        return along(xp, lambda *x: along(xp, function, x, first), point, second)
    root = _WIDE_STEP * np.exp(0.25j * np.pi)

    def curvature(direction: list[np.ndarray]) -> tuple:
        both = []
        for sign in (1, -1):
            moved = (np.asarray(p, np.float64) + sign * root * d for p, d in zip(point, direction))
            with np.errstate(all="ignore"):
                both.append(function(*moved))
        return tuple(np.imag(x + y) / _WIDE_STEP**2 for x, y in zip(*both))

    a, b = ([np.asarray(d, np.float64) for d in given] for given in (first, second))
    ahead, across = curvature([x + y for x, y in zip(a, b)]), curvature([x - y for x, y in zip(a, b)])
    return tuple((x - y) / 4 for x, y in zip(ahead, across))
