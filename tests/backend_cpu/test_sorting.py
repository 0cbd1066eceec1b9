"""Sorts, running values and searches in native code, against the reference machine: exactly, in every type."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.backend_cpu.helpers import check

from mindspore.backends.cpu import available
from mindspore.backends.cpu.steps import HostStep
from mindspore.prims import scan, sorting

pytestmark = pytest.mark.skipif(not available(), reason="the native backend is not installed")

TYPES = [np.float32, np.float64, np.float16, np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint32, np.uint64]
SHAPES = [(1,), (2,), (7,), (48,), (49,), (300,), (3, 50), (3, 5, 4), (70, 2), (2, 1, 65), (1, 1000)]


def sample(data, shape, dtype) -> np.ndarray:
    """Numbers with many ties, and for floats NaN, infinities and both zeros."""
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    spread = data.draw(st.sampled_from([3, 1000, 1 << 40]))
    x = (rng.integers(-spread, spread, shape)).astype(np.float64 if np.dtype(dtype).kind == "f" else np.int64)
    with np.errstate(all="ignore"):
        x = x.astype(dtype)
    if x.dtype.kind == "f":
        special = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-42], dtype)
        chosen = rng.random(shape) < 0.3
        x[chosen] = rng.choice(special, int(chosen.sum()))
    return x


def native(executable) -> None:
    assert not any(isinstance(s, HostStep) for s in executable.blueprint.steps), executable.steps()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_sort_and_top_k(data):
    shape, dtype = data.draw(st.sampled_from(SHAPES)), data.draw(st.sampled_from(TYPES))
    x = sample(data, shape, dtype)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    k = data.draw(st.integers(1, shape[-1]))
    order = sorting.Sort(axis, data.draw(st.booleans()))
    native(check(lambda a: (*order(a), *sorting.TopK()(a, k)), x))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_running_extrema(data):
    shape, dtype = data.draw(st.sampled_from(SHAPES)), data.draw(st.sampled_from(TYPES))
    x = sample(data, shape, dtype)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    native(check(lambda a: (*scan.Cummax(axis)(a), *scan.Cummin(axis)(a)), x))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_running_sums_products_and_log_sums(data):
    shape = data.draw(st.sampled_from(SHAPES))
    dtype = data.draw(st.sampled_from([np.float32, np.float64, np.float16]))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    x = rng.uniform(-1, 1, shape).astype(dtype)
    x.flat[0] = data.draw(st.sampled_from([0.5, -np.inf]))
    axis, exclusive, reverse = (
        data.draw(st.integers(-len(shape), len(shape) - 1)),
        *(data.draw(st.booleans()) for _ in range(2)),
    )
    kinds = [scan.CumulativeLogsumexp] if np.isinf(x.flat[0]) else [scan.CumSum, scan.CumProd, scan.CumulativeLogsumexp]
    tolerance = 1e-10 if dtype == np.float64 else 1e-2 if dtype == np.float16 else 1e-4
    native(check(lambda a: tuple(k(exclusive, reverse)(a, axis) for k in kinds), x, tolerance=tolerance))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_search(data):
    dtype, right = data.draw(st.sampled_from(TYPES)), data.draw(st.booleans())
    rows, count, sought = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 130)), data.draw(st.integers(1, 40))
    lines = np.sort(sample(data, (rows, count), dtype), -1)
    values = sample(data, (rows, sought), dtype)
    search = sorting.SearchSorted(right=right)
    native(check(lambda a, b: (search(a, b), search(a[0], b)), lines, values))


def test_long_lines_by_several_threads():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((5, 20_000)).astype(np.float32)
    native(check(lambda a: (*sorting.Sort(-1)(a), *sorting.TopK()(a, 100), *scan.Cummax(1)(a)), x))
