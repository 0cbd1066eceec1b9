"""Operations that draw random numbers: their distributions, eagerly and compiled, and that seeds repeat them.

Functions with a test of their own are in tests/ops/test_random.py; here are the classes and the in-place forms.
"""

import numpy as np
import pytest
import scipy.stats as st

import mindspore as ms
from mindspore import Parameter, Tensor, ops

N = 8000
FLAT = Tensor(np.zeros(N, np.float32))
CONTINUOUS = {
    "StandardNormal": (lambda: ops.StandardNormal()((N,)), st.norm()),
    "standard_normal": (lambda: ops.standard_normal((N,)), st.norm()),
    "StandardLaplace": (lambda: ops.StandardLaplace()((N,)), st.laplace()),
    "standard_laplace": (lambda: ops.standard_laplace((N,)), st.laplace()),
    "UniformReal": (lambda: ops.UniformReal()((N,)), st.uniform()),
    "rand_like": (lambda: ops.rand_like(FLAT), st.uniform()),
    "randn_like": (lambda: ops.randn_like(FLAT), st.norm()),
    "truncated_normal": (lambda: ops.truncated_normal((N,)), st.truncnorm(-2, 2)),
    "TruncatedNormal": (lambda: ops.TruncatedNormal()((N,)), st.truncnorm(-2, 2)),
    "Cauchy": (lambda: ops.Cauchy([N], 1.0, 2.0)(), st.cauchy(1, 2)),
    "Gamma": (lambda: ops.Gamma()((N,), Tensor(2.5), Tensor(2.0)), st.gamma(2.5, scale=0.5)),
    "RandomGamma": (lambda: ops.RandomGamma()(Tensor([N]), Tensor([2.5])), st.gamma(2.5)),
    "LogNormalReverse": (lambda: ops.LogNormalReverse(0.5, 0.7)(FLAT), st.lognorm(0.7, scale=np.exp(0.5))),
}
INTEGERS = {
    "UniformInt": (lambda: ops.UniformInt()((N,), Tensor(-3, ms.int32), Tensor(4, ms.int32)), np.full(7, 1 / 7), -3),
    "randint_like": (lambda: ops.randint_like(FLAT.astype(ms.int32), -3, 4), np.full(7, 1 / 7), -3),
    "Bernoulli": (lambda: ops.Bernoulli()(FLAT, Tensor(0.3)), [0.7, 0.3], 0),
    "Poisson": (lambda: ops.Poisson()((N,), Tensor(0.5)), st.poisson(0.5).pmf(np.arange(5)), 0),
    "RandomPoisson": (lambda: ops.RandomPoisson()(Tensor([N]), Tensor([0.5])), st.poisson(0.5).pmf(np.arange(5)), 0),
    "random_poisson": (lambda: ops.random_poisson(Tensor([N]), Tensor([0.5])), st.poisson(0.5).pmf(np.arange(5)), 0),
    "Multinomial": (lambda: ops.Multinomial()(Tensor([1.0, 2.0, 1.0]), N), [0.25, 0.5, 0.25], 0),
    "RandomCategorical": (
        lambda: ops.RandomCategorical()(Tensor(np.log([[1.0, 2.0, 1.0]])), N, 0), [0.25, 0.5, 0.25], 0,
    ),
    "random_categorical": (lambda: ops.random_categorical(Tensor(np.log([[1.0, 2.0, 1.0]])), N), [0.25, 0.5, 0.25], 0),
    "multinomial_with_replacement": (
        lambda: ops.multinomial_with_replacement(Tensor([1.0, 2.0, 1.0]), 1, 0, N, True), [0.25, 0.5, 0.25], 0,
    ),
    "MultinomialWithReplacement": (
        lambda: ops.MultinomialWithReplacement(N, True)(Tensor([1.0, 2.0, 1.0]), Tensor(1), Tensor(0)), [0.25, 0.5, 0.25], 0,
    ),
    "gumbel_softmax": (
        lambda: ops.gumbel_softmax(Tensor(np.tile(np.log([1.0, 2.0, 1.0]), (N, 1)).astype(np.float32)), hard=True).argmax(-1),
        [0.25, 0.5, 0.25], 0,
    ),
}  # fmt: skip


def drawn(draw, compiled):
    ms.set_seed(21)
    return np.asarray((ms.jit(draw) if compiled else draw)().asnumpy(), np.float64).ravel()


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name):
    draw, distribution = CONTINUOUS[name]
    sample = drawn(draw, False)
    assert sample.size == N and st.kstest(sample, distribution.cdf).pvalue > 0.001
    np.testing.assert_array_equal(sample, drawn(draw, False))  # the seed repeats it


@pytest.mark.parametrize("name", INTEGERS)
def test_integers(name):
    draw, chances, low = INTEGERS[name]
    sample = drawn(draw, False).astype(int) - low
    counts = np.bincount(np.minimum(sample, len(chances) - 1), minlength=len(chances))
    chances = np.append(chances[:-1], 1 - np.sum(chances[:-1]))
    assert sample.size == N and st.chisquare(counts, N * chances).pvalue > 0.001


@pytest.mark.parametrize("name", ["StandardNormal", "UniformReal", "Gamma", "RandomGamma"])
def test_compiled_functions_draw_the_same(name):
    draw, _ = CONTINUOUS[name]
    np.testing.assert_allclose(drawn(draw, True), drawn(draw, False), 1e-5, 1e-6)


@pytest.mark.parametrize(
    "make",
    [ops.Randperm(6, -1), ops.RandpermV2(), lambda n: ops.randperm(6)],
    ids=["Randperm", "RandpermV2", "randperm"],
)
def test_permutations(make):
    n = Tensor([6], ms.int32) if isinstance(make, ops.Randperm) else Tensor(6)
    assert sorted(make(n).asnumpy().ravel().tolist()) == list(range(6))


