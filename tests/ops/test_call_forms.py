"""Forms of calls and results that programs rely on: settings as tensors and mutable numbers, arguments by name, shared gradients."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, mint, nn, ops

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
MODES = pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["graph", "pynative"])


class Apply(nn.Cell):
    """A network of one function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, *args):
        return self.function(*args)


def call(mode, function, *args):
    ms.set_context(mode=mode)
    try:
        return Apply(function)(*args)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


SETTINGS = {
    "ReduceSum": (ops.ReduceSum(), [1], X.sum(1)),
    "ReduceMax of two": (ops.ReduceMax(True), [0, 2], X.max((0, 2), keepdims=True)),
    "ReduceMean by a scalar": (ops.ReduceMean(), 1, X.mean(1)),
    "ExpandDims": (ops.ExpandDims(), 1, X[:, None]),
    "Reshape": (ops.Reshape(), [4, 6], X.reshape(4, 6)),
    "Transpose": (ops.Transpose(), [2, 0, 1], X.transpose(2, 0, 1)),
    "Tile": (ops.Tile(), [1, 2, 1], np.tile(X, (1, 2, 1))),
    "CumSum": (ops.CumSum(), 1, X.cumsum(1)),
}


@MODES
@pytest.mark.parametrize("name", SETTINGS)
def test_settings_as_tensors(mode, name):
    prim, setting, expected = SETTINGS[name]
    np.testing.assert_allclose(call(mode, prim, Tensor(X), Tensor(setting)).asnumpy(), expected, rtol=1e-6)


def _tiled(x, count):
    return ops.tile(x, (1, count, 1))


def _pooled(x, size):
    return ops.AvgPool(size, size)(x)


def test_mutable_sizes_compile_once_per_value():
    ms.set_context(mode=ms.GRAPH_MODE, jit_syntax_level=ms.STRICT)
    try:
        tiled = ms.jit(_tiled)
        for count in (2, 3, 2):
            np.testing.assert_array_equal(tiled(Tensor(X), ms.mutable(count)).asnumpy(), np.tile(X, (1, count, 1)))
        assert len(tiled.entries()) == 2
        pooled = ms.jit(_pooled)(Tensor(X[None, :, :2]), ms.mutable(2)).asnumpy()
        np.testing.assert_allclose(pooled, X[None, :, :2].reshape(1, 2, 1, 2, 2, 2).mean((3, 5)))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE, jit_syntax_level=ms.LAX)


@pytest.mark.parametrize("kept, given", [("float16", "float32"), ("int32", "float32"), ("int32", "int64")])
@pytest.mark.parametrize("prim", [ops.Assign, ops.AssignAdd])
def test_a_parameter_refuses_wider_values(prim, kept, given):
    variable = Parameter(Tensor(np.ones(3), getattr(ms, kept)), name="kept")
    with pytest.raises(TypeError, match="Data type conversion is not supported for a 'Parameter'"):
        prim()(variable, Tensor(np.ones(3), getattr(ms, given)))
    narrower = Parameter(Tensor(np.zeros(3), getattr(ms, given)), name="wide")
    prim()(narrower, Tensor(np.ones(3), getattr(ms, kept)))
    assert narrower.asnumpy().tolist() == [1, 1, 1]


@MODES
def test_positions_count_arguments_given_by_name(mode):
    ms.set_context(mode=mode)
    try:
        dx, dy = ms.grad(lambda x, y: x * y, (0, 1))(Tensor([2.0]), y=Tensor([3.0]))
        assert (dx.asnumpy().item(), dy.asnumpy().item()) == (3.0, 2.0)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_einsum_with_lists_of_labels():
    a, b = X, X.transpose(0, 2, 1).copy()
    out = ops.einsum(Tensor(a), [..., 0, 1], Tensor(b), [..., 1, 2], [..., 0, 2])
    np.testing.assert_allclose(out.asnumpy(), a @ b)
    with pytest.raises(ValueError, match="from 0 to 51"):
        ops.einsum(Tensor(a), [0, 1, 60])


def test_repeat_by_name():
    x = X[0]
    np.testing.assert_array_equal(Tensor(x).repeat(repeats=(2, 1)).asnumpy(), np.tile(x, (2, 1)))
    np.testing.assert_array_equal(Tensor(x).repeat([1, 2, 0], 0).asnumpy(), np.repeat(x, [1, 2, 0], 0))


