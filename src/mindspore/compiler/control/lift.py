"""Lambda lifting: turn the free variables of branch and loop graphs into explicit parameters.

Branches are built as if nested in the surrounding graph, so they simply use its nodes. Afterwards every such use
becomes an extra parameter, fed by an extra argument of the Cond/While/Call node: all graphs end up closed.
"""

from __future__ import annotations

from mindspore.ir import FuncGraph, Node, Parameter


def close_graphs(graphs: list[FuncGraph]) -> list[Node]:
    """Give all `graphs` the same extra parameters for the union of their free variables; return those variables."""
    free: dict[int, Node] = {}
    for graph in graphs:
        for node in graph.free_variables():
            free.setdefault(node.id, node)
    for graph in graphs:
        _bind(graph, list(free.values()))
    return list(free.values())


def _bind(graph: FuncGraph, free: list[Node]) -> None:
    stand_in: dict[int, Node] = {}
    for node in free:
        name = node.name if isinstance(node, Parameter) else f"free_{node.id}"
        stand_in[node.id] = graph.add_parameter(name, node.abstract)
    if not free:
        return
    for node in graph.nodes():
        if any(a.id in stand_in for a in node.args):
            node.args = [stand_in.get(a.id, a) for a in node.args]
    graph.output = stand_in.get(graph.output.id, graph.output)
