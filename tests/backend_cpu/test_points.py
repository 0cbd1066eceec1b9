"""Scatters, items set by index tensors, running sums: native results against the reference machine."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.backend_cpu.helpers import assert_same, build

from mindspore import ops
from mindspore.backends import cpu
from mindspore.backends.cpu import CpuBackend
from mindspore.backends.interp import InterpBackend
from mindspore.prims.arrays import TENSOR_INDEX, SetItem
from mindspore.prims.scan import CumProd, CumSum

pytestmark = pytest.mark.skipif(not cpu.available(), reason="needs oneDNN and LLVM")
RNG = np.random.default_rng(9)


def normal(*shape, dtype="float32"):
    return np.asarray(RNG.standard_normal(shape) * 4).astype(dtype)


def check(function, *arrays, tolerance=3e-5):
    native = CpuBackend().compile(build(function, *arrays))
    assert not [s for s in native.steps() if s.startswith("host")]
    expected = InterpBackend().compile(build(function, *arrays))(*arrays)
    for got, want in zip(native(*arrays), expected, strict=True):
        assert_same(got, np.asarray(want), tolerance if got.dtype.kind == "f" else None)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_elements(axis, reduction, dtype):
    x = normal(5, 4, 6, dtype=dtype)
    index = RNG.integers(-5 if axis == 0 else -4, 4, (3, 4, 5)).astype(np.int32)
    if axis == -1:
        index = np.tile(np.arange(5)[::-1], (3, 4, 1)).astype(np.int64)  # without repetition the order cannot matter
    prim = ops.TensorScatterElements(axis, reduction)
    check(lambda a, i, u: prim(a, i, u), x, index, normal(3, 4, 5, dtype=dtype))


@pytest.mark.parametrize("columns", [1, 7, 40, 200])
@pytest.mark.parametrize("kind", ["Update", "Add", "Sub", "Max"])
def test_slices(kind, columns):
    index = RNG.integers(0, 6, (9, 1)).astype(np.int32)
    prim = getattr(ops, f"TensorScatter{kind}")()
    check(lambda a, i, u: prim(a, i, u), normal(6, columns), index, normal(9, columns))


def test_slices_by_two_coordinates():
    index = np.stack([RNG.integers(0, 4, 12), RNG.integers(0, 5, 12)], 1).astype(np.int64)
    prim = ops.TensorScatterAdd()
    check(lambda a, i, u: prim(a, i, u), normal(4, 5, 30), index, normal(12, 30))


def test_many_threads_give_one_result():
    index = RNG.integers(0, 50, (2000, 1)).astype(np.int32)
    prim = ops.TensorScatterAdd()
    check(lambda a, i, u: prim(a, i, u), normal(50, 256), index, normal(2000, 256), tolerance=2e-3)


def test_positions_outside_are_skipped():
    index = np.array([[1], [70], [-9], [2]], np.int32)
    arrays = np.zeros((4, 3), np.float32), index, np.ones((4, 3), np.float32)
    prim = ops.TensorScatterAdd()
    native = CpuBackend().compile(build(lambda a, i, u: prim(a, i, u), *arrays))
    np.testing.assert_array_equal(native(*arrays)[0], [[0, 0, 0], [1, 1, 1], [1, 1, 1], [0, 0, 0]])


@pytest.mark.parametrize("spec", ["rows", "columns", "both", "middle"])
@pytest.mark.parametrize("add", [False, True])
def test_items_by_tensors(spec, add):

    x, i, j = normal(5, 6, 7), np.array([4, 0, 2], np.int32), np.array([1, 5, 3], np.int32)
    everything = slice(None)
    parts = {
        "rows": (TENSOR_INDEX,), "columns": (everything, everything, TENSOR_INDEX),
        "both": (TENSOR_INDEX, TENSOR_INDEX), "middle": (everything, TENSOR_INDEX),
    }  # fmt: skip
    indices = (i, j) if spec == "both" else (i,)
    shape = np.zeros((5, 6, 7))[tuple(i if p is TENSOR_INDEX else p for p in parts[spec])].shape
    prim = SetItem(parts[spec], add)
    check(lambda a, v, *k: prim(a, v, *k), x, normal(*shape), *indices)


@pytest.mark.parametrize("dtype", ["float16", "int8", "uint16", "bool_", "float64"])
@pytest.mark.parametrize("add", [False, True])
def test_items_by_tensors_that_repeat(dtype, add):
    """`...` before the index tensors, indices that broadcast with each other, and values repeated over their place."""
    if dtype == "bool_" and add:
        return
    x, i, j = normal(3, 5, 7, dtype=dtype), np.array([[4], [0]], np.int64), np.array([1, 5, 3], np.int64)
    diagonal = SetItem((Ellipsis, TENSOR_INDEX, TENSOR_INDEX), add)
    rows = SetItem((TENSOR_INDEX,), add)
    first = np.array([2, 0], np.int64)
    check(
        lambda a, v, w, k, m, r: (diagonal(a, v, k, m), diagonal(a, w, k, m), rows(a, w, r)),
        x, normal(2, 3, dtype=dtype), normal(dtype=dtype), i, j, first, tolerance=4e-3,
    )  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=3), st.integers(0, 2), st.booleans(), st.booleans(), st.booleans(),
    st.sampled_from(["float32", "float64", "int32"]),
)  # fmt: skip
def test_running_sums_and_products(shape, axis, exclusive, reverse, product, dtype):
    x = (RNG.random(shape) * 3 - 1).astype(dtype)
    prim = (CumProd if product else CumSum)(exclusive, reverse)
    check(lambda a: prim(a, axis % len(shape)), x)


def test_long_running_sum_in_threads():
    check(lambda a: CumSum()(a, 1), normal(64, 100, 33), tolerance=1e-3)
