"""The graph as people think of it: what computes forwards, without bookkeeping.

Left out are gradients, the optimizer, and nodes that only pass values on (tuples, loads, states); their inputs become those
of the nodes they fed. Nodes that are then alone go. A scope that holds nodes of its own type alone is dissolved.
"""

from __future__ import annotations

from dataclasses import replace

from mindinsight.graph.message import Message, Operation

_PASSING = {"Load", "TupleGetItem", "MakeTuple", "UpdateState"}


def _key(name: str) -> str:
    return name.split("/")[-1].split("op")[-1]


def _backward(node: Operation) -> bool:
    return node.full_name.startswith("Gradients") or "optimizer" in node.full_name or "opt" in node.instance_name


def forward_only(graph: Message) -> Message:
    """The forward part of a graph."""
    nodes = [node for node in graph.nodes if node.name and not _backward(node)]
    passing = {_key(node.name): node for node in nodes if node.op_type in _PASSING}
    kept = [replace(node, inputs=_sources(node, passing, set())) for node in nodes if node.op_type not in _PASSING]
    known = {_key(node.name) for node in kept} | {name for name, _ in graph.parameters} | {key for key, _, _ in graph.constants}
    read = {_key(source) for node in kept for source, _ in node.inputs}
    kept = [node for node in kept if _key(node.name) in read or any(source in known or _key(source) in known for source, _ in node.inputs)]
    return Message(_dissolved(kept), graph.parameters, graph.constants)


def _sources(node: Operation, passing: dict[str, Operation], seen: set[str]) -> list[tuple[str, bool]]:
    """Inputs, looking through nodes that only pass values on."""
    found: list[tuple[str, bool]] = []
    for source, control in node.inputs:
        via = passing.get(_key(source)) if source not in seen else None
        if via is None:
            if source not in seen:
                found.append((source, control))
        else:
            found += _sources(via, passing, seen | {source})
    return list(dict.fromkeys(found))


def _dissolved(nodes: list[Operation]) -> list[Operation]:
    members: dict[str, list[Operation]] = {}
    for node in nodes:
        if "/" in node.scope:
            members.setdefault(node.scope, []).append(node)
    plain = set()
    for scope, inside in members.items():
        alike = len(inside) > 1 and len({node.op_type for node in inside}) == 1 and inside[0].op_type in scope
        if alike and not any(other.startswith(scope + "/") for other in members):
            plain.add(scope)
    return [replace(n, scope=n.scope.rpartition("/")[0], full_name=_outside(n)) if n.scope in plain else n for n in nodes]


def _outside(node: Operation) -> str:
    name = (node.full_name or node.name).rpartition("/")[2]
    return f"{node.scope.rpartition('/')[0]}/{name}"
