"""Checks that need values: graphs on every backend refuse what PyNative refuses, in the same words, and accept what it accepts."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, mint, ops
from mindspore.nn.probability import distribution
from mindspore.scipy import linalg


def f32(values):
    return Tensor(np.asarray(values, np.float32))


ONES = f32([[1], [1]])
SINGULAR, REGULAR = f32([[1, 2], [2, 4]]), f32([[1, 2], [2, 5]])
#: name -> (function, allowed, not allowed)
CASES = {
    "check_numerics": (ops.check_numerics, f32([1, 2]), f32([1, np.nan])),
    "quantile": (lambda q: ops.quantile(f32([1, 2, 3]), q), f32(0.5), f32(-0.5)),
    "quantile above": (lambda q: ops.quantile(f32([1, 2, 3]), q), f32([0, 1]), f32([0, 1.5])),
    "nanquantile": (lambda q: ops.nanquantile(f32([1, 2, 3]), q), f32(1), f32(np.nan)),
    "clip_by_norm": (lambda x: ops.clip_by_norm(x, 1.0, error_if_nonfinite=True), f32([1, 2]), f32([1, np.inf])),
    "multinomial": (lambda w: ops.multinomial(w, 2), f32([0, 2, 0]), f32([-1, 2, 3])),
    "bernoulli": (lambda p: ops.bernoulli(f32([0, 0]), p), f32(1), f32(1.5)),
    "randint": (
        lambda low: ops.UniformInt()((2,), low, Tensor(3, ms.int32)),
        Tensor(2, ms.int32),
        Tensor(3, ms.int32),
    ),
    "cholesky": (ops.cholesky, REGULAR, f32([[1, 2], [2, -5]])),
    "inverse": (ops.inverse, REGULAR, SINGULAR),
    "mint.inverse": (mint.inverse, REGULAR, SINGULAR),
    "solve": (lambda x: ops.MatrixSolve()(x, ONES), REGULAR, SINGULAR),
    "solve_triangular": (lambda x: linalg.solve_triangular(x, f32([1, 1])), REGULAR, f32([[0, 1], [0, 0]])),
    "repeat_interleave": (lambda n: ops.repeat_interleave(f32([1, 2]), n), Tensor([1, 2]), Tensor([-1, 2])),
    "normal": (lambda s: distribution.Normal(0.0, s).log_prob(f32(1)), f32(1), f32(-1)),
    "bernoulli distribution": (lambda p: distribution.Bernoulli(p).log_prob(f32(1)), f32(0.5), f32(1)),
    "uniform distribution": (lambda low: distribution.Uniform(low, f32(2)).log_prob(f32(1)), f32(0), f32(2)),
}


def _refusal(function, *args):
    with pytest.raises(Exception) as caught:
        np.asarray(function(*args))
    return type(caught.value), str(caught.value).split("\n")[0]


@pytest.mark.parametrize("backend", ["interp", "cpu", "xla"])
@pytest.mark.parametrize("name", CASES)
def test_graphs_check_what_pynative_checks(name, backend):
    function, good, bad = CASES[name]
    ms.set_context(backend=backend)
    try:
        compiled = ms.jit(function)
        result, expected = compiled(good).asnumpy(), function(good).asnumpy()
        assert result.shape == expected.shape
        if name not in ("multinomial", "bernoulli", "randint"):
            np.testing.assert_allclose(result, expected, rtol=1e-5)
        assert _refusal(compiled, bad) == _refusal(function, bad)
    finally:
        ms.set_context(backend="")


@pytest.mark.parametrize("backend", ["interp", "cpu", "xla"])
def test_infinities_that_were_given_are_no_failure(backend):
    """NumPy inverts a matrix that holds NaN without complaint; so do graphs."""
    ms.set_context(backend=backend)
    try:
        given = f32([[np.nan, 0], [0, 1]])
        assert np.isnan(ops.inverse(given).asnumpy()).any()
        assert np.isnan(ms.jit(ops.inverse)(given).asnumpy()).any()
    finally:
        ms.set_context(backend="")


def test_unchecked_graphs(monkeypatch):
    monkeypatch.setenv("MS_DEV_UNCHECKED", "1")
    graph = ms.jit(lambda x, i: ops.gather(x, i, 0)).compile(f32([1, 2]), Tensor([0])).traced.graph
    assert "Violation" not in [n.op.name for n in graph.nodes()]
