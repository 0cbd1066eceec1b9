"""Values made from weights are kept between calls, and never outlive a change of the weights."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from mindspore.backends.cpu import available

if not available():
    pytest.skip("the native backend is not installed", allow_module_level=True)

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore._base import watch
from mindspore.backends.cpu import preparation
from mindspore.utils import dlpack

RNG = np.random.default_rng(11)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


class Net(nn.Cell):
    """Convolution, normalisation with fixed statistics, ReLU, residual."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(16, 16, 3)
        self.norm = nn.BatchNorm2d(16)

    def construct(self, x):
        return ops.relu(self.norm(self.conv(x)) + x)


@pytest.fixture
def mode():
    ms.set_context(backend="cpu")
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_context(backend="")


def make() -> tuple[Net, Tensor]:
    net = Net()
    net.set_train(False)
    for p in net.get_parameters():
        p.set_data(Tensor(np.abs(normal(*p.shape)) + 0.1))
    return net, Tensor(normal(2, 16, 6, 6))


def expected(net: Net, x: Tensor) -> np.ndarray:
    """The same by the primitives' own rules, from copies of the weights."""
    w, gamma, beta, mean, var = (
        np.array(p._data)
        for p in (net.conv.weight, net.norm.gamma, net.norm.beta, net.norm.moving_mean, net.norm.moving_variance)
    )
    y = ops.Conv2D(16, 3, pad_mode="same").eval(np, x._data, w)
    row = (1, -1, 1, 1)
    y = (y - mean.reshape(row)) / np.sqrt(var.reshape(row) + net.norm.eps) * gamma.reshape(row) + beta.reshape(row)
    return np.maximum(y + x._data, 0)


def agree(net: Net, x: Tensor) -> None:
    for _ in range(2):
        np.testing.assert_allclose(np.array(net(x)._data), expected(net, x), rtol=2e-4, atol=2e-4)


def kept(net: Net) -> bool:
    """Whether the last call left something to be used by the next one."""
    (entry,) = net._compiled_function().entries()
    (instance,) = entry.executable._free
    return instance.kept._watch is not None and instance.kept._watch.intact


def test_what_comes_from_weights_is_prepared_once(mode):
    net, x = make()
    agree(net, x)
    assert kept(net)
    (entry,) = net._compiled_function().entries()
    steps = [s.name.split(" ")[0] for s in entry.executable.blueprint.steps]
    rare = ("check", "again:")  # whether there is NaN, and what is then done
    assert [s for s in steps if s != "reorder" and not s.startswith(rare)] == ["conv+bias+add+relu"]
    assert steps.count("reorder") <= 2  # of the image on its way in and out, not of the filters
    (instance,) = entry.executable._free
    before = instance.kept._watch
    agree(net, x)
    assert instance.kept._watch is before


def _in_place(net):
    net.conv.weight.asnumpy()[...] *= 2


def _through_a_view(net):
    net.conv.weight.reshape(-1).asnumpy()[5:9] = 7


def _through_an_alias(net):
    net.conv.weight.value().numpy()[0] = -1


def _through_numpy(net):
    np.asarray(net.norm.gamma)[3] = 9


def _set_data(net):
    net.conv.weight.set_data(Tensor(normal(16, 16, 3, 3)))


def _assign(net):
    ops.assign(net.norm.moving_mean, Tensor(normal(16)))


def _assign_value(net):
    net.norm.beta.assign_value(Tensor(normal(16)))


def _arithmetic(net):
    net.conv.weight += 0.5


def _item(net):
    net.norm.moving_variance[2] = 40.0


def _load(net):
    other, _ = make()
    ms.load_param_into_net(net, {p.name: p for p in other.get_parameters()})


def _swap(net):
    other = Parameter(Tensor(np.zeros((16, 16, 3, 3), np.float32)), name=net.conv.weight.name)
    ms.swap_tensors(net.conv.weight, other.set_data(Tensor(normal(16, 16, 3, 3))))


CHANGES = [
    _in_place, _through_a_view, _through_an_alias, _through_numpy, _set_data, _assign, _assign_value, _arithmetic, _item,
    _load, _swap,
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda f: f.__name__)
def test_a_change_is_seen(mode, change):
    net, x = make()
    agree(net, x)
    before = np.array(net(x)._data)
    for _ in range(2):
        change(net)
        agree(net, x)
    assert not np.allclose(before, net(x)._data)
    assert kept(net)


def test_memory_given_to_others_is_not_relied_on(mode):
    net, x = make()
    agree(net, x)
    capsule = dlpack.to_dlpack(net.conv.weight)
    assert not kept(net)
    agree(net, x)
    assert not kept(net)
    del capsule
    agree(net, x)
    assert kept(net)


def test_arrays_that_others_hold_are_not_relied_on(mode):
    net, x = make()
    held = net.conv.weight.asnumpy()
    for value in (1.0, 2.0, 3.0):
        held[...] = value
        agree(net, x)
        assert not kept(net)
    view = held[1:3]
    del held
    view[...] = 4.0
    agree(net, x)
    assert not kept(net)
    view[...] = 5.0
    del view
    gc.collect()
    agree(net, x)
    assert kept(net)


