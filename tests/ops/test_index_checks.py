"""Indices beyond the data: graphs on every backend refuse them with PyNative's exception and words, and change nothing."""

# ruff: noqa: E501 - one case per line

import numpy as np
import pytest

import mindspore as ms
import mindspore.numpy as mnp
from mindspore import Parameter, Tensor, mint, nn, ops

BACKENDS = ["interp", "cpu", "xla"]
X = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4))
ROWS, COLUMN, ROW, ONE = (Tensor(np.ones(shape, np.float32)) for shape in ((2, 4), (3, 1), (1, 4), (1,)))
LOG_P = Tensor(np.log(np.full((5, 2, 4), 0.25, np.float32)))
IMAGE = Tensor(np.ones((2, 4, 3, 3), np.float32))
TWO = Tensor(np.ones(2, np.float32))


@pytest.fixture(params=BACKENDS)
def backend(request):
    ms.set_context(backend=request.param)
    yield request.param
    ms.set_context(backend="")


def _set(index):
    def run(x, i):
        y = x * 1
        y[index(i)] = 0.0
        return y

    return run


def _increase(x, i):
    y = x * 1
    y[i] += 1.0
    return y


def _state(name):
    """An operation on a Parameter."""
    operation = getattr(ops, name)
    return lambda table: lambda x, i: operation(table, i, ROWS) * x[0, 0]


#: rows of x; elements along axis 1; whole coordinates; classes
AT_ROWS = ([0, -3], [0, 5], [0, -4])
AT_FIRST = ([[0, 1, 2, 0]], [[0, 1, 3, 0]], [[0, 1, -4, 0]])
AT_SECOND = ([[0], [1], [-4]], [[0], [1], [4]], [[0], [1], [-5]])
AT_POINT = ([[0, 1]], [[0, 4]], [[-4, 0]])
AT_ROW_POINTS = ([[0], [2]], [[0], [3]], [[0], [-4]])
CLASSES = ([0, 1, 3], [0, 1, 4], [0, 1, -1])

