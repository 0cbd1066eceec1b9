"""Buffers that become part of a Cell by assignment, and what a CellDict refuses."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn
from mindspore.common.parameter import _Buffer


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_an_assigned_buffer_is_state(mode):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.shift = _Buffer(Tensor([1.0, 2.0]))
            self.passing = _Buffer(Tensor([5.0]), persistent=False)

        def construct(self, x):
            return x + self.shift

    net = Net()
    with ms.context.local_context(mode=mode):
        np.testing.assert_array_equal(net(Tensor([1.0, 1.0])).asnumpy(), [2.0, 3.0])
    assert [name for name, _ in net.named_buffers()] == ["shift", "passing"]
    assert list(net.state_dict()) == ["shift"]
    with pytest.raises(AttributeError, match="has no attribute 'scale'"):
        net.get_buffer("scale")


@pytest.mark.parametrize("container", [lambda: nn.CellList([nn.ReLU()]), lambda: nn.CellDict(), lambda: nn.SequentialCell(nn.ReLU())])
def test_a_cell_dict_holds_no_containers(container):
    with pytest.raises(TypeError, match="can not be CellDict, CellList or SequentialCell"):
        nn.CellDict().update([["a", container()]])
