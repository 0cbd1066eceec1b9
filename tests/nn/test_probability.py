"""Distributions against SciPy's, samples against the distribution function, bijectors against their own inverses."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats as st
from nn_harness import in_both_modes

import mindspore as ms
import mindspore.nn.probability.bijector as B
import mindspore.nn.probability.distribution as D
from mindspore import Tensor, nn
from mindspore.nn.probability import bnn_layers

POINTS = np.array([0.2, 0.7, 1.5], np.float32)
COUNTS = np.array([0.0, 1.0, 3.0], np.float32)
CONTINUOUS = {
    "Normal": (D.Normal(0.3, 1.4), st.norm(0.3, 1.4)),
    "LogNormal": (D.LogNormal(0.3, 0.6), st.lognorm(0.6, scale=np.exp(0.3))),
    "Uniform": (D.Uniform(-0.5, 2.0), st.uniform(-0.5, 2.5)),
    "Exponential": (D.Exponential(1.7), st.expon(scale=1 / 1.7)),
    "Logistic": (D.Logistic(0.3, 1.4), st.logistic(0.3, 1.4)),
    "Gumbel": (D.Gumbel(0.3, 1.4), st.gumbel_r(0.3, 1.4)),
    "Cauchy": (D.Cauchy(0.3, 1.4), st.cauchy(0.3, 1.4)),
    "Gamma": (D.Gamma(2.5, 1.7), st.gamma(2.5, scale=1 / 1.7)),
    "Laplace": (D.Laplace(0.3, 1.4), st.laplace(0.3, 1.4)),
    "HalfNormal": (D.HalfNormal(0.1, 1.4), st.halfnorm(0.1, 1.4)),
    "StudentT": (D.StudentT(3.0, 0.3, 1.4), st.t(3.0, 0.3, 1.4)),
    "Beta": (D.Beta(2.0, 3.0), st.beta(2.0, 3.0)),
}
DISCRETE = {
    "Bernoulli": (D.Bernoulli(0.3), st.bernoulli(0.3), np.array([0.0, 1.0], np.float32)),
    "Geometric": (D.Geometric(0.3), st.geom(0.3, loc=-1), COUNTS),
    "Poisson": (D.Poisson(2.3), st.poisson(2.3), COUNTS),
    "Categorical": (D.Categorical([0.2, 0.3, 0.5]), st.rv_discrete(values=([0, 1, 2], [0.2, 0.3, 0.5])), COUNTS[:2]),
}
ONLY_LOG_PROB = ("Laplace", "HalfNormal", "StudentT")


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name):
    ours, theirs = CONTINUOUS[name]
    x = POINTS[:2] if name == "Beta" else POINTS
    found = in_both_modes(lambda: ours.log_prob(Tensor(x)))
    np.testing.assert_allclose(found, theirs.logpdf(x), rtol=2e-4)
    if name in ONLY_LOG_PROB:
        return
    np.testing.assert_allclose(ours.cdf(Tensor(x)).asnumpy(), theirs.cdf(x), rtol=1e-4)
    np.testing.assert_allclose(ours.survival_function(Tensor(x)).asnumpy(), theirs.sf(x), rtol=1e-3)
    np.testing.assert_allclose(ours.entropy().asnumpy(), theirs.entropy(), rtol=1e-4)
    if name != "Cauchy":
        np.testing.assert_allclose(ours.mean().asnumpy(), theirs.mean(), rtol=1e-5)
        np.testing.assert_allclose(ours.var().asnumpy(), theirs.var(), rtol=1e-4)


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete(name):
    ours, theirs, x = DISCRETE[name]
    np.testing.assert_allclose(ours.prob(Tensor(x)).asnumpy(), theirs.pmf(x), rtol=1e-4)
    np.testing.assert_allclose(ours.cdf(Tensor(x)).asnumpy(), theirs.cdf(x), rtol=1e-4)
    np.testing.assert_allclose(ours.mean().asnumpy(), theirs.mean(), rtol=1e-5)
    np.testing.assert_allclose(ours.sd().asnumpy(), theirs.std(), rtol=1e-5)


def test_moments_of_categories_keep_an_axis():
    p = np.array([[0.5, 0.2, 0.3], [0.1, 0.1, 0.8]], np.float32)
    ours, k = D.Categorical(p), np.arange(3)
    mean = (p * k).sum(-1, keepdims=True)
    np.testing.assert_allclose(ours.mean().asnumpy(), mean, rtol=1e-6)
    np.testing.assert_allclose(ours.var().asnumpy(), (p * (k - mean) ** 2).sum(-1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_samples_follow_the_distribution(name):
    ms.set_seed(3)
    ours, theirs = CONTINUOUS[name]
    drawn = ours.sample((2000,)).asnumpy().astype(np.float64)
    assert st.kstest(drawn, theirs.cdf).pvalue > 1e-4


@pytest.mark.parametrize("name", DISCRETE)
def test_frequencies_follow_the_distribution(name):
    ms.set_seed(3)
    ours, theirs, x = DISCRETE[name]
    drawn = ours.sample((4000,)).asnumpy()
    for value in x:
        assert abs((drawn == value).mean() - theirs.pmf(value)) < 0.04


@pytest.mark.parametrize("name", ["Normal", "LogNormal", "Uniform", "Exponential", "Gumbel", "Cauchy", "Gamma", "Beta"])
def test_divergence_is_the_mean_log_ratio(name):
    """KL(a || b) = E_a[log a - log b], by quadrature in a's own quantiles."""
    ours, theirs = CONTINUOUS[name]
    other = {"Uniform": (-1.0, 3.0), "Exponential": (0.9,), "Gamma": (3.0, 1.2), "Beta": (1.5, 2.0)}.get(
        name, (0.1, 1.1)
    )
    x = theirs.ppf((np.arange(20000) + 0.5) / 20000).astype(np.float32)
    b = type(ours)(*other)
    expected = (ours.log_prob(Tensor(x)) - b.log_prob(Tensor(x))).asnumpy().astype(np.float64).mean()
    found = float(ours.kl_loss(name, *(Tensor(v) for v in other)).asnumpy())
    assert abs(found - expected) < 5e-3
    cross = float(ours.cross_entropy(name, *(Tensor(v) for v in other)).asnumpy())
    np.testing.assert_allclose(cross, found + float(ours.entropy().asnumpy()), rtol=1e-5)


