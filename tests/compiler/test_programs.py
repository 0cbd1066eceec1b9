"""Small programs in the style of tutorials and model code: compiled and run step by step, they give the same numbers."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops
from mindspore.ops import composite, functional

X = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
Y = Tensor([[1.0], [2.0]])
V = Tensor([1.0, 2.0, 3.0])


def dense(inputs, outputs):
    return nn.Dense(inputs, outputs, weight_init="ones", bias_init="zeros")


def functional_training():
    net, loss_fn = dense(3, 1), nn.MSELoss()
    optimizer = nn.Adam(net.trainable_params(), 0.1)

    def forward(x, y):
        out = net(x)
        return loss_fn(out, y), out

    gradient = ms.value_and_grad(forward, None, optimizer.parameters, has_aux=True)

    @ms.jit
    def step(x, y):
        (loss, _), grads = gradient(x, y)
        optimizer(grads)
        return loss

    return [step(X, Y) for _ in range(3)], net.weight


def a_training_cell_of_ones_own():
    class Step(nn.TrainOneStepCell):
        def construct(self, x, y):
            loss = self.network(x, y)
            sens = functional.fill(loss.dtype, loss.shape, self.sens)
            grads = self.grad(self.network, self.weights)(x, y, sens)
            grads = composite.clip_by_global_norm(grads, 1.0)
            return functional.depend(loss, self.optimizer(grads))

    net = nn.WithLossCell(dense(3, 1), nn.MSELoss())
    step = Step(net, nn.Momentum(net.trainable_params(), 0.1, 0.9)).set_train()
    return [step(X, Y) for _ in range(3)]


def adversaries():
    maker, judge, bce = dense(2, 3), dense(3, 1), nn.BCEWithLogitsLoss()
    for_maker, for_judge = nn.Adam(maker.trainable_params(), 0.1), nn.Adam(judge.trainable_params(), 0.1)
    ones, zeros = ops.ones((2, 1), ms.float32), ops.zeros((2, 1), ms.float32)

    def fool(z):
        return bce(judge(maker(z)), ones)

    def tell(x, z):
        return bce(judge(x), ones) + bce(judge(ops.stop_gradient(maker(z))), zeros)

    fool_gradient = ms.value_and_grad(fool, None, for_maker.parameters)
    tell_gradient = ms.value_and_grad(tell, None, for_judge.parameters)

    @ms.jit
    def step(x, z):
        first, grads = fool_gradient(z)
        for_maker(grads)
        second, grads = tell_gradient(x, z)
        for_judge(grads)
        return first, second

    return [step(X, Tensor([[0.1, 0.2], [0.3, 0.4]])) for _ in range(3)]


def gradients_by_list():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([2.0, 2.0, 2.0]), name="w")

        def construct(self, x, y):
            return (x * y * self.w).sum()

    class Gradient(nn.Cell):
        def __init__(self, net):
            super().__init__()
            self.net = net
            self.operation = ops.GradOperation(get_all=True, get_by_list=True, sens_param=True)
            self.weights = ParameterTuple(net.trainable_params())

        def construct(self, x, y, sens):
            return self.operation(self.net, self.weights)(x, y, sens)

    return Gradient(Net())(V, V + 1, Tensor(0.5))


def a_gradient_of_ones_own():
    class Net(nn.Cell):
        def construct(self, x, y):
            return x * y

        def bprop(self, x, y, out, dout):
            return dout * 10 + out, dout * 20

    return ms.grad(Net(), (0, 1))(V, V + 1)


def recurrent_loop():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.cell = dense(6, 3)

        def construct(self, xs):
            h, out = ops.zeros((xs.shape[1], 3), xs.dtype), []
            for t in range(xs.shape[0]):
                h = ops.tanh(self.cell(ops.cat((xs[t] * 0.1, h), 1)))
                out.append(h)
            return ops.stack(out), h

    return Net()(ops.ones((4, 2, 3), ms.float32))


def attention():
    class Net(nn.Cell):
        def __init__(self, heads=2, size=4):
            super().__init__()
            self.heads, self.scale = heads, (size // heads) ** -0.5
            self.query = dense(size, size)

        def construct(self, x, mask=None):
            b, n, d = x.shape
            q = self.query(x).reshape(b, n, self.heads, -1).transpose(0, 2, 1, 3)
            scores = ops.matmul(q, q.swapaxes(-1, -2)) * self.scale
            if mask is not None:
                scores = ops.masked_fill(scores, mask, -1e4)
            return ops.matmul(ops.softmax(scores, -1), q).transpose(0, 2, 1, 3).reshape((b, n, d))

    x = Tensor(np.linspace(0, 0.3, 24, dtype=np.float32).reshape(2, 3, 4))
    return Net()(x, Tensor(np.triu(np.ones((3, 3), bool), 1))), Net()(x)


def dictionaries_in_and_out():
    class Net(nn.Cell):
        def construct(self, batch, scale=None, **options):
            out = {"y": batch["a"] * 2 + batch["b"][0], "none": None, "text": "txt"}
            if scale is not None:
                out["y"] = out["y"] * scale
            out.update(options)
            return out

    net = Net()
    return net({"a": V, "b": (V, 3)}), net({"a": V, "b": [V, 3]}, scale=3.0, extra=V)


def functions_by_type():
    add = ops.MultitypeFuncGraph("add")

    @add.register("Tensor", "Tensor")
    def _tensors(a, b):
        return a + b

    @add.register("Number", "Tensor")
    def _number(a, b):
        return b * a

    over = ops.HyperMap()

    @ms.jit
    def run(x, y):
        return over(add, (x, y), (y, (y))), over(ops.partial(add, 2), (x, y))

    return run(V, V + 1)


def hooks():
    net = dense(3, 2)
    handles = [
        net.register_forward_pre_hook(lambda cell, inputs: (inputs[0] + 1,)),
        net.register_forward_hook(lambda cell, inputs, out: out * 2),
        net.register_backward_hook(lambda cell, into, out: (into[0] * 3,)),
    ]
    hooked = net(X), ms.grad(lambda x: net(x).sum())(X)
    for handle in handles:
        handle.remove()
    return hooked, net(X), ms.grad(lambda x: net(x).sum())(X)


def inheritance():
    class Base(nn.Cell):
        def __init__(self, k):
            super().__init__()
            self.k = k

        def helper(self, x):
            return x * self.k

        def construct(self, x):
            return self.helper(x)

    class Middle(Base):
        def __init__(self):
            super().__init__(2)

        def helper(self, x):
            return super().helper(x) + 5

    class Last(Middle):
        def construct(self, x):
            return super().construct(x) * 10 + Base.helper(self, x)

    return Last()(V)


def updates_of_parameters():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.calls = Parameter(Tensor(0, ms.int32))
            self.mean = Parameter(ops.zeros((3,), ms.float32), requires_grad=False)

        def construct(self, x):
            ops.assign_add(self.calls, 1)
            self.mean = self.mean * 0.9 + x * 0.1
            self.calls += 1
            return self.mean + self.calls

    net = Net()
    return net(V), net(V), net.calls, net.mean


PROGRAMS = [
    functional_training, a_training_cell_of_ones_own, adversaries, gradients_by_list, a_gradient_of_ones_own, recurrent_loop,
    attention, dictionaries_in_and_out, functions_by_type, hooks, inheritance, updates_of_parameters,
]  # fmt: skip


def same(a, b):
    if isinstance(a, Tensor):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=2e-4, atol=1e-5)
    elif isinstance(a, (tuple, list)):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            same(x, y)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        same(list(a.values()), list(b.values()))
    else:
        assert a == b


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_both_modes_agree(program):
    ms.set_context(mode=ms.PYNATIVE_MODE)
    want = program()
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        got = program()
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    same(got, want)


def test_known_numbers():
    first, second = a_gradient_of_ones_own()
    np.testing.assert_array_equal(first.asnumpy(), [12, 16, 22])
    np.testing.assert_array_equal(second.asnumpy(), [20, 20, 20])
    np.testing.assert_array_equal(inheritance().asnumpy(), [72, 94, 116])
    losses, weight = functional_training()
    x, w, b, target = X.asnumpy().astype(np.float64), np.ones(3), 0.0, Y.asnumpy()[:, 0]
    np.testing.assert_allclose(float(losses[0]), np.mean((x @ w + b - target) ** 2), rtol=1e-5)
    assert float(losses[2]) < float(losses[0]) and weight.shape == (1, 3)


@ms.jit
def _steps(x):
    y = x
    if x < 0:
        y = x * 0 + 1
    elif x < 3:
        y = x * _steps(x - 1)
    elif x < 5:
        y = x * _steps(x - 2)
    else:
        y = _steps(x - 4)
    z = y + 1  # the type of the result is known only here
    return z


def _steps_by_hand(x):
    if x < 0:
        return 2
    return (x * _steps_by_hand(x - 1) if x < 3 else x * _steps_by_hand(x - 2) if x < 5 else _steps_by_hand(x - 4)) + 1


@ms.jit
def _endless(x):
    if x > 0:
        return _endless(x - 1)
    return _endless(x + 1)


def test_recursion_whose_result_is_made_behind_the_branches():
    for value in (2, 3, 9):
        assert int(_steps(Tensor(value, ms.int32))) == _steps_by_hand(value)


def test_recursion_without_end_is_refused():
    with pytest.raises(RuntimeError, match="'_endless' calls itself in an endless loop"):
        _endless(Tensor(3, ms.int32))
