"""Parameters are named after their place in the network: checkpoints depend on it."""

import mindspore as ms
from mindspore import Parameter, ParameterTuple, Tensor, nn


class Inner(nn.Cell):
    def __init__(self):
        super().__init__()
        self.bar = Parameter(Tensor([1.0]), name="foo")
        self.plain = Parameter(Tensor([1.0]))
        self.pair = ParameterTuple([Parameter(Tensor([1.0]), name="p"), Parameter(Tensor([2.0]), name="q")])


def names(cell):
    return [(path, parameter.name) for path, parameter in cell.parameters_and_names()]


def test_given_names_count_in_a_cell_without_parent():
    assert names(Inner()) == [("bar", "foo"), ("plain", "plain"), ("p", "p"), ("q", "q")]


def test_in_a_parent_the_attribute_path_is_the_name():
    class Outer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.left = Inner()
            self.blocks = nn.CellList([Inner()])
            self.tail = nn.SequentialCell(nn.Dense(1, 1))
            self.again = self.tail

    outer = Outer()
    paths = [path for path, _ in names(outer)]
    assert paths[:4] == ["left.bar", "left.plain", "left.p", "left.q"]
    assert paths[4] == "blocks.0.bar"
    got = dict(names(outer))
    assert all(got[path] == path for path in paths if not path.startswith("tail"))
    assert got["tail.0.weight"] == "again.0.weight"  # the place assigned last names it


def test_optimizer_state_is_named_after_the_weights():
    class Train(nn.Cell):
        def __init__(self):
            super().__init__()
            self.net = nn.Dense(2, 2)
            self.opt = nn.Adam(self.net.trainable_params())

    found = {parameter.name for parameter in Train().get_parameters()}
    assert {"opt.moment1.net.weight", "opt.moment2.net.bias", "opt.beta1_power"} <= found


def test_unnamed_parameters_differ():
    first, second = Parameter(Tensor(1.0)), Parameter(Tensor(1.0))
    assert first.name != second.name
    assert len(ParameterTuple([first, second])) == 2
    assert ms.ParameterTuple([first, second]).clone("copy")[0].name == f"copy.{first.name}"
