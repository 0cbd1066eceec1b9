"""A huge integer is an error at once: no loop on the host, no allocation."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, ops

X = Tensor(np.ones((2, 3, 4), np.float32))


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.parametrize(
    "call",
    [
        lambda x: ops.dsplit(x, 2**20),
        lambda x: ops.tensor_split(x, 2**40),
        lambda x: ops.adaptive_max_pool1d(x, 2**40),
        lambda x: ops.adaptive_avg_pool1d(x, 2**40),
        lambda x: ops.mvlgamma(x, 2**31),
    ],
)
def test_huge_integers_are_refused(call, mode):
    ms.set_context(mode=mode)
    try:
        run = ms.jit(call) if mode == ms.GRAPH_MODE else call
        with pytest.raises(ValueError, match="must be at most"):
            run(X)
    finally:
        ms.set_context(mode=ms.GRAPH_MODE)
