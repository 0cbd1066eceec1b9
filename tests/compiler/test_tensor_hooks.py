"""Hooks on tensors and Parameters, and `requires_grad`: in both modes, on all backends, against closed forms."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops

X = np.array([0.5, -1.5, 2.0], np.float32)
W = np.array([3.0, 1.0, -2.0], np.float32)


@pytest.fixture(params=["pynative", "interp", "xla", "cpu"], autouse=True)
def mode(request):
    ms.set_context(mode=ms.PYNATIVE_MODE if request.param == "pynative" else ms.GRAPH_MODE)
    ms.set_context(backend="" if request.param == "pynative" else request.param)
    yield request.param
    ms.set_context(mode=ms.PYNATIVE_MODE, backend="")


def close(a, b):
    np.testing.assert_allclose(a.asnumpy(), b, rtol=2e-5, atol=1e-6)


class Scale(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(W), name="w")

    def construct(self, x):
        return x * self.w * self.w


def by_sign(grad):
    if grad[0] > 0:
        return grad * 2
    return grad * 3


def test_hooks_of_an_argument():
    net, x = Scale(), Tensor(X)
    gradient = ms.grad(net)
    close(gradient(x), W**2)
    double = x.register_hook(lambda grad: grad * 2)
    close(gradient(x), 2 * W**2)
    close(gradient(x), 2 * W**2)
    close(gradient(Tensor(X)), W**2)
    plus = x.register_hook(lambda grad: grad + 1)
    close(gradient(x), 2 * W**2 + 1)
    assert len(x.hooks()) == 2
    double.remove()
    close(gradient(x), W**2 + 1)
    plus.remove()
    assert not x.hooks()
    close(gradient(x), W**2)
    x.register_hook(by_sign)
    close(gradient(x), 2 * W**2)
    close(ms.grad(lambda a: -net(a))(x), -3 * W**2)
    x.register_hook(lambda grad: None)
    close(gradient(x), 2 * W**2)


def test_hooks_of_an_argument_by_name_and_through_a_gradient_cell():
    class Gradient(nn.Cell):
        def __init__(self, net):
            super().__init__()
            self.net = net
            self.grad = ops.GradOperation(get_all=True)

        def construct(self, x):
            return self.grad(self.net)(x)

    x = Tensor(X)
    x.register_hook(lambda grad: grad * 5)
    close(Gradient(Scale())(x)[0], 5 * W**2)
    close(ops.GradOperation(get_all=True)(Scale())(x=x)[0], 5 * W**2)


def test_hooks_of_an_argument_of_a_compiled_function():
    """In PyNative mode the compiled part is one operation of the tape; hooks run once."""
    net, x, seen = Scale(), Tensor(X), []
    x.register_hook(lambda grad: seen.append(1) or grad * 2)
    close(ms.grad(ms.jit(net.construct))(x), 2 * W**2)
    assert len(seen) == 1


def test_hooks_of_parameters():
    net = Scale()
    weights = ParameterTuple(net.trainable_params())
    gradient = ms.grad(net, 0, weights)
    of_w = 2 * X * W
    close(gradient(Tensor(X))[1][0], of_w)
    handle = net.w.register_hook(lambda grad: grad * 2)
    close(gradient(Tensor(X))[1][0], 2 * of_w)
    close(gradient(Tensor(X))[0], W**2)
    net.w.register_hook(lambda grad: grad + 1)
    close(gradient(Tensor(X))[1][0], 2 * of_w + 1)
    handle.remove()
    close(gradient(Tensor(X))[1][0], of_w + 1)


def test_hooks_of_parameters_that_the_function_writes_to():
    p = Parameter(Tensor(W), name="p")
    p.register_hook(lambda grad: grad * 10)

    def f(x):
        y = (p * x).sum()
        ops.assign(p, p * p)
        return y + (p * x).sum()

    for _ in range(2):
        close(ms.grad(f, None, p)(Tensor(X)), 10 * 2 * X)


def test_hooks_of_unused_parameters_see_zeros():
    used, unused = Parameter(Tensor(W), name="used"), Parameter(Tensor(W), name="unused")
    unused.register_hook(lambda grad: grad + 7)
    grads = ms.grad(lambda x: x * used, None, ParameterTuple([used, unused]))(Tensor(X))
    close(grads[0], X)
    close(grads[1], np.full(3, 7.0))


def test_hooks_in_between():
    def f(x):
        y = x * x
        y.register_hook(lambda grad: grad * 2)
        z = y * x
        return z + y

    close(ms.grad(f)(Tensor(X)), X**2 + 2 * (X + 1) * 2 * X)


def test_hooks_belong_to_the_value(mode):
    def f(x):
        y = x * x
        y.register_hook(lambda grad: grad * 2)
        y.add_(2.0)
        y.register_hook(lambda grad: grad * 3)
        return y * 5

    close(ms.grad(f)(Tensor(X)), 5 * 3 * 2 * 2 * X)
    if mode == "pynative":
        def g(x):
            y = x * x
            y.register_hook(lambda grad: grad)
            y.add_(2.0)
            assert not y.hooks()
            return y

        close(ms.grad(g)(Tensor(X)), 2 * X)


def test_what_cannot_have_hooks():
    frozen = Parameter(Tensor(W), name="frozen", requires_grad=False)
    with pytest.raises(RuntimeError, match="requires grad is false"):
        frozen.register_hook(print)
    with pytest.raises(TypeError):
        Tensor(X).register_hook("print")
    with pytest.raises(TypeError, match="compiled"):
        nn.ReLU().register_forward_hook(ms.jit(lambda cell, inputs, out: out))


def test_a_graph_cannot_register_hooks_of_parameters(mode):
    if mode == "pynative":
        pytest.skip("it can in PyNative mode")
    p = Parameter(Tensor(W), name="p")

    def f(x):
        p.register_hook(by_sign)
        return x * p

    with pytest.raises(ValueError, match="Register hook for Parameter inside graph is not supported"):
        ms.grad(f)(Tensor(X))


def test_parameters_that_require_no_gradient():
    a, b = Parameter(Tensor(W), name="a", requires_grad=False), Parameter(Tensor(W), name="b")
    gradient = ms.grad(lambda x: x * a * b, 0, ParameterTuple([a, b]))
    of_x, (of_a, of_b) = gradient(Tensor(X))
    close(of_x, W * W)
    close(of_a, np.zeros(3))
    close(of_b, X * W)
    a.requires_grad, b.requires_grad = True, False
    _, (of_a, of_b) = gradient(Tensor(X))
    close(of_a, X * W)
    close(of_b, np.zeros(3))


def test_parameters_that_are_returned_count_as_used():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(W), name="w")

        def construct(self, x):
            return self.w

    grads = ops.GradOperation(get_all=True, get_by_list=True)(Net())(Tensor(X))
    close(grads[0][0], np.zeros(3))
    close(grads[1][0], np.ones(3))


def test_pre_hooks_with_keywords_return_pairs():
    cell = nn.ReLU()
    cell.register_forward_pre_hook(lambda cell, args, kwargs: (args, kwargs), with_kwargs=True)
    close(cell(Tensor(X)), np.maximum(X, 0))
    cell.register_forward_pre_hook(lambda cell, args, kwargs: args, with_kwargs=True)
    with pytest.raises(RuntimeError, match="new_args, new_kwargs"):
        cell(Tensor(X))


def test_stop_gradient_in_place():
    def f(x):
        y = x * x
        ops.stop_gradient_(y)
        return y * x

    close(ms.grad(f)(Tensor(X)), X**2)
    p = Parameter(Tensor(W), name="p")
    close(ms.grad(lambda x: ops.stop_gradient_(p) * x, None, p)(Tensor(X)), np.zeros(3))
    close(ms.grad(lambda x: p * x, None, p)(Tensor(X)), X)


def test_gradients_pass_through_a_function():
    doubled = ops.InsertGradientOf(lambda g: 2 * g)
    assert ms.grad(lambda x: doubled(x) * 3)(Tensor(1.0)).asnumpy() == 6
