"""Replacing patterns of operations: find nodes that fit a small tree of types, put others in their place.

A pattern is matched from its last operation backwards along the arguments. A place fits only if nothing else uses what the
pattern computes on its way, and if the variables it reads still hold the same values where the new nodes will stand.
"""

from __future__ import annotations

import abc
from collections import OrderedDict
from typing import Any

from mindspore.nn.cell import Cell
from mindspore.prims.primitive import Primitive
from mindspore.rewrite.api.node import Node
from mindspore.rewrite.api.symbol_tree import SymbolTree
from mindspore.rewrite.statement import Statement
from mindspore.rewrite.tree import Tree


class PatternNode:
    """An operation of a pattern: its type, and the patterns of its arguments.

    Examples:
        >>> from mindspore import nn
        >>> from mindspore.rewrite import PatternNode
        >>> relu = PatternNode.create_pattern_from_list([nn.Conv2d, nn.ReLU])
        >>> relu.get_inputs()[0].type().__name__
        'Conv2d'
    """

    def __init__(self, pattern_node_name: str, match_type: Any = None, inputs: list[PatternNode] | None = None):
        if not isinstance(pattern_node_name, str):
            raise TypeError(f"For 'PatternNode', 'pattern_node_name' must be a str, but got {pattern_node_name!r}.")
        self._name, self._type = pattern_node_name, match_type
        self._inputs: list[PatternNode] = []
        self.set_inputs(inputs or [])

    @staticmethod
    def create_pattern_from_list(type_list: list[Any]) -> PatternNode:
        """A chain: each operation takes the result of the one before; the last is returned."""
        if not isinstance(type_list, (list, tuple)) or not type_list:
            raise TypeError(
                f"For 'create_pattern_from_list', 'type_list' must be a list of types, but got {type_list!r}."
            )
        last: PatternNode | None = None
        for i, kind in enumerate(type_list):
            last = PatternNode(f"{i}-{getattr(kind, '__name__', kind)}", kind, [last] if last is not None else [])
        assert last is not None
        return last

    @staticmethod
    def from_node(node: Node) -> PatternNode:
        """The pattern that an existing node fits."""
        return PatternNode(node.get_name(), node.get_instance_type())

    def name(self) -> str:
        """What the matched node is found under."""
        return self._name

    def type(self) -> Any:
        """The type of the cell or primitive."""
        return self._type

    def get_inputs(self) -> list[PatternNode]:
        """The patterns of the arguments."""
        return self._inputs

    def add_input(self, node: PatternNode) -> None:
        """One more argument."""
        self.set_inputs([*self._inputs, node])

    def set_inputs(self, inputs: list[PatternNode]) -> None:
        """All arguments. None given means that any will do."""
        if not all(isinstance(i, PatternNode) for i in inputs):
            raise TypeError(f"For 'set_inputs', 'inputs' must be a list of PatternNodes, but got {inputs!r}.")
        self._inputs = list(inputs)

    def match(self, node: Node) -> bool:
        """Whether a node calls what this pattern wants, whatever its arguments are."""
        return node.get_instance_type() is self._type


class VarNode(PatternNode):
    """Fits everything: an argument that comes from outside of the pattern."""

    def __init__(self) -> None:
        super().__init__("placeholder")

    def match(self, node: Node) -> bool:
        return True


class Replacement(abc.ABC):
    """Makes the nodes that take the place of a match: subclass it and define `build`."""

    @abc.abstractmethod
    def build(self, pattern: PatternNode, is_chain_pattern: bool, matched: OrderedDict) -> list[Node]:
        """The new nodes in order; the last must have the targets of the pattern's last node. `matched` finds nodes by name."""

    def __call__(self, pattern: PatternNode, is_chain_pattern: bool, matched: OrderedDict) -> list[Node]:
        nodes = self.build(pattern, is_chain_pattern, matched)
        if not isinstance(nodes, (list, tuple)) or not all(isinstance(n, Node) for n in nodes):
            raise TypeError(f"For 'Replacement', 'build' must return a list of Nodes, but got {nodes!r}.")
        return list(nodes)


