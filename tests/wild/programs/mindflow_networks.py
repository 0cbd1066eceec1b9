"""Networks of MindFlow: a Fourier neural operator learns a derivative's sign, a fully connected one a function."""

import numpy as np

import mindspore as ms
from mindspore import nn


def main():
    from mindflow.cell import FNO1D, MultiScaleFCSequential

    rng = np.random.default_rng(0)
    fno = FNO1D(in_channels=1, out_channels=1, n_modes=4, resolutions=16, hidden_channels=8, n_layers=2)
    x = ms.Tensor(rng.standard_normal((4, 16, 1)), ms.float32)
    learn(fno, x, -x, 1e-2)
    grid = ms.Tensor(np.linspace(-1, 1, 32)[:, None], ms.float32)
    learn(MultiScaleFCSequential(1, 1, 3, 16), grid, grid * grid, 5e-3)


def learn(net, x, y, rate):
    optimizer = nn.Adam(net.trainable_params(), rate)
    step = ms.value_and_grad(lambda a, b: ((net(a) - b) ** 2).mean(), None, optimizer.parameters)
    losses = []
    for _ in range(30):
        loss, gradients = step(x, y)
        optimizer(gradients)
        losses.append(float(loss))
    assert losses[-1] < 0.8 * losses[0], losses
