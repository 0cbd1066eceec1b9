"""`Assert` in both modes, on every backend."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, jit, ops


@pytest.mark.parametrize("backend", ["interp", "xla", "cpu"])
def test_assert(backend):
    ms.set_context(backend=backend)
    try:
        checked = jit(lambda x: ops.depend(x + 1, ops.Assert(2)(x.sum() > 0, [x, x * 2])))
        np.testing.assert_array_equal(checked(Tensor([1.0, 2.0, 3.0])).asnumpy(), [2, 3, 4])
        with pytest.raises(RuntimeError, match="assert failed"):
            checked(Tensor([-1.0, -2.0, -3.0])).asnumpy()
    finally:
        ms.set_context(backend="")
    assert ops.Assert()(Tensor([True, True]), [Tensor([1])]) is None
    with pytest.raises(RuntimeError, match=r"input data: \[1 2\]"):
        ops.Assert(2)(False, [Tensor([1, 2, 3])])
    for call in (lambda: ops.Assert("3"), lambda: ops.Assert()(3, [Tensor(1)]), lambda: ops.Assert()(True, Tensor(1))):
        with pytest.raises(TypeError, match="Assert"):
            call()
