"""Gradients around in-place updates: every form of update, wherever it stands, in both modes and on all backends.

The oracle is the complex step in NumPy: the derivative of a real analytic f at p along e is Im f(p + i h e) / h, exact for
tiny h. Programs are written once and run on NumPy arrays and on tensors; an update is told apart by the table of forms.
Updates of tensors are differentiated. Those of Parameters are not: the step is added to each value that the Parameter takes.
"""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops

P = np.array([1.5, 0.5, 2.0])
X = np.array([2.0, -1.0, 0.5])
INDEX = np.array([2, 0])


@pytest.fixture(params=["pynative", "interp", "xla", "cpu"], autouse=True)
def mode(request):
    ms.set_context(mode=ms.PYNATIVE_MODE if request.param == "pynative" else ms.GRAPH_MODE)
    ms.set_context(backend="" if request.param == "pynative" else request.param)
    yield request.param
    ms.set_context(mode=ms.PYNATIVE_MODE, backend="")


def assign_items(p, x):
    p[0:2] = p[1:3] * x[0:2]


def assign_items_numpy(p, x):
    return np.concatenate([p[1:3] * x[0:2], p[2:]])


def scattered(p, x):
    out = np.array(p)
    out[INDEX] += x[:2]
    return out


FORMS = {  # name -> (what it does to a Parameter or tensor, the new value)
    "assign": (lambda p, x: ops.assign(p, p * x), lambda p, x: p * x),
    "assign_constant": (lambda p, x: ops.assign(p, x), lambda p, x: x + 0 * p),
    "assign_add": (lambda p, x: ops.assign_add(p, p * x), lambda p, x: p + p * x),
    "assign_sub": (lambda p, x: ops.assign_sub(p, p * x), lambda p, x: p - p * x),
    "Assign": (lambda p, x: ops.Assign()(p, p * p * x), lambda p, x: p * p * x),
    "add_": (lambda p, x: p.add_(p * x), lambda p, x: p + p * x),
    "sub_": (lambda p, x: p.sub_(x), lambda p, x: p - x),
    "mul_": (lambda p, x: p.mul_(p), lambda p, x: p * p),
    "div_": (lambda p, x: p.div_(x), lambda p, x: p / x),
    "copy_": (lambda p, x: p.copy_(p * x), lambda p, x: p * x),
    "fill_": (lambda p, x: p.fill_(3.0), lambda p, x: 3.0 + 0 * p),
    "zero_": (lambda p, x: p.zero_(), lambda p, x: 0 * p),
    "exp_": (lambda p, x: p.mul_(-1.0).exp_(), lambda p, x: np.exp(-p)),
    "setitem": (assign_items, assign_items_numpy),
    "scatter_add": (lambda p, x: ops.scatter_add(p, Tensor(INDEX, ms.int32), x[:2]), scattered),
}
TENSOR_FORMS = [f for f in FORMS if f not in ("assign", "assign_constant", "assign_add", "assign_sub", "Assign", "scatter_add")]


def after_use(p, x, write):
    y = (p * p * x).sum()
    write(p, x)
    return y


def before_use(p, x, write):
    write(p, x)
    return (p * p * x).sum()


def between(p, x, write):
    y = (p * p * x).sum()
    write(p, x)
    return y + (p * p * p).sum()


def in_a_loop(p, x, write):
    y = (p * x).sum()
    for _ in range(3):
        y = y + (p * p).sum()
        write(p, x * 0.5)
        y = y * 0.5 + (p * x).sum()
    return y


PLACES = [after_use, before_use, between, in_a_loop]


class Box:
    """A NumPy value that can be written to, with the operators that the programs use."""

    def __init__(self, value):
        self.value = value

    def __mul__(self, other):
        return self.value * (other.value if isinstance(other, Box) else other)

    __array_ufunc__ = None

    def __rmul__(self, other):
        return other * self.value


def value_in_numpy(place, form, p, step=0):
    """The result from the value p of a tensor, or of a Parameter if there is a step."""

    def write(box, x):
        box.value = FORMS[form][1](box.value - step, x) + step

    return place(Box(p + step), X, write)


def slope(place, form, p):
    """The gradient for a tensor p, by complex steps."""
    return np.array([value_in_numpy(place, form, p + 1e-30j * e).imag / 1e-30 for e in np.eye(3)])


def parameter_slope(place, form, shift=0):
    """The gradient for a Parameter that is P, all of its values shifted."""
    return np.array([value_in_numpy(place, form, P, shift + 1e-30j * e).imag / 1e-30 for e in np.eye(3)])


