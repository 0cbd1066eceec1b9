"""Special functions on an array namespace: SciPy's where it is installed, JAX's under XLA, else a NumPy fallback."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore._base.optional import require

if TYPE_CHECKING:
    from mindspore.prims.array_types import Array, Namespace


def scipy_special(xp: Namespace) -> Any:
    """The module of special functions that goes with an array namespace."""
    if xp is np:
        return require("scipy.special", "data", "this special function")
    return require("jax.scipy.special", "xla", "this special function")


def _vectorised(function: Callable) -> Any:
    def apply(x: Any) -> Any:
        flat = np.asarray(x, np.float64).ravel()
        return np.fromiter((function(v) for v in flat), np.float64, flat.size).reshape(np.shape(x))

    return apply


_erf_loop = _vectorised(math.erf)
_erfc_loop = _vectorised(math.erfc)


def _evaluate(xp: Namespace, name: str, x: Array, fallback: Callable) -> Any:
    if xp is not np:
        return getattr(scipy_special(xp), name)(x)
    try:
        from scipy import special
    except ImportError:
        return fallback(x).astype(x.dtype)
    if x.dtype == np.float16 or x.dtype.name == "bfloat16":
        return np.asarray(getattr(special, name)(x.astype(np.float32))).astype(x.dtype)
    return getattr(special, name)(x)


def erf(xp: Namespace, x: Array) -> Any:
    return _evaluate(xp, "erf", x, _erf_loop)


def erfc(xp: Namespace, x: Array) -> Any:
    return _evaluate(xp, "erfc", x, _erfc_loop)


def _erfinv_newton(x: Any) -> Any:
    """Winitzki's approximation refined by Newton steps on math.erf."""
    x = np.asarray(x, np.float64)
    a = 0.147
    with np.errstate(all="ignore"):
        log = np.log1p(-x * x)
        t = 2 / (math.pi * a) + log / 2
        y = np.sign(x) * np.sqrt(np.sqrt(t * t - log / a) - t)
        for _ in range(3):
            y = np.where(np.abs(x) < 1, y - (_erf_loop(y) - x) * np.exp(y * y) * math.sqrt(math.pi) / 2, y)
        return np.where(np.abs(x) == 1, np.sign(x) * np.inf, np.where(np.abs(x) > 1, np.nan, y))


def erfinv(xp: Namespace, x: Array) -> Any:
    return _evaluate(xp, "erfinv", x, _erfinv_newton)
