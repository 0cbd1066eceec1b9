"""Lists and dicts that loops of unknown length change, also under other names and in functions they call.

The oracle is Python itself: the same function, not compiled.
"""

import pytest

import mindspore as ms
from mindspore import Tensor


def another_name(x):
    items = [x, x]
    other = items
    while x < 5:
        items[0] = items[0] + x
        x = x + 1
    return other[0], items[0]


def changed_by_its_other_name(x):
    items = [x, x]
    other = items
    while x < 5:
        other[0] = items[0] + x
        x = x + 1
    return other[0], items[0]


def replaced(x):
    items = [x, x]
    other = items
    while x < 5:
        items = [items[0] + x, items[1]]
        x = x + 1
    return other[0], items[0]


def an_inner_list_replaced(x):
    items = [[x], [x]]
    inner, other = items[0], items
    while x < 5:
        items[0] = [items[0][0] + x]
        x = x + 1
    return inner[0], items[0][0], other[0][0]


def an_inner_list_changed(x):
    items = [[x], [x]]
    inner, other = items[0], items
    while x < 5:
        items[0][0] = items[0][0] + x
        x = x + 1
    return inner[0], items[0][0], other[0][0]


def a_dict_and_what_it_holds(x):
    table = {"a": x, "b": [x]}
    other, inner = table, table["b"]
    while x < 5:
        table["a"] = table["a"] + inner[0]
        table["b"][0] = table["b"][0] * 2
        x = x + 1
    return table["a"], other["a"], inner[0]


def under_a_condition(x):
    items = [x, x]
    other = items
    while x < 50:
        if x > 7:
            items[0] = items[0] + x
        else:
            items[1] = other[0]
        x = x * 2
    return other[0], items[0], other[1]


def until_a_break(x):
    items = [x, 1]
    other = items
    for i in range(100):
        if x > 20:
            break
        items[0] = items[0] + i
        x = x + items[0]
    return other[0], x


def a_loop_in_a_loop(x):
    items = [x, 1]
    other = items
    while x < 4:
        while x < 3:
            items[0] = items[0] * 2
            x = x + 0.5
        x = x + 1
        other[0] = other[0] + 1
    return other[0], items[0]


def add_to_first(items, x):
    items[0] = items[0] + x


def changed_by_a_function(x):
    items = [x, x]
    while x < 5:
        add_to_first(items, x)
        x = x + 1
    return items[0]


def rotate(table, x):
    table["n"]["k"].append(x)
    table["n"]["k"].pop(0)


def deep_within_by_a_function(x):
    table = {"n": {"k": [x, x * 2]}}
    inner = table["n"]
    while x < 5:
        rotate(table, x)
        x = x + 1
    return inner["k"][0], table["n"]["k"][1]


def add_up(items, x):
    while x < 5:
        items[0] = items[0] + x
        x = x + 1
    return x


def a_loop_in_a_function(x):
    items = [x, x]
    y = add_up(items, x)
    return items[0], y


def through_a_tuple(x):
    items = [x, x]
    pair = (items, 3)
    while x < 5:
        first, number = pair
        first[0] = first[0] + number
        x = x + 1
    return items[0], x


def by_a_closure(x):
    items = [x]

    def add(y):
        items[0] = items[0] + y

    while x < 5:
        add(x)
        x = x + 1
    return items[0]


def reordered(x):
    items = [x, x * 3]
    other = items
    while x < 5:
        items.reverse()
        items[0] = items[0] + 1
        x = x + 1
    return other[0], items[1]


PROGRAMS = [value for value in dict(globals()).values() if getattr(value, "__code__", None) and value.__code__.co_varnames[:1] == ("x",)]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_as_in_python(function):
    compiled = ms.jit(function)
    for start in (1.0, 2.0, 3.0, 99.0):  # the last: no trip at all
        assert plain(compiled(Tensor(start))) == plain(function(Tensor(start)))


def plain(result):
    return [float(value) for value in (result if isinstance(result, tuple) else (result,))]


def test_gradients_go_through_the_other_name():
    assert ms.grad(lambda x: ms.jit(another_name)(x)[0])(Tensor(3.0)).asnumpy() == 3
