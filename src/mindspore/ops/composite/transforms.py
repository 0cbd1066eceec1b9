"""Names that older scripts import from `ops.composite`."""

from __future__ import annotations

from typing import Any

from mindspore.common.gradient import jvp, vjp
from mindspore.common.tensor import Tensor
from mindspore.common.vectorize import jacfwd, jacrev, vmap
from mindspore.ops.creation import ones_like, zeros_like
from mindspore.ops.elementwise import clip_by_value
from mindspore.ops.norms import clip_by_global_norm
from mindspore.prims.arrays import Stack


def derivative(fn: Any, primals: Any, order: int) -> tuple:
    """The value of `fn` and its derivative of the given order at `primals`, element by element.

    Examples:
        >>> value, second = ops.derivative(ops.sin, Tensor([0.0, np.pi / 2]), order=2)
        >>> print(second.round(decimals=3))
        [ 0. -1.]
    """
    points = primals if isinstance(primals, tuple) else (primals,)
    unit = tuple(Stack(0)([ones_like(x)] + [zeros_like(x)] * (order - 1)) for x in points)  # a straight line
    value, slopes = jet(fn, primals, unit)
    return value, tuple(s[order - 1] for s in slopes) if isinstance(slopes, tuple) else slopes[order - 1]


def jet(fn: Any, primals: Any, series: Any) -> tuple:
    """Derivatives of `fn` along a curve, up to the order that `series` has.

    `series[k]` is the (k+1)-th derivative of the input curve; the result's, stacked likewise, are found by nested
    directional derivatives. Several inputs are given as tuples.

    Examples:
        >>> from mindspore import Tensor, ops
        >>> value, slopes = ops.jet(lambda x: x ** 2, Tensor([3.0]), Tensor([[1.0], [0.0]]))
        >>> value.tolist(), slopes.tolist()
        ([9.0], [[6.0], [2.0]])
    """
    points, directions = (v if isinstance(v, tuple) else (v,) for v in (primals, series))
    depth = len(directions[0])

    def curve(t: Any) -> Any:
        return fn(*(_taylor(x, s, t, depth) for x, s in zip(points, directions)))

    curve.__module__ = "mindspore.ops.composite"
    dtype = points[0].dtype
    slopes = []
    current: Any = curve
    for _ in range(depth):
        current = _along(current, Tensor(1.0, dtype))
        slopes.append(current(Tensor(0.0, dtype)))
    if isinstance(slopes[0], tuple):
        return fn(*points), tuple(Stack(0)(list(each)) for each in zip(*slopes))
    return fn(*points), Stack(0)(slopes)


def _taylor(x: Tensor, series: Any, t: Any, depth: int) -> Any:
    """The polynomial in t whose derivatives at 0 are x, series[0], series[1], …"""
    factor = 1.0
    for k in range(depth):
        factor /= k + 1
        x = x + series[k] * t ** (k + 1) * factor
    return x


def _along(fn: Any, direction: Any) -> Any:
    def slope(t: Any) -> Any:
        return jvp(fn, t, direction)[1]

    slope.__module__ = "mindspore.ops.composite"
    return slope


__all__ = ["clip_by_global_norm", "clip_by_value", "derivative", "jacfwd", "jacrev", "jet", "jvp", "vjp", "vmap"]
