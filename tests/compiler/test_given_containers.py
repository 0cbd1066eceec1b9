"""Lists and dicts that are given to compiled functions, and given back by them, are the caller's own.

The oracle is Python itself: the same function, not compiled.
"""

from __future__ import annotations

import pytest

import mindspore as ms
from mindspore import Tensor, nn

TABLE = {"number": 1, "list": [1, 2]}


def plain(value):
    if isinstance(value, Tensor):
        return value.asnumpy().tolist()
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return type(value)(plain(v) for v in value) if isinstance(value, (list, tuple)) else value


def set_items(table, x):
    table["a"] = x * 2
    table["n"] = 3
    return x


def append(items, x):
    items.append(x + 1)
    items.append(len(items))
    return items[0]


def in_a_branch(items, x):
    if x > 0:
        items[0] = x
    else:
        items[1] = 5
    return x


def in_a_loop(items, x):
    while x < 5:
        items[0] = items[0] + x
        x = x + 1
    return x


def deep_within(pair, x):
    pair[1]["k"].append(x)
    pair[1]["k"].reverse()
    return x


def by_a_function(items, x):
    def clear(what):
        what.clear()
        what.append(x)

    clear(items)
    return x


CALLS = [
    (set_items, lambda: {"a": 1}),
    (append, lambda: [7]),
    (append, lambda: [Tensor(7.0)]),
    (in_a_branch, lambda: [Tensor(1.0), 2]),
    (in_a_loop, lambda: [Tensor(1.0), 2]),
    (deep_within, lambda: (0, {"k": [1, 2]})),
    (by_a_function, lambda: [1, 2, 3]),
]


@pytest.mark.parametrize(("function", "make"), CALLS)
@pytest.mark.parametrize("backend", ["cpu", "interp"])
def test_what_is_left_in_arguments(function, make, backend):
    with ms.context.local_context(backend=backend):
        compiled = ms.jit(function)
        for start in (1.0, -1.0, 2.0):
            given, wanted = make(), make()
            got = compiled(given, Tensor(start))
            expected = function(wanted, Tensor(start))
            assert plain(got) == plain(expected) and plain(given) == plain(wanted)


def test_keyword_arguments_are_filled_in_any_order():
    @ms.jit
    def function(x, **tables):
        tables["b"]["x"] = x
        return tables["a"]

    a, b = {"a": 1}, {"b": 1}
    assert function(Tensor(1.0), a=a, b=b) is a
    assert function(Tensor(2.0), b=b, a=a) is a
    assert a == {"a": 1} and b["x"].asnumpy() == 2


def test_nothing_is_stored_when_the_call_fails():
    @ms.jit
    def function(items, x):
        items[0] = 5
        if x > 0:
            raise ValueError("no")
        return x

    items = [1]
    with pytest.raises(ValueError, match="no"):
        function(items, Tensor(1.0))
    assert items == [1]
    function(items, Tensor(-1.0))
    assert items == [5]


def test_what_is_given_back_is_the_same_object():
    @ms.jit
    def of_the_module():
        return TABLE, (TABLE["list"], 3)

    @ms.jit
    def of_the_call(table, items):
        table["new"] = items
        return table, items

    assert of_the_module()[0] is TABLE and of_the_module()[1][0] is TABLE["list"]
    for _ in range(2):
        table, items = {"a": 1}, [1, 2]
        got = of_the_call(table, items)
        assert got[0] is table and got[1] is items and table == {"a": 1, "new": [1, 2]} and table["new"] is items


def test_attributes_are_given_back():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.table = {"a": [1]}

        def construct(self):
            self.table["b"] = 2
            return self.table, self.table["a"]

    ms.set_context(mode=ms.GRAPH_MODE)
    net = Net()
    table, inner = net()
    assert table is net.table and inner is net.table["a"] and table == {"a": [1], "b": 2}
    net.table = {"a": [5]}
    assert net()[0] is net.table and net()[1] == [5]


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize("compiled", [True, False])
def test_gradients_with_lists_that_change(mode, compiled):
    def function(items, x):
        items.append(x)
        return x * items[0] * items[1]

    ms.set_context(mode=mode)
    of_items, of_x = ms.grad(ms.jit(function) if compiled else function, (0, 1))([Tensor(2.0)], Tensor(3.0))
    assert plain(of_items) == [9] and plain(of_x) == 12
