"""The element type of a new Tensor is one of MindSpore's, as programs that run elsewhere must state it."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor


@pytest.mark.parametrize("wrong", [np.float32, np.dtype("int8"), float, int, bool, "float32", 5, ms.common.dtype.number, Tensor])
def test_other_types_are_refused(wrong):
    for make in (
        lambda: Tensor([1, 2], wrong),
        lambda: Tensor(np.ones(2), dtype=wrong),
        lambda: Tensor(shape=(2,), dtype=wrong),
        lambda: Tensor(Tensor([1.0]), wrong),
    ):
        with pytest.raises(TypeError, match="For 'Tensor', the 'dtype' should be one of MindSpore's types"):
            make()


def test_the_message_names_what_was_given():
    with pytest.raises(TypeError, match=r"but got numpy\.float32\."):
        Tensor([1.0], np.float32)
