"""What operates on functions, types, state or several results: one behaviour each, in both modes where that applies."""

import direct
import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, ops
from mindspore.ops import composite as C

X = Tensor([1.0, -2.0, 3.0])


@pytest.fixture(params=[ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["pynative", "graph"])
def run(request):
    """Calls a function, compiled in graph mode."""
    return (lambda f, *xs: ms.jit(f)(*xs)) if request.param == ms.GRAPH_MODE else (lambda f, *xs: f(*xs))


# -- loops and mapping ------------------------------------------------------------------------------------------------
def test_loops(run):
    assert run(lambda x: ops.ForiLoop()(0, 3, lambda i, v: v * 2, x), X).tolist() == [8, -16, 24]
    assert run(lambda x: ops.WhileLoop()(lambda v: v.sum() < 30, lambda v: v * 2, x), X).tolist() == [16, -32, 48]
    carry, ys = run(lambda x: ops.Scan()(lambda c, v: (c + v, c), Tensor(0.0), [x[0], x[1], x[2]]), X)
    assert carry.item() == 2 and [float(y.asnumpy()) for y in ys] == [0, 1, -1]


def test_mapping(run):
    assert [t.tolist() for t in run(lambda x: ops.Map()(ops.square, (x, x + 1)), X)] == [[1, 4, 9], [4, 1, 16]]
    nested = run(lambda x: ops.HyperMap()(ops.neg, ((x,), (x + 1, x))), X)
    assert nested[1][0].tolist() == [-2, 1, -4] and nested[0][0].tolist() == [-1, 2, -3]
    assert ops.Partial()(ops.add, X)(X).tolist() == ops.partial(ops.add, X)(X).tolist() == [2, -4, 6]


def test_functions_chosen_by_type():
    pick = C.MultitypeFuncGraph("pick")
    pick.register("Tensor", "Tensor")(lambda a, b: a + b)
    pick.register("Number", "Number")(lambda a, b: a * b)
    assert pick(X, X).tolist() == [2, -4, 6] and pick(3, 4) == 12
    assert ops.HyperMap(pick)((X, 2), (X, 5))[1] == 10


def test_derivatives_of_higher_order():
    value, slope = ops.derivative(lambda x: x**3, X, 2)
    assert value.tolist() == [1, -8, 27] and slope.tolist() == [6, -12, 18]
    value, along = ops.jet(lambda x: x**2, X, Tensor([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]))
    assert value.tolist() == [1, 4, 9] and along.tolist() == [[2, -4, 6], [2, 2, 2]]
    line = Tensor([[1.0, 1.0, 1.0]])
    assert ops.jet(lambda x, y: x * y, (X, X + 1), (line, line))[1].tolist() == [[3, -3, 7]]
    value, pushed = ops.linearize(ops.sin, X)
    np.testing.assert_allclose(pushed(X).asnumpy(), X.asnumpy() * np.cos(X.asnumpy()), 1e-6)


def test_hooks_see_gradients():
    seen = []

    def hook(grad):
        seen.append(grad[0].tolist())
        return grad[0] * 2

    grad = ms.grad(lambda x: (ops.HookBackward(hook)(x) ** 2).sum())(X)
    assert seen == [[2, -4, 6]] and grad.tolist() == [4, -8, 12]


def test_a_python_function_as_operation():
    scaled = ops.Morph(lambda x, by=3: x * by, lambda *shapes: shapes[0], lambda *types: types[0])
    steep = ops.Morph(lambda x: x * 2, lambda s: s, lambda t: t, bprop_fn=lambda x, out, dout: (dout * 100,))
    assert ms.jit(lambda x: scaled(x))(X).tolist() == [3, -6, 9]
    assert ms.jit(lambda x: scaled(x, by=2))(X).tolist() == [2, -4, 6]
    assert ms.jit(lambda x: ms.grad(lambda v: scaled(v, by=2).sum())(x))(X).tolist() == [2, 2, 2]
    assert ms.jit(lambda x: ms.grad(lambda v: steep(v).sum())(x))(X).tolist() == [100, 100, 100]
    with pytest.raises(RuntimeError, match="only supported in GRAPH_MODE"):
        scaled(X)


# -- types and static values ------------------------------------------------------------------------------------------
def test_types():
    assert ops.dtype(X) is ops.DType()(X) is ms.float32 and ops.typeof(X) == ms.TensorType(ms.float32)
    assert ops.hastype(3, ms.int64) and not ops.hastype(3, ms.float32)
    assert ops.isconstant(3) and ops.static_int(Tensor(4)) == 4
    assert ops.mixed_precision_cast(ms.float16, (X, 2))[0].dtype is ms.float16
    assert ops.empty(2, 3).shape == (2, 3)


def test_sequences_and_dictionaries():
    assert ops.make_dict(("a", "b"), (1, 2)) == {"a": 1, "b": 2} and ops.dict_setitem({"a": 1}, "a", 3) == {"a": 3}
    assert ops.make_slice(1, 5, 2) == slice(1, 5, 2) and ops.ms_next(ops.iter_converter([7, 8])) == 7
    assert list(ops.zip_operation([1], [2])) == [(1, 2)]


def test_marks_change_nothing():
    plain = lambda x: x + 1
    assert ops.core(plain)(X).tolist() == ops.constexpr(plain)(X).tolist() == [2, -1, 4]
    if hasattr(ops, "add_flags"):
        assert ops.add_flags(plain, anything=True)(X).tolist() == [2, -1, 4]
    ops.ControlDepend()(X, X)
    if hasattr(ops, "control_depend"):
        ops.control_depend(X, X)
    ops.UpdateState()(X)


def test_overflow_status():
    assert ops.FloatStatus()(X).item() == 0 and ops.FloatStatus()(Tensor([1.0, np.inf])).item() == 1
    status = ops.NPUAllocFloatStatus()()
    assert ops.NPUGetFloatStatus()(status).asnumpy().sum() == 0
    assert ops.NPUClearFloatStatus()(status).shape == (8,)


@pytest.mark.parametrize("compiled", [False, True])
def test_print(compiled, capfd):
    def show(x):
        ops.Print()("x is", x, 1)
        ops.print_(x)
        return x

    x = Tensor([[1.0], [2.0]])
    (ms.jit(show) if compiled else show)(x).asnumpy()
    assert capfd.readouterr().out == f"x is\n{x!r}\n1\n{x!r}\n"


def test_the_ready_made_printer(capfd):
    if hasattr(ops, "print_"):
        ops.print_("ready", X)
        assert "ready" in capfd.readouterr().out


# -- in place ---------------------------------------------------------------------------------------------------------
IN_PLACE = {
    "tanh_": (lambda x: ops.tanh_(x), np.tanh), "zero_": (lambda x: ops.zero_(x), np.zeros_like),
    "clamp_": (lambda x: ops.clamp_(x, -0.5, 0.5), lambda x: np.clip(x, -0.5, 0.5)),
    "inplace_sigmoid": (lambda x: ops.inplace_sigmoid(x), direct.sigmoid),
    "erfinv_": (lambda x: ops.erfinv_(x), lambda x: __import__("scipy.special").special.erfinv(x)),
    "put_": (lambda x: ops.put_(x, Tensor([0, 2]), Tensor([7.0, 8.0])), lambda x: np.array([7, x[1], 8])),
}  # fmt: skip


@pytest.mark.parametrize("name", [n for n in IN_PLACE if hasattr(ops, n)])
def test_in_place(name):
    change, oracle = IN_PLACE[name]
    start = np.array([0.25, -0.75, 0.5], np.float32)
    x = Parameter(Tensor(start), name="x")
    change(x)
    np.testing.assert_allclose(x.asnumpy(), oracle(start), 1e-6)


@pytest.mark.parametrize("name", [n for n in ("random_", "bernoulli_") if hasattr(ops, n)])
def test_random_in_place(name):
    x = Parameter(Tensor(np.full(400, 9.0, np.float32)), name="x")
    getattr(ops, name)(x, 0, 2) if name == "random_" else ops.bernoulli_(x, 0.5)
    assert sorted(set(x.asnumpy().tolist())) == [0, 1]


# -- recurrent primitives ---------------------------------------------------------------------------------------------
RNG = np.random.default_rng(8)


def test_lstm_of_flat_weights(run):
    wi, wh, bi, bh = (RNG.normal(size=s) / 2 for s in ((16, 3), (16, 4), (16,), (16,)))
    x, h, c = RNG.normal(size=(5, 2, 3)), np.zeros((2, 4)), np.zeros((2, 4))
    flat = np.concatenate([v.ravel() for v in (wi, wh, bi, bh)]).reshape(-1, 1, 1)
    args = [Tensor(v.astype(np.float32)) for v in (x, h[None], c[None], flat)]
    out, last, cell, *_ = run(lambda *a: ops.LSTM(3, 4, 1, True, False, 0.0)(*a), *args)
    for t in range(5):
        h, c = direct.lstm_step(x[t], h, c, wi, wh, bi, bh)
        np.testing.assert_allclose(out.asnumpy()[t], h, 1e-4, 1e-5)
    np.testing.assert_allclose(last.asnumpy()[0], h, 1e-4, 1e-5)
    np.testing.assert_allclose(cell.asnumpy()[0], c, 1e-4, 1e-5)


def test_dynamic_rnn():
    x, w, b = RNG.normal(size=(3, 2, 3)), RNG.normal(size=(7, 16)) / 2, RNG.normal(size=16) / 2
    y, h, c, *_ = ops.DynamicRNN()(*(Tensor(v.astype(np.float32)) for v in (x, w, b)))
    hidden, cell = np.zeros((2, 4)), np.zeros((2, 4))
    for t in range(3):
        i, j, f, o = np.split(np.concatenate([x[t], hidden], 1) @ w + b, 4, 1)  # the order of this primitive
        cell = direct.sigmoid(f) * cell + direct.sigmoid(i) * np.tanh(j)
        hidden = direct.sigmoid(o) * np.tanh(cell)
        np.testing.assert_allclose(h.asnumpy()[t], hidden, 1e-4, 1e-5)
        np.testing.assert_allclose(c.asnumpy()[t], cell, 1e-4, 1e-5)
    assert y.shape == (3, 2, 4)


def test_dynamic_gru():
    x, wi, wh = RNG.normal(size=(3, 2, 3)), RNG.normal(size=(3, 12)) / 2, RNG.normal(size=(4, 12)) / 2
    start = np.zeros((2, 4))
    y, *_ = ops.DynamicGRUV2()(
        *(Tensor(v.astype(np.float32)) for v in (x, wi, wh)), None, None, None, Tensor(start.astype(np.float32))
    )
    hidden = start
    for t in range(3):
        r, z, n = np.split(x[t] @ wi, 3, 1)
        rh, zh, nh = np.split(hidden @ wh, 3, 1)
        update = direct.sigmoid(z + zh)
        hidden = update * hidden + (1 - update) * np.tanh(n + direct.sigmoid(r + rh) * nh)
        np.testing.assert_allclose(y.asnumpy()[t], hidden, 1e-4, 1e-5)


# -- the rest ---------------------------------------------------------------------------------------------------------
def test_layerwise_rescaled_gradient():
    weight, grad = np.array([3.0, 4.0]), np.array([1.0, 2.0])
    args = (weight, grad, (weight**2).sum(), (grad**2).sum(), 0.01, 0.1)
    found = ops.LARSUpdate(1e-5, 0.02)(*(Tensor(np.asarray(a, np.float32)) for a in args))
    size, slope = np.linalg.norm(weight), np.linalg.norm(grad)
    ratio = 0.02 * size / (slope + 0.01 * size + 1e-5)
    np.testing.assert_allclose(found.asnumpy(), (grad + 0.01 * weight) * ratio, 1e-5)


def test_cubic_resampling_reproduces_straight_lines():
    x = np.add.outer(np.arange(6.0), 2 * np.arange(5.0))[None, None]
    out = ops.ResizeBicubic(align_corners=True)(Tensor(x.astype(np.float32)), Tensor([11, 9], ms.int32)).asnumpy()[0, 0]
    inner = np.add.outer(np.arange(11) / 2, np.arange(9.0))
    np.testing.assert_allclose(out[2:-2, 2:-2], inner[2:-2, 2:-2], 1e-4)


def test_one_process_alone():
    ops.Barrier()()
    for make in (lambda: ops.Send(0, 0)(X), lambda: ops.Receive(0, 0, (3,), ms.float32)(X)):
        assert make().shape == (3,)
    assert ops.BatchISendIRecv(["isend", "irecv"], [0, 0], [(3,)], (ms.float32,))((X,)) is not None
