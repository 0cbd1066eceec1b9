"""Lists, dicts, sets and arrays from outside of a compiled function mean what they mean in Python.

The oracle is Python itself: the same program runs compiled and with the compiler switched off (`MS_JIT=0`), step by step.
"""

import dataclasses
import warnings
from collections import OrderedDict, deque

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops


def plain(value):
    """What a structure holds, as Python numbers."""
    if isinstance(value, Tensor):
        return value.asnumpy().tolist()
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, deque)):
        return [plain(v) for v in value]
    return value


def compare(make, monkeypatch, calls=3, backends=("cpu", "interp")):
    """`make()` gives a function of one tensor and what it shares with the world outside."""

    def run():
        function, world = make()
        seen = []
        for i in range(calls):
            seen.append((plain(function(Tensor([float(i + 1)]))), plain(world)))
        return seen

    monkeypatch.setenv("MS_JIT", "0")
    expected = run()
    monkeypatch.delenv("MS_JIT")
    for backend in backends:
        with ms.context.local_context(backend=backend):
            assert run() == expected


def appending():
    log = []

    @ms.jit
    def f(x):
        log.append(x * 2)
        return x + len(log)

    return f, log


def reversing():
    log = [1, 2, 3]

    @ms.jit
    def f(x):
        log.reverse()
        log.append(7)
        return x * log[0]

    return f, log


def counting():
    state = {"steps": 0, "mean": Tensor([0.0])}

    @ms.jit
    def f(x):
        state["steps"] += 1
        state["mean"] = state["mean"] * 0.5 + x
        return x * state["steps"]

    return f, state


def remembering():
    """A memo: the second call finds what the first one stored."""
    memo = {}

    @ms.jit
    def f(x):
        if x.shape not in memo:
            memo[x.shape] = [1.0, 2.0]
        return x * memo[x.shape][1]

    return f, {}


def in_both_branches():
    log = []

    @ms.jit
    def f(x):
        if x.sum() > 1:
            log.append(x * 2)
        else:
            log.append(x * 3)
        return x

    return f, log


def in_one_branch():
    log = []

    @ms.jit
    def f(x):
        if x.sum() > 1:
            log.append(x * 2)
        return x

    return f, log


def in_a_loop():
    log = []

    @ms.jit
    def f(x):
        i = Tensor(0)
        while i < 3:
            log.append(x * i)
            i = i + 1
        return x

    return f, log


def nested():
    inner = [1]
    outer = {"inner": inner, "other": (inner, 5)}

    @ms.jit
    def f(x):
        outer["inner"].append(2)
        outer["more"] = [inner]
        return x * len(outer["other"][0])

    return f, [inner, outer]


def sets_and_queues():
    seen, queue = {1}, deque([1, 2], maxlen=3)

    @ms.jit
    def f(x):
        seen.add(len(seen) + 1)
        queue.append(len(seen))
        return x * len(seen) + queue[0]

    return f, queue


def in_an_attribute():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.kept, self.named = [], {}

        @ms.jit
        def construct(self, x):
            self.kept.append(x + 1)
            self.named["last"] = x
            return self.kept[0] + len(self.kept)

    net = Net()
    return net, [net.kept, net.named]


def written_array():
    array = np.array([1.0, 2.0], np.float32)

    @ms.jit
    def f(x):
        array[0] += 1
        return x * float(array[0])

    return f, []


@pytest.mark.parametrize(
    "make",
    [
        appending, reversing, counting, remembering, in_both_branches, in_one_branch, in_a_loop, nested, sets_and_queues,
        in_an_attribute, written_array,
    ],
)  # fmt: skip
def test_what_a_function_leaves_in_containers_is_there_after_each_call(make, monkeypatch):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where it has to run as plain Python
        compare(make, monkeypatch)


def test_the_objects_stay_the_same():
    function, outer = nested()
    inner = outer[0]
    function(Tensor([1.0]))
    assert outer[1]["inner"] is inner and outer[1]["other"][0] is inner and outer[1]["more"][0] is inner


def test_a_memo_is_compiled_twice_and_no_more():
    function, _ = remembering()
    for _ in range(4):
        function(Tensor([1.0]))
    assert function.compile_cache_size == 2


def test_a_list_that_grows_at_every_call_ends_compilation_with_a_warning():
    function, log = appending()
    with pytest.warns(UserWarning, match="each call changes a list or dict"):
        for _ in range(12):
            function(Tensor([1.0]))
    assert len(log) == 12


def test_tracing_alone_changes_nothing():
    function, log = appending()
    function.compile(Tensor([1.0]))
    assert log == []


def test_an_error_in_the_middle_leaves_containers_as_they_were():
    log = []

    @ms.jit
    def f(x):
        log.append(x)
        return ops.matmul(x, x)

    with pytest.raises(ValueError):
        f(ops.ones((2, 3)))
    assert log == []


