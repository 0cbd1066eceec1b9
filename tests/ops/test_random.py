"""Random numbers: distributions, seeds, generators, and both modes drawing the same stream."""

import numpy as np
import pytest
import scipy.stats

import mindspore as ms
from mindspore import Tensor, mint, ops
from mindspore.common import random as streams
from mindspore.prims.random import random_bits, threefry

jnp = pytest.importorskip("jax.numpy")
N = 20000


def test_threefry_matches_the_published_vectors():
    """Known answers of Threefry-2x32 with 20 rounds (Random123)."""
    vectors = [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF,) * 2, (0xFFFFFFFF,) * 2, (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ]
    for key, counter, expected in vectors:
        for xp in (np, jnp):
            high, low = (xp.asarray([c], dtype=np.uint32) for c in counter)
            out = threefry(xp, xp.asarray(key, dtype=np.uint32), high, low)
            assert tuple(int(o[0]) for o in out) == expected


def test_numpy_and_xla_draw_the_same_bits():
    key = np.array([1, 2], np.uint32)
    assert np.array_equal(random_bits(np, key, 7), np.asarray(random_bits(jnp, jnp.asarray(key), 7)))


def kolmogorov(sample: np.ndarray, distribution) -> float:
    return scipy.stats.kstest(sample.ravel().astype(np.float64), distribution.cdf).pvalue


CONTINUOUS = [
    ("rand", lambda: ops.rand(N), scipy.stats.uniform()),
    ("uniform", lambda: ops.uniform((N,), Tensor(-1.0), Tensor(3.0)), scipy.stats.uniform(-1, 4)),
    ("randn", lambda: ops.randn(N), scipy.stats.norm()),
    ("randn64", lambda: ops.randn(N, dtype=ms.float64), scipy.stats.norm()),
    ("normal", lambda: ops.normal((N,), 2.0, 0.5), scipy.stats.norm(2, 0.5)),
    ("laplace", lambda: ops.laplace((N,), Tensor(1.0), Tensor(2.0)), scipy.stats.laplace(1, 2)),
    ("gamma", lambda: ops.gamma((N,), Tensor(2.5), Tensor(2.0)), scipy.stats.gamma(2.5, scale=0.5)),
    ("gamma_small", lambda: ops.random_gamma((N,), Tensor(0.3)), scipy.stats.gamma(0.3)),
    ("cauchy", lambda: ops.cauchy((N,), 1.0, 2.0), scipy.stats.cauchy(1, 2)),
    ("truncated", lambda: ops.TruncatedNormal()((N,)), scipy.stats.truncnorm(-2, 2)),
    ("exponential", lambda: ops.exponential((N,), 2.0), scipy.stats.expon(scale=0.5)),
    ("log_normal", lambda: ops.log_normal((N,), 0.5, 0.7), scipy.stats.lognorm(0.7, scale=np.exp(0.5))),
]  # fmt: skip


@pytest.mark.parametrize("name,draw,distribution", CONTINUOUS, ids=[c[0] for c in CONTINUOUS])
def test_continuous(name, draw, distribution):
    ms.set_seed(11)
    assert kolmogorov(draw().asnumpy(), distribution) > 0.001


@pytest.mark.parametrize("rate", [0.5, 4.0, 30.0, 100.0])
def test_poisson(rate):
    ms.set_seed(12)
    x = ops.poisson((N,), Tensor(rate)).asnumpy()
    assert abs(x.mean() - rate) < 5 * np.sqrt(rate / N)
    assert abs(x.var() / rate - 1) < 0.06


def test_discrete():
    ms.set_seed(13)
    x = ops.randint(-3, 4, (N,)).asnumpy()
    assert scipy.stats.chisquare(np.bincount(x + 3)).pvalue > 0.001 and x.min() == -3 and x.max() == 3
    b = ops.bernoulli(Tensor(np.zeros(N, np.float32)), 0.3).asnumpy()
    assert abs(b.mean() - 0.3) < 0.02
    weights = np.array([1.0, 2.0, 3.0, 0.0])
    m = ops.multinomial(Tensor(weights), N).asnumpy()
    counts = np.bincount(m, minlength=4)
    assert counts[3] == 0 and scipy.stats.chisquare(counts[:3], N * weights[:3] / 6).pvalue > 0.001


def test_without_replacement_and_permutations():
    ms.set_seed(14)
    assert sorted(ops.multinomial(Tensor([1.0, 2.0, 3.0]), 3, False).tolist()) == [0, 1, 2]
    assert sorted(ops.randperm(50).tolist()) == list(range(50))
    x = ops.shuffle(Tensor(np.arange(20).reshape(10, 2)))
    assert sorted(x.asnumpy()[:, 0].tolist()) == list(range(0, 20, 2))
    index, valid = ops.choice_with_mask(Tensor([[True, False], [True, True]]), 5)
    assert valid.tolist() == [True, True, True, False, False]
    assert sorted(map(tuple, index.asnumpy()[:3].tolist())) == [(0, 0), (1, 0), (1, 1)]


