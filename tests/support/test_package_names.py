"""Private names of official MindSpore that public packages import: what stands behind them."""

import numpy as np
import pytest
from scipy import stats

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.ops import auto_generate as gen
from mindspore.ops.operations import _grad_ops, _inner_ops, _quant_ops

RNG = np.random.default_rng(5)
MODES = [ms.PYNATIVE_MODE, ms.GRAPH_MODE]


def tensor(*shape):
    return Tensor(RNG.normal(size=shape).astype(np.float32))


@pytest.fixture(params=MODES, ids=["pynative", "graph"])
def mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=request.param)
    yield request.param
    ms.set_context(mode=before)


# -- layers: what subclasses read ------------------------------------------------------------------------------------------
class OwnDense(nn.Dense):
    def construct(self, x):
        shape = self.shape_op(x)
        flat = self.reshape(x, (-1, shape[-1]))
        out = self.bias_add(self.matmul(flat, self.weight), self.bias)
        return self.reshape(out, (*shape[:-1], self.out_channels))


class OwnConv(nn.Conv2d):
    def construct(self, x):
        return self.bias_add(self.conv2d(x, self.weight), self.bias)


class OwnNorm(nn.GroupNorm):
    def construct(self, x):
        return self._cal_output(x)


@pytest.mark.parametrize(
    ("own", "plain", "args", "shape"),
    [
        (OwnDense, nn.Dense, (3, 4), (2, 5, 3)),
        (OwnConv, lambda *a: nn.Conv2d(*a, has_bias=True), (3, 4, 3), (1, 3, 6, 6)),
        (OwnNorm, nn.GroupNorm, (2, 4), (2, 4, 3, 3)),
    ],
    ids=["Dense", "Conv2d", "GroupNorm"],
)
def test_subclasses_use_the_parts_of_a_layer(own, plain, args, shape, mode):
    mine = own(*args, has_bias=True) if own is OwnConv else own(*args)
    other = plain(*args)
    ms.load_param_into_net(other, {p.name: p for p in mine.get_parameters()})
    x = tensor(*shape)
    assert np.allclose(mine(x).asnumpy(), other(x).asnumpy(), atol=1e-5)


class OwnConv1d(nn.layer.conv._Conv):
    """A convolution of one axis on the base of all of them."""

    def __init__(self, channels, kernel):
        super().__init__(channels, channels, (kernel,), (1, 1), "valid", 0, (1, 1), 1, True, None, None)
        self.conv2d = ops.Conv2D(channels, (1, kernel), pad_mode="valid")

    def construct(self, x):
        out = self.conv2d(x.expand_dims(2), self.weight.expand_dims(2))
        return self.bias_add(out, self.bias).squeeze(2)


def test_convolution_base_takes_kernels_of_one_axis(mode):
    own, x = OwnConv1d(3, 4), tensor(2, 3, 9)
    assert own.weight.shape == (3, 3, 4)
    weight, bias = own.weight.asnumpy(), own.bias.asnumpy()
    windows = np.lib.stride_tricks.sliding_window_view(x.asnumpy(), 4, 2)
    assert np.allclose(own(x).asnumpy(), np.einsum("nclk,ock->nol", windows, weight) + bias[:, None], atol=1e-5)


@pytest.mark.parametrize(("kernel", "stride", "dilation"), [(3, 1, 1), (3, 2, 1), (2, 3, 1), (3, 2, 2)])
def test_lengths_of_transposed_convolutions(kernel, stride, dilation):
    from mindspore.nn.layer.conv import _deconv_output_length as length

    for pad_mode, padding in (("valid", 0), ("same", 0), ("pad", 1)):
        layer = nn.Conv2dTranspose(1, 1, kernel, stride, pad_mode, padding, dilation=dilation)
        flags = [pad_mode == known for known in ("valid", "same", "pad")]
        found = length(*flags, 7, kernel, stride, dilation, 2 * padding)
        assert layer(tensor(1, 1, 7, 7)).shape[-1] == found, pad_mode


