"""Patterns over nodes, rules that use them, and the engine that applies rules.

A pattern is written with `op("Reshape", op("Reshape", var("x"), any_), var("shape"))`. A rule is a named pair of a pattern
and an action; the action gets the captured nodes by name and returns the replacement, or None to leave the node. Rules are
indexed by the name of the primitive at their root, so a node only meets the rules that could apply to it.

One sweep visits the nodes of a graph in order, arguments first; a node's arguments are already simplified when it is
reached, so most chains collapse in one sweep. Equal nodes are merged in the same sweep (value numbering).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore._base.keys import exact
from mindspore.compiler.builder import array_node, infer_argument
from mindspore.ir import AbstractTensor, CNode, FuncGraph, Node, ValueNode
from mindspore.prims.primitive import Primitive


class Var:
    """Matches any node and captures it; a name used twice must match the same node."""

    def __init__(self, name: str, test: Callable[[Node], bool] | None = None):
        self.name, self.test = name, test

    def match(self, node: Node, found: dict[str, Node]) -> bool:
        if self.test is not None and not self.test(node):
            return False
        if self.name == "_":
            return True
        return found.setdefault(self.name, node) is node


class Op:
    """Matches an application of a primitive by name."""

    def __init__(self, name: str, *args: Any, capture: str = ""):
        self.name, self.args, self.capture = name, args, capture

    def match(self, node: Node, found: dict[str, Node]) -> bool:
        if not isinstance(node, CNode) or node.op.name != self.name:
            return False
        if self.args and (len(self.args) != len(node.args)):
            return False
        if self.capture:
            found[self.capture] = node
        return all(p.match(a, found) for p, a in zip(self.args, node.args))


var, op = Var, Op
any_ = Var("_")


class Rule:
    """A named rewrite."""

    def __init__(self, name: str, pattern: Op, action: Callable[..., Node | None]):
        self.name, self.pattern, self.action = name, pattern, action

    def apply(self, node: CNode, context: Context) -> Node | None:
        found: dict[str, Node] = {}
        if not self.pattern.match(node, found):
            return None
        return self.action(context, node, **found)


def rule(name: str, *patterns: Op) -> Callable[[Callable], list[Rule]]:
    """Decorator: make one rule per pattern from an action `(context, node, **captures)`."""

    def decorate(action: Callable) -> list[Rule]:
        return [Rule(name, pattern, action) for pattern in patterns]

    return decorate


class Context:
    """What actions use to make nodes: inferred, placed in the graph at hand, with the origin of the node replaced."""

    def __init__(self, graph: FuncGraph):
        self.graph = graph
        self.current: CNode | None = None
        self.counts: dict[str, int] = {}

    def make(self, prim: Primitive, *args: Node) -> CNode:
        abstract = prim.infer(*(infer_argument(a) for a in args))
        place = self.current
        return CNode(prim, args, abstract, self.graph, place.location if place else (), place.scope if place else "")

    @staticmethod
    def constant(value: Any) -> ValueNode:
        return ValueNode(value)

    @staticmethod
    def array(array: np.ndarray) -> ValueNode:
        return array_node(array)


class Rewriter:
    """Applies a list of rules to a graph, merging equal nodes on the way."""

    def __init__(self, rules: list[Rule], merge: bool = True, limit: int = 4):
        self.by_op: dict[str, list[Rule]] = {}
        for r in rules:
            self.by_op.setdefault(r.pattern.name, []).append(r)
        self.merge = merge
        self.limit = limit

    def run(self, graph: FuncGraph) -> dict[str, int]:
        """Sweep until nothing changes; returns how often each rule fired."""
        context = Context(graph)
        for _ in range(self.limit):
            if not self._sweep(graph, context):
                break
        return context.counts

    def _sweep(self, graph: FuncGraph, context: Context) -> bool:
        replaced: dict[int, Node] = {}
        known: dict[Any, CNode] = {}
        changed = False
        for node in graph.nodes():
            args = tuple(replaced.get(a.id, a) for a in node.args)
            if args != node.args:
                node.args = args
            new = self._simplify(node, context)
            if self.merge and isinstance(new, CNode):
                new = self._merged(new, known)
            if new is not node:
                replaced[node.id] = new
                changed = True
        graph.output = replaced.get(graph.output.id, graph.output)
        return changed

    def _simplify(self, node: CNode, context: Context) -> Node:
        current: Node = node
        for _ in range(16):
            if not isinstance(current, CNode):
                break
            context.current = current
            for r in self.by_op.get(current.op.name, ()):
                new = r.apply(current, context)
                if new is not None and new is not current:
                    context.counts[r.name] = context.counts.get(r.name, 0) + 1
                    current = new
                    break
            else:
                break
        return current

    def _merged(self, node: CNode, known: dict[Any, CNode]) -> CNode:
        if node.op.effect:
            return node
        key = (node.op.cached_key(), *(_argument_key(a) for a in node.args))
        return known.setdefault(key, node)


def _argument_key(node: Node) -> Any:
    """Constants are equal by value when small; everything else by identity."""
    if isinstance(node, ValueNode):
        if isinstance(node.abstract, AbstractTensor):
            array = node.value
            if array.size <= 16:
                return ("array", array.dtype.str, array.shape, array.tobytes())
            return node.id
        return ("value", exact(node.value))
    return node.id
