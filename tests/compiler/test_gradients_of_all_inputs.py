"""`get_all`: gradients of all inputs, where tuples, lists and dicts are constants unless they are mutable."""

from __future__ import annotations

import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops


class Scaled(nn.Cell):
    def construct(self, x, factors):
        return x * factors[0]


class Wrapped(nn.Cell):
    """The gradient taken within a network."""

    def __init__(self, own_tuple=False):
        super().__init__()
        self.net, self.own_tuple = Scaled(), own_tuple

    def construct(self, x, factors):
        return ops.GradOperation(get_all=True)(self.net)(x, (factors, x) if self.own_tuple else factors)


def _numbers(value):
    return [_numbers(v) for v in value] if isinstance(value, (tuple, list)) else float(value)


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.parametrize("kind", [tuple, list])
def test_sequences_are_constants_unless_mutable(mode, kind):
    factors = kind((Tensor(3.0), Tensor(4.0)))
    with ms.context.local_context(mode=mode):
        for gradient in (ops.GradOperation(get_all=True)(Scaled()), Wrapped()):
            assert _numbers(gradient(Tensor(2.0), factors)) == [3.0]
            changing = ms.mutable(kind((Tensor(3.0), Tensor(4.0))))
            assert _numbers(gradient(Tensor(2.0), changing)) == [3.0, [2.0, 0.0]]
        assert _numbers(ms.grad(Scaled(), 1)(Tensor(2.0), factors)) == [2.0, 0.0]  # asked for by its position


def test_what_a_graph_puts_together_is_no_constant():
    with ms.context.local_context(mode=ms.GRAPH_MODE):
        assert _numbers(Wrapped(own_tuple=True)(Tensor(2.0), Tensor(3.0))) == [3.0, [2.0, 0.0]]