def test_random_numbers_fill_arrays():
    from mindspore._c_expression import _random_normal, _random_uniform, _truncated_normal

    from mindspore.common.initializer import _init_truncated_normal

    for fill, args, low, high, deviation in (
        (_random_normal, (1.0, 2.0), -20, 20, 2.0),
        (_random_uniform, (-1.0, 3.0), -1, 3, 4 / 12**0.5),
        (_truncated_normal, (-1.0, 1.0, 0.0, 2.0), -1, 1, stats.truncnorm.std(-0.5, 0.5, scale=2.0)),
    ):
        first, again, other = (np.empty((100, 50), np.float32) for _ in range(3))
        fill(3, first, *args)
        fill(3, again, *args)
        fill(4, other, *args)
        assert np.array_equal(first, again) and not np.array_equal(first, other)
        assert first.min() >= low and first.max() <= high and abs(first.std() - deviation) < 0.05 * deviation
    drawn = _init_truncated_normal(0.3, 0.7, 0.5, 0.1, (30, 40))
    assert drawn.shape == (30, 40) and drawn.dtype == np.float32 and abs(drawn - 0.5).max() <= 0.2001


def test_attention_of_one_head(mode):
    from mindspore.ops.function.nn_func import _scaled_dot_product_attention as attend

    q, k, v = tensor(2, 4, 8), tensor(2, 4, 8), tensor(2, 4, 6)
    scores = q.asnumpy() @ k.asnumpy().swapaxes(1, 2) / 8**0.5
    scores[:, *np.triu_indices(4, 1)] = -np.inf
    expected = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    out, weights = attend(q, k, v, None, 0.0, True, False, ms.float32)
    assert np.allclose(weights.asnumpy(), expected, atol=1e-5)
    assert np.allclose(out.asnumpy(), expected @ v.asnumpy(), atol=1e-5)
    masked = attend(q, k, v, Tensor(np.triu(np.full((4, 4), -1e9, np.float32), 1)), 0.0, False, True, ms.float32)
    assert np.allclose(masked[1].asnumpy(), expected, atol=1e-5)


def test_names_around_tensors():
    from mindspore._c_expression import pyboost_empty, pyboost_softmax
    from mindspore.common._stub_tensor import StubTensor
    from mindspore.nn.wrap.loss_scale import _grad_scale
    from mindspore.ops.function.random_func import _get_seed, _set_prim_op_user_data

    from mindspore.common.tensor import _TensorMeta
    from mindspore.nn.loss.loss import _check_label_dtype

    assert not isinstance(tensor(2), StubTensor)  # or programs would ask it for its value

    class Whole(_TensorMeta):
        def __instancecheck__(cls, value):
            return isinstance(value, Tensor) and value.dtype == ms.int64

    class LongTensor(Tensor, metaclass=Whole):
        pass

    assert isinstance(Tensor([1]), LongTensor) and not isinstance(Tensor([1.0]), LongTensor)
    assert pyboost_empty([(2, 3), ms.float16, None]).shape == (2, 3)
    x = tensor(3, 4)
    assert np.allclose(pyboost_softmax(ops.Softmax(), [x]).asnumpy(), ops.softmax(x).asnumpy())
    assert gen.pyboost_inner_prim.softmax_impl(x).shape == (3, 4)
    assert np.allclose(_grad_scale(Tensor(4.0), x).asnumpy(), x.asnumpy() / 4)
    assert _set_prim_op_user_data(ops.Dropout(0.5), "random_cache", False).random_cache is False
    assert _get_seed(None, "dropout")[1] == 0 and _get_seed(7, "dropout")[1] == 7
    with pytest.raises(TypeError, match="int32 or int64"):
        _check_label_dtype(ms.float32, "Loss")


def test_adam_applies_its_rule_to_lists():
    ours, reference = (Parameter(Tensor([1.0, -2.0]), name="w") for _ in range(2))
    gradient = Tensor([0.5, 0.25])
    nn.Adam([reference], 0.1)((gradient,))
    adam = nn.Adam([ours], 0.1)
    adam.before_updates()
    adam._apply_adam([ours], adam.beta1_power, adam.beta2_power, adam.moment1, adam.moment2, Tensor(0.1), (gradient,))
    assert np.allclose(ours.asnumpy(), reference.asnumpy())


