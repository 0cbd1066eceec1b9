"""Argument checks: values come back, wrong ones are named."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mindspore._checkparam import Rel, Validator

import mindspore as ms
from mindspore import _checkparam as check


@pytest.mark.parametrize(
    "function, args, expected",
    [
        (check.check_positive_int, (3, "n", "Op"), 3),
        (check.check_int, (3, 3, check.GE), 3),
        (check.check_int_range, (3, 0, 4, check.INC_LEFT), 3),
        (check.check_float_range, (0.5, 0.0, 0.5, check.INC_RIGHT), 0.5),
        (check.check_bool, (True,), True),
        (check.check_string, ("a", ["a", "b"]), "a"),
        (check.check_value_type, ("x", True, [int, bool]), True),
        (check.check_value_type, ("x", (1,), tuple), (1,)),
        (check.twice, (3,), (3, 3)),
        (check.triple, ((1, 2, 3),), (1, 2, 3)),
        (check.check_and_canonicalize_axes, ((0, -1), 3), (0, 2)),
        (check.check_transpose_axis, ((), 3), (2, 1, 0)),
        (check.prepare_shape_for_squeeze, ((1, 2, 1), None), (2,)),
        (check.check_type_name, ("x", ms.float16, [ms.float16, ms.int8], "Op"), ms.float16),
        (check._check_3d_int_or_tuple, ("k", (1, 2, 3), "Op", False, True), (1, 1, 1, 2, 3)),
        (check.check_astype_dtype, ("float32",), ms.float32),
    ],
)
def test_good_values_come_back(function, args, expected):
    assert function(*args) == expected


@pytest.mark.parametrize(
    "function, args, error, words",
    [
        (
            check.check_positive_int,
            (0, "n", "Op"),
            ValueError,
            "For 'Op', the 'n' must be int and must > 0, but got '0'",
        ),
        (check.check_positive_int, (True, "n", "Op"), TypeError, "but got 'True' with type 'bool'"),
        (check.check_positive_int, (1.0, "n", "Op"), TypeError, "For 'Op', the 'n' must be int, but got 'float'"),
        (check.check_positive_int, (-1,), ValueError, "The input value must be int and must > 0"),
        (
            check.check_int_range,
            (5, 0, 3, check.INC_LEFT, "a", "Op"),
            ValueError,
            r"must be in range of [0, 3), but got 5",
        ),
        (check.check_float_range, (1, 0.0, 3.0, check.INC_BOTH), TypeError, "must be 'float'"),
        (check.check_is_float, (float("inf"),), ValueError, "must be a legal float"),
        (check.check_bool, (1, "a", "Op"), TypeError, "For 'Op', the 'a' must be a bool, but got int."),
        (check.check_string, ("q", ["a"], "m", "Op"), ValueError, "must be in '['a']', but got 'q'"),
        (check.check_value_type, ("x", True, [int], "Op"), TypeError, "should be 'int', but got type 'bool'"),
        (check.check_value_type, ("x", 3, (float, str)), TypeError, "one of '['float', 'str']'"),
        (check.check, ("a", 3, "b", 4, check.EQ, "Op"), ValueError, "the 'a' should be = b: 4, but got 3"),
        (check.check_isinstance, ("a", 3, str), ValueError, "must be isinstance of <class 'str'>"),
        (check.check_str_by_regular, ("a b",), ValueError, "'a b' is illegal"),
        (check.twice, ((1, 2, 3),), TypeError, "must be 2"),
        (check.check_axis_in_range, (3, 2), ValueError, "[-2, 2), but got 3"),
        (check.check_and_canonicalize_axes, ((0, -3), 3), ValueError, "duplicate"),
        (check.check_positive_int_sequence, ((1, 0), "a", "Op"), ValueError, "the 'a[1]'"),
        (
            check.check_types_same_and_valid,
            ({"x": ms.int8, "y": ms.int16}, [ms.int8, ms.int16], "Op"),
            TypeError,
            "same",
        ),
        (check.check_subclass, ("x", ms.float32, ms.bool_, "Op"), TypeError, "must be Bool, but got Float32"),
        (check.check_astype_dtype, ("q",), TypeError, "but got 'q'"),
        (check.check_input_data, None, TypeError, "but got type int"),
        (check._check_3d_int_or_tuple, ("k", (1, 2), "Op"), ValueError, "the parameter 'k'"),
    ],
)
def test_wrong_values_are_named(function, args, error, words):
    with pytest.raises(error) as caught:
        function([1], data_class=ms.Tensor) if args is None else function(*args)
    assert words in str(caught.value)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(-5, 5), st.integers(-3, 3), st.integers(-3, 3), st.sampled_from(["(", "["]), st.sampled_from([")", "]"])
)
def test_ranges_include_what_their_brackets_say(value, low, high, left, right):
    rel = {"()": check.INC_NEITHER, "[)": check.INC_LEFT, "(]": check.INC_RIGHT, "[]": check.INC_BOTH}[left + right]
    inside = (value >= low if left == "[" else value > low) and (value <= high if right == "]" else value < high)
    if inside:
        assert check.check_int_range(value, low, high, rel) == value
    else:
        with pytest.raises(ValueError):
            check.check_int_range(value, low, high, rel)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.integers(0, 3), max_size=3).map(tuple), min_size=1, max_size=3))
def test_broadcast_shapes_are_numpys(shapes):
    try:
        expected = np.broadcast_shapes(*shapes)
    except ValueError:
        with pytest.raises(ValueError):
            check.infer_out_shape(*shapes)
    else:
        assert check.infer_out_shape(*shapes) == expected


def test_types_of_arguments_by_decorator():
    @check.args_type_check(a=int, b=(str, None))
    def f(a, b=None, c=1.0):
        return a, b, c

    assert f(1) == (1, None, 1.0) and f(1, None, c=2) == (1, None, 2)
    with pytest.raises(TypeError, match="The parameter 'a' must be <class 'int'>, but got <class 'float'>"):
        f(1.0)
    with pytest.raises(TypeError, match="The parameter 'b'"):
        f(1, 3)


def test_names_of_mindspore_1():
    assert Validator.check_positive_int(2, "n", "Op") == 2
    assert Validator.check_integer("n", 2, 1, Rel.GT) == 2
    with pytest.raises(ValueError, match="must > 0"):
        Validator.check_positive_int(0)
    with pytest.raises(ValueError):
        Validator.check_int_range(3, 0, 2, Rel.INC_BOTH)
