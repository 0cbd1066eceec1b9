"""Layers take their tensor by the name that official MindSpore gives it."""

import pytest

import mindspore as ms
from mindspore import Tensor, nn

X = Tensor([-2.0, 0.5, 4.0])
NAMES = {"ReLU": "input", "HSwish": "input", "HSigmoid": "input", "SeLU": "input_x", "Mish": "input_x",
         "LogSigmoid": "input_x", "ReLU6": "x", "Tanh": "x"}  # fmt: skip


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.parametrize(("layer", "name"), NAMES.items(), ids=list(NAMES))
def test_by_name(layer, name, mode):
    ms.set_context(mode=mode)
    made = getattr(nn, layer)()
    assert made(**{name: X}).tolist() == made(X).tolist()
