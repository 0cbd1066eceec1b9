"""What a rewritten network is made of: parents, containers of cells, functions, and cells called more than once."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.rewrite import Node, NodeType, PatternEngine, Replacement, ScopedValue, SymbolTree
from mindspore.rewrite.node import LocalPrim

name = ScopedValue.create_naming_value
X = Tensor(np.linspace(-2, 2, 8).reshape(2, 4), ms.float32)


@pytest.fixture(params=[ms.GRAPH_MODE, ms.PYNATIVE_MODE], autouse=True)
def mode(request):
    ms.set_context(mode=request.param)
    yield
    ms.set_context(mode=ms.GRAPH_MODE)


def same(new, old, x=X):
    np.testing.assert_array_equal(new(x).asnumpy(), old(x).asnumpy())


class Mixin:
    factor = 3.0

    def scaled(self, x):
        return x * self.factor


class Base(nn.Cell):
    def __init__(self):
        super().__init__()
        self.__offset = 1.5

    def construct(self, x):
        return x + 1.0

    def shifted(self, x):
        return x + self.__offset


class Child(Base, Mixin):
    limit = 2.0

    def __init__(self):
        super().__init__()
        self.__gain = 0.5

    def construct(self, x):
        x = super().construct(x)  # once, not once for each class derived
        x = self.shifted(x) * self.__gain
        return self.scaled(x) + self.limit


def test_parents_become_parents():
    net = Child()
    tree = SymbolTree.create(net)
    code = tree.get_code()
    assert "class ChildOpt(Child, BaseOpt, MixinOpt):" in code
    assert "class BaseOpt(Base, nn.Cell):" in code and "class MixinOpt(Mixin):" in code
    assert "self.__class__.limit = obj.__class__.limit" in code
    same(tree.get_network(), net)


def test_inherited_methods_can_change():
    net = Child()
    tree = SymbolTree.create(net)
    inside = tree.get_node("shifted").get_handler()
    tree.insert(tree.after(Node(inside.nodes()[0])), Node.create_call_function(ops.neg, ["x"], [name("x")]))
    expected = 3 * 0.5 * (-(X.asnumpy() + 1) + 1.5) + 2
    np.testing.assert_allclose(tree.get_network()(X).asnumpy(), expected, rtol=1e-6)


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 4)

    def construct(self, x):
        return self.dense(x)


class Stack(nn.Cell):
    def __init__(self):
        super().__init__()
        self.chain = nn.SequentialCell([Block(), nn.ReLU(), nn.SequentialCell([nn.Tanh(), Block()])])
        self.blocks = nn.CellList([nn.ReLU(), nn.Tanh(), Block()])
        self.plain = [nn.Sigmoid(), Block()]

    def construct(self, x):
        x = self.chain(x)
        for block in self.blocks:
            x = block(x)
        for block in self.plain:
            x = block(x)
        return x


def test_containers_hold_nodes():
    net = Stack()
    tree = SymbolTree.create(net)
    same(tree.get_network(), net)
    chain, blocks, plain = (tree.get_node(n).get_handler() for n in ("chain", "self.blocks", "self.plain"))
    assert [n.name for n in chain.node_list] == ["Block", "ReLU", "SequentialCell"]
    assert [n.kind for n in plain.nodes()] == [NodeType.CallCell, NodeType.Tree]
    assert blocks.kind is NodeType.CellContainer and blocks.nodes()[2].get_node_manager() is blocks
    assert "self.chain[2][1] = BlockOpt(self.chain[2][1])" in tree.get_code()
    assert tree.get_code().count("class BlockOpt") == 1


def test_containers_change_and_the_original_does_not():
    net = Stack()
    before = [p.name for p in net.get_parameters()], net(X).asnumpy()
    tree = SymbolTree.create(net)
    tree.insert(tree.after(tree.get_node("ReLU_1")), Node.create_call_cell(nn.Softsign(), ["x"], name="magnitude"))
    tree.erase(tree.get_node("Tanh_1"))
    tree.replace(tree.get_node("ReLU"), [Node.create_call_cell(nn.Sigmoid(), ["x"], name="squash")])
    code = tree.get_code()
    assert "self.blocks.insert(1, self.magnitude)" in code and "del self.blocks[2]" in code
    new = tree.get_network()
    assert [type(c).__name__ for c in new.blocks] == ["ReLU", "Softsign", "BlockOpt"]
    assert [type(c).__name__ for c in new.chain] == ["BlockOpt", "Sigmoid", "SequentialCell"]
    assert ([p.name for p in net.get_parameters()], before[1].tolist()) == (before[0], net(X).asnumpy().tolist())
    assert [type(c).__name__ for c in net.blocks] == ["ReLU", "Tanh", "Block"]
    assert new.chain[0].dense.weight is net.chain[0].dense.weight

    def dense(block, x):
        return x @ block.dense.weight.asnumpy().T + block.dense.bias.asnumpy()

    h = 1 / (1 + np.exp(-dense(net.chain[0], X.asnumpy())))
    h = dense(net.chain[2][1], np.tanh(h))
    h = np.maximum(h, 0)
    h = dense(net.blocks[2], h / (1 + np.abs(h)))
    np.testing.assert_allclose(new(X).asnumpy(), dense(net.plain[1], 1 / (1 + np.exp(-h))), rtol=1e-4, atol=1e-6)


class SwapForTanh(Replacement):
    def build(self, pattern, is_chain_pattern, matched):
        first = matched.get(pattern.get_inputs()[0].name())
        return [
            Node.create_call_cell(nn.Tanh(), matched.get(pattern.name()).get_targets(), first.get_args(), name="new")
        ]


def test_patterns_are_found_in_chains():
    class Chained(nn.Cell):
        def __init__(self):
            super().__init__()
            self.chain = nn.SequentialCell([nn.Softsign(), nn.ReLU(), nn.Sigmoid()])

        def construct(self, x):
            return self.chain(x)

    tree = SymbolTree.create(Chained())
    x = X.asnumpy()
    assert PatternEngine([nn.ReLU, nn.Sigmoid], SwapForTanh()).apply(tree)
    np.testing.assert_allclose(tree.get_network()(X).asnumpy(), np.tanh(x / (1 + np.abs(x))), rtol=1e-5)


def helper(x):
    y = ops.abs(x)
    return y


class Calls(nn.Cell):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def construct(self, x):
        x = helper(x)
        x = self.block(x)
        return self.block(x)


def test_functions_are_part_of_the_tree():
    net = Calls()
    tree = SymbolTree.create(net)
    inside = tree.get_node("helper").get_handler()
    assert [n.name for n in inside.nodes()] == ["input_x_1", "abs", "return"]
    tree.replace(Node(inside.get_node("abs")), [Node.create_call_function(ops.neg, ["y"], [name("x")])])
    with pytest.raises(TypeError, match="no-method function 'helper'"):
        cell = Node.create_call_cell(nn.ReLU(), ["x"], [name("x")])
        tree.insert(tree.after(Node(inside.nodes()[0])), cell)
    assert "y = neg(x)" in tree.get_code()
    negative = Tensor(-np.abs(X.asnumpy()))
    np.testing.assert_array_equal(tree.get_network()(-negative).asnumpy(), net.block(net.block(negative)).asnumpy())
    np.testing.assert_array_equal(helper(X).asnumpy(), np.abs(X.asnumpy()))


def test_calls_of_one_cell_can_part():
    net = Calls()
    tree = SymbolTree.create(net)
    assert tree.get_code().count("class BlockOpt") == 1
    second = tree.get_node("block_1").get_sub_tree()
    second.insert(
        second.after(second.get_node("dense")), Node.create_call_cell(nn.Tanh(), ["dense_var"], [name("dense_var")])
    )
    assert tree.get_code().count("class BlockOpt") == 2
    expected = np.tanh(net(X).asnumpy())
    np.testing.assert_allclose(tree.get_network()(X).asnumpy(), expected, rtol=1e-5, atol=1e-6)


def test_loops_with_else():
    class Loop(nn.Cell):
        def construct(self, x):
            count = 3
            while count > 0:
                x = x + 1.0
                count -= 1
            else:
                x = x * 2.0
            return x

    net = Loop()
    tree = SymbolTree.create(net)
    same(tree.get_network(), net)
    assert len(tree.get_node("while_else_node").get_handler().nodes()) == 1
    tree.erase(tree.get_node("while_else_node"))
    np.testing.assert_allclose(tree.get_network()(X).asnumpy(), X.asnumpy() + 3, rtol=1e-6)


def test_primitives_made_in_construct():
    class Local(nn.Cell):
        def construct(self, x):
            absolute = ops.Abs()
            return absolute(x)

    node = SymbolTree.create(Local()).get_node("absolute")
    assert node.get_node_type() is NodeType.CallPrimitive
    assert isinstance(node.get_instance(), LocalPrim) and issubclass(node.get_instance_type(), ops.Abs)
