"""Collectives of the user's in a network that one process runs for several devices."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops

DEVICES = 4
X = np.arange(32, dtype=np.float32).reshape(8, 4)
W = np.random.default_rng(3).normal(size=(4, 4)).astype(np.float32)


class Net(nn.Cell):
    """A product that is cut, and what an operation makes of its whole result."""

    def __init__(self, operation):
        super().__init__()
        self.product = ops.MatMul().shard(((DEVICES, 1), (1, 1)))
        self.weight = Parameter(Tensor(W), name="weight")
        self.operation = operation

    def construct(self, x):
        return self.operation(self.product(x, self.weight))


@pytest.fixture
def rehearsed():
    ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel", device_num=DEVICES, full_batch=True)
    ms.set_context(mode=ms.GRAPH_MODE)
    yield lambda operation: Net(operation)(Tensor(X)).asnumpy()
    ms.reset_auto_parallel_context()


CASES = {  # on every device the operand is the same, x w
    "AllReduce": (lambda: ops.AllReduce(), lambda y: DEVICES * y),
    "AllReduce max": (lambda: ops.AllReduce("max"), lambda y: y),
    "Reduce": (lambda: ops.Reduce(0), lambda y: DEVICES * y),
    "Broadcast": (lambda: lambda y: ops.Broadcast(2)((y,))[0], lambda y: y),
    "Send": (lambda: ops.Send(0, 1), lambda y: y),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_collectives(rehearsed, name):
    make, expected = CASES[name]
    np.testing.assert_allclose(rehearsed(make()), expected(X @ W), rtol=1e-5, atol=1e-5)


def test_a_ring_of_messages(rehearsed):
    """Everybody sends to device 1: it has all messages, the others wait forever, and the error says who."""
    exchange = ops.NeighborExchange([1], [1], [(8, 4)], [(8, 4)], ms.float32)
    with pytest.raises(RuntimeError, match=r"NeighborExchange would wait forever: device 0 of 4 expects a message of device 1"):
        rehearsed(lambda y: exchange((y,))[0])


def test_a_message_that_nobody_sends(rehearsed):
    with pytest.raises(RuntimeError, match=r"Receive would wait forever: device 0 of 4 .* \(tag 5\).*msrun --worker_num"):
        rehearsed(ops.Receive(5, 1, (8, 4), ms.float32))


def test_shapes_that_depend_on_the_processes_are_refused(rehearsed):
    with pytest.raises(RuntimeError, match=r"AllGather gives shape \(32, 4\) .* but \(8, 4\) in the one process"):
        rehearsed(ops.AllGather())
