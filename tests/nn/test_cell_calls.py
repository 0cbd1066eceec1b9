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


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.parametrize(
    ("result", "words"), [("no", "must return a Tensor or None"), (Tensor([1.0, 2.0, 3.0]), "must keep the shape")]
)
def test_hooks_that_return_no_gradient_are_refused(mode, result, words):
    weight = ms.Parameter(Tensor([1.0, 2.0]), name="w")
    weight.register_hook(lambda grad: result)
    layer = nn.ReLU()
    layer.register_backward_hook(lambda cell, grad_input, grad_output: (result,))
    with ms.context.local_context(mode=mode):
        with pytest.raises(RuntimeError, match=words):
            ms.grad(lambda x: x * weight, None, [weight])(Tensor([3.0, 4.0]))
        with pytest.raises(RuntimeError, match=words):
            ms.grad(layer)(Tensor([3.0, 4.0]))


def test_a_backward_hook_returns_a_gradient_for_each_input():
    layer = nn.ReLU()
    layer.register_backward_hook(lambda cell, grad_input, grad_output: (grad_input[0], grad_input[0]))
    with ms.context.local_context(mode=ms.PYNATIVE_MODE), pytest.raises(TypeError, match="each of 1 tensors, but returned 2"):
        ms.grad(layer)(Tensor([1.0]))


def test_backward_hooks_see_results_in_lists():
    class Pair(nn.Cell):
        def construct(self, x):
            return [x * 2, x * 3]

    seen, layer = [], Pair()
    layer.register_backward_hook(lambda cell, grad_input, grad_output: seen.append([g.item() for g in grad_output]))
    with ms.context.local_context(mode=ms.PYNATIVE_MODE):
        ms.grad(lambda x: layer(x)[0] + 10 * layer(x)[1])(Tensor([1.0]))
    assert sorted(seen) == [[0, 10], [1, 0]]


def test_parameters_in_a_list_have_names_of_their_own():
    class Net(nn.Cell):
        def __init__(self, names):
            super().__init__()
            self.weights = [ms.Parameter(Tensor([1.0]), name=name) for name in names]

    net = Net("ab")
    net.weights = [*net.weights]
    with pytest.raises(ValueError, match="two Parameters called 'a'"):
        Net("aa")
    with pytest.raises(ValueError, match="two Parameters called 'b'"):
        net.more = (ms.Parameter(Tensor([1.0]), name="b"),)


class _Sum(nn.Cell):
    def construct(self, x, y=1):
        return x + y


class _WithoutSelf(nn.Cell):
    def construct(x):
        return x


class _Raises(nn.Cell):
    def construct(self, x):
        return len(3)


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.parametrize(
    ("cell", "args", "kwargs", "words"),
    [
        (_Sum(), (), {}, "_Sum.construct() missing a required argument: 'x'. It is declared as construct(self, x, y=1)."),
        (_Sum(), (1, 2, 3), {}, "_Sum.construct() too many positional arguments. It is declared as construct(self, x, y=1)."),
        (_Sum(), (1,), {"z": 2}, "_Sum.construct() got an unexpected keyword argument 'z'. It is declared as construct(self, x, y=1)."),
        (
            _WithoutSelf(), (1,), {},
            "_WithoutSelf.construct() too many positional arguments. It is declared as construct(x). Should its first parameter be 'self'?",
        ),
        (_Raises(), (1,), {}, "object of type 'int' has no len()"),
    ],
)  # fmt: skip
def test_arguments_that_a_cell_does_not_take(mode, cell, args, kwargs, words):
    with ms.context.local_context(mode=mode), pytest.raises(TypeError) as caught:
        cell(*args, **kwargs)
    assert str(caught.value).split("\n")[0] == words
