"""Structures as arguments and results: dataclasses, sparse tensors, named tuples; through branches, loops and gradients."""

import collections
import dataclasses

import numpy as np
import pytest

import mindspore as ms
from mindspore import COOTensor, CSRTensor, Tensor, ops


@pytest.fixture(params=[ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["graph", "pynative"])
def mode(request):
    ms.set_context(mode=request.param)
    yield request.param
    ms.set_context(mode=ms.PYNATIVE_MODE)


@dataclasses.dataclass
class Output:
    logits: Tensor
    loss: Tensor | None = None
    name: str = "model"


Pair = collections.namedtuple("Pair", "first second")


def test_dataclasses_go_in_and_come_out():
    @ms.jit
    def step(previous, x):
        return Output(previous.logits + x, x * 2, previous.name + "+")

    out = step(Output(Tensor([1.0])), Tensor([2.0]))
    assert type(out) is Output and out.name == "model+"
    assert (float(out.logits), float(out.loss)) == (3.0, 4.0)
    again = step(Output(Tensor([10.0])), Tensor([2.0]))
    assert float(again.logits) == 12.0
    assert step.compile_cache_size == 1


class Named(collections.OrderedDict):
    """A dictionary whose items are attributes, too, as results of models in other packages are."""

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        super().__setattr__(key, value)


def test_dictionaries_of_a_class_of_their_own_keep_it(mode):
    def step(previous, x):
        if x.sum() > 2:
            out = Named(logits=previous.logits + x, cache=(x * 2,))
        else:
            out = Named(logits=previous.logits, cache=(x,))
        counts = collections.defaultdict(list)
        counts["a"].append(x + 1)
        return out, counts

    run = ms.jit(step) if mode == ms.GRAPH_MODE else step
    for value in (1.0, 5.0):
        out, counts = run(Named(logits=Tensor([1.0])), Tensor([value]))
        assert type(out) is Named and list(out) == ["logits", "cache"] and type(counts) is collections.defaultdict
        expected = (1.0 + value, 2 * value) if value > 2 else (1.0, value)
        assert (float(out.logits), float(out["cache"][0])) == expected
        assert out.logits is out["logits"] and float(counts["a"][0]) == value + 1
        assert counts["new"] == []
    gradient = ms.grad(lambda x: Named(y=x * x).y.sum())(Tensor([3.0]))
    assert float(gradient) == 6.0


def test_dataclasses_through_branches_and_loops():
    def run(x):
        out = Output(x, x)
        if x.sum() > 2:
            out = Output(x * 10, x)
        while out.loss.sum() < 10:
            out = Output(out.logits + 1, out.loss * 2)
        return Pair(out, out.logits.sum())

    for start in (1.0, 3.0):
        got, want = ms.jit(run)(Tensor([start])), run(Tensor([start]))
        assert type(got) is Pair
        assert float(got.first.logits) == float(want.first.logits)
        assert float(got.second) == float(want.second)


def matrix(values):
    return CSRTensor(Tensor([0, 1, 2]), Tensor([0, 2]), Tensor(values), (2, 3))


def scale(x, s):
    out = CSRTensor(s.indptr, s.indices, s.values * x, s.shape)
    while out.values.sum() < 20:
        out = CSRTensor(out.indptr, out.indices, out.values * 2, out.shape)
    return out


def test_sparse_tensors_go_in_and_come_out():
    compiled = ms.jit(scale)
    for values in ([1.0, 2.0], [5.0, 7.0]):
        got, want = compiled(Tensor(2.0), matrix(values)), scale(Tensor(2.0), matrix(values))
        np.testing.assert_array_equal(got.to_dense().asnumpy(), want.to_dense().asnumpy())
    assert compiled.compile_cache_size == 1


def test_gradients_of_sparse_arguments_are_sparse(mode):
    def total(x, s):
        return (s.values * x).sum()

    s = matrix([1.0, 2.0])
    gradients = ops.GradOperation(get_all=True)(total)(Tensor(3.0), s)
    assert float(gradients[0]) == 3.0
    assert type(gradients[1]) is CSRTensor
    np.testing.assert_array_equal(gradients[1].to_dense().asnumpy(), [[3, 0, 0], [0, 0, 3]])
    coo = COOTensor(Tensor([[0, 1]]), Tensor([4.0]), (2, 2))
    np.testing.assert_array_equal(ms.grad(lambda c: c.values**2)(coo).to_dense().asnumpy(), [[0, 8], [0, 0]])


def count_up(x, limit):
    if x > limit:
        return x
    return count_up(x + 1, limit)


def doubled(x, level, limit):
    if level > limit:
        return x
    return doubled(x * 2, level + 1, limit)


def test_recursion_that_only_run_time_values_end():
    from_constant = ms.jit(lambda limit: count_up(Tensor([0]), limit))
    by_level = ms.jit(lambda x, limit: doubled(x, 0, limit))
    for limit in (2, 60):
        assert int(from_constant(Tensor(limit))) == limit + 1
        assert float(by_level(Tensor(1.0), Tensor(limit))) == 2.0 ** (limit + 1)
    assert from_constant.compile_cache_size == 1


def test_order_of_sequences_decided_before_their_tensors(mode):
    def f(x):
        low, high = (1, (x, x + 1)), (2, (x, x - 1))
        return low < high, low >= high, (3, 1, x) > (3, 1), Tensor.from_numpy(np.array([1, 2])) + x

    *order, total = ms.jit(f)(Tensor([5, 6]))
    assert order == [True, False, True]
    assert total.asnumpy().tolist() == [6, 8]


def test_views_of_dictionaries_are_sequences_in_graphs():
    @ms.jit
    def function(x):
        d = {"a": x, "b": 2}
        return d.values()[0] + d.values()[1], d.keys()[1], d.items()[-1][1]

    total, key, last = function(Tensor([1.0]))
    assert total.item() == 3 and key == "b" and last == 2
