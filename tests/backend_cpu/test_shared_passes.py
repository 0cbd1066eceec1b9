"""Numbers of a whole tensor are computed where the tensor is read or made anyway."""

import numpy as np
import pytest
from tests.backend_cpu.helpers import check

from mindspore import ops
from mindspore.backends.cpu import available

pytestmark = pytest.mark.skipif(not available(), reason="the native backend is not installed")
RNG = np.random.default_rng(3)
X = RNG.standard_normal((64, 48)).astype(np.float32)
Y = RNG.standard_normal((64, 48)).astype(np.float32)


def kernels(executable):
    return len(executable.blueprint.steps)


def test_a_sum_joins_a_kernel_that_reads_the_same_tensor():
    assert kernels(check(lambda x, y: (x * y + 1, ops.ReduceSum()(ops.abs(x))), X, Y)) == 1


def test_a_sum_of_another_tensor_does_not():
    assert kernels(check(lambda x, y: (x * 2, ops.ReduceSum()(ops.abs(y))), X, Y)) == 2


def test_what_a_kernel_waits_for_stays_before_it():
    def norm_first(x, y):
        scale = ops.ReduceSum()(x * x)
        return ops.matmul(x / scale, y.T), ops.ReduceSum()(ops.abs(x))

    check(norm_first, X, Y)


def test_a_sum_over_everything_begins_with_the_axes_of_another():
    """Rows are summed in the kernel that makes the tensor; what is left are 48 numbers. The tensor itself is never stored."""

    def bias_gradient(x, y):
        made = ops.exp(x) * y
        return ops.ReduceSum()(made, 0), ops.ReduceSum()(ops.abs(made)), ops.ReduceMax()(made)

    executable = check(bias_gradient, X, Y)
    assert not any(view.shape == X.shape and view.buffer.kind == "arena" for step in executable.blueprint.steps for view in step.views)


def test_extrema_and_counts_over_rows_of_odd_sizes():
    for shape in ((1, 1), (7, 5), (3, 1, 9), (2, 3, 4, 5)):
        x = RNG.standard_normal(shape).astype(np.float32)
        check(lambda x: (ops.ReduceMin()(x), ops.ReduceMax()(x, -1), ops.ReduceSum()(x)), x)
        check(lambda x: (ops.softmax(x, -1), ops.ReduceMax()(ops.softmax(x, -1)), ops.ReduceSum()(x, 0)), x)