#: name -> (function of x and indices, (good, too large, too small))
FORMS = {
    "gather": (lambda x, i: ops.gather(x, i, 0), AT_ROWS),
    "gather_axis": (lambda x, i: ops.gather(x, i, 1), ([0, 3], [0, 9], [0, -5])),
    "gather_batched": (lambda x, i: ops.Gather(1)(x, i, 1), AT_SECOND),
    "gather_d": (lambda x, i: ops.gather_d(x, 0, i), AT_FIRST),
    "gather_elements": (lambda x, i: ops.gather_elements(x, 1, i), AT_SECOND),
    "gather_nd": (ops.gather_nd, AT_POINT),
    "index_select": (lambda x, i: ops.index_select(x, 0, i), AT_ROWS),
    "take_along_axis": (lambda x, i: mnp.take_along_axis(x, i, 1), AT_SECOND),
    "mint.gather": (lambda x, i: mint.gather(x, 1, i), AT_SECOND),
    "mint.take": (lambda x, i: mint.take(x, i), ([0, 11], [0, 12], [0, -13])),
    "mint.embedding": (lambda x, i: mint.nn.functional.embedding(i, x), AT_ROWS),
    "x[i]": (lambda x, i: x[i], AT_ROWS),
    "x[i, i]": (lambda x, i: x[i, i], ([0, 2], [0, 3], [0, -4])),
    "x[:, i]": (lambda x, i: x[:, i], ([0, 3], [0, 4], [0, -5])),
    "x[..., i, None]": (lambda x, i: x[..., i, None], ([0, 3], [0, 4], [0, -5])),
    "x[number]": (lambda x, i: x[i], (2, 3, -4)),
    "x[i] = v": (_set(lambda i: i), AT_ROWS),
    "x[:, i] = v": (_set(lambda i: (slice(None), i)), ([0, 3], [0, 4], [0, -5])),
    "x[i] += v": (_increase, AT_ROWS),
    "index_add": (lambda x, i: mint.index_add(x, 0, i, ROWS), AT_ROWS),
    "index_fill": (lambda x, i: ops.index_fill(x, 0, i, 9.0), AT_ROWS),
    "index_put": (lambda x, i: x.index_put((i,), ROWS), AT_ROWS),
    "index_copy_": (lambda x, i: (x * 1).index_copy_(0, i, ROWS), AT_ROWS),
    "scatter": (lambda x, i: ops.scatter(x, 0, i, ROW), AT_FIRST),
    "Tensor.scatter_add": (lambda x, i: x.scatter_add(1, i, COLUMN), AT_SECOND),
    "tensor_scatter_elements": (lambda x, i: ops.tensor_scatter_elements(x, i, ROW, 0), AT_FIRST),
    "tensor_scatter_add": (lambda x, i: ops.tensor_scatter_add(x, i, ONE), AT_POINT),
    "tensor_scatter_max": (lambda x, i: ops.tensor_scatter_max(x, i, ONE), AT_POINT),
    "cross_entropy": (ops.cross_entropy, CLASSES),
    "cross_entropy_weighted": (lambda x, i: ops.cross_entropy(x, i, Tensor(np.ones(4, np.float32))), CLASSES),
    "cross_entropy_smooth": (lambda x, i: ops.cross_entropy(x, i, label_smoothing=0.1), CLASSES),
    "cross_entropy_ignoring": (lambda x, i: ops.cross_entropy(x, i, ignore_index=7), ([0, 7, 3], [0, 7, 4], [0, 7, -1])),
    "nll_loss": (ops.nll_loss, CLASSES),
    "NLLLoss": (lambda x, i: ops.NLLLoss()(x, i, Tensor(np.ones(4, np.float32)))[0], CLASSES),
    "sparse_softmax": (lambda x, i: ops.SparseSoftmaxCrossEntropyWithLogits()(x, i), CLASSES),
    "multi_margin_loss": (ops.multi_margin_loss, CLASSES),
    "ctc_loss": (lambda x, i: ops.ctc_loss(LOG_P, i, Tensor([5, 5]), Tensor([2, 2]))[0] * x[0, 0], ([[1, 2], [3, 1]], [[1, 2], [4, 1]], [[1, 2], [-1, 1]])),
    "ctc_loss_lengths": (lambda x, i: ops.ctc_loss(LOG_P, Tensor([[1, 2], [3, 1]]), Tensor([5, 5]), i)[0] * x[0, 0], ([2, 2], [2, 3], [2, -1])),
}  # fmt: skip
#: forms on a Parameter
STATEFUL = {
    **dict.fromkeys(("scatter_update", "scatter_add", "scatter_min"), AT_ROWS),
    **dict.fromkeys(("scatter_nd_update", "scatter_nd_add", "scatter_nd_mul"), AT_ROW_POINTS),
}
#: compiling for XLA takes long: one form per primitive
ON_XLA = (
    "gather", "gather_batched", "gather_d", "gather_nd", "x[:, i]", "x[i] = v", "x[i] += v", "index_add", "scatter",
    "tensor_scatter_max", "cross_entropy", "cross_entropy_ignoring", "nll_loss", "ctc_loss",
)  # fmt: skip


def _refusal(function, *args):
    """The kind and the words of the error; a graph adds the line behind them."""
    with pytest.raises(Exception) as caught:
        function(*args)
    return type(caught.value), str(caught.value).split("\n")[0]


def _check(function, indices, dtype=ms.int32):
    good, *bad = (Tensor(np.asarray(i), dtype) for i in indices)
    compiled = ms.jit(function)
    np.testing.assert_allclose(compiled(X, good).asnumpy(), function(X, good).asnumpy(), rtol=1e-5)
    for indices in bad:
        kind, words = _refusal(function, X, indices)
        assert issubclass(kind, (IndexError, ValueError)) and ("but got" in words or "out of bounds" in words)
        assert _refusal(compiled, X, indices) == (kind, words)


@pytest.mark.parametrize("form", FORMS)
def test_graphs_refuse_what_pynative_refuses(form, backend):
    if backend == "xla" and form not in ON_XLA:
        pytest.skip("the primitive is tested by another form")
    _check(*FORMS[form])


