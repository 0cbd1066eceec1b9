"""How many operations a graph makes: products by closed forms, nothing for what only moves elements."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.compiler.flops import count_flops, flops_by_scope
from mindspore.train._compiled_graph import graph_of


class Product(nn.Cell):
    def __init__(self, transpose_a, transpose_b):
        super().__init__()
        self.product = ops.BatchMatMul(transpose_a, transpose_b)

    def construct(self, x, y):
        return self.product(x, y).reshape(-1).expand_dims(0)


def count(net, *shapes):
    ms.set_context(mode=ms.GRAPH_MODE)
    net(*(Tensor(np.ones(shape, np.float32)) for shape in shapes))
    return count_flops(graph_of(net))


@pytest.mark.parametrize("ta, tb", [(False, False), (True, False), (False, True)])
def test_products_of_matrices(ta, tb):
    x, y = (5, *((3, 2) if ta else (2, 3))), (5, *((4, 3) if tb else (3, 4)))
    assert count(Product(ta, tb), x, y) == 2 * 5 * 2 * 3 * 4


@pytest.mark.parametrize("stride, group", [(1, 1), (2, 1), (2, 3)])
def test_convolutions(stride, group):
    net = nn.Conv2d(3, 6, 3, stride=stride, group=group, has_bias=False, pad_mode="pad", padding=1)
    side = 8 // stride
    assert count(net, (2, 3, 8, 8)) == 2 * 2 * side * side * 6 * (3 // group) * 9


def test_operations_of_each_cell():
    net = nn.SequentialCell(nn.Dense(4, 8, has_bias=False), nn.Dense(8, 2, has_bias=False))
    whole = count(net, (3, 4))
    found = flops_by_scope(graph_of(net))
    assert sum(found.values()) == whole == 2 * 3 * (4 * 8 + 8 * 2)
    assert sorted(found.values()) == [2 * 3 * 8 * 2, 2 * 3 * 4 * 8] and len(found) == 2
