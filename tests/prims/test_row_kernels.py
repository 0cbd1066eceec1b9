"""Primitives of language models' steps: formulas against NumPy written another way, the GPU's kernels, run by Pallas' interpreter, against
the formulas."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor
from mindspore.prims.cached_attention import PAGE, CachedAttention
from mindspore.prims.packed_product import PackedProduct, pack
from mindspore.prims.row_choice import RowChoice
from mindspore.prims.row_reductions import RowNorm
from mindspore.prims.taken_rows import TakenRows

RNG = np.random.default_rng(5)


def numbers(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def draw(scores, temperature, top_p, min_p, number, most):
    """The choice by sorting and adding up, one number after the other."""
    if temperature == 0:
        return int(np.argmax(scores))
    weights = np.exp((scores - scores.max()).astype(np.float64) / temperature)
    kept, before = [], 0.0
    for place in np.argsort(-weights, kind="stable"):
        if before >= top_p * weights.sum() or (most and len(kept) == most) or weights[place] < min_p:
            break
        kept.append(place)
        before += weights[place]
    kept, sums = sorted(kept), 0.0
    for place in kept:
        sums += weights[place]
        if sums > number * weights[kept].sum():
            return int(place)
    return int(kept[-1])


SETTINGS = [(0, 1, 0, 0.5, 0), (0.8, 1, 0, 0.3, 0), (1.2, 0.9, 0, 0.7, 40), (1, 1, 0.05, 0.99, 0), (1, 0.5, 0, 0, 0), (2, 1, 0, 0.999, 3)]


def choices():
    scores = numbers(len(SETTINGS), 5000) * 3
    settings = np.array([row[:4] for row in SETTINGS], np.float32)
    most = np.array([row[4] for row in SETTINGS], np.int32)
    wanted = [draw(row, *setting) for row, setting in zip(scores, SETTINGS)]
    shifted = (scores - scores.max(1, keepdims=True)).astype(np.float64)
    sure = shifted[range(len(scores)), wanted] - np.log(np.exp(shifted).sum(1))
    return (scores, settings, most), wanted, sure


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_choice(mode):
    ms.set_context(mode=mode)
    given, wanted, sure = choices()
    token, logprob = ms.jit(RowChoice())(*(Tensor(array) for array in given))
    assert token.asnumpy().tolist() == wanted
    np.testing.assert_allclose(logprob.asnumpy(), sure, rtol=1e-4)
    with pytest.raises(ValueError, match=r"'settings' must be Float32 \(6, 4\)"):
        RowChoice()(Tensor(given[0]), Tensor(given[1][:, :3]), Tensor(given[2]))


def test_choice_of_the_gpu():
    jax = pytest.importorskip("jax")
    from mindspore.prims.pallas import rows

    given, wanted, sure = choices()
    token, logprob = rows.choice(*(jax.numpy.asarray(array) for array in given), interpret=True)
    assert np.asarray(token).tolist() == wanted
    np.testing.assert_allclose(np.asarray(logprob), sure, rtol=1e-4)


@pytest.mark.parametrize("rows, outputs, inputs", [(1, 96, 256), (9, 100, 256), (40, 100, 128), (70, 100, 256), (130, 9000, 128)])
def test_products_of_bfloat16(rows, outputs, inputs):
    """The primitive and the GPU's kernel; a row has the same bits whatever rows are beside it."""
    jax = pytest.importorskip("jax")
    from mindspore.prims.pallas import row_products

    x, weight, bias, residual = numbers(rows, inputs), numbers(outputs, inputs), numbers(outputs), numbers(rows, outputs)
    packed = pack(weight, "bfloat16").weight
    half = x.astype(packed.dtype)
    wanted = half.astype(np.float64) @ packed.astype(np.float64).T + bias + residual
    found = PackedProduct(outputs, "bfloat16")(Tensor(x), Tensor(packed), None, Tensor(bias), Tensor(residual)).asnumpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)
    by_kernel = np.asarray(row_products.product(*(jax.numpy.asarray(a) for a in (half, packed, bias, residual)), interpret=True))
    np.testing.assert_allclose(by_kernel, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("centred", [False, True])
def test_norms(centred):
    jax = pytest.importorskip("jax")
    from mindspore.prims.pallas import rows

    x, scale, shift = numbers(5, 100), numbers(100), numbers(100)
    wide = x.astype(np.float64) - (x.mean(1, keepdims=True, dtype=np.float64) if centred else 0)
    wanted = wide / np.sqrt((wide**2).mean(1, keepdims=True) + 1e-5) * scale + shift
    found = rows.norm(1e-5, centred, *(jax.numpy.asarray(a) for a in (x, scale, shift)), np.float32, interpret=True)
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-4, atol=1e-5)
    half = RowNorm(1e-5, centred, half=True)(Tensor(x), Tensor(scale), Tensor(shift))
    assert half.dtype == ms.bfloat16
    np.testing.assert_allclose(half.astype(ms.float32).asnumpy(), wanted, rtol=2**-7, atol=2**-7)


@pytest.mark.parametrize("window", (0, 1, 16, 140))
def test_attention_where_pages_lie(window):
    jax = pytest.importorskip("jax")
    from mindspore.prims.pallas import paged_attention

    jnp, rows, heads, kv_heads, width, pages = jax.numpy, 3, 8, 2, 16, 40
    keys, values = jnp.asarray(numbers(pages, kv_heads, width, PAGE)), jnp.asarray(numbers(pages, kv_heads, PAGE, width))
    q, k, v = (jnp.asarray(numbers(rows, count, width)) for count in (heads, kv_heads, kv_heads))
    positions = jnp.asarray([0, 17, 150], jnp.int32)
    tables = jnp.asarray(RNG.permutation(36).reshape(rows, 12) + 1, jnp.int32)
    wanted = CachedAttention(0.2, trusted=True, window=window).eval(jnp, q, k, v, keys, values, positions, tables)
    taken = paged_attention.take_in(k, v, keys, values, positions, tables, interpret=True)
    found = paged_attention.attend(0.2, q, *taken, positions, tables, interpret=True, window=window)
    half = paged_attention.attend(0.2, q, *taken, positions, tables, jnp.bfloat16, interpret=True, window=window)
    assert np.array_equal(np.asarray(half), np.asarray(found.astype(jnp.bfloat16)))
    for got, want in zip(taken, wanted[1:]):
        assert np.array_equal(np.asarray(got), np.asarray(want))
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted[0]), atol=1e-5)


def test_rows_of_a_table():
    table = numbers(5, 3)
    assert np.array_equal(TakenRows()(Tensor(table), Tensor([4, 0, 9, -2], ms.int32)).asnumpy(), table[[4, 0, 4, 0]])
