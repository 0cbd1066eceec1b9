"""Settings of a Cell that are words."""

import re

import pytest

import mindspore as ms
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


def test_what_the_class_holds_does_not_hide_a_member():
    """The member would be among the trained parameters, and the computation would read the class's value."""

    class Net(nn.Cell):
        scale = None

        def layer(self):
            return 1

    for name in ("scale", "layer", "construct"):
        with pytest.raises(KeyError, match=f"'{name}' is an attribute of the class Net"):
            setattr(Net(), name, Parameter(Tensor([1.0]), name="p"))
        with pytest.raises(KeyError, match=f"'{name}' is an attribute of the class Net"):
            setattr(Net(), name, nn.ReLU())
        with pytest.raises(KeyError, match=f"'{name}' is an attribute of the class Net"):
            Net().insert_child_to_cell(name, nn.ReLU())
    net = Net()
    net.weight = Parameter(Tensor([1.0]), name="weight")
    net.weight = Parameter(Tensor([2.0]), name="weight")
    assert [p.name for p in net.get_parameters()] == ["weight"] and net.weight.asnumpy() == [2]


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_a_computation_given_to_one_cell(mode):
    ms.set_context(mode=mode)
    plain, layer = nn.Cell(), nn.ReLU()
    plain.construct = lambda x: x * 2
    layer.construct = lambda x: x - 1
    x = Tensor([-1.0, 3.0])
    assert plain(x).tolist() == [-2, 6] and layer(x).tolist() == [-2, 2]
    assert nn.SequentialCell(plain, layer)(x).tolist() == [-3, 5]
    assert ms.grad(plain)(x).tolist() == [2, 2]
    with pytest.raises(AttributeError, match=r"the method 'construct' of Cell is not defined.$"):
        nn.Cell()(x)
    ms.set_context(mode=ms.PYNATIVE_MODE)


def test_an_optimizer_may_count_its_steps_under_any_name():
    class Own(nn.Optimizer):
        def __init__(self, parameters):
            super().__init__(0.5, parameters)
            self.step_count = Parameter(Tensor(0, ms.int32), name="step_count")

        def construct(self, gradients):
            self.step_count += 1
            for parameter, gradient in zip(self.parameters, gradients):
                ms.ops.assign_sub(parameter, self.get_lr() * gradient)
            return self.step_count

    weight = Parameter(Tensor([4.0]), name="weight")
    step = Own([weight])
    step((Tensor([2.0]),))
    assert int(step((Tensor([2.0]),))) == 2 and weight.asnumpy() == [2]
