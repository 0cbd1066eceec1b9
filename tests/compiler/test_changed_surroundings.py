"""A compiled function sees what has changed around it since: globals, closures, classes, containers, defaults, `construct`.

The oracle is Python: each case is a list of results in PyNative mode.
"""

from __future__ import annotations

import types

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore._base.optional import available

BACKENDS = ("interp", "cpu", *(("xla",) if available("jax") else ()))


class Scale(nn.Cell):
    power = 2

    def __init__(self, weight):
        super().__init__()
        self.w = Parameter(Tensor([weight]), name="w")

    def construct(self, x):
        return x * self.w + 1000 * self.power


class Outer(nn.Cell):
    def __init__(self, weight):
        super().__init__()
        self.inner = Scale(weight)

    def construct(self, x):
        return self.inner(x)


class Settings:
    scale = 2.0
    kind = "linear"


network: nn.Cell = Scale(1.0)
settings = types.ModuleType("settings_of_a_user")


def helper(x):
    return x + 1


def another_helper(x):
    return x + 2


def a_network_that_is_replaced(compiled, x):
    global network
    network = Scale(1.0)
    run = compiled(lambda x: network(x))
    yield run(x)
    network = Scale(2.0)
    yield run(x)
    local = Scale(3.0)
    run = compiled(lambda x: local(x))
    yield run(x)
    local = Scale(4.0)
    yield run(x)


def a_function_that_is_replaced(compiled, x):
    global helper
    run, kept = compiled(lambda x: helper(x)), helper
    yield run(x)
    helper = another_helper
    yield run(x)
    helper = kept


def what_a_class_keeps_for_its_cells(compiled, x):
    net = Outer(1.0)
    run = compiled(lambda x: net(x))
    yield run(x)
    net.inner.power = 7
    yield run(x)
    del net.inner.power
    yield run(x)
    Scale.power = 3
    yield run(x)
    Scale.power = 2


def classes_modules_and_objects_as_settings(compiled, x):
    mine = Settings()
    settings.rate = 3.0
    run = compiled(lambda x: x * Settings.scale * settings.rate * mine.scale if Settings.kind == "linear" else x)
    yield run(x)
    Settings.scale = 5.0
    yield run(x)
    mine.scale = 7.0
    yield run(x)
    settings.rate = 4.0
    yield run(x)
    Settings.kind = "none"
    yield run(x)
    Settings.kind, Settings.scale = "linear", 2.0


def containers_of_containers(compiled, x):
    kept = {"a": 1, "b": {"c": [1, [2]]}}
    others = ([1], {"z": 1}, [Tensor([1.0]), {"t": Tensor([2.0])}], {1, 2})

    def function(x):
        y = x * kept["a"] + 10 * kept["b"]["c"][1][0] + 100 * others[0][0] + others[1]["z"] + len(others[3])
        return y + others[2][0] * others[2][1]["t"]

    run = compiled(function)
    yield run(x)
    kept["a"] = 5
    yield run(x)
    kept["b"]["c"][1][0] = 7
    yield run(x)
    others[0][0] = 3
    yield run(x)
    others[1]["z"] = 4
    yield run(x)
    others[2][1]["t"].add_(1)
    yield run(x)
    others[3].add(9)
    yield run(x)
    kept["b"] = {"c": [0, [0]]}
    yield run(x)


def dictionaries_that_are_gone_through(compiled, x):
    kept = {"a": 1, "b": 2}
    run = compiled(lambda x: x * sum(kept.values()) + len(kept))
    yield run(x)
    kept["b"] = 5
    yield run(x)
    kept["c"] = 1
    yield run(x)


def defaults_that_are_changed_in_place(compiled, x):
    def function(x, factors=[2.0], *, more={"a": 3.0}):  # noqa: B006 - that is the case
        return x * factors[0] + more["a"]

    run = compiled(function)
    yield run(x)
    function.__defaults__[0][0] = 5.0
    yield run(x)
    function.__kwdefaults__["more"]["a"] = 7.0
    yield run(x)


def another_construct(compiled, x):
    class Net(nn.Cell):
        def construct(self, x):
            return x + 1

    net = Net()
    run = compiled(lambda x: net(x))
    yield run(x)
    Net.construct = lambda self, x: x + 2
    yield run(x)
    net.construct = lambda x: x + 3
    yield run(x)


CASES = (
    a_network_that_is_replaced, a_function_that_is_replaced, what_a_class_keeps_for_its_cells, classes_modules_and_objects_as_settings,
    containers_of_containers, dictionaries_that_are_gone_through, defaults_that_are_changed_in_place, another_construct,
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_what_has_changed_is_seen(case):
    x = Tensor([3.0])
    with ms.context.local_context(mode=ms.PYNATIVE_MODE):
        expected = [y.tolist() for y in case(lambda f: f, x)]
    assert len({str(e) for e in expected}) > 1
    with ms.context.local_context(mode=ms.GRAPH_MODE, backend="interp"):
        assert [y.tolist() for y in case(ms.jit, x)] == expected


def test_other_items_of_a_dictionary_may_change():
    """Of what belongs to no item that is asked for, a graph does not depend."""
    state = {"net": ops.neg, "step": 0, "seen": []}
    run = ms.jit(lambda x: state["net"](x))
    for step in range(5):
        state["step"] = step
        state["seen"].append(run(Tensor([1.0])))
    assert run.compile_cache_size == 1


@pytest.mark.parametrize("backend", BACKENDS)
def test_weights_after_a_step_that_met_an_error(backend):
    """Also where earlier steps have left arrays of the backend's own, whose memory a step may take."""
    weight, other = Parameter(Tensor([1.0, 2.0, 3.0]), name="weight"), Parameter(Tensor(np.zeros(3, np.float32)), name="other")

    @ms.jit
    def step(x, i):
        ops.assign(other, weight * x)
        y = ops.gather(weight, i, 0)
        ops.assign(weight, weight + 1)
        return y

    with ms.context.local_context(mode=ms.GRAPH_MODE, backend=backend):
        x, fine, wrong = Tensor([2.0, 2.0, 2.0]), Tensor([0]), Tensor([9])
        assert step(x, fine).tolist() == [1.0]
        for _ in range(2):
            with pytest.raises(IndexError):
                step(x, wrong)
            assert weight.tolist() == [2.0, 3.0, 4.0] and other.tolist() == [2.0, 4.0, 6.0]
        assert step(x, fine).tolist() == [2.0]
        assert weight.tolist() == [3.0, 4.0, 5.0] and other.tolist() == [4.0, 6.0, 8.0]
