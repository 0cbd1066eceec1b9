"""Functions that use each feature of the language, with arguments. Nothing here needs a test runner: GPU checks use them too."""

import math
from collections import namedtuple

import numpy as np

from mindspore import Tensor, ops

CASES = []


def case(*argument_sets):
    def add(fn):
        for i, arguments in enumerate(argument_sets):
            CASES.append((f"{fn.__name__}-{i}", fn, arguments))
        return fn

    return add


def t(*values, dtype=None):
    return Tensor(values[0] if len(values) == 1 else list(values), dtype)


# -- expressions ------------------------------------------------------------------------------------------------------
@case((t(1.0, 2.0), t(3.0, 4.0)))
def arithmetic(x, y):
    return x + y, x - y, x * y, x / y, x // y, x % y, x**y, -x, abs(-x), 2 * x, 1 / x, 5 - x, 2**x


@case((t(5), t(3)))
def integer_arithmetic(x, y):
    return x // y, x % y, x & y, x | y, x ^ y, -x, x + 1.5


@case((t(1.0),), (t(5.0),), (t(-3.0),))
def chained_comparison(x):
    return 0 < x < 3, x >= 1, x != 5


@case((t(1.0), t(0.0)), (t(0.0), t(0.0)), (t(2.0), t(2.0)))
def boolean_operators(x, y):
    return (x > 0 and y > 0), (x > 0 or y > 0), not (x > 0)


@case((t(1.0), None), (t(1.0), t(2.0)))
def none_tests(x, y):
    return x if y is None else x + y


@case((t(3.0),), (t(-3.0),))
def conditional_expression(x):
    return x * 2 if x > 0 else x - 1


@case((t(3.0),))
def strings(x):
    name = f"{'a'}{1 + 1:03d}"
    return x * len(name), "b" in name, name == "a002", name.upper() + "x" * 2


@case(
    (t(1.0), 3),
)
def containers(x, n):
    pair = (x, x * 2)
    items = [x, *pair, n]
    table = {"a": x, "b": pair}
    table["c"] = items[1:3]
    first, *rest = items
    return items, table, {1, 2} | {3}, first, rest, len(items), pair + (n,)


@case((t(1.0),))
def comprehensions(x):
    squares = [x * i for i in range(4) if i % 2 == 0]
    table = {k: v + x for k, v in zip("ab", (1, 2))}
    pairs = [(i, j) for i in range(3) for j in range(i)]
    total = sum(x * i for i in range(3))
    return squares, table, pairs, total


