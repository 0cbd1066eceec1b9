"""Gradients against central differences, first and second order, in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import mindspore as ms
from mindspore import Tensor


def weighted_sum(fn: Callable, weights: list[np.ndarray]) -> Callable:
    """A scalar function: the sum of the outputs of `fn`, weighted so that no two elements count the same."""

    def scalar(*xs: Any) -> Any:
        outs = fn(*xs)
        outs = outs if isinstance(outs, (tuple, list)) else (outs,)
        total = None
        for out, weight in zip([o for o in outs if o.dtype.kind in "f"], weights):
            part = (out * Tensor(weight.astype(out.dtype.np))).sum()
            total = part if total is None else total + part
        return total

    return scalar


def numeric_gradients(scalar: Callable, arrays: list[np.ndarray], step: float = 1e-5) -> list[np.ndarray]:
    """Central differences of a scalar function of arrays."""
    grads = []
    for i, array in enumerate(arrays):
        grad = np.zeros(array.shape)
        for place in np.ndindex(*array.shape):
            values = []
            for sign in (1, -1):
                moved = [a.copy() for a in arrays]
                moved[i][place] += sign * step
                values.append(float(scalar(*map(Tensor, moved)).asnumpy()))
            grad[place] = (values[0] - values[1]) / (2 * step)
        grads.append(grad)
    return grads


def check_gradients(
    fn: Callable, *arrays: Any, order: int = 2, rtol: float = 1e-5, atol: float = 1e-6, seed: int = 0
) -> None:
    """Compare the gradients of `fn` at float64 `arrays` with central differences.

    With order 2 the gradient's own gradient is checked too, along a random direction.
    """
    rng = np.random.default_rng(seed)
    points = [np.array(a, np.float64) for a in arrays]
    outs = fn(*map(Tensor, points))
    outs = outs if isinstance(outs, (tuple, list)) else (outs,)
    weights = [rng.uniform(0.5, 1.5, o.shape) for o in outs if o.dtype.kind == "f"]
    if not weights:
        return
    scalar = weighted_sum(fn, weights)
    every = tuple(range(len(points)))
    gradient = ms.grad(scalar, every)
    found = as_list(gradient(*map(Tensor, points)))
    expected = numeric_gradients(scalar, points)
    for f, e in zip(found, expected):
        assert f.shape == e.shape
        np.testing.assert_allclose(f.asnumpy(), e, rtol, atol)
    if order < 2:
        return
    directions = [rng.uniform(0.5, 1.5, p.shape) for p in points]

    def slope(*xs: Any) -> Any:
        total = None
        for grad, direction in zip(as_list(gradient(*xs)), directions):
            part = (grad * Tensor(direction)).sum()
            total = part if total is None else total + part
        return total

    second = as_list(ms.grad(slope, every)(*map(Tensor, points)))
    along = [rng.uniform(-1, 1, p.shape) for p in points]
    step = 1e-5
    ahead, behind = ([Tensor(p + sign * step * a) for p, a in zip(points, along)] for sign in (1, -1))
    numeric = (float(slope(*ahead).asnumpy()) - float(slope(*behind).asnumpy())) / (2 * step)
    analytic = sum(float((f.asnumpy() * a).sum()) for f, a in zip(second, along))
    np.testing.assert_allclose(analytic, numeric, rtol * 20, atol * 20)


def as_list(value: Any) -> list:
    return list(value) if isinstance(value, (tuple, list)) else [value]
