"""The tree of scopes, as official replies have it.

A reply lists the nodes of one scope. To keep such lists short, a scope's nodes of one type are put together if they are
many (`Conv2D[53]_2`); parameters and constants are repeated in each scope that uses them; a scope has the edges of all that
is in it and leaves it. Names are identities here, and renaming moves a node to the end, as in the official order.
"""

from __future__ import annotations

from typing import Any

from mindinsight.graph.message import Message, Operation

_EDGES = ("input", "output", "proxy_input", "proxy_output")
_PLUGINS = ("graph", "optimized_graph", "image", "scalar", "histogram", "tensor", "loss_landscape")


class Node:
    """A node, or a scope."""

    def __init__(self, name: str, kind: str, scope: str = "") -> None:
        self.name, self.kind, self.scope = name, kind, scope
        self.attr: dict[str, str] = {}
        self.edges: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in _EDGES}
        self.output_i = 0
        self.members = 0
        self.independent = False
        self.dynamic = False
        self.shapes: list[list[int]] = []
        self.data_type = ""
        self.stack: list[dict[str, Any]] = []

    def join(self, way: str, other: str, about: dict[str, Any]) -> None:
        """Add an edge."""
        if any(size < 0 for shape in about.get("shape", ()) for size in shape):
            self.dynamic = True
        self.edges[way][other] = about

    def reply(self) -> dict[str, Any]:
        """The node as official replies have it."""
        return {
            "name": self.name, "type": self.kind, "is_dynamic_shape_node": self.dynamic, "attr": self.attr, **self.edges,
            "output_i": self.output_i, "subnode_count": self.members, "independent_layout": self.independent,
            "stack_info": self.stack,
        }  # fmt: skip


def _inside(scope: str, name: str) -> str:
    return f"{scope}/{name}" if scope else name


