"""Settings of a Cell that are words."""

import re

import pytest

from mindspore import nn


def test_every_boost_that_is_documented_is_accepted():
    for name in re.findall(r'"(\w+)"', nn.Cell.set_boost.__doc__):
        assert nn.ReLU().set_boost(name).get_flags()[name] is True
    with pytest.raises(ValueError, match="less_bn"):
        nn.ReLU().set_boost("O1")
