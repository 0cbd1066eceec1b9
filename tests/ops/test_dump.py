"""Tensors saved from inside a network, in order, on every backend."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops


class Net(nn.Cell):
    def __init__(self, folder):
        super().__init__()
        self.dump, self.folder = ops.TensorDump(), str(folder)

    def construct(self, x):
        self.dump(self.folder + "/x", x)
        y = x * 2
        ops.tensordump(self.folder + "/y.npy", y)
        return y


@pytest.mark.parametrize("backend", ["interp", "xla", "eager"])
def test_files(tmp_path, backend):
    ms.set_context(mode=ms.PYNATIVE_MODE if backend == "eager" else ms.GRAPH_MODE)
    if backend != "eager":
        ms.set_context(backend=backend)
    try:
        net = Net(tmp_path)
        for value in (1.0, 3.0):
            net(Tensor([value], ms.float32)).asnumpy()
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE, backend="")
    number = lambda path: int(path.stem.rpartition("_")[2])
    files = sorted(tmp_path.glob("*_float32_*.npy"), key=number)
    assert [f.name[0] for f in files] == ["x", "y", "x", "y"]
    assert [np.load(f).tolist() for f in files] == [[1.0], [2.0], [3.0], [6.0]]


def test_bad_input(tmp_path):
    with pytest.raises(ValueError, match="input_output"):
        ops.TensorDump("all")
    with pytest.raises(TypeError, match="must be a Tensor"):
        ops.TensorDump()(str(tmp_path / "x"), 1)
