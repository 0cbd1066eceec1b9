"""Whole training steps: everything native, and the same losses as on the reference machine."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.backends import cpu

pytestmark = pytest.mark.skipif(not cpu.available(), reason="needs oneDNN and LLVM")
RNG = np.random.default_rng(2)


class Residual(nn.Cell):
    def __init__(self, width):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(width, width, 3), nn.BatchNorm2d(width)

    def construct(self, x):
        return x + self.norm(self.conv(x))


class Pooled(nn.Cell):
    """Residual sums without activations between them: the gradient of the mean reaches several kernels."""

    def __init__(self):
        super().__init__()
        self.first, self.blocks = nn.Conv2d(3, 16, 3), nn.SequentialCell([Residual(16) for _ in range(3)])
        self.head = nn.Dense(16, 10)

    def construct(self, x):
        return self.head(self.blocks(self.first(x)).mean((2, 3)))


class Excited(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv, self.down, self.up = nn.Conv2d(3, 16, 3), nn.Dense(16, 4), nn.Dense(4, 16)
        self.head = nn.Dense(16, 10)

    def construct(self, x):
        y = ops.silu(self.conv(x))
        scale = ops.sigmoid(self.up(ops.relu(self.down(y.mean((2, 3))))))
        return self.head((y * scale.reshape(-1, 16, 1, 1)).mean((2, 3)))


@pytest.mark.parametrize("network", [Pooled, Excited])
def test_training_step(network, monkeypatch):
    monkeypatch.setenv("MS_DEV_CPU_STRICT", "1")
    x, y = Tensor(RNG.standard_normal((8, 3, 12, 12)).astype(np.float32)), Tensor(np.arange(8, dtype=np.int32))
    start = [RNG.standard_normal(p.shape).astype(np.float32) * 0.2 for p in network().trainable_params()]

    def losses(backend):
        ms.set_context(backend=backend)
        net = network()
        for p, value in zip(net.trainable_params(), start):
            p.set_data(Tensor(value))
        net.set_train()
        optimizer = nn.Adam(net.trainable_params(), 1e-2)
        gradient = ms.value_and_grad(lambda a, b: ops.cross_entropy(net(a), b), None, optimizer.parameters)

        @ms.jit
        def step(a, b):
            loss, grads = gradient(a, b)
            optimizer(grads)
            return loss

        found = [float(step(x, y).asnumpy()) for _ in range(4)]
        return found, step.entries()[-1].executable

    try:
        native, executable = losses("cpu")
        reference, _ = losses("interp")
    finally:
        ms.set_context(backend="")
    np.testing.assert_allclose(native, reference, rtol=2e-4)
    assert not [s for s in executable.steps() if s.startswith("host")]