class PatternEngine:
    """Finds a pattern everywhere in a SymbolTree and replaces it.

    Args:
        pattern: the last PatternNode, or a list of types that follow each other.
        replacement: makes the new nodes; None only looks.
    """

    def __init__(self, pattern: PatternNode | list, replacement: Replacement | None = None):
        if replacement is not None and not isinstance(replacement, Replacement):
            raise TypeError(f"For 'PatternEngine', 'replacement' must be a Replacement, but got {replacement!r}.")
        self._is_chain = not isinstance(pattern, PatternNode)
        self._pattern = pattern if isinstance(pattern, PatternNode) else PatternNode.create_pattern_from_list(pattern)
        self._replacement = replacement

    def pattern(self) -> PatternNode:
        """The pattern looked for."""
        return self._pattern

    def apply(self, stree: SymbolTree) -> bool:
        """Replace every match, those inside of networks called too; whether there was one."""
        if not isinstance(stree, SymbolTree):
            raise TypeError(f"For 'apply', 'stree' must be a SymbolTree, but got {type(stree).__name__}.")
        return self._apply(stree.get_handler())

    def _apply(self, tree: Tree) -> bool:
        found = False
        done: set[int] = set()  # nodes that a replacement has made are not looked at again
        while True:
            match = next((m for m in self._matches(tree) if not done & {id(n) for n in m.values()}), None)
            if match is None:
                break
            found = True
            if self._replacement is None:
                done |= {id(n) for n in match.values()}
                continue
            done |= {id(n) for n in self._replace(tree, match)}
        inside = [self._apply(sub) for _, sub in tree.trees()]
        return found or any(inside)

    def _replace(self, tree: Tree, match: dict[str, Statement]) -> list[Statement]:
        assert self._replacement is not None
        matched = OrderedDict((name, Node(statement)) for name, statement in match.items())
        nodes = self._replacement(self._pattern, self._is_chain, matched)
        last = match[self._pattern.name()]
        made = [tree.insert(node.get_handler(), last, True) for node in nodes]
        for statement in {id(s): s for s in match.values()}.values():
            tree.erase(statement)
        return made

    # -- matching -----------------------------------------------------------------------------------------------------
    def _matches(self, tree: Tree) -> Any:
        edges = tree.edges()
        givers: dict[int, dict[int, Statement]] = {}
        for giver, _, taker, place in edges:
            givers.setdefault(id(taker), {})[place] = giver
        for statement in tree.walk():
            match: dict[str, Statement] = {}
            if not self._fits(self._pattern, statement, givers, match):
                continue
            if self._is_closed(match, edges) and self._reads_the_same(tree, match, givers):
                yield match

    def _fits(self, pattern: PatternNode, statement: Statement, givers: dict, match: dict[str, Statement]) -> bool:
        if isinstance(pattern, VarNode):
            return True
        known = match.get(pattern.name())
        if known is not None:
            return known is statement
        if not isinstance(statement.instance, (Cell, Primitive)) or not pattern.match(Node(statement)):
            return False
        match[pattern.name()] = statement
        wanted = pattern.get_inputs()
        if not wanted:
            return True
        given = givers.get(id(statement), {})
        if len(statement.arguments()) != len(wanted):
            return False
        return all(
            isinstance(p, VarNode) or (i in given and self._fits(p, given[i], givers, match))
            for i, p in enumerate(wanted)
        )

    def _is_closed(self, match: dict[str, Statement], edges: list) -> bool:
        """Whether only the last operation's result is used outside."""
        inside = {id(s) for s in match.values()}
        last = match[self._pattern.name()]
        return not any(id(g) in inside and g is not last and id(t) not in inside for g, _, t, _ in edges)

    def _reads_the_same(self, tree: Tree, match: dict[str, Statement], givers: dict) -> bool:
        """Whether the variables that the match reads from outside are not set again before its last operation."""
        last, inside = match[self._pattern.name()], {id(s) for s in match.values()}
        block = tree.block_of(last)
        if any(not any(s is b for b in block) for s in match.values()):
            return False  # parts of it stand inside control flow
        if last.container is not None:
            return True  # the cells of a container share no variables
        latest: dict[str, Statement] = {t.arg: i for i in tree.inputs for t in [i.syntax]}
        for statement in block:
            if statement is last:
                break
            if id(statement) not in inside:
                latest.update({t.id: statement for t in statement.targets() if hasattr(t, "id")})
        for statement in match.values():
            given = givers.get(id(statement), {})
            for i, name in enumerate(statement.read_names()):
                giver = given.get(i)
                if name and giver is not None and id(giver) not in inside and latest.get(name) is not giver:
                    return False
        return True
