"""SymbolTree: a network whose operations can be looked at and changed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from mindspore.nn.cell import Cell
from mindspore.rewrite.api.node import Node
from mindspore.rewrite.symbol_tree import SymbolTree as Handler
from mindspore.rewrite.tree import Tree
from mindspore.rewrite.values import NodeType

_HEADER = ("node type", "name", "codes", "arg providers", "target users")


class SymbolTree:
    """The operations of a network's construct, each a Node, in order.

    Examples:
        >>> from mindspore import nn
        >>> from mindspore.rewrite import SymbolTree
        >>> [node.get_name() for node in SymbolTree.create(nn.Flatten()).nodes()]
        ['input_x', 'flatten', 'return']
    """

    def __init__(self, handler: Handler):
        if not isinstance(handler, Handler):
            raise TypeError(f"For 'SymbolTree', use SymbolTree.create(network); got {type(handler).__name__}.")
        self._tree = handler

    @classmethod
    def create(cls, network: Cell) -> SymbolTree:
        """Read the source of a network's construct."""
        if not isinstance(network, Cell):
            raise TypeError(f"For 'SymbolTree.create', 'network' must be a Cell, but got {type(network).__name__}.")
        return cls(Handler(network))

    def get_handler(self) -> Handler:
        """The tree behind."""
        return self._tree

    # -- looking ------------------------------------------------------------------------------------------------------
    def nodes(self, all_nodes: bool = False) -> Iterator[Node]:
        """The operations; with `all_nodes` those inside control flow and inside the networks called too."""
        if not isinstance(all_nodes, bool):
            raise TypeError(f"For 'nodes', 'all_nodes' must be a bool, but got {all_nodes!r}.")
        found = self._tree.walk(True) if all_nodes else [*self._tree.inputs, *self._tree.statements]
        return iter([Node(n) for n in found])

    def get_node(self, node_name: str) -> Node | None:
        """The node of this name, or None."""
        if not isinstance(node_name, str):
            raise TypeError(f"For 'get_node', 'node_name' must be a str, but got {node_name!r}.")
        return next((Node(n) for n in self._tree.walk() if n.name == node_name), None)

    def get_inputs(self) -> list[Node]:
        """The network's arguments."""
        return [Node(n) for n in self._tree.inputs]

    def unique_name(self, name: str = "output") -> str:
        """A variable name that the network does not use."""
        return self._tree.variables.unique(name)

    # -- changing -----------------------------------------------------------------------------------------------------
    def before(self, node: Node) -> tuple[Node, bool]:
        """The place before a node."""
        return self._place("before", node), True

    def after(self, node: Node) -> tuple[Node, bool]:
        """The place behind a node."""
        return self._place("after", node), False

    @staticmethod
    def _place(op: str, node: Any) -> Node:
        if not isinstance(node, Node):
            raise TypeError(f"For '{op}', 'node' must be a Node, but got {type(node).__name__}.")
        return node

    def insert(self, position: tuple[Node, bool], node: Node) -> Node:
        """Put a new node at a place that `before` or `after` gave."""
        place, before = position
        tree = place.get_handler().tree
        tree.insert(self._place("insert", node).get_handler(), place.get_handler(), before)
        return node

    def erase(self, node: Node) -> Node:
        """Take a node out."""
        handler = self._place("erase", node).get_handler()
        handler.tree.erase(handler)
        return node

    def replace(self, old_node: Node, new_nodes: list[Node]) -> Node:
        """Put new nodes, in order, in the place of an old one."""
        if not isinstance(new_nodes, (list, tuple)) or not new_nodes:
            raise TypeError(f"For 'replace', 'new_nodes' must be a list of Nodes, but got {new_nodes!r}.")
        place = self.after(old_node)
        for node in reversed(new_nodes):
            self.insert(place, node)
        self.erase(old_node)
        return new_nodes[-1]

    def set_output(self, index: int, name: str) -> Node:
        """Return another variable as one of the results."""
        output = next((n for n in self._tree.statements if n.kind is NodeType.Output), None)
        if output is None:
            raise ValueError("For 'set_output', the network returns nothing.")
        node = Node(output)
        node.set_arg(index, name)
        return node

    def flatten_static_if_control_flow(self) -> None:
        """Keep of every `if` whose test is known without inputs only the branch that is taken."""
        self._tree.settle_static_branches()

    # -- results ------------------------------------------------------------------------------------------------------
    def get_code(self) -> str:
        """The source of the network as it is now."""
        return self._tree.code()

    def get_network(self) -> Cell:
        """The network as it is now, with the parameters of the original."""
        return self._tree.build()

    def print_node_tabulate(self, all_nodes: bool = False) -> None:
        """Print a table of the nodes and of who gives what to whom."""
        if not isinstance(all_nodes, bool):
            raise TypeError(f"For 'print_node_tabulate', 'all_nodes' must be a bool, but got {all_nodes!r}.")
        for tree in [self._tree, *([t for _, t in self._tree.trees()] if all_nodes else [])]:
            print(f"[{tree.class_name}]")
            print(_table([_HEADER, *_rows(tree)]))


def _rows(tree: Tree) -> list[tuple[str, ...]]:
    edges = tree.edges()
    rows: list[tuple[str, ...]] = []
    for node in tree.walk():
        givers = [[i, (giver.name, out)] for giver, out, taker, i in edges if taker is node]
        takers: dict[int, list] = {}
        for giver, out, taker, i in edges:
            if giver is node:
                takers.setdefault(out, []).append((taker.name, i))
        code = node.syntax.arg if node.kind is NodeType.Input else ast.unparse(ast.fix_missing_locations(node.syntax))
        users = [[out, list(found)] for out, found in takers.items()]
        rows.append((str(node.kind), node.name, code.splitlines()[0], str(givers), str(users)))
    return rows


def _table(rows: list[tuple[str, ...]]) -> str:
    widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
    line = lambda row: "  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip()
    return "\n".join([line(rows[0]), line(tuple("-" * w for w in widths)), *map(line, rows[1:])])
