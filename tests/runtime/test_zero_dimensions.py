"""Numbers take the type of tensors, also of those without dimensions: NumPy 1 would make 64 bits of both."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor

CALLS = {
    "mul": lambda x: x * 2.0, "add": lambda x: x + 1.0, "sub": lambda x: 1.0 - x, "div": lambda x: x / 3.0, "pow": lambda x: x**2,
    "less": lambda x: (x < 2.0).astype(x.dtype), "chain": lambda x: (x * 0.5 + 1.0).sum(),
}  # fmt: skip


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floats_keep_their_type(name, dtype, mode):
    function = ms.jit(CALLS[name]) if mode == ms.GRAPH_MODE else CALLS[name]
    assert function(Tensor(np.array(3, dtype))).asnumpy().dtype == dtype


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64])
def test_powers_of_whole_numbers_keep_their_type(dtype):
    out = (Tensor(np.array(3, dtype)) ** 2).asnumpy()
    assert out.dtype == dtype and out == 9
