"""Reductions, running values and order against NumPy and SciPy."""

# ruff: noqa: E501 - one case per line

import itertools

import numpy as np
import pytest
import scipy.special
from op_harness import check

import mindspore as ms
from mindspore import Tensor, ops

RNG = np.random.default_rng(2)
X = RNG.permutation(24).reshape(2, 3, 4) * 0.25 - 2.9

P = np.abs(X) + 0.1

CASES = [
    ("sum", lambda x: ops.sum(x), lambda x: x.sum()),
    ("sum_axis", lambda x: ops.sum(x, 1, True), lambda x: x.sum(1, keepdims=True)),
    ("sum_axes", lambda x: ops.sum(x, (0, -1)), lambda x: x.sum((0, -1))),
    ("mean", lambda x: ops.mean(x, (1, 2)), lambda x: x.mean((1, 2))),
    ("prod", lambda x: ops.prod(x, 2), lambda x: x.prod(2)),
    ("prod_zero", lambda x: ops.prod(x * (x > -1), 1), lambda x: (x * (x > -1)).prod(1)),
    ("amax", lambda x: ops.amax(x, 1), lambda x: x.max(1)),
    ("amin", lambda x: ops.amin(x, (0, 2), True), lambda x: x.min((0, 2), keepdims=True)),
    ("max", lambda x: ops.max(x, 1), lambda x: (x.max(1), x.argmax(1))),
    ("min_keep", lambda x: ops.min(x, -1, True), lambda x: (x.min(-1, keepdims=True), x.argmin(-1)[..., None])),
    ("max_all", lambda x: ops.max(x)[0], lambda x: x.max()),
    ("var", lambda x: ops.var(x, 1), lambda x: x.var(1)),
    ("var_ddof", lambda x: ops.var(x, (0, 1), 1, True), lambda x: x.var((0, 1), ddof=1, keepdims=True)),
    ("std", lambda x: ops.std(x, 2, 1), lambda x: x.std(2, ddof=1)),
    ("std_mean", lambda x: ops.std_mean(x, 0), lambda x: (x.std(0), x.mean(0))),
    ("logsumexp", lambda x: ops.logsumexp(x, (1, 2)), lambda x: scipy.special.logsumexp(x, (1, 2))),
    ("cumsum", lambda x: ops.cumsum(x, 1), lambda x: x.cumsum(1)),
    ("cumprod", lambda x: ops.cumprod(x, -1), lambda x: x.cumprod(-1)),
    ("logcumsumexp", lambda x: ops.logcumsumexp(x, 1), lambda x: np.logaddexp.accumulate(x, 1)),
    ("cummax", lambda x: ops.cummax(x, 2)[0], lambda x: np.maximum.accumulate(x, 2)),
    ("cummin", lambda x: ops.cummin(x, 0)[0], lambda x: np.minimum.accumulate(x, 0)),
    ("sort", lambda x: ops.sort(x, 1), lambda x: (np.sort(x, 1), np.argsort(x, 1))),
    ("sort_desc", lambda x: ops.sort(x, -1, True)[0], lambda x: -np.sort(-x, -1)),
    ("topk", lambda x: ops.topk(x, 2), lambda x: (-np.sort(-x, -1)[..., :2], np.argsort(-x, -1)[..., :2])),
    ("topk_small", lambda x: ops.topk(x, 2, 1, False)[0], lambda x: np.sort(x, 1)[:, :2]),
    ("median", lambda x: ops.median(x, 2)[0], lambda x: np.sort(x, 2)[..., 1]),
    ("kthvalue", lambda x: ops.kthvalue(x, 2, 1)[0], lambda x: np.sort(x, 1)[:, 1]),
    ("quantile", lambda x: ops.quantile(x, 0.3, 1), lambda x: np.quantile(x, 0.3, 1).astype(x.dtype)),
    ("quantile_many", lambda x: ops.quantile(x, [0.25, 0.9], 2, True), lambda x: np.quantile(x, [0.25, 0.9], 2, keepdims=True)),
    ("quantile_all", lambda x: ops.quantile(x, 0.5), lambda x: np.quantile(x, 0.5)),
    ("diff", lambda x: ops.diff(x, 2, 2), lambda x: np.diff(x, 2, 2)),
    ("trapz", lambda x: ops.trapz(x, dx=0.5, dim=1), lambda x: np.trapezoid(x, dx=0.5, axis=1)),
    ("vector_norm_3", lambda x: ops.vector_norm(x, 3, 1), lambda x: np.linalg.norm(x, 3, 1)),
    ("norm", lambda x: ops.norm(x), lambda x: np.linalg.norm(x)),
    ("norm_fro", lambda x: ops.norm(x, "fro", (1, 2)), lambda x: np.linalg.norm(x, "fro", (1, 2))),
    ("norm_inf", lambda x: ops.norm(x, float("inf"), 1), lambda x: np.linalg.norm(x, np.inf, 1)),
    ("matrix_norm_1", lambda x: ops.matrix_norm(x, 1), lambda x: np.linalg.norm(x, 1, (1, 2))),
    ("exclusive", lambda x: ops.CumSum(True, True)(x, 1), lambda x: x[:, ::-1].cumsum(1)[:, ::-1] - x),
]  # fmt: skip


