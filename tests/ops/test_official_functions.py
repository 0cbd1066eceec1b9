"""Functions that official `mindspore.ops` shows beside its operations: Python's operators by name, and products of tensor parallelism."""

import operator

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, ops

PAIRS = [(6, 3), (np.array([5, 2], np.int32), np.array([1, 2], np.int32))]


def as_argument(value):
    return Tensor(value) if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize("name, function", [("left_shift", operator.lshift), ("right_shift", operator.rshift)])
@pytest.mark.parametrize("pair", PAIRS, ids=["numbers", "arrays"])
def test_shifts(name, function, pair):
    result = getattr(ops, name)(*map(as_argument, pair))
    np.testing.assert_array_equal(np.asarray(result), function(*pair))


def test_a_plus_changes_nothing():
    np.testing.assert_array_equal(ops.uadd(Tensor([-1.0, 2.0])).asnumpy(), [-1.0, 2.0])


def test_membership():
    assert ops.in_(2, [1, 2]) and not ops.in_(3, [1, 2])
    assert ops.not_in_("b", {"a": 1}) and not ops.not_in_("a", {"a": 1})


@pytest.mark.parametrize("index", [1, slice(0, 2), -1])
def test_items(index):
    array = np.arange(3.0, dtype=np.float32)
    np.testing.assert_array_equal(ops.getitem(Tensor(array), index).asnumpy(), array[index])
    changed = array.copy()
    changed[index] = 9
    np.testing.assert_array_equal(ops.setitem(Tensor(array), index, 9.0).asnumpy(), changed)


def test_products_of_tensor_parallelism_by_one_process():
    x, w = np.arange(6.0, dtype=np.float32).reshape(2, 3), np.ones((3, 4), np.float32)
    ms.communication.init()
    group = ms.communication.GlobalComm.WORLD_COMM_GROUP
    product, rows = ops.all_gather_matmul(Tensor(x), Tensor(w), group, 1)
    np.testing.assert_allclose(product.asnumpy(), x @ w)
    np.testing.assert_array_equal(rows.asnumpy(), x)
    assert ops.all_gather_matmul(Tensor(x), Tensor(w), group, 1, gather_output=False)[1].shape == (0, 3)
    summed = ops.matmul_reduce_scatter(Tensor(x), Tensor(w.T), group, 1, trans_x2=True)
    np.testing.assert_allclose(summed.asnumpy(), x @ w)
    with pytest.raises(ValueError, match="'world_size' must be 1"):
        ops.all_gather_matmul(Tensor(x), Tensor(w), group, 2)
    with pytest.raises(ValueError, match="'gather_index' must be left"):
        ops.all_gather_matmul(Tensor(x), Tensor(w), group, 1, gather_index=1)
    with pytest.raises(ValueError, match="'reduce_op' must be 'sum'"):
        ops.matmul_reduce_scatter(Tensor(x), Tensor(w), group, 1, reduce_op="max")


def test_collectives_write_into_their_arguments_and_can_not_be_told_otherwise():
    ops.set_comm_ops_inplace(True)
    with pytest.raises(ValueError, match="can't be switched off"):
        ops.set_comm_ops_inplace(False)
    with pytest.raises(TypeError, match="must be a bool"):
        ops.set_comm_ops_inplace(1)