def test_other_members():
    net = nn.Dense(2, 1)
    net._update_local_parameters_name("tower.")
    assert net.weight.name == "tower.weight"
    step = nn.TrainOneStepWithLossScaleCell(
        nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1), Tensor(1.0)
    )
    assert step.use_graceful_exit is False

    class Own(Tensor):
        pass

    made = Own._make_subclass(Tensor([1.0, 2.0]))
    assert type(made) is Own and made.asnumpy().tolist() == [1.0, 2.0]


# -- gradients of single operations ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "function"), [("Abs", np.sign), ("Atan", lambda x: 1 / (1 + x * x))])
def test_gradients_by_input(name, function, mode):
    x, dy = tensor(4), tensor(4)
    got = getattr(_grad_ops, f"{name}Grad")()(x, dy)
    assert np.allclose(got.asnumpy(), function(x.asnumpy()) * dy.asnumpy(), atol=1e-5)


@pytest.mark.parametrize(
    ("name", "forward", "derivative"),
    [
        ("Sigmoid", lambda x: 1 / (1 + np.exp(-x)), lambda x: np.exp(-x) / (1 + np.exp(-x)) ** 2),
        ("Tanh", np.tanh, lambda x: 1 / np.cosh(x) ** 2),
        ("Sqrt", np.sqrt, lambda x: 0.5 / np.sqrt(x)),
        ("Rsqrt", lambda x: x**-0.5, lambda x: -0.5 * x**-1.5),
        ("Reciprocal", lambda x: 1 / x, lambda x: -1 / x**2),
    ],
)
def test_gradients_by_result(name, forward, derivative):
    x = RNG.uniform(0.5, 2, 5).astype(np.float32)
    dy = tensor(5)
    got = getattr(_grad_ops, f"{name}Grad")()(Tensor(forward(x)), dy)
    assert np.allclose(got.asnumpy(), derivative(x) * dy.asnumpy(), atol=1e-5)


def test_layer_norm_gradient():
    x, dy, gamma = tensor(3, 4), tensor(3, 4), tensor(4)
    dx, dgamma, dbeta = _grad_ops.LayerNormGrad(1, 1)(x, dy, None, None, gamma)
    a, g = x.asnumpy().astype(np.float64), dy.asnumpy().astype(np.float64)
    std = a.std(1, keepdims=True)
    unit = (a - a.mean(1, keepdims=True)) / std
    inner = g * gamma.asnumpy()
    expected = (inner - inner.mean(1, keepdims=True) - unit * (inner * unit).mean(1, keepdims=True)) / std
    assert np.allclose(dx.asnumpy(), expected, atol=1e-4)
    assert np.allclose(dgamma.asnumpy(), (g * unit).sum(0), atol=1e-4)
    assert np.allclose(dbeta.asnumpy(), g.sum(0), atol=1e-5)


def test_gradients_of_sampling_and_slicing():
    x, grid = tensor(1, 1, 4, 4), Tensor(RNG.uniform(-0.9, 0.9, (1, 2, 2, 2)).astype(np.float32))
    dx, dgrid = _grad_ops.GridSampler2DGrad()(ops.ones((1, 1, 2, 2)), x, grid)
    assert dgrid.shape == grid.shape
    linear = (dx.asnumpy() * x.asnumpy()).sum()  # sampling is linear in x
    assert np.isclose(linear, ops.grid_sample(x, grid).sum().item(), atol=1e-5)
    got = _grad_ops.StridedSliceGrad()(Tensor([1.0, 2.0]), (5,), (1,), (5,), (2,))
    assert got.asnumpy().tolist() == [0, 1, 0, 2, 0]


# -- generated classes -----------------------------------------------------------------------------------------------------
def test_slices_and_updates_in_place(mode):
    x = tensor(3, 6)
    assert np.array_equal(gen.SliceExt()(x, 1, 1, 5, 2).asnumpy(), x.asnumpy()[:, 1:5:2])
    assert np.allclose(gen.FmodScalar()(Tensor([-7.0, 7.0]), 3.0).asnumpy(), [-1, 1])


