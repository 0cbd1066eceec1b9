"""Bytes, hooks by number and framework attributes of tensors; conversion of whole cells."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops


def test_bytes_and_storage():
    x = Tensor(np.arange(6, dtype=np.int16).reshape(2, 3))
    assert x.get_bytes() == np.arange(6, dtype=np.int16).tobytes() and x.data_ptr() > 0
    np.testing.assert_array_equal(
        Tensor.convert_bytes_to_tensor(x.get_bytes(), (2, 3), ms.int16).asnumpy(), x.asnumpy()
    )
    assert x.storage().nbytes() == x.untyped_storage().size() == 12


def test_index():
    x = np.arange(12).reshape(3, 4)
    found = Tensor(x).index([Tensor([2, 0]), Tensor([1, 3])])
    np.testing.assert_array_equal(found.asnumpy(), x[[2, 0], [1, 3]])
    np.testing.assert_array_equal(Tensor(x).index([None, Tensor([1, 3])]).asnumpy(), x[:, [1, 3]])
    with pytest.raises(TypeError, match="indices"):
        Tensor(x).index(Tensor([1]))


def test_hooks_by_number():
    ms.set_context(mode=ms.PYNATIVE_MODE)

    def loss(x):
        y = 3 * x
        first = y.register_hook(lambda grad: grad * 10)
        second = y.register_hook(lambda grad: grad * 7)
        assert first.handle_id != second.handle_id
        y.remove_hook(first.handle_id)
        y.remove_hook(99)
        return y

    assert ms.grad(loss)(Tensor(2.0)).asnumpy() == 21.0


def test_attributes_of_frameworks():
    x = Tensor([1.0])
    assert x.param_info is None and x.init is None and x.init_flag is False and not x.has_init
    x.init_flag = True
    assert x.init_flag and not Tensor([1.0]).init_flag
    assert Parameter(x, name="p").param_info is not None


def test_cell_to():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(2, 2)
            self.count = Parameter(Tensor([1], ms.int32), name="count")
            self.register_buffer("scale", Tensor([2.0]))

        def construct(self, x):
            return self.dense(x) * self.scale

    net = Net()
    before = net(Tensor([[1.0, 2.0]])).asnumpy()
    weight = net.dense.weight
    assert net.to("CPU", ms.float64) is net
    assert net.dense.weight is weight and weight.dtype == net.scale.dtype == ms.float64
    assert net.count.dtype == ms.int32
    after = net(Tensor([[1.0, 2.0]], ms.float64))
    assert after.dtype == ms.float64
    np.testing.assert_allclose(after.asnumpy(), before, rtol=1e-6)
    assert net.to(Tensor([1.0], ms.float16)).dense.bias.dtype == ms.float16
    with pytest.raises(TypeError, match="floating"):
        net.to(ms.int32)
    with pytest.raises(ValueError, match="nowhere"):
        net.to("nowhere")


def test_one_memory():
    x = Tensor([1.0])
    assert ops.move_to(x, "CPU") is x
    with pytest.raises(ValueError, match="move_to"):
        ops.move_to(x, "disk")
    with pytest.raises(RuntimeError, match="the device in use, 'CPU', but got 'GPU'"):
        x.move_to("GPU")
    gradients = ms.grad(lambda a, b: a * b, (0, 1), return_ids=True)(Tensor(2.0), Tensor(3.0))
    assert ops.get_grad(gradients, 1).asnumpy() == 2
