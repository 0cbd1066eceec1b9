"""`jit` on a Cell or on its class: the network is compiled in PyNative mode too."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops


class Scaled(nn.Cell):
    def __init__(self):
        super().__init__()
        self.scale = ms.Parameter(Tensor([2.0, 3.0]), name="scale")

    def construct(self, x):
        return (x * self.scale).sum()


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_an_instance_is_compiled(mode):
    ms.set_context(mode=mode)
    net = ms.jit(Scaled())
    x = Tensor([1.0, 10.0])
    assert net(x).asnumpy() == 32
    assert net.memory_report()["total_bytes"] >= 0  # only what has been compiled has one
    assert ms.grad(net)(x).tolist() == [2, 3]


@pytest.mark.parametrize("capture_mode", ["ast", "bytecode"])
def test_a_class_is_compiled(capture_mode):
    @ms.jit(capture_mode=capture_mode)
    class Sum(nn.Cell):
        def construct(self, x, y):
            return x + y

    first, second = Sum(), Sum()
    assert isinstance(first, Sum) and first(Tensor([1.0]), Tensor([2.0])).tolist() == [3]
    assert first.memory_report() and second(Tensor([1]), Tensor([2])).tolist() == [3]


def test_other_cells_run_operation_by_operation():
    net = nn.ReLU()
    net(Tensor([1.0]))
    with pytest.raises(RuntimeError, match="has not been compiled"):
        net.memory_report()


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_gradients_of_arguments_given_by_name(mode):
    ms.set_context(mode=mode)

    class Product(nn.Cell):
        def construct(self, **given):
            return given["a"] * given["b"]

    a, b = Tensor(3.0), Tensor(5.0)
    found = ms.grad(Product(), grad_position=(0, 1))(a=a, b=b)
    assert [float(g) for g in found] == [5, 3]
    assert float(ops.GradOperation()(Product())(a=a, b=b)) == 5
    assert float(ms.grad(lambda *, a, b: a * b, grad_position=1)(a=a, b=b)) == 3


@pytest.mark.parametrize("backend", ["interp", "cpu"])
def test_pulling_back_several_times_updates_parameters_once(backend):
    ms.set_context(backend=backend)

    class Counting(nn.Cell):
        def __init__(self):
            super().__init__()
            self.count = ms.Parameter(Tensor(1.0), name="count")

        def construct(self, x):
            out = x * self.count
            self.count = self.count + 1
            return out

    net = Counting()

    @ms.jit
    def pulled(x):
        value, back = ops.vjp(net, x)
        return value, back(ops.ones_like(value)), back(2 * ops.ones_like(value))

    value, once, twice = pulled(Tensor([4.0]))
    assert (value.tolist(), once[0].tolist(), twice[0].tolist()) == ([4], [1], [2])
    assert float(net.count) == 2


@pytest.mark.parametrize("compiled", [False, True])
def test_dense_and_sparse_operands(compiled):
    indices, values = Tensor([[0, 1], [1, 2]]), Tensor([-1.0, 2.0])
    dense = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4))
    there = np.zeros((3, 4), np.float32)
    there[0, 1], there[1, 2] = -1, 2

    def coo(indices, values, dense):
        x = ms.COOTensor(indices, values, (3, 4))
        return dense + x, dense - x, x + dense, x - dense

    def csr(indices, values, dense):
        x = ms.CSRTensor(Tensor([0, 1, 2, 2]), Tensor([1, 2]), values, (3, 4))
        return dense + x, dense - x, x + dense, x - dense

    full = dense.asnumpy()
    for function in (coo, csr):
        found = (ms.jit(function) if compiled else function)(indices, values, dense)
        for got, wanted in zip(found, (full + there, full - there, there + full, there - full)):
            np.testing.assert_allclose(got.asnumpy(), wanted)
    assert ops.dtype(ms.COOTensor(indices, values, (3, 4))) == ms.float32
