"""Mistakes with known values in compiled functions: the words users know, at the user's line."""

from __future__ import annotations

import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.ops import functional as F


@pytest.mark.parametrize(
    "function, kind, words",
    [
        (lambda x: x + 5 / 0, ValueError, "The divisor could not be zero"),
        (lambda x: x + 5 // 0, ZeroDivisionError, "The divisor could not be zero"),
        (lambda x: x + 5 % 0, ValueError, "Cannot perform modulo operation on zero"),
        (lambda x: [x + i for i in range(1, 2, 0)], ValueError, "'step' could not be 0"),
        (lambda x: x + (1 << -2), ValueError, "shift count must be a non-negative integer, but got -2"),
        (lambda x: x + (1.0 >> 2), TypeError, "only integer types are supported, but got 1.0"),
        (lambda x: [x + i for i in range()], TypeError, r"For 'range', the input size should within \[1, 3\] but got 0"),
        (lambda x: [x + i for i in range(1, 2, 3, 4)], TypeError, "but got 4"),
        (lambda x: [x + i for i in range(0, 0.5)], TypeError, "the 1th input should be a int scalar but got 0.5"),
        (lambda x: [x + i for i in range(x[0] + 0.5)], TypeError, "the 0th input should be a int scalar but got .*Float"),
        (lambda x: [x + i for i in range(x)], TypeError, "the 0th input should be a int scalar"),
        (lambda x: x[1.01:], TypeError, "Slice indices must be integers or bool"),
        (lambda x: list(zip()), ValueError, "zip operator must have at least 1 argument"),
        (lambda x: list(x.sum()), TypeError, "Cannot iterate over a scalar tensor"),
        (lambda x: ops.Abs()(x, x), TypeError, r"For 'Abs', 1 argument \(x\) must be given, but got 2"),
    ],
)
def test_a_mistake_with_known_values_is_named(function, kind, words):
    with pytest.raises(kind, match=words) as caught:
        ms.jit(function)(Tensor([1, 2, 3]))
    assert __file__ in str(caught.value)


@pytest.mark.parametrize(
    "y, kind, words",
    [
        ((2, 2), ValueError, "must be the same"),
        ((2, 2, 2.0), TypeError, "int64 number"),
        ((2, 2, 0), ZeroDivisionError, "should not be 0"),
        ((2, 3, 4), ValueError, "divisible"),
    ],
)
def test_tuple_div_divides_whole_numbers_only(y, kind, words):
    assert F.tuple_div((8, 14, 20), (2, 7, 5)) == (4, 2, 4)
    with pytest.raises(kind, match=words):
        F.tuple_div((8, 14, 20), y)


def test_jit_class_is_not_for_cells():
    with pytest.raises(TypeError, match=r"cannot be used for nn\.Cell"):
        ms.jit_class(type("Net", (nn.Cell,), {}))


def test_ms_jit_0_runs_functions_as_plain_python(monkeypatch):
    runs = []

    @ms.jit
    def function(x):
        runs.append(1)
        return x * 2

    monkeypatch.setenv("MS_JIT", "0")
    for _ in range(2):
        assert function(Tensor(3)).asnumpy() == 6
    assert len(runs) == 2


def test_lists_of_variable_length_may_hold_tensors_of_different_shapes():
    @ms.jit
    def function():
        return ms.mutable([Tensor([[1, 2, 3]]), Tensor([[2]])], True)

    assert [x.shape for x in function()] == [(1, 3), (1, 1)]
    with pytest.raises(ValueError, match="The element type do not match"):
        ms.mutable([Tensor([1]), Tensor([1.0])], True)


@pytest.mark.parametrize("name", ["map", "zip", "enumerate"])
def test_sequences_of_variable_length_are_not_run_through(name):
    call = {"map": lambda s: map(abs, s), "zip": lambda s: zip(s, s), "enumerate": lambda s: enumerate(s)}[name]

    @ms.jit
    def function():
        return list(call(ms.mutable((1, 2, 3), True)))

    with pytest.raises(RuntimeError, match=f"For '{name}', the dynamic length input is unsupported in graph mode"):
        function()


def test_numbers_whose_count_is_unknown_are_a_tuple_of_unknown_length():
    @ms.jit
    def function(n):
        sequence = range(n)
        return isinstance(sequence, tuple), F.is_sequence_shape_unknown(sequence)

    assert function(ms.mutable(3)) == (True, True)
    assert ms.jit(lambda n: len(range(n)))(ms.mutable(3)) == 3
    with pytest.raises(TypeError, match="should be a int scalar but got"):
        ms.jit(lambda n: list(range(n)))(Tensor([3]))


def test_switch_takes_one_truth_value():
    assert F.switch(Tensor([True]), Tensor([1, 2]), Tensor([3, 4])).tolist() == [1, 2]
    with pytest.raises(ValueError, match="truth value of an array with more than one element is ambiguous"):
        F.switch(Tensor([True, False]), Tensor([1, 2]), Tensor([3, 4]))


def test_a_variable_that_a_loop_replaces_may_change_its_type():
    @ms.jit
    def function(n, y):
        while n > 0:
            y = ops.sin(n.astype(ms.float32)).reshape(1)
            n = n - 1
        return y + 1

    assert function(Tensor(0), Tensor(7)).tolist() == 8
    assert function(Tensor(2), Tensor(7)).asnumpy() == pytest.approx([1.8414710], abs=1e-6)
