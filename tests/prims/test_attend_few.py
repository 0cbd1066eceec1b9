"""The GPU's kernel for few queries over many keys, by Pallas' interpreter, against attention as it is written."""

import numpy as np
import pytest

from mindspore.prims.attention import MASKED, Attention

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)  # as the XLA backend does
jnp = jax.numpy

from mindspore.prims.pallas import decoding  # noqa: E402

RNG = np.random.default_rng(5)


def halves(*shape):
    return jnp.asarray(RNG.standard_normal(shape), "bfloat16")


def assert_as_written(q, k, v, bias):
    assert decoding.fits(q, k, v, bias)
    found = decoding.attend_few(0.1, q, k, v, bias, interpret=True)
    expected = Attention(0.1).eval(jnp, q, k, v, bias)
    assert found.shape == expected.shape and found.dtype == expected.dtype
    np.testing.assert_allclose(np.asarray(found, np.float32), np.asarray(expected, np.float32), atol=2**-7)


@pytest.mark.parametrize("queries", [1, 4, 16])
@pytest.mark.parametrize("size", [32, 128])
@pytest.mark.parametrize("keys", [256, 301])
def test_all_keys_count(queries, size, keys):
    assert_as_written(halves(2, 3, queries, size), halves(2, 3, keys, size), halves(2, 3, keys, size), None)


@pytest.mark.parametrize("used", [[(0, 1), (0, 300)], [(65, 77), (299, 300)], [(0, 0), (100, 228)]])
def test_keys_left_out_are_not_read(used):
    """Each example has a range of its own; (0, 0) is an example all of whose keys are masked alike. What lies outside is not a number."""
    places = np.arange(300)
    ranges = np.array([[low <= place < high for place in places] for low, high in used])
    bias = jnp.asarray(np.where(ranges, RNG.standard_normal(ranges.shape), MASKED)[:, None, None], "bfloat16")
    q, k, v = halves(2, 2, 1, 64), halves(2, 2, 300, 64), halves(2, 2, 300, 64)
    assert_as_written(q, k, v, bias)
    low, high = used[1]
    blocks = np.arange(300) // decoding._BLOCK
    unread = (blocks < low // decoding._BLOCK) | (blocks > (high - 1) // decoding._BLOCK)
    poisoned = [x.at[1, :, unread].set(jnp.nan) for x in (k, v)]
    assert np.isfinite(np.asarray(decoding.attend_few(0.1, q, *poisoned, bias, interpret=True)[1], np.float32)).all()


def test_what_has_no_kernel():
    q, k = halves(1, 2, 1, 64), halves(1, 2, 300, 64)
    assert decoding.fits(q, k, k, None)
    assert not decoding.fits(q, k[:, :, :255], k[:, :, :255], None)  # too few keys to be worth it
    assert not decoding.fits(q.astype("float32"), k.astype("float32"), k.astype("float32"), None)
    assert not decoding.fits(halves(1, 2, 17, 64), k, k, None)
    assert not decoding.fits(q[..., :48], k[..., :48], k[..., :48], None)
    assert not decoding.fits(q, k, k, jnp.zeros((1, 2, 1, 300), "bfloat16"))  # a bias for each head
