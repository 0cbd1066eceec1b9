"""Tensors whose values decide sizes, as arguments of compiled functions: the documented examples of such operations in graphs."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, ops

IMAGE = np.array([[[[9.0], [5.0], [2.0], [1.0]], [[6.0], [1.0], [9.0], [7.0]]]], np.float32)

CASES = {
    "diagonals with a padding": (
        lambda x, k, p: ops.matrix_diag_part(x, k, p),
        (np.arange(12.0).reshape(3, 4), np.array([-1, 1]), np.float64(9)),
    ),
    "histogram of whole numbers": (
        lambda x, r: ops.HistogramFixedWidth(5)(x, r),
        (np.array([-1, 0, 1, 2, 5, 15], np.int32), np.array([0, 5], np.int32)),
    ),
    "a stretched image": (
        lambda x, size: ops.ScaleAndTranslate()(x, size, Tensor([1.0, 1.0]), Tensor([1.0, 1.0])),
        (IMAGE, np.array([2, 2], np.int32)),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_graphs_find_what_pynative_mode_finds(case):
    function, arrays = CASES[case]
    eager = function(*map(Tensor, arrays)).asnumpy()
    np.testing.assert_array_equal(ms.jit(function)(*map(Tensor, arrays)).asnumpy(), eager)
