"""Sequences of variable length, and arithmetic on numbers that only the running graph knows."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, jit, mutable, ops
from mindspore.ops import functional as F


@pytest.mark.parametrize("backend", ["interp", "cpu"])
@pytest.mark.parametrize(("a", "b"), [(6, 3), (-5, 12), (0, 7)])
def test_bitwise_operators_of_mutable_numbers(a, b, backend):
    ms.set_context(backend=backend)

    @jit
    def compiled(x, y):
        return x & y, x | y, x ^ y, ~x, 12 & x, x | 1, 5 ^ y

    assert compiled(mutable(a), mutable(b)) == (a & b, a | b, a ^ b, ~a, 12 & a, a | 1, 5 ^ b)


@pytest.mark.parametrize(("a", "b"), [(1, 1), (1, -1), (-1, -1)])
def test_bitwise_operators_of_conditions_on_numbers(a, b):
    @jit
    def compiled(x, y):
        p, q = x > 0, y > 0
        return p & q, p | q, p ^ q, p & True, isinstance(p & q, bool), p & 3

    p, q = a > 0, b > 0
    assert compiled(mutable(a), mutable(b)) == (p & q, p | q, p ^ q, p, True, p & 3)


@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize(("a", "b"), [((1, 2), (3,)), ((), (3, 4)), ((1, 2), ()), ((), ())])
@pytest.mark.parametrize("dynamic_first", [True, False])
def test_what_is_joined_with_a_dynamic_sequence_is_one(kind, a, b, dynamic_first):
    first, second = kind(a), kind(b)

    @jit
    def compiled():
        left = mutable(first, True) if dynamic_first else first
        right = second if dynamic_first else mutable(second, True)
        joined = left + right
        return joined, F.is_sequence_shape_unknown(joined), F.is_sequence_value_unknown(joined)

    joined, shape_unknown, value_unknown = compiled()
    assert kind(joined) == first + second and shape_unknown and value_unknown


def test_elements_of_joined_sequences_have_one_type():
    @jit
    def compiled(left, right):
        return left + right

    for left, right in [([1], [2.0]), ([Tensor([1])], [Tensor([1, 2])]), ([1], [Tensor(1)])]:
        for pair in [
            (mutable(left, True), mutable(right, True)),
            (left, mutable(right, True)),
            (mutable(left, True), right),
        ]:
            with pytest.raises(TypeError, match="is not same with the element of second input"):
                compiled(*pair)


def test_a_slice_of_a_dynamic_list_is_replaced():
    @jit
    def compiled():
        a = mutable([1, 2, 3, 4], True)
        a[0:2] = [7, 8, 9, 10, 11]
        return a, F.is_sequence_shape_unknown(a)

    found, unknown = compiled()
    assert list(found) == [7, 8, 9, 10, 11, 3, 4] and unknown


def test_values_put_into_a_dynamic_list_have_its_type():
    @jit
    def one():
        a = mutable([1, 2], True)
        a[0] = 1.0
        return a

    @jit
    def several():
        a = mutable([1, 2, 3], True)
        a[0:2] = [2, 3.0]
        return a

    with pytest.raises(TypeError, match="element within dynamic length sequence"):
        one()
    with pytest.raises(ValueError, match="can not convert to dynamic length sequence"):
        several()


@pytest.mark.parametrize("empty", [(), []])
def test_nothing_is_chosen_from_an_empty_sequence(empty):
    with pytest.raises(ValueError, match="from an empty sequence"):
        jit(lambda m, i: m[i])(mutable(empty), mutable(1))


@pytest.mark.parametrize("backend", ["interp", "cpu"])
@pytest.mark.parametrize("items", [(1, 2, 3), (0.1, 0.2, 0.3), (True, False, True)])
@pytest.mark.parametrize("index", [2, -3, Tensor(1)])
def test_a_number_chosen_while_the_graph_runs_is_a_number(items, index, backend):
    ms.set_context(backend=backend)

    @jit
    def compiled(known, unknown, any_length, i):
        return known[i], unknown[i], any_length[i], known[i] + unknown[i]

    chosen = items[int(index)]
    found = compiled(items, mutable(items), mutable(items, True), mutable(index) if isinstance(index, int) else index)
    assert found == (chosen, chosen, chosen, chosen + chosen)
    assert [type(f) for f in found] == [type(chosen)] * 3 + [type(chosen + chosen)]


@pytest.mark.parametrize("index", [3, -4, -5])
def test_a_number_chosen_beyond_the_end_is_refused(index):
    @jit
    def compiled(numbers, i):
        return numbers[i]

    with pytest.raises(IndexError):
        compiled((1, 2, 3), mutable(index))


def test_numbers_of_a_sequence_of_variable_length_add_up_to_a_number():
    @jit
    def compiled(numbers):
        total = 0
        for i in range(len(numbers)):
            total = total + numbers[i]
        return total

    assert compiled(mutable((1, 2, 3), True)) == 6
    assert type(compiled(mutable((1, 2, 3, 4), True))) is int


@pytest.mark.parametrize("backend", ["interp", "cpu"])
@pytest.mark.parametrize("index", [0, 1])
def test_bools_of_the_running_graph_count_as_numbers(index, backend):
    ms.set_context(backend=backend)
    flags = (True, False)

    @jit
    def compiled(i, x):
        a, b = flags[i], bool(x)
        return a + b, a - b, a * b, a / b, a // b, a % b, a**b, -a, +a, abs(a), ~a, sum((a, b)), a and b

    a, b = flags[index], True
    expected = (a + b, a - b, a * b, a / b, a // b, a % b, a**b, -a, +a, abs(a), ~int(a), sum((a, b)), a and b)
    found = compiled(mutable(index), Tensor(2.0))
    assert found == expected
    assert [type(f) for f in found] == [type(e) for e in expected]


@pytest.mark.parametrize("backend", ["interp", "cpu"])
@pytest.mark.parametrize(("a", "b"), [(3, 5), (0, 1), (2.5, -1.0)])
def test_conditions_on_numbers_are_bools(a, b, backend):
    ms.set_context(backend=backend)

    def conditions(a, b):
        return not a, a > 1 and b > 1, a > 1 or b > 4, a < b < 7, not a > b, a in (0, b), b not in (0, a)

    found = jit(conditions)(mutable(a), mutable(b))
    assert found == conditions(a, b)
    assert {type(f) for f in found} == {bool}
    assert all(isinstance(f, Tensor) for f in jit(conditions)(Tensor(a), Tensor(b)))


def test_truth_values_choose_elements_as_numbers():
    def decided(x):
        first = x > 0
        items = (x, x + 1, x + 2)
        return items[first], items[x < 0]

    def assigned(x):
        if x > 0:
            place = True
        else:
            place = False
        items = [x, x + 1]
        return items[place], items[not place]

    def numbers(x, n):
        return [10, 20, 30][n == 1], (x, x * 2)[n == 2]

    def functions(x):
        return (ops.sin, ops.cos)[x > 0](x), x

    for x in (Tensor(2.0), Tensor(-2.0)):
        for function in (decided, assigned, functions):
            for got, wanted in zip(ms.jit(function)(x), function(x)):
                np.testing.assert_allclose(got.asnumpy(), wanted.asnumpy(), rtol=1e-6)
        for n in (1, 2):
            got, wanted = ms.jit(numbers)(x, mutable(n)), numbers(x, n)
            assert got[0] == wanted[0] and got[1] == wanted[1]
