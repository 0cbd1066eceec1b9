"""The gradient of max pooling on XLA, which gathers, against the NumPy rule, which scatters; small integers make ties."""

import itertools

import numpy as np
import pytest

from mindspore.prims import pooling

jnp = pytest.importorskip("jax.numpy")


#: rank, sizes of windows, strides, and how many combinations fit; XLA compiles each, which takes long in three dimensions
RANKS = [(1, (1, 2, 3, 4), (1, 2, 3, 5), 56), (2, (1, 2, 3, 4), (1, 2, 3, 5), 56), (3, (2, 3), (1, 3), 16)]


@pytest.mark.parametrize("rank, kernels, strides, count", RANKS)
def test_gathered_equals_scattered(rank, kernels, strides, count):
    rng = np.random.default_rng(rank)
    compared = 0
    for kernel, stride, pad, ceil in itertools.product(kernels, strides, (0, 1), (False, True)):
        if pad > kernel // 2:
            continue
        pool = pooling.MaxPoolNd(rank, (kernel,) * rank, (stride,) * rank, pad, 1, ceil)
        x = rng.integers(-3, 4, (2, 3, *(7, 6, 5)[:rank])).astype(np.float32)
        out = pool.eval(np, x)
        dout = rng.integers(-4, 5, out.shape).astype(np.float32)
        gradient = pool.sibling(pooling.MaxPoolGrad)
        expected = gradient.eval(np, x, out, dout)
        found = gradient.eval(jnp, jnp.asarray(x), jnp.asarray(out), jnp.asarray(dout))
        np.testing.assert_array_equal(np.asarray(found), expected, f"{kernel=} {stride=} {pad=} {ceil=}")
        compared += 1
    assert compared == count
