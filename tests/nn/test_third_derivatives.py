"""Third derivatives of whole recurrent layers, beside those of the same steps made by cells."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops

RNG = np.random.default_rng(0)
X, FIRST, SECOND = (RNG.normal(size=(3, 1, 2)).astype(np.float32) for _ in range(3))


def by_cells(layer, cell):
    single = cell(2, 3)
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        getattr(single, name).set_data(layer.parameters_dict()[f"{name}_l0"])

    def loss(x):
        h, c, total = ops.zeros((1, 3)), ops.zeros((1, 3)), 0.0
        for t in range(3):
            if cell is nn.LSTMCell:
                h, c = single(x[t], (h, c))
            else:
                h = single(x[t], h)
            total = total + (h**2).sum()
        return total

    return loss


def third(f):
    first = ms.grad(f)
    second = ms.grad(lambda x: (first(x) * Tensor(FIRST)).sum())
    return ms.grad(lambda x: (second(x) * Tensor(SECOND)).sum())


@pytest.mark.parametrize("backend", ["interp", "xla", "cpu"])
@pytest.mark.parametrize("kind, cell", [(nn.LSTM, nn.LSTMCell), (nn.GRU, nn.GRUCell), (nn.RNN, nn.RNNCell)])
def test_layers(kind, cell, backend):
    layer = kind(2, 3)
    ms.set_context(mode=ms.PYNATIVE_MODE)
    wanted = third(by_cells(layer, cell))(Tensor(X)).asnumpy()
    found = third(lambda x: (layer(x)[0] ** 2).sum())
    np.testing.assert_allclose(found(Tensor(X)).asnumpy(), wanted, rtol=1e-4, atol=1e-6)
    ms.set_context(backend=backend)
    try:
        np.testing.assert_allclose(ms.jit(found)(Tensor(X)).asnumpy(), wanted, rtol=1e-4, atol=1e-6)
    finally:
        ms.set_context(backend="")


def test_the_fourth_is_refused():
    layer = nn.RNN(2, 3)
    fourth = ms.grad(lambda x: third(lambda y: layer(y)[0].sum())(x).sum())
    with pytest.raises(RuntimeError, match="Fourth derivatives"):
        fourth(Tensor(X))
