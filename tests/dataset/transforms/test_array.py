"""Transforms of any array, against NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import mindspore._base.dtype as mstype
from mindspore.dataset import transforms


@settings(max_examples=40, deadline=None)
@given(
    hnp.arrays(
        st.sampled_from([np.int32, np.uint8, np.float32]), hnp.array_shapes(max_dims=3), elements=st.integers(0, 99)
    ),
    st.sampled_from(["int8", "uint16", "float64", "bool"]),
)
def test_type_cast(array, dtype):
    done = transforms.TypeCast(dtype)(array)
    np.testing.assert_array_equal(done, array.astype(dtype))
    assert done.dtype == np.dtype(dtype)


def test_type_cast_takes_every_spelling_of_a_type():
    for spelling in (mstype.int16, np.int16, "int16", np.dtype("int16")):
        assert transforms.TypeCast(spelling)(3).dtype == np.int16
    for wrong in (None, "nonsense", 3):
        with pytest.raises(TypeError, match="data_type"):
            transforms.TypeCast(wrong)
    with pytest.raises(RuntimeError, match="from string to uint8"):
        transforms.TypeCast(np.uint8)(np.array(["1"]))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=8), st.sampled_from([0.0, 0.1, 1.0]))
def test_one_hot(labels, rate):
    hot = transforms.OneHot(10, rate)(np.array(labels))
    expected = np.eye(10)[labels] * (1 - rate) + rate / 10
    np.testing.assert_allclose(hot, expected[0] if len(labels) == 1 else expected, atol=1e-12)
    np.testing.assert_allclose(transforms.OneHot(10, rate).batched(np.array(labels)), expected, atol=1e-12)


def test_one_hot_errors():
    assert transforms.OneHot(3)(np.array(2, np.uint8)).dtype == np.uint8
    with pytest.raises(RuntimeError, match="num classes: 3, but got: 3"):
        transforms.OneHot(3)(np.array(3))
    with pytest.raises(RuntimeError, match="int type"):
        transforms.OneHot(3)(np.array(1.0))
    with pytest.raises(ValueError, match="greater than 0"):
        transforms.OneHot(0)
    with pytest.raises(ValueError, match=r"smoothing_rate.*\[0.0, 1.0\]"):
        transforms.OneHot(3, 1.5)


@settings(max_examples=40, deadline=None)
@given(hnp.arrays(np.int32, hnp.array_shapes(min_dims=2, max_dims=2, max_side=5)), st.integers(1, 6), st.integers(1, 6))
def test_pad_end(array, rows, columns):
    done = transforms.PadEnd([rows, columns], -1)(array)
    assert done.shape == (rows, columns)
    kept_rows, kept_columns = min(rows, array.shape[0]), min(columns, array.shape[1])
    np.testing.assert_array_equal(done[:kept_rows, :kept_columns], array[:kept_rows, :kept_columns])
    outside = np.ones((rows, columns), bool)
    outside[:kept_rows, :kept_columns] = False
    assert (done[outside] == -1).all()


def test_pad_end_of_strings_and_errors():
    assert transforms.PadEnd([3], "xyz")(np.array(["a"])).tolist() == ["a", "xyz", "xyz"]
    assert transforms.PadEnd([2, None])(np.ones((1, 3))).shape == (2, 3)
    with pytest.raises(RuntimeError, match="numeric and string"):
        transforms.PadEnd([3], "x")(np.array([1]))
    with pytest.raises(RuntimeError, match="rank"):
        transforms.PadEnd([3])(np.ones((1, 1)))
    with pytest.raises(TypeError, match="not an integer"):
        transforms.PadEnd(["a"])


@pytest.mark.parametrize(
    ("relation", "compare"),
    [
        ("EQ", np.equal),
        ("NE", np.not_equal),
        ("GT", np.greater),
        ("GE", np.greater_equal),
        ("LT", np.less),
        ("LE", np.less_equal),
    ],
)
def test_mask(relation, compare):
    array = np.arange(5)
    done = transforms.Mask(transforms.Relational[relation], 2, mstype.int16)(array)
    np.testing.assert_array_equal(done, compare(array, 2).astype(np.int16))
    assert done.dtype == np.int16


def test_concatenate_duplicate_fill_unique():
    joined = transforms.Concatenate(0, np.array([9]), np.array([8]))(np.array([1, 2]), np.array([3]))
    assert joined.tolist() == [9, 1, 2, 3, 8]
    with pytest.raises(RuntimeError, match="prepend datatype"):
        transforms.Concatenate(0, np.array([1.5]))(np.array([1]))
    with pytest.raises(ValueError, match="1D concatenation"):
        transforms.Concatenate(1)
    first, second = transforms.Duplicate()(np.array([1, 2]))
    np.testing.assert_array_equal(first, second)
    assert transforms.Fill(3.7)(np.array([1, 2], np.uint8)).tolist() == [3, 3]
    values, index, counts = transforms.Unique()(np.array([[3, 1], [3, 2]]))
    assert (values.tolist(), index.tolist(), counts.tolist()) == ([3, 1, 2], [0, 1, 0, 2], [2, 1, 1])


@settings(max_examples=40, deadline=None)
@given(st.one_of(st.integers(-3, 2), st.slices(3), st.lists(st.integers(-3, 2), min_size=1)), st.slices(4))
def test_slice_keeps_the_axes(rows, columns):
    array = np.arange(12).reshape(3, 4)
    index = [rows] if isinstance(rows, int) else rows
    np.testing.assert_array_equal(transforms.Slice(rows, columns)(array), array[index][:, columns])


def test_slice_errors():
    with pytest.raises(RuntimeError, match="Index 9 is out of bounds"):
        transforms.Slice(9)(np.arange(3))
    with pytest.raises(RuntimeError, match="greater than slices"):
        transforms.Slice(0, 0)(np.arange(3))
    for wrong in ([[0, 1]], [slice(3)], [1.5]):
        with pytest.raises(TypeError, match=r"slice_option\[0\] with value .* is not of type"):
            transforms.Slice(wrong)
    with pytest.raises(TypeError, match="slice"):
        transforms.Slice("a")


def test_compounds():
    double = lambda x: x * 2
    assert transforms.Compose([double, transforms.Compose([double])])(3) == 12
    assert transforms.Compose([lambda x: (x, x), lambda a, b: a + b])(2) == 4
    assert transforms.RandomApply([double], 0.0)(3) == 3
    assert transforms.RandomApply([double], 1.0)(3) == 6
    assert transforms.RandomChoice([double, lambda x: x + 1])(3) in (4, 6)
    assert transforms.RandomOrder([double, lambda x: x + 1])(3) in (7, 8)
    with pytest.raises(RuntimeError, match="can only accept one tensor"):
        transforms.TypeCast("int8")(np.ones(1), np.ones(1))
    assert not transforms.Compose([transforms.TypeCast("int8")]).random
    for wrong, error in (((double,), TypeError), ([], ValueError), ([3], TypeError), ([transforms.Unique], ValueError)):
        with pytest.raises(error):
            transforms.Compose(wrong)
    with pytest.raises(RuntimeError, match="without an image"):
        transforms.Compose([double])()
    with pytest.raises(ValueError, match="prob"):
        transforms.RandomApply([double], 1.5)


def test_a_mask_is_numeric():
    with pytest.raises(RuntimeError, match="Only supports bool or numeric datatype for generated mask type"):
        transforms.Mask(transforms.Relational.EQ, "3", mstype.string)(np.array(["1", "3"]))
