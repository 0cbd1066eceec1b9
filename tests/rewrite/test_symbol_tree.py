"""Networks read, changed and written back."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.rewrite import Node, NodeType, ScopedValue, SymbolTree, ValueType

name = ScopedValue.create_naming_value
X = Tensor(np.arange(-4, 4).reshape(2, 4), ms.float32)


def double(x):
    return x * 2


class Inner(nn.Cell):
    def __init__(self):
        super().__init__()
        self.relu = nn.ReLU()

    def construct(self, x):
        return self.relu(x)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 4)
        self.relu = nn.ReLU()
        self.inner = Inner()
        self.add = ops.Add()
        self.device = "CPU"

    def helper(self, x):
        return self.add(x, 1.0)

    def construct(self, x):
        x = self.relu(0.5 * self.dense(x))
        x = self.inner(x)
        x = self.helper(double(x))
        if self.device == "CPU":
            x = x + 1.0
        else:
            x = x - 1.0
        if x.sum() > 0:
            y = ops.tanh(x)
        else:
            y = -x
        for i in range(2):
            y = y + i
        return y


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_unchanged_network_computes_the_same(mode):
    ms.set_context(mode=mode)
    net = Net()
    new = SymbolTree.create(net).get_network()
    np.testing.assert_array_equal(new(X).asnumpy(), net(X).asnumpy())
    assert isinstance(new, Net) and new.dense.weight is net.dense.weight


def test_statements_are_flat_and_know_their_neighbours():
    tree = SymbolTree.create(Net())
    nodes = {n.get_name(): n for n in tree.nodes()}
    assert list(nodes)[:5] == ["input_x", "dense", "binop_mult", "relu", "inner"]
    assert "mult_var = 0.5 * dense_var" in tree.get_code()
    assert nodes["dense"].get_node_type() is NodeType.CallCell and nodes["dense"].get_instance_type() is nn.Dense
    assert nodes["inner"].get_node_type() is NodeType.Tree
    assert nodes["double"].get_instance_type() is double
    assert [n.get_name() for n in nodes["relu"].get_inputs()] == ["binop_mult"]
    assert [n.get_name() for n in nodes["relu"].get_users()] == ["inner"]
    values = nodes["binop_mult"].get_args()
    assert values[0].type is ValueType.ConstantValue and values[1] == name("dense_var")
    assert nodes["if_node"].get_node_type() is NodeType.ControlFlow
    assert [n.get_name() for n in tree.nodes(all_nodes=True)].count("relu") == 2  # the one inside too


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_insert_erase_replace(mode):
    ms.set_context(mode=mode)
    net = Net()
    tree = SymbolTree.create(net)
    scale = Node.create_call_function(double, [tree.unique_name("x")], [name("x")])
    tree.insert(tree.after(tree.get_node("relu")), scale)
    tree.get_node("inner").set_arg_by_node(0, scale)
    tree.replace(tree.get_node("relu"), [Node.create_call_cell(nn.Sigmoid(), ["x"], [name("mult_var")], name="act")])
    tree.erase(tree.get_node("helper"))
    tree.get_node("double").set_arg(0, "x")
    code = tree.get_code()
    assert "x = self.act(mult_var)" in code and "self.helper" not in code and "x_1 = double(x)" in code
    new = tree.get_network()
    hidden = 2 / (1 + np.exp(-0.5 * net.dense(X).asnumpy()))
    hidden = np.maximum(hidden, 0) + 1.0
    np.testing.assert_allclose(new(X).asnumpy(), np.tanh(hidden) + 1, rtol=1e-5)
    assert not hasattr(net, "act")  # the original is left alone


def test_networks_inside_networks_can_change():
    net = Net()
    tree = SymbolTree.create(net)
    inner = tree.get_node("inner").get_sub_tree()
    inner.replace(inner.get_node("relu"), [Node.create_call_cell(nn.Tanh(), ["relu_var"], [name("x")], name="tanh")])
    extra = Node.create_input("shift")
    inner.insert(inner.after(inner.get_inputs()[-1]), extra)
    code = tree.get_code()
    assert "def construct(self, x, shift=None):" in code and "relu_var = self.tanh(x)" in code
    new = tree.get_network()
    assert type(new.inner).__name__ == "InnerOpt" and isinstance(new.inner.tanh, nn.Tanh)
    assert type(net.inner) is Inner


def test_statements_of_methods_can_change():
    net = Net()
    tree = SymbolTree.create(net)
    add = tree.get_node("add")
    assert (
        add.get_node_type() is NodeType.CallPrimitive and tree.get_node("helper").get_handler().nodes()[1].name == "add"
    )
    assert [n.get_name() for n in add.get_users()] == ["return_1"]
    assert "add" not in [n.get_name() for n in tree.nodes()]
    double_it = Node.create_call_function(double, ["add_var"], [name("add_var")])
    tree.insert(tree.after(add), double_it)
    assert "def helper(self, x):" in tree.get_code() and "add_var = double(add_var)" in tree.get_code()
    ms.set_context(mode=ms.PYNATIVE_MODE)
    new = tree.get_network()
    np.testing.assert_array_equal(new.helper(X).asnumpy(), 2 * net.helper(X).asnumpy())


def test_erasing_both_branches_erases_the_if():
    tree = SymbolTree.create(Net())
    tree.erase(tree.get_node("if_node_1"))
    assert tree.get_code().count("pass") == 1
    tree.erase(tree.get_node("else_node_1"))
    assert "pass" not in tree.get_code() and "if compare_var_1" not in tree.get_code()


def test_static_branches_are_settled():
    tree = SymbolTree.create(Net())
    tree.flatten_static_if_control_flow()
    code = tree.get_code()
    assert "x = x + 1.0" in code and "x = x - 1.0" not in code and "y = -x" in code


def test_table(capsys):
    SymbolTree.create(Inner()).print_node_tabulate()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "[InnerOpt]" and lines[1].split()[:3] == ["node", "type", "name"]
    assert "[[0, ('input_x', 0)]]" in lines[4] and "[[0, [('return', 0)]]]" in lines[4]


def test_bad_input():
    tree = SymbolTree.create(Inner())
    relu = tree.get_node("relu")
    with pytest.raises(TypeError, match="'network' must be a Cell"):
        SymbolTree.create(double)
    with pytest.raises(TypeError, match="must be a str"):
        Node.create_call_function(double, [2], [])
    with pytest.raises(TypeError, match="ScopedValues"):
        Node.create_call_function(double, ["x"], [2])
    with pytest.raises(TypeError, match="'cell' must be a Cell"):
        Node.create_call_cell(double, ["x"])
    with pytest.raises(ValueError, match="out of range"):
        relu.set_arg(3, "x")
    with pytest.raises(RuntimeError, match="before an input"):
        new = Node.create_call_cell(nn.ReLU(), ["x"], [name("x")])
        tree.insert(tree.before(tree.get_inputs()[0]), new)
    assert tree.get_node("nothing") is None