class Tree:
    """The nodes of a graph by name."""

    def __init__(self, graph: Message, many: int = 5) -> None:
        self.nodes: dict[str, Node] = {}
        self._many = many
        self._add_nodes(graph)
        self._spread("Parameter")
        self._gather()
        self._lay_out_parameters()
        self._add_scopes()
        self._spread("Const")
        for node in self.nodes.values():
            if node.scope in self.nodes:
                self.nodes[node.scope].members += 1 if self.nodes[node.scope].kind != "aggregation_scope" else 0

    # -----------------------------------------------------------------------------------------------------------------
    # Building, in this order

    def _add_nodes(self, graph: Message) -> None:
        names: dict[str, str] = {}
        wanted: dict[str, list[tuple[str, bool]]] = {}
        for one in graph.nodes:
            if one.name:
                identity = one.name.split("/")[-1].split("op")[-1]
                node = Node(_shown_name(one, identity), one.op_type, one.scope)
                node.attr, node.output_i, node.stack, node.dynamic = dict(one.attributes), one.output_i, one.stack, one.dynamic
                node.shapes, node.data_type = one.type.shapes, one.type.name
                self.nodes[node.name] = node
                names[identity] = names.setdefault(one.name, node.name)
                names[one.name] = node.name
                wanted[node.name] = one.inputs
        for name, kind in graph.parameters:
            if name:
                node = self.nodes[name] = Node(name, "Parameter")
                node.shapes, node.data_type = kind.shapes, kind.name
                node.attr = {"type": kind.name, "shape": str(kind.shapes)}
                names[name] = name
        for key, words, kind in graph.constants:
            if key:
                node = self.nodes[key] = Node(key, "Const")
                node.attr, node.shapes = {key: words}, kind.shapes
                names[key] = key
        for name, inputs in wanted.items():
            for source, control in inputs:
                found = names.get(source.split("op")[-1] if "/" in source and source not in names else source)
                if found is None or found == name:
                    continue
                origin = self.nodes[found]
                about = {"shape": origin.shapes, "edge_type": "control" if control else "data", "independent_layout": False,
                         "data_type": origin.data_type}  # fmt: skip
                self.nodes[name].join("input", found, about)
                origin.join("output", name, dict(about))

    def _spread(self, kind: str) -> None:
        """Repeat parameters or constants in the scopes that use them."""
        made: dict[str, Node] = {}
        for node in list(self.nodes.values()):
            for source, about in list(node.edges["input"].items()):
                origin = self.nodes.get(source)
                if origin is None or origin.kind != kind or source in made:
                    continue
                name = _inside(node.scope, source)
                copy = made.get(name)
                if copy is None:
                    copy = made[name] = Node(name, kind, node.scope)
                    copy.attr, copy.output_i = dict(origin.attr), origin.output_i
                    copy.shapes, copy.data_type = origin.shapes, origin.data_type
                copy.join("output", node.name, dict(about))
                del node.edges["input"][source]
                node.join("input", name, dict(about))
        unused = [name for name, node in self.nodes.items() if node.kind == kind and name not in made]
        for name in unused:
            del self.nodes[name]
        self.nodes.update(made)

    def _gather(self) -> None:
        """Put the many nodes of one type in a scope together."""
        groups: dict[str, list[Node]] = {}
        for node in self.nodes.values():
            if node.kind not in ("Const", "name_scope"):
                groups.setdefault(_inside(node.scope, node.kind), []).append(node)
        made: list[tuple[Node, list[Node]]] = []
        for number, (group, members) in enumerate((g, m) for g, m in groups.items() if len(m) >= self._many):
            scope, _, kind = group.rpartition("/")
            name = _inside(scope, f"{kind}[{len(members)}]_{number}")
            for node in members:
                self._rename(node, f"{name}/{node.name.split('/')[-1]}")
                node.scope = name
            one = Node(name, "aggregation_scope", scope)
            one.members = len(members)
            self.nodes[name] = one
            made.append((one, members))
        for one, members in made:
            for node in members:
                self._inherit(one, node)

    def _rename(self, node: Node, new: str) -> None:
        old = node.name
        for way, back in zip(_EDGES, ("output", "input", "proxy_output", "proxy_input")):
            for other in node.edges[way]:
                edges = self.nodes[other].edges[back] if other in self.nodes else {}
                if old in edges:
                    edges[new] = edges.pop(old)
        del self.nodes[old]
        node.name = new
        self.nodes[new] = node

    def _inherit(self, scope: Node, node: Node) -> None:
        """Edges that leave a scope are the scope's, too."""
        inner = scope.name + "/"
        for way in _EDGES:
            for other, about in node.edges[way].items():
                if not other.startswith(inner) and other in self.nodes and self.nodes[other].kind != "Const":
                    scope.join(way, other, about)

    def _lay_out_parameters(self) -> None:
        """Groups of parameters are drawn apart; they get edges to scopes instead of to nodes."""
        apart = {n.name: n for n in self.nodes.values() if n.kind == "aggregation_scope" and "Parameter" in n.name.split("/")[-1]}
        members: dict[str, list[Node]] = {}
        for node in self.nodes.values():
            if node.scope in apart:
                members.setdefault(node.scope, []).append(node)
        for scope in apart.values():
            scope.independent = True
            for target, about in list(scope.edges["output"].items()):
                proxy, node = {"edge_type": about["edge_type"]}, self.nodes[target]
                node.join("proxy_input", scope.name, proxy)
                if node.scope == scope.scope:
                    scope.join("proxy_output", target, proxy)
                else:
                    scope.join("proxy_output", node.scope, proxy)
                    if node.scope in self.nodes:
                        self.nodes[node.scope].join("proxy_input", scope.name, proxy)
            for node in members.get(scope.name, ()):
                node.independent = True
                for target, about in list(node.edges["output"].items()):
                    other = self.nodes[target]
                    node.join("proxy_output", target if other.scope == scope.scope else other.scope, {"edge_type": about["edge_type"]})
                    other.edges["input"][node.name]["independent_layout"] = True

    def _add_scopes(self) -> None:
        scopes: dict[str, Node] = {}
        for name, node in list(self.nodes.items()):
            parts = name.split("/")
            for depth in range(1, len(parts)):
                path = "/".join(parts[:depth])
                scope = scopes.get(path)
                if scope is None:
                    there = self.nodes.get(path)
                    if there is not None and there.kind == "aggregation_scope":
                        continue
                    if there is not None:
                        self._rename(there, _inside(there.scope, f"({parts[depth - 1]})"))
                    scope = scopes[path] = Node(path, "name_scope", "/".join(parts[: depth - 1]))
                self._inherit(scope, node)
        self.nodes.update(scopes)

    # -----------------------------------------------------------------------------------------------------------------
    # Questions

    def listed(self, scope: str | None) -> list[dict[str, Any]]:
        """The nodes of a scope."""
        return [node.reply() for node in self.nodes.values() if node.scope == (scope or "")]

    def path(self, name: str) -> dict[str, Any]:
        """The scopes on the way to a node, each with its nodes."""
        reply: dict[str, Any] = {"nodes": self.listed(""), "scope_name": "", "children": {}}
        here, parts = reply, name.split("/")
        for depth in range(1, len(parts)):
            scope = "/".join(parts[:depth])
            here["children"] = {"nodes": self.listed(scope), "scope_name": scope, "children": {}}
            here = here["children"]
        return reply

    def found(self, pattern: str | None) -> list[Node]:
        """Nodes whose own name, not their scope's, holds a text."""
        if not pattern or pattern == "/":
            return []
        text, found = pattern.lower(), []
        for name, node in self.nodes.items():
            at = name.lower().rfind(text)
            if at >= 0 and "/" not in name[at + len(text) :]:
                found.append(node)
        return found

    def nested(self, found: list[Node]) -> list[dict[str, Any]]:
        """Nodes within their scopes."""
        top: dict[str, Any] = {}
        for node in found:
            here: dict[str, Any]
            here, parts = top, node.name.split("/")
            for depth, part in enumerate(parts, 1):
                path = "/".join(parts[:depth])
                kind = node.kind if depth == len(parts) else self.nodes[path].kind if path in self.nodes else ""
                entry = {"name": path, "type": kind, "is_dynamic_shape_node": node.dynamic, "nodes": {}}
                if depth == len(parts):
                    here[part] = entry  # a scope that is found itself stands for what is in it
                here = here.setdefault(part, entry)["nodes"]
        return _lists(top)


def _shown_name(one: Operation, identity: str) -> str:
    if one.full_name and not one.full_name.lower().endswith(tuple(f"[:{plugin}]" for plugin in _PLUGINS)):
        return one.full_name
    if one.full_name:
        return _inside(one.scope, f"{one.op_type}-op{one.name}")
    return _inside(one.scope, f"{one.op_type}-op{identity}")


def _lists(level: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**entry, "nodes": _lists(entry["nodes"])} for entry in level.values()]
