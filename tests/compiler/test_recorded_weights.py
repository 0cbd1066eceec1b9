"""Gradients of compiled calls in PyNative mode are taken with the weights of the call, and touch no weights."""

import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, nn
from mindspore.common import entry
from mindspore.ops.custom import HostCall


class Square(nn.Cell):
    """x * w * w, compiled; notes the weight that everybody sees whenever it runs."""

    def __init__(self, seen):
        super().__init__()
        self.w = Parameter(Tensor(2.0), name="w")

        def look(x):
            seen.append(float(self.w.asnumpy()))
            return x

        self.look = HostCall("Look", look, lambda x: x, lambda x, out, dout: (dout,))

    @ms.jit
    def construct(self, x):
        return self.look(x) * self.w * self.w


def test_the_backward_pass_neither_sees_nor_swaps_the_weights_of_now():
    seen = []
    net = Square(seen)

    def loss(x):
        y = net(x)
        net.w.set_data(Tensor(100.0))
        return y.sum()

    for _ in range(2):
        net.w.set_data(Tensor(2.0))
        seen.clear()
        (gradient,) = ms.grad(loss, None, net.trainable_params())(Tensor([1.0, 2.0]))
        assert float(gradient) == 2 * 2.0 * 3
        assert float(net.w) == 100 and seen[-1] == 100


def test_second_derivatives_use_the_weights_of_the_call():
    class Cube(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(2.0), name="w")

        @ms.jit
        def construct(self, x):
            return x * x * x * self.w

    net = Cube()

    def changed(x):
        y = net(x)
        net.w.set_data(Tensor(50.0))
        return y

    assert float(ms.grad(ms.grad(changed))(Tensor(3.0))) == 6 * 3.0 * 2.0


def test_attributes_that_count_are_as_they_were():
    class Counting(nn.Cell):
        def __init__(self):
            super().__init__()
            self.count = 0.0

        @ms.jit
        def construct(self, x):
            self.count = self.count + 1.0
            return x * self.count

    net = Counting()
    got = [float(ms.grad(net)(Tensor(1.0))) for _ in range(4)]
    assert got == [1, 2, 3, 4] and net.count == 4


def test_an_update_overwrites_no_array_that_somebody_holds():
    """Compiled updates may write in place where a weight's array is nobody else's: the interpreter is asked what that means."""

    class Step(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(np.zeros(64, np.float32)), name="w")

        @ms.jit
        def construct(self, x):
            self.w += x
            return self.w.sum()

    net, one = Step(), Tensor(np.ones(64, np.float32))
    net(one)
    held = net.w._data
    view = held[:2]
    net(one)
    assert held[0] == 1 and view[1] == 1 and float(net.w[0]) == 2
    assert entry._OWN_REFERENCES == entry._count_own_references() >= 1
