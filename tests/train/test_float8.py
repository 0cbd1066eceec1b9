"""Products of factors that are rounded to 8-bit floats, against NumPy."""

import ml_dtypes
import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, amp, nn, ops
from mindspore.prims.float8 import Float8Gradient, Float8Rounding

RNG = np.random.default_rng(8)
TYPES = {"e4m3": (ml_dtypes.float8_e4m3fn, 128), "e5m2": (ml_dtypes.float8_e5m2, 16384)}


def numbers(*shape, size=1.0):
    return (RNG.standard_normal(shape) * size).astype(np.float32)


def rounded(x, kind):
    """By logarithms and ml_dtypes."""
    dtype, most = TYPES[kind]
    scale = 2.0 ** np.floor(np.log2(np.abs(x).max())) / most
    return (x / scale).astype(dtype).astype(np.float64) * scale


@pytest.fixture(params=["pynative", "interp", "cpu", "xla"])
def where(request):
    if request.param == "pynative":
        ms.set_context(mode=ms.PYNATIVE_MODE)
    else:
        if request.param == "xla":
            pytest.importorskip("jax")
        ms.set_context(mode=ms.GRAPH_MODE, backend=request.param)
    yield request.param
    ms.set_context(mode=ms.PYNATIVE_MODE, backend="")


@pytest.mark.parametrize("kind", ["e4m3", "e5m2"])
@pytest.mark.parametrize("size", [1e-20, 1.0, 3e7])
def test_rounding(where, kind, size):
    x = numbers(7, 9, size=size)
    found = ms.jit(Float8Rounding(kind))(Tensor(x)).asnumpy()
    np.testing.assert_array_equal(found, rounded(x, kind).astype(np.float32))
    assert np.abs(found - x).max() <= np.abs(x).max() * 2.0 ** (-4 if kind == "e4m3" else -3)


def test_zeros_stay_and_wrong_numbers_are_seen(where):
    round8 = ms.jit(Float8Rounding())
    assert np.array_equal(round8(Tensor(np.zeros((2, 3), np.float32))).asnumpy(), np.zeros((2, 3)))
    for wrong in (np.nan, np.inf, -np.inf):
        assert np.isnan(round8(Tensor(np.array([1.0, wrong], np.float32))).asnumpy()).all()


def test_a_layer_and_its_gradients(where):
    net = nn.SequentialCell(nn.Dense(16, 8, weight_init=Tensor(numbers(8, 16))), nn.Tanh(), nn.Dense(8, 3))
    x, w, out_w = numbers(2, 5, 16), net[0].weight.asnumpy(), net[2].weight.asnumpy()
    assert amp.float8_products(net[0]) is net[0]
    between = rounded(x.reshape(10, 16), "e4m3") @ rounded(w, "e4m3").T + net[0].bias.asnumpy()
    wanted = np.tanh(between) @ out_w.T + net[2].bias.asnumpy()
    np.testing.assert_allclose(net(Tensor(x)).asnumpy(), wanted.reshape(2, 5, 3), rtol=1e-4, atol=1e-5)
    back = (1 - np.tanh(between) ** 2) * out_w.sum(0)
    ours, (dw, db) = ms.grad(lambda a: net(a).sum(), 0, [net[0].weight, net[0].bias])(Tensor(x))
    coarse = rounded(back.astype(np.float32), "e5m2")
    np.testing.assert_allclose(ours.asnumpy().reshape(10, 16), coarse @ rounded(w, "e4m3"), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(dw.asnumpy(), coarse.T @ rounded(x.reshape(10, 16), "e4m3"), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(db.asnumpy(), back.sum(0), rtol=1e-4, atol=1e-5)  # sums are not rounded


def test_training_in_bfloat16_learns(where):
    ms.set_seed(2)
    net = nn.SequentialCell(nn.Dense(16, 32), nn.ReLU(), nn.Dense(32, 32), nn.ReLU(), nn.Dense(32, 1))
    amp.auto_mixed_precision(net, "O2", ms.bfloat16)
    amp.float8_products(net[2])
    x = numbers(64, 16)
    y = Tensor(np.sin(x[:, :1]))
    optimizer = nn.Adam(net.trainable_params(), 1e-2)
    gradient = ms.value_and_grad(lambda a: ((net(a).astype(ms.float32) - y) ** 2).mean(), None, optimizer.parameters)

    @ms.jit
    def step(a):
        loss, grads = gradient(a)
        optimizer(grads)
        return loss

    losses = [float(step(Tensor(x))) for _ in range(30)]
    assert losses[-1] < 0.3 * losses[0]


def test_what_is_refused():
    with pytest.raises(ValueError, match="Dense layers, but ReLU has none"):
        amp.float8_products(nn.ReLU())
    with pytest.raises(TypeError, match="must be a Cell"):
        amp.float8_products(ops.relu)
    for primitive in (Float8Rounding, Float8Gradient):
        with pytest.raises(ValueError, match="'kind' must be one of"):
            primitive("e3m4")
    with pytest.raises(TypeError, match="Float8Rounding"):
        Float8Rounding()(Tensor([1, 2]))
