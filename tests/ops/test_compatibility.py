"""Operators by name, buffers as tensors, choices, rows, and collectives that write into tensors (in one process)."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, ops


def test_buffers():
    data = bytearray(np.arange(4, dtype=np.int32).tobytes())
    x = ms.frombuffer(data, ms.int32)
    assert x.tolist() == [0, 1, 2, 3] and x.shape == (4,)
    data[0] = 9
    assert x.tolist()[0] == 9  # the memory is shared
    assert ms.frombuffer(data, ms.int32, 2, 4).tolist() == [1, 2]
    for bad in ({"count": 0}, {"count": -2}, {"offset": 16}, {"offset": 2}, {"count": 5}):
        with pytest.raises(RuntimeError, match="frombuffer"):
            ms.frombuffer(data, ms.int32, **bad)


def test_operators():
    x, y = Tensor([7.0, 5.0]), Tensor([2.0, 3.0])
    for function, wanted in (
        (ops.augassign_add, [9, 8]),
        (ops.augassign_sub, [5, 2]),
        (ops.augassign_mul, [14, 15]),
        (ops.augassign_div, [3.5, 5 / 3]),
        (ops.augassign_floordiv, [3, 1]),
        (ops.augassign_mod, [1, 2]),
    ):
        np.testing.assert_allclose(function(x, y).asnumpy(), wanted, rtol=1e-6)
    assert ops.hyper_add([1, (2,)], [10, (20,)]) == [11, (22,)]
    assert ops.reshape_(x, (2, 1)).shape == (2, 1) and ops.array_to_scalar(Tensor([3])) == 3


@pytest.mark.parametrize("a, b", [((4, 1, 3), (2, 3)), ((2, 3), (2, 3)), ((), (5,)), ((1,), (1,)), ((3, 1), (1, 1, 4))])
def test_axes_of_broadcast_gradients(a, b):
    x, y = np.ones(a), np.ones(b)
    for shape, axes in zip((a, b), ops.broadcast_gradient_args(a, b)):
        assert np.ones((x + y).shape).sum(axes).size == np.ones(shape).size


def test_choices_and_rows():
    assert ops.switch(True, 1, 2) == 1 and ops.switch(Tensor(False), Tensor(1), Tensor(2)).item() == 2
    assert ops.switch_layer(0, (abs, round))(-2) == 2
    rows = ops.make_row_tensor_inner(Tensor([2, 0]), Tensor([[5.0], [7.0]]), (3, 1))
    np.testing.assert_array_equal(ops.row_tensor_add(rows, ops.ones((3, 1))).asnumpy(), [[8], [1], [6]])


def test_collectives_of_one():
    x, out = Tensor([[1.0, 2.0]]), Tensor(np.zeros((1, 2), np.float32))
    assert ops.gather_into_tensor(out, x) is None
    np.testing.assert_array_equal(out.asnumpy(), x.asnumpy())
    ops.scatter_tensor(out, x * 3)
    np.testing.assert_array_equal(out.asnumpy(), [[3, 6]])
    flat = Tensor(np.zeros(2, np.float32))
    ops.all_to_all_v_c(flat, Tensor([4.0, 5.0]), [2])
    np.testing.assert_array_equal(flat.asnumpy(), [4, 5])
    with pytest.raises(TypeError, match="scatter_tensor"):
        ops.scatter_tensor(out, [1.0])
