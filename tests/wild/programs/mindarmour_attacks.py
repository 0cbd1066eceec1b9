"""Attacks of MindArmour stay within their bounds and change the answers."""

import numpy as np

import mindspore as ms
from mindspore import nn


def main():
    from mindarmour.adv_robustness.attacks import FastGradientSignMethod, ProjectedGradientDescent

    net = nn.SequentialCell(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Dense(4 * 64, 3))
    rng = np.random.default_rng(0)
    x = rng.random((5, 1, 8, 8)).astype(np.float32)
    labels = net(ms.Tensor(x)).asnumpy().argmax(1).astype(np.int32)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True)
    for attack in (
        FastGradientSignMethod(net, eps=0.3, loss_fn=loss, is_targeted=False),
        ProjectedGradientDescent(net, eps=0.3, eps_iter=0.1, nb_iter=4, loss_fn=loss, is_targeted=False),
    ):
        found = attack.generate(x, labels)
        assert found.shape == x.shape and np.abs(found - x).max() <= 0.3 + 1e-5
        assert (net(ms.Tensor(found)).asnumpy().argmax(1) != labels).any()
