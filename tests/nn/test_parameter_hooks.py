"""Hooks that change parameters as they are read."""

import pytest

import mindspore as ms
from mindspore import Tensor, nn


class Scaled(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = ms.Parameter(Tensor(2.0))

    def construct(self, x):
        return x * self.weight


class Outer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner, self.bias = Scaled(), ms.Parameter(Tensor(1.0))

    def construct(self, x):
        return self.inner(x) + self.bias


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize("everything", [False, True])
def test_what_is_read_is_what_the_hook_gives(mode, everything):
    with ms.context.local_context(mode=mode):
        net = Outer()
        assert float(net(Tensor(3.0))) == 7.0
        hook = lambda p: p * 10
        net.register_parameter_forward_hook(hook if everything else [{"params": [net.inner.weight], "hook": hook}])
        bias = 10.0 if everything else 1.0
        assert float(net(Tensor(3.0))) == 60.0 + bias
        value, (to_x, to_weights) = ms.value_and_grad(net, 0, net.trainable_params())(Tensor(3.0))
        grads = dict(zip((p.name for p in net.trainable_params()), map(float, to_weights)))
        assert float(value) == 60.0 + bias and float(to_x) == 20.0
        assert grads == {"inner.weight": 30.0, "bias": bias}
        assert float(net.inner.weight) == 2.0


def test_what_is_no_group_of_parameters_is_refused():
    net = Outer()
    with pytest.raises(ValueError, match="'params' and 'hook'"):
        net.register_parameter_forward_hook([{"params": [net.bias]}])
    with pytest.raises(TypeError, match="must hold Parameters"):
        net.register_parameter_forward_hook([{"params": [Tensor(1.0)], "hook": abs}])
    with pytest.raises(TypeError, match="hook must be"):
        net.register_parameter_forward_hook([{"params": [net.bias], "hook": 3}])