def test_values_left_in_a_list_have_gradients_within_the_call():
    log = []

    def f(p, x):
        log.append(p * x)
        return (log[-1] * p).sum()

    assert float(ms.jit(ms.grad(f))(Tensor(3.0), Tensor(2.0))) == 12.0
    assert plain(log) == [6.0]


class Settings:
    scale = 2.0
    table = [1, 2]


def changes():
    """A function that reads something, and what changes it: (function, change, factor before, factor after)."""
    cfg, lists, numbers = {"a": 1, "in": {"b": [2]}}, [[1, 2], [3]], {1, 2}
    array, tensors = np.array([1.0], np.float32), [Tensor(2.0)]

    class Net(nn.Cell):
        rate = 3.0

        def __init__(self):
            super().__init__()
            self.cfg = {"k": (1, [2])}

        @ms.jit
        def construct(self, x):
            return x * self.cfg["k"][1][0] * self.rate

    net, second = Net(), Net()
    yield ms.jit(lambda x: x * cfg["a"]), lambda: cfg.update(a=5), 1, 5
    yield ms.jit(lambda x: x * cfg["in"]["b"][0]), lambda: cfg["in"]["b"].__setitem__(0, 7), 2, 7
    yield ms.jit(lambda x: x * lists[0][1]), lambda: lists[0].__setitem__(1, 9), 2, 9
    yield ms.jit(lambda x: x * len(numbers)), lambda: numbers.add(3), 2, 3
    yield ms.jit(lambda x: x * Tensor(array)), lambda: array.fill(4), 1, 4
    yield ms.jit(lambda x: x * tensors[0]), lambda: tensors[0].assign_value(Tensor(6.0)), 2, 6
    yield net, lambda: net.cfg["k"][1].__setitem__(0, 8), 6, 24
    yield second, lambda: setattr(Net, "rate", 5.0), 6, 10
    yield ms.jit(lambda x: x * Settings.scale), lambda: setattr(Settings, "scale", 11.0), 2, 11
    yield ms.jit(lambda x: x * Settings.table[0]), lambda: Settings.table.__setitem__(0, 13), 1, 13


@pytest.mark.parametrize("case", list(changes()), ids=lambda case: f"{case[2]} to {case[3]}")
def test_a_graph_is_not_used_for_other_contents(case):
    function, change, before, after = case
    x = Tensor([10.0])
    assert plain(function(x)) == plain(function(x)) == [10.0 * before]
    change()
    assert plain(function(x)) == [10.0 * after]


def test_ordered_dictionaries_stay_whole():
    """They keep their order beside their items: both are put back after a trace, for slices of CellList, too."""

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layers = nn.CellList([nn.ReLU(), nn.Tanh(), nn.ReLU()])
            self.scales = OrderedDict(a=1.0, b=2.0)
            self.scales.move_to_end("a")

        def construct(self, x):
            self.scales["c"] = 3.0
            for layer in self.layers[:-1]:
                x = layer(x)
            return self.layers[-1](x) * self.scales["b"]

    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE) * 2:
        net = Net()
        with ms.context.local_context(mode=mode):
            assert net(Tensor([1.0, -2.0])).asnumpy() == pytest.approx(2 * np.tanh([1.0, 0.0]), rel=1e-5)
        assert len(net.layers) == 3 and [type(layer).__name__ for layer in net.layers] == ["ReLU", "Tanh", "ReLU"]
        assert list(net.scales)[:2] == ["b", "a"] and len(net.scales) == len(list(net.scales.values()))


@dataclasses.dataclass
class Basket:
    items: list = dataclasses.field(default_factory=list)


def with_a_slice_of_cells():
    cells = nn.CellList([nn.ReLU(), nn.Tanh(), nn.ReLU()])

    def f(x):
        for cell in cells[:-1]:
            x = cell(x)
        return x

    return f


def with_an_object_of_its_own():
    def f(x):
        basket = Basket()
        basket.items.append(x)
        return basket.items[0] * len(basket.items)

    return f


@pytest.mark.parametrize("make", [with_a_slice_of_cells, with_an_object_of_its_own])
def test_what_the_function_makes_itself_is_not_from_outside(make):
    function = ms.jit(make())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = {plain(function(Tensor([0.5])))[0] for _ in range(12)}
    assert len(results) == 1 and function.compile_cache_size == 1


def test_a_compiled_cell_that_changes_a_list_ends_as_plain_python():
    @ms.jit
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.log = []

        def construct(self, x):
            self.log.append(x)
            return x + 1

    net = Net()
    with pytest.warns(UserWarning, match="plain Python"):
        for _ in range(12):
            net(Tensor([1.0]))
    assert len(net.log) == 12


def test_cells_within_cells_are_from_outside():
    class Keeps(nn.Cell):
        def __init__(self):
            super().__init__()
            self.kept = []

        def construct(self, x):
            self.kept.append(x * 2)
            return x

    net = nn.SequentialCell(Keeps(), Keeps())
    ms.jit(ms.grad(lambda x: net(x).sum()))(Tensor([3.0]))
    assert [plain(cell.kept) for cell in net] == [[[6.0]], [[6.0]]]
