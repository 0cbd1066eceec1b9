"""Patterns of operations replaced by others."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.rewrite import Node, PatternEngine, PatternNode, Replacement, ScopedValue, SymbolTree, VarNode

X = Tensor(np.arange(-4, 4).reshape(2, 4), ms.float32)
name = ScopedValue.create_naming_value


class Chain(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 4)
        self.relu1 = nn.ReLU()
        self.relu2 = nn.ReLU()

    def construct(self, x):
        x = self.dense(x)
        x = self.relu1(x)
        x = self.relu2(x)
        return x


class TanhForRelu(Replacement):
    def build(self, pattern, is_chain_pattern, matched):
        node = matched[pattern.name()]
        return [Node.create_call_cell(nn.Tanh(), [str(node.get_targets()[0])], node.get_args(), name="tanh")]


def test_every_match_is_replaced():
    net = Chain()
    tree = SymbolTree.create(net)
    assert PatternEngine([nn.ReLU], TanhForRelu()).apply(tree)
    assert [n.get_instance_type() for n in tree.nodes()][1:-1] == [nn.Dense, nn.Tanh, nn.Tanh]
    want = np.tanh(np.tanh(net.dense(X).asnumpy()))
    np.testing.assert_allclose(tree.get_network()(X).asnumpy(), want, rtol=1e-5)
    assert not PatternEngine([nn.ReLU], TanhForRelu()).apply(tree)


class Fused(Replacement):
    def build(self, pattern, is_chain_pattern, matched):
        assert is_chain_pattern
        relu, dense = matched[pattern.name()], matched[pattern.get_inputs()[0].name()]
        first = Node.create_call_cell(dense.get_instance(), ["h"], dense.get_args(), name="first")
        second = Node.create_call_cell(nn.Sigmoid(), [str(relu.get_targets()[0])], [name("h")], name="second")
        return [first, second]


def test_a_chain_becomes_several_nodes():
    net = Chain()
    tree = SymbolTree.create(net)
    assert PatternEngine([nn.Dense, nn.ReLU], Fused()).apply(tree)
    assert [n.get_name() for n in tree.nodes()][1:-1] == ["first", "second", "relu2"]
    want = 1 / (1 + np.exp(-net.dense(X).asnumpy()))
    np.testing.assert_allclose(tree.get_network()(X).asnumpy(), want, rtol=1e-5)


class Diamond(nn.Cell):
    def __init__(self):
        super().__init__()
        self.left, self.right, self.add, self.relu = nn.Tanh(), nn.Sigmoid(), ops.Add(), nn.ReLU()

    def construct(self, x):
        a = self.left(x)
        b = self.right(x)
        x = self.add(a, b)
        return self.relu(x)


class Subtract(Replacement):
    def build(self, pattern, is_chain_pattern, matched):
        assert not is_chain_pattern
        add, left = matched[pattern.name()], matched["left"]
        return [Node.create_call_cell(ops.Sub(), [str(add.get_targets()[0])], [left.get_args()[0]] * 2, name="sub")]


def test_a_tree_of_operations():
    left, right = PatternNode("left", nn.Tanh, [VarNode()]), PatternNode("right", nn.Sigmoid)
    tree = SymbolTree.create(Diamond())
    assert PatternEngine(PatternNode("add", ops.Add, [left, right]), Subtract()).apply(tree)
    assert tree.get_network()(X).asnumpy().tolist() == np.zeros((2, 4)).tolist()


class Leaking(Chain):
    def construct(self, x):
        y = self.dense(x)
        z = self.relu1(y)
        return y + z


class Overwritten(Chain):
    def construct(self, x):
        y = self.dense(x)
        x = self.relu2(x)
        y = self.relu1(y)
        return x + y


@pytest.mark.parametrize("network", [Leaking, Overwritten])
def test_places_where_it_would_change_something_else_are_left_alone(network):
    assert not PatternEngine([nn.Dense, nn.ReLU], Fused()).apply(SymbolTree.create(network()))


class Outer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.chain = Chain()

    def construct(self, x):
        return self.chain(x)


def test_networks_called_are_searched_too():
    net = Outer()
    tree = SymbolTree.create(net)
    assert PatternEngine([nn.ReLU], TanhForRelu()).apply(tree)
    want = np.tanh(np.tanh(net.chain.dense(X).asnumpy()))
    np.testing.assert_allclose(tree.get_network()(X).asnumpy(), want, rtol=1e-5)


def test_wrong_arguments():
    with pytest.raises(TypeError, match="must be a list of types"):
        PatternEngine([])
    with pytest.raises(TypeError, match="must be a Replacement"):
        PatternEngine([nn.ReLU], lambda: None)
    with pytest.raises(TypeError, match="must be a SymbolTree"):
        PatternEngine([nn.ReLU]).apply(Chain())


def test_the_tree_behind_a_symbol_tree(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    net = Chain()
    handler = SymbolTree.create(net).get_handler()
    dense, relu1, relu2 = (handler.get_node(n) for n in ("dense", "relu1", "relu2"))
    assert handler.get_node_users(dense) == [(relu1, 0)] and handler.get_node_inputs(relu2) == [relu1]
    handler.set_node_target(dense, 0, "h")
    handler.set_node_arg_by_node(relu2, 0, dense)
    handler.erase_node(relu1)
    assert relu2.get_arg_providers() == {0: (dense, 0)} and dense.get_target_users(0) == [(relu2, 0)]
    handler.set_saved_file_name("changed")
    handler.save_network_to_file()
    assert "h = self.dense(x)" in (tmp_path / "changed.py").read_text()
    np.testing.assert_allclose(handler.build()(X).asnumpy(), np.maximum(net.dense(X).asnumpy(), 0), rtol=1e-5)
