"""Quantisation-aware layers against their definition."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.common.dtype import QuantDtype

RNG = np.random.default_rng(0)


def fake_quant(x, low, high, qmin, qmax):
    scale = (high - low) / (qmax - qmin)
    zero = np.clip(np.rint(qmin - low / scale), qmin, qmax)
    return (np.clip(np.rint(x / scale + zero), qmin, qmax) - zero) * scale


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize("dtype,qmin,qmax", [(QuantDtype.INT8, -128, 127), (QuantDtype.UINT4, 0, 15)])
def test_rounding(mode, dtype, qmin, qmax):
    ms.set_context(mode=mode)
    x = RNG.uniform(-2, 3, (4, 5)).astype(np.float32)
    fake = nn.FakeQuantWithMinMaxObserver(min_init=-1.0, max_init=2.0, quant_dtype=dtype).set_train(False)
    np.testing.assert_allclose(fake(Tensor(x)).asnumpy(), fake_quant(x, -1.0, 2.0, qmin, qmax), atol=1e-5)
    slope = ms.grad(lambda v: fake(v).sum())(Tensor(x)).asnumpy()
    scale = 3 / (qmax - qmin)
    zero = np.rint(qmin + 1 / scale)
    inside = (x > (qmin - zero) * scale) & (x < (qmax - zero) * scale)
    np.testing.assert_array_equal(slope, inside)


def test_ranges_are_observed():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    x = np.array([[-1.0, 4.0], [0.5, 2.0]], np.float32)
    fake = nn.FakeQuantWithMinMaxObserver(symmetric=True, per_channel=True, channel_axis=0, num_channels=2).set_train()
    fake(Tensor(x))
    assert fake.minq.asnumpy().tolist() == [-1, 0] and fake.maxq.asnumpy().tolist() == [4, 2]
    follow = nn.FakeQuantWithMinMaxObserver(-6, 6, ema=True, ema_decay=0.75).set_train()
    follow(Tensor(x))
    np.testing.assert_allclose([follow.minq.asnumpy()[0], follow.maxq.asnumpy()[0]], [-4.75, 5.5])
    waiting = nn.FakeQuantWithMinMaxObserver(quant_delay=1, quant_dtype=QuantDtype.INT2).set_train()
    np.testing.assert_array_equal(waiting(Tensor(x)).asnumpy(), x)
    assert not np.array_equal(waiting(Tensor(x)).asnumpy(), x)


def test_layers_of_eight_bits_are_close_to_their_originals():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    x = Tensor(RNG.normal(size=(2, 3, 6, 6)), ms.float32)
    conv = nn.Conv2dQuant(3, 4, 3, has_bias=True).set_train()
    plain = ops.conv2d(x, conv.weight, conv.bias, 1, "same")
    np.testing.assert_allclose(conv(x).asnumpy(), plain.asnumpy(), atol=0.02)
    folded = nn.Conv2dBnFoldQuant(3, 4, 3).set_train()
    out = folded(x).asnumpy()
    np.testing.assert_allclose(out.mean((0, 2, 3)), 0, atol=0.05)
    np.testing.assert_allclose(out.std((0, 2, 3)), 1, atol=0.05)
    assert np.abs(folded.batchnorm.moving_mean.asnumpy()).sum() > 0 and folded.step.asnumpy() == 1
    exact = nn.Conv2dBnFoldQuant(3, 4, 3, fake=False)
    exact.conv.weight.set_data(folded.conv.weight)
    exact.set_train(False)
    np.testing.assert_allclose(exact(x).asnumpy(), exact.conv(x).asnumpy() / np.sqrt(1 + 1e-5), rtol=1e-4, atol=1e-6)
    dense = nn.DenseQuant(6, 2, activation="relu").set_train()
    assert (dense(x).asnumpy() >= 0).all()
    both = nn.TensorAddQuant().set_train()(x, x * 0.5).asnumpy()
    np.testing.assert_allclose(both, 1.5 * x.asnumpy(), atol=0.05)  # the running range still is about ±6
    act = nn.ActQuant(nn.ReLU()).set_train()
    np.testing.assert_allclose(act(x).asnumpy(), np.maximum(x.asnumpy(), 0), atol=0.05)


def test_a_network_of_them_trains():
    ms.set_context(mode=ms.GRAPH_MODE)
    net = nn.SequentialCell(nn.Conv2dBnFoldQuant(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.DenseQuant(64, 2))
    x = Tensor(RNG.normal(size=(8, 1, 4, 4)), ms.float32)
    label = Tensor((x.asnumpy().mean((1, 2, 3)) > 0).astype(np.int32))
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), nn.Adam(net.trainable_params(), 0.1))
    step.set_train()
    losses = [float(step(x, label)) for _ in range(30)]
    assert losses[-1] < losses[0] / 2
    ms.set_context(mode=ms.PYNATIVE_MODE)


def test_bad_ranges():
    with pytest.raises(ValueError, match="greater than 'min_init'"):
        nn.FakeQuantWithMinMaxObserver(1, 0)
    with pytest.raises(ValueError, match="must hold 1 or 3"):
        nn.FakeQuantWithMinMaxObserver([0, 0], 1, per_channel=True, num_channels=3)


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_the_numbers_of_a_grid_travel_with_its_values(mode):
    ms.set_context(mode=mode)
    kind = ms.ops.operations._quant_ops.FakeQuantParam
    grid = kind.linear_quant_param(QuantDtype.INT8, 0.5, 3)
    assert (grid.attrs[kind.attr_key_linear_quant_scale], grid.attrs[kind.attr_key_linear_quant_zero_point]) == ([0.5], [3])
    assert grid.attrs["quant_algo_name"] == kind.attr_value_linear_quant_algo_name and not grid.attrs["is_per_channel"]
    x = Tensor(RNG.normal(size=(2, 3)), ms.float32)

    class Net(nn.Cell):
        def construct(self, x):
            return grid(x * 2)

    np.testing.assert_array_equal(Net()(x).asnumpy(), x.asnumpy() * 2)
    own = kind(QuantDtype.INT8, "mine", True, levels=[1, 2])
    assert own.attrs == {"quant_algo_name": "mine", "is_per_channel": True, "quant_dtype": 7, "levels": [1, 2]}
    with pytest.raises(TypeError, match="'scale'"):
        kind.linear_quant_param(QuantDtype.INT8, "a", 3)
    ms.set_context(mode=ms.PYNATIVE_MODE)