@case((t([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),))
def indexing(x):
    return x[0], x[:, 1], x[..., -1], x[1, 2], x[None, :, ::2], x[0:1], x[:, [0, 2]], x[-1]


@case((t([[1.0, 2.0], [3.0, 4.0]]), t(9.0)))
def index_assignment(x, v):
    y = x * 1
    y[0, 1] = v
    y[1] = 7
    y[:, 0] += 1
    return y, x


@case((t(2.0),))
def walrus_and_slices(x):
    if (n := 3) > 2:
        x = x * n
    return x, [1, 2, 3, 4][1:-1], "abc"[::-1]


# -- functions ----------------------------------------------------------------------------------------------------------
def helper(x, scale=2, *extra, offset=0, **named):
    return x * scale + offset + sum(extra) + sum(named.values())


@case((t(1.0),))
def calls(x):
    args, kwargs = (3, 4), {"offset": 5, "z": 6}
    return helper(x), helper(x, 3), helper(x, *args), helper(x, **kwargs), helper(x, offset=1), helper(x, 1, 2, 3, a=4)


@case((t(2.0),))
def closures(x):
    y = x + 1

    def inner(a, b=2):
        return a * y + b

    def counter():
        n = 0

        def bump():
            nonlocal n
            n += 1
            return n

        bump()
        return bump()

    twice = lambda f, v: f(f(v))
    return inner(x), inner(x, b=5), twice(inner, x), counter()


@case((t(2.0),))
def higher_order(x):
    doubled = list(map(lambda v: v * 2, (x, x + 1)))  # noqa: C417
    return doubled, [f(x) for f in (ops.abs, ops.neg)], max(x, x + 1), min(1, 2)


def even(n, x):
    return x if n == 0 else odd(n - 1, x + 1)


def odd(n, x):
    return x * 2 if n == 0 else even(n - 1, x * 3)


@case((t(1.0),))
def static_recursion(x):
    return even(4, x), odd(5, x)


def factorial(n):
    if n <= 1:
        return n * 0 + 1
    return n * factorial(n - 1)


@case((t(5),), (t(0),))
def dynamic_recursion(n):
    return factorial(n)


def is_even(n):
    if n <= 0:
        return n == 0
    return is_odd(n - 1)


def is_odd(n):
    if n <= 0:
        return n != 0
    return is_even(n - 1)


@case((t(7),), (t(4),))
def mutual_recursion(n):
    return is_even(n)


Pair = namedtuple("Pair", "left right")


@case((t(2.0),))
def named_tuples(x):
    p = Pair(x, x + 1)
    return p.left * p.right, p[0], Pair(right=x, left=1)


class Scaler:
    factor = 3

    def __init__(self, shift):
        self.shift = shift

    def apply(self, x):
        if x.sum() > 0:
            return x * self.factor + self.shift
        return x

    def __call__(self, x):
        return self.apply(x)

    @staticmethod
    def double(x):
        return x * 2

    @classmethod
    def triple(cls, x):
        return x * cls.factor


@case((t(2.0),), (t(-2.0),))
def user_classes(x):
    s = Scaler(1)
    return s.apply(x), s(x), Scaler.double(x), Scaler.triple(x)


@case((t(4.0),))
def library_calls(x):
    return (
        math.sqrt(16) * x,
        np.prod([2, 3]) * x,
        isinstance(x, Tensor),
        isinstance(3, int),
        x.shape,
        hasattr(x, "foo"),
    )


# -- statements -----------------------------------------------------------------------------------------------------------
@case((t(1.0),), (t(-1.0),), (t(0.0),))
def if_elif_else(x):
    if x > 0:
        y = x * 2
        z = 1
    elif x < 0:
        y = x * 3
        z = 2
    else:
        y = x + 10
        z = 3
    return y, z


@case((t(1.0),), (t(-1.0),), (t(20.0),))
def early_returns(x):
    if x > 10:
        return x
    x = x + 1
    if x > 1:
        x = x * 2
        if x > 3:
            return x * 100
        return x * 10
    return x - 5


@case((t(1.0), 3), (t(100.0), 3))
def while_on_tensor(x, n):
    i = 0
    while x < 50:
        x = x * n
        i += 1
    return x, i


@case((t(1.0),))
def while_static(x):
    i = 0
    while i < 5:
        x = x + i
        i += 1
    else:
        x = x * 2
    return x, i


@case((t(1.0),), (t(40.0),))
def while_break_continue(x):
    i = 0
    total = x * 0
    while x < 100:
        i += 1
        x = x + 7
        if x > 60:
            break
        if i % 2 == 0:
            continue
        total = total + x
    return x, total, i


@case((t(1.0),), (t(200.0),))
def while_true(x):
    while True:
        x = x * 2
        if x > 50:
            break
    return x


@case((t(1.0),), (t(30.0),))
def return_in_loop(x):
    for i in range(6):
        x = x + i
        if x > 8:
            return x * 100, i
    return x, -1


@case((t(1.0),), (t(9.0),))
def return_in_while(x):
    while x < 20:
        if x > 8:
            return x * 100
        x = x + 3
    return x


@case((t(1.0),), (t(5.0),))
def for_with_break_on_tensor(x):
    for i in range(4):
        if x > 4:
            break
        x = x + i
    return x


@case((t(1.0),), (t(5.0),))
def for_with_continue_on_tensor(x):
    total = x * 0
    for i in range(4):
        if x * i > 4:
            continue
        total = total + i
    return total


@case((t([1.0, 2.0, 3.0]),))
def for_over_things(x):
    out = []
    for v in x:
        out.append(v * 2)
    for i, v in enumerate((1, 2)):
        out.append(v * i)
    for a, b in zip([1, 2], (x, x + 1)):
        out.append(a * b)
    for k, v in {"a": 1, "b": 2}.items():
        out.append(len(k) + v)
    return out


@case((t(0.0),))
def long_loop_rolls_up(x):
    for i in range(2000):
        x = x + i
    return x


@case((t(10),), (t(0),))
def range_of_tensor(n):
    total = n * 0
    for i in range(n):
        total = total + i
    return total


@case((t(1.0),))
def nested_loops(x):
    for i in range(3):
        for j in range(3):
            if j > i:
                continue
            x = x + i * j
    return x


@case((t(2.0),), (t(0.5),))
def nested_while(x):
    y = x
    while y < 30:
        z = y
        while z < 10:
            z = z * 2
        y = y + z
    return y


@case((t(1.0),), (t(-1.0),))
def lists_in_branches(x):
    items = [x, x * 2]
    if x > 0:
        items[0] = x * 10
        items.append(x)
    else:
        items[1] = x * 20
        items.append(x * 3)
    return items


@case((t(1.0),))
def try_and_with(x):
    try:
        {}["missing"]
    except KeyError:
        x = x + 1
    finally:
        x = x * 2

    class Managed:
        def __enter__(self):
            return 3

        def __exit__(self, *exc):
            return False

    with Managed() as n:
        x = x + n
    return x


@case((t(1.0),))
def dict_and_list_methods(x):
    d = {"a": x}
    d.update(b=x * 2)
    items = [3, 1, 2]
    items.sort()
    items.insert(0, x)
    items.extend([4])
    last = items.pop()
    return d.get("c", 5), d.pop("b"), sorted(d), items, last, list(d.keys()), [3, 1].index(1), (1, 1).count(1)


@case((t(1.0),), (t(-2.0),))
def tensor_truth_in_all_places(x):
    a = 1 if x else 2
    b = bool(x > 0)
    c = int(x) + 1
    d = float(x) * 2
    return a, b, c, d


@case((t(3.0),))
def augmented(x):
    y = x
    y += 1
    y *= 2
    y -= 1
    y /= 2
    y **= 2
    z = [1]
    z += [2]
    return y, z


@case((t(2.0),))
def asserts_and_del(x):
    y = x + 1
    assert isinstance(y, Tensor), "never"
    del y
    pass
    return x


@case((t(1.0, 2.0), t(3)), (t(1.0, 2.0), t(0)))
def while_with_an_assigning_condition(x, n):
    while (k := n * 2) > 0:
        x = x + k
        n = n - 1
    return x, k


@case((t(1.0, 2.0), t(5)), (t(9.0, 9.0), t(5)))
def while_with_an_assigning_condition_left_early(x, n):
    while (k := n * 2) > 0:
        x = x + k
        n = n - 1
        if x.sum() > 30:
            break
    return x, k


@case((t(1.0, 2.0),), (t(-1.0, 0.5),))
def generators(x):
    def multiples(count):
        for i in range(count):
            if x.sum() > i:
                yield x * i
        yield from (x, x + 1)

    def pairs():
        for i in range(2):
            yield i, x * i

    return list(multiples(3)), sum(v * k for k, v in pairs())


@case((t([1.0, 2.0], [-3.0, 1.0]),), (t([-1.0, -2.0], [-3.0, 1.0]),))
def comprehension_with_a_run_time_condition(x):
    kept = [row for row in x if row.sum() > 0]
    return len(kept), kept


@case((t(1.0, 2.0),), (t(-1.0, -2.0),))
def return_out_of_try(x):
    try:
        if x.sum() > 0:
            return x * 2
        y = x
    except ValueError:
        y = x + 1
    return y


@case((t(1.0, 2.0),), (t(8.0, 1.0),))
def while_with_else_and_break(x):
    while x.sum() < 20:
        x = x * 2
        if x.max() > 12:
            break
    else:
        x = x * 10
    return x


@case((t(1.0, 2.0), t(2)), (t(1.0, 2.0), t(3)))
def range_with_a_run_time_step(x, n):
    for i in range(0, 6, n):
        x = x + i
    return x


@case((t(1.0, 2.0), t(3)), (t(1.0, 2.0), t(0)))
def recursion_that_uses_variables_around(x, n):
    def down(k):
        if k < 1:
            return x
        return down(k - 1) + x

    return down(n)


def numbers_of(value):
    """A result as nested lists of NumPy values, with numbers and 0-d tensors alike."""
    if isinstance(value, Tensor):
        return value.asnumpy()
    if isinstance(value, (tuple, list)):
        return [numbers_of(v) for v in value]
    if isinstance(value, dict):
        return {k: numbers_of(v) for k, v in value.items()}
    return value


def assert_same(a, b):
    a, b = numbers_of(a), numbers_of(b)
    if isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            assert_same(x, y)
    elif isinstance(a, dict):
        assert a.keys() == b.keys()
        for k in a:
            assert_same(a[k], b[k])
    elif isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=1e-5)
    else:
        assert a == b
