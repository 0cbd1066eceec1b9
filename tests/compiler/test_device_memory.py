"""Graphs on an accelerator find their tensors there: each is moved once. JAX's CPU device stands in for it."""

import re

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn
from mindspore.runtime import devices

jax = pytest.importorskip("jax")


@pytest.fixture
def accelerator():
    before = devices.current()
    device = devices.XlaDevice("GPU", jax.devices("cpu")[0])
    devices.use(device)
    ms.set_context(backend="xla")
    yield device
    devices.use(before)
    ms.set_context(backend="")


class Scale(nn.Cell):
    def __init__(self):
        super().__init__()
        self.factor = Parameter(Tensor(np.float32(3.0)), name="factor")
        self.count = Parameter(Tensor(np.int32(0)), name="count", requires_grad=False)

    def construct(self, x):
        self.count += 1
        return x * self.factor


def test_tensors_and_parameters_move_once(accelerator, monkeypatch):
    moved = []
    place = accelerator.place
    monkeypatch.setattr(accelerator, "place", lambda array: moved.append(array.shape) or place(array))
    net, x = Scale(), Tensor(np.arange(4, dtype=np.float32))
    run = ms.jit(net.construct)
    first = 0
    for call in range(1, 4):
        np.testing.assert_array_equal(run(x).asnumpy(), [0, 3, 6, 9])
        assert int(net.count.asnumpy()) == call
        first = len(moved) if call == 1 else first
        assert len(moved) == first
    assert isinstance(x._data, jax.Array) and isinstance(net.factor._data, jax.Array)


def test_a_value_that_somebody_holds_survives_the_overwriting(accelerator):
    net, x = Scale(), Tensor(np.ones(2, np.float32))
    run = ms.jit(net.construct)
    run(x)
    held = net.count.value()
    run(x)
    assert int(held.asnumpy()) == 1 and int(net.count.asnumpy()) == 2


class Swapped(nn.Cell):
    """Overwrites parameters of one shape in another order than it reads them."""

    def __init__(self):
        super().__init__()
        self.first = Parameter(Tensor(np.ones(3, np.float32)), name="first")
        self.second = Parameter(Tensor(np.ones(3, np.float32)), name="second")

    def construct(self, x):
        total = self.first + self.second * x
        self.second += total
        self.first += x
        return total.sum()


def test_each_new_value_takes_the_memory_of_the_old(accelerator):
    net = Swapped()
    run = ms.jit(net.construct)
    run(Tensor(np.ones(3, np.float32)))
    entry = run.entries()[0]
    pairs = re.findall(r"\{(\d+)\}: \((\d+),", entry.executable.as_text().partition("entry_computation")[0])
    output_of = {parameter.name: index for parameter, index in entry.traced.written}
    assert len(pairs) == 2
    for output, given in pairs:
        weight = entry.traced.weights[int(given) - entry.traced.arguments]
        assert output_of[weight.name] == int(output)
