"""Functions with gradients of their own (`_Function`, cells with `bprop`): what they promise, in both modes."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops

X = np.array([0.5, -1.5, 2.0], np.float32)
Y = np.array([[1.0, 2.0, 3.0]] * 2, np.float32)


@pytest.fixture(params=["pynative", "interp", "xla", "cpu"], autouse=True)
def mode(request):
    ms.set_context(mode=ms.PYNATIVE_MODE if request.param == "pynative" else ms.GRAPH_MODE)
    ms.set_context(backend="" if request.param == "pynative" else request.param)
    yield request.param
    ms.set_context(mode=ms.PYNATIVE_MODE, backend="")


def close(a, b):
    np.testing.assert_allclose(a.asnumpy(), b, rtol=2e-5, atol=1e-6)


def function(forward, backward):
    return type("Custom", (ms._Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)}).apply


def add(ctx, x, y):
    return x + y


def test_gradients_are_summed_over_broadcast_dimensions_and_cast():
    def back(ctx, grad):
        whole = ops.ones((2, 3), ms.int64) * 2
        return whole, whole

    of_x, of_y = ms.grad(function(add, back), (0, 1))(Tensor(X), Tensor(Y))
    close(of_x, np.full(3, 4.0))
    close(of_y, np.full((2, 3), 2.0))
    assert of_x.dtype == of_y.dtype == ms.float32


def wrong_shape(ctx, grad):
    return ops.ones((2, 4)), grad


def missing(ctx, grad):
    return grad


def a_number(ctx, grad):
    return grad, 4


@pytest.mark.parametrize(
    "back, words",
    [
        (wrong_shape, "grad tensor should be broadcast to"),
        (missing, "wrong number of gradients"),
        (a_number, "should be none or tensor"),
    ],
)
def test_gradients_that_do_not_fit(back, words):
    with pytest.raises(RuntimeError, match=words):
        ms.grad(function(add, back), (0, 1))(Tensor(X), Tensor(Y))


def test_a_number_has_no_gradient():
    def both(ctx, grad):
        return grad, grad

    def first(ctx, grad):
        return grad * 5, None

    with pytest.raises(RuntimeError, match="Input is not tensor, but gradient is not none"):
        ms.grad(function(add, both))(Tensor(X), 3)
    close(ms.grad(function(add, first))(Tensor(X), 3), np.full(3, 5.0))


def test_results_without_gradient(mode):
    def forward(ctx, x):
        y, z = x * 2, x * 3
        ctx.mark_non_differentiable(z)
        return y, z

    def back(ctx, of_y, of_z):
        return of_y * 2 + of_z * 1000

    apply = function(forward, back)

    def f(x):
        y, z = apply(x)
        return (y + z * x).sum()

    close(ms.grad(f)(Tensor(X)), 2 + 3 * X)


def test_an_argument_marked_as_constant_result():
    def forward(ctx, x):
        ctx.mark_non_differentiable(x)
        return x

    def back(ctx, grad):
        return grad

    apply = function(forward, back)
    close(ms.grad(lambda x: (apply(x) * 2 + x).sum())(Tensor(X)), np.ones(3))


def test_dirty_tensors_must_be_results():
    def forward(ctx, x):
        x.add_(1.0)
        ctx.mark_dirty(x)
        return x * 2

    def back(ctx, grad):
        return grad

    apply = function(forward, back)
    with pytest.raises(RuntimeError, match="must all be outputs"):
        ms.grad(lambda x: apply(x * 1).sum())(Tensor(X))


def test_missing_gradients_are_zeros_or_none(mode):
    seen = []

    def forward(materialize):
        def run(ctx, x):
            ctx.set_materialize_grads(materialize)
            return x * 2, x * 3

        return run

    def back(ctx, first, second):
        seen.append(second is None)
        return first * 7

    for materialize in (True, False):
        apply = function(forward(materialize), back)
        close(ms.grad(lambda x: apply(x)[0])(Tensor(X)), np.full(3, 7.0))  # noqa: B023
    if mode == "pynative":
        assert seen == [False, True]


def test_gradients_of_cells_are_summed_over_broadcast_dimensions():
    class Cell(nn.Cell):
        def construct(self, x, y):
            return x + y

        def bprop(self, x, y, out, dout):
            return dout * 2, dout * 3

    of_x, of_y = ms.grad(Cell(), (0, 1))(Tensor(X), Tensor(Y))
    close(of_x, np.full(3, 4.0))
    close(of_y, np.full((2, 3), 3.0))


class Scale(nn.Cell):
    """A product whose gradient is said to be 10 and 100, so that it differs from the derived one."""

    def __init__(self, take, give, pack):
        super().__init__()
        self.take, self.give, self.pack = take, give, pack

    def construct(self, pair):
        x, y = self.take(pair)
        return self.give(x * y)

    def bprop(self, pair, out, dout):
        return (self.pack(self.take_result(dout) * 10, self.take_result(dout) * 100),)

    def take_result(self, result):
        while isinstance(result, (tuple, list, dict)):
            result = result["only"] if isinstance(result, dict) else result[0]
        return result


STRUCTURES = {
    "tuple": (lambda x, y: (x, y), lambda p: p),
    "list": (lambda x, y: [x, y], lambda p: p),
    "dict": (lambda x, y: {"a": x, "b": y}, lambda p: (p["a"], p["b"])),
    "nested": (lambda x, y: ([x], {"b": (y, 3)}), lambda p: (p[0][0], p[1]["b"][0])),
}
RESULTS = {"tensor": lambda z: z, "list": lambda z: [z], "nested": lambda z: (({"only": z},), 1)}


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("structure", STRUCTURES)
def test_rules_of_cells_count_for_tensors_within_structures(structure, result):
    pack, take = STRUCTURES[structure]
    inner = Scale(take, RESULTS[result], pack)

    class Outer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = inner

        def construct(self, x, y):
            return self.inner.take_result(self.inner(pack(x * 1, y * 1))) * 2

    gx, gy = ms.grad(Outer(), (0, 1))(Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))
    np.testing.assert_array_equal(gx.asnumpy(), [20, 20])
    np.testing.assert_array_equal(gy.asnumpy(), [200, 200])


@pytest.mark.parametrize(
    "call", [lambda c, x, y: c(x, y=y), lambda c, x, y: c(y=y, x=x), lambda c, x, y: c(x, scale=1, y=y)]
)
def test_rules_of_cells_take_arguments_given_by_name_in_order(call):

    class Product(nn.Cell):
        def construct(self, x, y=None, scale=1):
            return x * y * scale

        def bprop(self, x, y, *rest):
            return (rest[-1] * 10, rest[-1] * 100, 0)[: len(rest)]

    product = Product()
    gx, gy = ms.grad(lambda x, y: call(product, x, y), (0, 1))(Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))
    np.testing.assert_array_equal(gx.asnumpy(), [10, 10])
    np.testing.assert_array_equal(gy.asnumpy(), [100, 100])


def test_a_rule_must_give_as_many_parts_as_its_input_has():
    cell = Scale(lambda p: p, lambda z: z, lambda a, b: (a,))
    with pytest.raises(
        TypeError, match="wrong gradient of input 0: a tuple of 2 parts is needed, but got a tuple of 1"
    ):
        ms.grad(lambda x: cell((x, x * 2)))(Tensor([1.0]))
