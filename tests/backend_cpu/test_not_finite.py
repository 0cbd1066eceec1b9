"""NaN, infinities, zeros with signs, denormals and numbers near the largest: graphs say what NumPy says.

Poolings and convolutions of oneDNN, its ReLU and Winograd's transforms each have their own ideas about them.
"""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, mint, nn, ops
from mindspore.backends.cpu import available

BACKENDS = ["interp", pytest.param("cpu", marks=pytest.mark.skipif(not available(), reason="not installed")), "xla"]
NAN, INF = float("nan"), float("inf")
SPECIAL = np.array([0.0, -0.0, INF, -INF, NAN, 1e-40, -1e-40, 3e38, -3e38, 1.0, -1.0, 88.8, -104.0, 1e-38, 20.0, -20.0])


@pytest.fixture(params=BACKENDS)
def backend(request):
    ms.set_context(backend=request.param)
    yield request.param
    ms.set_context(backend="")


def windows(x: np.ndarray, size: int) -> np.ndarray:
    n, c, h, w = x.shape
    return (
        x.reshape(n, c, h // size, size, w // size, size)
        .transpose(0, 1, 2, 4, 3, 5)
        .reshape(n, c, h // size, w // size, -1)
    )


@pytest.mark.parametrize("channels", [1, 3, 16])
@pytest.mark.parametrize("dtype", [ms.float32, ms.float16, ms.bfloat16], ids=str)
def test_max_pooling_shows_nan(backend, dtype, channels):
    x = np.random.default_rng(0).integers(-9, 9, (2, channels, 6, 8)).astype(np.float32)
    x[0, 0, 1, 1], x[1, -1, 4, 4:6], x[1, -1, 0, 0] = NAN, (INF, NAN), -INF
    given = Tensor(x, dtype)
    want = windows(x, 2).max(-1)
    for pool in (lambda t: ops.max_pool2d(t, 2, 2), nn.MaxPool2d(2, 2), lambda t: ops.adaptive_max_pool2d(t, (3, 4))):
        for call in (pool, ms.jit(pool)):
            np.testing.assert_array_equal(call(given).astype(ms.float32).asnumpy(), want)


def test_gradient_of_max_pooling_goes_to_nan(backend):
    x = np.arange(2 * 16 * 4 * 4, dtype=np.float32).reshape(2, 16, 4, 4)
    x[0, 3, 0, 1] = x[0, 3, 1, 0] = NAN
    want = np.zeros_like(x)
    want[:, :, 1::2, 1::2] = 1
    want[0, 3, 1, 1], want[0, 3, 0, 1] = 0, 1
    gradient = ms.grad(lambda t: ops.max_pool2d(t, 2, 2).sum())
    for call in (gradient, ms.jit(gradient)):
        np.testing.assert_array_equal(call(Tensor(x)).asnumpy(), want)


def test_relu_after_a_product(backend):
    """-inf, also by overflow, becomes 0; NaN stays."""
    x = np.array([[1.0, 0.0], [-INF, 1.0], [NAN, 1.0], [3e38, 3e38], [-3e38, -3e38], [INF, 0.0]], np.float32)
    net = nn.SequentialCell(nn.Dense(2, 3, weight_init="ones", bias_init="zeros"), nn.ReLU())
    net.set_train(False)
    want = np.array([1.0, 0.0, NAN, INF, 0.0, INF], np.float32)[:, None] + np.zeros((1, 3), np.float32)
    for call in (net, ms.jit(net), ms.jit(lambda t: net(t) + 0.0)):
        np.testing.assert_array_equal(call(Tensor(x)).asnumpy(), want)


@pytest.mark.parametrize("channels", [4, 16])
def test_relu_after_a_convolution(backend, channels):
    x = np.ones((2, channels, 4, 4), np.float32)
    x[0, 1, 2, 2], x[1, 0, 1, 1], x[1, 2, 3, 3] = -INF, NAN, INF
    layer = nn.Conv2d(channels, channels, 1, weight_init=Tensor(np.ones((channels, channels, 1, 1), np.float32)))
    with np.errstate(invalid="ignore"):
        total = x.sum(1, keepdims=True)
    want = np.broadcast_to(np.where(total < 0, np.float32(0), total), x.shape)
    for call in (lambda t: ops.relu(layer(t)), ms.jit(lambda t: ops.relu(layer(t)))):
        np.testing.assert_array_equal(call(Tensor(x)).asnumpy(), want)


@pytest.mark.parametrize("bad", [NAN, INF, -INF])
def test_large_convolutions_keep_it_where_it_belongs(backend, bad):
    """3x3 filters by transformed tiles: one number that is not finite reaches the 3x3 results around it and no others."""
    size, c = 12, 64
    x = np.random.default_rng(1).standard_normal((2, c, size, size)).astype(np.float32)
    x[1, 5, 6, 7] = bad
    layer = nn.Conv2d(c, c, 3, pad_mode="pad", padding=1, has_bias=True)
    touched = np.zeros((2, 1, size, size), bool)
    touched[1, 0, 5:8, 6:9] = True
    got = ms.jit(lambda t: layer(t))(Tensor(x)).asnumpy()
    np.testing.assert_array_equal(~np.isfinite(got), np.broadcast_to(touched, got.shape))
    got = ms.jit(lambda t: ops.relu(layer(t)))(Tensor(x)).asnumpy()
    assert np.isfinite(got[~np.broadcast_to(touched, got.shape)]).all()
    gradient = ms.jit(ms.grad(lambda t, s: (layer(t) * s).sum()))
    weight = np.ones((2, c, size, size), np.float32)
    weight[1, 5, 6, 7] = bad
    got = gradient(Tensor(np.nan_to_num(x, posinf=0, neginf=0)), Tensor(weight)).asnumpy()
    np.testing.assert_array_equal(~np.isfinite(got), np.broadcast_to(touched, got.shape))


ACTIVATIONS = {
    "relu": ops.relu, "gelu": ops.gelu, "gelu_tanh": lambda x: ops.gelu(x, approximate="tanh"), "tanh": ops.tanh,
    "sigmoid": ops.sigmoid, "silu": ops.silu, "softplus": mint.nn.functional.softplus, "elu": ops.elu, "relu6": ops.relu6,
    "leaky_relu": ops.leaky_relu, "hardswish": ops.hardswish, "hardsigmoid": ops.hardsigmoid, "mish": ops.mish,
    "exp": ops.exp, "log1p": ops.log1p, "erf": ops.erf, "abs": ops.abs, "selu": ops.selu,
}  # fmt: skip


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_agree_between_the_modes(name, backend):
    """Alone and after a product; kernels of different widths and tails."""
    function = ACTIVATIONS[name]
    x = np.resize(SPECIAL.astype(np.float32), (3, 19))
    with np.errstate(all="ignore"):
        want = function(Tensor(x)).asnumpy()
    tiny = 2e-38 if backend != "interp" else 0  # denormals may be flushed
    one = Tensor(np.ones((1, 1), np.float32))
    alone = ms.jit(function)(Tensor(x)).asnumpy()
    column = ms.jit(lambda t, w: function(ops.matmul(t, w)))(Tensor(x.reshape(-1, 1)), one).asnumpy().reshape(x.shape)
    for got in (alone, column):
        np.testing.assert_allclose(got, want, rtol=2e-6, atol=max(tiny, 1e-7))