def test_equal_elements_share_the_gradient_of_a_median():
    x = Tensor([[2.0, 4.0, 1.0], [0.0, 2.0, 9.0]])
    assert mint.median(x).asnumpy() == 2.0
    np.testing.assert_allclose(ms.grad(mint.median)(x).asnumpy(), [[0.5, 0, 0], [0, 0.5, 0]])
    with_nan = Tensor([1.0, np.nan, 3.0])
    assert np.isnan(mint.median(with_nan).asnumpy())


def test_nearest_follows_the_ratio_of_sizes():
    x = np.arange(1, 7, dtype=np.float32).reshape(1, 1, 2, 3)
    out = ops.interpolate(Tensor(x), scale_factor=(1.7, 2.3), mode="nearest").asnumpy()
    rows, columns = np.arange(3) * 2 // 3, np.arange(6) * 3 // 6
    np.testing.assert_array_equal(out[0, 0], x[0, 0][rows][:, columns])


def test_statistics_of_norms_carry_no_gradient():
    x, one = Tensor(X[0]), Tensor(np.ones(4, np.float32))
    assert not ms.grad(lambda x: ops.rms_norm(x, one)[1])(x).asnumpy().any()
    through_sum = ms.grad(lambda x: ops.add_layer_norm(x, x, one, one)[1:])(x).asnumpy()
    np.testing.assert_allclose(through_sum, np.full((3, 4), 2.0))  # the sum alone


@MODES
def test_shortened_rows_get_the_gradient_of_rows(mode):
    ms.set_context(mode=mode)
    try:
        table = Parameter(Tensor(np.arange(12, dtype=np.float32).reshape(4, 3)), name="table")
        index = Tensor([0, 2, 2])
        gradient = ms.grad(lambda: ops.embedding(index, table, None, 1.0), None, table)()
        np.testing.assert_allclose(gradient.asnumpy(), [[1] * 3, [0] * 3, [2] * 3, [0] * 3])
        assert np.linalg.norm(table.asnumpy()[2]) == pytest.approx(1.0, rel=1e-5)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_vmap_takes_a_tuple_for_one_result():
    out = ops.vmap(lambda x: x * 2, in_axes=(0,), out_axes=(1,))(Tensor(X[0]))
    np.testing.assert_array_equal(out.asnumpy(), X[0].T * 2)


# -- values and errors at the edges ---------------------------------------------------------------------------------------
BEYOND = {
    "Gather": lambda x: ops.gather(x, Tensor([9]), 0),
    "GatherD": lambda x: ops.gather_elements(x, 0, Tensor([[9, 0, 0, 0]])),
    "GatherNd": lambda x: ops.gather_nd(x, Tensor([[9]])),
    "TensorScatterUpdate": lambda x: ops.tensor_scatter_elements(x, Tensor([[9]]), Tensor([[1.0]])),
    "getitem": lambda x: x[Tensor([9])],
    "labels": lambda x: ops.cross_entropy(x, Tensor([0, 9, 1], ms.int32)),
}


@pytest.mark.parametrize("name", BEYOND)
@pytest.mark.parametrize("kind", [IndexError, RuntimeError, ValueError])
def test_an_index_beyond_the_data_is_any_of_the_usual_errors(name, kind):
    with pytest.raises(kind, match="9"):
        BEYOND[name](Tensor(X[0]))


@pytest.mark.parametrize("kind", [RuntimeError, ValueError])
def test_what_an_operation_cannot_work_with(kind):
    with pytest.raises(kind, match="repeat"):
        ops.ReduceSum()(Tensor(X), (1, 1))
    with pytest.raises(kind, match="Cholesky"):
        ops.cholesky(Tensor([[1.0, 2.0], [2.0, 1.0]]))


@pytest.mark.parametrize(
    "start, limit, delta, reason", [(0, 5, 0, "zero"), (5, 0, 1, "positive"), (0, 5, -1, "negative")]
)
def test_ranges_that_lead_nowhere(start, limit, delta, reason):
    with pytest.raises(ValueError, match=f"delta cannot be .*{reason}"):
        ops.Range()(start, limit, delta)


@MODES
def test_running_extremes_keep_nan(mode):
    x = np.array([2.0, np.nan, 1.0, np.nan, 3.0], np.float32)
    value, index = call(mode, lambda x: ops.cummin(x, 0), Tensor(x))
    np.testing.assert_array_equal(value.asnumpy(), [2.0] + [np.nan] * 4)
    assert index.asnumpy().tolist() == [0, 1, 1, 3, 3]
    assert index.dtype == ms.int32


