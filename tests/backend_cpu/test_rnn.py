"""Recurrent layers on the native backend against the reference machine."""

import numpy as np
import pytest
from tests.backend_cpu.helpers import assert_same, build

import mindspore as ms
from mindspore import Tensor, nn
from mindspore.backends import cpu
from mindspore.backends.cpu import CpuBackend
from mindspore.prims.rnn import RecurrentSequence

pytestmark = pytest.mark.skipif(not cpu.available(), reason="needs oneDNN and LLVM")
RNG = np.random.default_rng(3)
GATES = {"lstm": 4, "gru": 3, "tanh": 1, "relu": 1}


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32) * 0.5


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("mode", GATES)
@pytest.mark.parametrize("size", [(5, 3, 8), (1, 2, 5), (4, 1, 16)])
@pytest.mark.parametrize("lengths", [False, True])
def test_one_layer(mode, reverse, size, lengths):
    from mindspore.backends.interp import InterpBackend
    from mindspore.compiler.autodiff.reverse import pullback

    steps, batch, hidden = size
    width = GATES[mode] * hidden
    shapes = (steps, batch, width), (batch, hidden), (batch, hidden), (width, hidden), (width,)
    cotangents = (steps, batch, hidden), (batch, hidden), (batch, hidden)
    arrays = [normal(*s) for s in (*shapes, *cotangents)]
    prim = RecurrentSequence(mode, reverse)
    if lengths:
        arrays.append(RNG.integers(1, steps + 1, batch).astype(np.int32))

    def function(*x):
        from mindspore.prims.active import ACTIVE

        out = prim(*x[:5], x[8] if lengths else None)
        builder = ACTIVE.builder
        back = pullback(builder, [builder.node_of(o) for o in out[:3]], [builder.node_of(v) for v in x[:5]])
        return (*out[:3], *back(list(x[5:8])))

    native = CpuBackend().compile(build(function, *arrays))
    assert not any(name.startswith("host") for name in native.steps())
    expected = InterpBackend().compile(build(function, *arrays))(*arrays)
    for got, want in zip(native(*arrays), expected, strict=True):
        assert_same(got, np.asarray(want), 2e-5)


def test_without_bias():
    from mindspore.backends.interp import InterpBackend

    arrays = [normal(3, 2, 16), normal(2, 4), normal(2, 4), normal(16, 4)]
    graph = lambda: build(lambda *x: RecurrentSequence("lstm")(*x, None, None), *arrays)
    expected = InterpBackend().compile(graph())(*arrays)
    for got, want in zip(CpuBackend().compile(graph())(*arrays), expected, strict=True):
        assert_same(got, np.asarray(want), 2e-5)


@pytest.mark.parametrize("cell", [nn.LSTM, nn.GRU, nn.RNN])
@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_layers_in_both_directions(cell, mode):
    net = cell(6, 32, num_layers=2, bidirectional=True, batch_first=True)
    x, lengths = Tensor(normal(4, 9, 6)), Tensor(np.array([9, 2, 5, 1], np.int32))
    parameters = net.trainable_params()
    step = ms.value_and_grad(lambda a: (net(a)[0] ** 2).sum() + net(a, None, lengths)[0].sum(), 0, parameters)
    found = {}
    for backend in ("interp", "cpu"):
        ms.set_context(backend=backend)
        ms.set_context(mode=mode)
        try:
            for _ in range(3):
                value, (by_x, by_weights) = step(x)
        finally:
            ms.set_context(backend="")
            ms.set_context(mode=ms.GRAPH_MODE)
        found[backend] = [t.asnumpy() for t in (value, by_x, *by_weights)]
    for got, want in zip(found["cpu"], found["interp"], strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-4)
