"""Layers, containers, initializers and image functions."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict

import numpy as np
import pytest
from nn_harness import in_both_modes, mode

import mindspore as ms
from gradcheck import check_gradients
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common import initializer as init

RNG = np.random.default_rng(0)


def tensor(*shape):
    return Tensor(RNG.normal(size=shape).astype(np.float32))


LAYERS = {
    "Dense": (lambda: nn.Dense(4, 3, activation="relu"), (tensor(2, 5, 4),), (2, 5, 3)),
    "BiDense": (lambda: nn.BiDense(4, 3, 2), (tensor(2, 4), tensor(2, 3)), (2, 2)),
    "Flatten": (lambda: nn.Flatten(), (tensor(2, 3, 4),), (2, 12)),
    "Embedding": (lambda: nn.Embedding(5, 3), (Tensor(np.array([[0, 4]], np.int32)),), (1, 2, 3)),
    "one-hot Embedding": (lambda: nn.Embedding(5, 3, True), (Tensor(np.array([[0, 4]], np.int32)),), (1, 2, 3)),
    "EmbeddingLookup": (lambda: nn.EmbeddingLookup(5, 3, max_norm=0.1), (Tensor(np.array([[0, 4]], np.int32)),), (1, 2, 3)),
    "OneHot": (lambda: nn.OneHot(depth=4), (Tensor(np.array([0, 3], np.int32)),), (2, 4)),
    "Pad": (lambda: nn.Pad(((1, 2), (0, 1)), "SYMMETRIC"), (tensor(3, 3),), (6, 4)),
    "ReflectionPad2d": (lambda: nn.ReflectionPad2d((1, 2, 0, 1)), (tensor(1, 2, 3, 4),), (1, 2, 4, 7)),
    "ConstantPad1d": (lambda: nn.ConstantPad1d((1, -1), 2.0), (tensor(2, 4),), (2, 4)),
    "PixelShuffle": (lambda: nn.PixelShuffle(2), (tensor(1, 8, 2, 3),), (1, 2, 4, 6)),
    "Upsample": (lambda: nn.Upsample(scale_factor=2.0, mode="bilinear"), (tensor(1, 2, 3, 4),), (1, 2, 6, 8)),
    "Unfold": (lambda: nn.Unfold([1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1]), (tensor(1, 2, 3, 4),), (1, 8, 2, 3)),
    "Norm": (lambda: nn.Norm(1), (tensor(2, 4),), (2,)),
    "Moments": (lambda: nn.Moments(0), (tensor(2, 4),), (4,)),
    "MatMul": (lambda: nn.MatMul(False, True), (tensor(2, 4), tensor(3, 4)), (2, 3)),
    "SSIM": (lambda: nn.SSIM(filter_size=3), (tensor(1, 2, 6, 6), tensor(1, 2, 6, 6)), (1,)),
    "PSNR": (lambda: nn.PSNR(), (tensor(1, 2, 6, 6), tensor(1, 2, 6, 6)), (1,)),
    "CentralCrop": (lambda: nn.CentralCrop(0.5), (tensor(3, 8, 6),), (3, 4, 4)),
    "ImageGradients": (lambda: nn.ImageGradients(), (tensor(1, 2, 3, 4),), (1, 2, 3, 4)),
    "Conv2dBnAct": (lambda: nn.Conv2dBnAct(2, 3, 3, has_bn=True, activation="relu"), (tensor(1, 2, 4, 4),), (1, 3, 4, 4)),
    "TimeDistributed": (lambda: nn.TimeDistributed(nn.Dense(4, 2), 1, 0), (tensor(2, 3, 4),), (2, 3, 2)),
    "ChannelShuffle": (lambda: nn.ChannelShuffle(2), (tensor(1, 4, 2, 2),), (1, 4, 2, 2)),
    "InstanceNorm2d": (lambda: nn.InstanceNorm2d(2), (tensor(1, 2, 4, 4),), (1, 2, 4, 4)),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_layer_in_both_modes(name):
    make, inputs, shape = LAYERS[name]
    net = make()
    out = in_both_modes(lambda: net(*inputs))
    assert (out[0] if isinstance(out, list) else out).shape == shape


def test_dense_is_a_matrix_product():
    net, x = nn.Dense(4, 3), RNG.normal(size=(2, 4)).astype(np.float32)
    np.testing.assert_allclose(net(Tensor(x)).asnumpy(), x @ net.weight.asnumpy().T + net.bias.asnumpy(), rtol=1e-5)
    assert np.abs(net.weight.asnumpy()).max() <= 0.5 and np.abs(net.bias.asnumpy()).max() <= 0.5


@pytest.mark.parametrize("value", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_dropout_only_in_training_and_new_every_time(value):
    net, x = nn.Dropout(p=0.3), Tensor(np.ones((100, 100), np.float32))
    with mode(value):
        assert (net(x).asnumpy() == 1).all()
        net.set_train()
        ms.set_seed(5)
        first, second = net(x).asnumpy(), net(x).asnumpy()
        assert abs((first == 0).mean() - 0.3) < 0.03 and abs(first.mean() - 1) < 0.05
        assert set(np.unique(first)) == {0.0, np.float32(1 / 0.7)}
        assert (first != second).any()
        ms.set_seed(5)
        np.testing.assert_array_equal(net(x).asnumpy(), first)


def test_dropout_of_channels_and_gradient():
    ms.set_seed(1)
    out = ops.dropout2d(Tensor(np.ones((8, 8, 3, 3), np.float32)), 0.5).asnumpy().reshape(64, 9)
    assert (out == out[:, :1]).all() and 10 < (out[:, 0] == 0).sum() < 54
    x = Tensor(np.ones(1000, np.float32))
    ms.set_seed(1)
    grad = ms.grad(lambda t: ops.ReduceSum()(ops.dropout(t, 0.5) * 3, ()))(x).asnumpy()
    assert set(np.unique(grad)) == {0.0, 6.0}


@pytest.mark.parametrize("p", [-0.1, 1.5])
def test_bad_dropout(p):
    with pytest.raises(ValueError, match="p"):
        nn.Dropout(p=p)
    with pytest.raises(ValueError, match="p"):
        ops.dropout(tensor(2), p)


# -- containers -----------------------------------------------------------------------------------------------------------
def names(cell):
    return [p.name for p in cell.get_parameters()]


def test_sequential():
    net = nn.SequentialCell(nn.Dense(2, 3), nn.ReLU())
    net.append(nn.Dense(3, 1))
    assert names(net) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert in_both_modes(lambda: net(Tensor(np.ones((4, 2), np.float32)))).shape == (4, 1)
    assert len(net) == 3 and isinstance(net[1], nn.ReLU) and len(net[1:]) == 2
    del net[0]
    assert len(net) == 2
    with pytest.raises(IndexError, match="range"):
        net[5]
    with pytest.raises(TypeError):
        nn.SequentialCell(3)
    ordered = nn.SequentialCell(OrderedDict([("first", nn.Dense(1, 1)), ("act", nn.ReLU())]))
    assert names(ordered) == ["first.weight", "first.bias"]


def test_cell_list_names_follow_positions():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layers = nn.CellList([nn.Dense(2, 2, has_bias=False)])
            self.layers.append(nn.Dense(2, 2, has_bias=False))
            self.layers.insert(0, nn.Dense(2, 2, has_bias=False))
            self.layers.extend([nn.ReLU()])

        def construct(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    net = Net()
    assert names(net) == ["layers.0.weight", "layers.1.weight", "layers.2.weight"]
    assert in_both_modes(lambda: net(Tensor(np.ones((1, 2), np.float32)))).shape == (1, 2)


def test_cell_dict():
    cells = nn.CellDict({"a": nn.Dense(2, 2), "b": nn.ReLU()})
    cells["c"] = nn.Dense(2, 1, has_bias=False)
    assert list(cells.keys()) == ["a", "b", "c"] and "c.weight" in names(cells)
    assert isinstance(cells.pop("b"), nn.ReLU) and len(cells) == 2
    for key, error in (("", KeyError), ("x.y", KeyError), (3, TypeError)):
        with pytest.raises(error):
            cells[key] = nn.ReLU()


# -- initializers ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "given,mean,deviation",
    [
        ("normal", 0, 0.01), (init.Normal(2.0, 1.0), 1, 2), ("uniform", 0, 0.07 / np.sqrt(3)), ("zeros", 0, 0), ("ones", 1, 0),
        (3.5, 3.5, 0), (init.TruncatedNormal(1.0), 0, 0.8796), ("xavier_uniform", 0, np.sqrt(2 / 500)),
        (init.XavierNormal(2.0), 0, 2 * np.sqrt(2 / 500)), ("he_normal", 0, np.sqrt(2 / 300)),
        (init.HeUniform(np.sqrt(5)), 0, np.sqrt(2 / 6 / 300)), (init.VarianceScaling(2.0, "fan_avg"), 0, np.sqrt(2 / 250)),
        (init.VarianceScaling(1.0, "fan_out", "uniform"), 0, np.sqrt(1 / 200)),
    ],
)  # fmt: skip
def test_random_initializers(given, mean, deviation):
    ms.set_seed(0)
    first = init.initializer(given, [200, 300]).asnumpy()
    assert abs(first.mean() - mean) < 0.03 * max(deviation, 1e-3) + 1e-6
    np.testing.assert_allclose(first.std(), deviation, rtol=0.02, atol=1e-6)
    ms.set_seed(0)
    np.testing.assert_array_equal(init.initializer(given, [200, 300]).asnumpy(), first)


def test_structured_initializers():
    q = init.initializer(init.Orthogonal(2.0), (4, 2, 3)).asnumpy().reshape(4, 6)
    np.testing.assert_allclose(q @ q.T, 4 * np.eye(4), atol=1e-5)
    np.testing.assert_array_equal(init.initializer("identity", (2, 3)).asnumpy(), np.eye(2, 3))
    x = RNG.normal(size=(1, 4, 5)).astype(np.float32)
    kernel = init.initializer(init.Dirac(2), (4, 2, 3))
    np.testing.assert_allclose(ops.conv1d(Tensor(x), kernel, None, 1, "same", 0, 1, 2).asnumpy(), x, atol=1e-6)
    sparse = init.initializer(init.Sparse(0.25), (8, 5)).asnumpy()
    assert ((sparse == 0).sum(0) == 2).all()
    far = init.initializer(init.TruncatedNormal(1.0, 0.0, 6.0, 7.0), (1000,)).asnumpy()
    assert (far >= 6).all() and (far <= 7).all()


def test_own_initializer_and_skipping():
    class Ramp(init.Initializer):
        def _initialize(self, arr):
            init._assignment(arr, np.arange(arr.size))

    assert init.initializer(Ramp(), (2, 2)).asnumpy().tolist() == [[0, 1], [2, 3]]


def made_later(seed=7):
    ms.set_seed(seed)
    with nn.utils.no_init_parameters():
        return nn.Dense(3, 2, weight_init="normal", bias_init="uniform")


USES = {
    "asnumpy": lambda net: None,
    "call": lambda net: net(ops.ones((1, 3))),
    "graph": lambda net: ms.jit(net)(ops.ones((1, 3))),
    "gradient": lambda net: ms.grad(lambda x: net(x).sum(), None, net.trainable_params())(ops.ones((1, 3))),
    "optimizer": lambda net: nn.Momentum(net.trainable_params(), 0.0, 0.9)(tuple(net.trainable_params())),
    "init_data": lambda net: [p.init_data() for p in net.get_parameters()],
    "init_parameters_data": lambda net: net.init_parameters_data(),
    "copy": copy.deepcopy,
    "pickle": lambda net: pickle.dumps(net.weight),
    "backwards": lambda net: (net.bias.asnumpy(), net.weight.asnumpy()),
}


@pytest.mark.parametrize("use", USES)
def test_values_that_wait_for_their_first_use(use):
    net, other = made_later(), made_later()
    assert net.weight.has_init and net.bias.has_init and isinstance(net.weight, ms.Parameter)
    assert net.weight.shape == (2, 3) and net.weight.dtype == ms.float32 and net.weight.has_init
    USES[use](net)
    for one, two in zip(net.get_parameters(), other.get_parameters()):
        values = one.asnumpy()
        assert not one.has_init and type(one) is ms.Parameter and len(np.unique(values)) == values.size
        np.testing.assert_array_equal(values, two.asnumpy())
    assert np.abs(made_later(8).weight.asnumpy() - net.weight.asnumpy()).min() > 0


def test_checkpoints_come_before_initial_values():
    class Refused(init.Initializer):
        def _initialize(self, arr):
            raise AssertionError("drawn for nothing")

    with nn.utils.no_init_parameters():
        net = nn.Dense(3, 2, weight_init=Refused(), has_bias=False)
        states = nn.Adam(net.trainable_params())
    assert states.moment1[0].shape == (2, 3)
    ms.load_param_into_net(net, {"weight": ms.Parameter(ops.ones((2, 3)), name="weight")})
    np.testing.assert_array_equal(net(ops.ones((1, 3))).asnumpy(), [[3, 3]])
    assert not net.weight.has_init and copy.deepcopy(net).weight.asnumpy().sum() == 6
    with nn.utils.no_init_parameters():
        net = nn.Dense(3, 2, weight_init=Refused(), has_bias=False)
    net.weight.set_data(ops.ones((2, 3)))
    assert pickle.loads(pickle.dumps(net.weight)).asnumpy().sum() == 6


@pytest.mark.parametrize(
    "call,error,words",
    [
        (lambda: init.initializer("gauss", [2]), ValueError, "gauss"),
        (lambda: init.initializer("normal", [2, -1]), ValueError, "positive"),
        (lambda: init.initializer(None, [2]), TypeError, "init"),
        (lambda: init.initializer(Tensor([1.0, 2.0]), [3]), ValueError, "shape"),
        (lambda: init.initializer("he_normal", [3]), ValueError, "fan"),
        (lambda: nn.Dense(0, 1), ValueError, "in_channels"),
        (lambda: nn.Dense(2, 3, weight_init=Tensor(np.ones((2, 2), np.float32))), ValueError, "weight"),
        (lambda: nn.Dense(2, 3)(tensor(2, 4)), ValueError, "4"),
        (lambda: nn.Embedding(0, 2), ValueError, "vocab_size"),
        (lambda: nn.Pad((1, 2)), TypeError, "paddings"),
    ],
)
def test_bad_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call()


# -- images ---------------------------------------------------------------------------------------------------------------
def test_resizing():
    x = RNG.normal(size=(1, 2, 4, 6))
    up = ops.interpolate(Tensor(x), size=(8, 12), mode="nearest").asnumpy()
    np.testing.assert_array_equal(up, x.repeat(2, 2).repeat(2, 3))
    down = ops.interpolate(Tensor(x), size=(2, 3), mode="area").asnumpy()
    np.testing.assert_allclose(down, x.reshape(1, 2, 2, 2, 3, 2).mean((3, 5)), atol=1e-6)
    line = np.interp(np.linspace(0, 3, 7), np.arange(4), x[0, 0, :, 0])
    found = ops.interpolate(Tensor(x), size=(7, 6), mode="bilinear", align_corners=True).asnumpy()[0, 0, :, 0]
    np.testing.assert_allclose(found, line, atol=1e-6)
    check_gradients(lambda t: ops.interpolate(t, size=(5, 3), mode="bicubic"), x[:, :1, :3, :3], order=1)


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_sampling_on_a_grid_of_its_own_pixels_is_the_identity(padding):
    x = RNG.normal(size=(1, 2, 4, 5))
    for corners in (True, False):
        grid = ops.affine_grid(Tensor(np.array([[[1.0, 0, 0], [0, 1, 0]]])), (1, 2, 4, 5), corners)
        np.testing.assert_allclose(
            ops.grid_sample(Tensor(x), grid, "bilinear", padding, corners).asnumpy(), x, atol=1e-6
        )
    grid = RNG.uniform(-0.9, 0.9, (1, 2, 2, 2))
    check_gradients(lambda a, g: ops.grid_sample(a, g, "bilinear", padding, True), x[:, :1, :3, :3], grid, order=1)


def test_unfolding_and_folding_are_transposes():
    x, options = RNG.normal(size=(1, 2, 5, 4)), ((2, 3), 1, 1, 2)
    columns = ops.unfold(Tensor(x), *options).asnumpy()
    y = RNG.normal(size=columns.shape)
    back = ops.fold(Tensor(y), (5, 4), *options).asnumpy()
    np.testing.assert_allclose((columns * y).sum(), (x * back).sum())


# -- state ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("value", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_assignment(value):
    class Count(nn.Cell):
        def __init__(self):
            super().__init__()
            self.total = Parameter(Tensor(np.zeros(2, np.float32)), name="total")

        def construct(self, x):
            ops.AssignAdd()(self.total, x)
            before = self.total * 1
            ops.AssignSub()(self.total, x * 0.5)
            return before

    with mode(value):
        net = Count()
        assert net(Tensor([1.0, 2.0])).asnumpy().tolist() == [1, 2]
        assert net(Tensor([1.0, 2.0])).asnumpy().tolist() == [1.5, 3]
        assert net.total.asnumpy().tolist() == [1, 2]
    with pytest.raises(ValueError, match="shape"):
        ops.Assign()(net.total, Tensor([1.0, 2.0, 3.0]))