def test_classes_that_update_in_place():
    x = Tensor([1.0, 2.0])
    gen.InplaceAddExt()(x, Tensor([10.0, 10.0]))
    assert x.asnumpy().tolist() == [11, 12]
    gen.InplaceCopy()(x, Tensor([5.0, 6.0]))
    assert x.asnumpy().tolist() == [5, 6]
    with pytest.raises(AttributeError):
        gen.InplaceNoSuchThing  # noqa: B018


def test_adamw_follows_its_formula():
    w, m, v = (Parameter(Tensor(value), name=n) for n, value in (("w", [1.0]), ("m", [0.0]), ("v", [0.0])))
    gen.AdamW()(w, m, v, v, Tensor([2.0]), Tensor(1.0), 0.1, 0.9, 0.99, 0.5, 1e-8)
    assert np.allclose(w.asnumpy(), 1 - 0.1 * 0.5 - 0.1, atol=1e-6)  # the first step has length lr
    assert np.allclose((m.asnumpy(), v.asnumpy()), [[0.2], [0.04]], atol=1e-6)


def test_cache_rows(mode):
    class Cache(nn.Cell):
        def __init__(self):
            super().__init__()
            self.rows, self.store = Parameter(ops.zeros((2, 1, 4, 2)), name="rows"), gen.KVCacheScatterUpdate()

        def construct(self, start, updates):
            return self.store(self.rows, start, updates, -2, "update")

    cache = Cache()
    assert cache(Tensor([1, 3]), ops.ones((2, 1, 1, 2))).asnumpy().sum(-1)[:, 0].tolist() == [[0, 2, 0, 0], [0, 0, 0, 2]]
    cache(Tensor([0, 2]), Tensor(np.arange(8, dtype=np.float32).reshape(2, 1, 2, 2)))
    assert cache.rows.asnumpy().sum(-1)[:, 0].tolist() == [[1, 5, 0, 0], [0, 0, 9, 13]]
    with pytest.raises(ValueError, match="every 'indices' must be in \\[0, 2\\], but got 3"):
        cache(Tensor([0, 3]), ops.ones((2, 1, 2, 2)))


def test_seeded_operations_repeat_themselves():
    from mindspore.ops.auto_generate import gen_ops_prim as prims

    seed, offset, other = Tensor(3), Tensor(4), Tensor(5)
    first, mask = prims.dropout_ext_op(ops.ones(200), 0.25, seed, offset)
    again, _ = prims.dropout_ext_op(ops.ones(200), 0.25, seed, offset)
    assert np.array_equal(first.asnumpy(), again.asnumpy())
    assert not np.array_equal(first.asnumpy(), prims.dropout_ext_op(ops.ones(200), 0.25, seed, other)[0].asnumpy())
    assert np.allclose(first.asnumpy()[mask.asnumpy()], 1 / 0.75) and (first.asnumpy()[~mask.asnumpy()] == 0).all()
    assert 0.5 < mask.asnumpy().mean() < 0.95
    drawn = prims.randint_op(2, 5, (50,), seed, offset, ms.int64).asnumpy()
    assert drawn.min() >= 2 and drawn.max() < 5
    assert prims.multinomial_ext_op(Tensor([0.0, 1.0]), 3, True, seed, offset).tolist() == [1, 1, 1]
    x = prims.inplace_uniform_op(ops.zeros(50), 2.0, 3.0, seed, offset).asnumpy()
    assert x.min() >= 2 and x.max() <= 3
    assert abs(prims.inplace_normal_op(ops.zeros(500), 5.0, 0.1, seed, offset).asnumpy().mean() - 5) < 0.1
    assert prims.bernoulli_ext_op(Tensor([0.0, 1.0]), seed, offset).tolist() == [0, 1]


