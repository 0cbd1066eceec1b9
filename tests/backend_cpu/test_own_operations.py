"""Operations of users that are called like ours run by their own rules."""

import numpy as np

import mindspore as ms
from mindspore import Tensor, ops
from mindspore.ops import PrimitiveWithInfer


class Sort(PrimitiveWithInfer):
    """Not ours: it turns the order round."""

    def __init__(self):
        super().__init__("Sort")

    def infer(self, x):
        return x

    def eval(self, xp, x):
        return xp.flip(x, -1)


def test_an_operation_called_like_one_of_ours():
    x = Tensor(np.array([[3.0, 1.0, 2.0]] * 4, np.float32))
    for backend in ("interp", "cpu"):
        ms.set_context(backend=backend)
        found = ms.jit(lambda x: ops.relu(Sort()(x)) + 1)(x)
        np.testing.assert_array_equal(found.asnumpy(), x.asnumpy()[:, ::-1] + 1)
    np.testing.assert_array_equal(Sort()(x).asnumpy(), x.asnumpy()[:, ::-1])
