"""Watchpoints as the user edits them: a condition, its parameters, and the nodes it is for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mindinsight.online.conditions import CONDITIONS
from mindinsight.online.graphs import Graphs, full_name
from mindinsight.server import errors


@dataclass
class Watchpoint:
    """A condition for some nodes."""

    condition: str
    params: list[dict[str, Any]]
    nodes: set[tuple[str, str]] = field(default_factory=set)  #: graph and shown name
    name: str = ""
    changed: bool = True
    is_new: bool = True

    def reply(self, number: int, actual: dict[str, float] | None = None) -> dict[str, Any]:
        """As official replies have it; `actual`: the measures of a hit."""
        params = self.params if actual is None else [{**p, "actual_value": actual.get(p["name"])} for p in self.params]
        condition = {"id": self.condition, "params": params, "abbr": CONDITIONS[self.condition].abbr}
        return {"id": number, "watch_condition": condition, **({"name": self.name} if self.name else {})}

    def targets(self, graphs: Graphs) -> list[tuple[tuple[str, str], str]]:
        """((graph, full name), type) of the nodes that the condition is for."""
        wanted = CONDITIONS[self.condition].target
        found = []
        for graph_name, name in sorted(self.nodes):
            graph = graphs.by_name.get(graph_name)
            if graph is None or name not in graph.leaves:
                continue
            if wanted == "tensor" or graph.category(name) == wanted:
                found.append(((graph_name, full_name(graph.leaves[name])), graph.leaves[name].kind))
        self.is_new = False
        return found

    def protocol_params(self) -> list[tuple[str, bool, float]]:
        """Name, whether it is off, value of every parameter of the condition."""
        given = {p["name"]: p["value"] for p in self.params}
        found = []
        for parameter in CONDITIONS[self.condition].parameters:
            hidden = parameter.default if not parameter.shown else None
            value = given.get(parameter.name, hidden)
            found.append((parameter.name, value is None, float(value or 0)))
        return found


def checked(condition: Any) -> Watchpoint:
    """A watchpoint of what a request says."""
    if not isinstance(condition, dict) or condition.get("id") not in CONDITIONS:
        raise errors.wrong_value("'condition' should have the id of a condition that is offered.")
    kind = CONDITIONS[condition["id"]]
    params = condition.get("params") or []
    names = {p.name for p in kind.parameters}
    good = isinstance(params, list) and all(
        isinstance(p, dict) and p.get("name") in names and isinstance(p.get("value"), (int, float)) for p in params
    )
    if not good:
        raise errors.wrong_value(f"'params' of {kind.id} should be a list of name and value; names are {sorted(names)}.")
    checks = [p for p in kind.parameters if not p.supports]
    if checks and not any(p["name"] in {c.name for c in checks} for p in params):
        raise errors.wrong_value(f"{kind.id} needs at least one of {', '.join(c.name for c in checks)}.")
    return Watchpoint(kind.id, [{"name": p["name"], "value": p["value"]} for p in params])


def nodes_of(graphs: Graphs, names: Any, graph_name: str | None) -> set[tuple[str, str]]:
    """The operations and Parameters that names of nodes and scopes stand for."""
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise errors.wrong_type("watch_nodes", "list of str")
    found: set[tuple[str, str]] = set()
    for name in names:
        many = not graph_name and len(graphs.by_name) > 1 and name in graphs.by_name
        graph, inner, _ = (graphs.by_name[name], "", True) if many else graphs.split(name, graph_name)
        below = list(graph.leaves) if many else graph.below(inner)
        if not below:
            raise errors.no_node(name)
        found |= {(graph.name, leaf) for leaf in below}
    return found