@MODES
def test_both_operands_of_a_maximum_that_is_nan_get_the_gradient(mode):
    x, y = Tensor([np.nan, 1.0, 2.0, 3.0]), Tensor([1.0, np.nan, 1.0, 3.0])
    dx, dy = call(mode, ms.grad(ops.maximum, (0, 1)), x, y)
    assert dx.asnumpy().tolist() == [1, 1, 1, 0.5]
    assert dy.asnumpy().tolist() == [1, 1, 0, 0.5]


@MODES
def test_integers_divided_by_primitives_stay_integers(mode):
    x, y = Tensor([-7, 7, 9], ms.int32), Tensor([2, 2, -4], ms.int32)
    out = call(mode, ops.RealDiv(), x, y)
    assert (out.dtype, out.asnumpy().tolist()) == (ms.int32, [-3, 3, -2])
    assert call(mode, ops.Inv(), Tensor([1, 2, -1], ms.int32)).asnumpy().tolist() == [1, 0, -1]
    np.testing.assert_allclose(call(mode, ops.Div(), Tensor([1, 2], ms.uint8), -1).asnumpy(), [-1.0, -2.0])


def test_divergence_ignores_labels_that_are_not_positive():
    x, y = np.array([-1.0, -2.0], np.float32), np.array([-1.0, 0.5], np.float32)
    out = ops.kl_div(Tensor(x), Tensor(y), "none").asnumpy()
    np.testing.assert_allclose(out, [0.0, 0.5 * (np.log(0.5) + 2.0)], rtol=1e-6)


def test_indices_of_distinct_values_have_the_shape_of_the_data():
    data = np.array([[5, 3], [5, 7]], np.int32)
    value, index = ops.unique(Tensor(data))
    np.testing.assert_array_equal(value.asnumpy()[index.asnumpy()], data)


def test_a_lone_diagonal_makes_a_square_matrix():
    x = np.array([1.0, 2.0, 3.0], np.float32)
    for k in (-1, 0, 2):
        out = ops.matrix_diag(Tensor(x), Tensor(k, ms.int32), Tensor(-1, ms.int32), Tensor(-1, ms.int32), Tensor(0.0))
        np.testing.assert_array_equal(out.asnumpy(), np.diag(x, k))


def test_a_tensor_has_its_own_data():
    array = np.zeros(3, np.float32)
    tensor = Tensor(array)
    array[0] = 5
    assert tensor.asnumpy().tolist() == [0, 0, 0]
    shared = Tensor.from_numpy(array)
    array[1] = 6
    assert shared.asnumpy().tolist() == [5, 6, 0]


# -- vmap over Parameters that are written to -------------------------------------------------------------------------------
class MappedUpdate(nn.Cell):
    """One momentum step per column of the weight."""

    def __init__(self, start):
        super().__init__()
        self.weight = Parameter(Tensor(start), name="weight")
        self.moment = Parameter(Tensor(np.zeros_like(start)), name="moment")
        self.step = ops.vmap(ops.ApplyMomentum(), (1, 1, None, 1, None), 0)

    def construct(self, grad):
        return self.step(self.weight, self.moment, 0.1, grad, 0.9)


@MODES
def test_vmap_writes_into_mapped_parameters(mode):
    ms.set_context(mode=mode)
    try:
        start, grad = X[0].copy(), np.arange(12, dtype=np.float32).reshape(3, 4)
        net = MappedUpdate(start)
        out = net(Tensor(grad))
        np.testing.assert_allclose(net.moment.asnumpy(), grad)
        np.testing.assert_allclose(net.weight.asnumpy(), start - 0.1 * grad, rtol=1e-6)
        np.testing.assert_allclose(out.asnumpy(), (start - 0.1 * grad).T, rtol=1e-6)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_vmap_within_vmap_writes_into_mapped_parameters():
    start, more = X[0].copy(), np.arange(12, dtype=np.float32).reshape(3, 4)
    weight = Parameter(Tensor(start), name="weight")
    ops.vmap(ops.vmap(ops.AssignAdd(), (0, 0), 0), (0, 0), 0)(weight, Tensor(more))
    np.testing.assert_allclose(weight.asnumpy(), start + more)


def test_vmap_refuses_to_write_many_values_into_one_parameter():
    shared = Parameter(Tensor([0.0]), name="shared")
    with pytest.raises(RuntimeError, match="map over them too"):
        ops.vmap(lambda x: ops.assign(shared, x), 0, 0)(Tensor([[1.0], [2.0]]))
