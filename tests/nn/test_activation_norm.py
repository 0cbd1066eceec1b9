"""Activations and normalisation against their formulas, in both array namespaces, with gradients."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special as sp
from nn_harness import both_namespaces, in_both_modes

import mindspore as ms
from gradcheck import check_gradients
from mindspore import Parameter, Tensor, nn, ops
from mindspore.prims import activation as act
from mindspore.prims import norm

RNG = np.random.default_rng(0)
X = RNG.normal(size=(4, 6)) * 2


def softplus(x):
    return np.logaddexp(x, 0)


FORMULAS = [
    (act.ReLU6(), lambda x: np.clip(x, 0, 6)),
    (act.LeakyReLU(0.1), lambda x: np.where(x > 0, x, 0.1 * x)),
    (act.Elu(1.3), lambda x: np.where(x > 0, x, 1.3 * np.expm1(x))),
    (act.CeLU(0.7), lambda x: np.where(x > 0, x, 0.7 * np.expm1(x / 0.7))),
    (act.SeLU(), lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x))),
    (act.GeLU(), lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))),
    (act.GeLUErf(), lambda x: x * sp.ndtr(x)),
    (act.FastGeLU(), lambda x: x * sp.expit(1.702 * x)),
    (act.SiLU(), lambda x: x * sp.expit(x)),
    (act.Mish(), lambda x: x * np.tanh(softplus(x))),
    (act.LogSigmoid(), lambda x: np.log(sp.expit(x))),
    (act.Softsign(), lambda x: x / (1 + np.abs(x))),
    (act.HSwish(), lambda x: x * np.clip(x + 3, 0, 6) / 6),
    (act.HSigmoid(), lambda x: np.clip(x + 3, 0, 6) / 6),
    (act.HShrink(0.4), lambda x: np.where(np.abs(x) > 0.4, x, 0)),
    (act.SoftShrink(0.4), lambda x: np.where(x > 0.4, x - 0.4, np.where(x < -0.4, x + 0.4, 0))),
    (act.Hardtanh(-0.5, 1.5), lambda x: np.clip(x, -0.5, 1.5)),
    (act.Threshold(0.5, 2.0), lambda x: np.where(x > 0.5, x, 2.0)),
    (act.SoftplusBeta(2.0, 3.0), lambda x: np.where(2 * x > 3, x, softplus(2 * x) / 2)),
    (act.Softmax(-1), lambda x: sp.softmax(x, -1)),
    (act.Softmax((0, 1)), lambda x: sp.softmax(x)),
    (act.LogSoftmax(0), lambda x: sp.log_softmax(x, 0)),
]


@pytest.mark.parametrize("prim,formula", FORMULAS, ids=lambda v: getattr(v, "name", ""))
def test_activation(prim, formula):
    np.testing.assert_allclose(both_namespaces(prim, X), formula(X), atol=1e-12)
    check_gradients(prim, X[:2, :3])


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_activation_keeps_the_type_and_large_inputs_stay_finite(dtype):
    x = np.array([-1e4, -80, -1, 0, 1, 80, 1e4], dtype)
    for prim, _ in FORMULAS:
        if prim.name in ("Softmax",) and isinstance(prim.axis, tuple):
            continue
        out = prim.eval(np, x)
        assert out.dtype == dtype and not np.isnan(out.astype(np.float32)).any(), prim.name


def test_prelu_weights_per_channel_and_shared():
    x, w = RNG.normal(size=(2, 3, 4)), RNG.normal(size=3)
    np.testing.assert_allclose(both_namespaces(act.PReLU(), x, w), np.where(x > 0, x, x * w[:, None]))
    check_gradients(act.PReLU(), x[:1, :, :2], w)
    check_gradients(act.PReLU(), x[:1, :, :2], w[:1])
    with pytest.raises(ValueError, match="weight"):
        act.PReLU()(Tensor(x), Tensor(RNG.normal(size=2)))


@pytest.mark.parametrize(
    "name", ["relu", "gelu", "sigmoid", "tanh", "softmax", "leakyrelu", "hswish", "silu", "elu", "mish"]
)
def test_activation_layers_by_name(name):
    layer = nn.get_activation(name)
    x = Tensor(X.astype(np.float32))
    assert in_both_modes(lambda: layer(x)).shape == X.shape


def test_unknown_activation():
    with pytest.raises(KeyError, match="relu"):
        nn.get_activation("swooosh")


# -- normalisation ------------------------------------------------------------------------------------------------------
def standardized(x, axes, eps):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def test_layer_norm():
    x, g, b = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4))
    out, mean, var = both_namespaces(norm.LayerNorm(1, 1, 1e-5), x, g, b)
    np.testing.assert_allclose(out, standardized(x, (1, 2), 1e-5) * g + b)
    np.testing.assert_allclose(mean[:, 0, 0], x.mean((1, 2)))
    np.testing.assert_allclose(var[:, 0, 0], x.var((1, 2)))
    check_gradients(norm.LayerNorm(1, 1, 1e-5), x[:, :2, :2], g[:2, :2], b[:2, :2])


def test_rms_norm():
    x, g = RNG.normal(size=(3, 4)), RNG.normal(size=4)
    out, inverse = both_namespaces(norm.RmsNorm(1e-6), x, g)
    np.testing.assert_allclose(out, x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * g)
    np.testing.assert_allclose(inverse, 1 / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6))
    check_gradients(norm.RmsNorm(1e-6), x, g)


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("training", [True, False])
def test_batch_norm(layout, training):
    x = RNG.normal(size=(4, 3, 2))
    axis = 1 if layout == "NCHW" else 2
    c = x.shape[axis]
    g, b, m, v = RNG.normal(size=c), RNG.normal(size=c), RNG.normal(size=c), RNG.uniform(0.5, 2, c)
    prim = norm.BatchNorm(training, 1e-5, 0.1, layout)
    out, new_m, new_v, *_ = both_namespaces(prim, x, g, b, m, v)
    axes = tuple(a for a in range(3) if a != axis)
    row = [c if a == axis else 1 for a in range(3)]
    if training:
        n = x.size / c
        np.testing.assert_allclose(out, standardized(x, axes, 1e-5) * g.reshape(row) + b.reshape(row))
        np.testing.assert_allclose(new_m, 0.9 * m + 0.1 * x.mean(axes))
        np.testing.assert_allclose(new_v, 0.9 * v + 0.1 * x.var(axes) * n / (n - 1))
    else:
        expected = (x - m.reshape(row)) / np.sqrt(v.reshape(row) + 1e-5) * g.reshape(row) + b.reshape(row)
        np.testing.assert_allclose(out, expected)
        np.testing.assert_array_equal(new_m, m)
    check_gradients(lambda x_, g_, b_, m_, v_: prim(x_, g_, b_, m_ * 1, v_ * 1), x[:3], g, b, m, v)


def test_batch_norm_layer_follows_training_and_updates_statistics():
    x = RNG.normal(2, 3, size=(8, 3, 4, 4)).astype(np.float32)
    net = nn.BatchNorm2d(3, momentum=0.8)

    def run():
        net.moving_mean.set_data(Tensor(np.zeros(3, np.float32)))
        net.moving_variance.set_data(Tensor(np.ones(3, np.float32)))
        net.set_train(True)
        trained = net(Tensor(x))
        net.set_train(False)
        return trained, net(Tensor(x)), net.moving_mean, net.moving_variance

    trained, evaluated, mean, variance = in_both_modes(run)
    np.testing.assert_allclose(trained, standardized(x, (0, 2, 3), 1e-5), atol=1e-4)
    np.testing.assert_allclose(mean, 0.2 * x.mean((0, 2, 3)), rtol=1e-4)
    np.testing.assert_allclose(variance, 0.8 + 0.2 * x.var((0, 2, 3), ddof=1), rtol=1e-3)
    row = (1, 3, 1, 1)
    np.testing.assert_allclose(evaluated, (x - mean.reshape(row)) / np.sqrt(variance.reshape(row) + 1e-5), atol=1e-4)


def test_group_and_instance_norm():
    x, g, b = RNG.normal(size=(2, 4, 3, 2)), RNG.normal(size=4), RNG.normal(size=4)
    row = (1, 4, 1, 1)
    found = ops.group_norm(Tensor(x), 2, Tensor(g), Tensor(b)).asnumpy()
    grouped = standardized(x.reshape(2, 2, -1), (2,), 1e-5).reshape(x.shape)
    np.testing.assert_allclose(found, grouped * g.reshape(row) + b.reshape(row))
    found = ops.instance_norm(Tensor(x), Tensor(g), Tensor(b)).asnumpy()
    np.testing.assert_allclose(found, standardized(x, (2, 3), 1e-5) * g.reshape(row) + b.reshape(row))
    check_gradients(lambda *a: ops.group_norm(a[0], 2, a[1], a[2]), x[:1, :, :1], g, b)


def test_local_response_norm():
    x = RNG.normal(size=(2, 5, 2, 2))
    out = both_namespaces(norm.LRN(1, 1.5, 0.4, 0.75), x)
    for c in range(5):
        energy = (x[:, max(c - 1, 0) : c + 2] ** 2).sum(1)
        np.testing.assert_allclose(out[:, c], x[:, c] / (1.5 + 0.4 * energy) ** 0.75, rtol=1e-6)
    check_gradients(norm.LRN(1, 1.5, 0.4, 0.75), x[:1, :4, :1])


def test_statistics_of_half_precision_are_float32():
    x = (RNG.normal(size=(2, 4)) * 10).astype(np.float16)
    ones, zeros = np.ones(4, np.float16), np.zeros(4, np.float16)
    out, mean, _ = norm.LayerNorm(1, 1).eval(np, x, ones, zeros)
    assert out.dtype == np.float16 and mean.dtype == np.float32


@pytest.mark.parametrize(
    "call,error,words",
    [
        (lambda: nn.BatchNorm2d(3)(Tensor(np.ones((2, 3), np.float32))), ValueError, "4"),
        (lambda: nn.BatchNorm2d(0), ValueError, "num_features"),
        (lambda: nn.BatchNorm2d(3, momentum=2), ValueError, "momentum"),
        (lambda: nn.LayerNorm(3), TypeError, "normalized_shape"),
        (lambda: nn.GroupNorm(3, 4), ValueError, "num_groups"),
        (lambda: ops.layer_norm(Tensor(np.ones((2, 3), np.float32)), (4,)), ValueError, "normalized_shape"),
        (lambda: ops.BatchNorm(is_training=1), TypeError, "is_training"),
        (lambda: act.Softmax("x"), TypeError, "axis"),
        (lambda: act.Softmax(3)(Tensor(np.ones((2, 2), np.float32))), ValueError, "range"),
    ],
)  # fmt: skip
def test_bad_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_batch_norm_primitive_writes_its_parameters():
    mean, variance = (
        Parameter(Tensor(np.zeros(2, np.float32)), name="m"),
        Parameter(Tensor(np.ones(2, np.float32)), name="v"),
    )
    x = Tensor(RNG.normal(size=(5, 2)).astype(np.float32))
    one, zero = Tensor(np.ones(2, np.float32)), Tensor(np.zeros(2, np.float32))
    ops.BatchNorm(is_training=True, momentum=1.0)(x, one, zero, mean, variance)
    np.testing.assert_allclose(mean.asnumpy(), x.asnumpy().mean(0), rtol=1e-5)
    assert ms.Tensor(variance).shape == (2,)
