"""Names that older scripts import from `ops.composite`."""

from __future__ import annotations

from typing import Any

from mindspore.common.gradient import jvp, vjp
from mindspore.common.vectorize import jacfwd, jacrev, vmap
from mindspore.ops.function.elementwise import clip_by_value
from mindspore.ops.function.product import clip_by_global_norm


def derivative(fn: Any, primals: Any, order: int) -> tuple:
    """The value of `fn` and its derivative of the given order at `primals`, element by element."""
    series = jet(fn, primals, None, order=order)
    return series[0], series[1][order - 1]


def jet(fn: Any, primals: Any, series: Any, order: int | None = None) -> tuple:
    """Derivatives of `fn` along a curve, up to the order that `series` has.

    `series[k]` is the (k+1)-th derivative of the input curve; the result's are found by nested directional derivatives.
    """
    from mindspore.common.tensor import Tensor

    depth = order if order is not None else len(series)
    coefficients = [series[k] for k in range(depth)] if series is not None else None

    def curve(t: Any) -> Any:
        x, factor = primals, 1.0
        for k in range(depth):
            factor /= k + 1
            term = coefficients[k] if coefficients is not None else (1.0 if k == 0 else 0.0)
            x = x + term * t ** (k + 1) * factor
        return fn(x)

    curve.__module__ = "mindspore.ops.composite"
    out, zero = fn(primals), Tensor(0.0, primals.dtype)
    derivatives = []
    current: Any = curve
    for _ in range(depth):
        current = _along(current, Tensor(1.0, primals.dtype))
        derivatives.append(current(zero))
    return out, derivatives


def _along(fn: Any, direction: Any) -> Any:
    def slope(t: Any) -> Any:
        return jvp(fn, t, direction)[1]

    slope.__module__ = "mindspore.ops.composite"
    return slope


__all__ = ["clip_by_global_norm", "clip_by_value", "derivative", "jacfwd", "jacrev", "jet", "jvp", "vjp", "vmap"]
