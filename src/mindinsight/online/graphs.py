"""The graphs of a training: nodes by the names that a browser shows and by their full names, one graph or several.

With several graphs, names begin with the graph's; where a request names its graph, they do not.
"""

from __future__ import annotations

import re
from typing import Any

from mindinsight.events.wire import BYTES, fields, text
from mindinsight.graph.message import Message, read
from mindinsight.graph.tree import Node, Tree
from mindinsight.server import errors

_GATHERED = re.compile(r"[^/]+\[\d+\]_\d+/")
_ACTIVATIONS = {"ReLU", "ReLUV2", "ReLU6", "Elu", "Sigmoid", "Tanh", "GeLU", "HSigmoid", "HSwish", "LeakyReLU", "SiLU", "Mish", "Softsign"}
_EDGES = ("input", "output", "proxy_input", "proxy_output")
#: gathered nodes of these types are counted twice in official replies
_TWICE = "tuple_getitem"


class Graph:
    """One graph."""

    def __init__(self, name: str, message: Message) -> None:
        self.name = name
        self.message = message
        self.tree = Tree(message)
        for node in self.tree.nodes.values():
            if node.kind == "aggregation_scope" and node.name.split("/")[-1].startswith(_TWICE):
                node.members *= 2
        self.leaves = {name: node for name, node in self.tree.nodes.items() if not node.kind.endswith("_scope")}
        self.shown = {full_name(node): name for name, node in self.leaves.items()}

    @classmethod
    def of(cls, data: bytes) -> Graph:
        """The graph that a training has sent."""
        names = [text(data, one) for one in fields(data) if one.number == 2 and one.kind == BYTES]
        return cls(names[-1] if names else "graph_0", read(data))

    def below(self, name: str) -> list[str]:
        """The operations and Parameters of a name: itself, or what is in that scope."""
        if name in self.leaves:
            return [name]
        return [leaf for leaf in self.leaves if leaf.startswith(name + "/")]

    def category(self, name: str) -> str:
        """Weight, gradient, activation, or tensor."""
        node = self.leaves[name]
        last = name.split("/")[-1]
        if node.kind == "Parameter":
            is_weight = last.endswith((".weight", ".bias", ".gamma", ".beta")) and "moment" not in last
            repeated = any(part.startswith(("optimizer", "Gradients")) for part in name.split("/"))
            return "weight" if is_weight and not repeated else "tensor"
        if name.startswith("Gradients/") and node.kind != "Const":
            return "gradient"
        return "activation" if node.kind in _ACTIVATIONS else "tensor"


def full_name(node: Node) -> str:
    """The name that the training knows a node by."""
    return node.name if node.kind == "Parameter" else _GATHERED.sub("", node.name)


