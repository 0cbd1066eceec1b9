"""Computational graphs: the official routes, and a compact form for the page."""

from __future__ import annotations

import functools
from typing import Any

from mindinsight.events import event
from mindinsight.events.wire import Malformed
from mindinsight.graph import compact as columns
from mindinsight.graph.forward import forward_only
from mindinsight.graph.message import Message, read
from mindinsight.graph.tree import Tree
from mindinsight.index.store import Run, Thing
from mindinsight.server import errors
from mindinsight.server.calls import Call, route
from mindinsight.server.datavisual import graph_tags
from mindinsight.server.workspace import Workspace, damaged

_KEPT = 4  # graphs in memory


def _graph(call: Call) -> tuple[Workspace, Run, Thing]:
    run = call.workspace.run(call.query.get("train_id"))
    found = call.workspace.store.things(run.id, event.GRAPH)
    tag = (call.query.get("tag") or "").removesuffix(" (optimized)")
    named = dict(zip(graph_tags(found), found)) | {str(number): thing for number, thing in enumerate(found)}
    if not found or (tag and tag not in named):
        raise errors.no_graph()
    return call.workspace, run, named[tag] if tag else found[0]


@functools.lru_cache(maxsize=_KEPT)
def _message(workspace: Workspace, run: Run, thing: Thing) -> Message:
    try:
        return read(workspace.bytes_of(run, thing))
    except Malformed as error:
        raise damaged(error) from None


@functools.lru_cache(maxsize=_KEPT)
def _tree(workspace: Workspace, run: Run, thing: Thing, forward: bool) -> Tree:
    graph = _message(workspace, run, thing)
    try:
        return Tree(forward_only(graph), 10) if forward else Tree(graph)
    except Malformed as error:  # attributes and types are read only here
        raise damaged(error) from None


def _asked(call: Call) -> Tree:
    mode = call.query.get("mode", "normal")
    if mode not in ("normal", "optimize"):
        raise errors.wrong_value("Invalid mode")
    return _tree(*_graph(call), mode == "optimize")


@route("GET", "/datavisual/graphs/nodes")
def nodes(call: Call) -> Any:
    """The nodes of a scope."""
    tree, name = _asked(call), call.query.get("name")
    if name and name not in tree.nodes:
        raise errors.no_node(name)
    return {"nodes": tree.listed(name)}


@route("GET", "/datavisual/graphs/nodes/names")
def names(call: Call) -> Any:
    """Nodes by a part of their names."""
    tree = _asked(call)
    offset, limit = call.page(100, 1000)
    return {"nodes": tree.nested(tree.found(call.query.get("search"))[offset * limit : (offset + 1) * limit])}


@route("GET", "/datavisual/graphs/nodes/all")
def all_nodes(call: Call) -> Any:
    """All nodes below a scope that are no scopes."""
    tree, name = _asked(call), call.query.get("name")
    if name and name not in tree.nodes:
        raise errors.no_node(name)
    inside = [n for n in tree.nodes.values() if not n.kind.endswith("_scope") and (not name or n.name.startswith(name + "/"))]
    return {"all_nodes_detail": [node.reply() for node in inside]}


@route("GET", "/datavisual/graphs/single-node")
def single_node(call: Call) -> Any:
    """The scopes on the way to a node."""
    name = call.needed("name")
    tree = _asked(call)
    if name not in tree.nodes:
        raise errors.no_node(name)
    return tree.path(name)


# ---------------------------------------------------------------------------------------------------------------------
# For the page: all nodes in columns; it builds the scopes itself


@route("GET", "/board/graph")
def compact(call: Call) -> Any:
    """Names, types, shapes and inputs (by number) of all nodes, parameters and constants."""
    try:
        return {**columns.compact(_message(*_graph(call))), "graphs": _count(call)}
    except Malformed as error:
        raise damaged(error) from None


def _count(call: Call) -> int:
    run = call.workspace.run(call.query.get("train_id"))
    return len(call.workspace.store.things(run.id, event.GRAPH))


@route("GET", "/board/graph/node")
def detail(call: Call) -> Any:
    """Attributes and source lines of a node."""
    graph, number = _message(*_graph(call)), call.integer("number")
    if 0 <= number < len(graph.nodes):
        node = graph.nodes[number]
        try:
            return {"attributes": node.attributes, "stack": node.stack, "type": node.type.name, "shapes": node.type.shapes}
        except Malformed as error:
            raise damaged(error) from None
    number -= len(graph.nodes)
    if 0 <= number < len(graph.parameters):
        return {"attributes": [], "stack": [], "type": graph.parameters[number][1].name, "shapes": graph.parameters[number][1].shapes}
    number -= len(graph.parameters)
    if 0 <= number < len(graph.constants):
        return {"attributes": [["value", graph.constants[number][1]]], "stack": [], "type": "", "shapes": []}
    raise errors.no_node(str(number))