def test_parameters_of_a_call_replace_those_of_the_constructor():
    free = D.Normal()
    x, mean, sd = Tensor(POINTS), Tensor([0.0, 1.0, 2.0]), Tensor([1.0, 2.0, 3.0])
    np.testing.assert_allclose(
        free.log_prob(x, mean, sd).asnumpy(), st.norm(mean.asnumpy(), sd.asnumpy()).logpdf(POINTS), rtol=1e-5
    )
    assert free.sample((5,), mean, sd).shape == (5, 3)
    with pytest.raises(TypeError, match="None"):
        free.mean()


@pytest.mark.parametrize(
    "call,error",
    [
        (lambda: D.Normal(0.0, -1.0), ValueError),
        (lambda: D.Bernoulli(1.5), ValueError),
        (lambda: D.Categorical([0.5, 0.2]), ValueError),
        (lambda: D.Uniform(2.0, 1.0), ValueError),
        (lambda: D.Normal("zero", 1.0), TypeError),
        (lambda: D.Normal(0.0, 1.0).log_prob(1.0), TypeError),
        (lambda: D.Normal(0.0, 1.0).kl_loss("Gamma", 1.0, 1.0), ValueError),
        (lambda: D.Cauchy(0.0, 1.0).mean(), NotImplementedError),
        (lambda: D.Normal(0.0, 1.0, dtype=ms.int32), TypeError),
        (lambda: D.Normal(0.0, 1.0, seed="x"), TypeError),
    ],
)
def test_bad_arguments(call, error):
    with pytest.raises(error):
        call()


@pytest.mark.parametrize(
    "bijector",
    [
        B.Exp(),
        B.PowerTransform(0.5),
        B.ScalarAffine(-2.0, 1.0),
        B.Softplus(2.0),
        B.GumbelCDF(0.5, 2.0),
        B.Invert(B.Exp()),
    ],
    ids=lambda b: b.name,
)
def test_bijectors(bijector):
    x = Tensor(POINTS)
    y = bijector.forward(x)
    np.testing.assert_allclose(bijector.inverse(y).asnumpy(), POINTS, rtol=1e-4)
    step = 1e-2
    slope = (bijector.forward(Tensor(POINTS + step)) - bijector.forward(Tensor(POINTS - step))).asnumpy() / (2 * step)
    there = np.broadcast_to(bijector.forward_log_jacobian(x).asnumpy(), POINTS.shape)
    back = np.broadcast_to(bijector.inverse_log_jacobian(y).asnumpy(), POINTS.shape)
    np.testing.assert_allclose(there, np.log(np.abs(slope)), atol=2e-3)
    np.testing.assert_allclose(there, -back, atol=1e-4)


def test_transformed_distribution():
    ours = B.Exp()(D.Normal(0.3, 0.6))
    theirs = st.lognorm(0.6, scale=np.exp(0.3))
    np.testing.assert_allclose(ours.log_prob(Tensor(POINTS)).asnumpy(), theirs.logpdf(POINTS), rtol=1e-4)
    np.testing.assert_allclose(ours.cdf(Tensor(POINTS)).asnumpy(), theirs.cdf(POINTS), rtol=1e-4)
    linear = D.TransformedDistribution(B.ScalarAffine(2.0, 1.0), D.Normal(0.5, 1.0))
    assert float(linear.mean().asnumpy()) == 2.0
    assert ours.sample((4,)).shape == (4,)