class Graphs:
    """All graphs of a training."""

    def __init__(self, graphs: list[Graph]) -> None:
        self.by_name = {graph.name: graph for graph in graphs}

    @property
    def names(self) -> list[str]:
        """The graphs' names."""
        return list(self.by_name)

    def split(self, name: str, graph_name: str | None) -> tuple[Graph, str, bool]:
        """The graph that a request means, the name within it, and whether replies begin with the graph's name."""
        if graph_name or len(self.by_name) == 1:
            graph = self.by_name.get(graph_name) if graph_name else next(iter(self.by_name.values()))
            if graph is None:
                raise errors.wrong_value(f"There is no graph {graph_name!r}.")
            return graph, name, False
        first, _, rest = name.partition("/")
        if first not in self.by_name:
            raise errors.no_node(name)
        return self.by_name[first], rest, True

    def listed(self, name: str, graph_name: str | None = None) -> list[dict[str, Any]]:
        """The nodes of a scope."""
        if not name and not graph_name and len(self.by_name) > 1:
            return [self._scope(graph) for graph in self.by_name.values()]
        graph, inner, prefixed = self.split(name, graph_name)
        if inner and inner not in graph.tree.nodes:
            raise errors.no_node(name)
        found = graph.tree.listed(inner)
        return [_prefixed(one, graph.name) for one in found] if prefixed else found

    def _scope(self, graph: Graph) -> dict[str, Any]:
        scope = Node(graph.name, "name_scope")
        scope.members = len(graph.tree.listed(""))
        return scope.reply()

    def path(self, name: str, graph_name: str | None) -> dict[str, Any]:
        """The scopes on the way to a node, each with its nodes."""
        graph, inner, prefixed = self.split(name, graph_name)
        if inner not in graph.tree.nodes:
            raise errors.no_node(name)
        found = graph.tree.path(inner)
        if not prefixed:
            return found
        inside = _prefixed_path(found, graph.name)
        return {"nodes": self.listed(""), "scope_name": "", "children": inside}

    def leaf(self, name: str, graph_name: str | None) -> tuple[Graph, Node, bool]:
        """An operation or Parameter by its shown or full name."""
        graph, inner, prefixed = self.split(name, graph_name)
        node = graph.leaves.get(inner) or graph.leaves.get(graph.shown.get(inner, ""))
        if node is None:
            raise errors.no_node(name)
        return graph, node, prefixed

    def search(self, pattern: str, category: str, graph_name: str | None, watched: set[tuple[str, str]] | None) -> list[dict[str, Any]]:
        """Nodes by a part of their names and by category, within their scopes; with `watched`, which of them are."""
        found = []
        many = len(self.by_name) > 1 and not graph_name
        for graph in self.by_name.values():
            if graph_name and graph.name != graph_name:
                continue
            if category:
                nodes = [n for name, n in graph.leaves.items() if graph.category(name) == category and pattern.lower() in name.lower()]
            else:
                nodes = graph.tree.found(pattern)
            nested = graph.tree.nested(nodes)
            if watched is not None:
                for one in nested:
                    _mark(one, {leaf for name, leaf in watched if name == graph.name})
            if many and nested:
                top = {"name": graph.name, "type": "name_scope", "is_dynamic_shape_node": False}
                nested = [{**top, "nodes": [_prefixed_tree(one, graph.name) for one in nested]}]
            found += nested
        return found

    def where(self, full: str) -> tuple[str, str]:
        """The graph and the shown name of a full name; of several graphs that have it the last one."""
        for graph in reversed(self.by_name.values()):
            if full in graph.shown:
                return graph.name, graph.shown[full]
        return (self.names[0] if len(self.by_name) == 1 else ""), full


def _prefixed(reply: dict[str, Any], graph: str) -> dict[str, Any]:
    edges = {way: {f"{graph}/{other}": about for other, about in reply[way].items()} for way in _EDGES}
    return {**reply, "name": f"{graph}/{reply['name']}", **edges}


def _prefixed_path(level: dict[str, Any], graph: str) -> dict[str, Any]:
    scope = f"{graph}/{level['scope_name']}" if level["scope_name"] else graph
    inner = _prefixed_path(level["children"], graph) if level["children"] else {}
    return {"nodes": [_prefixed(one, graph) for one in level["nodes"]], "scope_name": scope, "children": inner}


def _prefixed_tree(one: dict[str, Any], graph: str) -> dict[str, Any]:
    return {**one, "name": f"{graph}/{one['name']}", "nodes": [_prefixed_tree(inner, graph) for inner in one["nodes"]]}


def _mark(one: dict[str, Any], watched: set[str]) -> int:
    """Note how much of a found node is watched: 0 nothing, 1 a part, 2 all."""
    if one["nodes"]:
        parts = {_mark(inner, watched) for inner in one["nodes"]}
        level = parts.pop() if len(parts) == 1 else 1
    else:
        leaves = [name for name in watched if name == one["name"] or name.startswith(one["name"] + "/")]
        level = 2 if leaves else 0
    one["watched"], one["disable"] = level, False
    return level