@pytest.mark.parametrize("form", STATEFUL)
@pytest.mark.parametrize("backend", ["interp", "cpu"], indirect=True)
def test_updates_of_parameters(form, backend):
    table = Parameter(X * 1, name="table")
    function, indices = _state(form)(table), STATEFUL[form]
    for bad in indices[1:]:
        refusal = _refusal(function, X, Tensor(np.asarray(bad), ms.int32))
        assert _refusal(ms.jit(function), X, Tensor(np.asarray(bad), ms.int32)) == refusal
    np.testing.assert_array_equal(table.asnumpy(), X.asnumpy())


@pytest.mark.parametrize("dtype", [ms.int8, ms.uint8, ms.int16, ms.int64, ms.uint32], ids=str)
def test_every_type_of_index(dtype, backend):
    _, large, small = AT_ROWS
    unsigned = "uint" in str(dtype).lower()
    _check(lambda x, i: x[i] + ops.gather(x, i, 0), ([0, 2], large, large if unsigned else small), dtype)


def test_the_error_names_the_line(backend):
    @ms.jit
    def pick(x, i):
        y = x + 1
        return ops.gather(y, i, 0)  # here

    with pytest.raises(IndexError, match=r"(?s)\[-3, 3\), but got 7.*test_index_checks.py.*ops.gather\(y, i, 0\)  # here"):
        pick(X, Tensor([7]))


def test_unused_results_are_checked_too(backend):
    def ignore(x, i):
        ops.gather(x, i, 0)
        return x

    assert _refusal(ms.jit(ignore), X, Tensor([3])) == _refusal(ignore, X, Tensor([3]))


def test_the_first_of_several_wins(backend):
    def both(x, i, j):
        return ops.gather(x, i, 0)[:, 0] + ops.gather(x, j, 1)[0]

    for i, j in ((3, 0), (0, 4), (3, 4)):
        given = X, Tensor([i]), Tensor([j])
        assert _refusal(ms.jit(both), *given) == _refusal(both, *given)


def test_constant_indices_are_refused_when_compiling(backend):
    refusal = _refusal(lambda x: ops.gather(x, Tensor([0, 3]), 0), X)
    assert _refusal(lambda: ms.jit(lambda x: ops.gather(x, Tensor([0, 3]), 0)).compile(X)) == refusal


class _Classifier(nn.Cell):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(5, 8)
        self.dense = nn.Dense(8, 3)

    def construct(self, tokens):
        return self.dense(self.table(tokens))


@pytest.mark.parametrize("tokens,labels", [([0, 5], [0, 1]), ([0, 1], [0, 3]), ([-6, 1], [0, 1])])
def test_a_step_of_training_changes_nothing(tokens, labels, backend):
    net = _Classifier()
    optimizer = nn.Adam(net.trainable_params(), 0.1)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer)
    state = [*net.get_parameters(), *optimizer.get_parameters()]
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        good = Tensor([0, 4], ms.int32), Tensor([0, 2], ms.int32)
        step(*good)
        before = [p.asnumpy().copy() for p in state]
        with pytest.raises(IndexError):
            step(Tensor(tokens, ms.int32), Tensor(labels, ms.int32))
        for p, value in zip(state, before):
            np.testing.assert_array_equal(p.asnumpy(), value)
        step(*good)
        assert any((p.asnumpy() != value).any() for p, value in zip(state, before))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


# -- through transformations ------------------------------------------------------------------------------------------
def _tests(compiled, *args):
    """How many tests of values a graph makes."""
    graph = compiled.compile(*args).traced.graph
    return sum(n.op.name == "Violation" for g in graph.all_graphs() for n in g.nodes())


def _picked(x, i):
    return (ops.gather(x, i, 0) ** 3).sum()