@pytest.mark.parametrize("name,fn,oracle", CASES, ids=[c[0] for c in CASES])
def test_reduction(name, fn, oracle):
    check(fn, oracle, X)


PLAIN = [
    ("argmax", lambda x: ops.argmax(x, 1), lambda x: x.argmax(1)),
    ("argmax_all", lambda x: ops.argmax(x), lambda x: x.argmax()),
    ("argmin", lambda x: ops.argmin(x, -1, True), lambda x: x.argmin(-1)[..., None]),
    ("argsort", lambda x: ops.argsort(x, 0, True), lambda x: np.argsort(-x, 0)),
    ("all", lambda x: ops.all(x > -2, 1), lambda x: (x > -2).all(1)),
    ("any", lambda x: ops.any(x > 2, (0, 1)), lambda x: (x > 2).any((0, 1))),
    ("count_nonzero", lambda x: ops.count_nonzero(x > 0, 1), lambda x: (x > 0).sum(1)),
    ("searchsorted", lambda x: ops.searchsorted(ops.sort(x)[0], x * 0.9), lambda x: np.array([[np.searchsorted(np.sort(r), v * np.asarray(0.9, v.dtype)) for r, v in zip(a, a)] for a in x])),
    ("bucketize", lambda x: ops.bucketize(x, [-1.0, 0.0, 1.0]), lambda x: np.digitize(x, [-1.0, 0.0, 1.0], right=True)),
    ("cummax_index", lambda x: ops.cummax(x, 1)[1], lambda x: np.array([[[np.argmax(x[i, : j + 1, k]) for k in range(4)] for j in range(3)] for i in range(2)])),
    ("aminmax", lambda x: ops.aminmax(x, axis=1), lambda x: (x.min(1), x.max(1))),
]  # fmt: skip


@pytest.mark.parametrize("name,fn,oracle", PLAIN, ids=[c[0] for c in PLAIN])
def test_positions_and_truth(name, fn, oracle):
    check(fn, oracle, X, grad=0)


def test_ties_split_the_gradient_of_a_maximum():
    grad = ms.grad(lambda x: ops.amax(x))(Tensor([1.0, 3.0, 3.0]))
    assert grad.tolist() == [0.0, 0.5, 0.5]


def test_cummax_reports_the_last_of_equals():
    values, index = ops.cummax(Tensor([1.0, 3, 3, 2, 3]), 0)
    assert values.tolist() == [1, 3, 3, 3, 3] and index.tolist() == [0, 1, 2, 2, 4]


def test_integer_sums_are_int64_and_half_sums_stay_half():
    assert ops.sum(Tensor([1, 2], ms.int32)).dtype is ms.int64
    assert ops.sum(Tensor([True, True])).item() == 2
    ones = Tensor(np.ones(4096), ms.float16)
    assert ops.sum(ones).item() == 4096 and ops.sum(ones).dtype is ms.float16


def test_topk_takes_the_first_of_equals_for_large_and_small_rows():
    row = np.array([2.0, 5, 5, 1, 5, 0, 3, 3, 3, 3, 4, 4, 4])
    for k in (1, 2, 3, 4, 13):
        values, index = ops.topk(Tensor(row), k)
        order = np.argsort(-row, kind="stable")[:k]
        assert index.tolist() == order.tolist() and values.tolist() == row[order].tolist()


def test_nan_aware_reductions():
    x = np.array([[1.0, np.nan, 3.0, 2.0], [4.0, 5.0, np.nan, np.nan]])
    check(lambda x: ops.nansum(x, 1), lambda x: np.nansum(x, 1), x, grad=0)
    check(lambda x: ops.nanmean(x, 1), lambda x: np.nanmean(x, 1), x, grad=0)
    check(lambda x: ops.nanquantile(x, 0.4, 1), lambda x: np.nanquantile(x, 0.4, axis=1), x, grad=0)
    check(lambda x: ops.nanmedian(x, 1)[0], np.array([2.0, 4.0]), x, grad=0)
    assert np.isnan(ops.median(Tensor(x), 1)[0].asnumpy()).all()
    assert np.isnan(ops.quantile(Tensor(x), 0.5, 1).asnumpy()).all()


def test_logsumexp_of_huge_and_infinite():
    check(lambda x: ops.logsumexp(x, 0), lambda x: scipy.special.logsumexp(x), np.array([1000.0, 1000.0]), grad=0)
    assert ops.logsumexp(Tensor([-np.inf, -np.inf]), 0).item() == -np.inf


def test_covariance():
    x = RNG.normal(size=(3, 8))
    check(ops.cov, np.cov, x)
    weights = np.arange(1, 9)
    check(lambda x, w: ops.cov(x, fweights=w), lambda x, w: np.cov(x, fweights=w), x, weights, grad=0)
    a = RNG.uniform(0.5, 1, 8)
    check(lambda x, a: ops.cov(x, aweights=a), lambda x, a: np.cov(x, aweights=a), x, a, grad=1)