def test_seed_repeats_and_calls_differ():
    ms.set_seed(5)
    first = [ops.rand(3).tolist(), ops.randn(3).tolist(), ops.rand(3, seed=7).tolist(), ops.rand(3, seed=7).tolist()]
    ms.set_seed(5)
    again = [ops.rand(3).tolist(), ops.randn(3).tolist(), ops.rand(3, seed=7).tolist(), ops.rand(3, seed=7).tolist()]
    assert first == again
    assert first[0] != first[1] and first[2] != first[3]
    ms.set_seed(6)
    assert ops.rand(3).tolist() != first[0]


def test_compiled_functions_continue_the_same_stream():
    draw = ms.jit(lambda x: x + ops.rand(3))
    zero = Tensor(np.zeros(3, np.float32))
    ms.set_seed(9)
    compiled = [draw(zero).tolist(), draw(zero).tolist()]
    ms.set_seed(9)
    eager = [ops.rand(3).tolist(), ops.rand(3).tolist()]
    np.testing.assert_allclose(compiled, eager)


def test_generators_and_states():
    generator = ms.Generator().manual_seed(3)
    a = generator.next_key().tolist()
    state = generator.get_state()
    b = generator.next_key().tolist()
    generator.set_state(state)
    assert generator.next_key().tolist() == b != a
    assert generator.initial_seed() == 3
    saved = ms.get_rng_state()
    first = ops.rand(2).tolist()
    ms.set_rng_state(saved)
    assert ops.rand(2).tolist() == first
    assert streams.manual_seed(8).initial_seed() == 8


@pytest.mark.parametrize(
    "fn,error",
    [
        (lambda: ops.randint(3, 3, (2,)), ValueError),
        (lambda: ops.rand(-1), ValueError),
        (lambda: ops.rand(2, seed=-5), ValueError),
        (lambda: ops.multinomial(Tensor([1.0, 1.0]), 3, False), ValueError),
        (lambda: ops.bernoulli(Tensor([1.0]), 1.5), ValueError),
        (lambda: ms.set_seed("a"), TypeError),
        (lambda: ms.set_seed(-1), ValueError),
        (lambda: ms.Generator().manual_seed(1.5), TypeError),
    ],
)
def test_bad_arguments(fn, error):
    with pytest.raises(error):
        fn()


def test_normal_numbers_between_bounds():
    mean, spread = Tensor([0.0, 5.0]), Tensor([1.0, 2.0])
    low, high = Tensor([-0.5, 5.0]), Tensor([2.0, 9.0])
    draw = ops.ParameterizedTruncatedNormal(seed=3)
    x = draw(Tensor([2, 4000]), mean, spread, low, high).asnumpy()
    for row, (m, s, a, b) in zip(x, ((0, 1, -0.5, 2), (5, 2, 5, 9))):
        assert row.min() >= a and row.max() <= b
        expected = scipy.stats.truncnorm((a - m) / s, (b - m) / s, m, s)
        assert scipy.stats.kstest(row, expected.cdf).pvalue > 1e-4


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_counts_and_seeds_given_as_tensors(mode):
    ms.set_context(mode=mode)
    shuffled = ms.jit(lambda n: ops.randperm(n))
    for n in (Tensor(5), Tensor([5])):
        for order in (ops.randperm(n), shuffled(n), mint.randperm(n)):
            assert sorted(order.tolist()) == [0, 1, 2, 3, 4]
    for wrong in (Tensor(5.0), Tensor([5, 5]), "5"):
        with pytest.raises(TypeError, match="randperm"):
            ops.randperm(wrong)
    chances, draw = Tensor([[0.5, 0.5]]), ops.MultinomialWithReplacement(9, True)
    assert draw(chances, Tensor([3]), Tensor([0])).shape == (1, 9)
    assert ms.jit(lambda seed: draw(chances, seed, 0))(Tensor([3])).shape == (1, 9)


def test_gamma_numbers_have_the_shape_that_all_arguments_broadcast_to():
    alpha, beta = Tensor([[3.0, 4.0], [5.0, 6.0]]), Tensor([1.0, 2.0])
    assert ops.gamma((3, 1, 2), alpha, beta, seed=5).shape == ops.Gamma(3)((3, 1, 2), alpha, beta).shape == (3, 2, 2)
    drawn = ops.gamma((20000, 1, 1), alpha, beta, seed=5).asnumpy().mean(0)
    np.testing.assert_allclose(drawn, alpha.asnumpy() / beta.asnumpy(), rtol=0.05)
    with pytest.raises(ValueError, match="broadcast"):
        ops.gamma((3,), Tensor([1.0, 2.0]), Tensor([1.0]))


def test_types_of_numbers_drawn_in_the_shape_of_a_tensor():
    half = ops.ones((2, 3), ms.float16)
    assert ops.rand_like(half).dtype == ms.float16 and ops.randn_like(half).dtype == ms.float32
    assert ops.randn_like(half, dtype=ms.float16).dtype == ms.float16
    assert ms.mint.randn_like(half).dtype == ms.float16 and ops.randn_like(ops.ones(3, ms.int32)).dtype == ms.float32
