"""Sequences of variable length, and arithmetic on numbers that only the running graph knows."""

import pytest

import mindspore as ms
from mindspore import Tensor, jit, mutable
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
