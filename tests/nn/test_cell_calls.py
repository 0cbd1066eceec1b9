"""What a call of a cell does besides `construct`: deep nesting, the order of hooks."""

import sys
import threading

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn

X = np.array([0.5, -1.5, 2.0], np.float32)


@pytest.fixture(params=["pynative", "interp", "xla", "cpu"])
def mode(request):
    ms.set_context(mode=ms.PYNATIVE_MODE if request.param == "pynative" else ms.GRAPH_MODE)
    ms.set_context(backend="" if request.param == "pynative" else request.param)
    yield request.param
    ms.set_context(mode=ms.PYNATIVE_MODE, backend="")


class PlusOne(nn.Cell):
    def __init__(self, inner):
        super().__init__(auto_prefix=False)
        self.inner = inner

    def construct(self, x):
        return self.inner(x) + 1


def nested(depth):
    net = nn.ReLU()
    for _ in range(depth):
        net = PlusOne(net)
    return net


def test_eager_cells_nest_deeply():
    limit = sys.getrecursionlimit()
    net = nested(1200)
    value, grad = ms.value_and_grad(net)(Tensor(X))
    np.testing.assert_allclose(value.asnumpy(), np.maximum(X, 0) + 1200)
    np.testing.assert_allclose(grad.asnumpy(), X > 0)
    results = []
    thread = threading.Thread(target=lambda: results.append(net(Tensor(X)).asnumpy()))
    thread.start()
    thread.join()
    np.testing.assert_allclose(results[0], value.asnumpy())
    assert sys.getrecursionlimit() == limit


def test_endless_recursion_is_an_error():
    class Endless(nn.Cell):
        def construct(self, x):
            return self(x)

    with pytest.raises(RecursionError):
        Endless()(Tensor(X))
    np.testing.assert_allclose(nested(60)(Tensor(X)).asnumpy(), np.maximum(X, 0) + 60)


def test_backward_hooks_see_the_gradient_of_what_the_caller_gets(mode):
    cell = nn.ReLU()
    cell.register_forward_hook(lambda cell, inputs, output: output * 2)
    cell.register_backward_pre_hook(lambda cell, grad_output: (grad_output[0] + 5,))
    cell.register_backward_hook(lambda cell, grad_input, grad_output: (grad_input[0] + 100 * grad_output[0],))
    grad = ms.grad(lambda x: (3 * cell(x)).sum())(Tensor(X)).asnumpy()
    np.testing.assert_allclose(grad, (3 + 5) * 2 * (X > 0) + 100 * (3 + 5))


@pytest.mark.parametrize("layer", [nn.Dropout1d, nn.Dropout2d, nn.Dropout3d])
def test_channel_dropout_outside_training_takes_any_shape(layer, mode):
    cell = layer(p=0.5)
    for shape in [(3,), (2, 3), (1, 2, 3), (1, 2, 3, 1, 1, 1)]:
        x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        np.testing.assert_array_equal(cell.set_train(False)(Tensor(x)).asnumpy(), x)
    with pytest.raises(ValueError, match="dimensions"):
        cell.set_train()(Tensor(np.ones((2,) * 6, np.float32)))
