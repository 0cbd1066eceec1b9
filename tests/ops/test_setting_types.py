"""Settings of the wrong type are refused at the front door, in the same words in both modes."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.ops.setting_types import LAYERS, OPERATIONS, _lines

X = Tensor([[3.0, 1.0, 2.0]])
ROWS = [
    (space, name, setting, kinds)
    for space, table in ((ops, OPERATIONS), (nn, LAYERS))
    for names, settings in _lines(table)
    for name in names
    for setting, kinds in settings.items()
]


@pytest.mark.parametrize(("space", "name", "setting", "kinds"), ROWS, ids=[f"{n}.{s}" for _, n, s, _ in ROWS])
def test_each_setting_of_the_table(space, name, setting, kinds):
    wrong = [{}, 1j, X]
    wrong += [] if "str" in kinds else ["a"]
    wrong += [] if "bool" in kinds else [True]
    wrong += [] if "float" in kinds else [1.5]
    for value in wrong:
        with pytest.raises(TypeError, match=f"'{setting}' must be"):
            getattr(space, name)(**{setting: value})


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_a_word_is_no_flag(mode):
    ms.set_context(mode=mode)

    class Net(nn.Cell):
        def construct(self, x):
            return ops.topk(x, 1, largest="no")

    with pytest.raises(TypeError, match="For 'topk', 'largest' must be a bool, but got 'no' of type str"):
        Net()(X)


def test_right_types_pass():
    assert ops.topk(X, 1, largest=np.bool_(False))[0].tolist() == [[1.0]]
    assert ops.adaptive_avg_pool1d(X, 1).tolist() == [[2.0]]
    assert nn.Dropout2d(0.5).p == 0.5 and ops.LRN(depth_radius=2).depth_radius == 2
    assert ops.fft2(X, s=None).shape == X.shape  # a default may be given, too