def test_shuffles_and_choices():
    x = Tensor(np.arange(12).reshape(6, 2))
    assert sorted(ops.RandomShuffle()(x).asnumpy()[:, 0].tolist()) == list(range(0, 12, 2))
    index, valid = ops.RandomChoiceWithMask(4)(Tensor([[True, False], [True, True]]))
    assert valid.tolist() == [True] * 3 + [False]
    assert sorted(map(tuple, index.asnumpy()[:3].tolist())) == [(0, 0), (1, 0), (1, 1)]
    assert len(set(ops.NonDeterministicInts()((5,)).asnumpy().tolist())) == 5


@pytest.mark.parametrize(
    "sampler",
    [
        ops.LogUniformCandidateSampler(1, 4, True, 8), ops.UniformCandidateSampler(1, 4, True, 8),
        lambda t: ops.log_uniform_candidate_sampler(t, 1, 4, True, 8), lambda t: ops.uniform_candidate_sampler(t, 1, 4, True, 8),
    ],
    ids=["LogUniformCandidateSampler", "UniformCandidateSampler", "log_uniform_candidate_sampler", "uniform_candidate_sampler"],
)  # fmt: skip
def test_candidate_samplers(sampler):
    candidates, true_count, count = sampler(Tensor([[1], [3]], ms.int64))
    picked = candidates.asnumpy()
    assert picked.shape == (4,) and len(set(picked.tolist())) == 4 and picked.min() >= 0 and picked.max() < 8
    assert true_count.shape == (2, 1) and count.shape == (4,)
    assert (true_count.asnumpy() > 0).all() and (count.asnumpy() > 0).all()


def levels(x):
    """The values that occur, in thousandths."""
    return np.unique(np.floor(x * 1000)).tolist()


@pytest.mark.parametrize(
    "drop,shape",
    [
        (lambda x: ops.dropout(x, 0.25), (400, 50)), (lambda x: ops.Dropout(0.75)(x)[0], (400, 50)),
        (lambda x: ops.dropout1d(x, 0.25), (100, 50, 4)), (lambda x: ops.dropout2d(x, 0.25), (100, 50, 2, 2)),
        (lambda x: ops.Dropout2D(0.75)(x)[0], (100, 50, 2, 2)), (lambda x: ops.dropout3d(x, 0.25), (100, 50, 2, 1, 2)),
        (lambda x: ops.Dropout3D(0.75)(x)[0], (100, 50, 2, 1, 2)),
    ],
    ids=["dropout", "Dropout", "dropout1d", "dropout2d", "Dropout2D", "dropout3d", "Dropout3D"],
)  # fmt: skip
def test_dropout(drop, shape):
    ms.set_seed(3)
    x = Tensor(np.ones(shape, np.float32))
    out = drop(x).asnumpy()
    kept = out.reshape(*shape[:2], -1)
    assert levels(out) == [0, 1333]
    assert (kept == kept[..., :1]).all() if len(shape) > 2 else True  # whole channels
    assert abs((kept[..., 0] > 0).mean() - 0.75) < 0.02
    grad = ms.grad(lambda v: drop(v).sum())(x).asnumpy()
    assert levels(grad) == [0, 1333]


@pytest.mark.parametrize("drop", [ops.alpha_dropout, ops.feature_alpha_dropout], ids=["alpha", "feature_alpha"])
def test_alpha_dropout_keeps_mean_and_variance(drop):
    ms.set_seed(4)
    x = ms.Tensor(np.random.default_rng(0).normal(size=(2000, 20, 1)).astype(np.float32))
    out = drop(x, 0.3, training=True).asnumpy()
    assert abs(out.mean()) < 0.05 and abs(out.std() - 1) < 0.05


def test_masks_of_dropout():
    ms.set_seed(5)
    x = Tensor(np.ones((100, 80), np.float32))
    mask = ops.DropoutGenMask()((100, 80), Tensor(0.75))
    out = ops.DropoutDoMask()(x, mask, Tensor(0.75)).asnumpy()
    assert levels(out) == [0, 1333] and abs((out > 0).mean() - 0.75) < 0.03


@pytest.mark.parametrize("shape", [(3, 50), (4, 128), (7,)])
def test_masks_of_dropout_are_bits(shape):
    mask = ops.DropoutGenMask(3)(shape, Tensor(0.5))
    out = ops.DropoutDoMask()(ops.ones(shape), mask, Tensor(0.5)).asnumpy()
    size = int(np.prod(shape))
    assert mask.dtype == ms.uint8 and mask.shape == (-(-size // 128) * 16,)
    np.testing.assert_array_equal(out.reshape(-1) > 0, np.unpackbits(mask.asnumpy(), bitorder="little")[:size] > 0)


IN_PLACE = {
    "normal_": (lambda x: ops.normal_(x, 1.0, 2.0), st.norm(1, 2)), "uniform_": (lambda x: ops.uniform_(x, -1.0, 3.0), st.uniform(-1, 4)),
    "exponential_": (lambda x: ops.exponential_(x, 2.0), st.expon(scale=0.5)),
}  # fmt: skip


@pytest.mark.parametrize("name", [n for n in IN_PLACE if hasattr(ops, n)])
def test_in_place(name):
    draw, distribution = IN_PLACE[name]
    ms.set_seed(6)
    x = Parameter(Tensor(np.zeros(N, np.float32)), name="x")
    draw(x)
    assert st.kstest(x.asnumpy(), distribution.cdf).pvalue > 0.001