@pytest.mark.parametrize("order", [1, 2])
def test_gradients(order, backend):
    def derivative(x, i):
        f = ms.grad(_picked)
        return f(x, i) if order == 1 else ms.grad(lambda y: (f(y, i) * X).sum())(x)

    compiled = ms.jit(derivative)
    rows = np.zeros((3, 4), np.float32)
    rows[[0, 2]] = 1
    expected = rows * (3 * X.asnumpy() ** 2 if order == 1 else 6 * X.asnumpy() ** 2)
    np.testing.assert_allclose(compiled(X, Tensor([0, 2])).asnumpy(), expected, rtol=1e-5)
    assert _refusal(compiled, X, Tensor([0, 3])) == _refusal(_picked, X, Tensor([0, 3]))
    assert _tests(compiled, X, Tensor([0, 2])) == 1  # the gradient's scatter needs none


def test_gradient_without_the_value_checks_labels(backend):
    compiled = ms.jit(ms.grad(lambda x, i: ops.cross_entropy(x, i)))
    assert _refusal(compiled, X, Tensor([0, 1, 4], ms.int32)) == _refusal(ops.cross_entropy, X, Tensor([0, 1, 4], ms.int32))


def test_branches(backend):
    def choose(x, i, flag):
        return ops.gather(x, i, 0) if flag else x[:1]  # the branch not taken must not complain

    compiled = ms.jit(choose)
    assert compiled(X, Tensor([5]), Tensor(False)).shape == (1, 4)
    assert _refusal(compiled, X, Tensor([5]), Tensor(True)) == _refusal(ops.gather, X, Tensor([5]), 0)
    gradient = ms.jit(ms.grad(lambda x, i, flag: choose(x, i, flag).sum()))
    assert gradient(X, Tensor([5]), Tensor(False)).asnumpy().sum() == 4
    assert _refusal(gradient, X, Tensor([5]), Tensor(True)) == _refusal(ops.gather, X, Tensor([5]), 0)


def test_loops(backend):
    def walk(x, start, steps):
        total, at = x[0] * 0, start
        while steps > 0:
            total = total + ops.gather(x, at, 0)
            at = at + 1
            steps = steps - 1
        return total

    compiled = ms.jit(walk)
    np.testing.assert_array_equal(compiled(X, Tensor(0), Tensor(3)).asnumpy(), X.asnumpy().sum(0))
    assert _refusal(compiled, X, Tensor(0), Tensor(5)) == _refusal(walk, X, Tensor(0), Tensor(5))


def test_vmap(backend):
    pick = ms.jit(ms.vmap(lambda row, i: ops.gather(row, i, 0)))
    np.testing.assert_array_equal(pick(X, Tensor([0, 1, -1])).asnumpy(), [0, 5, 11])
    with pytest.raises(IndexError, match="4"):
        pick(X, Tensor([0, 1, 4]))


def test_graphs_made_for_values(backend):
    def positive(x, i):
        picked = ops.gather(x, i, 0)
        return picked[picked > 4.0]

    compiled = ms.jit(positive)
    np.testing.assert_array_equal(compiled(X, Tensor([1])).asnumpy(), [5, 6, 7])
    assert _refusal(compiled, X, Tensor([3])) == _refusal(ops.gather, X, Tensor([3]), 0)


def test_empty_indices_and_empty_tables(backend):
    pick = ms.jit(lambda x, i: ops.gather(x, i, 0))
    assert pick(X, Tensor(np.zeros(0, np.int32))).shape == (0, 4)
    nothing = Tensor(np.zeros((0, 4), np.float32))
    assert _refusal(pick, nothing, Tensor([0])) == _refusal(ops.gather, nothing, Tensor([0]), 0)


def test_documented_exceptions_stay(backend):
    hot = ms.jit(lambda i: ops.one_hot(i, 3, Tensor(1.0), Tensor(0.0)))
    np.testing.assert_array_equal(hot(Tensor([1, 3])).asnumpy(), [[0, 1, 0], [0, 0, 0]])
    sums = ms.jit(lambda x, i: ops.unsorted_segment_sum(x, i, 2))
    np.testing.assert_array_equal(sums(X, Tensor([0, -1, 1])).asnumpy(), X.asnumpy()[[0, 2]])
    clipped = ms.jit(lambda x, i: mnp.take(x, i, 0))
    np.testing.assert_array_equal(clipped(X, Tensor([7])).asnumpy(), X.asnumpy()[[2]])