# -- quantisation ----------------------------------------------------------------------------------------------------------
def test_rounding_to_a_grid_and_its_gradient(mode):
    low, high = Tensor([0.0]), Tensor([255.0])
    fake = _quant_ops.FakeQuantPerLayer()
    x = Tensor([-3.0, 0.4, 7.6, 300.0])
    assert np.allclose(fake(x, low, high).asnumpy(), [0, 0, 8, 255])
    assert ms.grad(lambda x: fake(x, low, high).sum())(x).asnumpy().tolist() == [0, 1, 1, 0]
    each = _quant_ops.FakeQuantPerChannel(channel_axis=1)
    out = each(Tensor([[7.6, 7.6]]), Tensor([0.0, 0.0]), Tensor([255.0, 510.0])).asnumpy()
    assert np.allclose(out, [[8, 8]])
    learned = _quant_ops.FakeLearnedScaleQuantPerLayer()
    assert np.allclose(learned(Tensor([0.3, 9.0]), Tensor([2.0]), Tensor([2.0])).asnumpy(), [0, 2])


def test_ranges_seen():
    watch = _quant_ops.MinMaxUpdatePerLayer(ema=True, ema_decay=0.5)
    low, high = watch(Tensor([-4.0, 2.0]), Tensor([0.0]), Tensor([4.0]))
    assert (low.item(), high.item()) == (-2.0, 3.0)
    low, high = _quant_ops.MinMaxUpdatePerChannel(channel_axis=0)(
        Tensor([[1.0, 2.0], [-3.0, 0.0]]), Tensor([0.0, 0.0]), Tensor([0.0, 0.0])
    )
    assert low.tolist() == [0, -3] and high.tolist() == [2, 0]


def test_folding_gives_what_batch_normalisation_gives():
    x, gamma, beta = tensor(8, 3, 4, 4), tensor(3), tensor(3)
    mean, variance = Parameter(ops.zeros(3), name="mean"), Parameter(ops.ones(3), name="variance")
    batch_mean, batch_std, _, running_std = _quant_ops.BatchNormFold()(x, mean, variance, Tensor(0))
    folded = x * (gamma / running_std).reshape((1, 3, 1, 1))
    got = _quant_ops.BatchNormFold2()(folded, beta, gamma, batch_std, batch_mean, running_std, None, None)
    a = x.asnumpy()
    unit = (a - a.mean((0, 2, 3), keepdims=True)) / np.sqrt(a.var((0, 2, 3), keepdims=True) + 1e-5)
    expected = unit * gamma.asnumpy().reshape(1, 3, 1, 1) + beta.asnumpy().reshape(1, 3, 1, 1)
    assert np.allclose(got.asnumpy(), expected, atol=1e-4)
    corrected = _quant_ops.CorrectionMul(0)(ops.ones((3, 2)), batch_std, running_std)
    assert np.allclose(corrected.asnumpy()[:, 0], (batch_std / running_std).asnumpy())


def test_integers():
    assert _inner_ops.Quant(2.0, 1.0)(Tensor([0.2, 100.0])).tolist() == [1, 127]
    assert _inner_ops.Dequant()(Tensor([3], ms.int32), Tensor([0.5])).tolist() == [1.5]
    x = tensor(4, 8)
    q, scale = gen.DynamicQuantExt()(x)
    assert np.allclose(q.asnumpy() * scale.asnumpy()[:, None], x.asnumpy(), atol=scale.asnumpy().max() / 2 + 1e-6)
    a, b = (Tensor(RNG.integers(-9, 9, s).astype(np.int8)) for s in ((2, 3), (4, 3)))
    product = a.asnumpy().astype(int) @ b.asnumpy().astype(int).T
    out = gen.QuantBatchMatmul(transpose_x2=True, dtype=ms.float32)(a, b, Tensor([0.5]))
    assert np.allclose(out.asnumpy(), product * 0.5)
    w = gen.WeightQuantBatchMatmul(transpose_weight=True)(tensor(2, 3) * 0 + 1.0, b, Tensor([2.0]))
    assert np.allclose(w.asnumpy(), 2.0 * b.asnumpy().astype(int).sum(1)[None].repeat(2, 0))


