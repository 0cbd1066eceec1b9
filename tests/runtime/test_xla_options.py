"""What XLA is told depends on how often a graph uses each number of its products."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, ops

pytest.importorskip("jax")
from mindspore.backends.xla import lowering


def per_number(rows, monkeypatch):
    seen = []
    own = lowering.XlaBackend.options

    def options(self, graph):
        seen.append(lowering.multiplications_per_number(graph))
        return own(self, graph)

    monkeypatch.setattr(lowering.XlaBackend, "options", options)
    ms.set_context(mode=ms.GRAPH_MODE, backend="xla")
    ms.jit(lambda x, w: ops.matmul(x, w))(*(Tensor(np.ones(s, np.float32)) for s in ((rows, 512), (512, 256))))
    return seen[-1]


@pytest.mark.parametrize("rows", [1, 300])
def test_products_are_counted(rows, monkeypatch):
    expected = rows * 512 * 256 / (rows * 512 + 512 * 256)
    assert per_number(rows, monkeypatch) == pytest.approx(expected)