def close(a, b):
    np.testing.assert_allclose(a.asnumpy(), b, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("form", FORMS)
def test_parameter(form, place):
    p = Parameter(Tensor(P, ms.float32), name="p")
    write = FORMS[form][0]

    def f(x):
        return place(p, x, write)

    value, (of_x, of_p) = ms.value_and_grad(f, 0, p)(Tensor(X, ms.float32))
    np.testing.assert_allclose(value.asnumpy(), value_in_numpy(place, form, P), rtol=2e-5)
    close(of_p, parameter_slope(place, form))
    assert of_x.shape == (3,)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("form", TENSOR_FORMS)
def test_intermediate_tensor(form, place):
    """A tensor computed from the argument is written to; also through the result of an operation whose rule needs it."""
    write = FORMS[form][0]

    def f(p):
        return place(ops.exp(ops.log(p)), Tensor(X, ms.float32), write)

    close(ms.grad(f)(Tensor(P, ms.float32)), slope(place, form, P))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("form", ["assign", "assign_add", "mul_", "setitem", "exp_"])
def test_second_derivative(form, place):
    p = Parameter(Tensor(P, ms.float32), name="p")
    write = FORMS[form][0]

    def f(x):
        return place(p, x, write)

    def total(x):
        return ms.grad(f, None, p)(x).sum()

    h = 1e-5
    expected = [
        (parameter_slope(place, form, h * e) - parameter_slope(place, form, -h * e)).sum() / (2 * h) for e in np.eye(3)
    ]
    np.testing.assert_allclose(ms.grad(total, None, p)(Tensor(X, ms.float32)).asnumpy(), expected, rtol=1e-4, atol=1e-3)


def test_nested_cells_that_write_to_one_parameter():
    class Inner(nn.Cell):
        def __init__(self):
            super().__init__()
            self.p = Parameter(Tensor(P, ms.float32), name="p")

        def construct(self, x):
            y = self.p * x
            self.p = self.p * self.p
            return y

    class Outer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def construct(self, x):
            return self.inner(x) + self.inner(x) + self.inner(x)

    net = Outer()
    p = net.inner.p
    of_x, (of_p,) = ms.grad(net, 0, net.trainable_params())(Tensor(X, ms.float32))
    close(of_x, P + P**2 + P**4)
    close(of_p, 3 * X)
    close(p, P**8)


def test_compiled_function_that_writes_within_a_tape():
    p = Parameter(Tensor(P, ms.float32), name="p")

    @ms.jit
    def step(x):
        ops.assign(p, p * x)
        return p.sum()

    def f(x):
        return step(x) + (p * p).sum()

    of_x, of_p = ms.grad(f, 0, p)(Tensor(X, ms.float32))
    close(of_x, np.zeros(3))
    close(of_p, 1 + 2 * P * X)


@pytest.mark.parametrize("optimizer", [nn.SGD, nn.Adam, nn.RMSProp, nn.Adagrad])
def test_optimizer_within_the_function(optimizer):
    """What is computed from the new weights counts, too, but not by way of the update."""
    p = Parameter(Tensor(P, ms.float32), name="p")
    update = optimizer([p], learning_rate=0.1)

    def f(x):
        y = (p * p * x).sum()
        update((2 * p * x,))
        return y + (p * x).sum()

    of_x, of_p = ms.grad(f, 0, p)(Tensor(X, ms.float32))
    close(of_p, 2 * P * X + X)
    close(of_x, P * P + p.asnumpy())
    assert np.abs(p.asnumpy() - P).min() > 1e-4


def test_update_under_no_grad_is_no_part_of_the_function():
    p = Parameter(Tensor(P, ms.float32), name="p")

    def f(x):
        y = (p * x).sum()
        with ms._no_grad():
            ops.assign(p, p * 0.5)
        return y + (p * p).sum()

    close(ms.grad(f, None, p)(Tensor(X, ms.float32)), X + 2 * (P / 2))
    close(p, P / 2)


def test_no_grad_around_branches_loops_and_inner_gradients():
    def f(x):
        with ms._no_grad():
            y = x * 2 if x.sum() > 0 else x * 3
            i = 0
            while i < 2:
                y = y * x
                i += 1
            with ms._enable_grad():
                z = x * 5
            slopes = ms.grad(lambda t: (t * t * t).sum())(x)
        return (y * x + z * x + slopes * x).sum()

    close(ms.grad(f)(Tensor(X, ms.float32)), 2 * X**3 + 10 * X + 3 * X**2)


def test_custom_gradient_of_a_function_that_returns_its_argument():
    class Through(nn.Cell):
        def construct(self, x):
            return x

        def bprop(self, x, out, dout):
            return (dout * 5,)

    cell = Through()
    close(ms.grad(lambda x: (cell(x) + x).sum())(Tensor(X, ms.float32)), np.full(3, 6.0))


def test_custom_function_that_writes_to_its_argument():
    class Scale(ms._Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(3.0)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    def f(x):
        y = x * x
        Scale.apply(y)
        return (y * x).sum()

    close(ms.grad(f)(Tensor(X, ms.float32)), 9 * X**2)


def assigned(p, y):
    return ops.assign(p, y)


def assigned_and_read(p, y):
    ops.assign(p, y * 2)
    return p * 3


def result_and_variable(p, y):
    return ops.assign(p, y * 2) * 3 + p * 5


@pytest.mark.parametrize(("fn", "wanted"), [(assigned, 1.0), (assigned_and_read, 3.0), (result_and_variable, 8.0)])
def test_what_assign_returns_counts_as_the_variable(fn, wanted):
    grads = ms.grad(fn, (0, 1))(Parameter(Tensor([1.0])), Tensor([2.0]))
    assert [g.tolist() for g in grads] == [[wanted], [0.0]]
