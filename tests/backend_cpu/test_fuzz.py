"""Random expression graphs on the native backend against the reference machine."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.backend_cpu.helpers import check

from mindspore.backends.cpu import available
from mindspore.prims import activation, arrays, elementwise, gather_scatter, norm
from mindspore.prims.broadcasting import BroadcastTo, ReduceSum, Reshape
from mindspore.prims.reduction import ReduceMax, ReduceMean, ReduceMin
from mindspore.prims.values import from_array

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


EXACT_UNARY = [elementwise.Neg, elementwise.Abs, elementwise.ReLU]
SHAPES = [(0,), (0, 3), (2, 0, 5), (1,), (1, 1), (3, 1), (1, 17), (5, 31), (2, 3, 33), (129,)]


def grow_exactly(draw, pool: list, integers: np.ndarray) -> None:
    """Add a tensor by operations that round nowhere, picking and joining among them."""
    x = draw(st.sampled_from(pool))
    kind = draw(st.integers(0, 6))
    same = [y for y in pool if y.shape == x.shape]
    if kind == 0:
        pool.append(draw(st.sampled_from(EXACT_UNARY))()(x))
    elif kind == 1:
        y = draw(st.sampled_from(same))
        pool.append(draw(st.sampled_from([elementwise.Maximum, elementwise.Minimum]))()(x, y))
    elif kind == 2:
        y = draw(st.sampled_from(same))
        pool.append(elementwise.Select()(elementwise.Greater()(x, y), y, x))
    elif kind == 3 and x.ndim and x.shape[0]:
        places = from_array(integers % x.shape[0])
        pool.append(gather_scatter.Gather()(x, places, 0))
    elif kind == 4 and x.ndim:
        pool.append(arrays.Concat(0)(x, draw(st.sampled_from(same))))
    elif kind == 5 and x.ndim and 0 not in x.shape:
        pool.append(draw(st.sampled_from([ReduceMax, ReduceMin]))(draw(st.booleans()))(x, x.ndim - 1))
    elif kind == 6 and x.ndim:
        pool.append(arrays.Transpose()(x, tuple(reversed(range(x.ndim))))[::-1])


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_every_type_and_odd_shapes_exactly(data):
    """Empty tensors, single elements, odd tails, NaN and infinities, inputs with gaps between their elements."""
    shape = data.draw(st.sampled_from(SHAPES))
    dtype = data.draw(st.sampled_from([np.float32, np.float64, np.float16, np.int8, np.int32, np.int64, np.uint8]))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    inputs = [(rng.standard_normal(shape) * 50).astype(np.int16).astype(dtype) for _ in range(2)]
    if np.dtype(dtype).kind == "f" and inputs[0].size > 2:
        inputs[0].flat[:3] = np.nan, np.inf, -np.inf
    places = rng.integers(0, 1000, 4)

    def function(a, b):
        pool = [a, b]
        for _ in range(data.draw(st.integers(1, 8))):
            grow_exactly(data.draw, pool, places)
        return tuple(data.draw(st.lists(st.sampled_from(pool[2:] or pool), min_size=1, max_size=3)))

    executable = check(function, *inputs)
    gaps = [np.repeat(x, 2, axis=-1)[..., ::2] for x in inputs]
    for got, want in zip(executable(*gaps), executable(*inputs)):
        np.testing.assert_array_equal(got, want)
