"""Max pooling by our own kernel: channels side by side or in blocks, ties, NaN, borders; results and gradients."""

from __future__ import annotations

import numpy as np
import pytest
from tests.backend_cpu.helpers import check

from mindspore.prims import conv, pooling

WINDOWS = [  # kernel, strides, pad mode, height, width
    (2, 2, "valid", 8, 8),
    (3, 2, "same", 7, 9),
    (3, 1, "same", 5, 4),
    (2, 3, "valid", 9, 11),  # elements under no window
    ((1, 3), (2, 2), "same", 6, 7),
    ((5, 2), (3, 1), "valid", 11, 5),
]


def image(channels: int, height: int, width: int) -> np.ndarray:
    """Few different numbers, so that windows have several maxima; NaN and infinities of both signs."""
    rng = np.random.default_rng(channels)
    x = rng.integers(-2, 3, (3, height, width, channels)).astype(np.float32)
    x[0, 0, 0, 0] = x[1, height // 2, :, -1] = np.nan
    x[1, :, :, 1] = -np.inf
    x[2, 1, 1, 2] = np.inf
    return x


@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("channels", [4, 6, 16, 21])
def test_channels_side_by_side(window, channels):
    kernel, strides, mode, height, width = window
    pool = pooling.MaxPool(kernel, strides, mode, "NHWC")

    def step(x, dy):
        y = pool(x)
        return y, pool.sibling(pooling.MaxPoolGrad)(x, y, dy)

    x = image(channels, height, width)
    dy = np.random.default_rng(0).standard_normal(pool.pooled_shape(x.shape)).astype(np.float32)
    steps = check(step, x, dy).steps()
    assert "max_pool" in steps and "max_pool_bwd" in steps
    assert not any(name.startswith("host") for name in steps)


@pytest.mark.parametrize("window", WINDOWS[:3], ids=str)
def test_blocks_of_channels(window):
    kernel, strides, mode, height, width = window
    pool = pooling.MaxPool(kernel, strides, mode)
    rng = np.random.default_rng(1)
    x = rng.standard_normal((2, 16, height, width)).astype(np.float32)
    w = (rng.standard_normal((32, 16, 1, 1)) / 4).astype(np.float32)
    x[0, 3, 1, 1] = np.nan

    def step(x, w, dy):
        middle = conv.Conv2D(32, 1)(x, w)
        y = pool(middle)
        return y, pool.sibling(pooling.MaxPoolGrad)(middle, y, dy)

    dy = rng.standard_normal(pool.pooled_shape((2, 32, height, width))).astype(np.float32)
    assert "max_pool" in check(step, x, w, dy, tolerance=1e-4).steps()


def test_a_pooling_without_gradient_notes_nothing():
    executable = check(lambda x: pooling.MaxPool(2, 2, "valid", "NHWC")(x), image(8, 6, 6))
    assert [len(s.writes) for s in executable.blueprint.steps if s.name == "max_pool"] == [1]


@pytest.mark.parametrize("size", [(1, 1, 2, 2), (3, 1, 28, 28), (2, 3, 10, 62), (1, 5, 6, 2), (2, 2, 4, 70), (2, 4, 2, 64)], ids=str)
def test_row_major_images_in_pairs(size):
    n, c, height, width = size
    x = np.ascontiguousarray(np.resize(image(4, height, width)[..., :3].transpose(0, 3, 1, 2), size))
    x[-1, -1, -1, -2:] = -0.0, np.nan
    pool = pooling.MaxPool(2, 2, "valid")

    def step(x, dy):
        y = pool(x)
        return y, pool.sibling(pooling.MaxPoolGrad)(x, y, dy)

    dy = np.random.default_rng(0).standard_normal((n, c, height // 2, width // 2)).astype(np.float32)
    executable = check(step, x, dy)
    assert [s for s in executable.steps() if s != "check"] == ["max_pool", "max_pool_bwd"]  # nothing is moved