@pytest.mark.parametrize(
    "layer,shape,expected",
    [
        (lambda: bnn_layers.DenseReparam(4, 3, "relu"), (2, 4), (2, 3)),
        (lambda: bnn_layers.DenseLocalReparam(4, 3), (2, 4), (2, 3)),
        (lambda: bnn_layers.ConvReparam(2, 3, 3, has_bias=True), (1, 2, 5, 5), (1, 3, 5, 5)),
    ],
)
def test_bayesian_layers(layer, shape, expected):
    net = layer()
    x = Tensor(np.ones(shape, np.float32))
    first, second = net(x), net(x)
    assert first.shape == expected and np.abs((first - second).asnumpy()).max() > 0
    loss = bnn_layers.WithBNNLossCell(net, nn.MSELoss(), 1, 0.1)
    target = Tensor(np.zeros(expected, np.float32))
    assert float(net.compute_kl_loss().asnumpy()) > 0
    grads = ms.grad(loss, None, tuple(net.trainable_params()))(x, target)
    assert all(np.isfinite(g.asnumpy()).all() for g in grads)


class _Scaled(B.Bijector):
    """A user's bijector, with its parameter noted."""

    def __init__(self, scale, dtype=None):
        super().__init__(name="Scaled", dtype=dtype, param={"param_dict": {"scale": scale}})
        self._scale = self._add_parameter(scale, "scale")

    def _forward(self, x):
        x = self._check_value_dtype(x)
        return x * self.cast_param_by_value(x, self._scale)


class _Shifted(D.Distribution):
    """A user's distribution, uniform on an interval, with its parameters noted."""

    def __init__(self, low=None, high=None):
        super().__init__(3, ms.float32, "Shifted", param={"param_dict": {"low": low, "high": high}})
        self._low = self._add_parameter(low, "low")
        self._high = self._add_parameter(high, "high")

    def _prob(self, value, low=None, high=None):
        value = self._check_value(value, "value")
        low, high = self._check_param_type(low, high)
        return ms.ops.ones_like(value) / (high - low)

    def _mean(self, low=None, high=None):
        low, high = self._check_param_type(low, high)
        return (low + high) / 2

    def _sample(self, shape=(), low=None, high=None):
        low, high = self._check_param_type(low, high)
        return low + (high - low) * self.uniform(tuple(shape) + low.shape)


def test_a_bijector_of_the_user_notes_its_parameters():
    layer = _Scaled(np.array([2.0, 3.0], np.float32))
    assert (layer.batch_shape, layer.is_scalar_batch, layer.parameter_names) == ((2,), False, ("scale",))
    for kind in (ms.float16, ms.float32):
        out = in_both_modes(lambda kind=kind: layer("forward", Tensor([1.0, 2.0], kind)))
        assert str(out.dtype) == str(ms.dtype.dtype_to_nptype(kind).__name__)
        np.testing.assert_array_equal(out, [2, 6])
    for bad in (Tensor([1, 2], ms.int32), 1.0, None):
        with pytest.raises(TypeError, match="value"):
            layer.forward(bad)
    with pytest.raises(TypeError, match="Float32"):
        _Scaled(np.float32(2.0), ms.float32).forward(Tensor([1.0], ms.float16))
    for bad in (None, True, 2):
        with pytest.raises(TypeError, match="scale"):
            _Scaled(bad)


def test_a_distribution_of_the_user_notes_its_parameters():
    d = _Shifted(1.0, np.array([2.0, 3.0], np.float32))
    assert (d.batch_shape, d.parameter_names) == ((2,), ("low", "high"))
    np.testing.assert_allclose(in_both_modes(lambda: d("log_prob", Tensor([1.5, 1.5]))), -np.log([1, 2]))
    np.testing.assert_allclose(d.mean().asnumpy(), [1.5, 2])
    np.testing.assert_allclose(d.mean(Tensor(0.0), Tensor([4.0])).asnumpy(), [2])
    drawn = d.sample((500,)).asnumpy()
    assert drawn.shape == (500, 2) and drawn.min() >= 1 and (drawn.max(0) <= [2, 3]).all() and drawn[:, 1].max() > 2.5
    with pytest.raises(TypeError, match="low"):
        _Shifted().mean()


def test_parameters_of_bijectors_are_numbers_in_any_form():
    scale = np.array([[1.0], [2.0]])
    for given in (scale, scale.tolist(), Tensor(scale, ms.float32)):
        found = B.GumbelCDF(np.array([0.0]), given).forward(Tensor(POINTS)).asnumpy()
        np.testing.assert_allclose(found, np.exp(-np.exp(-POINTS / scale)), rtol=1e-5)
    for wrong in ("1", [True], [1.0, [2.0]], None):
        with pytest.raises(TypeError, match="'scale' must be a number, a list of numbers"):
            B.GumbelCDF(0.0, wrong)