def test_memory_of_the_user(mode):
    """A parameter made of somebody's array shares its memory."""
    net, x = make()
    mine = normal(16, 16, 3, 3)
    shared = Tensor.from_numpy(mine)
    net.conv.weight.assign_value(shared)
    agree(net, x)
    mine[...] = normal(16, 16, 3, 3)
    agree(net, x)
    if np.shares_memory(mine, net.conv.weight._data):
        assert not kept(net)


def test_training_between_evaluations(mode):
    net, x = make()
    optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9)
    gradient = ms.value_and_grad(lambda a: net(a).sum(), None, optimizer.parameters)

    @ms.jit
    def step(a):
        loss, grads = gradient(a)
        optimizer(grads)
        return loss

    for _ in range(3):
        net.set_train(False)
        agree(net, x)
        net.set_train(True)
        for _ in range(2):
            step(x)
    net.set_train(False)
    agree(net, x)


def test_eager_training_between_calls_of_a_function(mode):
    ms.set_context(mode=ms.PYNATIVE_MODE)
    net, x = make()
    run = ms.jit(lambda a: net(a))
    optimizer = nn.SGD(net.trainable_params(), 0.01)
    gradient = ms.value_and_grad(lambda a: net(a).sum(), None, optimizer.parameters)
    for _ in range(3):
        for _ in range(2):
            np.testing.assert_allclose(np.array(run(x)._data), expected(net, x), rtol=2e-4, atol=2e-4)
        optimizer(gradient(x)[1])


def test_one_parameter_in_two_networks(mode):
    net, x = make()
    other, _ = make()
    other.conv.weight = net.conv.weight
    for _ in range(2):
        agree(net, x)
        agree(other, x)
        net.conv.weight.asnumpy()[...] += 1


def test_nothing_is_watched_for_ever(mode):
    gc.collect()
    before = len(watch.WATCHED)
    net, x = make()
    agree(net, x)
    assert len(watch.WATCHED) > before
    del net
    gc.collect()
    assert len(watch.WATCHED) == before


def test_without_fusion(mode):
    ms.set_context(graph_kernel_flags="--opt_level=0")
    try:
        net, x = make()
        agree(net, x)
        _in_place(net)
        agree(net, x)
    finally:
        ms.set_context(graph_kernel_flags="")


def test_the_memory_of_many_graphs_is_limited(mode, monkeypatch):
    net, _ = make()
    inputs = [Tensor(normal(n, 16, 6, 6)) for n in (1, 2, 3, 4)]
    agree(net, inputs[0])
    (entry,) = net._compiled_function().entries()
    (instance,) = entry.executable._free
    for reference in list(preparation._FILLED.values()):  # what other tests have left
        if (found := reference()) is not None:
            found.give_back()
    monkeypatch.setattr(preparation, "LIMIT", 2 * instance.kept.nbytes)
    for _ in range(2):
        for x in inputs:
            agree(net, x)
    valid = [e.executable._free[0].kept._watch is not None for e in net._compiled_function().entries()]
    assert valid == [False, False, True, True]


def _product_net(transposed: bool, dtype: ms.dtype) -> tuple[nn.Cell, Parameter]:
    class Product(nn.Cell):
        def __init__(self):
            super().__init__()
            shape = (70, 100) if transposed else (100, 70)
            self.weight = Parameter(Tensor(normal(*shape)), name="weight")
            self.bias = Parameter(Tensor(normal(70)), name="bias")
            self.product = ops.MatMul(transpose_b=transposed)

        def construct(self, x):
            y = self.product(ops.cast(x, dtype), ops.cast(self.weight, dtype))
            return ops.relu(ops.cast(y, ms.float32) + self.bias)

    net = Product()
    net.set_train(False)
    return net, net.weight


@pytest.mark.parametrize("dtype", [ms.float32, ms.bfloat16, ms.float16])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("rows", [1, 7, 200])
def test_weights_of_products_of_few_rows_are_laid_out_once(mode, rows, transposed, dtype):
    net, weight = _product_net(transposed, dtype)
    x = normal(rows, 100)
    tolerance = {ms.float32: 1e-4, ms.float16: 2e-2, ms.bfloat16: 2e-1}[dtype]
    for _ in range(2):
        w = normal(*weight.shape)
        weight.set_data(Tensor(w))
        wanted = np.maximum(x @ (w.T if transposed else w) + np.array(net.bias._data), 0)
        for _ in range(2):
            np.testing.assert_allclose(net(Tensor(x)).asnumpy(), wanted, atol=tolerance * 10, rtol=tolerance)
    if rows < 100:
        assert kept(net)


def test_products_lay_out_no_more_than_there_is_room_for(mode, monkeypatch):
    monkeypatch.setattr(preparation, "LIMIT", 0)
    net, weight = _product_net(False, ms.float32)
    x = normal(3, 100)
    wanted = np.maximum(x @ np.array(weight._data) + np.array(net.bias._data), 0)
    np.testing.assert_allclose(net(Tensor(x)).asnumpy(), wanted, rtol=1e-4, atol=1e-4)
    (entry,) = net._compiled_function().entries()
    assert not entry.executable.blueprint.preparation
