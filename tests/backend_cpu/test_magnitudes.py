"""Bounds after convolutions (ReLU6): absorbed where filters are fixed, and exact for NaN, infinities and overflow."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.backends import cpu

pytestmark = pytest.mark.skipif(not cpu.available(), reason="needs oneDNN and LLVM")


class Block(nn.Cell):
    """An inverted residual: expand, depthwise, project, add."""

    def __init__(self, inner=ops.relu6):
        super().__init__()
        self.expand, self.project = nn.Conv2d(16, 48, 1), nn.Conv2d(48, 16, 1, has_bias=True)
        self.depthwise = nn.Conv2d(48, 48, 3, group=48)
        self.norms = nn.CellList([nn.BatchNorm2d(n) for n in (48, 48, 16)])
        self.inner = inner

    def construct(self, x):
        y = self.inner(self.norms[0](self.expand(x)))
        y = self.inner(self.norms[1](self.depthwise(y)))
        return x + self.norms[2](self.project(y))


class Net(nn.Cell):
    def __init__(self, inner=ops.relu6):
        super().__init__()
        self.blocks = nn.SequentialCell([Block(inner) for _ in range(3)])

    def construct(self, x):
        return self.blocks(x)


@pytest.fixture(autouse=True)
def graphs():
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.set_context(backend="")
    ms.set_context(mode=ms.PYNATIVE_MODE)


def on(backend, net, x):
    ms.set_context(backend=backend)
    for _ in range(2):
        found = net(Tensor(x)).asnumpy()
    return found


def steps(net):
    (entry,) = [e for e in net._compiled_function().entries() if hasattr(e.executable, "blueprint")]
    return entry.executable.steps()


def image():
    return np.random.default_rng(3).standard_normal((2, 16, 9, 9)).astype(np.float32)


def make(inner=ops.relu6):
    net = Net(inner)
    net.set_train(False)
    return net


def test_a_network_of_bounded_convolutions_is_read_once():
    net, x = make(), image()
    np.testing.assert_allclose(on("cpu", net, x), on("interp", net, x), rtol=1e-4, atol=1e-4)
    names = steps(net)
    assert sum("+clip" in name for name in names) == 6
    assert not any("Relu6" in name or "ReLU6" in name for name in names)
    (entry,) = [e for e in net._compiled_function().entries() if hasattr(e.executable, "blueprint")]
    assert [s.name for s in entry.executable.blueprint.steps].count("magnitude") == 1


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf, 3e38])
def test_what_is_not_finite_stays_exact(odd):
    net, x = make(), image()
    x[1, 3, 4, 4] = odd
    expected = on("interp", net, x)
    assert odd == 3e38 or not np.isfinite(expected).all()
    np.testing.assert_allclose(on("cpu", net, x), expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(on("cpu", net, image()), on("interp", net, image()), rtol=1e-4, atol=1e-4)


def test_weights_that_are_not_finite():
    net, x = make(), image()
    on("cpu", net, x)
    weight = net.blocks[1].expand.weight
    changed = weight.asnumpy().copy()
    changed[5, 2] = np.nan
    weight.set_data(Tensor(changed))
    np.testing.assert_allclose(on("cpu", net, x), on("interp", net, x), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("low, high", [(-1.0, 2.0), (0.5, 0.5)])
def test_other_bounds(low, high):
    net, x = make(lambda y: ops.clamp(y, low, high)), image()
    np.testing.assert_allclose(on("cpu", net, x), on("interp", net, x), rtol=1e-4, atol=1e-4)


def test_a_bound_at_infinity_is_a_loop():
    net, x = make(lambda y: ops.clamp(y, 0.0, float("inf"))), image()
    np.testing.assert_allclose(on("cpu", net, x), on("interp", net, x), rtol=1e-4, atol=1e-4)