def test_sets_and_counts():
    x = Tensor([3, 1, 3, 2, 1], ms.int32)
    assert [t.tolist() for t in ops.unique(x)] == [[3, 1, 2], [0, 1, 0, 2, 1]]
    assert [t.tolist() for t in ops.unique_consecutive(Tensor([1, 1, 2, 2, 1]), True, True)] == [
        [1, 2, 1], [0, 0, 1, 1, 2], [2, 2, 1],
    ]  # fmt: skip
    assert ops.bincount(x, minlength=5).tolist() == [0, 2, 1, 2, 0]
    assert ops.histc(Tensor([0.0, 1.0, 2.0, 3.0, 4.0]), 4).tolist() == [1, 1, 1, 2]
    assert ops.nonzero(Tensor([[0, 1], [2, 0]])).tolist() == [[0, 1], [1, 0]]
    assert ops.isin(x, Tensor([1, 2])).tolist() == [False, True, False, True, True]
    assert ops.combinations(Tensor([1, 2, 3])).tolist() == [[1, 2], [1, 3], [2, 3]]


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("size", [0, 1, 4])
@pytest.mark.parametrize("r", [0, 1, 3, 5])
def test_combinations_are_pythons(size, r, again):
    pick = itertools.combinations_with_replacement if again else itertools.combinations
    wanted = np.array(list(pick(range(size), r)), np.int32).reshape(-1, r) if r else np.zeros((1, 0), np.int32)
    found = ops.combinations(Tensor(np.arange(size, dtype=np.int32)), r, again)
    assert found.shape == wanted.shape and (found.asnumpy() == wanted).all()


def test_combinations_of_more_elements_than_there_are_take_no_time_and_memory():
    assert ops.combinations(Tensor([1, 2, 3]), 2**31).shape == (0, 2**31)


@pytest.mark.parametrize(
    "fn,error,words",
    [
        (lambda x: ops.sum(x, 5), ValueError, "range"),
        (lambda x: ops.sum(x, (0, 0)), ValueError, "repeat"),
        (lambda x: ops.sum(x, "a"), TypeError, "int"),
        (lambda x: ops.amax(x[:0]), ValueError, "size 0"),
        (lambda x: ops.topk(x, 9), ValueError, "k=9"),
        (lambda x: ops.quantile(x, 1.5), ValueError, r"\[0, 1\]"),
        (lambda x: ops.cumsum(x, 3), ValueError, "range"),
        (lambda x: ops.sort(x, 1, 2), TypeError, "descending"),
        (lambda x: ops.mean([1.0]), TypeError, "Tensor"),
    ],
)
def test_bad_arguments(fn, error, words):
    with pytest.raises(error, match=words):
        fn(Tensor(X))


@pytest.mark.parametrize("backend", ["", "interp", "cpu", "xla"])
@pytest.mark.parametrize("k", [1, 2, 9])
def test_largest_elements_unsorted_stay_in_their_order(backend, k):
    x = np.random.default_rng(0).normal(size=(3, 9)).astype(np.float32)
    ms.set_context(backend=backend)
    take = lambda t: ops.topk(t, k, sorted=False)
    found, places = (ms.jit(take) if backend else take)(Tensor(x))
    ms.set_context(backend="")
    wanted = np.sort(np.argsort(-x, -1, kind="stable")[:, :k], -1)
    np.testing.assert_array_equal(places.asnumpy(), wanted)
    np.testing.assert_array_equal(found.asnumpy(), np.take_along_axis(x, wanted, -1))


@pytest.mark.parametrize("backend", ["interp", "cpu", "xla"])
def test_quantiles_of_halves_of_infinite_values_and_many_at_once(backend):
    if backend == "xla":
        pytest.importorskip("jax")
    with ms.context.local_context(mode=ms.GRAPH_MODE, backend=backend):
        many = np.linspace(0, 1, 600)
        x = RNG.normal(size=(3, 5000)).astype(np.float16)
        for function in (ops.quantile, ms.jit(ops.quantile)):
            found = function(Tensor(x), Tensor(many.astype(np.float32)), 1).asnumpy()
            assert found.dtype == np.float16 and found.shape == (600, 3)
            np.testing.assert_allclose(found, np.quantile(x.astype(float), many, 1), rtol=2e-3, atol=1e-3)
            for values, place, wanted in (
                ([-np.inf, 1.0, 2.0], 0.2, -np.inf), ([1.0, np.inf, np.inf], 0.75, np.inf), ([1.0, 2.0, np.inf], 0.5, 2.0)
            ):  # fmt: skip
                assert function(Tensor(values, ms.float32), place).asnumpy() == wanted
            with pytest.raises(ValueError, match="must have elements along axis 0"):
                function(Tensor(np.zeros((0, 3), np.float32)), 0.5, 0)