def test_what_needs_an_ascend_says_so():
    with pytest.raises(RuntimeError, match="Ascend"):
        _inner_ops.TopKRouter()(tensor(2, 2), 1, 1)


# -- training helpers ------------------------------------------------------------------------------------------------------
def test_checkpoints(tmp_path):
    from mindspore.train import serialization as s

    path = str(tmp_path / "a.ckpt")
    s._exec_save(path, {"w": ([2], "Float32", Tensor([1.0, 2.0]))})
    (value,) = s._parse_ckpt_proto(path).value
    assert value.tag == "w" and np.frombuffer(value.tensor.tensor_content, np.float32).tolist() == [1, 2]
    net = nn.SequentialCell(nn.Dense(2, 1))
    loaded = {"weight": Parameter(Tensor([[3.0, 4.0]])), "bias": Parameter(Tensor([5.0]))}
    assert s._load_dismatch_prefix_params(net, loaded, ["0.weight", "0.bias"], False) == []
    assert net[0].weight.asnumpy().tolist() == [[3, 4]]
    assert s._load_dismatch_prefix_params(net, {"other": loaded["bias"]}, ["0.bias"], False) == ["0.bias"]


def test_small_helpers():
    from mindspore.nn.wrap.loss_scale import _grad_overflow
    from mindspore.train._utils import check_value_type

    from mindspore.common.api import _pynative_executor
    from mindspore.common.parameter import _get_unique_parameter_key
    from mindspore.train.model import _transfer_tensor_to_tuple

    x = Tensor([2.0])
    got = _pynative_executor.grad(lambda x: x * x, ops.GradOperation(), None, None, x)
    assert got.tolist() == [4.0]
    assert _pynative_executor.run_op_async(ops.Neg(), "Neg", (x,)).tolist() == [-2.0]
    assert _get_unique_parameter_key() != _get_unique_parameter_key()
    assert bool(_grad_overflow(Tensor([1.0, np.inf]))) and not bool(_grad_overflow(x))
    assert check_value_type("n", 3, [int]) == 3 and _transfer_tensor_to_tuple(x) == (x,)
    with pytest.raises(TypeError, match="'n' must be one of"):
        check_value_type("n", True, [int])
    part = nn.wrap.cell_wrapper._MicroBatch(2)(1, Tensor([1.0, 2.0, 3.0, 4.0]), Tensor([5.0, 6.0]))
    assert [p.tolist() for p in part] == [[3, 4], [6]]
    assert ms.context._get_mode() == ms.get_context("mode")


def test_instances_of_generated_operations():
    from mindspore.ops.auto_generate.gen_ops_prim import (
        inplace_copy_op,
        select_ext_view_op,
        slice_ext_view_op,
        split_tensor_view_op,
    )

    x = Tensor(np.arange(6.0, dtype=np.float32).reshape(2, 3))
    assert slice_ext_view_op(x, 1, 0, 2, 1).tolist() == [[0, 1], [3, 4]]
    assert select_ext_view_op(x, 0, 1).tolist() == [3, 4, 5]
    assert [part.tolist() for part in split_tensor_view_op(x, 2, 1)] == [[[0, 1], [3, 4]], [[2], [5]]]
    assert inplace_copy_op(x, Tensor(1.0)).tolist() == x.tolist() == [[1] * 3] * 2


def test_values_for_the_next_summary():
    from mindspore._c_expression import security

    from mindspore.train.summary.summary_record import _cache_summary_tensor_data, _get_summary_tensor_data

    assert not security.enable_security()
    _get_summary_tensor_data()
    _cache_summary_tensor_data(
        [{"name": "loss[:Scalar]", "data": Tensor(2.0)}, {"name": "w[:Tensor]", "data": Tensor([1])}]
    )
    found = _get_summary_tensor_data()
    assert sorted(found) == ["loss[:Scalar]", "w[:Tensor]"] and found["loss[:Scalar]"].asnumpy() == 2
    with pytest.raises(ValueError, match=r"\[:Scalar\].*'loss'"):
        _cache_summary_tensor_data([{"name": "loss", "data": Tensor(2.0)}])
