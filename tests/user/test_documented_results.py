"""What calls return, as the documentation of MindSpore shows it: order, kind and text of results."""

import numpy as np
import pytest

import mindspore as ms
import mindspore.numpy as mnp
from mindspore import Parameter, Tensor, nn, ops


@pytest.fixture(params=[ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def _mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=request.param)
    yield
    ms.set_context(mode=before)


@pytest.mark.usefixtures("_mode")
def test_one_auxiliary_result_of_grad_comes_in_a_tuple():
    def cube(x):
        return (x**3).sum(), x + 1

    gradient, (aux,) = ms.grad(cube, has_aux=True)(Tensor([1.0, 2.0]))
    assert gradient.tolist() == [3.0, 12.0] and aux.tolist() == [2.0, 3.0]
    (value, aux), gradient = ms.value_and_grad(cube, has_aux=True)(Tensor([1.0, 2.0]))
    assert value == 9.0 and aux.tolist() == [2.0, 3.0]
    assert ms.vjp(cube, Tensor([1.0]), has_aux=True)[2].tolist() == [2.0]


def test_extremes_of_a_tensor_give_values_then_indices():
    x = Tensor([[4.0, 9.0, 2.0], [7.0, 1.0, 5.0]])
    values, indices = x.argmax_with_value(axis=1)
    assert values.tolist() == [9.0, 7.0] and indices.tolist() == [1, 0]
    values, indices = x.argmin_with_value(axis=0, keep_dims=True)
    assert values.tolist() == [[4.0, 1.0, 2.0]] and indices.tolist() == [[0, 1, 0]]
    assert x.argmax_with_value(axis=None)[0] == 9.0
    indices, values = ops.ArgMaxWithValue(axis=1)(x)  # the primitive has them the other way round
    assert indices.tolist() == [1, 0] and values.tolist() == [9.0, 7.0]


@pytest.mark.parametrize("name", ["scatter_add", "scatter_update", "scatter_max", "scatter_nd_sub"])
def test_scatters_into_parameters_return_tensors(name):
    parameter = Parameter(Tensor(np.full((3, 2), 4.0, np.float32)), name="table")
    index = Tensor([[1]] if "nd" in name else [1], ms.int32)
    out = getattr(ops, name)(parameter, index, Tensor([[6.0, 3.0]]))
    assert not isinstance(out, Parameter)
    assert out.asnumpy().tolist() == parameter.asnumpy().tolist() != np.full((3, 2), 4.0).tolist()
    assert str(out) == str(parameter.asnumpy())


def test_sparse_tensors_show_their_parts():
    coo = ms.COOTensor(Tensor([[0, 2], [1, 0]], ms.int32), Tensor([7, 8], ms.int32), (2, 3))
    assert str(coo) == (
        "COOTensor(shape=[2, 3], dtype=Int32, indices=Tensor(shape=[2, 2], dtype=Int32, value=\n[[0 2]\n [1 0]]), "
        "values=Tensor(shape=[2], dtype=Int32, value=[7 8]))"
    )
    assert "indptr=Tensor(shape=[3], dtype=Int32, value=[0 1 2])" in str(coo.to_csr())


def test_numpy_functions_of_integers():
    assert mnp.invert(mnp.array([5, 0], dtype=mnp.uint8)).tolist() == [250, 255]
    assert mnp.bitwise_not(mnp.array([5])).tolist() == [-6]
    assert mnp.invert(mnp.array([True, False])).tolist() == [False, True]
    np.testing.assert_allclose(
        mnp.arctan2(mnp.array([3, -3]), mnp.array([4, 4])).asnumpy(), np.arctan2([3, -3], 4), 1e-6
    )
    rows, columns = grid = mnp.indices((2, 2))
    assert isinstance(grid, list) and rows.tolist() == [[0, 0], [1, 1]] and columns.tolist() == [[0, 1], [0, 1]]


def test_batched_products_take_single_matrices():
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    np.testing.assert_allclose(ops.bmm(Tensor(a), Tensor(b)).asnumpy(), a @ b)
    np.testing.assert_allclose(ops.baddbmm(Tensor(np.ones((2, 4))), Tensor(a), Tensor(b)).asnumpy(), 1 + a @ b)


def test_older_argument_names_of_tensor_methods():
    assert Tensor([7, -7]).remainder(divisor=4).tolist() == [3, 1]
    assert Tensor([1, 2]).expand_as(x=Tensor(np.zeros((2, 2)))).tolist() == [[1, 2], [1, 2]]


def test_small_regions_keep_their_size_when_they_include_their_end():
    ramp = Tensor(np.arange(64, dtype=np.float32).reshape(1, 1, 8, 8))  # the value at (y, x) is 8 y + x
    box = Tensor([[0.0, 3.0, 2.0, 3.0, 2.0]])  # half a cell wide at a scale of one half
    assert ops.ROIAlign(1, 1, 0.5, 2)(ramp, box).asnumpy().item() == pytest.approx(8 * 1.25 + 1.75)
    assert ops.ROIAlign(1, 1, 0.5, 2, 0)(ramp, box).asnumpy().item() == pytest.approx(8 * 1.5 + 2.0)


def test_suppression_numbers_boxes_in_their_new_order():
    boxes = Tensor([[0.0, 0.0, 2.0, 2.0, 0.3], [5.0, 5.0, 9.0, 9.0, 0.8], [5.0, 5.0, 9.0, 8.5, 0.6]])
    ordered, places, kept = ops.NMSWithMask(0.5)(boxes)
    np.testing.assert_allclose(ordered.asnumpy()[:, 4], [0.8, 0.6, 0.3], rtol=1e-6)
    assert places.tolist() == [0, 1, 2] and places.dtype is ms.int32 and kept.tolist() == [True, False, True]


def test_candidate_samplers_take_classes_beyond_the_range():
    classes = Tensor([[2], [11]])
    _, expected, _ = ops.uniform_candidate_sampler(classes, 1, 4, False, 8)
    assert expected.tolist() == [[0.5], [0.5]]
    _, expected, _ = ops.log_uniform_candidate_sampler(classes, 1, 4, False, 8)
    np.testing.assert_allclose(expected.asnumpy(), 4 * np.log([[4 / 3], [13 / 12]]) / np.log(9), rtol=1e-5)


def test_initialising_a_network_names_its_parameters():
    net = nn.Dense(2, 3)
    assert net.init_parameters_data() == {p: p for p in net.get_parameters()}


def test_the_median_of_everything_has_no_position():
    value, index = ops.Median(global_median=True)(Tensor([[8, 3], [5, 1]], ms.int32))
    assert (value, index) == (3, 0)


def test_joined_sparse_tensors_are_in_order():
    x = ms.COOTensor(Tensor([[0, 1], [1, 0]], ms.int64), Tensor([5.0, 6.0]), (2, 2))
    joined = ops.coo_concat((x, x), 1)
    assert joined.indices.tolist() == [[0, 1], [0, 3], [1, 0], [1, 2]] and joined.values.tolist() == [
        5.0,
        5.0,
        6.0,
        6.0,
    ]


def test_adding_into_a_parameter_by_index_returns_a_tensor():
    parameter = Parameter(Tensor([[1.0, 2.0], [3.0, 4.0]]), name="table")
    out = ops.InplaceIndexAdd(axis=0)(parameter, Tensor([1], ms.int32), Tensor([[1.0, 1.0]]))
    assert not isinstance(out, Parameter) and out.tolist() == parameter.tolist() == [[1.0, 2.0], [4.0, 5.0]]


def test_cepstra_are_single_precision():
    wave = np.random.default_rng(0).random((2, 400))
    assert ms.dataset.audio.MFCC(4000, 8, 2)(wave).dtype == ms.dataset.audio.LFCC(n_lfcc=4)(wave).dtype == np.float32


@pytest.mark.usefixtures("_mode")
def test_suppression_is_greedy():
    rng = np.random.default_rng(3)
    boxes = rng.uniform(0, 60, (150, 5)).astype(np.float32)
    boxes[:, 2:4] = boxes[:, :2] + rng.uniform(5, 40, (150, 2))
    ordered, _, kept = ms.jit(lambda x: ops.NMSWithMask(0.3)(x))(Tensor(boxes))
    rows = boxes[np.argsort(-boxes[:, 4], kind="stable")].astype(np.float64)
    np.testing.assert_array_equal(ordered.asnumpy(), rows.astype(np.float32))
    survivors = []
    for row in rows:
        low = np.array([np.maximum(row[:2], other[:2]) for other in survivors]).reshape(-1, 2)
        high = np.array([np.minimum(row[2:4], other[2:4]) for other in survivors]).reshape(-1, 2)
        shared = np.prod(np.maximum(high - low, 0), axis=1)
        areas = np.array([np.prod(other[2:4] - other[:2]) for other in survivors])
        if not np.any(shared / (areas + np.prod(row[2:4] - row[:2]) - shared) > 0.3):
            survivors.append(row)
    np.testing.assert_array_equal(ordered.asnumpy()[kept.asnumpy()], np.array(survivors, np.float32))


def test_methods_by_dim_and_by_axis():
    x = Tensor([[1.0, float("nan")], [3.0, 4.0]])
    assert x.nansum(dim=0, keepdim=True).tolist() == x.nansum(axis=0, keepdims=True).tolist() == [[4.0, 4.0]]
    assert x.nansum(1, dtype=ms.float64).tolist() == [1.0, 7.0]
    y = Tensor([[1, 2], [3, 4]])
    repeated = [[1, 2], [3, 4], [3, 4]]
    assert y.repeat_interleave(Tensor([1, 2]), dim=0, output_size=3).tolist() == repeated
    assert y.repeat_interleave(Tensor([1, 2]), 0).tolist() == repeated
    assert y.repeat_interleave(2).tolist() == [1, 1, 2, 2, 3, 3, 4, 4]
