"""What takes the place of an operation of a layer is computed with."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops

X = np.array([[1.0, 2.0]], np.float32)


class Scaled(nn.Cell):
    """A product that is trained along."""

    def __init__(self):
        super().__init__()
        self.scale = Parameter(Tensor(3.0), name="scale")

    def construct(self, x, weight):
        return self.scale * ops.matmul(x, weight.T)


class Own(nn.Dense):
    """A layer with a product of its own."""

    def __init__(self):
        super().__init__(2, 3, weight_init="one", has_bias=False)
        self.matmul = Scaled()


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_cells_and_operations_in_the_place_of_a_product(mode):
    with ms.context.local_context(mode=mode):
        own, plain = Own(), nn.Dense(2, 3, weight_init="one", has_bias=False)
        assert [p.name for p in own.trainable_params()] == ["weight", "matmul.scale"]
        np.testing.assert_allclose(own(Tensor(X)).asnumpy(), [[9, 9, 9]])
        gradients = ms.grad(lambda x: own(x).sum(), None, own.trainable_params())(Tensor(X))
        np.testing.assert_allclose(gradients[1].asnumpy(), 9)
        np.testing.assert_allclose(plain(Tensor(X)).asnumpy(), [[3, 3, 3]])
        plain.matmul = ops.Sub()  # broadcast: it need not be a product
        np.testing.assert_allclose(plain(Tensor([[1.0, 2.0]] * 3)).asnumpy(), [[0, 1]] * 3)


def test_other_names_of_a_class_are_not_hidden():
    class Hiding(nn.Cell):
        scale = None

        def __init__(self):
            super().__init__()
            self.scale = Parameter(Tensor(1.0))

    with pytest.raises(KeyError, match="'scale' is an attribute of the class Hiding"):
        Hiding()
