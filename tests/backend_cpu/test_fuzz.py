"""Random expression graphs on the native backend against the reference machine."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.backend_cpu.helpers import check

from mindspore.backends.cpu import available
from mindspore.prims import activation, arrays, elementwise, norm
from mindspore.prims.reduction import BroadcastTo, ReduceMax, ReduceMean, ReduceSum, Reshape

pytestmark = pytest.mark.skipif(not available(), reason="the native backend is not installed")

UNARY = [
    elementwise.Neg, elementwise.Abs, elementwise.Tanh, elementwise.Sigmoid, elementwise.Square, elementwise.ReLU,
    elementwise.Erf, elementwise.Sin, activation.GeLU, activation.SiLU, elementwise.Softplus,
]  # fmt: skip
BINARY = [elementwise.Add, elementwise.Sub, elementwise.Mul, elementwise.Maximum, elementwise.Minimum]


def grow(draw, pool: list) -> None:
    """Add one tensor computed from the pool."""
    x = draw(st.sampled_from(pool))
    kind = draw(st.integers(0, 9))
    if kind <= 2:
        pool.append(draw(st.sampled_from(UNARY))()(x))
    elif kind <= 4:
        others = [y for y in pool if y.shape == x.shape or len(y.shape) == 0]
        pool.append(draw(st.sampled_from(BINARY))()(x, draw(st.sampled_from(others))))
    elif kind == 5 and x.ndim:
        axes = tuple(sorted(draw(st.sets(st.integers(0, x.ndim - 1), min_size=1))))
        keep = draw(st.booleans())
        reduced = draw(st.sampled_from([ReduceSum, ReduceMean, ReduceMax]))(keep)(x, axes)
        pool.append(reduced)
        if keep:
            pool.append(BroadcastTo(x.shape)(reduced))
            pool.append(x - reduced)
    elif kind == 6 and x.ndim:
        pool.append(arrays.Transpose()(x, tuple(draw(st.permutations(range(x.ndim))))))
    elif kind == 7 and x.ndim:
        size = int(np.prod(x.shape))
        pool.append(Reshape()(x, draw(st.sampled_from([(size,), (1, size), (*x.shape, 1), _joined(x.shape)]))))
    elif kind == 8 and x.ndim:
        start = draw(st.integers(0, x.shape[-1] - 1))
        pool.append(x[..., start:])
    elif kind == 9 and x.ndim:
        pool.append(draw(st.sampled_from([activation.Softmax(-1), activation.LogSoftmax(0)]))(x))
        pool.append(norm.Standardize((x.ndim - 1,))(x)[0])


def _joined(shape: tuple[int, ...]) -> tuple[int, ...]:
    return shape if len(shape) < 2 else (shape[0] * shape[1], *shape[2:])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_random_graphs(data):
    shape = data.draw(st.sampled_from([(3, 5), (17,), (2, 3, 4), (1, 33), (4, 16, 9), (2, 1, 7), (70, 130)]))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    inputs = [rng.standard_normal(shape).astype(np.float32) * 0.5 for _ in range(2)]
    flags = f"--opt_level={data.draw(st.integers(0, 3))}"

    def function(a, b):
        pool = [a, b]
        for _ in range(data.draw(st.integers(1, 14))):
            grow(data.draw, pool)
        chosen = data.draw(st.lists(st.sampled_from(pool[2:] or pool), min_size=1, max_size=4))
        return tuple(chosen)

    check(function, *inputs, tolerance=2e-3, flags=flags)
