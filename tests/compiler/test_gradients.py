"""Derivatives through the public API, in both modes and on both reference backends, against closed forms."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops

X = np.array([0.5, -1.5, 2.0], np.float32)


@pytest.fixture(params=["pynative", "interp", "xla", "cpu"], autouse=True)
def mode(request):
    ms.set_context(mode=ms.PYNATIVE_MODE if request.param == "pynative" else ms.GRAPH_MODE)
    ms.set_context(backend="" if request.param == "pynative" else request.param)
    yield request.param
    ms.set_context(mode=ms.PYNATIVE_MODE, backend="")


def close(a, b):
    np.testing.assert_allclose(a.asnumpy() if isinstance(a, Tensor) else a, b, rtol=2e-5, atol=1e-6)


def cube(x):
    return x * x * x


def test_orders():
    close(ms.grad(cube)(Tensor(X)), 3 * X**2)
    close(ms.grad(ms.grad(cube))(Tensor(X)), 6 * X)
    close(ms.grad(ms.grad(ms.grad(cube)))(Tensor(X)), 6 * np.ones(3))
    close(ms.grad(ms.grad(ms.grad(ms.grad(cube))))(Tensor(X)), np.zeros(3))


def test_positions_weights_aux_and_ids():
    w = Parameter(Tensor(X), name="w")
    b = Parameter(Tensor(2.0), name="b")

    def f(x, y):
        return (x * w + y * b).sum(), x + 1

    x, y = Tensor(X + 1), Tensor(X + 2)
    grads, (aux,) = ms.grad(f, (0, 1), has_aux=True)(x, y)
    close(grads[0], X)
    close(grads[1], np.full(3, 2.0))
    close(aux, X + 2)
    (value, _), (inputs, weights) = ms.value_and_grad(f, 0, ParameterTuple([w, b]), has_aux=True)(x, y)
    close(value, ((X + 1) * X + (X + 2) * 2).sum())
    close(inputs, X)
    close(weights[0], X + 1)
    close(weights[1], (X + 2).sum())
    (weights, _) = ms.grad(f, None, w, has_aux=True)(x, y)
    close(weights, X + 1)
    ids, _ = ms.grad(f, (0, 1), [w], has_aux=True, return_ids=True)(x, y)
    close(ms.get_grad(ids, 1), np.full(3, 2.0))
    close(ms.get_grad(ids, w), X + 1)


def test_grad_operation():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(X), name="w")

        def construct(self, x, y):
            return x * self.w * y

    net = Net()
    x, y, sens = Tensor(X + 1), Tensor(X + 2), Tensor([1.0, 2.0, 3.0])
    close(ops.GradOperation()(net)(x, y), X * (X + 2))
    both = ops.GradOperation(get_all=True)(net)(x, y)
    close(both[1], X * (X + 1))
    weighted = ops.GradOperation(get_by_list=True, sens_param=True)(net, net.trainable_params())(x, y, sens)
    close(weighted[0], (X + 1) * (X + 2) * [1, 2, 3])
    inputs, params = ops.GradOperation(get_all=True, get_by_list=True)(net, ParameterTuple(net.trainable_params()))(
        x, y
    )
    close(inputs[0], X * (X + 2))
    close(params[0], (X + 1) * (X + 2))


def test_same_tensor_twice():
    x = Tensor(X)
    gx, gy = ms.grad(lambda a, b: a * a * b, (0, 1))(x, x)
    close(gx, 2 * X * X)
    close(gy, X * X)


def test_branches_and_loops():
    def branch(x):
        if x.sum() > 0:
            return x * x
        return x * 3

    close(ms.grad(branch)(Tensor(X)), 2 * X)
    close(ms.grad(branch)(Tensor(-X - 1)), np.full(3, 3.0))

    def loop(x):
        y, n = x, 0
        while y.sum() < 100:
            y = y * x
            n += 1
        return y, n

    x = np.array([2.0, 3.0], np.float32)  # 2**k + 3**k first reaches 100 at k = 5
    close(ms.grad(lambda v: loop(v)[0])(Tensor(x)), 5 * x**4)
    close(ms.grad(lambda v: ms.grad(lambda u: loop(u)[0])(v).sum())(Tensor(x)), 20 * x**3)

    def unrolled(x):
        for i in range(1, 4):
            x = x * i
            if x.sum() > 19:
                break
        return x

    close(ms.grad(unrolled)(Tensor(X + 3)), np.full(3, 2.0))


def test_recursion():
    def power(x, n):
        if n <= 0:
            return x * 0 + 1
        return x * power(x, n - 1)

    close(ms.grad(power)(Tensor(3.0), Tensor(4)), 4 * 27.0)


def test_custom_bprop_and_stop_gradient():
    class Net(nn.Cell):
        def construct(self, x, y):
            return x * y

        def bprop(self, x, y, out, dout):
            return dout * 100, dout * out

    gx, gy = ms.grad(Net(), (0, 1))(Tensor(X), Tensor(X))
    close(gx, np.full(3, 100.0))
    close(gy, X * X)
    close(ms.grad(lambda x: x * ops.stop_gradient(x * x))(Tensor(X)), X * X)


def test_custom_function():
    class Scale(ms._Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.save_for_backward(x)
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * x * 10, None

    close(ms.grad(lambda x: Scale.apply(x, 3.0))(Tensor(X)), X * 10)


def test_vjp_and_jvp():
    def f(x, y):
        return x * y, x + y

    x, y = Tensor(X), Tensor(X + 1)
    (out, _), back = ms.vjp(f, x, y)
    close(out, X * (X + 1))
    gx, gy = back(Tensor([1.0, 2.0, 3.0]), Tensor(X))
    close(gx, (X + 1) * [1, 2, 3] + X)
    close(gy, X * [1, 2, 3] + X)
    (_, _), (t0, t1) = ms.jvp(f, (x, y), (Tensor(np.ones(3, np.float32)), Tensor(np.zeros(3, np.float32))))
    close(t0, X + 1)
    close(t1, np.ones(3))


def test_jacobians_and_vmap():
    matrix = np.arange(6, dtype=np.float32).reshape(2, 3)

    def f(x):
        return ops.matmul(Tensor(matrix), x * x)

    expected = matrix * (2 * X)
    close(ms.jacrev(f)(Tensor(X)), expected)
    close(ms.jacfwd(f)(Tensor(X)), expected)
    close(ms.jacfwd(ms.jacrev(lambda x: (x**3).sum()))(Tensor(X)), np.diag(6 * X))
    batch = np.stack([X, X + 1])
    close(ms.vmap(f)(Tensor(batch)), (matrix @ (batch**2).T).T)
    close(ms.vmap(ms.grad(lambda x: (x**3).sum()))(Tensor(batch)), 3 * batch**2)
    close(ms.vmap(lambda x, y: x @ y, (None, 0), 1)(Tensor(matrix), Tensor(batch)), matrix @ batch.T)
    close(ms.vmap(lambda x: x * 2 if x.sum() > 2 else x)(Tensor(batch)), np.stack([X, (X + 1) * 2]))


def test_updates_keep_program_order():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.n = Parameter(Tensor(1.0), name="n")

        def construct(self, x):
            a = x * self.n
            ops.assign(self.n, self.n + 1)
            b = x * self.n
            self.n = self.n * 10
            return a, b, self.n + 0

    net = Net()
    a, b, n = net(Tensor(X))
    close(a, X)
    close(b, 2 * X)
    close(n, 20.0)
    close(net.n, 20.0)
    grad = ms.grad(lambda x: net(x)[1].sum())(Tensor(X))
    close(grad, np.full(3, 21.0))
    close(net.n, 210.0)


def test_hooks(mode):
    seen = []
    cell = nn.ReLU()
    handle = cell.register_backward_hook(lambda cell, grad_input, grad_output: (grad_input[0] * 10,))
    cell.register_forward_hook(lambda cell, inputs, output: output + 1)
    close(ms.grad(lambda x: cell(x * 2))(Tensor(X)), 20 * (X > 0))
    handle.remove()
    close(ms.grad(lambda x: (cell(x * 2) * 3).sum())(Tensor(X + 0.25)), 6 * (X + 0.25 > 0))
    if mode == "pynative":
        x = Tensor(X)
        x.register_hook(lambda g: seen.append(g) or g * 2)
        close(ms.grad(cube)(x), 6 * X**2)
        assert len(seen) == 1


def test_gradients_of_long_loops_of_unknown_length():
    def compound(x, trips):
        i = Tensor(0)
        while i < trips:
            x = x * 1.01
            i = i + 1
        return x

    gradient = ms.jit(lambda x, trips: ms.grad(compound)(x, trips))
    for trips in (3, 63, 64, 65, 200):
        np.testing.assert_allclose(float(gradient(Tensor(1.0), Tensor(trips))), 1.01**trips, rtol=1e-4)


def test_a_tape_through_compiled_functions():
    """Keyword arguments, structures, Parameters passed as arguments and mutable numbers get their own gradients."""
    ms.set_context(mode=ms.PYNATIVE_MODE)

    @ms.jit
    def by_keyword(x, y=None, *, z=1.0):
        return x * y * z

    x, y = Tensor([2.0]), Tensor([5.0])
    grads = ms.grad(lambda a, b: by_keyword(a, y=b, z=3.0), (0, 1))(x, y)
    assert [float(g) for g in grads] == [15.0, 6.0]

    @ms.jit
    def of_structures(table, pair):
        return table["a"] * pair[0] + pair[1]

    grads = ms.grad(lambda a, b: of_structures({"a": a}, (b, a)), (0, 1))(x, y)
    assert [float(g) for g in grads] == [6.0, 2.0]

    @ms.jit
    def updates(w, v):
        ms.ops.assign_add(w, v)
        return v * v + w

    weight = ms.Parameter(Tensor([1.0]), name="w")
    grads = ms.ops.GradOperation(get_all=True)(updates)(weight, y)
    assert float(weight) == 6.0
    assert float(grads[1]) == 11.0

    @ms.jit
    def scaled(v, n):
        return v * n

    assert [float(ms.grad(lambda v, n=n: scaled(v, ms.mutable(n)))(x)) for n in (2, 3, 4)] == [2.0, 3.0, 4.0]


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_gradients_flow_into_tensors_in_a_list(mode):
    ms.set_context(mode=mode)
    try:
        weight = Tensor([[1.0, 2.0], [3.0, 4.0]])
        left, right = ms.grad(lambda x, y: ((x, y) + weight * [x, y]).sum(), (0, 1))(
            Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
        )
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert left.asnumpy().tolist() == [2.0, 3.0] and right.asnumpy().tolist() == [4.0, 5.0]


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_all_inputs_include_those_by_name(mode):
    ms.set_context(mode=mode)
    try:
        gradient = ops.GradOperation(get_all=True, sens_param=True)(
            lambda x, *rest, **named: 2 * x + 3 * rest[0] + 4 * named["v"]
        )
        got = gradient(Tensor([1.0]), Tensor([1.0]), u=Tensor([1.0]), v=Tensor([1.0]), sens=Tensor([2.0]))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert [g.asnumpy().tolist() for g in got] == [[4.0], [6.0], [0.0], [8.0]]


def test_sensitivities_may_be_numbers():
    net = lambda x, y: (x * 2, y * 3)
    grads = ops.GradOperation(get_all=True, sens_param=True)(net)(Tensor(1.0), Tensor([1.0, 2.0]), (5, [7]))
    assert grads[0].asnumpy() == 10 and grads[1].asnumpy().tolist() == [21, 21]
