"""Settings of a Cell that are words."""

import re

import pytest

from mindspore import Parameter, Tensor, nn


def test_every_boost_that_is_documented_is_accepted():
    for name in re.findall(r'"(\w+)"', nn.Cell.set_boost.__doc__):
        assert nn.ReLU().set_boost(name).get_flags()[name] is True
    with pytest.raises(ValueError, match="less_bn"):
        nn.ReLU().set_boost("O1")


def test_parameters_and_cells_do_not_take_each_other_s_place():
    net = nn.Cell()
    net.weight = Parameter(Tensor([1.0]), name="weight")
    net.layer = nn.Dense(2, 3)
    with pytest.raises(KeyError, match="'weight' of Cell is a Parameter; delete it"):
        net.weight = nn.ReLU()
    with pytest.raises(KeyError, match="'layer' of Cell is a Cell; delete it"):
        net.layer = Parameter(Tensor([1.0]), name="layer")
    with pytest.raises(KeyError, match="'layer'"):
        net.insert_param_to_cell("layer", Parameter(Tensor([1.0]), name="layer"))
    for bad in ("", "a.b"):
        with pytest.raises(KeyError, match=r"without '\.'"):
            net.insert_child_to_cell(bad, nn.ReLU())
    with pytest.raises(TypeError, match="string"):
        net.insert_child_to_cell(None, nn.ReLU())
    net.insert_child_to_cell("layer", nn.ReLU())  # a child for a child
    assert isinstance(net.layer, nn.ReLU)
    del net.weight
    net.weight = nn.ReLU()
    assert [name for name, _ in net.name_cells().items()] == ["layer", "weight"]
