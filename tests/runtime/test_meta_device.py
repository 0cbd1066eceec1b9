"""The device "meta": networks and results of operations without values and memory."""

import copy
import pickle
import resource

import numpy as np
import pytest

import mindspore as ms
from mindspore import DeviceCtx, Tensor, mint, nn, ops


def network():
    return nn.SequentialCell(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Dense(8 * 36, 5))


X = Tensor(np.random.default_rng(0).standard_normal((2, 3, 6, 6)).astype(np.float32))


def test_a_network_larger_than_the_memory_is_built():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with DeviceCtx("meta"):
        layers = [nn.Dense(1_000_000, 1_000_000) for _ in range(20)]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KB
    assert layers[3].weight.shape == (1_000_000, 1_000_000) and layers[3].weight.is_meta
    assert not nn.Dense(2, 2).weight.is_meta


def test_operations_and_gradients_infer_shapes_and_types():
    with DeviceCtx("meta"):
        net = network()
        assert net(Tensor(np.ones((2, 3, 6, 6), np.float32))).is_meta
        assert ops.ones((2, 3)).is_meta and mint.rand(3).is_meta
    out = net(X)  # also outside: the weights have no values
    assert out.shape == (2, 5) and out.dtype is ms.float32 and out.device == "meta"
    value, grads = ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())(X)
    assert value.is_meta and [g.shape for g in grads] == [p.shape for p in net.trainable_params()]
    assert all(g.is_meta for g in grads)
    with pytest.raises(ValueError, match="shape"):
        ops.matmul(Tensor(np.ones((2, 3)), ms.float32, device="meta"), Tensor(np.ones((2, 3)), ms.float32))


def test_a_checkpoint_or_to_empty_gives_values(tmp_path):
    right = network()
    ms.save_checkpoint(right, str(tmp_path / "net.ckpt"))
    with DeviceCtx("meta"):
        net = network()
    assert ms.load_param_into_net(net, ms.load_checkpoint(str(tmp_path / "net.ckpt"))) == ([], [])
    np.testing.assert_array_equal(net(X).asnumpy(), right(X).asnumpy())
    with DeviceCtx("meta"):
        net = network()
    weight = net[0].weight
    assert net.to_empty() is net and net[0].weight is weight and not weight.is_meta
    np.testing.assert_array_equal(weight.asnumpy(), np.zeros((8, 3, 3, 3), np.float32))
    assert net.to("meta")[0].weight.is_meta and net[0].weight is weight


@pytest.mark.parametrize("ask", [
    lambda x: x.asnumpy(), lambda x: np.asarray(x), lambda x: x.tolist(), lambda x: x.sum().item(), lambda x: float(x.sum()),
    lambda x: bool(x.sum() > 0), lambda x: x[x > 0], lambda x: ops.unique(x), lambda x: ops.nonzero(x),
    lambda x: ms.jit(lambda t: t + 1)(x), lambda x: x + X.asnumpy().sum() if float(x.max()) else x,
])  # fmt: skip
def test_who_asks_for_values_is_refused(ask):
    with pytest.raises(RuntimeError, match=r"device 'meta' has a shape.*to_empty"):
        ask(Tensor(np.ones((2, 3)), ms.float32, device="meta"))


def test_nothing_without_values_is_stored(tmp_path):
    with DeviceCtx("meta"):
        net = network()
    with pytest.raises(RuntimeError, match="meta"):
        ms.save_checkpoint(net, str(tmp_path / "net.ckpt"))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(RuntimeError, match="to_empty"):
        net.to("CPU")


def test_copies_stay_without_values():
    x = Tensor(np.ones((2, 3)), ms.float32, device="meta")
    twins = [copy.deepcopy(x), copy.copy(x), pickle.loads(pickle.dumps(x)), x.copy(), x.astype(ms.float16)]
    twins += [ops.empty(2, 3, device="meta"), mint.empty_like(x), ms.Parameter(x, name="w").clone(), X[0, 0, :2, :3].to("meta")]
    for twin in twins:
        assert twin.is_meta and twin.shape == (2, 3)
    assert repr(x) == str(x) == "Tensor(shape=[2, 3], dtype=Float32, value=<meta>)"


def test_wrong_devices_are_refused_and_the_one_before_comes_back():
    for wrong in ("moon", 3):
        with pytest.raises(ValueError, match=r"must be one of \['CPU', 'GPU', 'Ascend', 'meta'\]"), DeviceCtx(wrong):
            pass
        with pytest.raises(ValueError, match="'device' must be one of"):
            Tensor([1.0], device=wrong)
    with DeviceCtx("meta"):
        with DeviceCtx("CPU"):
            assert not ops.ones(2).is_meta
        assert ops.ones(2).is_meta
        with pytest.raises(ZeroDivisionError), DeviceCtx("meta"):
            raise ZeroDivisionError
        assert ops.ones(2).is_meta
    assert not ops.ones(2).is_meta
