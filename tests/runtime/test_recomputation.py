"""ms.recompute and Cell.recompute in PyNative mode: the gradients of what a part reads, wherever that comes from."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops

X = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))


@pytest.fixture(autouse=True)
def pynative():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    yield
    ms.set_context(mode=ms.GRAPH_MODE)


def again(block, *args, **kwargs):
    return ms.recompute(block, *args, use_reentrant=False, **kwargs)


def plainly(block, *args, **kwargs):
    return block(*args, **kwargs)


def arrays(value):
    return [arrays(v) for v in value] if isinstance(value, (tuple, list)) else value.asnumpy()


def same(function):
    """Both ways of calling a part give the same gradients."""
    for a, b in zip(flat(arrays(function(again))), flat(arrays(function(plainly))), strict=True):
        np.testing.assert_allclose(a, b)


def flat(value):
    return [x for v in value for x in flat(v)] if isinstance(value, list) else [value]


def test_lists_named_arguments_and_closures_have_gradients():
    w = Parameter(Tensor(np.full(3, 2.0, np.float32)), name="w")

    def part(pair, scale):
        return pair[0] * pair[1] * w * scale

    same(lambda call: ms.grad(lambda x, y, z: call(part, [x, y], scale=z).sum(), (0, 1, 2), ParameterTuple([w]))(X, X + 1, X * 2))


def test_results_in_structures_keep_their_gradients():
    same(lambda call: ms.grad(lambda x: call(lambda a: {"o": (a * 2, [a * 3])}, x)["o"][1][0].sum())(X))


def test_second_derivatives():
    def of(call):
        inner = ms.grad(lambda x: call(lambda a: a**3, x).sum())
        return ms.grad(lambda x: (inner(x) ** 2).sum())(X)

    same(of)


def test_a_weight_written_before_the_backward_pass_counts_as_it_was():
    def of(call):
        w = Parameter(Tensor(2.0), name="w")

        def step(x):
            out = call(lambda a: (a * w).sum(), x)
            ops.assign(w, w * 3)
            return out

        grads = ms.grad(step, 0, ParameterTuple([w]))(X)
        assert w.asnumpy() == 6
        return grads

    same(of)


def test_updates_in_place_within_the_part():
    def part(a):
        a.mul_(2.0)
        return a * a

    same(lambda call: ms.grad(lambda x: call(part, x * 1).sum())(X))


def test_hooks_run_once():
    def of(call):
        seen = []
        p = Parameter(Tensor([3.0, 4.0]), name="p")
        p.register_hook(lambda g: seen.append(g))
        ms.grad(lambda t: call(lambda a: a * p, t).sum(), 0, ParameterTuple([p]))(Tensor([1.0, 2.0]))
        assert len(seen) == 1
        return seen

    same(of)


def test_running_statistics_of_a_cell_in_a_closure_move_once():
    def of(call):
        norm = nn.BatchNorm1d(3).set_train()
        ms.grad(lambda x: call(lambda a: norm(a) * a, x).sum())(X)
        return norm.moving_mean

    same(of)


class Noting:
    def __init__(self, log, name):
        self.log, self.name = log, name

    def __enter__(self):
        self.log.append(self.name)

    def __exit__(self, *exc):
        self.log.append(f"end of {self.name}")


@pytest.mark.parametrize("way", ["function", "cell"])
def test_contexts_surround_both_passes(way):
    log = []
    settings = {"use_reentrant": False, "context_fn": lambda: (Noting(log, "forward"), Noting(log, "again"))}
    relu = nn.ReLU()
    call = relu.recompute(**settings) if way == "cell" else lambda x: ms.recompute(relu, x, **settings)
    np.testing.assert_array_equal(ms.grad(lambda x: call(x).sum())(X).asnumpy(), X.asnumpy() > 0)
    assert log == ["forward", "end of forward", "again", "end of again"]


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"context_fn": lambda: (None, None)}, ValueError),
        ({"use_reentrant": 1}, TypeError),
        ({"output_recompute": "yes"}, TypeError),
        ({"use_reentrant": False, "context_fn": 3}, TypeError),
    ],
)
def test_wrong_settings_are_refused(settings, error):
    with pytest.raises(error, match="recompute"):
        nn.ReLU().recompute(**settings)
    with pytest.raises(error, match="recompute"):
        ms.recompute(nn.ReLU(), X, **settings)


def test_wrong_options_of_cells_are_refused():
    with pytest.raises(TypeError, match="mp_comm_recompute"):
        nn.ReLU().recompute(mp_comm_recompute="no")
    with pytest.raises(ValueError, match="no_such"):
        nn.ReLU().recompute(no_such=True)
